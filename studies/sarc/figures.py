"""Draw the figures of the SARC study from tidy tables.

Published values are drawn as dashed lines with hollow marks next to our results. Tables may be partial: missing rows
are not drawn.
"""

import itertools

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from misspenalty.plotting.parts import SERIES, legend_above, name_rows, parameter_words, plain_ticks
from misspenalty.plotting.style import COLUMN, GREY, INK, PAGE, drawn_from, new_panels, policy_line, policy_order

CONFIGS = {"cache_sensitive": "cache-sensitive", "cache_insensitive": "cache-insensitive"}
SLOWEST = 1000  # ms; slower points, where the backlog grows for the whole phase, are off the axis
FAR = 20  # largest ratio to the unvaried model's response that the sensitivity figure shows
READS = 0.4  # share of reads among the paper's requests
PURPOSES = {  # reads for the cache are blue, destaging is orange; prefetches and destage reads are hatched
    "demand_reads": {"facecolor": "#004c8c", "edgecolor": "#004c8c"},
    "prefetch_reads": {"facecolor": "#d4e3f0", "edgecolor": "#004c8c", "hatch": "...."},
    "destage_reads": {"facecolor": "#f9d9c3", "edgecolor": "#e8702a", "hatch": "////"},
    "destage_writes": {"facecolor": "#e8702a", "edgecolor": "#e8702a"},
}


def shown_configs(table):
    """Return the configurations that a table has, in their order."""
    return [config for config in CONFIGS if config in set(table["config"])]


def _lines(axis, table, x, y, error=None):
    """Draw one line per policy."""
    handles = []
    for policy in policy_order(table["policy"]):
        part = table[table["policy"] == policy].sort_values(x)
        look = policy_line(policy)
        handles += axis.plot(part[x], part[y], zorder=3, **look)
        if error in part and part[error].notna().any():
            low, high = np.maximum(part[y] - part[error], 0.02), part[y] + part[error]
            axis.vlines(part[x], low, high, color=look["color"], linewidth=0.8, zorder=2)
    return handles


def _response_axis(axis, *columns):
    """Set up a logarithmic axis of response times, up to `SLOWEST`."""
    top = max(column.max() for column in columns)
    bottom = min(column.min() for column in columns)
    axis.set_yscale("log")
    low, high = 0.7 * bottom, min(1.4 * top, SLOWEST)
    axis.set_ylim(low, high)
    plain_ticks(axis.yaxis, LogLocator(subs=(1, 2, 5) if high < 300 * low else (1,)))


@drawn_from("config", "scaled_iops", "policy", "read_ms", "write_ms")
def table2(table, published):
    """Mean read and write response times over load, for model and paper (Table II).

    Thin dashed lines with hollow marks are the printed values; bars are 95 % confidence intervals over the seeds. Eight
    parameters of the model were fitted to the rows of LRU Top and LRU Bottom (``data/calibration.yaml``); the rows of
    SARC are predicted.

    Parameters
    ----------
    table : DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms, read_ms_ci95, write_ms_ci95``.
    published : DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms``.
    """
    configs = shown_configs(table)
    figure, axes = new_panels(PAGE, 0.5 + 1.9 * len(configs), len(configs), 2)
    for row, config in zip(axes, configs, strict=True):
        part, printed = (frame[frame["config"] == config] for frame in (table, published))
        for axis, side in zip(row, ("read", "write"), strict=True):
            handles = _lines(axis, part, "scaled_iops", f"{side}_ms", f"{side}_ms_ci95")
            _published(axis, printed, f"{side}_ms")
            _response_axis(axis, part[f"{side}_ms"], printed[f"{side}_ms"])
            axis.set(title=f"{CONFIGS[config]}, {side}s", xlabel="Scaled IOPS", ylabel="Response (ms)")
    return legend_above(figure, [*handles, _published_mark("published")])


def _published(axis, printed, column):
    """Draw dashed lines with hollow marks, one per policy."""
    for policy in policy_order(printed["policy"]):
        line = printed[printed["policy"] == policy].sort_values("scaled_iops")
        look = {**policy_line(policy), "linestyle": (0, (2, 2)), "linewidth": 0.8, "markerfacecolor": "white"}
        axis.plot(line["scaled_iops"], line[column], **{**look, "markeredgecolor": look["color"]})


