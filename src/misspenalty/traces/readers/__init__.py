"""One module a trace format; each registers itself. A new module here is a new format."""
