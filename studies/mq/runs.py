"""Run the MQ study: a storage cache behind a database's own cache.

Paper: Y. Zhou, J. F. Philbin, K. Li, "The Multi-Queue replacement algorithm for second level buffer caches", USENIX
ATC 2001. Hit ratios are over reads alone, as the paper's Table 3 implies. By default nothing is excluded as warm-up,
because the paper's Table 2 follows from its Table 3 only if first reads count as misses.
"""

import itertools
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import misspenalty
from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty.replay.simulation import hit_ratio_curve, simulate
from misspenalty.replay.write_back import requests_below
from misspenalty.traces import Trace
from misspenalty.traces._compile import Interner
from misspenalty.traces.distances import previous_use

MB = 1 << 20
KEYS = ["cache_mb", "policy", "writes"]


def blocks_of(trace, cache_mb):
    """Return the capacity of a cache of `cache_mb` MB in blocks of the trace's block size; at least 1."""
    return max(int(cache_mb * MB) // trace.block_bytes, 1)


def replay(trace, policy, cache_mb, *, writes, warm_up=0, parameters=None, threads=None):
    """Compute the hit ratios of one policy over cache sizes (a row of the paper's Table 2).

    Parameters
    ----------
    trace : Trace
        Reads and writes that reach the storage server.
    policy : str
        Name of the policy.
    cache_mb : sequence of float
        Cache sizes, MB.
    writes : sequence of {"count", "ignore", "refresh"}
        How the cache treats writes, as in `simulate`; the hit ratio is over reads in any case.
    warm_up : int
        References at the head of the trace that are not counted.
    parameters : dict, optional
        The policy's parameters.
    threads
        As in `hit_ratio_curve`.

    Returns
    -------
    DataFrame
        ``cache_mb, policy, writes, hit_ratio_pct, requests, hits, evictions, ghost_hits, parameters``; evictions and
        ghost hits are those of all references, writes and warm-up included.
    """
    options = {"label": policy, "warm_up": warm_up, "threads": threads}
    return _best([_curve(trace, policy, cache_mb, mode, parameters or {}, **options) for mode in writes])


def _combinations(parameters, grid):
    """Return every combination of a grid, with the parameters that are not varied."""
    grid = grid or {}
    return [(parameters or {}) | dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def _curve(trace, policy, cache_mb, mode, parameters, *, label, warm_up, threads=1):
    """Compute the hit ratios of one policy with these parameters over cache sizes, in the columns of `replay`."""
    sizes = [blocks_of(trace, mb) for mb in cache_mb]
    curve = hit_ratio_curve(
        trace,
        policy,
        sizes,
        threads=threads,
        writes=mode,
        warm_up=warm_up,
        totals=True,
        **parameters,
    )
    curve.insert(0, "cache_mb", list(cache_mb))
    curve["policy"] = label
    curve["writes"] = mode
    curve["hit_ratio_pct"] = 100 * curve["hit_ratio"]
    curve["parameters"] = " ".join(f"{name}={value:.12g}" for name, value in parameters.items() if value is not None)
    return curve


def _best(curves):
    """Choose the combination of a policy's grid with the most hits at each size; on ties, the first."""
    table = pd.concat(curves, ignore_index=True)
    best = table.sort_values("hits", ascending=False, kind="stable").drop_duplicates(KEYS).sort_index()
    best = best.assign(evictions=best["total_evictions"])
    columns = [*KEYS, "hit_ratio_pct", "requests", "hits", "evictions", "ghost_hits", "parameters"]
    return best.sort_values(["writes", "cache_mb"], kind="stable")[columns].reset_index(drop=True)


def distance_split(trace, policy, cache_mb, *, label=None, writes="count", parameters=None):
    """Split a policy's hits and misses by temporal distance, below and beyond the cache size (the paper's Table 3).

    Parameters
    ----------
    trace, policy, parameters
        As in `replay`.
    cache_mb : float
        Cache size C, MB.
    label : str, optional
        Name in the row; by default the policy's.
    writes : {"count", "ignore", "refresh"}
        How the cache treats writes. Distances include writes unless they are ignored; only reads are tallied.

    Returns
    -------
    DataFrame
        One row: ``policy, cache_mb, writes, hits_short, misses_short, hits_long, misses_long`` (reads of blocks
        accessed before, at a temporal distance below C blocks, and of C or more), ``first_reads, hit_ratio_pct`` (NaN
        if nothing is read).
    """
    size = blocks_of(trace, cache_mb)
    hits = np.zeros(len(trace), bool)
    simulate(trace, policy, size, writes=writes, hits=hits, **(parameters or {}))
    read = np.ones(len(trace), bool) if trace.write is None else ~trace.write
    accessed = read if writes == "ignore" else slice(None)
    distance = previous_use(np.ascontiguousarray(trace.ids[accessed]), trace.blocks)
    counted, hit = read[accessed], hits[accessed]
    short, long = (distance > 0) & (distance < size) & counted, (distance >= size) & counted
    row = {"policy": label or policy, "cache_mb": cache_mb, "writes": writes}
    for name, where in (("short", short), ("long", long)):
        row[f"hits_{name}"] = int(np.count_nonzero(hit & where))
        row[f"misses_{name}"] = int(np.count_nonzero(~hit & where))
    row["first_reads"] = int(np.count_nonzero((distance == 0) & counted))
    reads = int(np.count_nonzero(counted))
    row["hit_ratio_pct"] = 100 * (row["hits_short"] + row["hits_long"]) / reads if reads else np.nan
    return pd.DataFrame([row])


def distance_histogram(trace):
    """Count the temporal distances of the re-accesses in power-of-two bins (the paper's Figures 2 and 3).

    Returns
    -------
    DataFrame
        ``distance_low, distance_high`` (accesses, both inclusive), ``accesses, share_pct`` of the re-accesses,
        ``cumulative_pct``.
    """
    distance = previous_use(trace.ids, trace.blocks)
    again = distance[distance > 0]
    bins = np.bincount(np.frexp(again.astype(np.float64))[1] - 1)
    share = 100 * bins / max(again.size, 1)
    low = 2 ** np.arange(bins.size, dtype=np.int64)
    return pd.DataFrame(
        {
            "distance_low": low,
            "distance_high": 2 * low - 1,
            "accesses": bins,
            "share_pct": share,
            "cumulative_pct": np.cumsum(share),
        }
    )


def frequency_curve(trace):
    """Measure how unevenly blocks are accessed (the paper's Figure 4).

    Returns
    -------
    DataFrame
        ``min_accesses`` (f, powers of two), ``blocks_pct``: share of the blocks accessed at least f times,
        ``accesses_pct``: share of the accesses that go to these blocks.
    """
    count = np.bincount(trace.ids, minlength=trace.blocks)
    least = 2 ** np.arange(int(count.max()).bit_length(), dtype=np.int64)
    blocks = [100 * np.count_nonzero(count >= f) / trace.blocks for f in least]
    accesses = [100 * int(count[count >= f].sum()) / len(trace) for f in least]
    return pd.DataFrame({"min_accesses": least, "blocks_pct": blocks, "accesses_pct": accesses})


def behind(trace, cache_mb, reads=None):
    """Return the trace behind an LRU first level that writes back: its read misses, and a write of each dirty block
    that it evicts.

    Parameters
    ----------
    trace : Trace
        Stream behind a much smaller first level, so that it has almost every logical reference.
    cache_mb : float
        Size of the first level, MB.
    reads : int, optional
        Number of reads after which the trace ends; by default, it keeps all.

    Returns
    -------
    Trace
        A trace in memory; its ids are renumbered in order of first use.

    Raises
    ------
    ParameterError
        The first level absorbs every request, or has fewer read misses than `reads`.
    """
    ids, write, cause = requests_below(trace.ids, trace.write, blocks_of(trace, cache_mb), trace.blocks)
    if not len(ids):
        raise ParameterError(f"a first level of {cache_mb} MB absorbs every request; expected a smaller one")
    if reads is not None:
        end = _end_of(write, reads, cache_mb)
        ids, write, cause = ids[:end], write[:end], cause[:end]
    interner = Interner()
    ids = interner.ids(ids.astype(np.uint64))
    address = trace.address[interner.addresses_by_id()]
    time = None if trace.time is None else trace.time[cause]
    write = None if trace.write is None else write
    return Trace(ids, write, time, address, trace.block_bytes, f"{trace.name} behind lru-{cache_mb:g}", trace.format)


def _end_of(write, reads, cache_mb):
    """Return the number of requests up to and including read number `reads`."""
    counted = np.cumsum(~write, dtype=np.uint32)
    if counted[-1] < reads:
        raise ParameterError(
            f"a first level of {cache_mb:g} MB passes only {counted[-1]} reads, but {reads} are needed; lower "
            "mq.calibrated.reads or record a longer capture"
        )
    return np.searchsorted(counted, reads) + 1


def first_level(trace, first_mb, cache_mb, threads=None):
    """Compute hit ratios of the storage cache behind simulated first levels.

    Parameters
    ----------
    trace : Trace
        As in `behind`, which simulates each first level.
    first_mb : sequence of float
        Sizes of the first level, MB.
    cache_mb, threads
        As in `replay`.

    Returns
    -------
    DataFrame
        ``first_level_mb, cache_mb, policy, hit_ratio_pct, requests, hits``; writes are accesses.
    """
    tables = []
    for size in first_mb:
        stream = behind(trace, size)
        for policy in ("mq", "lru"):
            table = replay(stream, policy, cache_mb, writes=("count",), threads=threads)
            table.insert(0, "first_level_mb", size)
            tables.append(table.drop(columns=["writes", "evictions", "ghost_hits", "parameters"]))
    return pd.concat(tables, ignore_index=True)


def sensitivity(trace, cache_mb, variations, warm_up=0, threads=None):
    """Compute MQ's hit ratio as its parameters vary one at a time.

    Parameters
    ----------
    trace, cache_mb, warm_up, threads
        As in `replay`.
    variations : dict of str to sequence
        Parameter -> values; ``life_time_factor`` multiplies the estimated lifeTime.

    Returns
    -------
    DataFrame
        ``parameter, value, cache_mb, hit_ratio_pct``.
    """
    tables = []
    for name, values in variations.items():
        for value in values:
            options = {"writes": ("count",), "warm_up": warm_up, "threads": threads}
            table = replay(trace, "mq", cache_mb, parameters={name: value}, **options)
            tables.append(table.assign(parameter=name, value=value))
    return pd.concat(tables, ignore_index=True)[["parameter", "value", "cache_mb", "hit_ratio_pct"]]


def replay_policies(trace, capture, policies, cache_mb, writes, warm_up, threads, known=None):
    """Replay every policy on one capture, as one part of the paper's Table 2 (a workflow job).

    Parameters
    ----------
    trace : path-like
        Compiled trace.
    capture : str
        Name of the capture.
    policies : dict of str to dict
        Row's label -> ``policy``; ``parameters`` as in `replay`; ``grid``: values of further parameters. Every
        combination of these is tried, and the best is kept for each size, as the authors did for FBR and LFRU.
    cache_mb, writes, warm_up
        As in `replay`.
    threads : int
        Number of combinations of policy, treatment of writes and parameters that are replayed concurrently.
    known : path-like, optional
        Earlier result of this function for some of the policies, with the same sizes, writes and warm-up; these
        policies are not replayed again.

    Returns
    -------
    DataFrame
        ``capture`` and the columns of `replay`.
    """
    opened = misspenalty.open_trace(trace)
    before = None if known is None else pd.read_csv(known, keep_default_na=False)
    done = {} if before is None else dict(iter(before.drop(columns="capture").groupby("policy")))
    points = [
        (label, mode, chosen)
        for label, entry in policies.items()
        if label not in done
        for mode, chosen in itertools.product(writes, _combinations(entry.get("parameters"), entry.get("grid")))
    ]

    def replayed(point):
        label, mode, chosen = point
        curve = _curve(opened, policies[label]["policy"], cache_mb, mode, chosen, label=label, warm_up=warm_up)
        print(f"{label}, writes {mode}, {chosen}", file=sys.stderr)
        return label, curve

    curves = {label: [] for label in policies}
    for label, curve in map_in_threads(replayed, points, threads):
        curves[label].append(curve)
    tables = [done[label] if label in done else _best(found) for label, found in curves.items()]
    table = pd.concat(tables, ignore_index=True)
    table.insert(0, "capture", capture)
    return table


def split_policies(trace, replays, capture, policies, cache_mb, threads):
    """Split each policy's hits and misses by distance, with the best parameters of its replay (a workflow job).

    Parameters
    ----------
    trace, capture, policies, threads
        As in `replay_policies`.
    replays : path-like
        The table of `replay_policies` for this capture.
    cache_mb : float
        As in `distance_split`.

    Returns
    -------
    DataFrame
        ``capture`` and the columns of `distance_split`, one row per policy and treatment of writes.
    """
    opened = misspenalty.open_trace(trace)
    table = pd.read_csv(replays, keep_default_na=False)

    def split(row):
        chosen = dict(setting.split("=") for setting in row.parameters.split())
        parameters = {name: json.loads(value) for name, value in chosen.items()}
        policy = policies[row.policy]["policy"]
        return distance_split(opened, policy, cache_mb, label=row.policy, writes=row.writes, parameters=parameters)

    rows = table[table["cache_mb"] == cache_mb].itertuples()
    found = pd.concat(map_in_threads(split, rows, threads), ignore_index=True)
    found.insert(0, "capture", capture)
    return found


def stream_tables(traces, server, client, cache_mb, lru_curve_mb, variations, first_level_of, warm_up, threads):
    """Compute the captures' characteristics, LRU's hit ratios on a fine grid of sizes, MQ's sensitivity to its
    parameters, and hit ratios behind simulated first levels (a workflow job).

    Parameters
    ----------
    traces : sequence of path-like
        Compiled traces, named after their captures.
    server, client : str
        Names of the captures of the server's stream, which is judged, and of the client's side.
    cache_mb, lru_curve_mb : sequence of float
        Storage cache sizes of the tables and of the LRU curve, MB.
    variations : dict
        As in `sensitivity`.
    first_level_of : dict
        ``sizes_mb`` of the simulated first levels.
    warm_up, threads : int
        As in `replay`.

    Returns
    -------
    dict of str to DataFrame
        ``fig2, fig3, fig4, lru_curve, sensitivity, first_level``.
    """
    opened = {Path(path).stem: misspenalty.open_trace(path) for path in traces}
    stream = opened[server]

    def together(function, captures):
        return pd.concat([function(opened[name]).assign(capture=name) for name in captures], ignore_index=True)

    return {
        "fig2": together(distance_histogram, [client]),
        "fig3": together(distance_histogram, [name for name in opened if name != client]),
        "fig4": together(frequency_curve, opened),
        "lru_curve": replay(stream, "lru", lru_curve_mb, writes=["count"], warm_up=warm_up, threads=threads),
        "sensitivity": sensitivity(stream, cache_mb, variations, warm_up=warm_up, threads=threads),
        "first_level": first_level(opened[client], first_level_of["sizes_mb"], cache_mb, threads=threads),
    }