def _published_mark(label):
    mark = {"color": INK, "linestyle": (0, (2, 2)), "linewidth": 0.8, "marker": "o", "markerfacecolor": "white"}
    return Line2D([], [], label=label, **mark)


@drawn_from("config", "scaled_iops", "policy", "response_ms", "power")
def fig6(table, minutes, published):
    """The paper's Figure 6 from the model: overall response and power (throughput divided by response) over throughput,
    and tracks staged over time with the steps of the load schedule.

    The top row shows the cache-sensitive configuration, the bottom row the cache-insensitive one. Thin dashed lines
    with hollow marks are the paper's Table II weighted with 40 % reads, since the paper prints no values for its
    figure.

    Parameters
    ----------
    table : DataFrame
        ``config, scaled_iops, policy, response_ms, power``.
    minutes : DataFrame
        ``config, policy, minute, phase, stage_rate``.
    published : DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms``.
    """
    configs = shown_configs(table)
    published = published.assign(response_ms=READS * published["read_ms"] + (1 - READS) * published["write_ms"])
    published["power"] = published["scaled_iops"] / published["response_ms"]
    figure, axes = new_panels(PAGE, 0.4 + 1.8 * len(configs), len(configs), 3)
    for row, config in zip(axes, configs, strict=True):
        part, printed = (frame[frame["config"] == config] for frame in (table, published))
        handles = _lines(row[0], part, "scaled_iops", "response_ms", "response_ms_ci95")
        _published(row[0], printed, "response_ms")
        _response_axis(row[0], part["response_ms"], printed["response_ms"])
        _lines(row[1], part, "scaled_iops", "power")
        _published(row[1], printed, "power")
        over_time = minutes[minutes["config"] == config].assign(stage_rate=lambda frame: frame["stage_rate"] / 1000)
        _over_time(row[2], over_time, "stage_rate")
        row[0].set(title=CONFIGS[config], xlabel="Scaled IOPS", ylabel="Response (ms)")
        row[1].set(xlabel="Scaled IOPS", ylabel="Power (scaled IOPS / ms)", ylim=(0, None))
        row[2].set(ylabel="Tracks staged (1000/s)", ylim=(0, None))
    return legend_above(figure, [*handles, _published_mark("published (Table II, 40 % reads)")])


def _over_time(axis, minutes, column):
    """Draw one line per policy over time, with the schedule's phases as vertical lines."""
    for policy in policy_order(minutes["policy"]):
        line = minutes[minutes["policy"] == policy].sort_values("minute")
        look = policy_line(policy)
        axis.plot(line["minute"], line[column], color=look["color"], linestyle=look["linestyle"], linewidth=0.9)
    one = minutes[minutes["policy"] == minutes["policy"].iloc[0]]
    for begin in one.groupby("phase")["minute"].min():
        axis.axvline(begin - 1, color=GREY, linewidth=0.5, linestyle=":", zorder=1)
    axis.set(xlabel="Time (min)", xlim=(0, minutes["minute"].max()))


@drawn_from("config", "policy", "minute", "phase", "seq_share", "ratio")
def lists(minutes):
    """The paper's Figures 7 and 8 from the model: SEQ's share of the cache over time, and the ratio 2 s deltaL / L,
    which SARC steers towards 1 and which is only observed under the two LRU variants.

    The ratio is shown as a running median over five minutes; values below 0.01, here all 0, are drawn at 0.01. Grey
    lines mark the steps of the load schedule.

    Parameters
    ----------
    minutes : DataFrame
        ``config, policy, minute, phase, seq_share, ratio``.
    """
    configs = shown_configs(minutes)
    figure, axes = new_panels(PAGE, 0.4 + 1.7 * len(configs), len(configs), 2)
    for row, config in zip(axes, configs, strict=True):
        part = minutes[minutes["config"] == config].assign(percent=lambda frame: 100 * frame["seq_share"])
        _over_time(row[0], part, "percent")
        row[0].set(title=CONFIGS[config], ylabel="SEQ (% of the cache)", ylim=(0, 100))
        smooth = part.sort_values("minute")
        smooth["ratio"] = smooth.groupby("policy")["ratio"].transform(lambda ratio: ratio.rolling(5, 1).median())
        _over_time(row[1], smooth.assign(ratio=smooth["ratio"].clip(0.01)), "ratio")
        row[1].axhline(1, color=INK, linewidth=0.6)
        row[1].set(ylabel="Ratio 2 s ΔL / L", yscale="log", ylim=(0.01, None))
        plain_ticks(row[1].yaxis)
    looks = [policy_line(policy) | {"marker": ""} for policy in policy_order(minutes["policy"])]
    return legend_above(figure, [Line2D([], [], **look) for look in looks])


