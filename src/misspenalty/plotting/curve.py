"""Hit ratio against cache size, for any trace: what ``misspenalty curve --plot`` draws."""

import numpy as np

from misspenalty.plotting.style import COLUMN, need, new_figure, policy_line, policy_order, styled

MARKED = 40  # points up to which each gets its marker


@styled
def hit_ratio(table, block_bytes=None):
    """Curves of one or more policies.

    Parameters
    ----------
    table : DataFrame
        Of `misspenalty.hit_ratio_curve`, or several of them one below another.
    block_bytes : int, optional
        Block size; with it the sizes are in MB (2**20 bytes), else in blocks.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        The table has no rows or lacks a column.
    """
    need(table, ["policy", "cache_blocks", "hit_ratio"], "hit_ratio")
    figure = new_figure(COLUMN, 0.7 * COLUMN)
    axes = figure.subplots()
    scale = block_bytes / (1 << 20) if block_bytes else 1
    for policy in policy_order(table["policy"]):
        rows = table[table["policy"] == policy].sort_values("cache_blocks")
        size, percent = rows["cache_blocks"].to_numpy() * scale, 100 * rows["hit_ratio"].to_numpy()
        line = policy_line(policy)
        axes.plot(size, percent, **line | ({"marker": ""} if len(rows) > MARKED else {}))
        if "hit_ratio_error" in rows:
            error = 100 * rows["hit_ratio_error"].to_numpy()
            low, high = np.maximum(percent - error, 0), np.minimum(percent + error, 100)
            axes.fill_between(size, low, high, color=line["color"], alpha=0.25, linewidth=0)
    axes.set_xscale("log")
    axes.set_ylim(0, 100)
    axes.set_xlabel("Cache size (MB)" if block_bytes else "Cache size (blocks)")
    axes.set_ylabel("Hit ratio (%)")
    axes.legend(loc="best")
    return figure
