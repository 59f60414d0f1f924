"""Turn Matplotlib figures into interactive charts, one Vega-Lite chart per panel.

A study's figure is defined only once, by the function that draws it. Its lines, bars and rules are read back from the
drawn figure in the units of its axes, so the chart on a page shows the same numbers as the printed figure.
"""

import math
import re
from dataclasses import asdict, dataclass, field

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FuncFormatter

SHAPES = {
    "o": "circle", ".": "circle", "h": "circle", "H": "circle", "p": "circle", "s": "square", "^": "triangle-up",
    "v": "triangle-down", "<": "triangle-left", ">": "triangle-right", "D": "diamond", "d": "diamond", "P": "cross",
    "X": "cross", "+": "cross", "x": "cross", "*": "diamond", "_": "stroke", "|": "stroke",
}  # fmt: skip
HEIGHT = 260  # minimum height of a panel, in pixels
LINE = 14  # height of a label on the y axis in pixels, if labels are names
_POWER = re.compile(r"\$?(?:\\mathdefault\{)?(\d+)\^\{(-?\d+)\}\}?\$?")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SOLID = (1, 0)  # dash pattern of a solid line
HUE = 0.05  # a colour is grey if its red, green and blue values differ by less than this
ROOM = 36  # letters that fit below a panel on a phone
PALE = 0.93  # lightness above which an artist is identified by its edge colour instead of its face colour


@dataclass
class Series:
    """One entry of the legend, and how it is drawn."""

    name: str
    color: str
    shape: str = "circle"
    dash: tuple = SOLID
    hollow: bool = False


@dataclass
class Panel:
    """Contents of one pair of axes.

    Attributes
    ----------
    title, xlabel, ylabel : str
    scales : dict
        ``x`` and ``y``: ``linear`` or ``log``.
    domains : dict
        ``x`` and ``y``: lowest and highest value shown.
    ticks : dict
        ``x`` and ``y``: labels by value if they are texts, or None if the axis shows plain numbers.
    marks : list of dict
        Points (``x, y``), lines (points with a number ``line``), bars and rules (``x, x2, y, y2``), each with its
        ``series`` and ``mark``.
    """

    title: str
    xlabel: str
    ylabel: str
    scales: dict
    domains: dict
    ticks: dict
    marks: list = field(default_factory=list)


def read_figure(figure):
    """Return panels and series of a drawn figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    panels : list of Panel
        Panels of the axes that show something, from the top left.
    series : dict of str to Series
        By name, in the order of the legends.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> axis = figure.subplots()
    >>> _ = axis.plot([1, 2], [3, 5], label="MQ"), axis.legend()
    >>> panels, series = read_figure(figure)
    >>> list(series), [mark["y"] for mark in panels[0].marks]
    (['MQ'], [3.0, 5.0])
    """
    FigureCanvasAgg(figure).draw()
    legends = [*figure.legends, *(axis.get_legend() for axis in figure.axes if axis.get_legend())]
    entries = [
        (text.get_text(), _look(handle))
        for legend in legends
        for text, handle in zip(legend.get_texts(), legend.legend_handles, strict=False)
    ]
    names = _Names(entries)
    places = {axis: axis.get_position() for axis in figure.axes}
    axes = sorted(figure.axes, key=lambda axis: (-round(places[axis].y1, 2), places[axis].x0))
    panels = [panel for axis in axes if (panel := _panel(axis, names)).marks]
    used = {mark["series"] for panel in panels for mark in panel.marks}
    return panels, {name: one for name, one in names.series.items() if name in used}


def charts(figure):
    """Return charts of a drawn figure, one per panel, for the site's script to embed.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    dict
        ``series``: each entry of the legend, with its look and the kinds of marks that draw it (``line``, ``dots``,
        ``bar``, ``rule``); ``panels``: Vega-Lite specifications, whose data rows name their series.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> _ = figure.subplots().bar([1, 2], [3, 5], label="misses")
    >>> charts(figure)["panels"][0]["layer"][0]["mark"]["type"]
    'rect'
    """
    panels, series = read_figure(figure)
    return {
        "series": [{**asdict(one), "marks": _marks(one.name, panels)} for one in series.values()],
        "panels": [_specification(panel, series) for panel in panels],
    }


