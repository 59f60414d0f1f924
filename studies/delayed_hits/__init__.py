"""Reproduce caching with delayed hits (SIGCOMM 2020), and find where the policy with the most hits is not fastest."""
