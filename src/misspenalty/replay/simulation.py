"""Replay a trace through policies: `simulate` one cache size, `hit_ratio_curve` many, in one pass or in threads."""

import contextlib
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from misspenalty.errors import ParameterError
from misspenalty.policies import find_policy
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty.replay.curves import lru_curve
from misspenalty.traces.selection import LONGEST, check, check_size, cold_misses, slices

SLICE = 1 << 18  # references replayed at a time: progress, interrupts and bounded memory
ONE_PASS = 3  # sizes from which the stack is faster than so many caches


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
    def misses(self):
        """Requests that did not find their block."""
        return self.requests - self.hits

    @property
    def hit_ratio(self):
        """Hits over requests, a fraction; NaN where nothing was counted."""
        return self.hits / self.requests if self.requests else float("nan")

    def row(self):
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


def simulate(
    trace, policy, cache_blocks, *, prefetch=None, writes="count", warm_up=0, hits=None, progress=False, **parameters
):
    """Replay a trace through one cache.

    Parameters
    ----------
    trace : Trace
        From `open_trace`.
    policy : str
        Name of a policy; see `policies`.
    cache_blocks : int
        Cache size, blocks.
    prefetch : "sequential" or mapping, optional
        Put the sequential prefetcher in front of the cache, with its defaults or the settings given; see
        `misspenalty.prefetch.sequential.prefetcher`. A block is a track, and a write reads ahead like a read. A
        prefetched block may be a hit that no cache alone could have, so that hits and cold misses may add up to more
        than the requests.
    writes : {"count", "ignore", "only"}
        What a write is to the cache: an access that updates it like a read (but never counts as a request), nothing, or
        the only thing replayed (and counted).
    warm_up : int
        References at the head of the trace that fill the cache and are not counted.
    hits : bool array, shape (len(trace),), optional
        Filled with the outcome of each reference; ignored references are left as they are.
    progress : bool
        Whether to show a progress bar on the terminal.
    **parameters
        The policy's own.

    Returns
    -------
    Result

    Raises
    ------
    ParameterError
        The policy, a parameter or the cache size is unknown or impossible.
    """
    with _bar([trace], progress, policy) as bar:
        return _replay(trace, policy, cache_blocks, prefetch, writes, warm_up, hits, parameters, bar.update)


def hit_ratio_curve(
    trace,
    policy,
    cache_blocks=None,
    *,
    threads=None,
    sample=None,
    sample_seed=0,
    prefetch=None,
    writes="count",
    warm_up=0,
    progress=False,
    **parameters,
):
    """Replay a trace through caches of several sizes.

    LRU is a stack algorithm: one pass over the trace gives all sizes at once, and is taken for three or more of them
    (`lru_curve`). OPT, MRU and LFU with its whole history are stack algorithms as well, but their stacks are ordered
    by more than recency and cost time in proportion to their depth; like all other policies they are replayed size by
    size, in parallel threads.

    Parameters
    ----------
    trace, policy, prefetch, writes, warm_up, **parameters
        As of `simulate`.
    cache_blocks : sequence of int, optional
        Cache sizes, blocks; by default every size from 1 to the footprint, for LRU alone.
    threads : int, optional
        Sizes replayed at a time; by default one a processor. The result does not depend on it.
    sample : float, optional
        Share of the blocks to look at, for LRU alone: the curve is estimated by SHARDS; see `lru_curve`.
    sample_seed : int
        Chooses the sampled blocks.
    progress : bool
        Whether to show a progress bar on the terminal.

    Returns
    -------
    DataFrame
        One row a size in the order given: ``policy, cache_blocks, requests, hits, misses, hit_ratio`` (a fraction),
        ``cold_misses, evictions, ghost_hits``; estimates with ``hit_ratio_error`` behind them.

    Raises
    ------
    ParameterError
        As `simulate`; also an empty list of sizes, a thread count below 1, or what only LRU can do asked of another
        policy.
    """
    threads = processors() if threads is None else threads
    sizes = (
        cache_blocks if cache_blocks is None else [cache_blocks] if np.isscalar(cache_blocks) else list(cache_blocks)
    )
    if sizes == [] or threads < 1:
        raise ParameterError("no cache size given" if sizes == [] else f"threads is {threads}; expected at least 1")
    find_policy(policy).check(parameters)
    stack = policy == "lru" and prefetch is None
    if not stack and (sizes is None or sample is not None):
        what = "every size at once is" if sizes is None else "sampling is"
        instead = policy if prefetch is None else f"{policy} behind a prefetcher"
        raise ParameterError(f"{what} for lru, not for {instead}; name the sizes and leave sample out")
    if stack and (sizes is None or sample is not None or len(sizes) >= ONE_PASS):
        with _bar([trace], progress, policy) as bar:
            return lru_curve(
                trace, sizes, writes=writes, warm_up=warm_up, sample=sample, sample_seed=sample_seed, advance=bar.update
            )
    check(trace, writes, warm_up)
    cold = cold_misses(trace, writes, warm_up)
    with _bar([trace] * len(sizes), progress, policy) as bar, ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(_replay, trace, policy, size, prefetch, writes, warm_up, None, parameters, bar.update, cold)
            for size in sizes
        ]
        try:
            return pd.DataFrame([job.result().row() for job in jobs])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def processors():
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def make_kernel(trace, policy, cache_blocks, prefetch=None, **parameters):
    """The kernel of a policy for this trace, behind the prefetcher where one is asked for, every parameter checked.

    Raises
    ------
    ParameterError
        As `simulate`.
    """
    definition = find_policy(policy)
    size = check_size(cache_blocks)
    if len(trace) > LONGEST:
        raise ParameterError(f"{trace.name} has {len(trace)} references; at most {LONGEST} can be replayed")
    if prefetch is not None:
        return track_cache(policy, size, address=trace.address, prefetch=prefetch, **parameters)
    return definition.cache(size, trace.address, parameters)


def _replay(trace, policy, cache_blocks, prefetch, writes, warm_up, hits, parameters, advance, cold=None):
    check(trace, writes, warm_up)
    kernel = make_kernel(trace, policy, cache_blocks, prefetch, **parameters)
    cold = cold_misses(trace, writes, warm_up) if cold is None else cold
    outcome = np.empty(SLICE, np.uint8)
    requests = found = 0
    for part, ids, counted in slices(trace, writes, warm_up, SLICE):
        all_hits = kernel.replay(ids, outcome)
        hit = outcome[: ids.shape[0]]
        _record(trace, writes, part, hit, hits)
        requests += ids.shape[0] if counted is None else int(np.count_nonzero(counted))
        found += all_hits if counted is None else int(np.count_nonzero(hit[counted]))
        advance(part.stop - part.start)
    return Result(policy, int(cache_blocks), requests, found, cold, kernel.evictions, kernel.ghost_hits)


def _record(trace, writes, part, hit, hits):
    if hits is None:
        return
    if writes == "count" or trace.write is None:
        hits[part] = hit
    else:
        hits[part][trace.write[part] == (writes == "only")] = hit


def _bar(traces, progress, policy):
    if not progress:
        return contextlib.nullcontext(_Silent)  # a bar that shows nothing would still import multiprocessing
    return tqdm(total=sum(map(len, traces)), desc=policy, unit=" refs", unit_scale=True, disable=None)


class _Silent:
    @staticmethod
    def update(references):
        pass
