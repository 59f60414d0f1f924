"""Result of one replay."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """Result of one replay.

    Attributes
    ----------
    policy : str
    cache_blocks : int
    requests : int
        References that count towards the hit ratio.
    hits : int
        Requests that found their block in the cache.
    cold_misses : int
        Requests that no cache of any size could serve: no earlier reference to their block, including warm-up and
        writes, reached the cache.
    evictions, ghost_hits : int
        Over the whole replay, including warm-up and writes.
    """

    policy: str
    cache_blocks: int
    requests: int
    hits: int
    cold_misses: int
    evictions: int
    ghost_hits: int

    @property
    def misses(self) -> int:
        """Requests that did not find their block."""
        return self.requests - self.hits

    @property
    def hit_ratio(self) -> float:
        """Hits over requests, a fraction; NaN if nothing was counted."""
        return self.hits / self.requests if self.requests else float("nan")

    def row(self) -> dict[str, Any]:
        """The result as a flat dict, including the hit ratio."""
        return {
            "policy": self.policy,
            "cache_blocks": self.cache_blocks,
            "requests": self.requests,
            "hits": self.hits,
            "misses": self.misses,
            "hit_ratio": self.hit_ratio,
            "cold_misses": self.cold_misses,
            "evictions": self.evictions,
            "ghost_hits": self.ghost_hits,
        }
