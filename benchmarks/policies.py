"""Measure the requests per second of each replacement kernel, and of libCacheSim where it has the policy.

The workload `zipf` is Zipf(1.0): 10 million requests over a million possible objects, drawn with NumPy's PCG64 (seed
42) and checked by its SHA-256; the cache holds 100,000 blocks. `oltp` and `p6` are traces of the ARC paper, which must
be where the tests expect them; the cache holds a tenth of their blocks. One thread replays the trace in slices, as
`simulate` does; compiling it (dense ids) is timed separately. libCacheSim runs in the same process: its replay loop, in
C, reads an oracleGeneral file, with a hash table of 2**20 slots, its best size here. The runs of the two alternate, and
the medians of the repeats are compared. Long runs of libCacheSim are repeated less often. Times are CPU times of the
thread, which depend less on the other load on the machine than wall-clock times.

`ratio` compares our replay of the compiled trace with libCacheSim's replay of its file. `ratio_from_file` adds to our
time that of opening and compiling the same file, once per policy, as for a trace that is used only once.

The first row, `limit`, is not a policy but one pass over the trace that reads and writes one node of four bytes per
request. No policy that keeps four bytes per block can be faster; those that keep one byte per block can.

    python benchmarks/policies.py
    python benchmarks/policies.py --requests 1000000 --repeat 1 --policies lru,mq --csv out.csv
"""

import argparse
import contextlib
import hashlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty import open_trace
from misspenalty.io.files import write_csv
from misspenalty.policies import known_policies
from misspenalty.policies._limit import touch
from misspenalty.policies.libcachesim import LIRS_DEFINITION, SLRU_DEFINITION, WTINYLFU_DEFINITION
from misspenalty.replay.simulation import SLICE
from misspenalty.traces._compile import Interner
from misspenalty.traces._distance import NEVER, next_use

OBJECTS = 1_000_000
REQUESTS = 10_000_000
SHA256 = "ab8709b12a55a52b07cf878c0825447c63355fa352a6552b10bb8827098b26bd"
HASHPOWER = 20
TRACES = Path(os.environ.get("MISSPENALTY_SHARED_TRACES", Path(__file__).parents[1] / "data" / "external"))
WORKLOADS = {"zipf": None, "oltp": "arc/OLTP.lis.zst", "p6": "arc/P6.lis.zst"}
SHARE = 10  # distinct blocks of the trace per block of the cache
ZIPF_CACHE = 100_000
PEER_SECONDS = 5  # CPU seconds above which libCacheSim's run of a policy is not repeated

# Map each policy to libCacheSim's name and options, and to the parameters with which our counts equal libCacheSim's,
# except where noted.
PEERS = {
    "2q": ("TwoQ", {}, {}),
    "arc": ("ARC", {}, {}),
    "clock": ("Clock", {}, {}),
    "fifo": ("FIFO", {}, {}),
    "lfu": ("LFU", {}, {}),
    "lirs": ("LIRS", {}, {"stack_limit": 2}),  # theirs also turns LIR blocks into HIR at hits in Q, so misses differ
    "lru": ("LRU", {}, {}),
    "lru2": ("LRUK", {"k": 2}, {"history": 0}),
    "mq": ("MQ", {"lifetime": 10_000}, {"life_time": 10_000, "recall_first": 1}),
    "opt": ("Belady", {}, {}),
    "random": ("Random", {}, {}),  # random draws differ, and so do misses
    "s3fifo": ("S3FIFO", {}, {}),
    "sieve": ("Sieve", {}, {}),
    "slru": ("SLRU", {}, {"segments": 4, "protected": 0.75, "fill_up": 1}),
    "wtinylfu": ("WTinyLFU", {}, {}),  # the sketch and its input differ, and so do misses
}
RULES = {  # definitions of the policies that libCacheSim runs by its own rules
    "slru": SLRU_DEFINITION,
    "lirs": LIRS_DEFINITION,
    "wtinylfu": WTINYLFU_DEFINITION,
}


