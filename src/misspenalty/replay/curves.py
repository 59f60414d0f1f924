"""Compute LRU's hit ratio at every cache size in one pass over the trace, exactly or from a sample of the blocks.

Exact: R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM
Systems Journal 9(2), 1970: a reference hits in every cache that is at least as large as its stack distance.

Sampled: C. A. Waldspurger, N. Park, A. Garthwaite, I. Ahmad, "Efficient MRC construction with SHARDS", FAST 2015, at a
fixed rate R (section 3) with the adjustment of section 3.4 (SHARDS-adj). Blocks whose hashed address falls below a
threshold are kept with all their references. Deviations: a stack distance d includes the block itself, so only d - 1 is
divided by R; the error bar (the paper has none) comes from eight samples at rate R / 8 each, into which the same hash
splits the sample; see `misspenalty.replay.sampling.error_bar`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from misspenalty.errors import listed
from misspenalty.io.later import pd
from misspenalty.replay.sampling import (
    PARTS,
    SLICE,
    Choice,
    check_counted,
    check_sample,
    choose,
    error_bar,
    estimated,
    scaled,
)
from misspenalty.traces._stack import StackDistances, sampled, tally
from misspenalty.traces.compiled import as_trace
from misspenalty.traces.selection import as_mask, check_size, check_stack, cold_misses, slices
from misspenalty.traces.trace import Trace


class _Stack:
    """An LRU stack with histograms of its distances, over the requests that count and over all references."""

    def __init__(self, blocks: int) -> None:
        self.stack = StackDistances(blocks)
        self.counted, self.everything = np.zeros(blocks + 1, np.int64), np.zeros(blocks + 1, np.int64)
        self.distances = np.empty(0, np.uint32)
        self.first_counted: list[np.ndarray] = []  # by block, in order of first use: whether that use counts

    def feed(self, ids: np.ndarray, counted: np.ndarray) -> None:
        if self.distances.size < ids.size:
            self.distances = np.empty(ids.size, np.uint32)
        self.stack.feed(ids, self.distances)
        tally(self.distances[: ids.size], counted, self.counted, self.everything)
        first = self.distances[: ids.size] == 0
        self.first_counted.append(counted[: ids.size][first] if counted.size else np.ones(first.sum(), np.uint8))

    def misses(self, depth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count misses of requests, and of all references, in caches that hold the top `depth` blocks of the stack."""
        depth = np.minimum(depth, self.counted.size - 1)
        histograms = self.counted, self.everything
        counted, everything = (each.sum() - (np.cumsum(each) - each[0])[depth] for each in histograms)
        return counted, everything

    def fills(self, depth: np.ndarray) -> np.ndarray:
        """Count the requests that miss while caches of `depth` blocks are not yet full, and so evict nothing."""
        counted = np.cumsum(np.concatenate([np.zeros(1, np.int64), *self.first_counted]))
        fills: np.ndarray = counted[np.minimum(depth, self.stack.live)]
        return fills


def stack_distances(trace: Trace | str | os.PathLike[str] | ArrayLike, *, writes: str = "count") -> np.ndarray:
    """Compute the LRU stack distance of each reference.

    Parameters
    ----------
    trace : Trace, path-like, array of integers or table
        As in `simulate`.
    writes : {"count", "ignore", "only"}
        Which references reach the stack, as in `simulate`: with ``"ignore"`` all except writes, otherwise all.
        ``"refresh"`` is impossible because its outcome depends on the cache size.

    Returns
    -------
    uint32, shape (references that reach the stack,)
        Number of distinct blocks, including the block itself, used since its last use: the size in blocks of the
        smallest LRU cache that holds it. 0 for a block's first reference.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        The trace or `writes` is invalid.

    Examples
    --------
    >>> stack_distances([5, 7, 7, 5]).tolist()
    [0, 0, 1, 2]
    """
    trace = as_trace(trace)
    check_stack(trace, writes, 0)
    stack, parts = StackDistances(trace.blocks), []
    for _, ids, _ in slices(trace, writes, 0, SLICE):
        parts.append(np.empty(ids.size, np.uint32))
        stack.feed(ids, parts[-1])
    return np.concatenate(parts)


