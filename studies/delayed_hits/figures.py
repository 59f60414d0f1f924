"""Draw the figures of the delayed-hits study from tidy tables."""

import itertools

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from misspenalty.plotting.parts import SERIES, legend_above
from misspenalty.plotting.style import GREY, INK, PAGE, drawn_from, new_panels, policy_name

TRACES = {"sample": "authors' sample", "syn_zipf": "Zipf", "syn_bursts": "bursts"}
MEAN, P99 = "#e8702a", "#d4e3f0"


@drawn_from("trace", "cache_pct", "fetch_steps", "policy", "gain_pct")
def gains(table):
    """Gain in mean latency from ranking by aggregate delay, over the fetch time: one row of panels per trace, and one
    line per cache size, in percent of the trace's blocks.

    Parameters
    ----------
    table : DataFrame
        ``trace, cache_pct, fetch_steps, policy, gain_pct``; see `misspenalty_studies.delayed_hits.tables.gains`.
    """
    traces, policies = (list(dict.fromkeys(table[column])) for column in ("trace", "policy"))
    figure, grid = new_panels(PAGE, 0.5 + 1.6 * len(traces), len(traces), len(policies), sharex=True, sharey=True)
    looks = dict(zip(sorted(set(table["cache_pct"])), SERIES, strict=False))
    for (trace, policy), axis in zip(itertools.product(traces, policies), grid.flat, strict=True):
        part = table[(table["trace"] == trace) & (table["policy"] == policy)]
        for size, line in part.groupby("cache_pct"):
            axis.plot(line["fetch_steps"], line["gain_pct"], linewidth=0.8, **looks[size])
        axis.axhline(0, color=GREY, linewidth=0.7)
        axis.set(xscale="log", title=f"{TRACES.get(trace, trace)}, {policy_name(policy)}")
        axis.xaxis.set_major_formatter(lambda steps, _: f"{steps:g}")
    figure.supxlabel("Fetch time (steps)", fontsize=7)
    figure.supylabel("Lower mean latency (%)", fontsize=7)
    return legend_above(figure, [Line2D([], [], label=f"cache of {size:g} %", **look) for size, look in looks.items()])


@drawn_from("trace", "cache_pct", "device", "mean_differs", "p99_differs", "slower_pct")
def disagreement(table):
    """Where the policy with the most hits is not the fastest: by mean, or by the 99th percentile only.

    There is one cell per trace, cache size and device. A number is the percentage by which the mean request is slower
    with the policy that has the most hits. Devices with a fixed time receive the requests at the trace's own times;
    drives serve 16 clients in a closed loop.

    Parameters
    ----------
    table : DataFrame
        ``trace, cache_pct, device, mean_differs, p99_differs, slower_pct``; see
        `misspenalty_studies.delayed_hits.tables.winners`.
    """
    devices = list(dict.fromkeys(table["device"]))
    rows = list(dict.fromkeys(zip(table["trace"], table["cache_pct"], strict=True)))
    figure, axis = new_panels(PAGE, 0.8 + 0.17 * len(rows))
    for cell in table.itertuples():
        x, y = devices.index(cell.device), rows.index((cell.trace, cell.cache_pct))
        colour = MEAN if cell.mean_differs else P99 if cell.p99_differs else "white"
        axis.barh(y, 0.94, left=x - 0.47, height=0.86, color=colour, edgecolor=GREY, linewidth=0.3)
        if cell.mean_differs:
            axis.text(x, y, f"{cell.slower_pct:.2g} %", ha="center", va="center", fontsize=7, color=INK)
    share = 100 * table.groupby("device", sort=False)[["mean_differs", "p99_differs"]].mean()
    names = [f"{device}\n{share.mean_differs[device]:.0f} % / {share.p99_differs[device]:.0f} %" for device in devices]
    axis.set_xticks(range(len(devices)), names)
    axis.set_yticks(range(len(rows)), [f"{trace}, {pct:g} %" for trace, pct in rows])
    axis.set(
        xlim=(-0.5, len(devices) - 0.5),
        ylim=(len(rows) - 0.5, -0.5),
        xlabel="Device; share of the cells by mean / by p99",
    )
    axis.grid(visible=False)
    axis.tick_params(length=0)
    axis.set_ylabel("Trace and cache size, % of its blocks")
    differ = 100 * np.mean(table["mean_differs"])
    entries = {
        f"most hits, not the fastest mean ({differ:.0f} % of the cells)": MEAN,
        "by the 99th percentile only": P99,
    }
    handles = [Patch(facecolor=c, edgecolor=GREY, linewidth=0.3, label=text) for text, c in entries.items()]
    return legend_above(figure, handles)