def _marks(name, panels):
    """Return the kinds of marks with which a series is drawn."""
    own = [mark for panel in panels for mark in panel.marks if mark["series"] == name]
    kinds = {"dots" if mark["mark"] == "point" else mark["mark"] for mark in own}
    return sorted(kinds | ({"dots"} if any(mark.get("dots") for mark in own) else set()))


class _Names:
    """The names of artists, taken from their own labels or from the legend entries that look like them."""

    def __init__(self, entries):
        self.entries, self.series = entries, {}
        for label, look in entries:
            self._add(label, look)

    def _add(self, name, look):
        found = self.series.setdefault(name, Series(name, look["color"], hollow=look["hollow"]))
        if look["marker"]:
            found.shape = look["marker"]
        if found.dash == SOLID:
            found.dash = look["dash"]
        return name

    def of(self, artist, label=None):
        label = label or str(artist.get_label())
        look = _look(artist)
        if look["hollow"]:  # the colour identifies the policy, the hollow legend entry the quantity
            of = [name for name, other in self.entries if other["color"] == look["color"] and not other["hollow"]]
            what = [name for name, other in self.entries if other["hollow"] and other["color"] != look["color"]]
            if of and what:
                return self._add(f"{of[0]}, {what[0]}", look)
        if label and not label.startswith("_"):
            return self._add(label, look)
        if look["dash"] != SOLID:  # likewise, a grey dashed entry may explain the dashes
            of = [name for name, other in self.entries if other["color"] == look["color"]]
            what = [name for name, other in self.entries if other["dash"] == look["dash"] and _grey(other["color"])]
            if of and what and not set(of) & set(what) and not any(self._same_dash(name, look) for name in of):
                return self._add(f"{of[0]}, {what[0]}", look)
        for agree in (("color", "marker", "dash", "hatch"), ("color", "hatch"), ("color",), ("marker",)):
            for name, other in self.entries:
                if all(other[key] == look[key] for key in agree):
                    return name
        return self._add("value", look)

    def _same_dash(self, name, look):
        return any(one == name and other["dash"] == look["dash"] for one, other in self.entries)


def _look(artist):
    """Return the properties that distinguish an artist from others: colour, marker, dashes, hatching."""
    if isinstance(artist, Line2D):
        marker = SHAPES.get(artist.get_marker(), "")
        dash = artist._dash_pattern[1] if artist.get_linestyle() not in ("None", "none", "", " ") else None
        return {
            "color": to_hex(artist.get_color()),
            "marker": marker,
            "dash": tuple(round(float(part), 1) for part in dash) if dash else SOLID,
            "hatch": None,
            "hollow": bool(marker) and _pale(artist.get_markerfacecolor()),
        }
    look = {"marker": "", "dash": SOLID, "hatch": None, "hollow": False}
    if isinstance(artist, LineCollection):
        colors = artist.get_colors()
        return look | {"color": to_hex(colors[0]) if len(colors) else "#222222"}
    face, edge = to_rgba(artist.get_facecolor()), to_rgba(artist.get_edgecolor())
    pale = _pale(face)
    return look | {"color": to_hex(edge if pale else face), "hatch": artist.get_hatch()}


def _pale(color):
    """Tell whether a colour is white, nearly white, or transparent."""
    color = to_rgba(color)
    return color[3] == 0 or min(color[:3]) > PALE


def _grey(color):
    """Tell whether a colour has no hue."""
    color = to_rgba(color)
    return max(color[:3]) - min(color[:3]) < HUE


def _panel(axis, names):
    panel = Panel(
        _plain(axis.get_title() or axis.get_title("left")),
        _plain(_label(axis, "x")),
        _plain(_label(axis, "y")),
        {key: "log" if getattr(axis, f"get_{key}scale")() == "log" else "linear" for key in "xy"},
        {"x": sorted(map(float, axis.get_xlim())), "y": sorted(map(float, axis.get_ylim()))},
        {"x": _ticks(axis.xaxis), "y": _ticks(axis.yaxis)},
    )
    if not axis.axison and not axis.lines and not axis.patches:
        return panel
    for container in axis.containers:
        label = str(container.get_label())
        for patch in container.get_children() if not label.startswith("_") else ():
            if isinstance(patch, Rectangle):
                patch._series_label = label
    for patch in axis.patches:
        if isinstance(patch, Rectangle) and patch.get_transform().contains_branch(axis.transData):
            _bar(panel, patch, names)
    for collection in axis.collections:
        if isinstance(collection, LineCollection):
            name = names.of(collection)
            for (x, y), *_, (x2, y2) in (segment for segment in collection.get_segments() if len(segment) > 1):
                panel.marks.append({"mark": "rule", "series": name, "x": x, "y": y, "x2": x2, "y2": y2})
    for number, line in enumerate(axis.lines):
        if line.get_transform() == axis.transData:
            _line(panel, line, number, names)
    for mark in panel.marks:
        mark |= {key: _number(value) for key, value in mark.items() if key in ("x", "y", "x2", "y2")}
    panel.marks = [mark for mark in panel.marks if None not in mark.values()]
    return panel


