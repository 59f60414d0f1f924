"""Stands in for PyYAML in the browser, where drives come as JSON."""

SafeLoader = None
