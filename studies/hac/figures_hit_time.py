"""Draw hit time line by line, as in HAC's Table 3: published, priced, and measured on this machine."""

import numpy as np

from misspenalty.plotting.parts import legend_above, name_rows
from misspenalty.plotting.style import COLUMN, PAGE, PUBLISHED, drawn_from, new_panels

LINES = ("traversal", "exception", "concurrency", "usage", "residency", "swizzling", "indirection")
NAMES = {"traversal": "C++ program", "exception": "exceptions", "concurrency": "concurrency control"}
TRAVERSALS = {"T1": ("s", 1.0), "T6": ("ms", 1e3)}
COLUMNS = ("traversal", "line", "seconds")
_LOOKS = {
    "published": {"facecolor": PUBLISHED, "edgecolor": "white"},
    "priced": {"facecolor": "#004c8c", "edgecolor": "white"},
    "measured on this machine": {"facecolor": "#cfeadf", "edgecolor": "#009e73", "hatch": "...."},
}


@drawn_from(*COLUMNS)
def hit_time(table, published):
    """Hit time of hot traversals in a cache that holds everything, split into the lines of the paper's Table 3, as
    printed there and as priced for the paper's Alpha.

    Parameters
    ----------
    table : DataFrame
        ``traversal, line, seconds``.
    published : DataFrame
        The same, ``studies/hac/published/hit_time.csv``.
    """
    sources = {"published": published, "priced": table}
    figure, axes = new_panels(COLUMN, 2.9, len(TRAVERSALS), sharey=True)
    for axis, (name, (unit, scale)) in zip(axes, TRAVERSALS.items(), strict=True):
        _bars(axis, {source: scale * _of(one, name) for source, one in sources.items()}, LINES, "{:.2g}")
        axis.set(title=name, xlabel=f"Hit time ({unit})")
    return legend_above(figure, axes[0].containers)


@drawn_from(*COLUMNS, "low", "high")
def hit_time_measured(table, priced, published):
    """Hit time measured on the machine that made this report: what each mechanism adds to the bare program, split into
    the lines of the paper's Table 3, next to the published and the priced shares.

    Whiskers are quartiles. A measurement varies between runs; no claim depends on it.

    Parameters
    ----------
    table : DataFrame
        ``traversal, line, seconds, low, high, accesses``, from `misspenalty_studies.hac.measured.hit_time`; the values
        vary between runs.
    priced, published : DataFrame
        As in `hit_time`.
    """
    sources = {"published": published, "priced": priced, "measured on this machine": table}
    lines = LINES[1:]
    figure, axes = new_panels(PAGE, 3.2, len(TRAVERSALS), sharey=True)
    for axis, name in zip(axes, TRAVERSALS, strict=True):
        bare = {source: _of(one, name)["traversal"] for source, one in sources.items()}
        shares = {source: 100 * _of(one, name) / bare[source] for source, one in sources.items()}
        whiskers = [100 * _of(table, name, end) / bare["measured on this machine"] for end in ("low", "high")]
        _bars(axis, shares, lines, "{:.0f}", whiskers)
        nanoseconds = 1e9 * bare["measured on this machine"] / table.loc[table["traversal"] == name, "accesses"].iloc[0]
        axis.set(title=f"{name}: bare program {nanoseconds:.2g} ns per object here", xlabel="% of the bare program")
    return legend_above(figure, axes[0].containers[: len(sources) + 1])


def _of(table, traversal, column="seconds"):
    return table[table["traversal"] == traversal].set_index("line")[column]


def _bars(axis, sources, lines, form, whiskers=None):
    """Draw groups of bars, one group per line, from the top; `whiskers` are the quartiles of the last source, whose
    numbers are written beyond them."""
    height = 0.8 / len(sources)
    ends = max(float(values[list(lines)].max()) for values in sources.values())
    ends = max(ends, float(whiskers[1][list(lines)].max())) if whiskers else ends
    for i, (source, values) in enumerate(sources.items()):
        wide = values[list(lines)].to_numpy()
        places = np.arange(len(lines)) - 0.4 + height * (i + 0.5)
        axis.barh(places, wide, height, label=source, linewidth=0.4, **_LOOKS[source])
        beyond = np.maximum(wide, 0)
        if whiskers and i == len(sources) - 1:
            low, high = (one[list(lines)].to_numpy() for one in whiskers)
            axis.hlines(places, low, high, color="#404040", linewidth=0.9)
            beyond = np.maximum(beyond, high)
        for place, value, at in zip(places, wide, beyond, strict=True):
            axis.text(at + 0.015 * ends, place, form.format(value).removesuffix("-0") or "0", va="center", fontsize=7)
    name_rows(axis, [NAMES.get(line, line) for line in lines])
    axis.tick_params(axis="y", length=0)
    axis.set_xlim(right=1.18 * ends)
    axis.grid(True, axis="x")
    axis.grid(False, axis="y")
