"""Replay traces of objects of different sizes through caches of bytes: hit ratio and byte hit ratio.

`misspenalty.policies.sized` defines the policies and the rules: what is evicted for an object that does not fit, and
what happens to one that is larger than the whole cache (``refused``) or changes its size. ``opt`` gives two rows, a
lower and an upper bound on what the best cache can reach; see `misspenalty.replay.byte_bounds`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np

from misspenalty.errors import ParameterError, listed
from misspenalty.io.later import pd
from misspenalty.io.threads import check_threads, in_threads
from misspenalty.policies.registry import find_policies, settings_of
from misspenalty.policies.sized import SizedPolicy, check_changes, find_sized
from misspenalty.policies.sized.own import PythonBytes
from misspenalty.replay.byte_bounds import NAMES, Intervals
from misspenalty.replay.cache_size import CacheSize, cache_sizes
from misspenalty.replay.result import ByteResult
from misspenalty.replay.sampling import SLICE
from misspenalty.traces.compiled import TraceLike, as_trace
from misspenalty.traces.selection import check, record, selected, slices
from misspenalty.traces.trace import Trace

Job: TypeAlias = Callable[[Callable[[int], Any]], list[ByteResult]]


def byte_hit_ratio_curve(
    trace: TraceLike,
    policy: str | type | Sequence[str | type],
    cache_bytes: CacheSize | Iterable[CacheSize],
    *,
    size_changes: str = "replace",
    writes: str = "count",
    warm_up: int = 0,
    threads: int | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Replay a trace of objects through caches whose sizes are in bytes.

    Parameters
    ----------
    trace : Trace, path-like, array of integers or table
        As in `simulate`; in a trace without sizes of objects, every block has `block_bytes` bytes.
    policy : str or type, or a sequence of these
        ``arc, clock, fifo, gdsf, lfu, lru, lru2, s3fifo, sieve, slru`` or ``wtinylfu``; ``opt`` for bounds; or a class
        with ``access(block, size)`` (see `misspenalty.policies.sized.own`).
    cache_bytes : int, float or str, or a sequence of these
        Cache sizes: bytes, shares of the footprint (``0.05``, ``"5%"``), or texts with a unit (``"64MB"``).
    size_changes : {"replace", "keep", "new"}
        What happens if an object in the cache is requested with another size. With ``"replace"``, the request hits, and
        the new size replaces the old one; if the new size is too large for the cache, the request misses. With
        ``"keep"``, the request hits, and the object keeps the size with which it was loaded. With ``"new"``, the
        request misses, because the cached object is outdated. Your own class receives each size and decides for itself.
    writes : {"count", "ignore", "refresh", "only"}
        As in `simulate`.
    warm_up : int
        References at the start that are not counted.
    threads : int, optional
        Number of caches replayed in parallel; by default one per processor.
    **parameters
        The policy's parameters. With several policies, each takes those that it has.

    Returns
    -------
    DataFrame
        One row per policy and size: ``policy, cache_bytes, requests, hits, misses, hit_ratio, requested_bytes,
        hit_bytes, byte_hit_ratio, refused`` (references to objects too large for the cache, including warm-up and
        writes) and ``evictions``, missing for a class that does not count them. For ``opt`` there are two rows,
        ``opt_at_least`` and ``opt_at_most``, without evictions.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        A policy is not defined for objects of different sizes, or a size or parameter is invalid.

    Examples
    --------
    >>> trace = Trace.from_blocks([1, 2, 1, 3, 1], object_bytes=[10, 20, 10, 99, 10])
    >>> byte_hit_ratio_curve(trace, "lru", 30)[["hits", "hit_bytes", "requested_bytes", "refused"]].values.tolist()
    [[2, 20, 149, 1]]
    """
    opened = as_trace(trace)
    sizes = cache_sizes(opened, cache_bytes, "bytes").sizes
    workers = check_threads(threads)
    rows = replay_bytes(
        opened, listed(policy), sizes, lambda references: None, size_changes, writes, warm_up, workers, parameters
    )
    from misspenalty.replay.tables import drawn  # this import loads pandas

    return drawn(as_table(rows), "hit_ratio", opened)


def as_table(results: Iterable[ByteResult]) -> pd.DataFrame:
    """Return results as the rows of a table, with whole numbers of evictions, which are missing for bounds.

    Examples
    --------
    >>> results = [ByteResult("lru", 9, 2, 1, 9, 5, 0, 1), ByteResult("opt_at_most", 9, 2, 1, 9, 5, 0, None)]
    >>> as_table(results)["evictions"].tolist()
    [1, <NA>]
    """
    return pd.DataFrame([result.row() for result in results]).astype({"evictions": "Int64"})


