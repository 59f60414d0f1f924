"""Discrete-event engine that the composed systems share; kernels cimport it."""
