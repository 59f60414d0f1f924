"""Simulate file systems over a disk, update-in-place and log-structured, and the hosts that run them (virtual log)."""
