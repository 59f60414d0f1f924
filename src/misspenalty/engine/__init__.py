"""Provide the discrete-event engine of timed replays and of most papers' machines; kernels cimport it."""
