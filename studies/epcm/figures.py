"""Draw the figures of the EPCM study, one function each; all take tables like those in ``results/epcm``."""

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from misspenalty.plotting.parts import legend_above, name_columns, stack
from misspenalty.plotting.style import GREY, INK, PAGE, PALE, PUBLISHED, drawn_from, new_panels

BENCHMARKS = {"andrew": "Andrew", "ld": "GNU ld", "glimpse": "Glimpse", "ssh": "SSH"}
MODELS = {  # displayed name, colour, hatch, marker
    "last_successor": ("last successor", "#c98a00", "....", "^"),
    "pcm": ("PCM", "#e8702a", "////", "s"),
    "epcm": ("EPCM", "#004c8c", "", "o"),
    "hot": ("hot cache", "#808080", "xxxx", "D"),
    "cold": ("cold cache", "#222222", "", "x"),
    "foresight": ("perfect foresight", "#009e73", "", "v"),
}
READINGS = {  # varied choices in words, by parameter; a colon is followed by yes, no or a name
    "threshold": "threshold {}",
    "most": "at most {} files per event",
    "partition": "{} nodes per partition",
    "corrected": "likelihoods by whole counts: {}",
    "product": "likelihoods multiplied: {}",
    "longest": "longest context only: {}",
    "temporaries": "temporary files: {}",
    "programs": "program files x {}",
    "seed": "placement by seed {}",
    "order": "order of files on disk: {}",
    "passes": "kept of two openings: {}",
    "training": "{} training runs",
    "head_start": "clock started after {} s",
    "resident": "in memory at the start: {}",
    "memory_mb": "{} MB of memory",
    "block_kb": "{} KB blocks",
    "separate_buffers": "separate buffer cache: {}",
    "cluster_pages": "clusters of {} pages",
    "most_ahead_pages": "read-ahead of {} pages",
    "read_call_us": "{} µs per read call",
    "copy_us_per_kb": "copy of {} µs/KB",
    "buffer_copy_us_per_kb": "buffer copy of {} µs/KB",
    "engine_us": "{} µs per open or exec",
    "writeback_age_s": "write-back after {} s",
    "request_sectors": "requests of {} sectors",
    "demand_first": "demand reads first: {}",
    "host_us": "host overhead of {} µs",
    "prefetch_kb": "prefetches of up to {} KB",
    "drive": "drive: {}",
}
SHORT = 0.025  # share of the axis; bars shorter than this are labelled with their values
KEYS = ["benchmark", "model", "partition_size", "model_order"]


def _bar(model):
    name, colour, hatch, _ = MODELS[model]
    plain = model == "epcm"
    return {"facecolor": colour if plain else "white", "edgecolor": colour, "hatch": hatch, "label": name}


def _name(row):
    """Return the name of a bar as the paper writes it: ps/mo, with P or E before it."""
    if row["model"] in ("pcm", "epcm"):
        return f"{row['model'][0].upper()} {row['partition_size']:.0f}/{row['model_order']:.0f}"
    return {"last_successor": "last succ."}.get(row["model"], row["model"])


@drawn_from(*KEYS, "buffer_copy", "elapsed_reduction_s", "read_latency_us", "elapsed_reduction_s_ci95")
def fig7(table, baselines, reductions):
    """Reductions of the elapsed time and of the mean time of a read call, compared with the cold run, for every
    predictor by partition size and model order (P: PCM, E: EPCM), and for a hot cache (Figure 7).

    Short dashes show the reductions without the buffer-to-page copy of Linux 2.2. The value of a bar is written where
    the bar is too short to be seen. In the panels of elapsed time,
    whiskers are 95 % confidence intervals, and the dashed line is the total I/O wait of the cold run. The paper prints
    the values of the best EPCM, mostly without its setting, and of the hot cache. The paper's best EPCM is drawn at the
    setting that is best here.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/fig7.csv``.
    baselines, reductions : DataFrame
        ``studies/epcm/published/baselines.csv`` and ``reductions.csv``: the values that the paper prints for the cold
        and the hot run of each workload, and for the best EPCM.
    """
    names = [name for name in BENCHMARKS if name in set(table["benchmark"])]
    figure, axes = new_panels(PAGE, 0.35 + 1.65 * len(names), len(names), 2)
    for row, name in enumerate(names):
        mine = table[table["benchmark"] == name]
        elapsed, read = axes[row]
        _reductions(elapsed, mine, "elapsed_reduction_s", "elapsed_reduction_s_ci95")
        _reductions(read, _read_reductions(mine), "read_reduction_us", None)
        cold = mine[(mine["model"] == "cold") & mine["buffer_copy"]].iloc[0]
        elapsed.axhline(cold["io_wait_s"], color=GREY, linestyle="--", linewidth=0.8)
        elapsed.set_title(f"{BENCHMARKS[name]}: elapsed time", fontsize=7)
        read.set_title(f"{BENCHMARKS[name]}: read calls", fontsize=7)
        elapsed.set_ylabel("Reduction (s)")
        read.set_ylabel("Reduction (µs)")
        _published(axes[row], mine, baselines, reductions)
        for axis in (elapsed, read):
            _write_short(axis)
    entries = [Patch(linewidth=0.6, **_bar(model)) for model in ("last_successor", "pcm", "epcm", "hot")]
    entries.append(Line2D([], [], color=INK, marker="_", linestyle="", markersize=7, label="without buffer copy"))
    entries.append(Line2D([], [], color=GREY, linestyle="--", linewidth=0.8, label="cold I/O wait"))
    entries.append(Line2D([], [], color=PUBLISHED, marker="D", linestyle="", label="published"))
    return legend_above(figure, entries)


