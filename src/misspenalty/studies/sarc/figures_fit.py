"""The map of the SARC study's fit: which points were tried, and which of the parameters trade off."""

import itertools

import numpy as np
from matplotlib.lines import Line2D

from misspenalty.plotting.parts import SERIES, legend_above
from misspenalty.plotting.style import INK, PAGE, need, new_figure, styled

WORST = 3.0  # mean factor beyond which the map tells nothing apart
MAP = ("load_factor", "host_slots", "footprint_sensitive_gb", "insertion")


@styled
def fit_grid(table):
    """Points that the fit tried, and the mean factor between model and paper at each.

    Left: the load, the mean factor over the load factor, a colour per number of host slots; small marks are points of
    the search in short phases, large ones those in the study's own. Right: the space, where the size of a mark and its
    colour tell the mean factor. A cross is the point taken. A valley means that two parameters trade off.

    Parameters
    ----------
    table : DataFrame
        ``step, phases, mean_factor, load_factor, host_slots, footprint_sensitive_gb, insertion``.
    """
    need(table, ["step", "phases", "mean_factor", *MAP], "fit_grid")
    figure = new_figure(PAGE, 2.5)
    left, right = figure.subplots(1, 2)
    load, space = (table[table["step"] == step] for step in ("load", "space"))
    handles = []
    for (slots, part), look in zip(load.groupby("host_slots"), itertools.cycle(SERIES), strict=False):
        for phases, size in (("short", 2.5), ("whole", 5)):
            here = part[part["phases"] == phases]
            x, y = here["load_factor"], here["mean_factor"].clip(upper=WORST)
            left.plot(x, y, "o", color=look["color"], markersize=size, markeredgecolor="none")
        handles.append(Line2D([], [], color=look["color"], marker="o", linestyle="", label=f"{slots:g} host slots"))
    shades = np.log(space["mean_factor"].clip(upper=WORST))
    for phases, size in (("short", 10), ("whole", 40)):
        here = space["phases"] == phases
        right.scatter(
            space.loc[here, "footprint_sensitive_gb"],
            space.loc[here, "insertion"],
            s=size,
            c=shades[here],
            cmap="cividis_r",
            vmin=0,
            vmax=np.log(WORST),
            linewidths=0,
        )
    for axis, part, y in ((left, load, "mean_factor"), (right, space, "insertion")):
        whole = part[part["phases"] == "whole"]
        if len(whole):
            best = whole.loc[whole["mean_factor"].idxmin()]
            x = "load_factor" if axis is left else "footprint_sensitive_gb"
            axis.plot(best[x], best[y], "x", color=INK, markersize=7)
    left.set(title="load", xlabel="Load factor", ylabel=f"Mean factor (at most {WORST:g})")
    right.set(title="space", xlabel="Space (GB)", ylabel="Insertion (share of the cache)")
    figure.colorbar(right.collections[0], ax=right, label="ln(mean factor)")
    legend_above(figure, handles)
    return figure
