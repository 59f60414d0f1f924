"""The virtual-log study (OSDI 1999)."""
