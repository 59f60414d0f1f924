"""Reproduce the Multi-Queue policy's results (USENIX 2001)."""
