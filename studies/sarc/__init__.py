"""The SARC study (USENIX 2005)."""
