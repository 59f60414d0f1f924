"""Simulate a file-system client: page and buffer cache, read-ahead, predictive prefetching, one disk (EPCM)."""
