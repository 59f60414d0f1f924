"""One module per trace format; each registers itself. A new module here is a new format."""
