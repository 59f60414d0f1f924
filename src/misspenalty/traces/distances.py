"""Compute temporal distances: when a block was last used, and when it will be used next."""

from misspenalty.traces._distance import NEVER, next_use, previous_use

__all__ = ["NEVER", "next_use", "previous_use"]
