"""Compare miss counts with an independent simulator, and hit ratios with the literature.

`simulator` compares with libCacheSim at up to eight cache sizes on nine traces. For a policy with the same definition,
every count must be equal; the same holds for SLRU, LIRS and W-TinyLFU under the program's own rules
(`misspenalty.policies.libcachesim`). LIRS and W-TinyLFU under our rules, and Random, are listed with their differences.

`literature` compares with published hit ratios and an independent recomputation, each with an appropriate tolerance.
The authors of some columns tuned parameters for each size and did not publish them. For these columns, rows with other
parameters follow; we chose those parameters to fit the published values, so these rows explain the
values but confirm nothing.

    python benchmarks/agreement.py simulator --csv out.csv
    python benchmarks/agreement.py literature --csv out.csv
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from policies import PEERS, RULES, TRACES, oracle_general, run_peer

from misspenalty import hit_ratio_curve, open_trace, simulate
from misspenalty.io.files import write_csv
from misspenalty.traces import Trace

LIRS_TRACES = ("2_pools", "cpp", "cs", "gli", "loop", "multi2", "sprite")
FILES = {name: f"lirs/{name}.trace.gz" for name in LIRS_TRACES}
FILES |= {name: f"arc/{name}.lis.zst" for name in ("OLTP", "P3", "P6")} | {"orm-busy": "objects/orm-busy.trace.xz"}
FORMATS = {"orm-busy": "u32be"}
COMPARED = ("zipf", "OLTP", *LIRS_TRACES)
SHARES = (5, 10, 20, 50, 100, 200, 400, 800)  # cache sizes in thousandths of the footprint
FOURTHS, SMALLEST = 4, 20  # libCacheSim's SLRU needs multiples of 4 blocks, and its S3-FIFO 2 blocks in S

APART = {
    "lirs": "theirs also makes a LIR block HIR at a hit in Q when no block takes its place, and limits S differently",
    "random": "different draws",
    "wtinylfu": "theirs counts different accesses in another sketch, and its window grows until the cache is full",
}

# Map each published name to our name and parameters. The first entry is the definition; the others explain the column.
LITERATURE = {
    "LRU": [("lru", {})],
    "MIN": [("opt", {})],
    "ARC": [("arc", {})],
    "LIRS": [("lirs", {})],
    "2Q": [("2q", {})],
    "FBR": [("fbr", {})],
    "LRU-2": [("lru2", {}), ("lru2", {"correlated_period": 500})],
    "LRFU": [("lrfu", {}), ("lrfu", {"lam": 1e-4, "correlated_period": 500})],
    "MQ": [("mq", {}), ("mq", {"history": 1, "life_time": 500})],
    "LFU": [("lfu", {}), ("lfu", {"history": 4})],
}
OLTP_SIZES = (1000, 2000, 5000, 10000, 15000)  # cache sizes in the published table of ten policies
RECOMPUTED = {"LRU": 0.005, "MIN": 0.005, "ARC": 0.05}  # tolerance in points: the recomputed ratios have two decimals


def load(name):
    """Generate or open a trace by its name."""
    if name == "zipf":
        weights = np.cumsum(1 / np.arange(1, 50_001))
        drawn = np.searchsorted(weights / weights[-1], np.random.default_rng(20).random(200_000))
        return Trace.from_blocks(drawn, name=name)
    path = TRACES / FILES[name]
    if not path.exists():
        sys.exit(f"{path} is missing; set MISSPENALTY_SHARED_TRACES to the folder that holds {FILES[name]}")
    return open_trace(path, FORMATS.get(name))


def sizes_of(trace):
    """Return up to eight cache sizes for a trace."""
    return sorted({max(trace.blocks * share // 1000 // FOURTHS * FOURTHS, SMALLEST) for share in SHARES})


def compare_with_simulator(names, policies):
    """Yield one row per trace, policy and size, with our misses and libCacheSim's."""
    for name in names:
        trace = load(name)
        with oracle_general(trace.ids, trace.blocks) as path:
            for policy in policies:
                peer, options, parameters = PEERS[policy]
                for size in sizes_of(trace):
                    ours = simulate(trace, policy, size, **parameters).misses
                    theirs = run_peer(path, peer, options, size, len(trace))[1]
                    both = {policy: ours}
                    if policy in RULES:
                        both[f"{policy}, its rules"] = simulate(trace, RULES[policy], size).misses
                    for label, misses in both.items():
                        yield {"trace": name, "policy": label, "cache_blocks": size, "requests": len(trace),
                               "misses": misses, "libcachesim_misses": theirs, "equal": misses == theirs}  # fmt: skip
        print(f"{name}: done", file=sys.stderr, flush=True)


