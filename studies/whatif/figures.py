"""Draw the figures of the what-if: gain against device time by conclusion, and the verdicts by year and device."""

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator

from misspenalty.plotting.parts import legend_above
from misspenalty.plotting.style import GREY, INK, PAGE, drawn_from, need, new_panels, styled
from misspenalty_studies.whatif.machines import NAMES
from misspenalty_studies.whatif.tables import CONCLUSIONS

COLOURS = {1997: "#000000", 2001: "#7a1f5c", 2005: "#004c8c", 2015: "#009e73", 2025: "#e8702a"}
LINES = {1997: (0, (1, 1)), 2001: (0, (3, 1, 1, 1)), 2005: "--", 2015: "-.", 2025: "-"}
MARKERS = {"disk": "o", "sata_ssd": "s", "nvme": "^", "remote_memory": "D"}
VERDICTS = {  # lightness and hatching differ, so the figure is readable without colour
    "holds": {"facecolor": "#9ecae1", "hatch": ""},
    "partly": {"facecolor": "#f2f2f2", "hatch": "////"},
    "reversed": {"facecolor": "#fdae6b", "hatch": "xxxx"},
    "saturated": {"facecolor": "white", "hatch": "...."},
}
LABELS = {"holds": "holds", "partly": "holds in some cases", "reversed": "does not hold", "saturated": "saturated"}
MOST_LETTERS = 24  # longer titles are set smaller and broken after commas
SHOWN = {"mq": ("recorded, 256 MB", "calibrated, 128 MB", "calibrated, 256 MB")}


def _look(year):
    return {"color": COLOURS.get(year, GREY), "linestyle": LINES.get(year, "-")}


def _panel(axis, curve, cells, case, threshold):
    """Draw one case: one line per year, and one mark per year and device."""
    for year, line in curve[curve["case"] == case].groupby("year"):
        axis.plot(line["device_us"], line["gain_pct"], linewidth=1, **_look(year))
    for cell in cells[cells["case"] == case].itertuples():
        colour = COLOURS.get(cell.year, GREY)
        axis.plot(
            cell.device_us, cell.gain_pct, marker=MARKERS[cell.device], color=colour, markersize=4,
            markeredgecolor="white", markeredgewidth=0.4, linestyle="",
        )  # fmt: skip
    axis.axhline(threshold, color=GREY, linewidth=0.7, linestyle=":")
    axis.axhline(0, color=INK, linewidth=0.5)
    _log_axis(axis)
    long = len(case) > MOST_LETTERS
    axis.set_title(case.replace("_", " ").replace(", ", ",\n") if long else case, fontsize=7 if long else None)


def _log_axis(axis, subs=(1.0,)):
    """Make the horizontal axis logarithmic, with plain numbers at each power of ten times `subs`."""
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(LogLocator(subs=subs))
    axis.xaxis.set_major_formatter(lambda value, _: f"{value:g}")


def _legend(figure, curve, cells):
    years = sorted(curve["year"].unique())
    devices = [device for device in MARKERS if device in set(cells["device"])]
    lines = [Line2D([], [], linewidth=1, label=str(year), **_look(year)) for year in years]
    look = {"linestyle": "", "color": GREY, "markersize": 4}
    marks = [Line2D([], [], marker=MARKERS[device], label=NAMES[device], **look) for device in devices]
    legend_above(figure, lines + marks)


def _gains(curve, cells, study, ylabel):
    """Draw the panels of one conclusion."""
    need(curve, ["year", "case", "device_us", "gain_pct"], study)
    need(cells, ["year", "device", "case", "device_us", "gain_pct"], study)
    cases = list(dict.fromkeys(curve["case"]))
    cases = [case for case in SHOWN.get(study, cases) if case in cases] or cases
    figure, axes = new_panels(PAGE, 2.5, len(cases), sharey=True)
    for axis, case in zip(axes, cases, strict=True):
        _panel(axis, curve, cells, case, CONCLUSIONS[study].threshold_pct)
    axes[0].set_ylabel(ylabel)
    figure.supxlabel("Device time for 8 KB (µs)", fontsize=7)
    _legend(figure, curve, cells)
    return figure


@styled
def hac_gain(curve, cells):
    """Gain of HAC. The percentage by which HAC, replacing in the foreground (HAC-FG), finishes a hot traversal sooner
    than FPC is plotted against the time that the server's device takes to read a page. Lines show the machines of five
    years with a device that serves one request at a time; marks show each year's own devices. The dotted line is the
    smallest gain with which the conclusion holds.

    Parameters
    ----------
    curve, cells : DataFrame
        See `misspenalty_studies.whatif.runs.curves` and `cells`.
    """
    return _gains(curve, cells, "hac", "HAC sooner than FPC (%)")


@styled
def mq_gain(curve, cells):
    """Gain of MQ. The percentage by which the transaction rate is higher with MQ than with LRU is plotted against the
    time that the storage server's devices take for a read. Lines are for devices that serve one request at a time,
    marks for each year's own devices with their parallelism. The dotted line is the smallest gain with which the
    conclusion holds. Three of the six cases are shown; the others are in `curves.csv`.

    Parameters
    ----------
    curve, cells : DataFrame
        See `misspenalty_studies.whatif.runs.curves` and `cells`.
    """
    return _gains(curve, cells, "mq", "MQ's rate above LRU's (%)")


@styled
def epcm_gain(curve, cells):
    """Gain of EPCM. The percentage by which EPCM finishes a build sooner than a client without prefetching is plotted
    against the time that the client's device takes for a read. Lines are for devices that serve one request at a time;
    marks show each year's own devices, of which the disks are simulated with seeks and rotation. The dotted line is the
    smallest gain with which the conclusion holds.

    Parameters
    ----------
    curve, cells : DataFrame
        See `misspenalty_studies.whatif.runs.curves` and `cells`.
    """
    return _gains(curve, cells, "epcm", "EPCM sooner than none (%)")


