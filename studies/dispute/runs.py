"""Replay the traces of the dispute study: one row per policy and cache size.

Policies have the parameters of libCacheSim, the authors' simulator, so that misses can be compared: 2Q has 25 % of the
cache for A1in and remembers the names of half as many blocks as the cache holds; SLRU has four equal segments; S3-FIFO
has 10 % for S and a threshold of two. Blocks have one size, and caches start empty, as in the papers. Cache sizes that
are shares of the blocks are rounded down.

libCacheSim's SLRU, W-TinyLFU and LIRS follow rules that differ from those of their papers. These policies are replayed
twice: as defined here, and as in the program (`misspenalty.policies.libcachesim`). The labels of the replays with the
program's rules end in `PROGRAM`.
"""

from fractions import Fraction

import pandas as pd

from misspenalty.policies.libcachesim import LIRS_DEFINITION, SLRU_DEFINITION, WTINYLFU_DEFINITION
from misspenalty.replay.simulation import hit_ratio_curve
from misspenalty.traces import open_trace

PROGRAM = "_program"
POLICIES = {
    "fifo": ("fifo", {}),
    "lru": ("lru", {}),
    "clock": ("clock", {}),
    "lfu": ("lfu", {}),
    "slru": ("slru", {"segments": 4, "protected": 0.75, "fill_up": 1}),
    "2q": ("2q", {"kin": 0.25, "kout": 0.5}),
    "arc": ("arc", {}),
    "car": ("car", {}),
    "lirs": ("lirs", {"hirs": 0.01}),
    "clockpro": ("clockpro", {}),
    "mq": ("mq", {}),
    "wtinylfu": ("wtinylfu", {"window": 0.01}),
    "wtinylfu_10": ("wtinylfu", {"window": 0.1}),
    "s3fifo": ("s3fifo", {}),
    "sieve": ("sieve", {}),
    "opt": ("opt", {}),
    f"slru{PROGRAM}": (SLRU_DEFINITION, {}),
    f"lirs{PROGRAM}": (LIRS_DEFINITION, {}),
    f"wtinylfu{PROGRAM}": (WTINYLFU_DEFINITION, {"window": 0.01}),
    f"wtinylfu_10{PROGRAM}": (WTINYLFU_DEFINITION, {"window": 0.1}),
}
LEAST_BLOCKS = 10
ZIPF = "zipf"
ZIPF_BLOCKS = (10, 100, 500, 1000, 2000)  # sizes at which an independent program has counted misses


def replay_file(trace, replayed, traces, size_ratios, threads=None):
    """Open the file of one trace and replay it with every policy at every size (a workflow job).

    Parameters
    ----------
    trace : path-like
    replayed : str
        Name of the trace, a key of `traces`.
    traces : dict of str to dict
        From the configuration: ``kind``, and ``format`` if it is not evident from the file.
    size_ratios : sequence of float
        Cache sizes, as shares of the distinct blocks.
    threads : int, optional
        Number of sizes replayed in parallel; the result does not depend on it.

    Returns
    -------
    DataFrame
        ``trace, kind, references, blocks, size_ratio, cache_blocks, policy, misses, miss_ratio``. The trace of `ZIPF`
        is replayed at `ZIPF_BLOCKS` as well. Other sizes of fewer than `LEAST_BLOCKS` blocks are left out.
    """
    what = traces[replayed]
    opened = open_trace(trace, format=what.get("format"))
    sizes = {int(Fraction(str(ratio)) * opened.blocks): ratio for ratio in size_ratios}  # as floats, 0.29 * 100 < 29
    sizes = {size: ratio for size, ratio in sizes.items() if size >= LEAST_BLOCKS}
    if replayed == ZIPF:
        sizes = {size: size / opened.blocks for size in ZIPF_BLOCKS} | sizes
    columns = ["trace", "kind", "references", "blocks", "size_ratio", "cache_blocks", "policy", "misses", "miss_ratio"]
    if not sizes:
        return pd.DataFrame(columns=columns)
    curves = [
        hit_ratio_curve(opened, policy, sorted(sizes), threads=threads, **parameters).assign(policy=label)
        for label, (policy, parameters) in POLICIES.items()
    ]
    table = pd.concat(curves, ignore_index=True).rename(columns={"requests": "references"})
    return table.assign(
        trace=replayed,
        kind=what["kind"],
        blocks=opened.blocks,
        size_ratio=table["cache_blocks"].map(sizes),
        miss_ratio=table["misses"] / table["references"],
    )[columns]
