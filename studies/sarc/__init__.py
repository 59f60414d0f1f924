"""Reproduce SARC, sequential prefetching in an adaptive cache (USENIX 2005)."""
