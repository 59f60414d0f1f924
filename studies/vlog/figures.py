"""Draw the figures of the virtual-log study from tidy tables. Rows missing from a partial table are not drawn."""

import itertools

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from misspenalty.plotting.parts import SERIES, legend_above, name_columns, name_rows, plain_ticks, stack
from misspenalty.plotting.style import COLUMN, GREY, INK, PAGE, drawn_from, need, new_figure, new_panels, styled

PLATFORMS = {
    "sparc10_hp": "SPARC-10 + HP",
    "sparc10_seagate": "SPARC-10 + Seagate",
    "ultra170_seagate": "Ultra-170 + Seagate",
}
UPDATES = {"update_in_place": "in place", "virtual_log": "virtual log"}
SYSTEMS = {
    ("ufs", "regular"): "UFS, regular disk",
    ("ufs", "vld"): "UFS, virtual log",
    ("lfs", "regular"): "LFS, regular disk",
    ("lfs", "vld"): "LFS, virtual log",
}
CONDITIONS = {
    "none": "judged setting",
    "live_80pct": "80 % live",
    "no_map_sector": "no map sector",
    "short_head_switch": "short head switch",
    "contiguous_file": "file on an empty disk *",
    "emptied_tracks": "tracks emptied beforehand *",
    "filled_singly": "emptied tracks filled in turn *",
    "host_half": "host takes half the time",
    "host_quarter": "host takes a quarter of the time",
    "host_free": "host takes no time",
    "inode_written": "inode written too",
    "unaligned_blocks": "blocks begin at any sector",
    "updates_8kb": "updates of 8 KB (Ultra)",
}
_SHORT = {
    "no_map_sector": "no map",
    "short_head_switch": "short switch",
    "contiguous_file": "empty disk *",
    "emptied_tracks": "emptied *",
    "filled_singly": "filled *",
    "host_half": "half host time",
    "host_quarter": "quarter host time",
    "host_free": "no host time",
    "unaligned_blocks": "unaligned",
    "updates_8kb": "8 KB",
}
_PARTS = {  # component -> label, keywords
    "scsi_overhead": ("SCSI overhead", {"facecolor": "#d4e3f0", "edgecolor": "#004c8c", "hatch": "////"}),
    "transfer": ("transfer", {"facecolor": "#009e73", "edgecolor": "white"}),
    "locate": ("locate sectors", {"facecolor": "#004c8c", "edgecolor": "white"}),
    "other": ("other", {"facecolor": "#f9d9c3", "edgecolor": "#e8702a", "hatch": "xxxx"}),
}
LATER = {
    "disk_2015": "7200 rpm disk",
    "sata_ssd": "SATA flash",
    "sata_ssd_unbuffered": "SATA flash, without buffer",
    "nvme_ssd": "NVMe flash",
    "nvme_ssd_unbuffered": "NVMe flash, without buffer",
}
_LATER_PARTS = {
    "overhead_us": ("command", _PARTS["scsi_overhead"][1]),
    "transfer_us": ("transfer, programming", _PARTS["transfer"][1]),
    "locate_us": ("locate", _PARTS["locate"][1]),
    "wait_us": ("wait for older writes", {"facecolor": GREY, "edgecolor": "white"}),
    "other_us": ("host", _PARTS["other"][1]),
}
_BARS = [  # the four systems
    {"facecolor": "#f9d9c3", "edgecolor": "#e8702a", "hatch": "////"},
    {"facecolor": "#e8702a", "edgecolor": "#e8702a"},
    {"facecolor": "#d4e3f0", "edgecolor": "#004c8c", "hatch": "\\\\\\\\"},
    {"facecolor": "#004c8c", "edgecolor": "#004c8c"},
]
_SYSTEM_LINES = {  # in the colours of the bars: hollow marks for a regular disk, filled ones for the virtual log
    system: {
        "color": bar["edgecolor"],
        "marker": "s" if system[0] == "ufs" else "^",
        "linestyle": "--" if system[1] == "regular" else "-",
        "markerfacecolor": "white" if system[1] == "regular" else bar["facecolor"],
    }
    for system, bar in zip(SYSTEMS, _BARS, strict=True)
}


