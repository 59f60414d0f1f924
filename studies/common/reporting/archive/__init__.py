"""Write and verify the archive of a run's results: a zip file that carries its own list of checksums."""
