"""Draw the figures of the MQ study from tidy tables.

On the bars of our results, published values are drawn as black marks. Tables may be partial: missing rows are not
drawn.
"""

import itertools
import re

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, MaxNLocator, MultipleLocator

from misspenalty.plotting.parts import (
    SERIES,
    hit_ratio_lines,
    legend_above,
    pair_legend,
    pairs,
    plain_ticks,
    size_and_policy_lines,
    size_axis,
    stack,
)
from misspenalty.plotting.style import (
    COLUMN,
    GREY,
    INK,
    PAGE,
    drawn_from,
    need,
    new_figure,
    new_panels,
    policy_bar,
    policy_line,
    policy_name,
    policy_order,
    styled,
)
from misspenalty_studies.mq.published import printed_hit_ratios, published_rates

BLOCK = 8192  # bytes
WRITES = {"count": "writes are accesses", "ignore": "writes are ignored", "refresh": "writes refresh"}


def capture_name(label):
    """Return the text for a capture in figures; ``128mb`` is shown as ``behind 128 MB``, other names as they are."""
    size = _first_level_mb(label)
    return label if size is None else f"behind {size:g} MB"


def _first_level_mb(label):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)mb", str(label).lower())
    return float(match[1]) if match else None


@drawn_from("capture", "policy", "cache_mb", "writes", "hit_ratio_pct")
def table2(table):
    """Hit ratio of reads by policy and storage cache, with writes counted as accesses, ignored, or refreshing blocks in
    the cache (in the form of the paper's Table 2).

    Only streams replayed under every rule for writes are shown, here the one behind the paper's first level; the table
    has the others with writes counted. OPT knows the future.

    Parameters
    ----------
    table : DataFrame
        ``capture, policy, cache_mb, writes, hit_ratio_pct``.
    """
    modes = list(dict.fromkeys(table["writes"]))
    whole = table.groupby("capture", sort=False)["writes"].nunique() == len(modes)
    captures = list(whole.index[whole])
    table = table[table["capture"].isin(captures)]
    figure, axes = new_panels(PAGE, 0.55 + 1.75 * len(modes), len(modes), len(captures), sharex=True, sharey=True)
    for axis, (mode, capture) in zip(axes.flat, itertools.product(modes, captures), strict=True):
        hit_ratio_lines(axis, table[(table["capture"] == capture) & (table["writes"] == mode)])
        axis.set_title(capture_name(capture) if mode == modes[0] else "")
    for axis, mode in zip(axes[:, 0], modes, strict=True):
        axis.set_ylabel(f"Hit ratio (%)\n{WRITES.get(mode, mode)}" if len(modes) > 1 else "Hit ratio of reads (%)")
    for axis in axes[-1]:
        axis.set_xlabel("Storage cache (MB)")
    axes[0, 0].set_ylim(0, 1.03 * table["hit_ratio_pct"].max())
    return legend_above(figure, [Line2D([], [], **policy_line(policy)) for policy in policy_order(table["policy"])], 10)


_FATES = {  # column -> label, keywords; hits are blue, misses orange, first reads white
    "hits_short": ("hit, distance < C", {"facecolor": "#004c8c", "edgecolor": "white"}),
    "hits_long": ("hit, distance ≥ C", {"facecolor": "#6fa8d6", "edgecolor": "white", "hatch": "...."}),
    "misses_short": ("miss, distance < C", {"facecolor": "#e8702a", "edgecolor": "white", "hatch": "xxxx"}),
    "misses_long": ("miss, distance ≥ C", {"facecolor": "#f9d9c3", "edgecolor": "#e8702a", "hatch": "////"}),
    "first_reads": ("first read", {"facecolor": "white", "edgecolor": GREY}),
}


