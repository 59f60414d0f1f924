"""Draw AMP next to prefetchers of a fixed degree, a comparison that the SARC paper does not have."""

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator

from misspenalty.plotting.parts import legend_above, plain_ticks
from misspenalty.plotting.style import INK, PAGE, drawn_from, new_panels, policy_name
from misspenalty_studies.sarc.prefetchers import FIXED, POLICIES, STREAMS

CONFIGS = {  # label of the panel; range and ticks of the axis of factors
    "cache_sensitive": ("cache-sensitive", (0.5, 3), (0.5, 0.7, 1, 1.5, 2, 3)),
    "cache_insensitive": ("cache-insensitive", (0.85, 1.25), (0.9, 1, 1.1, 1.2)),
}
COLORS = dict(zip(FIXED, ("#5aa9e6", "#004c8c", "#e8702a"), strict=True))
LOOKS = {
    **{
        f"{kind}{degree}": {"color": color, "linestyle": line, "marker": mark, "label": f"{name}, {degree}"}
        for kind, name, line, mark in (("fs", "on misses", ":", "v"), ("fa", "ahead", "-", "^"))
        for degree, color in COLORS.items()
    },
    "amp": {"color": INK, "linestyle": "-", "marker": "o", "linewidth": 1.8, "label": "AMP"},
}
COLUMNS = ["workload", "load", "cache_mb", "policy", "prefetcher", "read_factor", "mb_per_s", "unused"]


@drawn_from(*COLUMNS)
def prefetchers(table):
    """AMP and prefetchers of a fixed degree, in front of two caches.

    The top row shows, for the study's own workload, the mean read response relative to that with SARC's prefetcher
    (ahead, 8), over the load. The bottom row shows, for a hundred sequential streams that ask for more than an array
    can deliver, the rate that they get and the share of the prefetched tracks that are evicted before a read, over the
    cache's size at full scale. Bars are 95 % confidence intervals over the seeds; "on misses" means prefetching a group
    only after a sequential miss. A bar that spans a whole panel means that the seeds disagree so much that their mean
    says little. Factors and parts of bars beyond the end of their axis are not shown.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty_studies.sarc.prefetchers.over_seeds`.
    """
    figure, grid = new_panels(PAGE, 4.2, 2, 4)
    own = table[table["workload"] != STREAMS]
    cases = [(config, policy) for config in CONFIGS for policy in POLICIES]
    for axis, (config, policy) in zip(grid[0], cases, strict=True):
        part = own[(own["workload"] == config) & (own["policy"] == policy)]
        _lines(axis, part, "load", "read_factor")
        label, limits, ticks = CONFIGS[config]
        axis.set_yscale("log")
        axis.set_ylim(*limits)
        plain_ticks(axis.yaxis, FixedLocator(ticks))
        axis.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}")
        axis.set_title(f"{label}\n{policy_name(policy)}", fontsize=7.5)
        axis.set_xlabel("Scaled IOPS (1000)")
    hundred = table[table["workload"] == STREAMS]
    hundred = hundred[hundred["load"] == hundred["load"].max()]
    cases = [(measure, policy) for measure in ("mb_per_s", "unused") for policy in POLICIES]
    for axis, (measure, policy) in zip(grid[1], cases, strict=True):
        _lines(axis, hundred[hundred["policy"] == policy], "cache_mb", measure)
        axis.set_xscale("log")
        plain_ticks(axis.xaxis, LogLocator(base=4, numticks=6))
        axis.set_title(f"100 streams\n{policy_name(policy)}", fontsize=7.5)
        axis.set_xlabel("Cache (MB)")
        axis.set_ylim(0, 1 if measure == "unused" else None)
    grid[0][0].set_ylabel("Read response, relative")
    grid[1][0].set_ylabel("Delivered (MB/s per array)")
    grid[1][2].set_ylabel("Evicted unread (share)")
    return legend_above(figure, [Line2D([], [], markersize=3.5, **look) for look in LOOKS.values()])


def _lines(axis, part, x, y):
    for prefetcher, look in LOOKS.items():
        line = part[part["prefetcher"] == prefetcher].sort_values(x)
        axis.plot(line[x], line[y], markersize=3.5, zorder=3 + (prefetcher == "amp"), **look)
        half = f"{y}_ci95"
        if half in line and line[half].notna().any():
            low = (line[y] - line[half]).clip(lower=1e-6)  # a logarithmic axis has no 0
            axis.vlines(line[x], low, line[y] + line[half], color=look["color"], linewidth=0.7, zorder=2)
