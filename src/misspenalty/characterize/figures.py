"""Figures of one trace: its characteristics, its curves, and the cost of misses."""

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from misspenalty.plotting.style import (
    COLUMN,
    GREY,
    INK,
    PAGE,
    PALE,
    new_figure,
    policy_line,
    policy_name,
    policy_order,
    styled,
)
from misspenalty.replay.byte_bounds import NAMES as BOUNDS
from misspenalty.traces.trace import format_bytes

SHOWN = 5  # online policies drawn in colour, the best ones; the others are drawn in grey
BLUE, ORANGE, GREEN = "#004c8c", "#e8702a", "#009e73"
COMPONENTS = {  # column of the penalty table: name, colour
    "hit_us": ("cache", PALE),
    "delayed_us": ("delayed hits", "#b0508f"),
    "queue_us": ("queue", ORANGE),
    "overhead_us": ("overhead", "#909090"),
    "seek_us": ("seek", BLUE),
    "rotation_us": ("rotation", "#56b4e9"),
    "switch_us": ("head switch", "#c98a00"),
    "transfer_us": ("transfer", GREEN),
    "bus_us": ("bus", "#6b4c9a"),
    "cache_us": ("drive's cache", "#c3b1dc"),
}


@styled
def profile(over_time, request_sizes, runs, reuse, frequency, block_bytes):
    """Draw rate, request sizes, sequential runs, reuse distances, frequency and working set.

    Parameters
    ----------
    over_time, request_sizes, runs, reuse, frequency : DataFrame
        Tables of `misspenalty.replay.characteristics`.
    block_bytes : int

    Returns
    -------
    Figure
    """
    figure = new_figure(PAGE, 0.5 * PAGE)
    axes = figure.subplots(2, 3).ravel()
    _rate(axes[0], over_time)
    _octaves(axes[1], request_sizes, "requests", "Request sizes", block_bytes, "not known")
    _octaves(axes[2], runs, "references", "Sequential runs", block_bytes, "none")
    _octaves(axes[3], reuse, "references", "Reuse distances", block_bytes, "none", "LRU cache of")
    axes[4].plot(frequency["rank"], frequency["references"], color=BLUE)
    axes[4].set(xscale="log", yscale="log", title="Frequency", xlabel="Rank of the block", ylabel="References")
    axes[4].xaxis.set_minor_locator(NullLocator())
    axes[4].yaxis.set_minor_locator(NullLocator())
    _working_set(axes[5], over_time, block_bytes)
    return figure


def _time(table):
    """Return the values and the label of the horizontal axis for a table over time."""
    if "start_s" not in table:
        return table["references"].cumsum() - table["references"], "References"
    span = table["start_s"].iloc[-1]
    unit, name = next((u, n) for u, n in ((86400, "days"), (3600, "hours"), (60, "minutes"), (0, "s")) if span > 2 * u)
    return table["start_s"] / max(unit, 1), f"Time ({name})"


def _rate(axis, table):
    when, label = _time(table)
    if "references_per_s" in table:
        axis.step(when, table["references_per_s"], where="post", color=BLUE)
        axis.set(title="Rate", ylabel="References per s", xlabel=label, ylim=(0, None))
    else:
        axis.step(when, 100 * table["read_share"], where="post", color=BLUE)
        axis.set(title="Reads (the trace has no times)", ylabel="% of the references", xlabel=label, ylim=(0, 105))


def _octaves(axis, table, column, title, block_bytes, absent, label="Up to"):
    axis.set_title(title)
    total = table[column].sum()
    if not total:
        axis.text(0.5, 0.5, absent, ha="center", color=GREY, transform=axis.transAxes)
        axis.set(xticks=[], yticks=[])
        return
    place = np.arange(len(table))
    axis.bar(place, 100 * table[column] / total, 0.8, color=BLUE)
    step = -(-len(table) // 6)
    axis.set_xticks(place[::step], [format_bytes(blocks * block_bytes) for blocks in table["blocks_up_to"][::step]])
    axis.set(ylabel=f"% of the {column}", xlabel=label)
    axis.tick_params(axis="x", labelsize=7)


def _working_set(axis, table, block_bytes):
    when, label = _time(table)
    axis.plot(when, table["footprint_blocks"] * block_bytes, color=INK, label="footprint so far")
    axis.step(when, table["working_set_blocks"] * block_bytes, where="post", color=ORANGE, label="per window")
    axis.yaxis.set_major_formatter(FuncFormatter(lambda size, _: format_bytes(size)))
    axis.set(title="Working set", xlabel=label, ylim=(0, None))
    axis.legend(loc="best")


@styled
def curves(table):
    """Draw hit ratios against cache size: OPT, LRU and the best online policies in colour, all others in grey.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty.characterize.runs.all_curves`.

    Returns
    -------
    Figure
    """
    figure = new_figure(COLUMN, 0.75 * COLUMN)
    axes = figure.subplots()
    mean = table[~table["offline"]].groupby("policy")["hit_ratio"].mean().sort_values(ascending=False)
    shown = {"opt", *BOUNDS, "lru", *mean.index[:SHOWN]}
    for policy in policy_order(table["policy"])[::-1]:
        rows = table[table["policy"] == policy].sort_values("cache_bytes")
        look = policy_line(policy) if policy in shown else {"color": "#cccccc", "linewidth": 0.7, "zorder": 1}
        axes.plot(rows["cache_bytes"], 100 * rows["hit_ratio"], **look)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=6))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_bytes(size)))
    axes.set(xlabel="Cache size", ylabel="Hit ratio (%)", title="Hit ratios", ylim=(0, None))
    axes.plot([], [], color="#cccccc", linewidth=0.7, label="others")
    axes.legend(loc="best", ncols=2)
    return figure


@styled
def penalty(table):
    """Draw the components of the mean response time at each size: LRU, the fastest online policy, and OPT.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty.characterize.runs.response_times`.

    Returns
    -------
    Figure
    """
    figure = new_figure(COLUMN, 0.75 * COLUMN)
    axes = figure.subplots()
    bars = []
    for _, group in table.groupby("cache_bytes", sort=True):
        mean = group[group["policy"] != "opt"].sort_values(["mean_us", "policy"])
        chosen = dict.fromkeys(["lru", mean["policy"].iloc[0], *(["opt"] if "opt" in set(group["policy"]) else [])])
        bars += [(group["cache_share"].iloc[0], group[group["policy"] == policy].iloc[0]) for policy in chosen]
    top = max(row["mean_us"] for _, row in bars)
    scale, unit = next((s, u) for s, u in ((1e6, "s"), (1e3, "ms"), (1, "µs")) if top >= s or s == 1)
    bottom = np.zeros(len(bars))
    for column, (name, colour) in COMPONENTS.items():
        height = np.array([row[column] for _, row in bars]) / scale
        if height.max() > 0.002 * top / scale:
            axes.bar(range(len(bars)), height, 0.75, bottom=bottom, color=colour, label=name, linewidth=0)
        bottom += height
    labels = [f"{policy_name(row['policy'])}\n{share:.3g}%" for share, row in ((100 * s, r) for s, r in bars)]
    axes.set_xticks(range(len(bars)), labels, fontsize=7)
    axes.set(ylabel=f"Mean response time ({unit})", title=f"Response times on {bars[0][1]['device']}", ylim=(0, None))
    axes.legend(loc="best")
    return figure
