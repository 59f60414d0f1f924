"""Reproduce HAC, hybrid adaptive caching (SOSP 1997)."""