def platform_name(label):
    """Return a platform's name in figures."""
    return PLATFORMS.get(label, label.replace("_", " "))


def _line(i, **changes):
    return {**SERIES[i % len(SERIES)], "markeredgecolor": "white", **changes}


@drawn_from("platform", "system", "component", "ms")
def fig9(table):
    """Latency of a random synchronous 4 KB update by component, in place and through the virtual log, on three
    platforms; in ms and as shares (Figure 9).

    Some disk times are recollected, and host times are from general sources; nothing is fitted.

    Parameters
    ----------
    table : DataFrame
        ``platform, system, component, ms``.
    """
    wide = table.pivot_table(index=["platform", "system"], columns="component", values="ms", sort=False)
    wide = wide[list(_PARTS)]
    names = [f"{platform_name(platform)}, {UPDATES[system]}" for platform, system in wide.index]
    totals = wide.sum(axis=1).to_numpy()
    wide.index = names
    figure, axes = new_panels(PAGE, 0.7 + 0.21 * len(wide), 2, sharey=True)
    looks = {part: look for part, (_, look) in _PARTS.items()}
    stack(axes[0], wide, looks)
    for place, total in enumerate(totals):
        axes[0].text(total + 0.01 * totals.max(), place, f"{total:.2f}", va="center", fontsize=7)
    axes[0].set(xlabel="Latency of a 4 KB update (ms)", xlim=(0, 1.1 * totals.max()))
    stack(axes[1], 100 * wide.div(totals, axis=0), looks)
    axes[1].set(xlabel="Share of the latency (%)", xlim=(0, 100))
    return legend_above(figure, [Patch(label=label, linewidth=0.4, **look) for label, look in _PARTS.values()])


def _condition(conditions):
    parts = conditions.split("+")
    return CONDITIONS.get(conditions) or ", ".join(_SHORT.get(part, part) for part in parts)


@drawn_from("platform", "conditions", "conditions_changed", "speedup")
def speedup_conditions(table):
    """What the speed-up depends on: each condition alone (blue) and the best combination of each number of conditions
    (orange; best on the last platform), first with the host's time unchanged, then with the host's time reduced.

    The dotted line is the judged setting. Like every point, it is a mean of several runs, so it differs slightly from
    Table 2. Conditions with a star are measured over the first 500 updates, before the prepared state is used up. None
    of this affects a verdict.

    Parameters
    ----------
    table : DataFrame
        ``platform, conditions, conditions_changed, speedup``. Which combination is best is decided on the last
        platform.
    """
    platforms = list(dict.fromkeys(table["platform"]))
    keys = ["conditions_changed", "conditions"]
    wide = table.pivot_table(index=keys, columns="platform", values="speedup", sort=False)
    together = wide.loc[wide.index.get_level_values(keys[0]) > 1, platforms[-1]]
    faster = together.index.get_level_values("conditions").str.contains(r"\bhost_")
    best = [key for part in (together[~faster], together[faster]) for key in part.groupby(level=keys[0]).idxmax()]
    alone = [key for key in wide.index if key[0] <= 1]
    rows = wide.loc[[*alone, *best]]
    figure, axes = new_panels(PAGE, 0.7 + 0.155 * len(rows), len(platforms), sharey=True)
    for axis, platform in zip(axes, platforms, strict=True):
        base = wide.loc[(0, "none"), platform]
        for place, value in enumerate(rows[platform]):
            colour = INK if place == 0 else "#004c8c" if place < len(alone) else "#e8702a"
            axis.plot([base, value], [place, place], color=colour, linewidth=0.8)
            axis.plot(value, place, marker="o" if place < len(alone) else "s", color=colour, linestyle="")
            axis.annotate(
                f"{value:.2f}", (max(value, base), place), (5, 0), textcoords="offset points", va="center", fontsize=7
            )
        axis.axvline(base, color=GREY, linewidth=0.7, linestyle=":")
        axis.set(xlabel="Speed-up", title=platform_name(platform), xlim=(0, 1.25 * rows[platform].max()))
        axis.grid(axis="x")
    name_rows(axes[0], [_condition(conditions) for _, conditions in rows.index])
    return figure


