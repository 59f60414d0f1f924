"""Summarise a curve over all cache sizes in a few lines: its knees, and the hit ratio at shares of the footprint."""

from __future__ import annotations

import numpy as np

from misspenalty.io.later import pd
from misspenalty.replay.cache_size import block_bytes_of
from misspenalty.traces.reading import counted
from misspenalty.traces.trace import Trace, format_bytes

OF_HITS = (0.5, 0.9, 0.99)  # shares of the maximum number of hits at any size
SHARES = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)  # shares of the footprint
STEPS = 1000  # before its hull is computed, a curve is thinned out to one point per 1 / STEPS of the hit ratio
FALL = 2.0  # at a knee the slope of the hull falls by this factor or more
APART = 0.02  # smallest difference in hit ratio between two knees


def knees(table: pd.DataFrame, size_column: str = "cache_blocks") -> pd.DataFrame:
    """Find the knees of a curve, where its concave hull bends so much that its slope at least halves.

    Parameters
    ----------
    table : DataFrame
        From `misspenalty.hit_ratio_curve`, for one policy.
    size_column : str
        Column of the cache sizes.

    Returns
    -------
    DataFrame
        The rows at the knees, by size, with ``fall``, the factor by which the slope falls. The hit ratio of a knee is
        at least 2 points above that of the previous one or, for the first knee, above 0.

    Examples
    --------
    >>> from misspenalty import hit_ratio_curve
    >>> knees(hit_ratio_curve([1, 2, 3] * 50 + list(range(4, 30)), "lru"))["cache_blocks"].tolist()
    [3]
    """
    table = table.sort_values(size_column, ignore_index=True)
    step = np.floor(table["hit_ratio"].to_numpy() * STEPS)
    first = np.flatnonzero(np.diff(step, prepend=-1) > 0)
    thin = np.unique(np.append(first, len(table) - 1))
    size, ratio = table[size_column].to_numpy()[thin], table["hit_ratio"].to_numpy()[thin]
    hull = _hull(np.append(0, size), np.append(0.0, ratio))
    x, y = np.append(0, size)[hull], np.append(0.0, ratio)[hull]
    slope = np.append(np.diff(y) / np.diff(x), 0.0)
    chosen, falls, last = [], [], 0.0
    for i in range(1, len(hull)):
        if slope[i - 1] >= FALL * slope[i] and y[i] - last >= APART:
            chosen.append(int(thin[hull[i] - 1]))
            falls.append(slope[i - 1] / slope[i] if slope[i] else np.inf)
            last = y[i]
    return table.iloc[chosen].assign(fall=falls)


def _hull(x: np.ndarray, y: np.ndarray) -> list[int]:
    """Find the corners of the concave hull over points sorted by `x`."""
    hull: list[int] = []
    for i in range(len(x)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (y[b] - y[a]) * (x[i] - x[a]) > (y[i] - y[a]) * (x[b] - x[a]):
                break
            hull.pop()
        hull.append(i)
    return hull


def text(trace: Trace, table: pd.DataFrame) -> str:
    """Return a text that summarises the curve of one policy over all sizes."""
    requests, cold = int(table["requests"].iloc[0]), int(table["cold_misses"].iloc[0])
    sizes = table["cache_blocks"].to_numpy()
    marks = [max(int(share * trace.blocks + 0.5), 1) for share in SHARES]
    rows = [int(np.searchsorted(sizes, mark, side="right")) - 1 for mark in marks]
    hits = np.maximum.accumulate(table["hits"].to_numpy())
    lines = [
        repr(trace)[1:-1],
        f"{table['policy'].iloc[0]}: {counted(requests, 'requests')}, {counted(cold, 'cold misses')},"
        f" hit ratio at most {_percent(table['hit_ratio'].max())}",
        "",
        "knees (beyond which the curve is at most half as steep)",
        *_lines(trace, knees(table)),
        "",
        f"smallest caches with {', '.join(f'{share:.0%}' for share in OF_HITS)} of the hits that any size can have",
        *_lines(trace, table.iloc[[int(np.searchsorted(hits, share * hits[-1])) for share in OF_HITS]]),
        "",
        "shares of the footprint",
        *_lines(trace, table.iloc[[row for row in dict.fromkeys(rows) if row >= 0]]),
        "",
        "every size: --csv or --json; as a plot: --plot FILE",
    ]
    return "\n".join(lines)


def _lines(trace: Trace, rows: pd.DataFrame) -> list[str]:
    block_bytes = block_bytes_of(trace)
    return [
        f"  {size:>12,} {'objects' if block_bytes is None else f'blocks  {format_bytes(size * block_bytes):>9}'}"
        f"  {size / trace.blocks:>8.2%}  hit ratio {_percent(ratio)}"
        for size, ratio in zip(rows["cache_blocks"], rows["hit_ratio"], strict=True)
    ] or ["  none"]


def _percent(ratio: float) -> str:
    """Return a hit ratio as text: a percentage, or "-" for NaN, the ratio of no requests."""
    return "-" if np.isnan(ratio) else f"{ratio:.2%}"