@drawn_from("policy", "writes", *_FATES)
def table3(table, published=None):
    """Hits and misses of each policy at temporal distances below the cache size C and of C or more, and first reads, as
    shares of the reads (the paper's Table 3).

    The first panel shows the published values, if they are given.

    Parameters
    ----------
    table : DataFrame
        ``policy, writes, hits_short, misses_short, hits_long, misses_long, first_reads``, in reads.
    published : DataFrame, optional
        ``studies/mq/published/table3.csv``; drawn as the first panel.
    """
    panels = {WRITES.get(mode, mode): part for mode, part in table.groupby("writes", sort=False)}
    if published is not None:
        need(published, ["policy", "reads", *list(_FATES)[:4]], "the published table3")
        first = published["reads"] - published[list(_FATES)[:4]].sum(axis=1)
        panels = {"published": published.assign(first_reads=first), **panels}
    policies = policy_order(pd.concat(panels)["policy"])
    figure, axes = new_panels(PAGE, 0.75 + 0.19 * len(policies), len(panels), sharey=True)
    for axis, (title, part) in zip(axes, panels.items(), strict=True):
        part = part.set_index("policy")[list(_FATES)].reindex(policies)
        share = 100 * part.div(part.sum(axis=1), axis=0)
        stack(axis, share.rename(index=policy_name), {column: look for column, (_, look) in _FATES.items()})
        axis.set(xlim=(0, 100), xlabel="Share of the reads (%)", title=title)
    return legend_above(figure, [Patch(label=label, linewidth=0.4, **look) for label, look in _FATES.values()])


def fig2(table):
    """Temporal distances of the re-accesses on the client's side (the paper's Figure 2). More than half are below
    16,384 accesses, which is the number of blocks that a first level of the paper's size (128 MB) holds.

    Parameters
    ----------
    table : DataFrame
        As in `distances`.
    """
    return distances(table)


def fig3(table):
    """Temporal distances of the re-accesses that reach the storage server (the paper's Figure 3).

    There is one panel per first level. Most distances exceed the number of blocks in the first level.

    Parameters
    ----------
    table : DataFrame
        As in `distances`.
    """
    return distances(table)


@drawn_from("capture", "distance_low", "share_pct")
def distances(table):
    """Temporal distances of the re-accesses, one panel per capture.

    Parameters
    ----------
    table : DataFrame
        ``capture, distance_low, share_pct``: power-of-two bins of distances in accesses.
    """
    captures = list(dict.fromkeys(table["capture"]))
    figure = new_figure(COLUMN, 0.55 + 1.15 * len(captures))
    axes = figure.subplots(len(captures), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    bar = {**policy_bar("mq"), "edgecolor": "white", "linewidth": 0.4}
    for axis, capture in zip(axes, captures, strict=True):
        part = table[table["capture"] == capture]
        axis.bar(np.log2(part["distance_low"]), part["share_pct"], 1.0, align="edge", **bar)
        _mark_first_level(axis, capture)
        axis.set(ylabel="Re-accesses (%)", title=capture_name(capture))
    axes[-1].set_xlabel("Temporal distance (accesses)")
    axes[-1].xaxis.set_major_locator(MultipleLocator(4))
    axes[-1].xaxis.set_major_formatter(lambda power, _: _binary(2**power))
    axes[-1].set_xlim(0, np.log2(table["distance_low"].max()) + 1)
    return figure


def _binary(value):
    """Return the text for a power of two: 256, 4k, 1M."""
    for size, unit in ((2**20, "M"), (2**10, "k")):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _mark_first_level(axis, capture):
    size = _first_level_mb(capture)
    if size is not None:
        blocks = np.log2(size * 2**20 / BLOCK)
        axis.axvline(blocks, color=INK, linewidth=0.9, linestyle=(0, (3, 2)))
        axis.text(blocks - 0.25, 0.97, "first level", transform=axis.get_xaxis_transform(), ha="right", va="top")


@drawn_from("capture", "min_accesses", "blocks_pct", "accesses_pct")
def fig4(table):
    """Share of the blocks that are accessed at least f times, and share of the accesses that go to these blocks (the
    paper's Figure 4).

    Parameters
    ----------
    table : DataFrame
        ``capture, min_accesses, blocks_pct, accesses_pct``.
    """
    captures = list(dict.fromkeys(table["capture"]))
    figure, axes = new_panels(PAGE, 2.4, 2, sharex=True)
    for capture, look in zip(captures, itertools.cycle(SERIES), strict=False):
        part = table[table["capture"] == capture]
        for axis, column in zip(axes, ("blocks_pct", "accesses_pct"), strict=True):
            axis.plot(part["min_accesses"], part[column], label=capture_name(capture), markeredgecolor="white", **look)
    axes[0].set(ylabel="Blocks accessed $f$ times or more (%)", yscale="log")
    axes[1].set(ylabel="Accesses to these blocks (%)", ylim=(0, 103))
    plain_ticks(axes[0].yaxis, LogLocator(numticks=9))
    for axis in axes:
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: _binary(value))
        axis.set_xlabel("Accesses to a block, $f$")
    return legend_above(figure, axes[0].get_lines())