@drawn_from("factor", "platform", "speedup", "other_ms", "locate_ms", "in_place_locate_pct")
def host_range(table):
    """Speed-up, the virtual log's host time over its time to locate sectors, and the share of an update in place that
    is spent on locating, when all host times are multiplied by a factor.

    The horizontal line in the middle panel marks where host time and time to locate are equal. At a factor of 1, host
    times have the values of ``studies/vlog/machine.yaml``.

    Parameters
    ----------
    table : DataFrame
        ``factor, platform, speedup, other_ms, locate_ms, in_place_locate_pct``.
    """
    columns = {
        "speedup": "Speed-up",
        "ratio": "Virtual log: other / locate",
        "in_place_locate_pct": "In place: locate (%)",
    }
    table = table.assign(ratio=table["other_ms"] / table["locate_ms"])
    figure, axes = new_panels(PAGE, 2.0, 3)
    for axis, (column, label) in zip(axes, columns.items(), strict=True):
        for i, (platform, line) in enumerate(table.groupby("platform", sort=False)):
            axis.plot(line["factor"], line[column], label=platform_name(platform), **_line(i))
        axis.axvline(1, color=GREY, linewidth=0.7, linestyle=":", zorder=1)
        axis.set(xlabel="Host times, multiples", ylabel=label, ylim=(0, None))
    axes[1].axhline(1, color=GREY, linewidth=0.7, zorder=1)
    return legend_above(figure, axes[0].get_lines()[: table["platform"].nunique()])


@styled
def fig1(table):
    """Time to locate a free sector against utilisation (Figure 1): the single-track and the cylinder model as lines,
    simulation over the whole slice as marks.

    The time to locate a free aligned 4 KB block is simulated too.

    Parameters
    ----------
    table : DataFrame
        ``drive, utilisation_pct, track_model_us, cylinder_model_us, simulated_us, block_simulated_us``.
    """
    looks = {
        "track_model_us": ("single-track model", {"color": GREY, "linestyle": "--"}),
        "cylinder_model_us": ("cylinder model", {"color": "#004c8c"}),
        "simulated_us": ("simulated, any sector", {"color": "#e8702a", "marker": "o", "linestyle": ""}),
        "block_simulated_us": ("simulated, 4 KB block", {"color": "#009e73", "marker": "^", "linestyle": ""}),
    }
    need(table, ["drive", "utilisation_pct", *looks], "fig1")
    return _panels(table, looks, "utilisation_pct", "Disk in use (%)", "Time to locate (µs)", log=True)


@styled
def fig2(table):
    """Time to locate a free sector when empty tracks are filled one after another, against the share of a track that is
    left free (Figure 2): the model with and without its correction for crowding, and simulation.

    Parameters
    ----------
    table : DataFrame
        ``drive, reserve_pct, random_model_us, model_us, simulated_us``.
    """
    looks = {
        "random_model_us": ("model, free sectors at random", {"color": GREY, "linestyle": "--"}),
        "model_us": ("model with the paper's correction", {"color": "#004c8c"}),
        "simulated_us": ("simulated", {"color": "#e8702a", "marker": "o", "linestyle": ""}),
    }
    need(table, ["drive", "reserve_pct", *looks], "fig2")
    return _panels(table, looks, "reserve_pct", "Left free on a track (%)", "Time to locate (µs)")


def _log_axis(axis):
    """Make an axis logarithmic, with enough tick labels."""
    axis.set_yscale("log")
    plain_ticks(axis.yaxis, LogLocator(subs=(1, 2, 5)))


