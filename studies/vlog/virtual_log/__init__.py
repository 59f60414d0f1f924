"""Simulate eager writing and the virtual log: allocation, map log, compaction, recovery, closed-form models."""
