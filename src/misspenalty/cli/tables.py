"""Render tables as text: sizes in bytes, percentages, times in one unit per column, at most 100 characters wide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from misspenalty.io.later import pd
from misspenalty.replay.cache_size import CacheSizes
from misspenalty.replay.summary import knees
from misspenalty.traces.reading import counted
from misspenalty.traces.trace import format_bytes

WIDTH = 100  # maximum width of a line, characters
TIME_UNITS = ((1e6, "s"), (1e3, "ms"), (1, "µs"))
DECIMALS = 3  # decimals in a column of times below 10; larger times get fewer
FAR = 1000  # if the largest time of a column is more than this many times the smallest, the smallest selects the unit


def render(table: pd.DataFrame, wide: bool = False, most_rows: int = 200) -> str:
    """Render a table as text.

    If the table is too wide, the last columns are left out and a note says so.

    Parameters
    ----------
    table : DataFrame
    wide : bool
        Whether to show all columns, however wide.
    most_rows : int
        Maximum number of rows that are shown.

    Examples
    --------
    >>> print(render(pd.DataFrame({"policy": ["lru"], "hit_ratio": [0.25], "mean_us": [1500.0], "misses": [12345]})))
    policy  hit ratio  mean (ms)  misses
    lru       25.00 %      1.500  12,345
    """
    shown = table.head(most_rows)
    columns = [_column(name, shown[name]) for name in shown]
    widths = [max(map(len, column)) for column in columns]
    kept = list(range(len(columns)))
    while not wide and len(kept) > 1 and sum(widths[i] for i in kept) + 2 * (len(kept) - 1) > WIDTH:
        kept.pop()
    text = [not pd.api.types.is_numeric_dtype(shown[name]) and name not in RIGHT for name in shown]
    lines = [
        "  ".join(
            f"{columns[i][row]:<{widths[i]}}" if text[i] else f"{columns[i][row]:>{widths[i]}}" for i in kept
        ).rstrip()
        for row in range(len(shown) + 1)
    ]
    if len(kept) < len(columns):
        more = len(columns) - len(kept)
        lines.append(f"({counted(more, 'more columns')}: --wide, --csv or --json)")
    if len(table) > most_rows:
        lines.append(f"({counted(len(table) - most_rows, 'more rows')}: --csv or --json)")
    return "\n".join(lines)


RIGHT = ("size", "bytes")  # columns of text that are aligned on the right


def _column(name: str, values: pd.Series) -> list[str]:
    """Return the header and the cells of a column as strings."""
    if name.endswith(("_ratio", "_share", "_ratio_error")):
        return [name.replace("_", " "), *(_cell(value, lambda v: f"{100 * v:.2f} %") for value in values)]
    if name.endswith("_us"):
        top, least = values.max(), values[values > 0].min()
        base = least if top > FAR * least else top  # prevents a very small time from being shown as 0.00
        scale, unit = next((s, u) for s, u in TIME_UNITS if base >= s or s == 1)
        size = base / scale if base == base else 0.0
        decimals = max(DECIMALS - max(int(math.log10(size)), 0), 0) if size >= 1 else DECIMALS
        cells = [_cell(value, lambda v: f"{v / scale:,.{decimals}f}") for value in values]
        return [f"{name.removesuffix('_us').replace('_', ' ')} ({unit})", *cells]
    if name.endswith("_bytes"):
        return [name.replace("_", " "), *(_cell(value, format_bytes) for value in values)]
    if pd.api.types.is_float_dtype(values):
        return [name.replace("_", " "), *(_cell(value, _number) for value in values)]
    return [name.replace("_", " "), *(_cell(value, _plain) for value in values)]


def _cell(value: Any, shown: Any) -> str:
    return "-" if value is None or value is pd.NA or value != value else str(shown(value))


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4g}"


def _plain(value: Any) -> str:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    return str(value)


def with_sizes(table: pd.DataFrame, given: CacheSizes) -> pd.DataFrame:
    """Replace a table's size column with the size as the user gave it, and in bytes, objects, or blocks and bytes.

    Parameters
    ----------
    table : DataFrame
        Results with a column ``cache_bytes`` or ``cache_blocks`` whose values are the sizes.
    given : CacheSizes

    Examples
    --------
    >>> table = pd.DataFrame({"policy": ["lru"], "cache_blocks": [2], "hits": [1]})
    >>> print(render(with_sizes(table, CacheSizes(["8KB"], [2], False, 4096))))
    policy  size  blocks  bytes  hits
    lru      8KB       2   8 KB     1
    """
    texts, block_bytes = given.texts, given.block_bytes
    place = table.columns.get_loc("cache_bytes" if "cache_bytes" in table else "cache_blocks")
    named = {"size": [texts.get(size, str(size)) for size in table.iloc[:, place]]}
    if "cache_bytes" in table:
        named["bytes"] = [format_bytes(size) for size in table["cache_bytes"]]
    elif block_bytes is None:
        named["objects"] = table["cache_blocks"]
    else:
        named |= {
            "blocks": table["cache_blocks"],
            "bytes": [format_bytes(b * block_bytes) for b in table["cache_blocks"]],
        }
    rest = table.drop(columns=table.columns[place])
    return pd.concat([rest.iloc[:, :place], pd.DataFrame(named, table.index), rest.iloc[:, place:]], axis=1)


ORDER = ("requests", "hits", "misses", "hit_ratio", "hit_ratio_error", "byte_hit_ratio")  # columns that are shown first


def result_text(row: dict[str, Any], given: CacheSizes) -> str:
    """Render one result as text, with one line per fact.

    Examples
    --------
    >>> row = {"policy": "lru", "cache_blocks": 2, "hit_ratio": 0.5}
    >>> print(result_text(row, CacheSizes(["8KB"], [2], False, 4096)))
    policy     lru
    size       8KB
    blocks     2
    bytes      8 KB
    hit ratio  50.00 %
    """
    shown = with_sizes(pd.DataFrame([row]), given)
    lines = [_column(name, shown[name]) for name in shown]
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:{width}}  {value}" for name, value in lines)


def curve_text(table: pd.DataFrame, given: CacheSizes, offline: set[str], wide: bool) -> str:
    """Render the rows of a curve, the best policy at each size, and the size where the best policy's curve bends most.

    Parameters
    ----------
    table, given
        As in `with_sizes`.
    offline : set of str
        Policies that use the future, and bounds; these are never named as the best.
    wide : bool
        As in `render`.
    """
    shown = with_sizes(table, given)
    front = [name for name in shown if name in ("policy", "size", "blocks", "objects", "bytes")]
    first = [name for name in ORDER if name in shown]
    shown = shown[front + first + [name for name in shown if name not in front + first]]
    return "\n".join([render(shown, wide), *_conclusions(table, given.texts, offline)])


def _conclusions(table: pd.DataFrame, texts: dict[int, str], offline: set[str]) -> list[str]:
    size = "cache_bytes" if "cache_bytes" in table else "cache_blocks"
    online = table[~table["policy"].isin(offline) & table["hit_ratio"].notna()]
    if online.empty:
        return []
    lines = [""]
    policies = online["policy"].nunique()
    winners: dict[str, int] = {}
    for value, rows in online.groupby(size, sort=True):
        first, *others = dict.fromkeys(rows[rows["hits"] == rows["hits"].max()]["policy"])  # sizes may repeat
        for name in (first, *others):
            winners[name] = winners.get(name, 0) + 1
        if policies > 1:
            also = f" (and {', '.join(others)})" if others else ""
            lines.append(f"best at {texts[value]}: {first}{also}, {100 * rows['hit_ratio'].max():.2f} %")
    if online[size].nunique() >= 3:
        mean = online.groupby("policy")["hit_ratio"].mean()
        best = max(winners, key=lambda name: (winners[name], mean[name]))
        bends = knees(online[online["policy"] == best], size)
        bends = bends[bends[size] < online[size].max()]  # a bend at the largest size cannot be seen
        if bends.empty:
            lines.append(f"the curve of {best} bends at none of these sizes")
        else:
            value = bends[size].iloc[int(np.argmax(bends["fall"]))]
            lines.append(
                f"the curve of {best} bends most at {texts[value]}: beyond it, the curve is at most half as steep"
            )
    return lines if len(lines) > 1 else []


TIMES = ("mean_us", "p50_us", "p95_us", "p99_us")
COUNTS = ("requests", "hits", "delayed_hits", "misses")


def penalty_text(table: pd.DataFrame, given: CacheSizes, wide: bool) -> str:
    """Render the rows of `misspenalty.penalty`; components of the time that are 0 in all rows are shown only if `wide`.

    Parameters
    ----------
    table, given
        As in `with_sizes`.
    wide : bool
        As in `render`.
    """
    shown = with_sizes(table, given)
    front = [name for name in shown if name in ("policy", "size", "blocks", "objects", "bytes", "device")]
    loads = table[["load", "layout"]].drop_duplicates()
    same = len(loads) == 1
    parts = [name for name in shown if name.endswith("_us") and name not in TIMES and (wide or shown[name].any())]
    counts = [*([] if same and not wide else ["load", "layout"]), *COUNTS]
    order = [*front, "misses", *TIMES, *parts, *(name for name in counts if name != "misses")]
    text = render(shown[order], wide)
    if same and not wide:
        load, layout = loads.iloc[0]
        text += f"\n{load} loop, {counted(table['requests'].iloc[0], 'requests')}" + (
            "" if layout == "none" else f", blocks {PLACED[layout]}"
        )
    return text


PLACED = {"address": "at their addresses", "packed": "packed in order of address"}
