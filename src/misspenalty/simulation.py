"""Replay a trace through policies: `simulate` one cache size, `hit_ratio_curve` many, in parallel threads."""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from misspenalty.errors import ParameterError
from misspenalty.policies import find_policy

SLICE = 1 << 18  # references replayed at a time: progress, interrupts and bounded memory
LONGEST = 0xFFFFFFFE  # references a kernel's 32-bit clock can count
WRITES = ("count", "ignore", "only")


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
    evictions, ghost_hits : int
        Over the whole replay, warm-up and writes included.
    """

    policy: str
    cache_blocks: int
    requests: int
    hits: int
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
            "evictions": self.evictions,
            "ghost_hits": self.ghost_hits,
        }


def simulate(trace, policy, cache_blocks, *, writes="count", warm_up=0, hits=None, progress=False, **parameters):
    """Replay a trace through one cache.

    Parameters
    ----------
    trace : Trace
        From `open_trace`.
    policy : str
        Name of a policy; see `policies`.
    cache_blocks : int
        Cache size, blocks.
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
        return _replay(trace, policy, cache_blocks, writes, warm_up, hits, parameters, bar.update)


def hit_ratio_curve(
    trace, policy, cache_blocks, *, threads=None, writes="count", warm_up=0, progress=False, **parameters
):
    """Replay a trace through caches of several sizes.

    Parameters
    ----------
    trace, policy, writes, warm_up, **parameters
        As of `simulate`.
    cache_blocks : sequence of int
        Cache sizes, blocks.
    threads : int, optional
        Sizes replayed at a time; by default one a processor. The result does not depend on it.
    progress : bool
        Whether to show a progress bar on the terminal.

    Returns
    -------
    DataFrame
        One row a size in the order given: ``policy, cache_blocks, requests, hits, misses, hit_ratio`` (a fraction),
        ``evictions, ghost_hits``.

    Raises
    ------
    ParameterError
        As `simulate`; also an empty list of sizes or a thread count below 1.
    """
    sizes = [cache_blocks] if np.isscalar(cache_blocks) else list(cache_blocks)
    threads = len(os.sched_getaffinity(0)) if threads is None else threads
    if not sizes or threads < 1:
        raise ParameterError("no cache size given" if not sizes else f"threads is {threads}; expected at least 1")
    with _bar([trace] * len(sizes), progress, policy) as bar, ThreadPoolExecutor(threads) as pool:
        jobs = [
            pool.submit(_replay, trace, policy, size, writes, warm_up, None, parameters, bar.update) for size in sizes
        ]
        try:
            return pd.DataFrame([job.result().row() for job in jobs])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def make_kernel(trace, policy, cache_blocks, **parameters):
    """The kernel of a policy for this trace, every parameter checked.

    Raises
    ------
    ParameterError
        As `simulate`.
    """
    definition = find_policy(policy)
    parameters = definition.check(parameters)
    if (
        isinstance(cache_blocks, bool)
        or not isinstance(cache_blocks, int | np.integer)
        or not 1 <= cache_blocks <= LONGEST
    ):
        raise ParameterError(f"cache size is {cache_blocks!r} blocks; expected a whole number from 1 to {LONGEST}")
    if len(trace) > LONGEST:
        raise ParameterError(f"{trace.name} has {len(trace)} references; at most {LONGEST} can be replayed")
    return definition.kernel(int(cache_blocks), trace.blocks, **parameters)


def _replay(trace, policy, cache_blocks, writes, warm_up, hits, parameters, advance):
    if writes not in WRITES:
        raise ParameterError(f"writes is {writes!r}; expected one of {', '.join(WRITES)}")
    if not 0 <= warm_up < len(trace):
        raise ParameterError(f"warm_up is {warm_up}; expected 0 to {len(trace) - 1}, or nothing would be counted")
    kernel = make_kernel(trace, policy, cache_blocks, **parameters)
    outcome = np.empty(SLICE, np.uint8)
    requests = found = 0
    for begin in range(0, len(trace), SLICE):
        part = slice(begin, min(begin + SLICE, len(trace)))
        ids = _selected(trace, writes, part)
        kernel.replay(ids, outcome)
        hit = outcome[: ids.shape[0]]
        _record(trace, writes, part, hit, hits)
        counted = _counted(trace, writes, part, warm_up - begin)
        requests += ids.shape[0] if counted is None else int(np.count_nonzero(counted))
        found += int(np.count_nonzero(hit if counted is None else hit[counted]))
        advance(part.stop - part.start)
    return Result(policy, int(cache_blocks), requests, found, kernel.evictions, kernel.ghost_hits)


def _selected(trace, writes, part):
    """Ids of the references in `part` that reach the cache."""
    ids = trace.ids[part]
    if trace.write is None:
        return ids[:0] if writes == "only" else ids
    if writes == "count":
        return ids
    return ids[trace.write[part] == (writes == "only")]


def _counted(trace, writes, part, skip):
    """Which of the selected references count; None = all."""
    write = None if trace.write is None else trace.write[part]
    if skip <= 0:
        return ~write if writes == "count" and write is not None else None
    counted = np.ones(part.stop - part.start, bool) if writes != "count" or write is None else ~write
    counted[:skip] = False
    return counted if writes == "count" or write is None else counted[write == (writes == "only")]


def _record(trace, writes, part, hit, hits):
    if hits is None:
        return
    if writes == "count" or trace.write is None:
        hits[part] = hit
    else:
        hits[part][trace.write[part] == (writes == "only")] = hit


def _bar(traces, progress, policy):
    return tqdm(
        total=sum(map(len, traces)), desc=policy, unit=" refs", unit_scale=True, disable=None if progress else True
    )
