"""Reproduce EPCM, predictive file prefetching (USENIX 2001)."""
