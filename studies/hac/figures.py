"""Draw the figures of the HAC study from its tables. Traversals are in order of their clustering."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from misspenalty.plotting.parts import SERIES, legend_above, name_columns, name_rows, parameter_words, size_axis
from misspenalty.plotting.style import COLUMN, GREY, INK, PAGE, PUBLISHED, drawn_from, need, new_panels, styled

TRAVERSALS = ("T6", "T1-", "T1", "T1+")
SYSTEMS = {"hac": "HAC", "fpc": "FPC", "gom": "dual buffer"}
_LOOKS = dict(zip(SYSTEMS, SERIES, strict=False))
_PARTS = [  # from dark and plain to light and hatched, so that a stack is readable in grey
    {"facecolor": "#004c8c", "edgecolor": "white"},
    {"facecolor": "#e8702a", "edgecolor": "white"},
    {"facecolor": "#cfeadf", "edgecolor": "#009e73", "hatch": "...."},
    {"facecolor": "#efd3e6", "edgecolor": "#b0508f", "hatch": "////"},
]
_INTERVAL = {"fmt": "none", "ecolor": INK, "elinewidth": 0.7, "capsize": 1.5, "capthick": 0.7}
_MARK = {"color": PUBLISHED, "marker": "D", "markersize": 4, "linestyle": ""}


def at_points(table, points_mb):
    """Return the rows of a sweep at one size for each traversal."""
    wanted = table["traversal"].map(points_mb)
    return table[np.isclose(table["cache_mb"], wanted)]


def _stacks(axis, table, parts):
    """Draw one stacked bar per traversal in `table`, with a part per component; return the names of the traversals."""
    names = [name for name in TRAVERSALS if name in set(table["traversal"])]
    wide = table.pivot_table(index="traversal", columns="component", values="us").reindex(names) * 1e-3
    foot = np.zeros(len(names))
    for part, look in zip(parts, _PARTS, strict=False):
        axis.bar(range(len(names)), wide[part], 0.62, bottom=foot, linewidth=0.4, **look)
        foot = foot + wide[part].to_numpy()
    half = _half_of_sum(table, parts, names) * 1e-3
    axis.errorbar(range(len(names)), foot, half, **_INTERVAL)
    for x, top in enumerate(foot + half):
        axis.text(x, top, f" {foot[x]:.3g}", ha="center", va="bottom", fontsize=7)
    name_columns(axis, names)
    axis.set_ylim(0, 1.1 * max(foot.max(), 1e-9))
    return names


def _half_of_sum(table, parts, names):
    """Return the half width of the interval of a stack, as if its parts varied together: an upper bound."""
    if "us_ci95" not in table:
        return np.zeros(len(names))
    half = table[table["component"].isin(parts)].groupby("traversal")["us_ci95"].sum()
    return half.reindex(names).fillna(0).to_numpy()


def _part_legend(figure, parts, further=(), columns=4):
    handles = [
        Patch(label=part.replace("_", " "), linewidth=0.4, **look) for part, look in zip(parts, _PARTS, strict=False)
    ]
    legend_above(figure, [*handles, *further], columns)


@drawn_from("traversal", "cache_mb", "component", "us")
def fig9(table, published):
    """Miss penalty by component at the published client cache sizes (left), and replacement and conversion as shares of
    the fetch time, with the published shares as marks (right; Figure 9).

    Whiskers on the left add up the 95 % confidence intervals of a stack's parts over the seeds; this is an upper bound
    for the interval of the sum. The bars on the right have no intervals.

    Operations are counted while the traversal runs on a cache, and priced for the paper's 133 MHz Alpha. The only free
    cost was fitted to the share of conversion in T1, so that share is no evidence. The layout of OO7's objects was
    chosen by comparison with the shares of pages that traversals use, which are recollected from the paper.

    Parameters
    ----------
    table : DataFrame
        ``traversal, cache_mb, component, us``.
    published : DataFrame
        ``studies/hac/published/miss_penalty.csv``: the sizes that are shown (or the nearest ones swept), and the shares
        drawn as marks.
    """
    said = published.set_index("traversal")
    sizes = {name: _nearest(part["cache_mb"], said.loc[name, "cache_mb"]) for name, part in table.groupby("traversal")}
    chosen = at_points(table, sizes)
    figure, (left, right) = new_panels(PAGE, 2.4, 2, width_ratios=(1, 1.25))
    parts = ("fetch", "replacement", "conversion")
    names = _stacks(left, chosen, parts)
    left.set_xticks(range(len(names)), [f"{name}\n{sizes[name]:g} MB" for name in names])
    left.set_ylabel("Miss penalty (ms)")
    wide = chosen.pivot_table(index="traversal", columns="component", values="us")
    top = 100 * (wide[list(parts[1:])].max(axis=1) / wide["fetch"]).max()
    for i, part in enumerate(parts[1:]):
        share = 100 * wide[part] / wide["fetch"]
        look = _PARTS[i + 1]
        for x, name in enumerate(names):
            place = x - 0.2 + 0.4 * i
            right.bar(place, share[name], 0.36, linewidth=0.4, **look)
            printed = said.loc[name, f"{part}_over_fetch_pct"]
            if pd.notna(printed):
                right.plot(place, printed, zorder=5, **_MARK)
            # Move the number up if the mark would cover it.
            lifted = pd.notna(printed) and -0.04 * top < printed - share[name] < 0.1 * top
            above = printed + 0.025 * top if lifted else share[name]
            right.text(place, above, f"{share[name]:.1f}", ha="center", va="bottom", fontsize=7)
    name_columns(right, names)
    right.set(ylabel="Share of the fetch time (%)", ylim=(0, 1.12 * top))
    _part_legend(figure, parts, [Line2D([], [], label="published", **_MARK)], columns=4)
    return figure


def _nearest(sizes, wanted):
    return sizes.loc[(sizes - wanted).abs().idxmin()]


@drawn_from("traversal", "component", "us")
def fig10(table, published):
    """Foreground replacement overhead per fetch, split as in the paper's Figure 10.

    Whiskers add up the 95 % confidence intervals of a stack's parts over the seeds; this is an upper bound for the
    interval of the sum. Above the value of a stack is the share of stack scanning in it, with the published share.

    The layout of OO7's objects was chosen by comparison with the shares of pages that traversals use, which are
    recollected from the paper.

    Parameters
    ----------
    table : DataFrame
        ``traversal, component, us``.
    published : DataFrame
        ``studies/hac/published/miss_penalty.csv``: the printed shares of stack scanning, written next to ours.
    """
    parts = ("usage_computation", "compaction", "stack_scanning")
    figure = _one_stack(table, parts, "Replacement overhead (ms)")
    wide = table.pivot_table(index="traversal", columns="component", values="us") / 1000
    names = [name for name in TRAVERSALS if name in wide.index]
    said = published.set_index("traversal")["stack_scanning_over_replacement_pct"]
    ends = wide.sum(axis=1).reindex(names) + _half_of_sum(table, parts, names) / 1000
    for x, name in enumerate(names):
        total = wide.loc[name].sum()
        ours = f"{100 * wide.loc[name, 'stack_scanning'] / total:.0f} %"
        printed = f"\npublished {said[name]:g} %" if pd.notna(said[name]) else ""
        figure.axes[0].text(x, ends[name] + 0.085 * ends.max(), f"stack {ours}{printed}", ha="center",
                            va="bottom", fontsize=7)  # fmt: skip
    figure.axes[0].set_ylim(0, 1.3 * ends.max())
    return figure


@drawn_from("traversal", "component", "us")
def fig11(table):
    """Fetch time, split as in the paper's Figure 11.

    Whiskers add up the 95 % confidence intervals of a stack's parts over the seeds; this is an upper bound for the
    interval of the sum.

    The size of the server's cache is recollected; in a cache of this size, hot T6 and T1- find every page, hot T1 and
    T1+ more than nine in ten. The layout of OO7's objects was chosen by comparison with the shares of pages that
    traversals use, which are recollected from the paper.

    Parameters
    ----------
    table : DataFrame
        ``traversal, component, us``.
    """
    return _one_stack(table, ("network", "disk", "server", "client"), "Fetch time (ms)")


def _one_stack(table, parts, label):
    figure, axis = new_panels(COLUMN, 2.3)
    _stacks(axis, table, parts)
    axis.set_ylabel(label)
    _part_legend(figure, parts, columns=4 if len(parts) == 4 else 3)
    return figure


def _curve(axis, table, column, look, scale=1.0):
    """Draw a line over the size of the client cache, with the intervals of its means as a band."""
    sizes, means = table["cache_mb"], table[column] * scale
    axis.plot(sizes, means, markeredgecolor="white", **look)
    if f"{column}_ci95" in table:
        half = table[f"{column}_ci95"].fillna(0) * scale
        axis.fill_between(sizes, means - half, means + half, color=look["color"], alpha=0.25, linewidth=0)


@drawn_from("traversal", "system", "cache_mb", "cold_misses", "hot_misses")
def misses(table, dynamic):
    """Fetches of one iteration, hot and cold, over the size of the client cache, which includes frames and indirection
    table (as in the paper's Figures 5 to 8).

    Thick lines are hot iterations, and thin ones cold; the dynamic traversal, run only once per seed, is drawn thick.
    Bands are 95 % confidence intervals of the thick lines' means over the seeds. The dual buffer uses the best of
    several splits at each size. The parameters of the dynamic traversal are assumptions.

    Parameters
    ----------
    table : DataFrame
        ``traversal, system, cache_mb, cold_misses, hot_misses``.
    dynamic : DataFrame
        The same for the dynamic traversal, without hot misses.
    """
    need(dynamic, ["system", "cache_mb", "cold_misses"], "dynamic")
    panels = [name for name in TRAVERSALS if name in set(table["traversal"])]
    figure, grid = new_panels(PAGE, 3.6, 2, 3)
    axes = grid.flat
    for axis, name in zip(axes, panels, strict=False):
        for system, look in _LOOKS.items():
            part = table[(table["traversal"] == name) & (table["system"] == system)].sort_values("cache_mb")
            _curve(axis, part, "hot_misses", look)
            axis.plot(part["cache_mb"], part["cold_misses"], **{**look, "marker": "", "linewidth": 0.5})
        axis.set_title(name)
        size_axis(axis, table.loc[table["traversal"] == name, "cache_mb"], ticks=4)
    last = axes[len(panels)]
    for system, look in _LOOKS.items():
        part = dynamic[dynamic["system"] == system].sort_values("cache_mb")
        _curve(last, part, "cold_misses", look)
    last.set_title("dynamic")
    size_axis(last, dynamic["cache_mb"], ticks=5)
    for axis in axes:
        axis.set_ylim(bottom=0)
    for axis in axes[len(panels) + 1 :]:
        axis.set_axis_off()
    figure.supylabel("Fetches")
    figure.supxlabel("Client cache, frames and indirection table (MB)")
    handles = [Line2D([], [], label=SYSTEMS[system], **look) for system, look in _LOOKS.items()]
    return legend_above(figure, [*handles, Line2D([], [], label="cold", color=GREY, linewidth=0.5)])


@styled
def peaks(table, frames, published):
    """Foreground replacement per fetch over the size of the client cache, counted with and without the indirection
    table.

    The circle marks the maximum, the dashed line the size that the paper names. Bands are 95 % confidence intervals
    over the seeds.

    Parameters
    ----------
    table, frames : DataFrame
        ``traversal, cache_mb, component, us``. In `table`, ``cache_mb`` counts the frames and the indirection table, in
        `frames` the frames alone.
    published : DataFrame
        ``traversal, cache_mb``: where the paper found the maximum, drawn as a line.
    """
    need(table, ["traversal", "cache_mb", "component", "us"], "fig9")
    need(frames, ["traversal", "cache_mb", "component", "us"], "fig9_frames")
    said = published.set_index("traversal")["cache_mb"]
    figure, axes = new_panels(PAGE, 2.2, len(TRAVERSALS))
    labels = ("frames and table", "frames alone")
    for axis, name in zip(axes, TRAVERSALS, strict=True):
        for one, look in zip((table, frames), SERIES, strict=False):
            part = one[(one["traversal"] == name) & (one["component"] == "replacement")].sort_values("cache_mb")
            _curve(axis, part, "us", look, 1e-3)
            if len(part):
                best = part.loc[part["us"].idxmax()]
                axis.plot(best["cache_mb"], best["us"] / 1000, "o", markersize=8, fillstyle="none", color=look["color"])
        axis.axvline(said[name], color=INK, linewidth=0.9, linestyle=(0, (3, 2)))
        axis.set_title(name)
        if np.isfinite(axis.dataLim.y1):  # hot iterations fetch enough at some size
            axis.set_ylim(0, 1.15 * axis.dataLim.y1)  # leaves room for the circles
        axis.locator_params(axis="x", nbins=4)
    axes[0].set_ylabel("Replacement per fetch (ms)")
    figure.supxlabel("Client cache (MB)")
    handles = [Line2D([], [], label=label, **look) for label, look in zip(labels, SERIES, strict=False)]
    handles.append(
        Line2D([], [], label="greatest", marker="o", markersize=8, fillstyle="none", color=GREY, linestyle="")
    )
    handles.append(Line2D([], [], label="the paper's size", color=INK, linewidth=0.9, linestyle=(0, (3, 2))))
    return legend_above(figure, handles)


_RATIO = "replacement_plus_conversion_over_fetch_pct"
_CASES = {
    "fig9_point": "Figure 9",
    "server_hit_23": "server hit rate 23 %",
    "faster_network_and_offsets": "faster network and all offsets",
    "pentium_pro": "Pentium Pro",
    "pentium_pro_larger_l2": "Pentium Pro, larger L2",
}


@drawn_from("case", "traversal", "quantity", "value")
def projections(table):
    """Replacement and conversion in percent of the fetch time, in the cases of section 4.4 of the paper.

    Parameters
    ----------
    table : DataFrame
        ``case, traversal, quantity, value``.
    """
    chosen = table[table["quantity"] == _RATIO]
    cases = list(dict.fromkeys(chosen["case"]))
    figure, axis = new_panels(PAGE, 0.8 + 0.24 * len(cases))
    for name, look in zip(TRAVERSALS, SERIES, strict=False):
        part = chosen[chosen["traversal"] == name].set_index("case")["value"].reindex(cases)
        axis.plot(
            part, range(len(cases)), **{**look, "linestyle": ""}, markeredgecolor="white", markersize=5, label=name
        )
    name_rows(axis, [_CASES.get(case, case.replace("_", " ")) for case in cases])
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.grid(True, axis="both")
    axis.set_xlabel("Replacement and conversion (% of the fetch time)")
    return legend_above(figure, axis.get_lines())


@drawn_from("traversal", "run", "system", "hit_s", "fetch_s", "replacement_s", "conversion_s")
def elapsed(table):
    """Elapsed time of one iteration at the published cache sizes.

    HAC replaces while it waits for the page, HAC-FG in the foreground; FPC-NO is FPC without replacement and
    conversion.

    Parameters
    ----------
    table : DataFrame
        ``traversal, run, system, hit_s, fetch_s, replacement_s, conversion_s``.
    """
    parts = ("fetch", "replacement", "conversion", "hit")
    figure, axes = new_panels(PAGE, 3.4, 2, len(TRAVERSALS), sharex=True)
    systems = list(dict.fromkeys(table["system"]))
    for row, kind in zip(axes, ("cold", "hot"), strict=True):
        for axis, name in zip(row, TRAVERSALS, strict=True):
            part = table[(table["traversal"] == name) & (table["run"] == kind)].set_index("system").reindex(systems)
            foot = np.zeros(len(systems))
            for what, look in zip(parts, _PARTS, strict=False):
                axis.bar(range(len(systems)), part[f"{what}_s"], 0.7, bottom=foot, linewidth=0.4, **look)
                foot = foot + part[f"{what}_s"].fillna(0).to_numpy()
            axis.set_title(f"{name}, {kind}")
            name_columns(axis, [system.upper() for system in systems], rotation=35, ha="right")
    figure.supylabel("Elapsed time (s)")
    _part_legend(figure, parts)
    return figure


@styled
def sensitivity(costs, algorithm):
    """How much replacement and conversion, as shares of T1's fetch time, change as each cost or parameter takes its
    other values, one at a time.

    The vertical lines mark the shares with the study's own values. Costs and parameters that change neither share by
    more than 0.1 points are left out.

    Parameters
    ----------
    costs, algorithm : DataFrame
        ``parameter, value, traversal, replacement_pct, conversion_pct``; parameter ``none`` is the study's own.
    """
    columns = ("replacement_pct", "conversion_pct")
    lines = [{**look, "linestyle": "-", "linewidth": 0.8} for look in SERIES[1:3]]  # colours of `_PARTS`
    need(costs, ["parameter", "value", "traversal", *columns], "cost_sensitivity")
    need(algorithm, ["parameter", "value", "traversal", *columns], "sensitivity")
    figure, axes = new_panels(PAGE, 4.2, 2)
    for axis, table in zip(axes, (costs, algorithm), strict=True):
        part = table[table["traversal"] == "T1"]
        own = part[part["parameter"] == "none"]
        names = [name for name in dict.fromkeys(part["parameter"]) if name != "none"]
        moved = [name for name in names if _moves(part, own, name, columns)] or names
        for column, line in zip(columns, lines, strict=True):
            for y, name in enumerate(moved):
                values = part.loc[part["parameter"] == name, column]
                shift = 0.16 if column == columns[0] else -0.16
                axis.plot(values, np.full(len(values), y + shift), markeredgecolor="white", **line)
            if len(own):
                axis.axvline(own[column].iloc[0], color=line["color"], linewidth=0.6)
        axis.set_yticks(range(len(moved)), [_with_unit(name) for name in moved])
        axis.set_ylim(len(moved) - 0.4, -0.6)
        axis.set_xlabel("Share of the fetch time (%)")
        axis.grid(True, axis="both")
    axes[0].set_title("Unit costs and testbed")
    axes[1].set_title("HAC's parameters and the database")
    labels = ("replacement", "conversion")
    return legend_above(figure, [Line2D([], [], label=name, **line) for name, line in zip(labels, lines, strict=True)])


_COUNTED = {"scan": "frames per fetch", "lifetime": "fetches", "secondary": "pointers"}


def _with_unit(name):
    words, unit = parameter_words(name)
    unit = _COUNTED.get(name, unit)
    return f"{words} ({unit})" if unit else words


def _moves(part, own, name, columns):
    """Return whether a parameter moves either share by more than a tenth of a point; true if the study's own row is
    missing."""
    values = part[part["parameter"] == name]
    return any((values[column] - own[column].iloc[0]).abs().max() > 0.1 for column in columns) if len(own) else True
