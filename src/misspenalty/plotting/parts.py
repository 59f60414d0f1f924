"""Draw the parts that several figures share: axes, lines, stacks, bars next to their published values, legends."""

import itertools

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from misspenalty.plotting.style import INK, PUBLISHED, policy_bar, policy_line, policy_name, policy_order, policy_patch

SERIES = [  # looks of series that have no style of their own, such as captures and cache sizes
    {"color": "#004c8c", "marker": "o", "linestyle": "-"},
    {"color": "#e8702a", "marker": "s", "linestyle": "--"},
    {"color": "#009e73", "marker": "^", "linestyle": "-."},
    {"color": "#b0508f", "marker": "D", "linestyle": ":"},
    {"color": "#808080", "marker": "v", "linestyle": (0, (3, 1, 1, 1))},
]
_UNITS = {"us": "µs", **{unit.lower(): unit for unit in ("ns", "KB", "MB", "GB", "bytes", "words", "instructions")}}
_HALO = [withStroke(linewidth=2.4, foreground="white")]  # makes a black mark visible on a dark bar
_MARK = {"color": PUBLISHED, "linewidth": 1.0, "marker": "D", "markersize": 4}


def size_axis(axis, sizes, ticks=7):
    """Make an axis of cache sizes (MB) logarithmic, and label at most `ticks` of `sizes`."""
    sizes = sorted(set(sizes))
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(FixedLocator(sizes[:: -(-len(sizes) // ticks)]))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size:.0f}" if size >= 100 else f"{size:.3g}"))
    axis.xaxis.set_minor_locator(NullLocator())


def plain_ticks(axis, locator=None):
    """Label the ticks of a logarithmic axis, such as ``axes.xaxis``, with plain numbers, and draw no minor ticks."""
    if locator is not None:
        axis.set_major_locator(locator)
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.minorticks_off()


def legend_above(figure, handles, columns=9):
    """Draw one legend for all panels, in as few rows as the figure's width and `columns` entries per row allow; return
    the figure."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    for rows in range(-(-len(handles) // columns), len(handles) + 1):
        ncols = -(-len(handles) // rows)
        legend = figure.legend(handles=handles, loc="outside upper center", ncols=ncols, borderaxespad=0.2)
        if legend.get_window_extent(renderer).width <= figure.bbox.width or ncols == 1:
            return figure
        legend.remove()


def name_columns(axis, names, **look):
    """Write names below the places 0, 1, 2, ... of the horizontal axis, without ticks."""
    axis.set_xticks(range(len(names)), names, **look)
    axis.tick_params(axis="x", length=0)


def name_rows(axis, names, **look):
    """Write names next to rows at 0, 1, 2, ..., the first at the top."""
    axis.set_yticks(range(len(names)), names, **look)
    axis.set_ylim(len(names) - 0.5, -0.5)


def parameter_words(name):
    """Return a parameter's name in words, and the unit that the name ends in, or an empty string.

    Examples
    --------
    >>> parameter_words("client_l2_kb"), parameter_words("load_factor")
    (('client L2', 'KB'), ('load factor', ''))
    """
    *words, last = name.split("_")
    unit = _UNITS.get(last, "")
    words = words if unit else [*words, last]
    return " ".join(word.upper() if word in ("cpi", "l2") else word for word in words), unit


def hit_ratio_lines(axis, table):
    """Draw hit ratio over cache size, one line per policy.

    Parameters
    ----------
    axis : Axes
    table : DataFrame
        ``policy, cache_mb, hit_ratio_pct``.
    """
    for policy in policy_order(table["policy"]):
        line = table[table["policy"] == policy].sort_values("cache_mb")
        axis.plot(line["cache_mb"], line["hit_ratio_pct"], zorder=3 if policy == "mq" else 2, **policy_line(policy))
    size_axis(axis, table["cache_mb"])


def size_and_policy_lines(axis, table, x, y):
    """Draw `y` over `x`, one line per cache size and policy.

    Colour shows the policy, and marker and line style the size; the markers of MQ are filled.

    Parameters
    ----------
    axis : Axes
    table : DataFrame
        ``cache_mb, policy`` and the columns `x` and `y`.
    x, y : str

    Returns
    -------
    dict of (cache_mb, policy) to Line2D
    """
    looks = dict(zip(sorted(set(table["cache_mb"])), itertools.cycle(SERIES), strict=False))
    handles = {}
    for (mb, policy), line in table.sort_values(x).groupby(["cache_mb", "policy"]):
        look = {**looks[mb], "color": policy_line(policy)["color"], "label": f"{policy_name(policy)} {mb:g} MB"}
        if policy != "mq":
            look.update(markerfacecolor="white", linewidth=0.8)
        handles[mb, policy] = axis.plot(line[x], line[y], **look)[0]
    return handles


def stack(axis, table, looks):
    """Draw one horizontal stack of bars per row of `table`, the first on top, with one part per column.

    A part of length 0 is not drawn: its edge would look like a thin part.

    Parameters
    ----------
    axis : Axes
    table : DataFrame
        Index: names of the rows; the columns are those of `looks`.
    looks : dict of str to dict
        Column -> keywords of `Axes.barh`.

    Returns
    -------
    array, shape (rows,)
        Length of each stack.
    """
    left = np.zeros(len(table))
    for column, look in looks.items():
        width = table[column].to_numpy(float)
        some = width > 0
        axis.barh(np.flatnonzero(some), width[some], 0.74, left=left[some], linewidth=0.4, **look)
        left = left + width
    axis.set_yticks(range(len(table)), table.index)
    axis.set_ylim(len(table) - 0.4, -0.6)
    axis.grid(False)
    axis.spines["left"].set_visible(False)
    return left


def pairs(axis, table, published, column, form="{:.1f}", fitted=()):
    """Draw one group of bars per cache size, one bar per policy, with the published values as marks.

    Parameters
    ----------
    axis : Axes
    table : DataFrame
        ``cache_mb, policy`` and `column`.
    published : DataFrame
        The same columns, and ``derived``: whether the value is derived rather than printed.
    column : str
        Column that the bars show.
    form : str
        Format of a bar's value.
    fitted : iterable of (cache_mb, policy)
        Bars whose values were used to fit a parameter; these bars are labelled "fitted".
    """
    sizes = sorted(set(table["cache_mb"]))
    policies = policy_order(table["policy"])[::-1]  # put policies that use more information further right
    width = 0.8 / len(policies)
    got = table.set_index(["cache_mb", "policy"])[column].groupby(level=[0, 1]).first()
    said = published.set_index(["cache_mb", "policy"])
    top = np.nanmax([got.max(), said[column].reindex(got.index).max()])
    for (i, size), (j, policy) in itertools.product(enumerate(sizes), enumerate(policies)):
        if (size, policy) in got.index:
            x, value = i - 0.4 + (j + 0.5) * width, got[size, policy]
            axis.bar(x, value, width * 0.94, **policy_bar(policy))
            mark = said.loc[(size, policy)] if (size, policy) in said.index else None
            if mark is not None:
                _mark(axis, x, mark[column], width * 0.94, mark["derived"])
            _write(axis, x, value, top, form.format(value), policy, mark is not None and mark[column])
            if (size, policy) in set(fitted):
                _plate(axis, x, 0.17 * top, "fitted", INK, rotation=90)
    name_columns(axis, [f"{size:g}" for size in sizes])
    axis.set_ylim(0, 1.06 * top)


def pair_legend(policies, published):
    """Return the legend entries of `pairs`."""
    handles = [policy_patch(policy) for policy in policy_order(policies)[::-1]]
    handles.append(Line2D([], [], label="published", **_MARK))
    if published["derived"].any():
        handles.append(Line2D([], [], label="follows from the published", markerfacecolor="white", **_MARK))
    return handles


def _mark(axis, x, y, width, derived):
    line = {"color": PUBLISHED, "linewidth": 1.0, "solid_capstyle": "butt", "zorder": 4, "path_effects": _HALO}
    axis.plot([x - width / 2, x + width / 2], [y, y], **line)
    face = "white" if derived else PUBLISHED
    axis.plot(x, y, markerfacecolor=face, markeredgecolor=PUBLISHED, zorder=5, **{**_MARK, "linestyle": ""})


def _write(axis, x, value, top, text, policy, mark):
    """Write a bar's value at its foot or, if the bar is too short for that, above the bar."""
    if value > 0.14 * top:
        _plate(axis, x, 0.035 * top, text, policy_line(policy)["color"])
    else:
        above = mark if mark and value < mark < value + 0.12 * top else value
        axis.text(x, above + 0.03 * top, text, ha="center", va="bottom", fontsize=7)


def _plate(axis, x, y, text, edge, rotation=0):
    box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": edge, "linewidth": 0.5}
    axis.text(x, y, text, rotation=rotation, ha="center", va="bottom", fontsize=7, bbox=box)