def _panels(table, looks, x, xlabel, ylabel, log=False):
    """Draw one panel per drive, one line per column."""
    figure = new_figure(PAGE, 2.2)
    groups = list(table.groupby("drive", sort=False))
    axes = figure.subplots(1, len(groups), squeeze=False)[0]
    for axis, (drive, part) in zip(axes, groups, strict=True):
        for column, (label, look) in looks.items():
            axis.plot(part[x], part[column], label=label, **look)
        axis.set(title=drive, xlabel=xlabel)
        if log:
            _log_axis(axis)
        else:
            axis.set_ylim(0, None)
    axes[0].set_ylabel(ylabel)
    return legend_above(figure, axes[0].get_lines())


@drawn_from("platform", "file_system", "disk", "phase", "files_per_s")
def fig6(table):
    """Files of 1 KB created, read after memory was emptied, and deleted per second by UFS and LFS, each on a regular
    disk and on the virtual log (Figure 6).

    Parameters
    ----------
    table : DataFrame
        ``platform, file_system, disk, phase, files_per_s``.
    """
    return _bars(table, "files_per_s", "Files a second", log=True)


@drawn_from("platform", "file_system", "disk", "phase", "mb_per_s")
def fig7(table):
    """Throughput on a large file that is written and read in order, updated at random, and read again in order and at
    random, by UFS and LFS, each on a regular disk and on the virtual log (Figure 7).

    Parameters
    ----------
    table : DataFrame
        ``platform, file_system, disk, phase, mb_per_s``.
    """
    return _bars(table, "mb_per_s", "MB/s")


def _bars(table, column, label, log=False):
    """Draw one panel per platform, one group per phase, and one bar per system, or a mark on a logarithmic axis."""
    platforms, phases = (list(dict.fromkeys(table[key])) for key in ("platform", "phase"))
    systems = [system for system in SYSTEMS if system in set(zip(table["file_system"], table["disk"], strict=True))]
    figure, axes = new_panels(PAGE, 2.1, len(platforms))
    got = table.set_index(["platform", "file_system", "disk", "phase"])[column]
    width = 0.8 / len(systems)
    for (axis, platform), (i, phase), (j, system) in itertools.product(
        zip(axes, platforms, strict=True), enumerate(phases), enumerate(systems)
    ):
        if (platform, *system, phase) in got.index:
            x, look = i - 0.4 + (j + 0.5) * width, _BARS[list(SYSTEMS).index(system)]
            value = got[(platform, *system, phase)]
            if log:  # a logarithmic axis has no zero, so the length of a bar would mean nothing
                axis.plot(x, value, linewidth=0.8, **_SYSTEM_LINES[system])
            else:
                axis.bar(x, value, 0.92 * width, linewidth=0.4, **look)
    for axis, platform in zip(axes, platforms, strict=True):
        axis.set_title(platform_name(platform))
        name_columns(axis, [phase.replace("_", "\n") for phase in phases])
        if log:
            _log_axis(axis)
    axes[0].set_ylabel(label)
    patches = [Patch(label=SYSTEMS[system], linewidth=0.4, **_BARS[list(SYSTEMS).index(system)]) for system in systems]
    marks = [Line2D([], [], label=SYSTEMS[system], **_SYSTEM_LINES[system] | {"linestyle": ""}) for system in systems]
    return legend_above(figure, marks if log else patches)