@drawn_from("first_level_mb", "chosen", "target_pct", "short_share_pct", "cache_mb", "policy")
def first_level_fit(table, counts, published):
    """The first level calibrated on Table 3. The panels show, for each of its sizes, the share of short re-accesses,
    closer than 64 k references (dotted: the published share), the number of the ledger's entries on hit ratios that
    are reproduced, and the hit ratios of MQ and LRU. A vertical line marks the size found; hollow marks on it are the
    published hit ratios.

    Parameters
    ----------
    table : DataFrame
        ``first_level_mb, chosen, target_pct, short_share_pct, cache_mb, policy, hit_ratio_pct``.
    counts : DataFrame
        ``first_level_mb, judged, reproduced``.
    published : DataFrame
        ``storage_cache_mb, policy, hit_ratio_pct``.
    """
    sizes = sorted(table["cache_mb"].unique())
    chosen = table.loc[table["chosen"], "first_level_mb"].iloc[0]
    said = published.set_index(["storage_cache_mb", "policy"])["hit_ratio_pct"]
    figure, (first, second, *others) = new_panels(PAGE, 2.2, 2 + len(sizes))
    share = table.drop_duplicates("first_level_mb")
    first.plot(share["first_level_mb"], share["short_share_pct"], "o-", color=INK)
    first.axhline(table["target_pct"].iloc[0], color=GREY, linestyle=":")
    first.set(title="Short re-accesses (%)", ylim=(0, None))
    second.plot(counts["first_level_mb"], counts["reproduced"], "o-", color=INK)
    second.set(title=f"Reproduced, of {counts['judged'].max()}", ylim=(0, counts["judged"].max()))
    for axis, size in zip(others, sizes, strict=True):
        for policy in policy_order(table["policy"]):
            part, look = table[(table["cache_mb"] == size) & (table["policy"] == policy)], policy_line(policy)
            axis.plot(part["first_level_mb"], part["hit_ratio_pct"], **look)
            if (size, policy) in said.index:
                mark = {**look, "markerfacecolor": "white", "markeredgecolor": look["color"], "linestyle": ""}
                axis.plot(chosen, said[size, policy], zorder=5, **mark)
        axis.set(title=f"Hits, {size:g} MB (%)", ylim=(0, None))
    for axis in (first, second, *others):
        axis.axvline(chosen, color=GREY, linewidth=0.6)
        axis.set_xlabel("First level (MB)")
    hollow = {"color": INK, "marker": "o", "markerfacecolor": "white", "linestyle": "", "label": "published"}
    legend_above(
        figure, [*(Line2D([], [], **policy_line(p)) for p in policy_order(table["policy"])), Line2D([], [], **hollow)]
    )
    return figure


@styled
def table4(tables, published):
    """Hit ratios of MQ and LRU at the paper's cache sizes, with the published ones as marks (the paper's Table 4).

    The left panel, on which the claims are judged, has the hit ratios behind the first level that the paper names; the
    right panel has those behind a first level calibrated on the re-access distances of the paper's Table 3.

    Parameters
    ----------
    tables : dict of str to DataFrame
        Capture -> ``cache_mb, policy, hit_ratio_pct``.
    published : DataFrame
        ``storage_cache_mb, policy, hit_ratio_pct``.
    """
    return _bar_panels(tables, printed_hit_ratios(published), "hit_ratio_pct", "Hit ratio of reads (%)", "{:.1f}")


