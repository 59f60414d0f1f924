"""Measure the speed of `misspenalty.penalty` and `misspenalty.delayed_hits`: requests per second on one core.

Run as ``python benchmarks/penalty.py``. The workload is random: references of 4 KB, a quarter of them writes, are drawn
from a Zipf-like law over 1,000,000 blocks. They arrive at a rate that the device can sustain. A cache has room for half
the blocks or for a thousandth of them. The step model takes the same references as reads, with a cache for half the
blocks and fetches of 100 steps. The goals are 10 million requests per second with a fixed response time and 1 million
with a disk.

`over_parts` is the time of `penalty` relative to the sum of the times of its parts: the same trace and policy without a
device (`misspenalty.simulate`) and, for the disk, LRU's read misses through the drive's queue without a cache (the row
of ARC uses LRU's misses, too). A value of 1 means that combining the parts costs nothing. It is not computed for the
flash drive. `libcachesim_over_ours` is the time that libCacheSim, which has no device, takes to count the hits and
misses of the same references, relative to the time of `penalty`. Times are CPU times, the smallest of three.
"""

import argparse
from functools import partial

import numpy as np
import pandas as pd
from policies import PEERS, oracle_general, run_peer, timed

import misspenalty
from misspenalty import disks
from misspenalty.disks.drive._replay import as_they_arrive
from misspenalty.io.files import write_csv

BLOCKS = 1_000_000
REPEATS = 3


def drawn(references, gap_ns, seed=1):
    """Draw a trace of references from a Zipf-like law."""
    random = np.random.default_rng(seed)
    # The probability of a rank is about proportional to 1 / rank.
    rank = np.minimum(BLOCKS ** random.random(references), BLOCKS - 1).astype(np.int64)
    names = random.permutation(BLOCKS)[rank]
    when = np.cumsum(random.integers(0, 2 * gap_ns, references))
    return misspenalty.Trace.from_blocks(names, random.random(references) < 0.25, when, name="drawn")


def misses_alone(trace, size, name):
    """Return the CPU time of replaying LRU's read misses through a drive's queue, s."""
    hits = np.zeros(len(trace), bool)
    misspenalty.simulate(trace, "lru", size, hits=hits)
    missed = ~hits & ~trace.write
    lbn = trace.address[trace.ids[missed]].astype(np.int64) * 8
    count, write = np.full(len(lbn), 8, np.int32), np.zeros(len(lbn), np.uint8)
    return timed(lambda: as_they_arrive(disks.load(name).drive(), trace.time[missed], lbn, count, write), REPEATS)[0]


def measure(trace, device, size, path):
    """Yield one row per policy; `path` is the trace as libCacheSim reads it."""
    drive = misses_alone(trace, size, device) if device == "cheetah9lp" else 0.0
    for policy in ("lru", "arc"):
        without, _ = timed(partial(misspenalty.simulate, trace, policy, size), REPEATS)
        took, frame = timed(partial(misspenalty.penalty, trace, policy, size, device, threads=1), REPEATS)
        name, options, _ = PEERS[policy]
        theirs = min(run_peer(path, name, options, size, len(trace))[0] for _ in range(REPEATS))
        yield {
            "device": device,
            "policy": policy,
            "cache_blocks": size,
            "miss_share": frame["misses"].iloc[0] / frame["requests"].iloc[0],
            "million_requests_per_s": len(trace) / took / 1e6,
            "over_parts": np.nan if device == "dc_p3700" else took / (without + drive),
            "libcachesim_over_ours": theirs / took,
        }


def steps(references):
    """Yield one row per policy of the step model, whose fetches take 100 steps."""
    drawn_ids = drawn(references, 1).ids.astype(np.int64)
    for policy in ("lru", "arc", "opt"):
        took, _ = timed(partial(misspenalty.delayed_hits, drawn_ids, policy, BLOCKS // 2, 100), REPEATS)
        yield {
            "device": "100 steps",
            "policy": policy,
            "cache_blocks": BLOCKS // 2,
            "million_requests_per_s": references / took / 1e6,
        }


def rows(references):
    """Yield the rows of all devices and sizes, then those of the step model."""
    for device, gap in (("200us", 10_000), ("dc_p3700", 100_000), ("cheetah9lp", 20_000_000)):
        trace = drawn(references, gap)
        with oracle_general(trace.ids, trace.blocks) as path:
            for size in (BLOCKS // 2, BLOCKS // 1000):
                yield from measure(trace, device, size, path)
    yield from steps(references)


def main():
    """Measure, print the table and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--references", type=int, default=4_000_000)
    parser.add_argument("--csv")
    options = parser.parse_args()
    table = pd.DataFrame(rows(options.references))
    print(table.round(3).to_string(index=False))
    if options.csv:
        write_csv(table, options.csv)


if __name__ == "__main__":
    main()
