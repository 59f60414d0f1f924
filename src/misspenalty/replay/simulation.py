"""Replay a trace through policies: `simulate` at one cache size, `hit_ratio_curve` at many."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, overload

import numpy as np

from misspenalty.errors import ParameterError, check_choice, check_flag, listed
from misspenalty.io.later import pd
from misspenalty.io.threads import Job, check_threads, in_threads
from misspenalty.policies.python_policy import PythonPolicy
from misspenalty.policies.registry import Definition, find_policies, find_policy, settings_of
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty.replay.by_bytes import as_table, replay_bytes
from misspenalty.replay.cache_size import UNITS, CacheSize, block_bytes_of, cache_sizes, check_size_changes
from misspenalty.replay.curves import lru_curve
from misspenalty.replay.miniature import Miniatures
from misspenalty.replay.result import OPTIMA, ByteResult, Result, warn_if_better_than_opt
from misspenalty.replay.sampling import Piece, check_sample, check_sampled_sizes, check_seed
from misspenalty.traces.compiled import TraceLike, as_trace
from misspenalty.traces.selection import MOST_REFERENCES, check, check_size, cold_misses, record, slices
from misspenalty.traces.trace import Trace

SLICE = 1 << 18  # references replayed at a time, to bound memory; progress and interrupts are handled in between
ONE_PASS = 3  # for this many sizes or more, one pass with the stack is faster than separate caches

Policy: TypeAlias = str | type


@overload
def simulate(trace: TraceLike, policy: Policy, cache_blocks: int, **settings: Any) -> Result: ...
@overload
def simulate(trace: TraceLike, policy: Policy, cache_blocks: float | str, **settings: Any) -> Any: ...
@overload
def simulate(trace: TraceLike, policy: Sequence[Policy], cache_blocks: CacheSize, **settings: Any) -> pd.DataFrame: ...
def simulate(
    trace: TraceLike,
    policy: Policy | Sequence[Policy],
    cache_blocks: CacheSize,
    *,
    unit: str | None = None,
    size_changes: str = "replace",
    prefetch: str | Mapping[str, Any] | None = None,
    writes: str = "count",
    warm_up: int = 0,
    hits: np.ndarray | None = None,
    progress: bool = False,
    **parameters: Any,
) -> Result | ByteResult | pd.DataFrame:
    """Replay a trace through a cache of one size, or through one such cache per policy.

    Parameters
    ----------
    trace : Trace, path-like, array of integers or table
        From `open_trace`; the path of a trace; block addresses in order of reference; or a table as in
        `Trace.from_table`.
    policy : str or type, or a list, tuple or array of these
        Name of a policy, in upper or lower case (see `policies`), or a class with ``access(block)``, or for caches of
        bytes ``access(block, size)`` (see `misspenalty.policies.python_policy`). If there are several, each has its own
        cache.
    cache_blocks : int, float or str
        Cache size: blocks (``65536``), a share of the footprint (``0.05`` or ``"5%"``), or bytes (``"64MB"``). For a
        trace of objects of different sizes, a share or bytes give the bytes of a cache in which each object takes its
        own size (see `byte_hit_ratio_curve`); a whole number is a number of objects that each count the same.
    unit : {"bytes", "objects"}, optional
        Unit of every size; see `misspenalty.replay.cache_size`.
    size_changes : {"replace", "keep", "new"}
        What happens if an object in a cache of bytes is requested with another size; see `byte_hit_ratio_curve`.
    prefetch : "sequential" or "amp" or mapping, optional
        Sequential prefetcher in front of the cache, with its defaults or the given settings; see
        `misspenalty.prefetch.sequential.prefetcher` and `misspenalty.prefetch.sequential.amp`. Each block counts as a
        track, and a write triggers prefetching like a read. The first reference to a prefetched block may be a hit, so
        hits and cold misses may add up to more than the requests.
    writes : {"count", "ignore", "refresh", "only"}
        How writes are treated. With ``"count"``, they update the cache like reads but never count as requests; with
        ``"ignore"``, they are left out; with ``"refresh"``, they update the cache only if their block is cached; with
        ``"only"``, only they count as requests, and reads update the cache without being counted. For a policy that
        looks into the future, ``"refresh"`` is the same as ``"ignore"``. To leave reads out, use
        `misspenalty.traces.parts.select`.
    warm_up : int
        References at the start of the trace that fill the cache and are not counted.
    hits : bool array, shape (len(trace),), optional
        Filled with the outcome of each reference, for one policy; entries of ignored references are left as they are.
    progress : bool
        Whether to show a progress bar on the terminal.
    **parameters
        The policy's parameters. With several policies, each takes those that it has.

    Returns
    -------
    Result, ByteResult or DataFrame
        A `Result`, or a `ByteResult` for a cache of bytes. For a list of policies, or ``opt`` in a cache of bytes, a
        table of results with the columns of `hit_ratio_curve`.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        The trace, the policy, a parameter or the cache size is unknown or invalid.

    Examples
    --------
    >>> simulate([1, 2, 1, 3, 1], "lru", 2)
    Result(policy='lru', cache_blocks=2, requests=5, hits=2, cold_misses=3, evictions=1, ghost_hits=0)
    >>> simulate([1, 2, 1, 3, 1], ["lru", "fifo"], 2)[["policy", "hits"]].to_dict("list")
    {'policy': ['lru', 'fifo'], 'hits': [2, 1]}
    >>> web = Trace.from_blocks([1, 2, 1, 3, 1], object_bytes=[10, 20, 10, 99, 10])
    >>> simulate(web, "lru", "30B").byte_hit_ratio, simulate(web, "lru", 2).hits
    (0.1342281879194631, 2)
    """
    definitions, settings, several = _policies(policy, parameters, simulate)
    if several and hits is not None:
        raise ParameterError("hits requires a single policy, not a list; name one, or leave hits out")
    opened = as_trace(trace)
    right = isinstance(hits, np.ndarray) and hits.dtype == np.bool_ and hits.shape == (len(opened),)
    if hits is not None and not (right and hits.flags.writeable):
        raise ParameterError(f"hits is not a writable bool array of shape ({len(opened)},), one entry per reference")
    given = cache_sizes(opened, cache_blocks, unit)
    check_size_changes(size_changes, given.in_bytes)
    if len(given.sizes) > 1:
        raise ParameterError(f"{len(given.sizes)} cache sizes given; name one, or compute a curve with hit_ratio_curve")
    (size,) = given.sizes
    if given.in_bytes:
        bounded = _in_bytes(
            opened,
            definitions,
            [size],
            prefetch,
            progress,
            size_changes=size_changes,
            writes=writes,
            warm_up=warm_up,
            threads=1,
            parameters=parameters,
            hits=hits,
        )
        return as_table(bounded) if several or len(bounded) > 1 else bounded[0]
    results = []
    for definition, own in zip(definitions, settings, strict=True):
        with _bar(len(opened), progress, definition.name) as bar:
            results.append(_replay(opened, definition, size, prefetch, writes, warm_up, hits, own, bar.update))
    if _needs_opt(definitions):
        results.append(_replay(opened, find_policy("opt"), size, None, writes, warm_up, None, {}, _Silent.update))
    rows = [result.row() for result in results]
    warn_if_better_than_opt(rows)
    return pd.DataFrame(rows[: len(definitions)]) if several else results[0]


def hit_ratio_curve(
    trace: TraceLike,
    policy: Policy | Sequence[Policy],
    cache_blocks: CacheSize | Iterable[CacheSize] | None = None,
    *,
    unit: str | None = None,
    size_changes: str = "replace",
    threads: int | None = None,
    sample: float | None = None,
    sample_seed: int = 0,
    prefetch: str | Mapping[str, Any] | None = None,
    writes: str = "count",
    warm_up: int = 0,
    progress: bool = False,
    totals: bool = False,
    **parameters: Any,
) -> pd.DataFrame:
    """Replay a trace through caches of several sizes.

    LRU is a stack algorithm: one pass over the trace (`lru_curve`) gives the hits at all sizes. Such a pass is made for
    three or more sizes or for a sample, except behind a prefetcher or with ``writes="refresh"``. OPT, MRU and LFU with
    its whole history are stack algorithms as well, but their stacks are not ordered by recency alone, so an update
    takes time proportional to the depth. Like all other policies, they are replayed size by size, in parallel threads.

    Parameters
    ----------
    trace, policy, unit, size_changes, prefetch, writes, warm_up, **parameters
        As in `simulate`.
    cache_blocks : int, float or str, or a sequence of these, optional
        Cache sizes, as in `simulate`; by default every number of blocks from 1 to the footprint, for LRU only.
    threads : int, optional
        Number of caches replayed in parallel; by default one per processor. The result does not depend on it.
    sample : float, optional
        Share of the blocks to sample: LRU's curve is estimated by SHARDS (`lru_curve`), any other policy's by a small
        cache on the same sample (`misspenalty.replay.miniature`). Estimates for caches of fewer than 100 / `sample`
        blocks are rough.
    sample_seed : int
        Seed that chooses the sampled blocks.
    progress : bool
        Whether to show a progress bar on the terminal.
    totals : bool
        Whether to add ``total_evictions``, the evictions by all references, including writes and warm-up. A table for
        caches of bytes stays as it is, since its ``evictions`` are these.

    Returns
    -------
    DataFrame
        One row per policy and size, both in the order given: ``policy, cache_blocks, requests, hits, misses,
        hit_ratio`` (a fraction), ``cold_misses, evictions, ghost_hits`` (see `Result`); then, for estimates,
        ``hit_ratio_error``, and with `totals` ``total_evictions``. For caches of bytes, the columns of
        `byte_hit_ratio_curve`.

    Raises
    ------
    InputError
        The trace cannot be read.
    ParameterError
        As in `simulate`; or the list of sizes is empty, no sizes are given although a policy is not LRU, a prefetcher
        is set or the unit is bytes, the thread count is below 1, or a sample has no counted reference, leaves a cache
        too small, or is combined with a prefetcher or caches of bytes.

    Examples
    --------
    >>> blocks = [1, 2, 3, 1, 2, 3, 1, 2, 3]
    >>> hit_ratio_curve(blocks, ["lru", "opt"], [2, 3])[["policy", "cache_blocks", "hits"]]
      policy  cache_blocks  hits
    0    lru             2     0
    1    lru             3     6
    2    opt             2     3
    3    opt             3     6
    """
    definitions, settings, _ = _policies(policy, parameters, hit_ratio_curve)
    threads = check_threads(threads)
    check_flag("totals", totals)
    sample_seed = check_seed(sample_seed)
    opened = as_trace(trace)
    given = None if cache_blocks is None else cache_sizes(opened, cache_blocks, unit)
    check_size_changes(size_changes, given is not None and given.in_bytes)
    if given is None and unit is not None and check_choice("unit", unit, UNITS) == "bytes":
        raise ParameterError(
            "without sizes, the curve counts blocks or objects; name sizes in bytes (1%,64MB), or leave out unit"
            " bytes (--by-bytes)"
        )
    if given is not None and given.in_bytes:
        if sample is not None:
            raise ParameterError("a sample needs blocks of one size; leave out sample, or give sizes in objects")
        rows = _in_bytes(
            opened,
            definitions,
            given.sizes,
            prefetch,
            progress,
            size_changes=size_changes,
            writes=writes,
            warm_up=warm_up,
            threads=threads,
            parameters=parameters,
        )
        from misspenalty.replay.tables import drawn  # this import loads pandas

        return drawn(as_table(rows), "hit_ratio", opened)
    sizes = None if given is None else given.sizes
    stacks = [definition.name == "lru" and prefetch is None for definition in definitions]
    if not all(stacks) and sizes is None:
        other = definitions[stacks.index(False)].name
        instead = other if prefetch is None else f"{other} behind a prefetcher"
        raise ParameterError(f"all sizes at once are possible only for lru, not for {instead}; name the sizes")
    if sample is not None and prefetch is not None:
        raise ParameterError("sampling does not work behind a prefetcher; leave out sample or prefetch")
    warm_up = check(opened, writes, warm_up)
    if sample is not None:
        check_sampled_sizes(sizes or (), check_sample(sample, sample_seed)[0])
    bound = prefetch is None and _needs_opt(definitions)  # behind a prefetcher, a policy in Python is refused
    if bound:
        definitions, settings, stacks = [*definitions, find_policy("opt")], [*settings, {}], [*stacks, False]
    jobs: list[Job] = []
    cold = None if all(stacks) and sizes is None else cold_misses(opened, writes, warm_up)
    miniatures = (
        None
        if sample is None
        else Miniatures(opened, writes, warm_up, *check_sample(sample, sample_seed), _replay_piece)
    )

    def all_sizes(advance: Callable[[int], Any]) -> pd.DataFrame:
        return lru_curve(
            opened, sizes, writes=writes, warm_up=warm_up, sample=sample, sample_seed=sample_seed, advance=advance
        )

    def one_size(definition: Definition, size: int, own: dict[str, Any], advance: Callable[[int], Any]) -> pd.DataFrame:
        result = _replay(opened, definition, size, prefetch, writes, warm_up, None, own, advance, cold)
        return pd.DataFrame([result.row() | {"total_evictions": result.total_evictions}])

    for definition, own, stack in zip(definitions, settings, stacks, strict=True):
        one_pass = sizes is None or ((sample is not None or len(sizes) >= ONE_PASS) and writes != "refresh")
        if stack and one_pass:
            jobs.append(all_sizes)
        elif miniatures is not None and cold is not None:
            jobs += [miniatures.job(definition, size, own, cold) for size in sizes or ()]
        else:
            jobs += [functools.partial(one_size, definition, size, own) for size in sizes or ()]
    with _bar(len(jobs) * len(opened), progress, ", ".join(d.name for d in definitions)) as bar:
        table = pd.concat(in_threads(jobs, bar.update, threads), ignore_index=True)
    if any(definition.name in OPTIMA for definition in definitions):
        warn_if_better_than_opt(table.to_dict("records"))
    table = table[: len(table) - len(sizes)] if bound and sizes is not None else table
    from misspenalty.replay.tables import drawn  # this import loads pandas

    return drawn(table if totals else table.drop(columns="total_evictions"), "hit_ratio", opened)


def _replay_piece(piece: Piece, definition: Definition, size: int, writes: str, parameters: dict[str, Any]) -> Result:
    return _replay(piece.trace, definition, size, None, writes, piece.warm_up, None, parameters, _Silent.update)


def _policies(
    policy: Policy | Sequence[Policy], parameters: dict[str, Any], function: Callable[..., Any]
) -> tuple[list[Definition], list[dict[str, Any]], bool]:
    """Return the policies, the checked parameters of each, and whether `policy` is a list, tuple or array.

    An error about an unknown parameter may suggest an argument of `function`.
    """
    several = isinstance(policy, list | tuple) or getattr(policy, "ndim", 0) == 1
    asked: list[Any] = listed(policy) if several else [policy]
    if not asked:
        raise ParameterError("no policy given")
    definitions = find_policies(asked)
    known = inspect.signature(function).parameters
    return definitions, settings_of(definitions, parameters, known=known), several


def _needs_opt(definitions: list[Definition]) -> bool:
    """Return whether OPT must be added to the requested policies to check one that exists only in Python."""
    return any(d.kernel is None and not d.offline for d in definitions) and all(d.name != "opt" for d in definitions)


def _in_bytes(
    trace: Trace, definitions: list[Definition], sizes: list[int], prefetch: Any, progress: bool, **settings: Any
) -> list[ByteResult]:
    if prefetch is not None:
        raise ParameterError("a prefetcher needs blocks of one size; leave out prefetch, or give sizes in objects")
    with _bar(len(definitions) * len(sizes) * len(trace), progress, ", ".join(d.name for d in definitions)) as bar:
        return replay_bytes(trace, definitions, sizes, bar.update, **settings)


def make_kernel(
    trace: Trace,
    policy: Policy | Definition,
    cache_blocks: int,
    prefetch: str | Mapping[str, Any] | None = None,
    **parameters: Any,
) -> Any:
    """Make the kernel of a policy for this trace, behind a prefetcher if `prefetch` is set; check all parameters.

    Raises
    ------
    ParameterError
        As in `simulate`; or the policy exists only in Python.
    """
    definition = find_policy(policy)
    if definition.kernel is None:
        raise ParameterError(f"{definition.name} is written in Python; only a compiled policy can be used here")
    return _kernel(trace, definition, check_size(cache_blocks), prefetch, parameters)


def _kernel(
    trace: Trace,
    definition: Definition,
    size: int,
    prefetch: str | Mapping[str, Any] | None,
    parameters: dict[str, Any],
    future: Callable[[], Iterable[np.ndarray]] | None = None,
) -> Any:
    trace.check()
    if len(trace) > MOST_REFERENCES:
        raise ParameterError(f"{trace.name} has {len(trace)} references; at most {MOST_REFERENCES} can be replayed")
    if prefetch is None:
        return definition.cache(size, trace.address, parameters, future, block_bytes_of(trace))
    if definition.kernel is None:
        raise ParameterError(
            f"{definition.name} is written in Python and cannot work behind the prefetcher; leave out prefetch"
        )
    return track_cache(definition, size, address=trace.address, prefetch=prefetch, **parameters)


def _replay(
    trace: Trace,
    definition: Definition,
    size: int,
    prefetch: str | Mapping[str, Any] | None,
    writes: str,
    warm_up: int,
    hits: np.ndarray | None,
    parameters: dict[str, Any],
    advance: Callable[[int], Any],
    cold: int | None = None,
) -> Result:
    warm_up = check(trace, writes, warm_up)
    if definition.offline and writes == "refresh":
        writes = "ignore"

    def future() -> Iterable[np.ndarray]:
        return (ids for _, ids, _ in slices(trace, writes, warm_up, SLICE))

    kernel = _kernel(trace, definition, size, prefetch, parameters, future)
    cold = cold_misses(trace, writes, warm_up) if cold is None else cold
    outcome = np.empty(SLICE, np.uint8)
    requests = found = 0
    for part, ids, counted in slices(trace, writes, warm_up, SLICE):
        refresh = trace.write[part].view(np.uint8) if writes == "refresh" and trace.write is not None else None
        found += kernel.replay(ids, outcome, refresh, None if counted is None else counted.view(np.uint8))
        requests += len(ids) if counted is None else int(np.count_nonzero(counted))
        record(trace, writes, part, outcome[: len(ids)], hits)
        advance(part.stop - part.start)
    if isinstance(kernel, PythonPolicy):
        kernel.check_size()
    counts = kernel.counted_evictions, kernel.ghost_hits, kernel.evictions
    return Result(definition.name, size, requests, found, cold, *counts)


def _bar(references: int, progress: bool, policy: str) -> AbstractContextManager[Any]:
    if not check_flag("progress", progress):
        return contextlib.nullcontext(_Silent)  # even a disabled progress bar would import multiprocessing
    from tqdm import tqdm  # tqdm takes longer to import than this module

    bar: AbstractContextManager[Any] = tqdm(total=references, desc=policy, unit=" refs", unit_scale=True, disable=None)
    return bar


class _Silent:
    @staticmethod
    def update(references: int) -> None:
        pass
