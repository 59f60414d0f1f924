"""Measure the requests per second of the SPC-1-like workload's generator, and of caches of tracks under its load.

Generating fills arrays of columns, slice by slice. The caches have tracks of eight pages of 4 KB behind the sequential
prefetcher; requests come from arrays, so that generating them is not part of the measured time. One thread runs;
times are medians of CPU times over the repeats.

    python benchmarks/sarc.py
    python benchmarks/sarc.py --requests 1000000 --repeat 1 --policies sarc,arc --csv out.csv
"""

import argparse
import statistics
import time
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.policies import known_policies
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty.traces.spc1 import SLICE, Workload, requests

SPACE = 32 << 30  # bytes
BSUS = (1, 50, 500)
CACHE = 1 << 18  # pages of 4 KB: 1 GB
TRACK = 8  # pages
PREFETCH = {"degree": 8, "trigger": 4, "threshold": 6}
POLICIES = "sarc,lru_top,lru_bottom,lru,arc,mq,lirs,s3fifo"


def generate(bsus, count):
    """Return the CPU seconds to make `count` requests."""
    kernel = Workload(SPACE, bsus, seed=1).start()
    begin = time.thread_time()
    for _ in range(-(-count // SLICE)):
        requests(kernel, SLICE)
    return (time.thread_time() - begin) * count / (-(-count // SLICE) * SLICE)


def load(count):
    """Generate `count` requests; return their first pages, pages and directions, and the number of tracks."""
    workload = Workload(SPACE, BSUS[1], seed=1)
    table = requests(workload.start(), count)
    first = np.cumsum([0, *workload.blocks])
    return first[table["asu"]] + table["block"], table["blocks"], table["write"], -(-int(first[-1]) // TRACK)


def run(policy, page, pages, write, tracks):
    """Replay requests through a cache; return CPU seconds, hit ratio of the reads, and tracks staged."""
    cache = track_cache(policy, CACHE, tracks, track_pages=TRACK, prefetch=PREFETCH)
    hit = np.empty(page.size, np.uint8)
    begin = time.thread_time()
    cache.replay_pages(page, pages, write, hit)
    return time.thread_time() - begin, hit[write == 0].mean(), sum(cache.tracks_staged)


def measure(policies, count, repeat):
    """Yield one row per measure."""
    for bsus in BSUS:
        seconds = statistics.median(generate(bsus, count) for _ in range(repeat))
        yield {"measure": f"generator, {bsus} BSUs", "million_per_s": count / seconds / 1e6}
    given = load(count)
    for policy in policies:
        seconds, hits, staged = zip(*(run(policy, *given) for _ in range(repeat)), strict=True)
        yield {
            "measure": policy,
            "million_per_s": count / statistics.median(seconds) / 1e6,
            "read_hit_ratio": hits[0],
            "tracks_staged": staged[0],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=3_000_000, help="requests of each run (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each (default %(default)s)")
    parser.add_argument("--policies", default=POLICIES, help="comma separated (default %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="also write the table there")
    args = parser.parse_args()
    policies = args.policies.split(",")
    if unknown := set(policies) - set(known_policies()):
        parser.error(f"unknown policies {', '.join(sorted(unknown))}; known: {', '.join(known_policies())}")
    if args.requests < 1 or args.repeat < 1:
        parser.error("--requests and --repeat have to be at least 1")
    table = pd.DataFrame(measure(policies, args.requests, args.repeat))
    print(table.to_string(index=False, float_format="{:.4g}".format))
    if args.csv:
        write_csv(table, args.csv)


if __name__ == "__main__":
    main()
