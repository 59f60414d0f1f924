"""Prefetch sequentially in front of any cache of tracks."""
