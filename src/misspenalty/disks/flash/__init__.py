"""Simulate flash storage behind a page-mapped, log-structured translation layer."""
