"""Speed of `misspenalty.penalty` and `misspenalty.delayed_hits`: requests per second on one core.

Run as ``python benchmarks/penalty.py``. The workload is drawn: 4 KB references by a Zipf-like law over 1,000,000
blocks, one in four a write, at a rate that the device can follow. The goals are 10 million requests per second with a
fixed time and 1 million with a disk. What the same trace costs without a device (`misspenalty.simulate`) and what the
drive costs without a cache (the misses alone, through the drive's queue) are printed next to it: `ratio` is the time
of `penalty` over the sum of the two, so that 1 means that putting them together costs nothing.
"""

import argparse
import time
from functools import partial

import numpy as np

import misspenalty
from misspenalty import disks
from misspenalty.disks.drive._replay import as_they_arrive

BLOCKS = 1_000_000
REPEATS = 3


def drawn(references, gap_ns, seed=1):
    """A trace of references by a Zipf-like law."""
    random = np.random.default_rng(seed)
    rank = np.minimum(BLOCKS ** random.random(references), BLOCKS - 1).astype(np.int64)  # density 1 / rank
    names = random.permutation(BLOCKS)[rank]
    address, first, ids = np.unique(names, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first)).astype(np.uint32)
    when = np.cumsum(random.integers(0, 2 * gap_ns, references))
    write = random.random(references) < 0.25
    ordered = address[np.argsort(first)].astype(np.uint64)
    return misspenalty.Trace(number[ids], write, when, ordered, 4096, "drawn", "none")


def best(function):
    """The shortest processor time of some calls, s, and the last one's result."""
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        result = function()
        times.append(time.process_time() - begin)
    return min(times), result


def misses_alone(trace, size, name):
    """Time of a drive's queue with LRU's misses."""
    hits = np.zeros(len(trace), bool)
    misspenalty.simulate(trace, "lru", size, hits=hits)
    missed = ~hits & ~trace.write
    lbn = trace.address[trace.ids[missed]].astype(np.int64) * 8
    count, write = np.full(len(lbn), 8, np.int32), np.zeros(len(lbn), np.uint8)
    return best(lambda: as_they_arrive(disks.load(name).drive(), trace.time[missed], lbn, count, write))[0]


def measure(trace, device, size):
    """Print one line per policy."""
    drive = misses_alone(trace, size, device) if device == "cheetah9lp" else 0.0
    for policy in ("lru", "arc"):
        without, _ = best(partial(misspenalty.simulate, trace, policy, size))
        took, frame = best(partial(misspenalty.penalty, trace, policy, size, device, threads=1))
        ratio = "" if device == "dc_p3700" else f"{took / (without + drive):.2f}"
        misses = frame["misses"].iloc[0] / frame["requests"].iloc[0]
        print(f"{device:12} {policy:8} {len(trace) / took / 1e6:18.2f} {misses:9.3f} {ratio:>6}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--references", type=int, default=4_000_000)
    options = parser.parse_args()
    size = BLOCKS // 2
    print(f"{'device':12} {'policy':8} {'million requests/s':>18} {'misses':>9} {'ratio':>6}")
    for device, gap in (("200us", 10_000), ("dc_p3700", 100_000), ("cheetah9lp", 20_000_000)):
        measure(drawn(options.references, gap), device, size)
    steps = drawn(options.references, 1).ids.astype(np.int64)
    for policy in ("lru", "arc", "opt"):
        took, _ = best(partial(misspenalty.delayed_hits, steps, policy, size, 100))
        print(f"{'100 steps':12} {policy:8} {len(steps) / took / 1e6:18.2f}", flush=True)


if __name__ == "__main__":
    main()
