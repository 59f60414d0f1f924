"""Compare miniature caches with exact ones: their deviations, how well the error bars show them, and the speed-up.

Every policy with a kernel runs on real traces, at a hundredth and a tenth of the distinct blocks, with eight samples of
each size and rate. There is one row per trace, policy, size and rate: exact hit ratio, root mean square of the
deviations, mean error bar, share of the deviations within two error bars (95 % if the bars are right), CPU time of the
exact run relative to a sampled one, and the blocks that the sampled cache holds (below 100, an estimate is rough; below
20, `misspenalty` refuses, and there is no row).

    python benchmarks/sampling.py --csv out.csv
    python benchmarks/sampling.py --traces oltp --policies arc,lirs --rates 0.1
"""

import argparse
import sys

import numpy as np
import pandas as pd
from policies import TRACES, timed

from misspenalty import hit_ratio_curve, open_trace, simulate
from misspenalty.errors import MissPenaltyError
from misspenalty.io.files import write_csv
from misspenalty.policies import known_policies
from misspenalty.replay.sampling import FEWEST

FILES = {
    "oltp": TRACES / "arc" / "OLTP.lis.zst",
    "p6": TRACES / "arc" / "P6.lis.zst",
    "cloudphysics": TRACES / "vscsi" / "cloudPhysicsIO.vscsi",
    "web12": TRACES / "objects" / "web12.trace.xz",
}
FORMATS = {"oltp": "arc", "p6": "arc", "cloudphysics": "vscsi", "web12": "u32be"}
SHARES = (0.01, 0.1)  # shares of the distinct blocks
SEEDS = 8


def measure(trace, policy, size, rate, exact, seconds):
    """Replay eight samples through one cache, and return the row that compares them with the exact hit ratio."""
    runs = [
        timed(lambda seed=seed: hit_ratio_curve(trace, policy, [size], threads=1, sample=rate, sample_seed=seed))
        for seed in range(SEEDS)
    ]
    off = np.array([table["hit_ratio"][0] for _, table in runs]) - exact
    bars = np.array([table["hit_ratio_error"][0] for _, table in runs])
    return {
        "policy": policy,
        "cache_blocks": size,
        "rate": rate,
        "sampled_blocks": round(size * rate),
        "hit_ratio": exact,
        "deviation_rms": np.sqrt(np.mean(off**2)),
        "error_bar": bars.mean(),
        "within_two_bars": np.mean(np.abs(off) <= 2 * bars),
        "faster": seconds / np.median([spent for spent, _ in runs]),
    }


def compare(name, policies, rates):
    """Print and yield the rows of one trace."""
    trace = open_trace(FILES[name], FORMATS[name])
    for policy in policies:
        for share in SHARES:
            size = max(int(share * trace.blocks), 1)
            seconds, exact = timed(lambda policy=policy, size=size: simulate(trace, policy, size).hit_ratio)
            for rate in rates:
                if rate <= 1 and size * rate < FEWEST:
                    print(
                        f"trace {name}  policy {policy}  cache_blocks {size}  rate {rate:g}: sample too small",
                        flush=True,
                    )
                    continue
                found = {"trace": name, **measure(trace, policy, size, rate, exact, seconds)}
                print(
                    "  ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{v}" for k, v in found.items()), flush=True
                )
                yield found


def main():
    """Print the rows and, per rate, medians of those whose sampled cache holds at least 100 blocks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--traces", default=",".join(FILES))
    parser.add_argument("--policies", default=",".join(known_policies()))
    parser.add_argument("--rates", default="0.01,0.1")
    parser.add_argument("--csv")
    options = parser.parse_args()
    traces, policies = options.traces.split(","), options.policies.split(",")
    if unknown := [name for name in traces if name not in FILES]:
        parser.error(f"unknown traces: {', '.join(unknown)}; there are {', '.join(FILES)}")
    try:
        rates = [float(rate) for rate in options.rates.split(",")]
    except ValueError:
        parser.error(f"--rates {options.rates}: expected numbers with commas between them")
    try:
        table = pd.DataFrame([row for name in traces for row in compare(name, policies, rates)])
    except MissPenaltyError as error:
        sys.exit(f"error: {error}")
    shown = ["deviation_rms", "error_bar", "within_two_bars", "faster"]
    print(table[table["sampled_blocks"] >= 100].groupby("rate")[shown].median().to_string())
    if options.csv:
        write_csv(table, options.csv)


if __name__ == "__main__":
    main()
