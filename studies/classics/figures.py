"""Draw the figures of the classics study from tidy tables; published values are black marks."""

from matplotlib.lines import Line2D

from misspenalty.plotting.parts import legend_above
from misspenalty.plotting.style import (
    COLUMN,
    INK,
    PAGE,
    PUBLISHED,
    drawn_from,
    new_panels,
    policy_line,
    policy_name,
    policy_order,
)

LOOPING = ("cs", "gli", "multi2", "sprite")
LOOPING_POLICIES = ("opt", "lirs", "clockpro", "arc", "car", "lru")
PROGRAM_SERIES = (
    ("opt", "own"),
    ("lru", "own"),
    ("lirs", "program"),
    ("lirs2", "program"),
    ("arc", "program"),
    ("lirs", "own"),
    ("arc", "own"),
)
COLUMNS = ["trace", "cache_blocks", "policy", "hit_ratio_pct"]
MARK = {"color": PUBLISHED, "marker": "_", "linestyle": "", "markersize": 6, "markeredgewidth": 1.2, "zorder": 5}


@drawn_from(*COLUMNS)
def oltp(table, published):
    """Hit ratios on OLTP: one panel per policy of ARC's Table 1, ours as a line and the printed values as black marks.
    LFU, whose definition is not printed, has a second, dotted line, for which the counts of evicted pages are kept.

    Parameters
    ----------
    table : DataFrame
        ``results/classics/hit_ratios.csv``: ``trace, cache_blocks, policy, hit_ratio_pct``.
    published : DataFrame
        The same columns and ``source``.

    Returns
    -------
    Figure
    """
    printed = published[published["source"] == "ARC Table 1"]
    sizes = sorted(printed["cache_blocks"].unique())
    ours = table[(table["trace"] == "OLTP") & table["cache_blocks"].isin(sizes)]
    policies = policy_order(set(printed["policy"]) & set(ours["policy"]))
    counted = {"color": policy_line("lfu")["color"], "linestyle": ":", "label": "LFU, counts of evicted pages kept"}
    figure, panels = new_panels(PAGE, 0.53 * PAGE, 2, 5, sharex=True, sharey=True)
    for axes in panels.flat[len(policies) :]:
        axes.set_visible(False)
    for axes, policy in zip(panels.flat, policies, strict=False):
        rows = ours[ours["policy"] == policy].sort_values("cache_blocks")
        axes.plot(rows["cache_blocks"], rows["hit_ratio_pct"], **policy_line(policy))
        if policy == "lfu":
            rows = ours[ours["policy"] == "lfu_history"].sort_values("cache_blocks")
            axes.plot(rows["cache_blocks"], rows["hit_ratio_pct"], **counted)
        marks = printed[printed["policy"] == policy]
        axes.plot(marks["cache_blocks"], marks["hit_ratio_pct"], **MARK)
        axes.set_title(policy_name(policy))
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda pages, _: f"{pages:g}")
        axes.set_ylim(0, 80)
    figure.supxlabel("Cache size (pages)", fontsize=7)
    figure.supylabel("Hit ratio (%)", fontsize=7)
    ours = Line2D([], [], color=INK, linestyle="-", label="ours")
    handles = [ours, Line2D([], [], **counted), Line2D([], [], **MARK, label="published (ARC's Table 1)")]
    return legend_above(figure, handles)


@drawn_from(*COLUMNS)
def looping(table, published):
    """Hit ratios on four traces of the LIRS and CLOCK-Pro papers, one panel per trace; black marks, on gli only, are
    hit ratios of LRU that an independent program computed.

    Parameters
    ----------
    table, published : DataFrame
        Same as in `oltp`.
    """
    figure, panels = new_panels(PAGE, 0.36 * PAGE, len(LOOPING))
    for axes, trace in zip(panels, LOOPING, strict=True):
        for policy in LOOPING_POLICIES:
            rows = table[(table["trace"] == trace) & (table["policy"] == policy)].sort_values("cache_blocks")
            width = {"lru": 2.2, "arc": 1.4}.get(policy, 0.9)  # wide lines are drawn first, so that all show
            line = policy_line(policy) | {"markersize": 2.4, "markeredgecolor": "none", "linewidth": width}
            axes.plot(rows["cache_blocks"], rows["hit_ratio_pct"], zorder=3 - width / 10, **line)
        marks = published[(published["trace"] == trace) & (published["policy"] == "lru")]
        axes.plot(marks["cache_blocks"], marks["hit_ratio_pct"], **MARK)
        axes.set_title(trace)
        axes.set_ylim(0, 100)
        axes.set_xlabel("Cache size (blocks)")
    panels[0].set_ylabel("Hit ratio (%)")
    handles, labels = panels[0].get_legend_handles_labels()
    handles.append(Line2D([], [], **MARK))
    figure.legend(handles, [*labels, "published (LRU)"], loc="outside upper center", ncols=len(labels) + 1)
    return figure


@drawn_from("trace", "policy", "reading", "difference", "references")
def program(table):
    """Differences from the program of LIRS2's authors, in points of the miss ratio, per trace and policy: every cache
    size is one mark, and a mark on the zero line means equality. Hollow marks are replays under the conventions of the
    program.

    Parameters
    ----------
    table : DataFrame
        ``results/classics/program.csv``: ``trace, policy, reading, difference, references``.

    Returns
    -------
    Figure
    """
    table = table.assign(points=100 * table["difference"] / table["references"])
    traces = list(dict.fromkeys(table["trace"]))
    groups = {both: rows for both, rows in table.groupby(["policy", "reading"])}
    shown = [both for both in PROGRAM_SERIES if both in groups]
    figure, axes = new_panels(COLUMN, 0.95 * COLUMN)
    for number, (policy, reading) in enumerate(shown):
        rows = groups[policy, reading]
        colour = policy_line(policy)["color"]
        look = {"linestyle": "", "color": colour, "markersize": 3, "marker": "ovsDh^X"[number]}
        if reading == "program":
            look |= {"markerfacecolor": "none", "markersize": 4}
        places = rows["trace"].map(traces.index) + 0.12 * (number - (len(shown) - 1) / 2)
        label = policy_name(policy) + (" (program's rules)" if reading == "program" else "")
        axes.plot(places, rows["points"], label=label, **look)
    axes.set_xticks(range(len(traces)), traces)
    axes.set_ylabel("Ours minus the program's miss ratio (points)")
    return legend_above(figure, axes.get_legend_handles_labels()[0], columns=2)
