"""What the intervals of a table do to the numbers that are computed from it.

Cells are moved to the ends of their intervals, many at a time: in every run each cell lies half an interval above or
below its mean, by the signs of a Hadamard matrix, whose columns are orthogonal. The root mean square of what a number
moves is then the root of the summed squares of its cells' effects, which is how independent errors add up.
"""

import numpy as np
from scipy.linalg import hadamard

RUNS = 32  # a power of two; cells that share a column of signs lie far apart in the tables


def runs(frames, halves):
    """Tables with every cell at one end of its interval.

    Parameters
    ----------
    frames : dict of str to DataFrame
        Tables by item.
    halves : dict of str to DataFrame
        Half widths of the intervals, of the same shape; 0 where there is none.

    Yields
    ------
    dict of str to DataFrame
        Runs of the design, fewer than `RUNS` if there are few cells; none if no cell has an interval.

    Examples
    --------
    >>> import pandas as pd
    >>> frame, half = pd.DataFrame({"ms": [5.0, 7.0]}), pd.DataFrame({"ms": [0.5, 0.0]})
    >>> [run["table2"]["ms"].tolist() for run in runs({"table2": frame}, {"table2": half})]
    [[5.5, 7.0], [4.5, 7.0]]
    """
    cells = {item: np.argwhere(half.to_numpy().T > 0) for item, half in halves.items()}  # column by column
    number = sum(map(len, cells.values()))
    if not number:
        return
    order = min(RUNS, 2 ** int(np.ceil(np.log2(number + 1))))
    signs = hadamard(order)[:, 1:]
    for row in signs:
        moved, first = {}, 0
        for item, frame in frames.items():
            where = cells.get(item, ())
            if len(where):
                columns, rows = where.T
                step = np.zeros(frame.shape)
                step[rows, columns] = row[(first + np.arange(len(where))) % (order - 1)]
                moved[item] = frame + step * halves[item].to_numpy()
                first += len(where)
            else:
                moved[item] = frame
        yield moved


def spread(middle, moved):
    """How far numbers move: the root mean square over runs, 0 without runs.

    Parameters
    ----------
    middle : array_like of shape (numbers,)
    moved : sequence of array_like of that shape
        The numbers in each run.
    """
    middle = np.asarray(middle, float)
    if not len(moved):
        return np.zeros(len(middle))
    return np.sqrt(np.mean((np.array([np.asarray(one, float) for one in moved]) - middle) ** 2, axis=0))