def zipf_trace(requests):
    """Generate the first `requests` requests of the benchmark's trace as int64 object ids."""
    generator = np.random.default_rng(42)
    weights = np.cumsum(1 / np.arange(1, OBJECTS + 1))
    ranks = np.searchsorted(weights / weights[-1], generator.random(REQUESTS), side="left")
    ids = generator.permutation(OBJECTS)[ranks].astype("<i8") + 1
    if hashlib.sha256(ids.tobytes()).hexdigest() != SHA256:
        sys.exit("the generated trace is not the benchmark's: this NumPy draws other numbers")
    return ids[:requests]


def timed(run, repeat=1):
    """Call `run()` several times; return the shortest CPU time, s, and the last result."""
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        found = run()
        times.append(time.process_time() - begin)
    return min(times), found


def load(workload, requests=None):
    """Load a workload; return its dense ids, their number, and the size of its cache."""
    if WORKLOADS[workload] is None:
        ids, interner = zipf_trace(requests).astype(np.uint64), Interner()
        seconds, dense = timed(lambda: interner.ids(ids))
        blocks, speed = len(interner), dense.size / seconds / 1e6
        print(f"{dense.size:,} requests over {blocks:,} blocks, compiled at {speed:.1f} M req/s")
        return dense, blocks, ZIPF_CACHE
    path = TRACES / WORKLOADS[workload]
    if not path.exists():
        sys.exit(f"{path} is missing; set MISSPENALTY_SHARED_TRACES to the folder that holds {WORKLOADS[workload]}")
    trace = open_trace(path)
    print(f"{workload}: {len(trace):,} requests over {trace.blocks:,} blocks")
    return np.array(trace.ids[:requests]), trace.blocks, trace.blocks // SHARE


def run_kernel(definition, dense, blocks, cache, parameters):
    """Replay a trace through a kernel; return the CPU seconds, the misses and the kernel's memory in bytes."""
    kernel = definition.cache(cache, np.arange(blocks, dtype=np.uint64), parameters)
    hit = np.empty(SLICE, np.uint8)
    begin = time.thread_time()
    hits = sum(kernel.replay(dense[at : at + SLICE], hit) for at in range(0, dense.size, SLICE))
    return time.thread_time() - begin, dense.size - hits, kernel.memory


def run_limit(dense, blocks):
    """Return the CPU seconds of one pass that touches one node per request."""
    nodes, hit = np.zeros(blocks, np.uint32), np.empty(SLICE, np.uint8)
    begin = time.thread_time()
    for at in range(0, dense.size, SLICE):
        touch(dense[at : at + SLICE], nodes, hit)
    return time.thread_time() - begin


@contextlib.contextmanager
def oracle_general(dense, blocks):
    """Write the trace to a temporary file in libCacheSim's own format, and return the file's path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.oracleGeneral")
        # Bind the records to no name, so that they do not take up memory during the benchmark.
        as_records(dense, blocks).tofile(path)
        yield path


def as_records(dense, blocks):
    """Return the trace as libCacheSim's records: time, id, size, number of the next access or -1."""
    record = np.zeros(dense.size, np.dtype("<u4, <u8, <u4, <i8"))
    coming = next_use(dense, blocks).astype(np.int64)
    record["f1"] = dense.astype(np.uint64) + 1
    record["f2"] = 1
    record["f3"] = np.where(coming == NEVER, -1, coming)
    return record


def run_peer(path, name, options, cache, requests):
    """Run libCacheSim with a new reader and cache; return its CPU seconds and misses."""
    import libcachesim

    reader = libcachesim.TraceReader(
        str(path), libcachesim.TraceType.ORACLE_GENERAL_TRACE, libcachesim.ReaderInitParam(ignore_obj_size=True)
    )
    policy = getattr(libcachesim, name)(cache, hashpower=HASHPOWER, **options)
    begin = time.thread_time()
    ratio = policy.process_trace(reader)[0]
    return time.thread_time() - begin, round(ratio * requests)


