"""Define the look that all figures share, and how they are saved.

Figures are sized for a printed page with two columns: they are placed without scaling, and their text has the size
given here. Marker, line style or hatching repeat what colour shows, and colours also differ in lightness, so every
figure is readable in greyscale and for colour-blind readers (the hues are those of Okabe and Ito).
"""

import contextlib
import functools
import inspect
import itertools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import matplotlib
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from misspenalty.errors import InputError
from misspenalty.io.files import atomic_path

COLUMN = 3.35  # width of one column of the page, inches
PAGE = 7.0  # width of both columns, inches
PNG_DPI = 300
FORMATS = ("pdf", "svg", "png")
P, T = ParamSpec("P"), TypeVar("T")  # arguments and result of a decorated function

INK = "#222222"
GREY = "#767676"
PALE = "#e4e4e4"
PUBLISHED = "#000000"

STYLE = {
    "font.family": "DejaVu Sans",  # this font comes with Matplotlib, so it is the same everywhere
    "font.size": 7.0,
    "mathtext.fontset": "dejavusans",
    "axes.titlesize": 7.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 5.0,
    "axes.labelsize": 7.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": PALE,
    "grid.linewidth": 0.5,
    "text.color": INK,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 2.5,
    "ytick.major.size": 0.0,
    "xtick.minor.size": 0.0,
    "xtick.major.width": 0.6,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.columnspacing": 1.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.6,
    "lines.markeredgewidth": 0.7,
    "hatch.linewidth": 0.5,
    "patch.linewidth": 0.6,
    "figure.facecolor": "white",
    "figure.dpi": 150,  # resolution on screen, in notebooks
    "savefig.facecolor": "white",
    "pdf.fonttype": 42,  # embed fonts as TrueType, so that text can be searched
    "svg.fonttype": "path",  # draw text as paths, which look the same without the font
    "svg.hashsalt": "misspenalty",  # keep identifiers inside the file the same in every run
    "path.simplify": False,
}

# Map each label to its displayed name, colour, marker and line style; the colours also differ in lightness.
_POLICIES = {
    "opt": ("OPT", "#000000", "", (0, (1, 1))),
    "opt_bypass": ("OPT with bypass", "#7f7f7f", "", (0, (3, 1, 1, 1))),
    "opt_at_most": ("OPT, at most", "#000000", "", "-"),
    "opt_at_least": ("OPT, at least", "#000000", "", (0, (3, 2))),
    "mq": ("MQ", "#004c8c", "o", "-"),
    "2q": ("2Q", "#009e73", "^", "--"),
    "lru2": ("LRU-2", "#56b4e9", "v", "-."),
    "lfru": ("LFRU", "#b0508f", "D", "--"),
    "fbr": ("FBR", "#c98a00", "P", "-."),
    "lfu": ("LFU", "#6b4c9a", "X", (0, (3, 1, 1, 1))),
    "lfu-in-cache": ("LFU in cache", "#c3b1dc", "H", (0, (1, 1, 3, 1))),
    "lru": ("LRU", "#e8702a", "s", "-"),
    "mru": ("MRU", "#909090", "<", ":"),
    "sarc": ("SARC", "#7a1f5c", "D", "-"),
    "lru_bottom": ("LRU Bottom", "#009e73", "^", "-."),
    "lru_top": ("LRU Top", "#e8702a", "s", "--"),
    "arc": ("ARC", "#56b4e9", ">", "-"),
    "lirs": ("LIRS", "#6b4c9a", "<", "-."),
    "s3fifo": ("S3-FIFO", "#c98a00", "P", "--"),
    "clock2qplus": ("Clock2Q+", "#3a7d44", "v", "-"),
    "hyperbolic": ("Hyperbolic", "#a8324a", "*", ":"),
    "lecar": ("LeCaR", "#4f6d7a", "d", "--"),
    "s4fifo": ("S4-FIFO", "#7a3b00", "p", "--"),
    "merlin": ("Merlin", "#2a6f97", "h", "-."),
}
_NAMES = {  # displayed names of policies that have no style of their own, where the label in upper case would be wrong
    "b_lru": "B-LRU",
    "clockpro": "CLOCK-Pro",
    "fifo_merge": "FIFO-Merge",
    "random": "Random",
    "wtinylfu": "W-TinyLFU",
}
_FURTHER = [("#7a3b00", "p", "--"), ("#3a7d44", "h", "-."), ("#a8324a", "*", ":"), ("#4f6d7a", "d", "--")]


def policy_order(labels):
    """Sort labels in the standard order of all figures; policies without a style of their own come last, by name."""
    known = list(_POLICIES)
    return sorted(set(labels), key=lambda label: (known.index(label) if label in known else len(known), label))


def policy_name(label):
    """Return the name under which figures and pages show a policy: as its paper spells it, or in upper case."""
    if label.startswith("tinylfu+"):
        return f"TinyLFU + {policy_name(label.removeprefix('tinylfu+'))}"
    return _POLICIES[label][0] if label in _POLICIES else _NAMES.get(label, label.upper())


