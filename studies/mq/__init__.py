"""The Multi-Queue study (USENIX 2001)."""