@styled
def fig7(tables, published, fitted=()):
    """Transaction rate relative to LRU with the smallest cache, from the closed-loop model of the paper's machine,
    with the published rates, and those that follow from published gains, as marks (the paper's Figure 7).

    The bar that a parameter was fitted to is marked.

    Parameters
    ----------
    tables : dict of str to DataFrame
        Capture -> ``cache_mb, policy, normalized_rate``.
    published : DataFrame
        ``studies/mq/published/fig7.csv``.
    fitted : iterable of (cache_mb, policy)
        Bars that a parameter was fitted to; they are marked.
    """
    label = "Normalised transaction rate"
    return _bar_panels(tables, published_rates(published), "normalized_rate", label, "{:.2f}", fitted)


def _bar_panels(tables, published, column, label, form, fitted=()):
    figure, axes = new_panels(COLUMN if len(tables) == 1 else PAGE, 2.4, len(tables), sharey=True)
    top = 0
    for axis, (capture, table) in zip(axes, tables.items(), strict=True):
        need(table, ["cache_mb", "policy", column], capture_name(capture))
        pairs(axis, table, published, column, form, fitted)
        top = max(top, axis.get_ylim()[1])
        axis.set(xlabel="Storage cache (MB)", title=capture_name(capture))
    axes[0].set(ylabel=label, ylim=(0, top))
    handles = pair_legend(itertools.chain(*(table["policy"] for table in tables.values())), published)
    return legend_above(figure, handles)


_PARTS = [  # in pairs, like the model's components: waiting is pale and hatched, service is dark
    {"facecolor": "#d4e3f0", "edgecolor": "#004c8c", "hatch": "////"},
    {"facecolor": "#004c8c", "edgecolor": "white"},
    {"facecolor": "#efd3e6", "edgecolor": "#b0508f", "hatch": "----"},
    {"facecolor": "#b0508f", "edgecolor": "white"},
    {"facecolor": "#cfeadf", "edgecolor": "#009e73", "hatch": "...."},
    {"facecolor": "#009e73", "edgecolor": "white"},
    {"facecolor": "#f9d9c3", "edgecolor": "#e8702a", "hatch": "\\\\\\\\"},
    {"facecolor": "#e8702a", "edgecolor": "white"},
]


@drawn_from("cache_mb", "policy", "component", "us")
def fig7_components(table):
    """Where the time of a transaction goes in the closed-loop model, by cache size and policy.

    Components that take no time in any bar are left out.

    Parameters
    ----------
    table : DataFrame
        ``cache_mb, policy, component, us``: microseconds per transaction.
    """
    wide = table.pivot_table(index=["cache_mb", "policy"], columns="component", values="us", sort=False).fillna(0)
    order = policy_order(table["policy"])[::-1]
    wide = wide.loc[sorted(wide.index, key=lambda bar: (bar[0], order.index(bar[1])))] / 1000
    wide.index = [f"{policy_name(policy)}  {mb:g} MB" for mb, policy in wide.index]
    looks = dict(zip(table["component"].drop_duplicates(), itertools.cycle(_PARTS), strict=False))
    looks = {name: look for name, look in looks.items() if wide[name].any()}
    figure, axis = new_panels(PAGE, 0.95 + 0.2 * len(wide))
    ends = stack(axis, wide, looks)
    for place, end in enumerate(ends):
        axis.text(end + 0.008 * ends.max(), place, f"{end:.3g}", va="center", fontsize=7)
    axis.set(xlabel="Time of a transaction (ms)", xlim=(0, 1.05 * ends.max()))
    names = {name: name.replace("_", " ").replace("cpu", "CPU") for name in looks}
    handles = [Patch(label=names[name], linewidth=0.4, **look) for name, look in looks.items()]
    return legend_above(figure, handles, columns=4)


