"""Record the provenance of a run, and report its results."""
