"""Draw hit ratio and response time against cache size, as ``misspenalty curve --plot`` and ``penalty --plot`` do."""

from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from misspenalty.errors import InputError
from misspenalty.plotting.style import COLUMN, need, new_panels, policy_lines, policy_order, styled
from misspenalty.traces.trace import format_bytes

MARKED = 40  # a line with more points is drawn without markers
LOW = 50  # limit, %: if all curves stay below it, the axis ends just above their maximum
NUMBERS = ("cache_blocks", "cache_bytes", "hit_ratio", "hit_ratio_error", "mean_us")
TICKS = 7  # maximum number of ticks on the axis of sizes
LONGEST_NAME = 40  # maximum number of characters of a trace's name in a title; longer names are cut


@styled
def hit_ratio(table, block_bytes=None, title=None, counted="blocks"):
    """Draw the hit-ratio curves of one or more policies.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty.hit_ratio_curve`, or several of these concatenated.
    block_bytes : int, optional
        Block size. If it is given, or the table has a column ``cache_bytes``, the sizes are in bytes (KB, MB, …, as
        powers of 2**10), else in blocks or objects.
    title : str, optional
    counted : {"blocks", "objects"}
        What the sizes count if they are not in bytes.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        The table has no rows or lacks a column; or `block_bytes` is missing, and some sizes are in blocks, others in
        bytes.
    """
    table, block_bytes = _by_size(table, block_bytes)
    need(table, ["policy", "cache_blocks", "hit_ratio"], "hit_ratio")
    figure, axes = new_panels(COLUMN, 0.7 * COLUMN)
    scale = block_bytes or 1
    for policy, look in policy_lines(table["policy"]).items():
        rows = table[table["policy"] == policy].sort_values("cache_blocks")
        size, percent = rows["cache_blocks"].to_numpy() * scale, 100 * rows["hit_ratio"].to_numpy()
        line = _line(look, len(rows))
        axes.plot(size, percent, **line)
        if "hit_ratio_error" in rows:
            error = 100 * rows["hit_ratio_error"].to_numpy()
            low, high = np.maximum(percent - error, 0), np.minimum(percent + error, 100)
            axes.fill_between(size, low, high, color=line["color"], alpha=0.25, linewidth=0)
    _size_axis(axes, table["cache_blocks"].to_numpy() * scale, block_bytes, counted)
    highest = 100 * table["hit_ratio"].max()
    axes.set_ylim(0, 100 if not 0 < highest < LOW else 1.15 * highest)
    axes.set_ylabel("Hit ratio (%)")
    axes.legend(loc="best")
    if title:
        axes.set_title(title)
    return figure


@styled
def response_time(table, block_bytes=None, title=None, counted="blocks"):
    """Draw mean response time against cache size: one panel per device, one line per policy.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty.penalty`.
    block_bytes, title, counted
        As in `hit_ratio`.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        The table has no rows or lacks a column; or `block_bytes` is missing, and some sizes are in blocks, others in
        bytes.
    """
    table, block_bytes = _by_size(table, block_bytes)
    need(table, ["policy", "cache_blocks", "device", "mean_us"], "response_time")
    devices = list(dict.fromkeys(table["device"]))
    figure, panels = new_panels(max(COLUMN, 0.8 * COLUMN * len(devices)), 0.7 * COLUMN, len(devices))
    scale, looks = block_bytes or 1, policy_lines(table["policy"])
    for axes, device in zip(panels, devices, strict=True):
        rows = table[table["device"] == device]
        top = rows["mean_us"].max()
        unit, name = next((u, n) for u, n in ((1e6, "s"), (1e3, "ms"), (1, "µs")) if top >= u or u == 1)
        for policy in policy_order(rows["policy"]):
            line = rows[rows["policy"] == policy].sort_values("cache_blocks")
            axes.plot(line["cache_blocks"] * scale, line["mean_us"] / unit, **_line(looks[policy], len(line)))
        _size_axis(axes, rows["cache_blocks"].to_numpy() * scale, block_bytes, counted)
        axes.set_ylim(0, 1.1 * top / unit if top > 0 else 1)  # top is NaN if no request counts
        axes.set_ylabel(f"Mean response time ({name})")
        axes.set_title(device)
    figure.axes[0].legend(loc="best")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=7.5, fontweight="bold")
    return figure


def _by_size(table, block_bytes):
    """Return the table with sizes in ``cache_blocks``, and the block size, which is one byte for sizes in bytes.

    Columns of narrow or nullable types become floats. If some rows have sizes in blocks only and others in bytes, the
    block size is required.
    """
    narrow = [name for name in NUMBERS if name in table and table[name].dtype not in (np.int64, np.float64)]
    table = table.assign(**{name: table[name].to_numpy(float, na_value=np.nan) for name in narrow})
    if "cache_bytes" not in table or ("cache_blocks" in table and table["cache_bytes"].isna().all()):
        return table, block_bytes
    sizes = table["cache_bytes"]
    if "cache_blocks" in table and (blocks := sizes.isna()).any():
        if block_bytes is None:
            raise InputError("some rows have sizes in blocks, others in bytes", remedy="give block_bytes")
        sizes = sizes.where(~blocks, table["cache_blocks"] * block_bytes)
    return table.assign(cache_blocks=sizes), 1


def title(trace: Any) -> str:
    """Return a title for a trace's curves: its name and footprint."""
    name = trace.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace").replace("$", r"\$")
    name = name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
    return f"{name}, footprint {format_bytes(trace.footprint_bytes)}"


def _line(line, points):
    """Return the keywords of a line: no markers if it has many points, and a marker if it has only one."""
    if points > MARKED:
        return line | {"marker": ""}
    return line | ({"marker": "_", "markersize": 9} if points == 1 and not line["marker"] else {})


def _size_axis(axes, sizes, block_bytes, counted):
    """Make the axis logarithmic, and label the only size or round sizes: powers of two for bytes, else of ten."""
    base = 2 if block_bytes else 10
    axes.set_xscale("log", base=base)
    octaves = np.log(sizes.max() / sizes.min()) / np.log(base)
    if octaves < 1:  # the range may contain no round size
        axes.set_xlim(sizes.min() / base**0.5, sizes.max() * base**0.5)
    one = sizes.min() == sizes.max()
    axes.xaxis.set_major_locator(FixedLocator([sizes.min()]) if one else LogLocator(base=base, numticks=TICKS))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: format_bytes(size) if block_bytes else f"{size:,.0f}"))
    axes.set_xlabel("Cache size" if block_bytes else f"Cache size ({counted})")
