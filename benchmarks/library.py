"""Benchmark the library, except its kernels: opening, compiling, curves, threads, memory, length of the trace.

There is one row per measure: value, unit, and the project's own target. Our times are medians of CPU times over the
repeats, except for the small trace (wall-clock time, because a user waits for it) and the threads (wall-clock time,
because CPU time does not show the gain). The first run of the small trace and those of `--giant` are timed only once.

    python benchmarks/library.py --csv out.csv
    python benchmarks/library.py --giant --csv giant.csv     # 1 G generated requests: takes minutes
"""

import argparse
import gc
import io
import resource
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from policies import TRACES, WORKLOADS, load, oracle_general, run_peer

from misspenalty import hit_ratio_curve, open_trace, simulate
from misspenalty.io.files import write_csv
from misspenalty.policies import known_policies
from misspenalty.traces import Trace

SIZES = 16
SMALL = "lirs/cpp.trace.gz"
LINES = 2_000_000  # lines of the text trace that is compiled
LEAN = ("lru", "fifo", "sieve", "clock")  # policies that may use 16 bytes per block; the others may use 32
GIANT_BLOCKS = 1 << 20
GIANT_CACHE = GIANT_BLOCKS // 10
CHUNK = 1 << 20  # requests generated at a time
SHORT, LONG = 10_000_000, 1_000_000_000  # requests in the short and the long run


def median(run, repeat, clock=time.process_time):
    """Return the median time of `run()`, seconds."""
    times = []
    for _ in range(repeat):
        gc.collect()
        begin = clock()
        run()
        times.append(clock() - begin)
    return statistics.median(times)


def row(measure, value, unit, target=""):
    print(f"{measure:52} {value:12.4g} {unit:9} {target}", flush=True)
    return {"measure": measure, "value": value, "unit": unit, "target": target}


def timed(part, rows):
    """Run a part of the benchmark, print how long it took, and return its rows."""
    begin = time.perf_counter()
    rows = list(rows)
    print(f"{part}: {time.perf_counter() - begin:.0f} s", flush=True)
    return rows


def small_trace(repeat):
    """Time opening and replaying a small trace, without imports; report the first run in a separate row."""

    def run():
        simulate(open_trace(TRACES / SMALL), "lru", 100)

    begin = time.perf_counter()
    run()
    yield row("cpp opened and replayed, first time", (time.perf_counter() - begin) * 1e3, "ms", "< 5")
    yield row("cpp opened and replayed, median", median(run, 20 * repeat, time.perf_counter) * 1e3, "ms", "< 5")


def compiling(ids, repeat):
    """Time compiling zstd text traces, and pandas reading the same files without numbering blocks."""
    with tempfile.TemporaryDirectory() as folder:
        numbers = Path(folder, "numbers.trace.zst")
        with pa.CompressedOutputStream(pa.OSFile(str(numbers), "wb"), "zstd") as stream:
            stream.write("".join(f"{n}\n" for n in ids[:LINES].tolist()).encode())
        for name, path in (("oltp", TRACES / WORKLOADS["oltp"]), (f"{LINES:,} numbers of zipf", numbers)):

            def read(path=path):
                with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
                    pd.read_csv(io.BytesIO(stream.read()), sep=" ", header=None, dtype="int64")

            ours, theirs = median(lambda path=path: open_trace(path), repeat), median(read, repeat)
            yield row(f"{name}, zstd text, compiled", ours * 1e3, "ms")
            yield row(f"{name}, read with pandas, over compiled", theirs / ours, "times", ">= 1")


