"""Sequential prefetching in front of any cache of tracks."""