def measure(names, dense, blocks, cache, repeat, peers):
    """Measure the limit and each policy, print a line for each, and return the table."""
    limit = dense.size / statistics.median(run_limit(dense, blocks) for _ in range(repeat)) / 1e6
    rows = [{"policy": "limit", "requests": dense.size, "million_per_s": limit, "of_limit": 1, "bytes_per_block": 4}]
    print(f"{'limit':9}{'':11}{limit:9.1f}", flush=True)
    opening = float("nan")
    with oracle_general(dense, blocks) if peers else contextlib.nullcontext() as path:
        if peers:
            opening = statistics.median(timed(lambda: open_trace(path, "oracleGeneral"))[0] for _ in range(repeat))
            print(f"opening {dense.size / opening / 1e6:11.1f}")
        for name in names:
            rows.append(measure_policy(name, dense, blocks, cache, repeat, path, opening))
            rows[-1]["of_limit"] = rows[-1]["million_per_s"] / limit
            print(line(rows[-1]), flush=True)
    return pd.DataFrame(rows)


def measure_policy(name, dense, blocks, cache, repeat, path, opening):
    definition = known_policies()[name]
    peer, options, parameters = PEERS.get(name, (None, {}, {}))
    ours, theirs, peer_misses = [], [], None
    for _ in range(repeat):
        seconds, misses, memory = run_kernel(definition, dense, blocks, cache, parameters)
        ours.append(seconds)
        if peer and path and sum(theirs) < PEER_SECONDS:
            seconds, peer_misses = run_peer(path, peer, options, cache, dense.size)
            theirs.append(seconds)
    return {
        "policy": name,
        "parameters": " ".join(f"{key}={value}" for key, value in parameters.items()),
        "requests": dense.size,
        "cache_blocks": cache,
        "misses": misses,
        "million_per_s": dense.size / statistics.median(ours) / 1e6,
        "bytes_per_block": memory / blocks,
        "libcachesim": peer if theirs else None,
        "libcachesim_misses": peer_misses,
        "libcachesim_million_per_s": dense.size / statistics.median(theirs) / 1e6 if theirs else None,
        "libcachesim_runs": len(theirs),
        "ratio": statistics.median(theirs) / statistics.median(ours) if theirs else None,
        "ratio_from_file": statistics.median(theirs) / (statistics.median(ours) + opening) if theirs else None,
    }


HEADER = (
    f"{'policy':9}{'misses':>11}{'M req/s':>9}{'of limit':>9}{'B/block':>9}  "
    f"{'libCacheSim':12}{'misses':>11}{'M req/s':>9}{'ratio':>8}{'from file':>11}"
)


def line(row):
    text = f"{row['policy']:9}{row['misses']:11,}{row['million_per_s']:9.1f}{row['of_limit']:9.2f}"
    text += f"{row['bytes_per_block']:9.1f}  "
    if row["ratio"] is None:
        return f"{text}-"
    speed, misses = row["libcachesim_million_per_s"], row["libcachesim_misses"]
    return f"{text}{row['libcachesim']:12}{misses:11,}{speed:9.2f}{row['ratio']:8.1f}{row['ratio_from_file']:11.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--requests", type=int, help="replay only this many requests, from the first one on (default: all)"
    )
    parser.add_argument("--workload", choices=WORKLOADS, default="zipf", help="trace (default %(default)s)")
    parser.add_argument("--cache", type=int, help="cache size in blocks (default: the workload's)")
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs of each, whose median is reported (default %(default)s)"
    )
    parser.add_argument("--policies", default=",".join(known_policies()), help="comma separated (default: all)")
    parser.add_argument("--no-peer", action="store_true", help="leave libCacheSim out")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="also write the table to this file")
    args = parser.parse_args()
    names = args.policies.split(",")
    if unknown := set(names) - set(known_policies()):
        parser.error(f"unknown policies {', '.join(sorted(unknown))}; known: {', '.join(known_policies())}")
    if any(number is not None and number < 1 for number in (args.requests, args.cache, args.repeat)):
        parser.error("--requests, --cache and --repeat have to be at least 1")
    began = time.perf_counter()
    dense, blocks, cache = load(args.workload, args.requests)
    print(HEADER)
    table = measure(names, dense, blocks, args.cache or cache, args.repeat, not args.no_peer)
    ratios = table["ratio"].dropna()
    if len(ratios):
        print(f"median ratio {ratios.median():.1f}, lowest {ratios.min():.1f}, over {len(ratios)} shared policies")
    print(f"{args.workload}: {time.perf_counter() - began:.0f} s")
    if args.csv:
        table.insert(0, "workload", args.workload)
        write_csv(table, args.csv)


if __name__ == "__main__":
    main()