def _read_reductions(table):
    """Return the table with the reduction of the mean time of a read call against the cold run."""
    cold = table[table["model"] == "cold"].set_index("buffer_copy")["read_latency_us"]
    return table.assign(read_reduction_us=table["buffer_copy"].map(cold) - table["read_latency_us"])


def _reductions(axis, table, column, spread):
    """Draw bars with the buffer copy, and dashes without it."""
    without = table.loc[~table["buffer_copy"], [*KEYS[1:], column]].rename(columns={column: "without"})
    bars = _ordered(table).merge(without, how="left", on=KEYS[1:])
    for at, (_, row) in enumerate(bars.iterrows()):
        axis.bar(at, row[column], 0.78, **_bar(row["model"]))
        if spread and np.isfinite(row[spread]):
            axis.errorbar(at, row[column], row[spread], color=INK, linewidth=0.7, capsize=1.5)
        axis.plot([at - 0.39, at + 0.39], [row["without"]] * 2, color=INK, linewidth=1.0, zorder=4)
    name_columns(axis, [_name(row) for _, row in bars.iterrows()], rotation=90)
    axis.axhline(0, color=INK, linewidth=0.6)


def _write_short(axis):
    """Write, in one panel, the values of the bars that are too short to be seen."""
    low, high = axis.get_ylim()
    for bars in axis.containers:
        for bar in getattr(bars, "patches", ()):
            value = bar.get_height()
            if abs(value) < SHORT * (high - low):
                place = (bar.get_center()[0], max(value, 0))
                text = f"{value:.0f}" if abs(value) >= 10 else f"{value:.1g}"
                axis.annotate(
                    text.replace("-", "−"), place, (0, 4), textcoords="offset points", ha="center", fontsize=7
                )


def _ordered(table):
    """Return the rows with the buffer copy that have a bar, from left to right."""
    bars = table[(table["model"] != "cold") & table["buffer_copy"]]
    place = bars["model"].map({"last_successor": 0, "pcm": 1, "epcm": 2, "hot": 3})
    return bars.assign(place=place).sort_values(["place", "partition_size", "model_order"], kind="stable")


