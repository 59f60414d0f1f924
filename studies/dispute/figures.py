"""Draw the figures of the dispute study from tidy tables; published values are black marks."""

import itertools

import numpy as np
from matplotlib.lines import Line2D

from misspenalty.plotting.parts import SERIES, legend_above, name_rows
from misspenalty.plotting.style import (
    GREY,
    INK,
    PAGE,
    PUBLISHED,
    drawn_from,
    need,
    new_panels,
    policy_line,
    policy_name,
)
from misspenalty_studies.dispute.published import FIGURE_6, FIGURE_7

SIZES = {0.1: "10 % of the objects", 0.001: "0.1 % of the objects"}
SIEVE_FIGURE_1 = ("lru", "clock", "lirs", "arc", "sieve")
NAMES = {  # displayed names of W-TinyLFU, by the size of its window
    "wtinylfu": "W-TinyLFU, 1 %",
    "wtinylfu_10": "W-TinyLFU, 10 %",
}
WAYS = {"mean_of_datasets": "mean of the sources' means", "mean": "mean over traces"}
LHD = {"color": "#4f6d7a", "marker": "d"}  # the style for unlisted policies is already used for CACHEUS
MARK = {"color": PUBLISHED, "marker": "D", "linestyle": "", "markersize": 4, "markerfacecolor": "white", "zorder": 5}
BELOW = {  # the legend of a panel, outside of the axes, so that its marks are not taken for data
    "loc": "upper center",
    "bbox_to_anchor": (0.5, -0.1),
    "ncols": 3,
    "handlelength": 1,
    "handletextpad": 0.3,
    "columnspacing": 0.8,
}


@drawn_from(
    "selection", "size_ratio", "policy", "mean", "ci95_low", "ci95_high", "datasets_ci95_low", "datasets_ci95_high"
)
def means(table, published):
    """Mean reduction of the miss ratio from FIFO over the traces of the authors' selection, from their result files.

    Thick lines are 95 % intervals with traces as independent draws, thin lines with data sets as independent draws; the
    diamond is the paper's value.

    Parameters
    ----------
    table : DataFrame
        ``selection, size_ratio, policy, mean, ci95_low, ci95_high, datasets_ci95_low,
        datasets_ci95_high``; see
        `misspenalty_studies.dispute.published.reductions`.
    published : DataFrame
        ``studies/dispute/published/stated.csv``: ``quantity, size_ratio, policy, value``.
    """
    figure, axes = new_panels(PAGE, 3.0, len(SIZES), sharey=True)
    for axis, (size, title) in zip(axes, SIZES.items(), strict=True):
        rows = _chosen(table, size)
        places = range(len(rows))
        axis.hlines(places, rows["datasets_ci95_low"], rows["datasets_ci95_high"], color=GREY, linewidth=0.8)
        axis.hlines(places, rows["ci95_low"], rows["ci95_high"], color=INK, linewidth=2.5)
        axis.plot(rows["mean"], places, "o", color=INK, markersize=3)
        _marks(axis, published, "mean", size)
        axis.axvline(0, color=GREY, linewidth=0.7)
        axis.set(xlabel="Lower miss ratio than FIFO (%)", title=title)
    _policies(axes[0])
    handles = [
        Line2D([], [], color=INK, linewidth=2.5, marker="o", markersize=3, label="mean, 95 %, traces independent"),
        Line2D([], [], color=GREY, linewidth=0.8, label="95 %, data sets independent"),
        Line2D([], [], **MARK, label="published"),
    ]
    return legend_above(figure, handles)


@drawn_from("selection", "size_ratio", "policy", "worse_than_fifo_pct")
def worse(table, published):
    """Share of the traces of the authors' selection on which a policy misses more often than FIFO, from their result
    files; diamonds are the paper's values.

    Parameters
    ----------
    table : DataFrame
        ``selection, size_ratio, policy, worse_than_fifo_pct``; see `misspenalty_studies.dispute.published.reductions`.
    published : DataFrame
        ``studies/dispute/published/stated.csv``: ``quantity, size_ratio, policy, value``.
    """
    figure, axes = new_panels(PAGE, 3.0, len(SIZES), sharey=True)
    for axis, (size, title) in zip(axes, SIZES.items(), strict=True):
        rows = _chosen(table, size)
        axis.barh(range(len(rows)), rows["worse_than_fifo_pct"], 0.6, color=GREY)
        _marks(axis, published, "worse_than_fifo_pct", size)
        axis.set(xlabel="Traces with more misses than FIFO (%)", title=title, xlim=(0, None))
    _policies(axes[0])
    return legend_above(figure, [Line2D([], [], **MARK, label="published")])


