"""Replay traces through caches of blocks, of bytes or of prompts, at one size or many, and profile traces."""
