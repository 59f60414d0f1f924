"""The archive of a run's results: a zip file that carries its own list of checksums, and its verification."""