def policy_line(label):
    """Return the keywords of `Axes.plot` for a policy, the same in every figure."""
    if label in _POLICIES:
        _, colour, marker, line = _POLICIES[label]
    else:
        colour, marker, line = _FURTHER[sum(label.encode()) % len(_FURTHER)]
    width = 1.8 if label == "mq" else 1.2
    return {
        "color": colour,
        "marker": marker,
        "linestyle": line,
        "linewidth": width,
        "markeredgecolor": "white",
        "label": policy_name(label),
    }


def policy_lines(labels):
    """Return the keywords of `Axes.plot` for the policies of one figure, by label and in the standard order.

    A policy without a style of its own gets another marker or line style if its usual ones are already used in this
    figure.

    Examples
    --------
    >>> lines = policy_lines(["fifo", "clock"])
    >>> [(label, line["marker"], line["linestyle"]) for label, line in lines.items()]
    [('clock', 'p', '--'), ('fifo', 'p', '-')]
    """
    lines, taken = {}, set()
    for label in policy_order(labels):
        usual = policy_line(label)
        looks = [usual]
        if label not in _POLICIES:
            further = itertools.product(("-", "--", "-.", ":"), _FURTHER)
            looks += [usual | {"color": c, "marker": m, "linestyle": style} for style, (c, m, _) in further]
        lines[label] = next((look for look in looks if (look["marker"], look["linestyle"]) not in taken), usual)
        taken.add((lines[label]["marker"], lines[label]["linestyle"]))
    return lines


def policy_bar(label):
    """Return the keywords of `Axes.bar` for a policy: MQ is dark and plain; all others are light and hatched."""
    colour = policy_line(label)["color"]
    if label == "mq":
        return {"facecolor": colour, "edgecolor": colour}
    light = tuple(1 - (1 - part) * (1 - 0.55) for part in matplotlib.colors.to_rgb(colour))
    return {"facecolor": light, "edgecolor": colour, "hatch": "////"}


def policy_patch(label):
    """Return the legend entry that matches `policy_bar`."""
    return Patch(label=policy_name(label), **policy_bar(label))


@contextlib.contextmanager
def _applied():
    """Apply the style, and Matplotlib's defaults for everything else, whatever the user's ``matplotlibrc`` says."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function that draws a figure, so that the style applies while it runs."""

    @functools.wraps(draw)
    def wrapped(*args, **kwargs):
        with _applied():
            return draw(*args, **kwargs)

    return wrapped


def drawn_from(*columns):
    """Decorate a function that draws a figure, as `styled` does; its first argument is a table with these columns.

    Raises
    ------
    InputError
        As in `need`.
    """

    def decorate(draw):
        @functools.wraps(draw)
        def wrapped(*args, **kwargs):
            need(inspect.signature(draw).bind(*args, **kwargs).args[0], columns, draw.__name__)
            return styled(draw)(*args, **kwargs)

        return wrapped

    return decorate


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of `width` x `height` inches, independent of any window system."""
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03, wspace=0.04, hspace=0.05)
    return figure


def new_panels(width, height, *grid, **options):
    """Return an empty figure of this size and its axes.

    Parameters
    ----------
    width, height : float
        Size, inches.
    *grid : int
        The number of panels in a row, or the numbers of rows and columns; one panel by default.
    **options
        As for ``Figure.subplots``.

    Returns
    -------
    figure : Figure
    axes : Axes or array of Axes
        One panel, a row of panels, or an array of rows and columns.
    """
    figure = new_figure(width, height)
    axes = figure.subplots(*grid[:-1] or (1,), *grid[-1:], squeeze=False, **options)
    return figure, axes if len(grid) == 2 else axes[0] if grid else axes[0, 0]


def need(table, columns, name):
    """Raise an error unless `table` has rows and all `columns`.

    Raises
    ------
    InputError
        A column is missing, or there are no rows.
    """
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError(
            f"the table for {name} has no column {', '.join(missing)}", expected=f"columns {', '.join(columns)}"
        )
    if table.empty:
        raise InputError(f"the table for {name} has no rows", remedy="make it again with `make reproduce`")


def save_figure(
    figure: Figure, stem: str | os.PathLike[str], formats: Sequence[str] = FORMATS, dpi: int = PNG_DPI
) -> list[Path]:
    """Write a figure, by default as ``<stem>.pdf``, ``.svg`` and ``.png``, with the same bytes every time.

    All formats are rendered before the first file is replaced, so that an error leaves the older ones unchanged.

    Parameters
    ----------
    figure : Figure
    stem : path-like
        Path without suffix.
    formats : sequence of {"pdf", "svg", "png"}
        Suffixes, in lower or upper case.
    dpi : int
        Resolution of the PNG.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    InputError
        No format is given, a format is not one of the three, or the folder cannot be written to.
    """
    odd = [form for form in formats if not isinstance(form, str) or form.lower() not in FORMATS]
    if odd or not formats:
        raise InputError(f"figure format {', '.join(map(repr, odd)) or 'missing'}", expected=", ".join(FORMATS))
    paths = [Path(f"{stem}.{form}") for form in formats]
    with _applied(), contextlib.ExitStack() as stack:
        for path, form in zip(paths, formats, strict=True):
            partial = stack.enter_context(atomic_path(path))
            figure.savefig(partial, format=form.lower(), dpi=dpi, metadata=_UNDATED[form.lower()])
    return paths


_UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}
