"""Provide the discrete-event engine that all simulated systems share; kernels cimport it."""
