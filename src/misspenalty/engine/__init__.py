"""Provide the discrete-event engine that all systems with overlapping requests share; kernels cimport it."""
