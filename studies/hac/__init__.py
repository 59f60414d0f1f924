"""The HAC study (SOSP 1997)."""