def show_simulator(table):
    """Print how many of the counts are equal, by policy and trace, and how far off the others are."""
    same = table[~table["policy"].isin(APART)]
    shown = same.groupby(["policy", "trace"], sort=False)["equal"].agg(lambda equal: f"{equal.sum()}/{equal.size}")
    print(shown.unstack("trace").to_string())
    print(f"equal: {same['equal'].sum()} of {len(same)} counts of {same['policy'].nunique()} policies\n")
    apart = table[table["policy"].isin(APART)]
    differences = (apart["misses"] - apart["libcachesim_misses"]) / apart["requests"] * 100
    for policy, points in differences.groupby(apart["policy"]):
        print(f"{policy}: {points.min():+.2f} to {points.max():+.2f} points of miss ratio; {APART[policy]}")


def compare_with_literature(names=None):
    """Yield a table per trace, policy and parameters: our ratios, and whether they are scored and within tolerance."""
    tables = {name: pd.read_csv(TRACES / f"{name}_hit_ratios.csv") for name in ("published", "recomputed")}
    rows = pd.concat([table.assign(table=name) for name, table in tables.items()], ignore_index=True)
    recomputed = rows["table"] == "recomputed"
    rows.loc[recomputed, "tolerance_pct_points"] = rows.loc[recomputed, "policy"].map(RECOMPUTED)
    for name, of_trace in rows.groupby("trace", sort=False):
        if names is not None and name not in names:
            continue
        trace = load(name)
        for policy, of_policy in of_trace.groupby("policy", sort=False):
            for number, (ours, parameters) in enumerate(LITERATURE[policy]):
                yield obtained(trace, ours, parameters, of_policy, explains=number > 0)


def obtained(trace, policy, parameters, rows, explains):
    """Return the published `rows` with our hit ratios next to them."""
    sizes = sorted(rows["cache_blocks"].unique().tolist())
    ratios = 100 * hit_ratio_curve(trace, policy, sizes, **parameters).set_index("cache_blocks")["hit_ratio"]
    table = rows[["table", "trace", "policy", "cache_blocks"]].copy()
    table["parameters"] = " ".join(f"{key}={value:g}" for key, value in parameters.items())
    table["published"] = rows["hit_ratio_pct"]
    table["obtained"] = ratios.reindex(rows["cache_blocks"]).to_numpy()
    table["difference"] = table["obtained"] - table["published"]
    table["tolerance"] = rows["tolerance_pct_points"]
    table["scored"] = ~rows["note"].fillna("").str.contains("do not score") & (not explains)
    table["within"] = table["difference"].abs() <= table["tolerance"] + 1e-9
    table["note"] = rows["note"]
    return table


def show_literature(table):
    """Print the ten policies on OLTP, then the scores."""
    ten = table[(table["table"] == "published") & (table["trace"] == "OLTP") & table["cache_blocks"].isin(OLTP_SIZES)]
    ten = ten.drop_duplicates(["policy", "parameters", "cache_blocks"])
    cells = ten.assign(cell=ten.apply(lambda row: f"{row['published']:.2f} {row['difference']:+.2f}", axis=1))
    shown = cells.pivot(index=["policy", "parameters"], columns="cache_blocks", values="cell")
    print("OLTP: published hit ratio (%), and ours minus it (points), by cache size in blocks")
    print(shown.reindex(list(LITERATURE), level="policy").to_string())
    scored = table[table["scored"]]
    scores = scored.groupby(["table", "policy"], sort=False)["within"].agg(["sum", "size"])
    worst = scored.assign(worst=scored["difference"].abs()).groupby(["table", "policy"], sort=False)["worst"].max()
    print("\nwithin tolerance")
    for (which, policy), row in scores.iterrows():
        print(f"{which:10} {policy:6} {row['sum']:4} of {row['size']:4}, worst {worst[which, policy]:.3f} points")
    for _, row in table[~table["scored"] & (table["parameters"] == "")].iterrows():
        print(f"not scored: {row['policy']} {row['cache_blocks']}: {row['difference']:+.2f}; {row['note']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", choices=["simulator", "literature"])
    parser.add_argument("--traces", default=",".join(COMPARED), help="for simulator (default %(default)s)")
    parser.add_argument("--policies", default=",".join(PEERS), help="for simulator (default: all that both have)")
    parser.add_argument("--csv", type=Path, metavar="OUT", help="also write the table to this file")
    args = parser.parse_args()
    if args.source == "simulator":
        traces, policies = args.traces.split(","), args.policies.split(",")
        if unknown := sorted({*traces} - {"zipf", *FILES} | {*policies} - {*PEERS}):
            known = f"traces: zipf, {', '.join(FILES)}; policies: {', '.join(PEERS)}"
            parser.error(f"unknown: {', '.join(unknown)}; {known}")
        table = pd.DataFrame(compare_with_simulator(traces, policies))
        show_simulator(table)
    else:
        table = pd.concat(compare_with_literature(), ignore_index=True)
        show_literature(table)
    if args.csv:
        write_csv(table, args.csv)


if __name__ == "__main__":
    main()