def replay_bytes(
    trace: Trace,
    policies: Sequence[Any],
    sizes: Sequence[int],
    advance: Callable[[int], Any],
    size_changes: str,
    writes: str,
    warm_up: int,
    threads: int,
    parameters: dict[str, Any],
    hits: np.ndarray | None = None,
) -> list[ByteResult]:
    """Replay a trace through caches of bytes; arguments and errors as in `byte_hit_ratio_curve`.

    Parameters
    ----------
    policies : sequence of str, type or Definition
    advance : callable
        Called with the number of references replayed since the last call.
    hits : bool array, shape (len(trace),), optional
        Filled with the outcome of each reference, for one policy and size.
    """
    definitions = find_policies(policies)
    chosen = [each if each.name == "opt" else find_sized(each) for each in definitions]
    known = inspect.signature(byte_hit_ratio_curve).parameters
    settings = settings_of(chosen, parameters, " for objects of different sizes", known)
    check_changes(chosen, size_changes)
    warm_up = check(trace, writes, warm_up)

    def one(
        policy: SizedPolicy, size: int, parameters: dict[str, Any], advance: Callable[[int], Any]
    ) -> list[ByteResult]:
        cache = policy.cache(size, first_sizes(trace), size_changes, parameters, trace.address)
        outcome = np.empty(SLICE, np.uint8)
        requests = counted_hits = asked = found = 0
        for part, ids, counted in slices(trace, writes, warm_up, SLICE):
            refresh = trace.write[part].view(np.uint8) if writes == "refresh" and trace.write is not None else None
            own = selected(trace, writes, part, trace.bytes_of(part))
            cache.replay_sizes(ids, own, outcome, refresh)
            hit = outcome[: len(ids)].view(bool)
            record(trace, writes, part, hit, hits)
            counts = np.ones(len(ids), bool) if counted is None else counted
            requests, asked = requests + int(np.count_nonzero(counts)), asked + int((own * counts).sum())
            hit = hit & counts
            counted_hits, found = counted_hits + int(np.count_nonzero(hit)), found + int((own * hit).sum())
            advance(part.stop - part.start)
        if isinstance(cache, PythonBytes):
            cache.check_size()
        return [ByteResult(policy.name, size, requests, counted_hits, asked, found, cache.refused, cache.evictions)]

    jobs: list[Job] = []
    for each, own in zip(chosen, settings, strict=True):
        if isinstance(each, SizedPolicy):
            jobs += [functools.partial(one, each, size, own) for size in sizes]
        elif hits is None:
            jobs.append(functools.partial(_bounds, trace, sizes, size_changes, writes, warm_up))
        else:
            raise ParameterError("opt only bounds the hits of objects of different sizes; leave out the argument hits")
    if not jobs:
        raise ParameterError("no policy or cache size given")
    return [row for rows in in_threads(jobs, advance, threads) for row in rows]


def first_sizes(trace: Trace) -> np.ndarray:
    """Return the size of each object, or block, at its first reference, bytes."""
    if trace.object_bytes is None:
        return np.full(trace.blocks, trace.block_bytes, np.int64)
    return np.ascontiguousarray(trace.object_bytes)


def _held(trace: Trace) -> np.ndarray:
    """Return, for each read, the smallest, largest and last size that its object has until it is read again, in bytes.

    A write in between refreshes the object, which takes the write's size.
    """
    order = np.argsort(trace.ids, kind="stable")
    read = ~np.asarray(trace.write)
    sizes, begin = trace.bytes_of(order), np.flatnonzero(read[order])
    held = np.empty((3, len(begin)), np.int64)
    held[:, (np.cumsum(read) - 1)[order[begin]]] = (
        np.minimum.reduceat(sizes, begin),
        np.maximum.reduceat(sizes, begin),
        sizes[np.append(begin, len(sizes))[1:] - 1],
    )
    return held


def _bounds(
    trace: Trace, sizes: Sequence[int], changes: str, writes: str, warm_up: int, advance: Callable[[int], Any]
) -> list[ByteResult]:
    loading = "ignore" if writes == "refresh" else writes  # a write that refreshes loads nothing
    everything = slice(0, len(trace))
    _, ids, counted = next(slices(trace, loading, warm_up, len(trace)))
    own = selected(trace, loading, everything, trace.bytes_of(everything))
    refreshed = writes == "refresh" and trace.write is not None and trace.request_bytes is not None
    intervals = Intervals(ids, own, counted, changes, _held(trace) if refreshed else None)
    ones = own if counted is None else np.compress(counted, own)
    rows = []
    for size in sizes:
        refused = int(np.count_nonzero(own > size))
        for name, (hits, found) in zip(NAMES, (intervals.at_least(size), intervals.at_most(size)), strict=True):
            rows.append(ByteResult(name, size, len(ones), hits, int(ones.sum()), found, refused, None))
        advance(len(trace))
    return rows
