"""Caching with delayed hits (SIGCOMM 2020), and how often the policy with the most hits is not the fastest."""