STRATEGIES = {
    "synchronous": "synchronous",
    "asynchronous": "synchronous and asynchronous, plain LRU",
    "asynchronous_remedy": "the same with the remedy",
}


@drawn_from("strategy", "degree", "tracks_a_stream", "misses_pct")
def anomaly(table):
    """Sequential misses of interleaved streams in one LRU list, by cache size (the paper's Figures 1 and 3).

    Synchronous prefetching of m tracks leaves one miss in m + 1 (dotted), however large the cache is. Asynchronous
    prefetching leaves almost none in a large cache, but with plain LRU, unread tracks are evicted from a smaller one;
    the remedy keeps them longer.

    Parameters
    ----------
    table : DataFrame
        ``strategy, degree, tracks_a_stream, misses_pct``.
    """
    degrees = sorted(set(table["degree"]))
    figure, axes = new_panels(PAGE, 2.1, len(degrees), sharey=True)
    for axis, degree in zip(axes, degrees, strict=True):
        part = table[table["degree"] == degree]
        for (strategy, name), look in zip(STRATEGIES.items(), itertools.cycle(SERIES), strict=False):
            line = part[part["strategy"] == strategy].sort_values("tracks_a_stream")
            axis.plot(line["tracks_a_stream"], line["misses_pct"], label=name, markersize=2.5, **look)
        axis.axhline(100 / (degree + 1), color=INK, linewidth=0.7, linestyle=":")
        axis.set(title=f"groups of {degree} tracks", xlabel="Cache (tracks per stream)", ylim=(0, None))
    axes[0].set_ylabel("Sequential misses (% of the tracks)")
    handles = [*axes[0].get_lines()[:3], Line2D([], [], color=INK, linestyle=":", label="1 / (m + 1)")]
    return legend_above(figure, handles)


@drawn_from("config", "scaled_iops", "policy", "response_ms")
def other_policies(table):
    """Overall response over throughput with policies that the paper does not have, next to the paper's own, all with
    the same prefetcher and workload.

    The further policies see a prefetch as a reference, and keep no sequential list. Responses above 1000 ms, where the
    backlog grows for the whole phase, are off the axis.

    Parameters
    ----------
    table : DataFrame
        ``config, scaled_iops, policy, response_ms``.
    """
    configs = shown_configs(table)
    figure, axes = new_panels(PAGE, 2.4, len(configs))
    for axis, config in zip(axes, configs, strict=True):
        part = table[table["config"] == config]
        handles = _lines(axis, part, "scaled_iops", "response_ms")
        _response_axis(axis, part["response_ms"])
        axis.set(title=CONFIGS[config], xlabel="Scaled IOPS", ylabel="Response (ms)")
    return legend_above(figure, handles)


