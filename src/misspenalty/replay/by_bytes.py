"""Caches whose size is in bytes, for traces of objects of different sizes: hit ratio and byte hit ratio.

An object that does not fit evicts others, in the order of the policy, until it does. One that is larger than the whole
cache is a miss, evicts nothing and is not admitted; such misses are counted as ``refused``. The size of an object is
that of its first reference. Four policies are defined for sizes: ``fifo``, ``lru``, ``clock`` (one bit) and ``sieve``.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError, check_whole, did_you_mean
from misspenalty.policies._bytes import ByteCache
from misspenalty.replay.simulation import SLICE, TraceLike
from misspenalty.replay.threads import Job, check_threads, in_threads
from misspenalty.traces.compiled import as_trace
from misspenalty.traces.selection import check, slices
from misspenalty.traces.trace import Trace

RULES = ("fifo", "lru", "clock", "sieve")
LARGEST = 1 << 62  # bytes


def byte_hit_ratio_curve(
    trace: TraceLike,
    policy: str | Sequence[str],
    cache_bytes: int | Iterable[int],
    *,
    writes: str = "count",
    warm_up: int = 0,
    threads: int | None = None,
) -> pd.DataFrame:
    """Replay a trace of objects through caches of these sizes in bytes.

    Parameters
    ----------
    trace : Trace, path-like or array of integers
        As in `simulate`; without sizes of its own, every block has `block_bytes`.
    policy : str or sequence of str
        ``fifo, lru, clock`` or ``sieve``.
    cache_bytes : int or sequence of int
        Cache sizes, bytes.
    writes : {"count", "ignore", "only"}
        As in `simulate`.
    warm_up : int
        References at the start that are not counted.
    threads : int, optional
        Caches replayed in parallel; by default one per processor.

    Returns
    -------
    DataFrame
        One row per policy and size: ``policy, cache_bytes, requests, hits, misses, hit_ratio, requested_bytes,
        hit_bytes, byte_hit_ratio, refused`` (misses of objects larger than the cache, including the warm-up) and
        ``evictions``.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        A policy has no definition for sizes, or a size or parameter is invalid.

    Examples
    --------
    >>> trace = Trace.from_blocks([1, 2, 1, 3, 1], object_bytes=[10, 20, 10, 99, 10])
    >>> byte_hit_ratio_curve(trace, "lru", 30)[["hits", "hit_bytes", "requested_bytes", "refused"]].values.tolist()
    [[2, 20, 149, 1]]
    """
    asked = [policy] if isinstance(policy, str) or not isinstance(policy, Iterable) else list(policy)
    names = [name.strip().lower() if isinstance(name, str) else repr(name) for name in asked]
    for name in names:
        if name not in RULES:
            raise ParameterError(
                f"policy {name!r} is not defined for objects of different sizes{did_you_mean(name, RULES)};"
                f" those that are: {', '.join(RULES)}"
            )
    given = list(cache_bytes) if isinstance(cache_bytes, Iterable) else [cache_bytes]
    sizes = [check_whole("cache size", size, 1, LARGEST - 1, " bytes") for size in given]
    if isinstance(writes, str) and writes == "refresh":
        raise ParameterError("writes is 'refresh', which is not defined for objects of different sizes")
    opened = as_trace(trace)
    check(opened, writes, warm_up)
    each = opened.object_bytes
    each = np.full(opened.blocks, opened.block_bytes, np.int64) if each is None else np.ascontiguousarray(each)
    jobs = [_one(opened, name, int(size), each, writes, warm_up) for name in names for size in sizes]
    if not jobs:
        raise ParameterError("no policy or cache size given")
    return pd.concat(in_threads(jobs, lambda n: None, check_threads(threads)), ignore_index=True)


def _one(trace: Trace, name: str, size: int, each: np.ndarray, writes: str, warm_up: int) -> Job:
    def run(advance: object) -> pd.DataFrame:
        cache = ByteCache(1, trace.blocks, RULES.index(name), size, each)
        outcome = np.empty(SLICE, np.uint8)
        requests = hits = asked = found = 0
        for _, ids, counted in slices(trace, writes, warm_up, SLICE):
            cache.replay(ids, outcome)
            hit, own = outcome[: len(ids)].view(bool), each[ids]
            if counted is not None:
                hit, own = hit[counted], own[counted]
            requests, hits = requests + len(hit), hits + int(np.count_nonzero(hit))
            asked, found = asked + int(own.sum()), found + int(own[hit].sum())
        row = {
            "policy": name,
            "cache_bytes": size,
            "requests": requests,
            "hits": hits,
            "misses": requests - hits,
            "hit_ratio": hits / requests if requests else float("nan"),
            "requested_bytes": asked,
            "hit_bytes": found,
            "byte_hit_ratio": found / asked if asked else float("nan"),
            "refused": cache.refused,
            "evictions": cache.evictions,
        }
        return pd.DataFrame([row])

    return run
