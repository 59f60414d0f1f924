"""Run the HAC study's traversals on client caches, and count operations at every fetch.

Paper: M. Castro, A. Adya, B. Liskov, A. C. Myers, "HAC: Hybrid Adaptive Caching for Distributed Storage Systems", SOSP
1997, section 4. This module counts operations and does not price them.

A run repeats one traversal on one cache. The first iteration is cold; *hot* is the mean of the others except the last
(of two iterations, it is the second), as the benchmark's own program reports it.
"""

import sys
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty_studies.hac.object_server.object_client import load_testbed
from misspenalty_studies.hac.objects import oo7
from misspenalty_studies.hac.objects.cache import COUNTS, LEVELS, SYSTEMS
from misspenalty_studies.hac.objects.traversals import Dynamic, Program

MB = 2**20
MISSES = ["traversal", "system", "cache_mb", "frames_mb", "table_mb", "share", "cold_misses", "hot_misses"]


class TraversalRun(NamedTuple):
    """The fetches of a run, and the memory that its cache used.

    Attributes
    ----------
    fetches : DataFrame
        One row per fetch; each iteration begins with a row with page 0, for the time before its first fetch. Columns:
        ``iteration`` (0 is cold), ``page``, and `COUNTS`, the counts from this row to the next one (for `LEVELS`: the
        value at this row).
    memory : tuple of int
        Bytes of frames and of the indirection table at the end of the run.
    """

    fetches: pd.DataFrame
    memory: tuple


def database(seed, **sizes):
    """Generate a database: OO7's medium one, except where `sizes` differ."""
    return oo7.generate(oo7.Parameters(**sizes), np.random.default_rng(seed))


def run(data, system, traversal, cache_mb, iterations, **parameters):
    """Repeat one traversal on one cache.

    Parameters
    ----------
    data : Database
    system : str
        One of `SYSTEMS`.
    traversal : str
        One of `KINDS`.
    cache_mb : float
        Size of the client cache, 2**20 bytes.
    iterations : int
    **parameters
        Further parameters of the cache.

    Returns
    -------
    TraversalRun

    Raises
    ------
    ParameterError
        The cache is too small for the traversal, a name is unknown, or a parameter of the cache is invalid.
    """
    cache = make_cache(data, system, cache_mb, **parameters)
    program = Program(cache, data)
    tables, before = [], None
    for iteration in range(iterations):
        program.run(traversal)
        pages, counts = cache.log()
        tables.append(intervals(pages, counts, before))
        tables[-1].insert(0, "iteration", iteration)
        before = counts[-1]
    return TraversalRun(pd.concat(tables, ignore_index=True), cache.memory_used)


def run_dynamic(data, system, cache_mb, dynamic, seed, **parameters):
    """Run a dynamic traversal once; all its fetches belong to iteration 0. Other parameters are those of `run`."""
    cache = make_cache(data, system, cache_mb, **parameters)
    Program(cache, data).run_dynamic(Dynamic(**dynamic), np.random.default_rng(seed))
    table = intervals(*cache.log())
    table.insert(0, "iteration", 0)
    return TraversalRun(table, cache.memory_used)


def make_cache(data, system, cache_mb, **parameters):
    """Make the cache of a system, given its name and its size in units of 2**20 bytes."""
    if system not in SYSTEMS:
        raise ParameterError(f"system is {system!r}; expected one of {', '.join(SYSTEMS)}")
    return SYSTEMS[system](data, int(cache_mb * MB), **parameters)


def intervals(pages, counts, before=None):
    """Convert a cache's log of one iteration to the form of `TraversalRun.fetches`, without the column ``iteration``.

    Parameters
    ----------
    pages, counts
        From `ClientCache.log`.
    before : int64 array, optional
        Counts at the end of the previous iteration.
    """
    start = np.zeros((1, len(COUNTS)), np.int64) if before is None else before[None]
    edges = np.concatenate([start, counts])
    spent = np.diff(edges, axis=0)
    levels = [COUNTS.index(name) for name in LEVELS]
    spent[:, levels] = edges[:-1, levels]
    table = pd.DataFrame(spent, columns=list(COUNTS))
    table.insert(0, "page", np.concatenate([[0], pages[:-1]]))
    return table


def hot_iterations(iterations):
    """Return the iterations over which *hot* is a mean."""
    return range(1, max(iterations - 1, 2))


def count_misses(fetches):
    """Return the number of fetches of the cold iteration, and the mean of the hot ones (None if there are none)."""
    number = fetches[fetches["page"] > 0].groupby("iteration").size()
    count = int(fetches["iteration"].max()) + 1
    number = number.reindex(range(count), fill_value=0)
    hot = list(hot_iterations(count)) if count > 1 else []
    return int(number[0]), float(number[hot].mean()) if hot else None