@drawn_from("platform", "file_system", "disk", "utilisation_pct", "latency_ms")
def fig8(table):
    """Latency of a random synchronous 4 KB update against the share of the disk that the file occupies: UFS in place,
    UFS on the virtual log, and LFS behind a buffer of 6.1 MB that survives power failures (Figure 8). A point is
    missing where the file does not fit.

    Parameters
    ----------
    table : DataFrame
        ``platform, file_system, disk, utilisation_pct, latency_ms``.
    """
    groups = list(table.groupby("platform", sort=False))
    figure, axes = new_panels(PAGE, 2.1, len(groups))
    for axis, (platform, part) in zip(axes, groups, strict=True):
        for system, line in part.groupby(["file_system", "disk"], sort=False):
            axis.plot(line["utilisation_pct"], line["latency_ms"], label=SYSTEMS[system], **_SYSTEM_LINES[system])
        axis.set(title=platform_name(platform), xlabel="Disk in use (%)", ylim=(0, None))
    axes[0].set_ylabel("Latency of a 4 KB update (ms)")
    return legend_above(figure, axes[0].get_lines())


@styled
def fig10(lfs, log):
    """Latency of random updates in bursts against the pause between bursts (Figures 10 and 11), on the SPARC-10 with
    the Seagate disk unless the configuration names another platform first.

    LFS cleans segments in the pauses; the virtual log empties tracks.

    Parameters
    ----------
    lfs, log : DataFrame
        ``platform, burst_kb, idle_ms, latency_ms``; only the first platform is drawn.
    """
    titles = ("LFS, regular disk", "UFS, virtual log")
    figure, axes = new_panels(PAGE, 2.3, 2, sharey=True)
    for axis, table, title in zip(axes, (lfs, log), titles, strict=True):
        need(table, ["platform", "burst_kb", "idle_ms", "latency_ms"], title)
        part = table[table["platform"] == table["platform"].iloc[0]]
        colours = np.linspace(0.75, 0, part["burst_kb"].nunique())
        for i, (size, line) in enumerate(part.groupby("burst_kb")):
            shade = tuple(share + (1 - share) * colours[i] for share in (0.0, 0.3, 0.55))
            look = {**SERIES[i % len(SERIES)], "color": shade, "markeredgecolor": "white"}
            axis.plot(line["idle_ms"] / 1000, line["latency_ms"], label=f"{size:g} KB", **look)
        axis.set(title=title, xlabel="Pause between bursts (s)", ylim=(0, None))
    axes[0].set_ylabel("Latency of a 4 KB update (ms)")
    return legend_above(figure, [Line2D([], [], linestyle="", label="burst"), *axes[0].get_lines()])


@drawn_from("platform", "system", *_LATER_PARTS)
def what_if(table):
    """Updates like those of Table 2, but of a file that takes 80 % of the blocks, on a 7200 rpm SATA disk and on SATA
    and NVMe flash, with a host of 2015, by component; scales differ.

    The label "without buffer" means that a write is complete only once it is on the flash, not when it is in the buffer
    that survives power failures. On flash, which maps its blocks anyway, the virtual log only adds its map sector to
    the drive's own work. None of these numbers is published, and no claim is judged by them.

    Parameters
    ----------
    table : DataFrame
        ``platform, system, overhead_us, transfer_us, locate_us, wait_us, other_us``.
    """
    platforms = list(dict.fromkeys(table["platform"]))
    figure = new_figure(COLUMN, 0.7 + 0.62 * len(platforms))
    axes = figure.subplots(len(platforms), 1, squeeze=False)[:, 0]
    shown = {part: both for part, both in _LATER_PARTS.items() if table[part].any()}
    looks = {part: look for part, (_, look) in shown.items()}
    for axis, platform in zip(axes, platforms, strict=True):
        part = table[table["platform"] == platform].set_index("system")[list(shown)]
        ends = stack(axis, part.rename(index=UPDATES), looks)
        for place, end in enumerate(ends):
            axis.text(end + 0.01 * ends.max(), place, f"{end:.0f}", va="center", fontsize=7)
        axis.set(title=LATER.get(platform, platform.replace("_", " ")), xlim=(0, 1.12 * ends.max()))
    axes[-1].set_xlabel("Latency of a 4 KB update (µs)")
    handles = [Patch(label=label, linewidth=0.4, **look) for label, look in shown.values()]
    return legend_above(figure, handles, columns=2)