@drawn_from("parameter", "value", "config", "policy", "response_ms")
def sensitivity(table, orderings):
    """Overall response near the peak as one unknown of the machine varies, relative to the unvaried model.

    A shaded line is a value at which the order of the three policies changes (responses within 5 % of each other count
    as equal); an arrow marks a response more than twenty times as long, or less than a twentieth as long.

    Parameters
    ----------
    table : DataFrame
        ``parameter, value, config, policy, response_ms``; parameter ``none`` is the unvaried model.
    orderings : DataFrame
        ``parameter, value, config, changed``; a shaded line is a value that changes the order of the policies.
    """
    wide = table.pivot_table(
        index=["parameter", "value", "config"], columns="policy", values="response_ms", sort=False
    ).reset_index()
    configs = shown_configs(table)
    names = list(dict.fromkeys(zip(wide["parameter"], wide["value"], strict=True)))
    names = [name for name in names if name[0] != "none"]
    figure, axes = new_panels(PAGE, 0.8 + 0.125 * len(names), len(configs), sharey=True)
    policies = policy_order(table["policy"])
    changed = {tuple(row) for row in orderings.loc[orderings["changed"], ["config", "parameter", "value"]].to_numpy()}
    for axis, config in zip(axes, configs, strict=True):
        part = wide[wide["config"] == config].set_index(["parameter", "value"])[policies]
        own = part[part.index.get_level_values(0) == "none"].iloc[0]
        over_all = part / own
        for place, name in enumerate(names):
            over = over_all.loc[name]
            if (config, *name) in changed:
                axis.axhspan(place - 0.45, place + 0.45, color="#fbe7c6", linewidth=0, zorder=0)
            for shift, policy in zip(np.linspace(-0.25, 0.25, len(policies)), policies, strict=True):
                look = policy_line(policy)
                x, marker = np.clip(over[policy], 1 / FAR, FAR), look["marker"]
                if x != over[policy]:
                    marker = ">" if x == FAR else "<"
                axis.plot(x, place + shift, color=look["color"], marker=marker, markersize=2.8, markeredgecolor="none")
        axis.axvline(1, color=GREY, linewidth=0.6)
        over_all = over_all.clip(1 / FAR, FAR)
        axis.set(title=CONFIGS[config], xscale="log", xlabel="Response relative to the unvaried model")
        axis.set_xlim(min(0.5, 0.9 * over_all.min().min()), max(2, 1.1 * over_all.max().max()))
        plain_ticks(axis.xaxis)
        axis.grid(True, axis="both")
    name_rows(axes[0], [_with_value(*name) for name in names], fontsize=7)
    handles = [Line2D([], [], **{**policy_line(policy), "linestyle": ""}) for policy in policies]
    handles.append(Patch(color="#fbe7c6", label="different order (within 5 % counts as a tie)"))
    return legend_above(figure, handles)


UNITS = {  # units of the parameters whose names do not end in a unit
    "threshold": "tracks",
    "degree": "tracks",
    "host_slots": "requests per array",
    "contention_us": "µs per 1000 requests/s",
    "drive_window": "operations",
    "destages": "stripes per array",
    "trigger": "of the group",
    "insertion": "of the cache",
}


def _with_value(parameter, value):
    words, unit = parameter_words(parameter)
    return f"{words} = {value} {UNITS.get(parameter, unit)}".rstrip()


