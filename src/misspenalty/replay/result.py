"""What came out of one replay."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """What came out of one replay.

    Attributes
    ----------
    policy : str
    cache_blocks : int
    requests : int
        References that count towards the hit ratio.
    hits : int
        Those of them that found their block in the cache.
    cold_misses : int
        Requests that no cache of any size could serve: no earlier reference, warm-up and writes included, reached the
        cache with their block.
    evictions, ghost_hits : int
        Over the whole replay, warm-up and writes included.
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
        """Hits over requests, a fraction; NaN where nothing was counted."""
        return self.hits / self.requests if self.requests else float("nan")

    def row(self) -> dict[str, Any]:
        """The result as a flat dict, hit ratio included."""
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
