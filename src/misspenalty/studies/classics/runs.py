"""Replays of the classics study: one trace in, one row per policy, parameters and cache size out."""

import itertools

import numpy as np
import pandas as pd

from misspenalty.replay.simulation import hit_ratio_curve
from misspenalty.studies.classics.settings import FILES, ClassicsSettings
from misspenalty.traces import Trace, open_trace

COLUMNS = ["trace", "cache_blocks", "policy", "parameters", "references", "misses", "hit_ratio_pct"]
HIR_BLOCKS = 2  # the LIRS authors' program keeps at least this many, and 1 % of the cache
HIR_SHARE = 0.01


def replay_trace(name, trace, settings, threads=None):
    """Every replay of one trace.

    Parameters
    ----------
    name : str
        A key of ``settings.traces``.
    trace : Trace
    settings : ClassicsSettings
    threads : int, optional
        Sizes replayed at a time; the result does not depend on it.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, parameters, references, misses, hit_ratio_pct``; one row per size, policy and
        combination of parameters. Policy ``frc`` is ARC with its split held fixed, ``lirs_program`` is LIRS under the
        conventions of its authors' program.
    """
    replays = settings.traces[name]
    sizes, tables = list(replays.cache_blocks), []
    for label in replays.rows:
        row = settings.rows[label]
        ours = sorted({*sizes, *replays.more_sizes}) if label == "lru" else sizes
        for values in itertools.product(*row.grid.values()):
            parameters = row.parameters | dict(zip(row.grid, values, strict=True))
            table = hit_ratio_curve(trace, row.policy, ours, threads=threads, **parameters)
            tables.append(_rows(name, label, table, parameters))
    for target in settings.fixed_split_targets if replays.fixed_split else ():
        table = hit_ratio_curve(trace, "arc", list(replays.fixed_split), threads=threads, target=target)
        tables.append(_rows(name, "frc", table, {"target": target}))
    if replays.program:
        tables.append(_as_program(name, trace, sizes))
    return pd.concat(tables, ignore_index=True)[COLUMNS]


def replay_file(trace, surviving, threads=None):
    """A job of the workflow: `replay_trace` of the registered trace called `surviving`, from its file.

    Parameters
    ----------
    trace : path-like
    surviving : str
        A key of ``settings.traces``.
    threads : int, optional
    """
    opened = open_trace(trace, format=FILES[surviving].split("/")[0])
    return replay_trace(surviving, opened, ClassicsSettings(), threads)


def without_repeats(trace):
    """The trace without the references to the block that was referenced just before."""
    ids = np.asarray(trace.ids)
    kept = np.ascontiguousarray(ids[np.r_[True, ids[1:] != ids[:-1]]] if len(ids) else ids)
    return Trace(kept, None, None, trace.address, trace.block_bytes, trace.name, trace.format)


def _as_program(name, trace, sizes):
    """LIRS as its authors' program runs it: two HIR blocks at least, and immediate repeats (hits) change nothing."""
    shorter = without_repeats(trace)
    tables = []
    for size in sizes:
        blocks = max(HIR_BLOCKS, int(HIR_SHARE * size))
        # the middle of the shares that make this many whole blocks, clear of rounding
        table = hit_ratio_curve(shorter, "lirs", [size], hirs=min((blocks + 0.5) / size, 1.0))
        table = table.assign(requests=len(trace), hits=len(trace) - table["misses"])
        table = table.assign(hit_ratio=table["hits"] / table["requests"])
        tables.append(_rows(name, "lirs_program", table, {"hir_blocks": blocks}))
    return pd.concat(tables, ignore_index=True)


def _rows(trace, label, table, parameters):
    return pd.DataFrame(
        {
            "trace": trace,
            "cache_blocks": table["cache_blocks"],
            "policy": label,
            "parameters": " ".join(f"{name}={value:g}" for name, value in parameters.items()),
            "references": table["requests"],
            "misses": table["misses"],
            "hit_ratio_pct": 100 * table["hit_ratio"],
        }
    )