def lru_curve(
    trace: Trace | str | os.PathLike[str] | ArrayLike,
    cache_blocks: int | Sequence[int] | None = None,
    *,
    writes: str = "count",
    warm_up: int = 0,
    sample: float | None = None,
    sample_seed: int = 0,
    advance: Callable[[int], Any] = lambda references: None,
) -> pd.DataFrame:
    """Compute hit ratios of LRU in one pass over the trace.

    Parameters
    ----------
    trace, writes, warm_up
        As in `simulate`, except that ``writes="refresh"`` is impossible. Without `sample`, the results are exactly
        those of `simulate`.
    cache_blocks : int or sequence of int, optional
        Cache sizes, blocks; by default every size from 1 to the footprint (with `sample`, every size that the sample
        can resolve).
    sample : float, optional
        Share of the blocks to sample, above 0 and below 1.
    sample_seed : int
        Seed that chooses the sampled blocks.
    advance : callable
        Called with the number of references processed since the last call.

    Returns
    -------
    DataFrame
        As in `hit_ratio_curve`, with ``total_evictions``. With a sample, hits, misses and evictions are estimates,
        whereas requests and cold misses are exact; ``hit_ratio_error`` is the error bar of the hit ratio.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        The trace or a parameter is invalid, or no counted reference is in the sample.

    Examples
    --------
    >>> from misspenalty import Trace
    >>> lru_curve(Trace.from_blocks([1, 2, 1, 2]))["hits"].tolist()
    [0, 2]
    """
    trace = as_trace(trace)
    warm_up = check_stack(trace, writes, warm_up)
    sizes = None if cache_blocks is None else np.array([check_size(size) for size in listed(cache_blocks)], np.int64)
    if sample is None:
        return _exact(trace, sizes, writes, warm_up, advance)
    rate, seed = check_sample(sample, sample_seed)
    return _sampled(trace, sizes, writes, warm_up, choose(trace.address, rate, seed), advance)


def _exact(
    trace: Trace, sizes: np.ndarray | None, writes: str, warm_up: int, advance: Callable[[int], Any]
) -> pd.DataFrame:
    lru = _Stack(trace.blocks)
    for part, ids, counted in slices(trace, writes, warm_up, SLICE):
        lru.feed(ids, as_mask(counted))
        advance(part.stop - part.start)
    sizes = np.arange(1, max(lru.stack.live, 1) + 1) if sizes is None else sizes
    misses, loads = lru.misses(sizes)
    requests = int(lru.counted.sum())
    ratio = (requests - misses) / max(requests, 1)
    total = loads - np.minimum(sizes, lru.stack.live)
    return _table(sizes, requests, requests - misses, ratio, int(lru.counted[0]), misses - lru.fills(sizes), total)


def _sampled(
    trace: Trace, sizes: np.ndarray | None, writes: str, warm_up: int, choice: Choice, advance: Callable[[int], Any]
) -> pd.DataFrame:
    rate, part_of = choice.rate, choice.part_of
    whole = _Stack(part_of.size)
    parts = [_Stack(int(np.count_nonzero(part_of == number))) for number in range(PARTS)]
    chosen, chosen_counted, requests = np.empty(SLICE, np.uint32), np.empty(SLICE, np.uint8), 0
    for part, ids, counted in slices(trace, writes, warm_up, SLICE):
        requests += ids.size if counted is None else int(np.count_nonzero(counted))
        n = sampled(ids, choice.numbers, as_mask(counted), chosen, chosen_counted)
        whole.feed(chosen[:n], chosen_counted[:n])
        which = part_of[chosen[:n]]
        for number, stack in enumerate(parts):
            own = which == number
            stack.feed(choice.number_in_part[chosen[:n][own]], chosen_counted[:n][own])
        advance(part.stop - part.start)
    check_counted(int(whole.counted.sum()), rate, requests)
    if sizes is None:
        sizes = np.unique(np.round(1 + np.arange(max(whole.stack.live, 1)) / rate).astype(np.int64))
    ratio, misses, loads = _estimate(whole, sizes, rate, requests)
    others = np.array([_estimate(stack, sizes, rate / PARTS, requests)[0] for stack in parts])
    at_own_rate = estimated(whole.misses(scaled(sizes, choice.own_rate))[0], rate, requests)
    bar, ratio = error_bar(ratio, others, at_own_rate), np.clip(ratio, 0, 1)
    hits = np.round(ratio * requests).astype(np.int64)
    depth, filling = scaled(sizes, rate), np.minimum(sizes, whole.stack.live / rate)
    fills = whole.fills(depth) / np.maximum(np.minimum(depth, whole.stack.live), 1) * filling
    evictions, total = (np.maximum(np.round(each), 0).astype(np.int64) for each in (misses - fills, loads - filling))
    table = _table(sizes, requests, hits, ratio, cold_misses(trace, writes, warm_up), evictions, total)
    return table.assign(hit_ratio_error=bar if requests else float("nan"))


def _estimate(
    stack: _Stack, sizes: np.ndarray, rate: float, requests: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Estimate the hit ratio, and the misses of the requests and of all references, at each size.

    If the sample has fewer or more references than its share, the difference is counted as hits at the smallest
    distance (SHARDS-adj), so only the sample's misses matter.
    """
    misses, loads = stack.misses(scaled(sizes, rate))
    return estimated(misses, rate, requests), misses / rate, loads / rate


def _table(
    sizes: np.ndarray,
    requests: int,
    hits: np.ndarray,
    ratio: np.ndarray,
    cold: int,
    evictions: np.ndarray,
    total: np.ndarray,
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "policy": "lru",
            "cache_blocks": sizes,
            "requests": requests,
            "hits": hits,
            "misses": requests - hits,
            "hit_ratio": ratio if requests else float("nan"),
            "cold_misses": cold,
            "evictions": evictions,
            "ghost_hits": 0,
            "total_evictions": total,
        }
    )
