"""Replay the traces of the classics study: one row per policy, parameters and cache size."""

import itertools

import numpy as np
import pandas as pd

from misspenalty.policies.arc import ARC
from misspenalty.replay.simulation import hit_ratio_curve
from misspenalty.traces import Trace, open_trace
from misspenalty_studies.classics.lirs2 import LIRS2
from misspenalty_studies.classics.settings import FILES, FIXED_SPLIT_TARGETS, ROWS, TRACES

HIR_BLOCKS = 2  # minimum number in the program of LIRS2's authors, which uses 1 % of the cache if that is more
HIR_SHARE = 0.01


class ProgramARC(ARC):
    """ARC as in the program of LIRS2's authors: steps of whole blocks, and a target of 0 after every hit in B2.

    Where the paper's figure has max(p - δ, 0), the program takes the smaller of 0 and p - δ, an unsigned number: the
    target becomes 0 whenever a block is found in B2.

    >>> cache = ProgramARC(10)
    >>> cache._adapt(2.5), cache.p
    (None, 2.0)
    >>> cache._adapt(-1), cache.p
    (None, 0.0)
    """

    def _adapt(self, step):
        self.p = min(self.p + int(step), self.capacity) if step > 0 else 0.0


def replay_trace(name, trace, replays, rows=ROWS, targets=FIXED_SPLIT_TARGETS, threads=None):
    """Replay one trace with every policy, cache size and combination of parameters.

    Parameters
    ----------
    name : str
        Name of the trace in the table.
    trace : Trace
    replays : Replays
    rows : dict of str to Row
        Policies by label.
    targets : sequence of float
        Targets of ARC's fixed split, as shares of the cache.
    threads : int, optional
        Number of sizes replayed in parallel; the result does not depend on it.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, parameters, references, misses, hit_ratio_pct``; one row per size, policy and
        combination of parameters. Policy ``frc`` is ARC with a fixed split; ``lirs_program``, ``lirs2_program`` and
        ``arc_program`` follow the conventions of the program of LIRS2's authors.
    """
    sizes, tables = list(replays.cache_blocks), []
    for label in replays.rows:
        row = rows[label]
        ours = sorted({*sizes, *replays.more_sizes}) if label == "lru" else sizes
        for values in itertools.product(*row.grid.values()):
            parameters = row.parameters | dict(zip(row.grid, values, strict=True))
            table = hit_ratio_curve(trace, row.policy, ours, threads=threads, **parameters)
            tables.append(_rows(name, label, table, parameters))
    for target in targets if replays.fixed_split else ():
        table = hit_ratio_curve(trace, "arc", list(replays.fixed_split), threads=threads, target=target)
        tables.append(_rows(name, "frc", table, {"target": target}))
    if replays.program:
        tables.append(_as_program(name, trace, sizes))
    return pd.concat(tables, ignore_index=True)


def replay_file(trace, surviving, threads=None):
    """Open the file of the registered trace `surviving` and replay it with `replay_trace` (a workflow job).

    Parameters
    ----------
    trace : path-like
    surviving : str
        A key of `TRACES`.
    threads : int, optional
    """
    opened = open_trace(trace, format=FILES[surviving].split("/")[0])
    return replay_trace(surviving, opened, TRACES[surviving], threads=threads)


def without_repeats(trace):
    """Return the trace without references to the block that was referenced just before."""
    ids = np.asarray(trace.ids)
    kept = np.ascontiguousarray(ids[np.r_[True, ids[1:] != ids[:-1]]] if len(ids) else ids)
    return Trace(kept, None, None, trace.address, trace.block_bytes, trace.name, trace.format)


def _as_program(name, trace, sizes):
    """Replay policies as the program of LIRS2's authors runs them: an immediate repeat is a hit that does not change
    the cache."""
    shorter = without_repeats(trace)
    tables = []
    for size in sizes:
        blocks = max(HIR_BLOCKS, int(HIR_SHARE * size))
        # Pass the middle of the range of shares that yield this number of blocks, so that rounding cannot change it.
        table = hit_ratio_curve(shorter, "lirs", [size], hirs=min((blocks + 0.5) / size, 1.0))
        tables.append(_rows(name, "lirs_program", _of_all(table, trace), {"hir_blocks": blocks}))
    for label, policy in (("lirs2_program", LIRS2), ("arc_program", ProgramARC)):
        table = hit_ratio_curve(shorter, policy, sizes, threads=1)
        tables.append(_rows(name, label, _of_all(table, trace), {}))
    return pd.concat(tables, ignore_index=True)


def _of_all(table, trace):
    """Extend a replay without repeats to all references: recompute hits and hit ratio; the misses stay the same."""
    table = table.assign(requests=len(trace), hits=len(trace) - table["misses"])
    return table.assign(hit_ratio=table["hits"] / table["requests"])


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