@styled
def sarc_gain(curve, cells):
    """Gain of SARC. The percentage by which the array answers sooner with SARC than with the better LRU variant is
    plotted against the time that a back-end device takes for a read. Lines are for devices that serve one request at a
    time; marks show each year's own devices. Scaled IOPS are requests per second on the scale of the paper's axis. The
    requests stay the same, or change with the back end so that its utilisation stays the same. A line ends at the last
    computed time before the back end saturates; saturated devices have no mark. The dotted line is the smallest gain
    with which the conclusion holds.

    Parameters
    ----------
    curve, cells : DataFrame
        See `misspenalty_studies.whatif.runs.curves` and `cells`.
    """
    return _gains(curve, cells, "sarc", "SARC sooner than LRU (%)")


@styled
def vlog_gain(curve, cells, rotation):
    """Gain of the virtual log. The left panel shows the percentage by which an update completes sooner through the
    virtual log than in place, against the time to locate a block on the disk. Marks show each year's own devices at the
    time that they take for a read; flash and remote memory have no arm to position. The dotted line is the smallest
    gain with which the conclusion holds. The right panel shows the speed-up on the disk of the latest of the five years
    against half a revolution divided by the seek across one cylinder.

    Parameters
    ----------
    curve, cells : DataFrame
        See `misspenalty_studies.whatif.runs.curves` and `cells`.
    rotation : DataFrame
        ``rpm, half_turn_over_seek, speedup``.
    """
    need(rotation, ["rpm", "half_turn_over_seek", "speedup"], "rotation")
    figure, (left, right) = new_panels(PAGE, 2.5, 2)
    case = curve["case"].iloc[0]
    _panel(left, curve, cells, case, CONCLUSIONS["vlog"].threshold_pct)
    left.set(xlabel="Positioning time, or device time (µs)", ylabel="Virtual log sooner (%)")
    for (rpm, line), marker in zip(rotation.groupby("rpm"), "os^DvP", strict=False):
        ordered = line.sort_values("half_turn_over_seek")
        right.plot(ordered["half_turn_over_seek"], ordered["speedup"], marker=marker, markersize=3, linewidth=0.8,
                   color=INK, label=f"{rpm:,} rpm")  # fmt: skip
    right.axhline(1, color=INK, linewidth=0.5)
    _log_axis(right, (1.0, 2.0, 5.0))
    right.set(xlabel="Half a revolution / seek", ylabel="Speed-up", ylim=(0, None))
    right.legend(loc="lower left", ncols=rotation["rpm"].nunique())  # one row, below the grid's lowest line
    _legend(figure, curve, cells)
    return figure


@drawn_from("conclusion", "year", "device", "verdict", "cases_saturated", "gain_low_pct", "gain_high_pct", "robust")
def verdicts(summary):
    """Verdicts on the conclusions. Each cell says whether a conclusion holds on a year's machine and a device: in all
    cases, in some, or in none. Numbers are the lowest and the highest gain over the cases, in %. A cell with a dashed
    edge has a case that is decided otherwise at an end of some parameter's range. Cases whose device is saturated have
    no gain; they are counted in the cell, but do not affect its verdict.

    Parameters
    ----------
    summary : DataFrame
        See `misspenalty_studies.whatif.tables.summary`.
    """
    rows = list(dict.fromkeys(zip(summary["year"], summary["device"], strict=True)))
    columns = [study for study in CONCLUSIONS if study in set(summary["conclusion"])]
    figure, axis = new_panels(PAGE, 0.7 + 0.2 * len(rows))
    for cell in summary.itertuples():
        x, y = columns.index(cell.conclusion), rows.index((cell.year, cell.device))
        edge = {"edgecolor": GREY, "linewidth": 0.4, "linestyle": "-" if cell.robust else (0, (2, 2))}
        axis.barh(y, 0.94, left=x - 0.47, height=0.86, zorder=1, **VERDICTS[cell.verdict], **edge)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axis.text(x, y, _words(cell), ha="center", va="center", fontsize=7, color=INK, bbox=box)
    axis.set_xticks(range(len(columns)), [CONCLUSIONS[study].name for study in columns])
    axis.set_yticks(range(len(rows)), [f"{year} {NAMES[device]}" for year, device in rows])
    axis.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    axis.set(xlabel="Conclusion; in its cells, the lowest and the highest gain over the cases (%)")
    axis.grid(visible=False)
    axis.tick_params(length=0)
    shown = [word for word in VERDICTS if word != "saturated" or word in set(summary["verdict"])]
    patches = [Patch(label=LABELS[word], edgecolor=GREY, linewidth=0.4, **VERDICTS[word]) for word in shown]
    dashed = Patch(label="depends on a parameter's range", facecolor="white", edgecolor=GREY, linestyle=(0, (2, 2)))
    return legend_above(figure, [*patches, dashed])


def _words(cell):
    """Return the text of a cell of the summary: its lowest and highest gain, and the number of saturated cases."""
    digits = 0 if cell.cases_saturated else 1  # decimals of the gains; fewer if the cell has more text
    low, high = (f"{round(value, digits) + 0.0:g}" for value in (cell.gain_low_pct, cell.gain_high_pct))
    if cell.verdict == "saturated":
        return "saturated"
    return (low if low == high else f"{low} to {high}") + (
        f"; {cell.cases_saturated} saturated" if cell.cases_saturated else ""
    )
