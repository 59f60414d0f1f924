"""Simulate an object client and its page server: network, server cache and disk below a client cache (HAC)."""
