"""Composed systems: the event engine and the machines built on it."""
