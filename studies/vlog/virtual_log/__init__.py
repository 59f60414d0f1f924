"""Simulate eager writing and the virtual log: allocation, map log, compaction, recovery, and their closed models."""
