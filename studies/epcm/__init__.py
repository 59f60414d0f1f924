"""The EPCM study (USENIX 2001)."""
