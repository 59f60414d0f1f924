"""Hold one module per trace format; each registers itself, so a new module here is a new format."""