@drawn_from("selection", "dataset", "web", "size_ratio", "policy", "traces", "mean", "ci95_low", "ci95_high")
def datasets(table):
    """Mean reduction of the miss ratio from FIFO per data set, over the traces of the authors' selection, from their
    result files. Lines are 95 % intervals with traces as independent draws; a data set with fewer than five traces has
    none. Block traces are above the dark rule, web traces below.

    Parameters
    ----------
    table : DataFrame
        ``selection, dataset, web, size_ratio, policy, traces, mean, ci95_low, ci95_high``; see
        `misspenalty_studies.dispute.published.datasets`.
    """
    own = table[(table["selection"] == "authors") & table["policy"].isin(FIGURE_7)]
    order = own[["web", "dataset"]].drop_duplicates().sort_values(["web", "dataset"])
    names = list(order["dataset"])
    figure, axes = new_panels(PAGE, 5.2, len(SIZES), sharey=True)
    step = 0.8 / len(FIGURE_7)
    for axis, (size, title) in zip(axes, SIZES.items(), strict=True):
        rows = own[own["size_ratio"] == size]
        for number, policy in enumerate(FIGURE_7):
            line = rows[rows["policy"] == policy]
            places = np.array([names.index(name) for name in line["dataset"]]) - 0.4 + (number + 0.5) * step
            look = _look(policy)
            axis.hlines(places, line["ci95_low"], line["ci95_high"], color=look["color"], linewidth=0.9)
            axis.plot(line["mean"], places, linestyle="", color=look["color"], marker=look["marker"], markersize=3)
        for place in range(1, len(names)):
            kinds = order["web"].iloc[place - 1 : place + 1]
            mixed = kinds.nunique() > 1
            axis.axhline(place - 0.5, color=INK if mixed else GREY, linewidth=0.9 if mixed else 0.3)
        axis.axvline(0, color=GREY, linewidth=0.7)
        axis.grid(False)
        axis.set(xlabel="Lower miss ratio than FIFO (%)", title=title)
    name_rows(axes[0], names)
    looks = {policy: _look(policy) for policy in FIGURE_7}
    legend_above(
        figure,
        [
            Line2D([], [], color=look["color"], marker=look["marker"], linewidth=0.9, markersize=3, label=_name(policy))
            for policy, look in looks.items()
        ],
    )
    return figure


@drawn_from("selection", "size_ratio", "policy", *WAYS)
def sieve(table, cells, published):
    """SIEVE. The left panel shows how far each policy's miss ratio is below FIFO's on seven sources of web traces, with
    a cache of 10 % of the objects. The values are computed from the result files of S3-FIFO's authors and averaged in
    two ways; diamonds mark what SIEVE's Figure 1 prints for its own traces. The right panel shows how far SIEVE's
    misses are below those of ARC on each trace replayed here, relative to the larger of the two, at the cache sizes
    that more than one trace has.

    Parameters
    ----------
    table : DataFrame
        ``selection, size_ratio, policy, mean, mean_of_datasets``, from `published.reductions`.
    cells : DataFrame
        ``trace, kind, size_ratio, sieve_below_arc_pct``, from `tables.trace_comparisons`.
    published : DataFrame
        ``studies/dispute/published/stated.csv``: ``quantity, size_ratio, policy, value``.
    """
    need(cells, ["trace", "kind", "size_ratio", "sieve_below_arc_pct"], "sieve")
    figure, (left, right) = new_panels(PAGE, 3.6, 2)
    web = table[(table["selection"] == "sieve") & (table["size_ratio"] == max(SIZES))].set_index("policy")
    for (column, label), marker in zip(WAYS.items(), "os", strict=True):
        found = web[column].reindex(SIEVE_FIGURE_1)
        left.plot(found, range(len(found)), marker, color=INK if marker == "o" else GREY, markersize=4, label=label)
    _marks(left, published, "mean_of_datasets", max(SIZES), SIEVE_FIGURE_1)
    _policies(left, SIEVE_FIGURE_1)
    left.legend(**BELOW)
    left.set(xlabel="Lower miss ratio than FIFO (%)", title="Seven sources of web traces", xlim=(0, None))
    found = cells[cells["size_ratio"].map(cells["size_ratio"].value_counts()) > 1]  # sizes with more than one trace
    names = list(found.sort_values(["kind", "trace"])["trace"].unique())
    for look, (size, rows) in zip(itertools.cycle(SERIES), found.groupby("size_ratio"), strict=False):
        shown = {"color": look["color"], "marker": look["marker"], "linestyle": "", "markersize": 3.5}
        places = [names.index(name) for name in rows["trace"]]
        right.plot(_bounded(rows["sieve_below_arc_pct"]), places, label=f"{100 * size:g} %", **shown)
    right.axvline(0, color=GREY, linewidth=0.7)
    right.set_yticks(range(len(names)), names)
    right.invert_yaxis()
    right.set(xlabel="SIEVE's misses below ARC's (%)", title="Traces replayed here, by cache size")
    right.legend(**BELOW)
    return figure


def _bounded(below):
    """Return gains as given, in % of the other policy's misses, and losses in % of the policy's own misses."""
    return below.where(below > 0, below / (1 - below / 100))


def _chosen(table, size):
    own = table[(table["selection"] == "authors") & (table["size_ratio"] == size)]
    return own.set_index("policy").loc[list(FIGURE_6)]


def _look(policy):
    return policy_line(policy) | (LHD if policy == "lhd" else {})


def _name(policy):
    return NAMES.get(policy, policy_name(policy))


def _policies(axis, policies=FIGURE_6):
    name_rows(axis, [_name(policy) for policy in policies])


def _marks(axis, published, quantity, size, policies=FIGURE_6):
    """Draw the printed values of a quantity at a size, at the policies' positions."""
    said = published[(published["quantity"] == quantity) & (published["size_ratio"] == size)]
    axis.plot(said["value"], [policies.index(policy) for policy in said["policy"]], label="published", **MARK)
