"""Draw what the SARC study's fit leaves open: points tried, parameters that trade off, and the load near saturation."""

import itertools

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from misspenalty.plotting.parts import SERIES, legend_above, plain_ticks
from misspenalty.plotting.style import INK, PAGE, drawn_from, new_panels, policy_line, policy_order
from misspenalty_studies.sarc.figures import CONFIGS, shown_configs

WORST = 1.5  # mean factor beyond which the map no longer distinguishes points
MAP = ("load_factor", "host_slots", "footprint_sensitive_gb", "insertion", "degree", "staging")
SATURATING = 0.75  # share of the highest load at which the load axis starts


@drawn_from("step", "seeds", "mean_factor", *MAP)
def fit_grid(table):
    """Points tried by the fit of load, slots, space, insertion, group and staging (not those of the front end's two
    times), and the mean factor between model and paper at each; factors above 1.5 are drawn at 1.5.

    Small marks are points of the coarse searches, which use one seed; large ones were run with all seeds. Top left: the
    load, one marker per number of host slots. Top right: the group of tracks that is prefetched, one marker per unit of
    staging; the lowest mark of each is the best that the other parameters can achieve. Bottom left: the insertion
    point; several valleys would mean several optima. Bottom right: space and insertion together, where the colour of a
    mark shows the mean factor (one colour for the largest 5 %); a valley along a diagonal means that the two trade off.
    A cross marks the point chosen.

    Parameters
    ----------
    table : DataFrame
        ``step, seeds, mean_factor, load_factor, host_slots, footprint_sensitive_gb, insertion, degree, staging``.
    """
    figure, ((load_axis, group_axis), (insertion_axis, space_axis)) = new_panels(PAGE, 4.6, 2, 2)
    load, space = (table[table["step"].str.startswith(step)] for step in ("load", "space"))
    handles = _marks(load_axis, load, "load_factor", "host_slots", "{:g} host slots", "os^Dv*<>")
    handles += _marks(group_axis, space, "degree", "staging", "staging {:g}", "PX")
    _marks(insertion_axis, space, "insertion")
    for axis in (group_axis, insertion_axis):
        axis.set_xscale("log", base=2)
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
        axis.xaxis.minorticks_off()
    shades = space["mean_factor"]
    for again, size in ((False, 10), (True, 40)):
        here = space["step"].str.endswith("again") == again
        space_axis.scatter(
            space.loc[here, "footprint_sensitive_gb"],
            space.loc[here, "insertion"],
            s=size,
            c=shades[here],
            cmap="cividis_r",
            vmin=shades.min(),
            vmax=shades.quantile(0.95),
            linewidths=0,
        )
    for axis, part, x, y in (
        (load_axis, load, "load_factor", "mean_factor"),
        (group_axis, space, "degree", "mean_factor"),
        (insertion_axis, space, "insertion", "mean_factor"),
        (space_axis, space, "footprint_sensitive_gb", "insertion"),
    ):
        final = part[part["step"].str.endswith("again")]
        best = final.loc[final["mean_factor"].idxmin()]
        axis.plot(best[x], best[y], "x", color=INK, markersize=7)
    label = f"Mean factor (at most {WORST:g})"
    load_axis.set(title="load", xlabel="Load factor", ylabel=label)
    group_axis.set(title="group and staging", xlabel="Group (tracks)", ylabel=label)
    insertion_axis.set(title="insertion", xlabel="Insertion (share of the cache)", ylabel=label)
    space_axis.set(title="space and insertion", xlabel="Space (GB)", ylabel="Insertion (share of the cache)")
    figure.colorbar(space_axis.collections[0], ax=space_axis, label="Mean factor", extend="max")
    sizes = (("o", 3, "one seed"), ("o", 5.5, "all seeds"), ("x", 7, "chosen"))
    handles += [
        Line2D([], [], color=INK, marker=mark, markersize=size, linestyle="", label=label)
        for mark, size, label in sizes
    ]
    return legend_above(figure, handles)


def _marks(axis, table, x, by=None, label="", markers="o"):
    """Draw the mean factor over a parameter, with one marker per value of another; return the markers' handles."""
    handles, groups = [], table.groupby(by) if by else [(None, table)]
    for (value, part), look, marker in zip(groups, itertools.cycle(SERIES), itertools.cycle(markers), strict=False):
        color = look["color"] if by else INK
        for again, size in ((False, 3), (True, 5.5)):
            here = part[part["step"].str.endswith("again") == again]
            factor = here["mean_factor"].clip(upper=WORST)
            axis.plot(here[x], factor, marker, color=color, markersize=size, markeredgecolor="none")
        handles.append(Line2D([], [], color=color, marker=marker, linestyle="", label=label.format(value)))
    return handles if by else []


@drawn_from(
    "config", "scaled_iops", "policy", "response_ms", "response_ms_ci95", "low_ms", "high_ms", "published_ms",
    "low_pct", "high_pct",
)  # fmt: skip
def load_axis(table):
    """Responses near saturation over the load: model (filled) and paper (hollow).

    Vertical bars are 95 % confidence intervals over the seeds; the band is the model's response at the load factors
    that fit as well as the one chosen. Horizontal bars extend a published point over the same range of load.

    Parameters
    ----------
    table : DataFrame
        ``config, scaled_iops, policy, response_ms, response_ms_ci95, low_ms, high_ms, published_ms, low_pct,
        high_pct``.
    """
    configs = shown_configs(table)
    figure, axes = new_panels(PAGE, 2.6, len(configs))
    for axis, config in zip(axes, configs, strict=True):
        here = table[(table["config"] == config)]
        here = here[here["scaled_iops"] >= SATURATING * here["scaled_iops"].max()]
        for policy in policy_order(here["policy"]):
            part, look = here[here["policy"] == policy].sort_values("scaled_iops"), policy_line(policy)
            load, color = part["scaled_iops"], look["color"]
            axis.fill_between(load, part["low_ms"], part["high_ms"], color=color, alpha=0.15, linewidth=0)
            axis.plot(load, part["response_ms"], **look)
            low = np.maximum(part["response_ms"] - part["response_ms_ci95"], 0.02)
            axis.vlines(load, low, part["response_ms"] + part["response_ms_ci95"], color=color, linewidth=0.8)
            left, right = load * (1 + part["low_pct"] / 100), load * (1 + part["high_pct"] / 100)
            axis.hlines(part["published_ms"], left, right, color=color, linewidth=0.6)
            axis.plot(
                load,
                part["published_ms"],
                **{**look, "linestyle": "", "markerfacecolor": "white", "markeredgecolor": color},
            )
        axis.set(title=CONFIGS[config], xlabel="Scaled IOPS", ylabel="Response (ms)", yscale="log")
        plain_ticks(axis.yaxis, LogLocator(subs=(1, 2, 5)))
    handles = [Line2D([], [], **policy_line(policy)) for policy in policy_order(table["policy"])]
    mark = {"color": INK, "linestyle": "", "marker": "o", "markerfacecolor": "white", "label": "published"}
    return legend_above(figure, [*handles, Line2D([], [], **mark)])
