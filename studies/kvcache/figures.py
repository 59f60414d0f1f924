"""Draw the figures of the kvcache study from tidy tables; published values are black marks."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator

from misspenalty.plotting.parts import SERIES, legend_above
from misspenalty.plotting.style import (
    GREY,
    PAGE,
    PALE,
    PUBLISHED,
    drawn_from,
    new_panels,
    policy_line,
    policy_name,
    policy_order,
)

SHOWN = ("opt", "mq", "lirs", "arc", "s3fifo", "lru")
MEASURES = {
    "hit_pct": "share of the input tokens",
    "request_hit_pct": "mean over requests of that share",
    "block_hit_pct": "share of the block references",
}
KINDS = {"dram": "memory of the server", "remote": "memory of another server", "ssd": "flash drive"}
MARK = {"color": PUBLISHED, "marker": "_", "linestyle": "", "markersize": 6, "markeredgewidth": 1.2, "zorder": 5}
FRAMED = {  # frame a legend inside the axes, so that its marks are not taken for data
    "loc": "upper left",
    "frameon": True,
    "facecolor": "white",
    "edgecolor": PALE,
    "framealpha": 1,
    "borderaxespad": 0.2,
    "borderpad": 0.3,
    "labelspacing": 0.35,
}


@drawn_from("workload", "policy", "cache_tokens", "part", "share_of_possible_pct", *MEASURES)
def capacity(table, published):
    """Hits of one cache by its size, on the whole trace. The left panel shows LRU's hits, counted in three ways; the
    right panel shows the hits of several policies as shares of the possible hits. If the trace is the paper's, black
    marks on the left are the values of its Figure 9, which are for LRU; black marks on the right are the same values as
    shares of the highest one.

    Parameters
    ----------
    table : DataFrame
        See `misspenalty_studies.kvcache.tables.hits`.
    published : DataFrame
        ``studies/kvcache/published/fig9.csv``: ``workload, cache_tokens, hit_pct``.
    """
    whole = table[table["part"] == "all"].sort_values("cache_tokens")
    figure, (left, right) = new_panels(PAGE, 2.6, 2)
    lru = whole[whole["policy"] == "lru"]
    for look, (column, label) in zip(SERIES, MEASURES.items(), strict=False):
        left.plot(lru["cache_tokens"], lru[column], label=label, markersize=3, linewidth=1, **look)
    sizes = lru["cache_tokens"]
    marks = published[published["workload"].isin(whole["workload"]) & published["cache_tokens"].le(sizes.max())]
    if len(marks):
        left.plot(marks["cache_tokens"], marks["hit_pct"], label="published (Figure 9)", **MARK)
    left.set(ylabel="Hit ratio of LRU (%)", ylim=(0, None))
    left.legend(**FRAMED)
    for policy in policy_order(set(SHOWN) & set(whole["policy"])):
        rows = whole[whole["policy"] == policy]
        right.plot(rows["cache_tokens"], rows["share_of_possible_pct"], **policy_line(policy) | {"markersize": 4.5})
    if len(marks):
        right.plot(marks["cache_tokens"], _share_of_highest(marks, published), label="published (LRU)", **MARK)
    right.set(ylabel="Share of the possible hits (%)", ylim=(0, 102))
    right.legend(**FRAMED)
    for axes in (left, right):
        _token_axis(axes)
    return figure


@drawn_from("first_tokens", "policy", "second_tokens", "part", "block_hit_pct")
def second_level(table):
    """Hit ratio of a second level on the references that its LRU first level misses, by the size of the second level,
    on the whole trace; one panel per size of the first level.

    Parameters
    ----------
    table : DataFrame
        See `misspenalty_studies.kvcache.tables.second_level`.
    """
    whole = table[table["part"] == "all"].sort_values("second_tokens")
    firsts = sorted(set(whole["first_tokens"]))
    shown = policy_order(set(SHOWN) & set(whole["policy"]))
    figure, panels = new_panels(PAGE, 2.5, len(firsts), sharey=True)
    for axes, first in zip(panels, firsts, strict=True):
        for policy in shown:
            rows = whole[(whole["policy"] == policy) & (whole["first_tokens"] == first)]
            axes.plot(rows["second_tokens"], rows["block_hit_pct"], **policy_line(policy) | {"markersize": 4.5})
        axes.set(title=f"Behind {_tokens(first)} tokens", ylim=(0, None))
        _token_axis(axes, steps=(1, 2, 5))
    panels[0].set_ylabel("Hit ratio of the second level (%)")
    return legend_above(figure, panels[0].get_legend_handles_labels()[0])


@drawn_from("policy", "cache_tokens", "part", "block_hit_pct", "prefix_block_pct")
def prefixes(table):
    """Block hits (hollow) and block hits in contiguous prefixes (filled), for every policy in one cache, on the whole
    trace; one panel for each of two sizes. Only hits in prefixes shorten a prefill.

    Parameters
    ----------
    table : DataFrame
        See `misspenalty_studies.kvcache.tables.hits`.
    """
    whole = table[table["part"] == "all"]
    sizes = sorted(set(whole["cache_tokens"]))
    sizes = [sizes[round(place * (len(sizes) - 1))] for place in (1 / 3, 2 / 3)]
    order = whole[whole["cache_tokens"] == sizes[0]].sort_values("prefix_block_pct")["policy"].tolist()
    figure, panels = new_panels(PAGE, 0.9 + 0.14 * len(order), 2, sharey=True)
    dot = {"color": "#004c8c", "marker": "o", "linestyle": ""}
    looks = {
        "block_hit_pct": {**dot, "markerfacecolor": "white", "markersize": 4, "label": "all hits"},
        "prefix_block_pct": {**dot, "markersize": 3, "label": "hits in contiguous prefixes"},
    }
    for axes, size in zip(panels, sizes, strict=True):
        rows = whole[whole["cache_tokens"] == size].set_index("policy").loc[order]
        places = np.arange(len(order))
        axes.hlines(places, rows["prefix_block_pct"], rows["block_hit_pct"], color=GREY, linewidth=0.8)
        for column, look in looks.items():
            axes.plot(rows[column], places, **look)
        axes.set(title=f"{_tokens(size)} tokens", xlabel="Hits (% of the block references)", xlim=(0, None))
        axes.set_yticks(places, [policy_name(policy) for policy in order])
    return legend_above(figure, [Line2D([], [], **look) for look in looks.values()])


@drawn_from("first_tokens", "policy", "second_tokens", "part", "kind", "prefill_s", "load_s", "ttft_s")
def ttft(table):
    """Mean time to first token with a second level under each policy, on the whole trace: prefill, plus loading from
    one of three places. The first level is the smallest in the settings, the second level the second smallest. The
    dashed line is the mean without a second level.

    Parameters
    ----------
    table : DataFrame
        See `misspenalty_studies.kvcache.tables.ttft`.
    """
    whole = table[(table["part"] == "all") & (table["first_tokens"] == table["first_tokens"].min())]
    seconds = sorted(set(whole.loc[whole["policy"] != "none", "second_tokens"]))
    rows = whole[whole["second_tokens"] == seconds[min(1, len(seconds) - 1)]]
    without = whole.loc[whole["policy"] == "none", "ttft_s"].item()
    memory = rows[rows["kind"] == "dram"].sort_values("ttft_s", ascending=False)
    order = memory["policy"].tolist()
    figure, axes = new_panels(PAGE, 0.9 + 0.16 * len(order))
    looks = dict(zip(KINDS, ("#004c8c", "#009e73", "#e8702a"), strict=True))
    prefill = memory.set_index("policy")["prefill_s"].loc[order]
    axes.barh(range(len(order)), prefill, height=0.75, color="#d4e3f0", edgecolor=GREY, linewidth=0.4)
    for number, (kind, colour) in enumerate(looks.items()):
        times = rows[rows["kind"] == kind].set_index("policy")["ttft_s"].loc[order]
        places = np.arange(len(order)) + 0.25 * (number - 1)
        axes.hlines(places, prefill, times, color=colour, linewidth=1.2)
        axes.plot(times, places, "o", color=colour, markersize=3)
    axes.axvline(without, color=GREY, linestyle="--", linewidth=0.8)
    axes.set_yticks(range(len(order)), [policy_name(policy) for policy in order])
    axes.set(xlabel="Mean time to first token (s)", ylim=(-0.7, len(order) - 0.3))
    handles = [Patch(facecolor="#d4e3f0", edgecolor=GREY, linewidth=0.4, label="prefill")]
    handles += [
        Line2D([], [], color=colour, marker="o", markersize=3, label=f"loading from the {KINDS[kind]}")
        for kind, colour in looks.items()
    ]
    handles.append(Line2D([], [], color=GREY, linestyle="--", label="no second level"))
    return legend_above(figure, handles, columns=3)


def _share_of_highest(marks, published):
    highest = published.groupby("workload")["hit_pct"].max()
    return 100 * marks["hit_pct"] / marks["workload"].map(highest)


def _tokens(count, _=None):
    """Format a number of tokens for print.

    >>> _tokens(10_000), _tokens(5_120_000)
    ('10 k', '5.12 M')
    """
    return f"{count / 1e6:.4g} M" if count >= 1e6 else f"{count / 1e3:.4g} k"


def _token_axis(axes, steps=(1,)):
    axes.set_xscale("log")
    axes.set_xlabel("Cache size (tokens)")
    axes.xaxis.set_major_locator(LogLocator(10, steps))
    axes.xaxis.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(_tokens))
