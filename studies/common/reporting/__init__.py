"""The provenance of a run, and the paper that reports its results."""