def _label(axis, key):
    """Return the label of an axis or, if it has none, of an axis that shares its scale or of the whole figure."""
    shared = getattr(axis, f"get_shared_{key}_axes")().get_siblings(axis)
    labels = [getattr(one, f"get_{key}label")() for one in (axis, *shared)]
    return next(filter(None, [*labels, getattr(axis.figure, f"get_sup{key}label")()]), "")


def _plain(text):
    """Return a text without Matplotlib's math markup; powers become superscript digits."""
    text = _POWER.sub(lambda found: found[1] + found[2].translate(_RAISED), text)
    return re.sub(r"\\(?:mathdefault|mathregular|mathrm)\{([^}]*)\}|\$", lambda found: found[1] or "", text)


def _bar(panel, patch, names):
    name = names.of(patch, getattr(patch, "_series_label", None))
    x, y, width, height = patch.get_x(), patch.get_y(), patch.get_width(), patch.get_height()
    if width and height:
        panel.marks.append({"mark": "bar", "series": name, "x": x, "x2": x + width, "y": y, "y2": y + height})


def _line(panel, line, number, names):
    name, drawn = names.of(line), line.get_linestyle() not in ("None", "none", "", " ")
    steps = line.get_drawstyle().startswith("steps")
    for x, y in np.asarray(line.get_xydata(), float):
        mark = {"mark": "line" if drawn else "point", "series": name, "x": x, "y": y, "line": number}
        mark["dots"] = bool(SHAPES.get(line.get_marker()))
        if steps:
            mark["steps"] = True
        panel.marks.append(mark)


def _number(value):
    value = float(value)
    return float(f"{value:.7g}") if np.isfinite(value) else None


def _ticks(axis):
    """Return the labels of an axis by value, or None if they are plain numbers."""
    formatter = axis.get_major_formatter()
    if not isinstance(formatter, FixedFormatter | FuncFormatter):
        return None
    low, high = sorted(axis.get_view_interval())
    values = [float(value) for value in axis.get_majorticklocs()]
    texts = map(str, formatter.format_ticks(values))  # all, because a label may depend on its index
    return {value: _plain(text) for value, text in zip(values, texts, strict=True) if low <= value <= high}


def _specification(panel, series):
    def by_series(looks):
        return {
            "field": "series",
            "type": "nominal",
            "legend": None,
            "scale": {"domain": list(series), "range": looks},
        }

    def layer(test, mark, encoding):
        return {"transform": [{"filter": test}], "mark": mark | {"clip": True}, "encoding": axes | encoding}

    axes = {key: {"field": key, "type": "quantitative", **_axis(panel, key)} for key in "xy"}
    color = by_series([one.color for one in series.values()])
    tooltip = [
        {"field": "series", "type": "nominal", "title": "Series"},
        {"field": "at", "type": "nominal", "title": _flat(panel.xlabel) or "At"},
        {"field": "value", "type": "quantitative", "title": _flat(panel.ylabel) or "Value", "format": ",.5~g"},
    ]
    between = {"x2": {"field": "x2"}, "y2": {"field": "y2"}, "color": color, "tooltip": tooltip}
    layers = []
    kinds = {mark["mark"] for mark in panel.marks}
    if "bar" in kinds:
        layers.append(layer("datum.mark == 'bar'", {"type": "rect", "stroke": "white", "strokeWidth": 0.5}, between))
    if "rule" in kinds:
        layers.append(layer("datum.mark == 'rule'", {"type": "rule", "strokeWidth": 1.5}, between))
    if "line" in kinds:
        steps = {"interpolate": "step-after"} if any(mark.get("steps") for mark in panel.marks) else {}
        encoding = {
            "color": color,
            "detail": {"field": "line"},
            "order": {"field": "place", "type": "quantitative"},
            "strokeDash": by_series([list(one.dash) for one in series.values()]),
        }
        layers.append(layer("datum.mark == 'line'", {"type": "line", "strokeWidth": 2, **steps}, encoding))
    if kinds & {"line", "point"}:
        encoding = {
            "tooltip": tooltip,
            "stroke": color,
            "opacity": {"condition": {"test": "datum.dots || datum.mark == 'point'", "value": 1}, "value": 0.01},
            "fill": by_series(["white" if one.hollow else one.color for one in series.values()]),
            "shape": by_series([one.shape for one in series.values()]),
        }
        mark = {"type": "point", "strokeWidth": 1.5, "size": 45}
        layers.append(layer("datum.mark == 'line' || datum.mark == 'point'", mark, encoding))
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": panel.title,
        "description": _description(panel),
        "width": "container",
        "height": max(HEIGHT, LINE * len(panel.ticks["y"] or ())),
        "data": {"values": [_row(panel, place, mark) for place, mark in enumerate(panel.marks)]},
        "layer": layers,
    }


