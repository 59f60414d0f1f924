"""Atomic file writing, and YAML documents checked against their schema."""
