"""Draw the figures of one trace: its characteristics, its hit ratio curves, and the cost of misses."""

import numpy as np
from matplotlib.ticker import FuncFormatter, LogLocator, MultipleLocator, NullLocator

from misspenalty.plotting.style import (
    COLUMN,
    GREY,
    INK,
    PAGE,
    PALE,
    new_panels,
    policy_lines,
    policy_name,
    policy_order,
    styled,
)
from misspenalty.replay.byte_bounds import NAMES as BOUNDS
from misspenalty.traces.quantities import is_time
from misspenalty.traces.trace import format_bytes

SHOWN = 5  # number of best online policies drawn in colour, besides LRU and the offline policies
LABELS = 4  # maximum number of sizes that are labelled under bars
UNCOUNTED = "only reads are counted,\nand there are none"
BLUE, ORANGE, GREEN = "#004c8c", "#e8702a", "#009e73"
COMPONENTS = {  # displayed name and colour by column of the penalty table
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
def profile(over_time, request_sizes, runs, reuse, frequency, block_bytes, objects=False):
    """Draw rate, request sizes, sequential runs, reuse distances, frequency and working set.

    Parameters
    ----------
    over_time, request_sizes, runs, reuse, frequency : DataFrame
        Tables of `misspenalty.replay.characteristics`.
    block_bytes : int
    objects : bool
        Whether the trace has objects of different sizes; runs and distances are then counted in objects.

    Returns
    -------
    Figure
    """
    count = {"unit": "objects"} if objects else {"block_bytes": block_bytes}
    figure, grid = new_panels(PAGE, 0.5 * PAGE, 2, 3)
    axes = grid.ravel()
    _rate(axes[0], over_time)
    sizes = request_sizes.assign(blocks_up_to=request_sizes["bytes_up_to"])
    title = "Sizes of requested objects" if objects else "Request sizes"
    _octaves(axes[1], sizes, "requests", title, "the requests of this selection\nare not known")
    _octaves(axes[2], runs, "references", "Sequential runs", "none", **count)
    _octaves(axes[3], reuse, "references", "Reuse distances", "no block is used again", "LRU cache of", **count)
    axes[4].plot(frequency["rank"], frequency["references"], color=BLUE)
    axes[4].set(
        xscale="log",
        yscale="log",
        title="Frequency",
        xlabel=f"Rank of the {'object' if objects else 'block'}",
        ylabel="References",
    )
    axes[4].xaxis.set_minor_locator(NullLocator())
    axes[4].yaxis.set_minor_locator(NullLocator())
    _working_set(axes[5], over_time)
    return figure


def _edges(table):
    """Return the edges of the windows of a table over time, one more than there are windows, and the axis label."""
    if "start_s" not in table:
        return [0, *table["references"].cumsum()], "References"
    last = table.iloc[-1]  # the window of the last reference
    edges = np.append(table["start_s"], last["start_s"] + last["references"] / last["references_per_s"])
    units = ((86400, "days"), (3600, "hours"), (60, "minutes"), (0, "s"))
    unit, name = next((unit, name) for unit, name in units if edges[-1] > 2 * unit)
    return edges / max(unit, 1), f"Time ({name})"


def _steps(axis, edges, values, **look):
    """Draw the value of each window as a horizontal line between the edges of the window."""
    axis.step(edges, [*values, values.iloc[-1]], where="post", **look)


def _rate(axis, table):
    edges, label = _edges(table)
    if "references_per_s" in table:
        _steps(axis, edges, table["references_per_s"], color=BLUE)
        axis.set(title="Rate", ylabel="References per s", xlabel=label, ylim=(0, None))
        axis.yaxis.set_major_formatter(FuncFormatter(_number))
    else:
        _steps(axis, edges, 100 * table["read_share"], color=BLUE)
        axis.set(title="Reads (no times that differ)", ylabel="% of the references", xlabel=label, ylim=(0, 105))
        axis.xaxis.set_major_formatter(FuncFormatter(_number))


def _number(value, _=None):
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def _octaves(axis, table, column, title, absent, label="Up to", *, block_bytes=1, unit=None):
    axis.set_title(title)
    total = table[column].sum()
    if not total:
        _say(axis, absent)
        return
    table = table[table[column].cumsum() > 0]  # begin at the smallest value that occurs
    place = np.arange(len(table))
    axis.bar(place, 100 * table[column] / total, 0.8, color=BLUE)
    step = -(-len(table) // LABELS)
    sizes = table["blocks_up_to"][::step]
    axis.set_xticks(place[::step], [f"{size:,}" if unit else format_bytes(size * block_bytes) for size in sizes])
    axis.set(ylabel=f"% of the {column}", xlabel=f"{label} ({unit})" if unit else label)
    axis.set_xlim(-0.6, max(len(table), LABELS) - 0.4)  # limit the width of the bars if there are only a few


def _say(axis, absent):
    """Write into a panel why it is empty, and remove its ticks."""
    axis.text(0.5, 0.5, absent, ha="center", va="center", color=GREY, transform=axis.transAxes)
    axis.set(xticks=[], yticks=[])


def _working_set(axis, table):
    edges, label = _edges(table)
    axis.plot(edges, [0, *table["footprint_bytes"]], color=INK, label="footprint so far")
    _steps(axis, edges, table["working_set_bytes"], color=ORANGE, label="per window")
    most = table["footprint_bytes"].max()
    axis.yaxis.set_major_locator(MultipleLocator(round_step(most)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda size, _: format_bytes(size) if size else "0"))
    if "start_s" not in table:
        axis.xaxis.set_major_formatter(FuncFormatter(_number))
    axis.set(title="Working set", xlabel=label, ylim=(0, 1.35 * max(most, 1)))  # leave room for the legend
    axis.legend(loc="upper left", ncols=2, borderaxespad=0.2, handlelength=1.1, columnspacing=0.9, handletextpad=0.5)


def round_step(most):
    """Return a round number of bytes, KB, MB, … that fits into `most` bytes at most five times.

    Examples
    --------
    >>> round_step(75 << 20) >> 20, round_step(3000)
    (20, 1024)
    """
    unit = 1 << (max(int(most).bit_length() - 1, 0) // 10 * 10)
    steps = (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)
    return max(1, next(int(step * unit) for step in steps if most <= 5 * step * unit))


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
    figure, axes = new_panels(COLUMN, 0.9 * COLUMN)
    axes.set(xlabel="Cache size", ylabel="Hit ratio (%)", title="Hit ratios")
    if table["hit_ratio"].isna().all():
        _say(axes, UNCOUNTED)
        return figure
    mean = table[~table["offline"]].groupby("policy")["hit_ratio"].mean().sort_values(ascending=False)
    shown = {*table["policy"][table["offline"]], *BOUNDS, "lru", *mean.index[:SHOWN]}
    looks = policy_lines(shown)
    for policy in policy_order(table["policy"])[::-1]:
        rows = table[table["policy"] == policy].sort_values("cache_bytes")
        look = looks.get(policy, {"color": "#cccccc", "linewidth": 0.7, "zorder": 1})
        axes.plot(rows["cache_bytes"], 100 * rows["hit_ratio"], **look)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=6))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_bytes(size)))
    axes.set_ylim(0, None)
    if set(table["policy"]) - shown:
        axes.plot([], [], color="#cccccc", linewidth=0.7, label="others")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


