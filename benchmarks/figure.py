"""Draw requests per second by policy and workload, relative to libCacheSim and the physical limit.

python benchmarks/figure.py results/bench/policies-*.csv --output results/bench/policies.png
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from misspenalty.plotting import save_figure
from misspenalty.plotting.style import PAGE, new_figure, policy_name, styled

TARGETS = {3: "none below", 5: "median", 8: "goal"}
RATIOS, SHARES = (1, 3, 5, 8, 20, 50, 100), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
FILLS = (("#004c8c", ""), ("#56b4e9", "////"), ("#e8702a", "...."))
LIMIT = "limit"  # name of the row for one pass over the trace that touches one node per request


@styled
def speed(table):
    """Draw, per policy and workload, bars of ``ratio`` (if libCacheSim has the policy) and of ``of_limit``."""
    figure = new_figure(PAGE, 0.72 * PAGE)
    upper, lower = figure.subplots(2, 1)
    table = table[table["policy"] != LIMIT]
    bars(upper, table.dropna(subset="ratio"), "ratio", RATIOS)
    for height, what in TARGETS.items():
        line(upper, height, what)
    upper.set_ylabel("Requests per second, libCacheSim = 1")
    bars(lower, table, "of_limit", SHARES)
    line(lower, 1, "limit")
    lower.set_ylabel("Requests per second, physical limit = 1")
    upper.legend(loc="upper right", ncols=table["workload"].nunique())
    return figure


def bars(axes, table, column, ticks):
    """Draw the groups of bars in descending order of their median."""
    policies = table.groupby("policy")[column].median().sort_values(ascending=False).index.tolist()
    workloads = table["workload"].unique().tolist()
    width = 0.8 / len(workloads)
    for i, (workload, (colour, hatch)) in enumerate(zip(workloads, FILLS, strict=False)):
        rows = table[table["workload"] == workload].set_index("policy").reindex(policies)
        place = np.arange(len(policies)) - 0.4 + (i + 0.5) * width
        axes.bar(place, rows[column], width, label=workload, facecolor=colour, edgecolor="white", hatch=hatch)
    axes.set_yscale("log")
    axes.set_ylim(min(ticks[0], table[column].min()), None)
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    names = [policy_name(policy) for policy in policies]
    axes.set_xticks(range(len(policies)), names, rotation=40, ha="right", rotation_mode="anchor")


def line(axes, height, what):
    """Draw a dotted horizontal line, labelled at its right end."""
    axes.axhline(height, color="#222222", linewidth=0.7, linestyle=":")
    axes.annotate(what, (1.01, height), xycoords=("axes fraction", "data"), va="center", fontsize=5.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", type=Path, help="tables that policies.py wrote")
    parser.add_argument("--output", type=Path, required=True, help="the figure, a .png, .svg or .pdf")
    args = parser.parse_args()
    table = pd.concat([pd.read_csv(path) for path in args.tables], ignore_index=True)
    save_figure(speed(table), args.output.with_suffix(""), [args.output.suffix[1:]])


if __name__ == "__main__":
    main()
