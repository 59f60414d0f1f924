"""Hold the result of one replay, and warn about results that are better than OPT's."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from misspenalty.errors import MissPenaltyWarning
from misspenalty.io.later import pd

OPTIMA = {
    "opt": "opt loads every block that it misses, and opt_bypass is the bound for a policy that leaves blocks out;"
    " neither is a bound",
    "opt_bypass": "opt_bypass is not a bound",
}


class Shown:
    """Base of the results, which count requests and hits; a notebook shows a result as a table of one row."""

    COLUMNS: ClassVar[tuple[str, ...]]
    requests: int
    hits: int

    @property
    def misses(self) -> int:
        """Number of requests that did not find their block or object."""
        return self.requests - self.hits

    @property
    def hit_ratio(self) -> float:
        """Ratio of hits to requests, a fraction; NaN if no requests were counted."""
        return self.hits / self.requests if self.requests else float("nan")

    def row(self) -> dict[str, Any]:
        """Return the result as a flat dict of its `COLUMNS`, which include the ratios."""
        return {name: getattr(self, name) for name in self.COLUMNS}

    def _repr_html_(self) -> str:
        return str(pd.DataFrame([self.row()]).to_html(index=False))


@dataclass(frozen=True)
class Result(Shown):
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
        Requests that no cache, however large, could serve, because no earlier reference, in the warm-up or not, had
        loaded their block. A write loads its block, unless writes are ignored or only refresh.
    evictions : int
        Blocks that the requests evicted.
    ghost_hits, total_evictions : int
        Counts over the whole replay, including warm-up and writes.
    """

    COLUMNS = (
        "policy", "cache_blocks", "requests", "hits", "misses", "hit_ratio", "cold_misses", "evictions", "ghost_hits",
    )  # fmt: skip
    policy: str
    cache_blocks: int
    requests: int
    hits: int
    cold_misses: int
    evictions: int
    ghost_hits: int
    total_evictions: int = field(default=0, repr=False)


def warn_if_better_than_opt(rows: Iterable[Mapping[Any, Any]]) -> None:
    """Warn about policies with more hits than ``opt`` or ``opt_bypass`` in the same cache, and explain how this can be.

    Parameters
    ----------
    rows : iterable of mapping
        Results with ``policy``, ``cache_blocks``, ``hits`` and, if there is one, ``device``.

    Examples
    --------
    >>> row = {"cache_blocks": 9}
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn_if_better_than_opt([row | {"policy": "opt", "hits": 1}, row | {"policy": "lru", "hits": 2}])
    >>> str(told[0].message).partition(":")[0]
    'lru has more hits than opt at 9 blocks'
    """
    rows = list(rows)
    most = {(row["policy"], row["cache_blocks"], row.get("device")): row["hits"] for row in rows}
    better: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        for optimum in OPTIMA:
            bound = most.get((optimum, row["cache_blocks"], row.get("device")))
            if row["policy"] not in OPTIMA and bound is not None and row["hits"] > bound:
                better.setdefault((row["policy"], optimum), []).append(row["cache_blocks"])
    for (policy, optimum), sizes in better.items():
        warnings.warn(
            f"{policy} has more hits than {optimum} at {', '.join(map(str, dict.fromkeys(sizes)))} blocks:"
            f" {OPTIMA[optimum]} for part of the references (if writes or a warm-up are not counted), for a sample, or"
            " if fetches take time",
            MissPenaltyWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class ByteResult(Shown):
    """Result of one replay of objects of different sizes through a cache of bytes.

    Attributes
    ----------
    policy : str
    cache_bytes : int
    requests : int
        References that count towards the hit ratio.
    hits : int
        Requests that found their object in the cache.
    requested_bytes, hit_bytes : int
        Bytes requested by all requests, and by those that hit.
    refused : int
        References to objects too large for the cache, including warm-up and writes.
    evictions : int or None
        Number of evictions over the whole replay, including warm-up and writes; None for a bound, or if unknown.
    """

    COLUMNS = (
        "policy", "cache_bytes", "requests", "hits", "misses", "hit_ratio", "requested_bytes", "hit_bytes",
        "byte_hit_ratio", "refused", "evictions",
    )  # fmt: skip
    policy: str
    cache_bytes: int
    requests: int
    hits: int
    requested_bytes: int
    hit_bytes: int
    refused: int
    evictions: int | None

    @property
    def byte_hit_ratio(self) -> float:
        """Ratio of hit bytes to requested bytes, a fraction; NaN if no bytes were requested."""
        return self.hit_bytes / self.requested_bytes if self.requested_bytes else float("nan")