def sweep(data, systems, traversal, sizes_mb, iterations, shares=()):
    """Count the misses of several systems at several cache sizes.

    Parameters
    ----------
    data, traversal, iterations
        As in `run`.
    systems : sequence of str
    sizes_mb : sequence of float
    shares : sequence of float
        Splits of ``gom`` to try; the one with the fewest hot misses is kept at each size.

    Returns
    -------
    DataFrame
        ``traversal, system, cache_mb, frames_mb, table_mb, share, cold_misses, hot_misses``; sizes too small to run are
        left out.
    """
    rows = []
    for system, size in product(systems, sizes_mb):
        best = fewest_misses(
            partial(run, data, system, traversal, size, iterations),
            shares if system == "gom" else [None],
            lambda fetches: count_misses(fetches)[::-1],
        )
        if best is not None:
            (hot, cold), share, memory = best
            rows.append((traversal, system, size, memory[0] / MB, memory[1] / MB, share, cold, hot))
    return pd.DataFrame(rows, columns=MISSES)


def fewest_misses(run, shares, count):
    """Run a cache with each of the splits `shares`; return (misses, split, memory) of the run with the fewest misses.

    The function `count` returns the misses, given a run's fetches. A cache that is not split has the single share None.
    Return None if the cache is too small for every split.
    """
    found = []
    for share in shares:
        try:
            one = run() if share is None else run(share=share)
        except ParameterError:  # the cache is too small
            continue
        found.append((count(one.fetches), share, one.memory))
    return min(found, key=lambda item: item[0], default=None)


def sweep_hac(data, traversal, sizes_mb, iterations, *, table=True, **parameters):
    """Run one traversal on HAC at several sizes and concatenate its fetches.

    Parameters
    ----------
    data, traversal, iterations, **parameters
        As in `run`.
    sizes_mb : sequence of float
    table : bool
        Whether the size includes the indirection table.

    Returns
    -------
    DataFrame
        `TraversalRun.fetches` with ``cache_mb, frames_mb, table_mb``.
    """
    tables = []
    for size in sizes_mb:
        one = run(data, "hac", traversal, size, iterations, table=table, **parameters)
        frames, rest = (part / MB for part in one.memory)
        narrow = one.fetches.to_numpy().max() < 2**31  # 32-bit counts halve the size of the file
        fetches = one.fetches.astype("int32") if narrow else one.fetches
        tables.append(fetches.assign(cache_mb=size, frames_mb=frames, table_mb=rest))
        print(f"{traversal}, {size:g} MB: {count_misses(one.fetches)} cold and hot misses", file=sys.stderr)
    return pd.concat(tables, ignore_index=True)


def sweeps(
    machine, traversal, seeds, sizes, iterations, total_mb, frames_mb=None, others_mb=None, shares=(), threads=1
):
    """Run one traversal on HAC and, if sizes are given for them, on FPC and the dual buffer, for every seed (a workflow
    job).

    Parameters
    ----------
    machine : path-like
        ``machine.yaml``.
    traversal : str
    seeds : sequence of int
    sizes : dict
        Sizes of the database.
    iterations : int
        Iterations of HAC's runs; the other systems run one cold and one hot iteration.
    total_mb : dict of str to sequence of float
        Traversal -> sizes of client caches, including frames and indirection table.
    frames_mb : dict of str to sequence of float, optional
        Traversal -> sizes of client caches, including only the frames.
    others_mb : dict of str to sequence of float, optional
        Traversal -> sizes of the caches of FPC and the dual buffer; without it only HAC is run.
    shares : sequence of float
        As in `sweep`; at each size at which the dual buffer can run with the first seed, that seed decides the split.
    threads : int
        Number of seeds that run at the same time, after the first.

    Returns
    -------
    dict of str to DataFrame
        ``total`` and, if `frames_mb` is given, ``frames``: HAC's fetches at every size; if `others_mb` is given,
        ``others``: misses of FPC and the dual buffer. All have a column ``seed``.
    """
    record = load_testbed(machine).record
    axes = {axis: chosen[traversal] for axis, chosen in (("total", total_mb), ("frames", frames_mb)) if chosen}
    others_mb = others_mb[traversal] if others_mb else []
    best = dict.fromkeys(others_mb, shares)

    def of_seed(seed):
        data = database(seed, **sizes)
        found = {
            axis: sweep_hac(data, traversal, chosen, iterations, table=axis == "total", **record)
            for axis, chosen in axes.items()
        }
        if others_mb:
            made = [sweep(data, ["fpc", "gom"], traversal, [size], 2, shares=best[size]) for size in others_mb]
            found["others"] = pd.concat(made, ignore_index=True)
        return {name: table.assign(seed=seed) for name, table in found.items()}

    first = of_seed(seeds[0])
    if others_mb:
        best |= first["others"].query("system == 'gom'").groupby("cache_mb")["share"].apply(list).to_dict()
    found = [first, *map_in_threads(of_seed, seeds[1:], threads)]
    return {name: pd.concat([tables[name] for tables in found], ignore_index=True) for name in first}