def curves(trace, repeat):
    """Time LRU at all sizes, at 16 sizes and sampled; for comparison, time sixteen runs of libCacheSim."""
    exact = hit_ratio_curve(trace, "lru")
    yield row("lru, all sizes, exact", median(lambda: hit_ratio_curve(trace, "lru"), repeat), "s", "< 2")
    sizes = np.linspace(trace.blocks // SIZES, trace.blocks, SIZES).astype(int).tolist()
    sixteen = median(lambda: hit_ratio_curve(trace, "lru", sizes), repeat)
    yield row("lru, 16 sizes", sixteen, "s")
    with oracle_general(trace.ids, trace.blocks) as path:
        theirs = sum(run_peer(path, "LRU", {}, size, len(trace))[0] for size in sizes)
    yield row("16 runs of libCacheSim, over the curve", theirs / sixteen, "times", ">= 20")
    seconds = median(lambda: hit_ratio_curve(trace, "lru", sample=0.01), max(repeat, 5))
    yield row("lru, SHARDS at 1 %", seconds, "s", "< 0.1")
    errors, at_5, spread = [], [], []
    for seed in range(8):
        sampled = hit_ratio_curve(trace, "lru", sample=0.01, sample_seed=seed)
        at = np.minimum(sampled["cache_blocks"], len(exact)) - 1
        error = sampled["hit_ratio"].to_numpy() - exact["hit_ratio"].to_numpy()[at]
        errors.append(np.abs(error).mean())
        which = int(np.searchsorted(sampled["cache_blocks"], trace.blocks // 20))
        at_5.append(abs(error[which]))
        spread.append(sampled["hit_ratio_error"][which])
    yield row("SHARDS at 1 %, mean absolute error, median of 8 seeds", statistics.median(errors), "", "< 0.01")
    yield row("SHARDS at 1 %, mean absolute error, worst of 8 seeds", max(errors), "", "< 0.01")
    yield row("SHARDS at 1 %, error at 5 % of the blocks, median", statistics.median(at_5), "", "< 0.01")
    yield row("SHARDS at 1 %, its own error bar there, median", statistics.median(spread), "")


def threads(trace, repeat):
    """Time a curve of 16 sizes on one thread and on two."""
    sizes = np.linspace(trace.blocks // 100, trace.blocks // 5, SIZES).astype(int).tolist()
    for policy in ("fifo", "mq"):
        one, two = (
            median(
                lambda n=n, policy=policy: hit_ratio_curve(trace, policy, sizes, threads=n), repeat, time.perf_counter
            )
            for n in (1, 2)
        )
        yield row(f"{policy}, 16 sizes, two threads over one", one / two, "times", ">= 1.8")


def memory(trace):
    """Report each kernel's bytes per distinct block, without the mapped trace, in a cache of a tenth of the blocks."""
    for name, definition in known_policies().items():
        kernel = definition.cache(trace.blocks // 10, trace.address, {})
        yield row(f"{name}, memory", kernel.memory / trace.blocks, "B/block", "<= 16" if name in LEAN else "<= 32")


def generated(requests, seed=42):
    """Yield `requests` log-uniform ids up to GIANT_BLOCKS (close to Zipf(1.0)) in chunks that take little memory."""
    generator = np.random.default_rng(seed)
    for begin in range(0, requests, CHUNK):
        n = min(CHUNK, requests - begin)
        yield (np.exp(generator.random(n, np.float32) * np.float32(np.log(GIANT_BLOCKS))) - 1).astype(np.uint32)


def giant(policies, requests=(SHORT, LONG)):
    """Measure cost per request (without the generator) and memory of a short and a long run over the same footprint."""
    outcome = np.empty(CHUNK, np.uint8)
    for name in policies:
        definition, cost = known_policies()[name], []
        for total in requests:
            kernel = definition.cache(GIANT_CACHE, np.arange(GIANT_BLOCKS, dtype=np.uint64), {})
            seconds = 0.0
            for ids in generated(total):
                begin = time.thread_time()
                kernel.replay(np.minimum(ids, GIANT_BLOCKS - 1), outcome)
                seconds += time.thread_time() - begin
            cost.append(seconds / total * 1e9)
            yield row(f"{name}, {total:,} requests", cost[-1], "ns/req")
            resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            yield row(f"{name}, {total:,} requests, peak memory of the process", resident, "MB")
        yield row(f"{name}, growth of the cost per request", cost[-1] / cost[0], "times", "< 1.3")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, whose median is reported (default 3)")
    parser.add_argument("--giant", action="store_true", help="only the runs of 10 M and 1 G requests")
    parser.add_argument("--policies", default="lru,sieve,mq", help="for --giant (default %(default)s)")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="also write the table to this file")
    args = parser.parse_args()
    if args.giant:
        rows = list(giant(args.policies.split(",")))
    else:
        rows = timed("small trace", small_trace(args.repeat))
        dense, blocks, _ = load("zipf")
        rows += timed("compiling", compiling(dense, args.repeat))
        trace = Trace(dense, None, None, np.arange(blocks, dtype=np.uint64), 4096, "zipf", "made")
        rows += timed("curves", curves(trace, args.repeat))
        rows += timed("threads", threads(trace, args.repeat))
        rows += timed("memory", memory(trace))
    if args.csv:
        write_csv(pd.DataFrame(rows), args.csv)


if __name__ == "__main__":
    main()
