"""Hold the readers of trace formats; each module registers its formats, so a new module here adds a format."""
