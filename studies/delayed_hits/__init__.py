"""Reproduce caching with delayed hits (SIGCOMM 2020); find cases where the policy with the most hits is not fastest."""
