"""The figure of the benchmark: how many times libCacheSim's requests per second, by policy and workload.

python benchmarks/figure.py results/bench/policies-*.csv --output results/bench/policies.png
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty.figures import save_figure
from misspenalty.figures.style import PAGE, new_figure, policy_name, styled

TARGETS = {3: "none below", 5: "median", 8: "goal"}
TICKS = (1, 3, 5, 8, 20, 50, 100)
FILLS = (("#004c8c", ""), ("#56b4e9", "////"), ("#e8702a", "...."))


@styled
def speed(table):
    """Bars of ``ratio``, one group a policy, one bar a workload; policies libCacheSim lacks are left out."""
    table = table.dropna(subset="ratio")
    policies = table.groupby("policy")["ratio"].median().sort_values(ascending=False).index.tolist()
    workloads = table["workload"].unique().tolist()
    figure = new_figure(PAGE, 0.4 * PAGE)
    axes = figure.subplots()
    width = 0.8 / len(workloads)
    for i, (workload, (colour, hatch)) in enumerate(zip(workloads, FILLS, strict=False)):
        rows = table[table["workload"] == workload].set_index("policy").reindex(policies)
        place = np.arange(len(policies)) - 0.4 + (i + 0.5) * width
        axes.bar(place, rows["ratio"], width, label=workload, facecolor=colour, edgecolor="white", hatch=hatch)
    for height, what in TARGETS.items():
        axes.axhline(height, color="#222222", linewidth=0.7, linestyle=":")
        axes.annotate(what, (1.01, height), xycoords=("axes fraction", "data"), va="center", fontsize=5.5)
    axes.set_yscale("log")
    axes.set_ylim(min(1, table["ratio"].min()), None)
    axes.set_yticks(TICKS, map(str, TICKS))
    axes.minorticks_off()
    axes.set_xticks(range(len(policies)), [policy_name(policy) for policy in policies])
    axes.set_ylabel("Requests per second, libCacheSim = 1")
    axes.legend(loc="upper right", ncols=len(workloads))
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path, help="tables that policies.py wrote")
    parser.add_argument("--output", type=Path, required=True, help="the figure, a .png, .svg or .pdf")
    args = parser.parse_args()
    table = pd.concat([pd.read_csv(path) for path in args.tables], ignore_index=True)
    save_figure(speed(table), args.output.with_suffix(""), [args.output.suffix[1:]])


if __name__ == "__main__":
    main()