@styled
def penalty(table):
    """Draw the components of the mean response time at each size, for LRU, the fastest online policy, and OPT.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty.characterize.runs.response_times`.

    Returns
    -------
    Figure
    """
    figure, axes = new_panels(COLUMN, 0.9 * COLUMN)
    device = table["device"].iloc[0]
    axes.set_title(f"Response times, device {device}")
    if table["mean_us"].isna().all():
        _say(axes, UNCOUNTED)
        return figure
    bars, place = [], []
    for number, (_, group) in enumerate(table.groupby("cache_bytes", sort=True)):
        mean = group[group["policy"] != "opt"].sort_values(["mean_us", "policy"])
        chosen = dict.fromkeys(["lru", mean["policy"].iloc[0], *(["opt"] if "opt" in set(group["policy"]) else [])])
        place += [len(bars) + each + 0.6 * number for each in range(len(chosen))]  # leave a gap between the sizes
        bars += [(group["cache_share"].iloc[0], group[group["policy"] == policy].iloc[0]) for policy in chosen]
    top = max(row["mean_us"] for _, row in bars)
    scale, unit = next((s, u) for s, u in ((1e6, "s"), (1e3, "ms"), (1, "µs")) if top >= s or s == 1)
    names = COMPONENTS | ({"overhead_us": ("fixed time", COMPONENTS["overhead_us"][1])} if is_time(device) else {})
    start = np.zeros(len(bars))
    for column, (name, colour) in names.items():
        height = np.array([row[column] for _, row in bars]) / scale
        if height.max() > 0.002 * top / scale:
            axes.barh(place, height, 0.8, left=start, color=colour, label=name, linewidth=0)
        start += height
    axes.set_yticks(place, [f"{policy_name(row['policy'])}, {100 * share:.3g} %" for share, row in bars])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.set(xlabel=f"Mean response time ({unit})", xlim=(0, None))
    if axes.patches:  # there are no bars if all requests hit, and hits take no time
        figure.legend(loc="outside lower center", ncols=4)
    return figure