def _published(axes, table, baselines, reductions):
    """Draw the printed values at the bars that they are compared with: EPCM's best one and the hot cache's."""
    name = table["benchmark"].iloc[0]
    base = baselines[baselines["benchmark"] == name].set_index(["quantity", "caches"])["value"]
    best = reductions[(reductions["benchmark"] == name) & (reductions["model"] == "epcm")]
    best = best.set_index("quantity")["value"] / 100
    bars = _ordered(_read_reductions(table)).reset_index(drop=True)
    epcm = bars["model"] == "epcm"
    columns = {"elapsed": "elapsed_reduction_s", "read_latency": "read_reduction_us"}
    for axis, (quantity, column) in zip(axes, columns.items(), strict=True):
        cold = base[quantity, "cold"]
        values = [cold * best[f"{quantity.removesuffix('_latency')}_reduction"], cold - base[quantity, "hot"]]
        places = [bars.loc[epcm, column].idxmax(), len(bars) - 1]
        look = {"marker": "D", "markersize": 4, "linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.7}
        axis.plot(places, values, color=PUBLISHED, zorder=5, **look)


@drawn_from("run", "bucket_low_us", "bucket_high_us", "events")
def fig8(table):
    """Read calls of one run of the Andrew benchmark by the time they took, with a hot cache and with EPCM (Figure 8).

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/fig8.csv``.
    """
    figure, axis = new_panels(PAGE, 2.1)
    looks = {"hot": ("hot", -0.2), "epcm": ("epcm", 0.2)}
    ends = sorted(set(table["bucket_high_us"]))
    for run, (model, shift) in looks.items():
        part = table[table["run"] == run].set_index("bucket_high_us")["events"].reindex(ends)
        bars = axis.bar(np.arange(len(ends)) + shift, part, 0.38, **_bar(model))
        axis.bar_label(bars, [f"{n:.0f}" if n else "" for n in part], fontsize=7, padding=2, rotation=90)
    lows = table.groupby("bucket_high_us")["bucket_low_us"].first()
    name_columns(axis, [f"{lows[end]}–{end}" for end in ends], rotation=30, ha="right")
    axis.set(xlabel="Time of the read call (µs)", ylabel="Read calls")
    return legend_above(figure, [Patch(linewidth=0.6, **_bar(model)) for model in looks])


_PARTS = {  # looks of the components: processor time is dark or plain, waiting pale and hatched
    "compute": {"facecolor": PALE, "edgecolor": "#909090"},
    "read_call": {"facecolor": "#004c8c", "edgecolor": "white"},
    "copy_read": {"facecolor": "#56b4e9", "edgecolor": "white"},
    "copy_fault": {"facecolor": "#a8d5f2", "edgecolor": "white"},
    "copy_ahead": {"facecolor": "#009e73", "edgecolor": "white"},
    "engine": {"facecolor": "#3a7d44", "edgecolor": "white"},
    "wait_read": {"facecolor": "#f9d9c3", "edgecolor": "#e8702a", "hatch": "////"},
    "wait_fault": {"facecolor": "#efd3e6", "edgecolor": "#b0508f", "hatch": "\\\\\\\\"},
    "wait_open": {"facecolor": "#fff3d6", "edgecolor": "#c98a00", "hatch": "...."},
    "wait_exec": {"facecolor": "#ead9ff", "edgecolor": "#6b4c9a", "hatch": "----"},
    "wait_other": {"facecolor": "white", "edgecolor": "#222222", "hatch": "xxxx"},
}
_WORDS = {
    "read_call": "read calls",
    "copy_read": "copies in reads",
    "copy_fault": "copies in faults",
    "copy_ahead": "copies by the engine",
    "engine": "model, engine",
    "wait_read": "wait: read",
    "wait_fault": "wait: page fault",
    "wait_open": "wait: path, inode",
    "wait_exec": "wait: exec",
    "wait_other": "wait: other",
}


@drawn_from(*KEYS, "buffer_copy", "component", "s")
def components(table):
    """Elapsed time without compute, part by part: processor time of read calls, copies and the prefetch engine, and I/O
    wait. Components that take no time are left out.

    For PCM and EPCM, the setting of the smallest order is shown for each partition size.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/components.csv``; only the runs with the buffer copy are shown.
    """
    table = table[table["buffer_copy"] & (table["component"] != "compute")]
    names = [name for name in BENCHMARKS if name in set(table["benchmark"])]
    figure, axes = new_panels(PAGE, 0.6 + 1.65 * -(-len(names) // 2), -(-len(names) // 2), min(2, len(names)))
    smallest = table.groupby(["benchmark", "model", "partition_size"], dropna=False)["model_order"].transform("min")
    table = table[table["model_order"].isna() | (table["model_order"] == smallest)]
    table = table.assign(bar=[_name(row) for _, row in table.iterrows()])
    filled = set(table.loc[table["s"] > 0, "component"])
    looks = {name: look for name, look in _PARTS.items() if name in filled}
    for axis, name in zip(axes.flat, names, strict=False):
        mine = table[table["benchmark"] == name]
        wide = mine.pivot_table(index="bar", columns="component", values="s", sort=False)
        stack(axis, wide[list(looks)], looks)
        axis.set_title(BENCHMARKS[name], fontsize=7)
        axis.set_xlabel("Elapsed time without compute (s)")
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    handles = [Patch(label=_WORDS[name], linewidth=0.4, **look) for name, look in looks.items()]
    return legend_above(figure, handles, columns=5)


@drawn_from(*KEYS, "varied", "parameter", "value", "io_reduction_pct")
def sensitivity(table, benchmark="andrew"):
    """Share of the Andrew benchmark's I/O wait that each model removes when one choice is made differently, in the last
    three recorded runs: PCM has the setting 64/4, EPCM 64/45, and perfect foresight knows 64 events.

    The first row has every choice as judged; dotted lines mark its values.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/sensitivity.csv``.
    benchmark : str
        The workload that is shown.
    """
    table = table[(table["benchmark"] == benchmark) & ~table["model"].isin(["cold", "hot"])]
    table = table.assign(value=table["value"].fillna(""))  # the rows of the criterion itself have no value
    told = table[table["model"] == "foresight"]
    table = table[(table["model"] != "foresight") | (table["model_order"] == told["model_order"].max())]
    readings = list(dict.fromkeys(zip(table["varied"], table["parameter"], table["value"], strict=True)))
    halves = np.array_split(np.arange(len(readings)), 2)
    figure, axes = new_panels(PAGE, 0.5 + 0.145 * len(halves[0]), 2, sharex=True)
    shown = [model for model in ("last_successor", "pcm", "epcm", "foresight") if model in set(table["model"])]
    own = table[table["parameter"] == "none"].set_index("model")["io_reduction_pct"]
    for axis, half in zip(axes, halves, strict=True):
        for at, place in enumerate(half):
            what, parameter, value = readings[place]
            rows = table[(table["varied"] == what) & (table["parameter"] == parameter) & (table["value"] == value)]
            for _, row in rows.iterrows():
                _, colour, _, marker = MODELS[row["model"]]
                axis.plot(row["io_reduction_pct"], at, marker=marker, color=colour, linestyle="", markersize=3.4)
        for model in shown:
            axis.axvline(own.get(model, np.nan), color=MODELS[model][1], linewidth=0.6, linestyle=":")
        axis.set_yticks(range(len(half)), [_reading(*readings[place]) for place in half], fontsize=7)
        axis.set_ylim(len(halves[0]) - 0.5, -0.5)
        axis.axvline(0, color=INK, linewidth=0.6)
        axis.grid(axis="y", color=PALE, linewidth=0.4)
        axis.set_xlabel("I/O wait removed (%)")
    marks = [Line2D([], [], color=MODELS[m][1], marker=MODELS[m][3], linestyle="", label=MODELS[m][0]) for m in shown]
    return legend_above(figure, marks)


def _reading(what, parameter, value):
    """Describe a varied choice in words."""
    if parameter == "none":
        return "judged setting"
    words = READINGS.get(parameter, parameter.replace("_", " ") + " {}")
    if words.endswith(": {}"):
        value = {"true": "yes", "false": "no", "1": "yes", "0": "no"}.get(str(value).lower().removesuffix(".0"), value)
    try:
        value = f"{float(value):g}"
    except ValueError:
        value = {"true": "yes", "false": "no"}.get(value, value)
    return words.format(value)


@drawn_from(*KEYS, "io_wait_s")
def today(table):
    """The I/O wait that would be left today: the same recorded calls, with the recorded compute, on flash, with the
    page cache of a 6.x kernel as far as it is modelled. PCM has the setting 64/4, EPCM 64/45, and perfect foresight
    knows 64 events.

    The titles have the elapsed time of the cold run. No claim is judged by these results.

    Parameters
    ----------
    table : DataFrame
        ``results/epcm/today.csv``.
    """
    names = [name for name in BENCHMARKS if name in set(table["benchmark"])]
    figure, axes = new_panels(PAGE, 1.9, len(names))
    shown = ("cold", "last_successor", "pcm", "epcm", "foresight", "hot")
    for axis, name in zip(axes, names, strict=True):
        mine = table[table["benchmark"] == name]
        for at, model in enumerate(shown):
            rows = mine[mine["model"] == model]
            value = 1000 * rows["io_wait_s"].iloc[-1]
            axis.bar(at, value, 0.75, **_bar(model))
            words = f"{value:.0f}" if value >= 10 else f"{value:.1f}"
            axis.text(at, value, words, ha="center", va="bottom", fontsize=7)
        name_columns(axis, [MODELS[model][0] for model in shown], rotation=90)
        total = 1000 * mine.loc[mine["model"] == "cold", "elapsed_s"].iloc[0]
        axis.set_title(f"{BENCHMARKS[name]} ({total:.0f} ms cold)", fontsize=7)
        axis.margins(y=0.15)  # keeps the numbers below the title
    axes[0].set_ylabel("I/O wait (ms)")
    return figure