def _axis(panel, key):
    label, ticks = (panel.xlabel, panel.ylabel)[key == "y"], panel.ticks[key]
    axis = {"grid": key == "y"}
    if ticks is not None:
        axis |= {"values": list(ticks), "labelExpr": _labels(ticks)}
        if key == "x" and _crowded(ticks.values()):
            axis |= {"labelAngle": -90, "labelOverlap": False}
    if key == "x" and panel.ticks["y"]:  # names on the y axis take up much of a phone's width
        axis["titleAnchor"] = "end"
    scale = {"type": panel.scales[key], "domain": panel.domains[key], "nice": False}
    if scale["type"] == "linear":
        scale["zero"] = False
    return {"title": label.split("\n") or None, "axis": axis, "scale": scale}


def _crowded(texts):
    """Tell whether labels are words that do not fit next to one another."""
    return max(map(len, texts), default=0) > 4 and sum(len(text) + 1 for text in texts) > ROOM


def _labels(ticks):
    """Return a Vega expression that looks up the label of a tick by its value."""
    texts = [text.split("\n") if "\n" in text else text for text in ticks.values()]
    return f"{texts!r}[indexof({list(ticks)!r}, datum.value)]"


def _row(panel, place, mark):
    """Return a row of a chart's data, with its tooltip text."""
    upright = panel.ticks["y"] is None  # bars are horizontal if the y axis has labels
    if mark["mark"] == "bar":
        along, low, high = ("x", "y", "y2") if upright else ("y", "x", "x2")
        middle = (mark[along] + mark[f"{along}2"]) / 2
        value = mark[high] - mark[low]
    else:
        along, middle, value = None if _numeric(panel.ticks["x"]) else "x", mark["x"], mark["y"]
    for key in "xy":  # a logarithmic axis has no zero at which a bar could start
        if mark["mark"] == "bar" and panel.scales[key] == "log":
            mark[key] = max(mark[key], panel.domains[key][0])
    return {**mark, "place": place, "at": _at(along and panel.ticks[along], middle), "value": _number(value)}


def _at(ticks, value):
    if ticks:
        nearest = min(ticks, key=lambda tick: abs(tick - value))
        if ticks[nearest] and abs(nearest - value) <= max(0.5, 1e-6 * abs(value)):
            return " ".join(ticks[nearest].split())
    return f"{value:.6g}"


def _numeric(ticks):
    """Tell whether the labels of an axis are the rounded values of its ticks, and therefore do not describe values
    between the ticks."""
    try:
        return all(math.isclose(float(label), value, rel_tol=0.05) for value, label in (ticks or {}).items() if label)
    except ValueError:
        return False


def _description(panel):
    """Return a panel's description for screen readers."""
    found = dict.fromkeys(mark["series"] for mark in panel.marks)
    title = f"{panel.title}: " if panel.title else ""
    return _flat(f"{title}{panel.ylabel or 'values'} over {panel.xlabel or 'cases'}, of {', '.join(found)}")


def _flat(text):
    """Return a label on one line."""
    return " ".join(text.split())
