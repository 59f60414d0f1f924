"""Time a comparison: curves of all online policies at eight sizes on a trace of five million references.

Run as ``python benchmarks/curve.py``; the goal is 30 s on two cores. The references are those of `zipf` (policies.py)
or of any trace (``--trace``), cut to ``--references``. There is one row per policy: the CPU time for its eight sizes,
million references per second and, if libCacheSim has the policy, the ratio of its CPU time for the same sizes and
references to ours. The CPU time and the wall-clock time of one call with two threads follow. libCacheSim runs as in
policies.py: only its replay loop is timed, with the hash table that is best for it.
"""

import argparse
import time

import pandas as pd
from policies import PEERS, load, oracle_general, run_peer, timed

import misspenalty
from misspenalty.io.files import write_csv

SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8)


def peer_seconds(path, policy, sizes, references):
    """Return the CPU time of libCacheSim's caches, s, or NaN if libCacheSim does not have the policy."""
    name, options, _ = PEERS.get(policy, (None, {}, {}))
    if name is None:
        return float("nan")
    return sum(run_peer(path, name, options, size, references)[0] for size in sizes)


def measure(trace, sizes, policies, path):
    """Yield one row per policy; `path` is the trace as libCacheSim reads it."""
    for policy in policies:
        took, _ = timed(lambda policy=policy: misspenalty.hit_ratio_curve(trace, policy, sizes, threads=1))
        theirs = peer_seconds(path, policy, sizes, len(trace))
        yield {
            "policy": policy,
            "cpu_s": took,
            "million_references_per_s": len(trace) * len(sizes) / took / 1e6,
            "libcachesim_over_ours": theirs / took,
        }


def main():
    """Print the table and the sums."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--references", type=int, default=5_000_000)
    parser.add_argument("--trace", help="a raw or compiled trace (default: drawn)")
    parser.add_argument("--csv")
    options = parser.parse_args()
    if options.trace:
        opened = misspenalty.open_trace(options.trace)
        part = opened.ids[: options.references]
        trace = misspenalty.Trace.from_blocks(opened.address[part], name=opened.name)
    else:
        trace = misspenalty.Trace.from_blocks(load("zipf", options.references)[0], name="zipf")
    sizes = [max(round(share * trace.blocks), 1) for share in SHARES]
    policies = [name for name, policy in misspenalty.policies().items() if policy.kernel and not policy.offline]
    print(f"{trace}; sizes {sizes}")
    with oracle_general(trace.ids, trace.blocks) as path:
        table = pd.DataFrame(measure(trace, sizes, policies, path))
    print(table.round(2).to_string(index=False))
    print(f"\n{len(policies)} online policies, {len(sizes)} sizes: {table['cpu_s'].sum():.1f} s of CPU time")
    begin, cpu = time.perf_counter(), time.process_time()
    misspenalty.hit_ratio_curve(trace, policies, sizes, threads=2)
    wall, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(f"one call with two threads: {wall:.1f} s, {cpu:.1f} s of CPU time")
    if options.csv:
        total = {"policy": "all, one call with two threads", "cpu_s": cpu, "wall_s": wall}
        write_csv(pd.concat([table, pd.DataFrame([total])]), options.csv)


if __name__ == "__main__":
    main()
