"""Simulate a mechanical disk: description, layout, mechanics, medium, cache, queue; times are whole nanoseconds."""