@drawn_from("config", "footprint_gb", "threshold", "false_pct", "missed_pct", "mean_error_pct")
def detection(table):
    """Accesses to tracks that sequential detection misjudges, by threshold, in LRU Top's cache at the lowest load.

    There is one line per kind of error and size of the space tried, which the marker shows. The dotted line marks the
    threshold with the lowest mean error.

    Parameters
    ----------
    table : DataFrame
        ``config, footprint_gb, threshold, false_pct, missed_pct, mean_error_pct``.
    """
    figure, axis = new_panels(COLUMN, 2.6)
    kinds = {"false_pct": ("random, labelled sequential", "-"), "missed_pct": ("of a stream, not detected", "--")}
    colors = dict(zip(shown_configs(table), (INK, GREY), strict=False))
    lines = [Line2D([], [], color=INK, linestyle=style, label=text) for text, style in kinds.values()]
    for ((config, gb), part), space in zip(
        table.groupby(["config", "footprint_gb"], sort=False), itertools.cycle(SERIES)
    ):
        part = part.sort_values("threshold")
        look = {"color": colors[config], "marker": space["marker"], "linewidth": 0.8}
        for column, (_, style) in kinds.items():
            axis.plot(part["threshold"], part[column], linestyle=style, **look)
        lines.append(Line2D([], [], linestyle="", label=f"{CONFIGS[config].removeprefix('cache-')}, {gb:g} GB", **look))
    axis.axvline(table.loc[table["mean_error_pct"].idxmin(), "threshold"], color=INK, linewidth=0.6, linestyle=":")
    axis.set_yscale("symlog", linthresh=0.1)
    axis.set(xlabel="Threshold (tracks)", ylabel="Accesses misjudged (%)", ylim=(0, None))
    axis.set_yticks([tick for tick in (0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if tick <= axis.get_ylim()[1]])
    axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    return legend_above(figure, lines, 2)


@drawn_from("config", "scaled_iops", "policy", "divisor", "response_ms")
def scale(table):
    """Overall response over load at several scales of the model.

    Marks are filled at the smallest scale and hollow at the others.

    Parameters
    ----------
    table : DataFrame
        ``config, scaled_iops, policy, divisor, response_ms``.
    """
    configs, divisors = shown_configs(table), sorted(set(table["divisor"]), reverse=True)
    figure, axes = new_panels(PAGE if len(configs) > 1 else COLUMN, 2.2, len(configs))
    for axis, config in zip(axes, configs, strict=True):
        part = table[table["config"] == config]
        for policy, (place, divisor) in itertools.product(policy_order(part["policy"]), enumerate(divisors)):
            line = part[(part["policy"] == policy) & (part["divisor"] == divisor)].sort_values("scaled_iops")
            look = policy_line(policy)
            if place:
                look |= {"markerfacecolor": "white", "markeredgecolor": look["color"], "linewidth": 0.7}
            axis.plot(line["scaled_iops"], line["response_ms"], **look)
        _response_axis(axis, part["response_ms"])
        axis.set(title=CONFIGS[config], xlabel="Scaled IOPS", ylabel="Response (ms)")
    handles = [Line2D([], [], **policy_line(policy)) for policy in policy_order(table["policy"])]
    for place, divisor in enumerate(divisors):
        face = "white" if place else INK
        look = {"color": INK, "marker": "o", "markerfacecolor": face, "linestyle": "", "label": f"1/{divisor}"}
        handles.append(Line2D([], [], **look))
    return legend_above(figure, handles)


def _needed(policy):
    """Return the keywords that draw the mark of a policy over its bars."""
    look = {key: value for key, value in policy_line(policy).items() if key in ("label", "color", "marker")}
    return {**look, "label": f"{look['label']}, allowed", "linestyle": "", "markersize": 3.5, "markeredgecolor": INK}


@drawn_from("config", "scaled_iops", "policy", *PURPOSES, "needed_operations")
def disk_operations(table):
    """Operations of the drives per request by purpose, and the number that the published response would allow (marks).

    A mark below the top of its bar means that the paper's drives had less to do than the model's. There is no mark
    where the published response lies outside the model's range.

    Parameters
    ----------
    table : DataFrame
        ``config, scaled_iops, policy, demand_reads, prefetch_reads, destage_reads, destage_writes,
        needed_operations``.
    """
    configs = shown_configs(table)
    figure, axes = new_panels(PAGE, 2.4, len(configs), sharey=True)
    for axis, config in zip(axes, configs, strict=True):
        part = table[table["config"] == config]
        loads, policies = sorted(set(part["scaled_iops"])), policy_order(part["policy"])
        for shift, policy in enumerate(policies):
            own = part[part["policy"] == policy].sort_values("scaled_iops")
            place = [loads.index(load) + (shift - (len(policies) - 1) / 2) * 0.27 for load in own["scaled_iops"]]
            base = np.zeros(len(own))
            for purpose, look in PURPOSES.items():
                axis.bar(place, own[purpose], 0.24, bottom=base, linewidth=0.3, **look)
                base += own[purpose].to_numpy()
            axis.plot(place, own["needed_operations"], zorder=4, **_needed(policy))
        axis.set(title=CONFIGS[config], xlabel="Scaled IOPS")
        axis.set_xticks(range(len(loads)), [f"{load:g}" for load in loads])
    axes[0].set_ylabel("Operations per request")
    bars = [Patch(label=purpose.replace("_", " "), linewidth=0.3, **look) for purpose, look in PURPOSES.items()]
    marks = [Line2D([], [], **_needed(policy)) for policy in policy_order(table["policy"])]
    return legend_above(figure, [*bars, *marks])
