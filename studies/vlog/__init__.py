"""Reproduce the virtual log (OSDI 1999)."""