PARAMETERS = {  # MQ's parameters, then the testbed's
    "life_time_factor": "lifeTime (× the estimate)",
    "history": "Qout (× the cache)",
    "recall_first": "consults Qout before evicting",
    "think_time_us": "think time (µs)",
    "database_cpus": "database CPUs",
    "database_cpu_us": "database CPU (µs)",
    "server_request_us": "server request (µs)",
    "disk_access_ms": "disk access (ms)",
    "disk_mb_per_s": "disk rate (MB/s)",
}


@styled
def sensitivity(table, column="hit_ratio_pct", label="Hit ratio of reads (%)"):
    """Hit ratio of MQ behind the paper's first level as MQ's parameters vary one at a time.

    Parameters
    ----------
    table : DataFrame
        ``parameter, value, cache_mb`` and `column`; ``policy`` if there are policies other than MQ. Values may be
        words. Rows whose parameter is ``none`` are the unvaried run, drawn as dotted lines across each panel.
    column : str
        The column that is drawn.
    label : str
        Name and unit of the column.
    """
    need(table, ["parameter", "value", "cache_mb", column], "sensitivity")
    table = table if "policy" in table else table.assign(policy="mq")
    unvaried = table[table["parameter"] == "none"].set_index(["cache_mb", "policy"])[column]
    parameters = list(dict.fromkeys(table.loc[table["parameter"] != "none", "parameter"]))
    columns = min(len(parameters), 3 if len(parameters) <= 6 else 4)
    rows = -(-len(parameters) // columns)
    figure, axes = new_panels(PAGE, 0.5 + (1.75 if rows < 3 else 1.35) * rows, rows, columns, sharey=True)
    handles = {}
    for axis, parameter in zip(axes.flat, parameters, strict=False):
        part = table[table["parameter"] == parameter]
        values = sorted(dict.fromkeys(part["value"]), key=_rank)
        drawn = size_and_policy_lines(axis, part.assign(place=part["value"].map(values.index)), "place", column)
        for key in filter(unvaried.index.__contains__, drawn):
            axis.axhline(unvaried[key], color=drawn[key].get_color(), linewidth=0.7, linestyle=":", zorder=1)
        axis.set_xticks(range(len(values)), [_written(value, parameter) for value in values])
        axis.margins(x=0.16)
        axis.set_xlabel(PARAMETERS.get(parameter, parameter.replace("_", " ")))
        handles |= drawn
    for axis in axes.flat[len(parameters) :]:
        axis.set_visible(False)
    if rows == 1:
        axes[0, 0].set_ylabel(label)
    else:
        figure.supylabel(label, fontsize=axes[0, 0].yaxis.label.get_size())
    axes[0, 0].yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    return legend_above(figure, [handles[key] for key in sorted(handles)])


def _rank(value):
    """Return the sort key of a varied value: numbers by size, including numbers stored as text, then words."""
    try:
        return 0, float(value), ""
    except ValueError:
        return 1, 0.0, value


def _written(value, parameter):
    words, number, word = _rank(value)
    if parameter == "recall_first" and not words:
        return "yes" if number else "no"
    return word if words else f"{number:g}" if number < 10_000 else f"{number / 1000:g}k"


@drawn_from("first_level_mb", "cache_mb", "policy", "hit_ratio_pct")
def first_level(table):
    """Hit ratio of the storage cache behind simulated first levels, which replay the capture of almost every logical
    reference.

    Parameters
    ----------
    table : DataFrame
        ``first_level_mb, cache_mb, policy, hit_ratio_pct``.
    """
    figure, axis = new_panels(PAGE, 2.4)
    handles = size_and_policy_lines(axis, table, "first_level_mb", "hit_ratio_pct")
    size_axis(axis, table["first_level_mb"])
    axis.set(xlabel="First level (MB)", ylabel="Hit ratio of reads (%)", ylim=(0, 1.05 * table["hit_ratio_pct"].max()))
    return legend_above(figure, [handles[key] for key in sorted(handles)])


def fig7_sensitivity(table):
    """Transaction rates of the closed-loop model as the testbed's parameters vary one at a time.

    Parameters
    ----------
    table : DataFrame
        As in `sensitivity`, with ``policy`` and ``normalized_rate``.
    """
    return sensitivity(table, "normalized_rate", "Normalised transaction rate")
