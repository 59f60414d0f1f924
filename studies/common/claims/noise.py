"""Estimate the uncertainty of numbers that are computed from means over seeds.

If the tables of each seed are available, each number is computed once per seed, and its interval is Student's t
interval of these values. Cells that share a seed then vary together: if two policies serve the same requests, the
interval of their difference is computed from the paired differences.

If only intervals of the means are available, all cells are moved to the ends of their intervals at once: in every run,
the signs in one row of a Hadamard matrix, whose columns are orthogonal, decide to which end each cell is moved. If the
cells that a number depends on have columns of their own, the root mean square of the number's changes is, to first
order, the root of the summed squares of the cells' effects, as for independent errors. If there are more cells than
columns of signs, cells that are a multiple of `RUNS` - 1 places apart share a column.
"""

from dataclasses import dataclass

import numpy as np

from misspenalty_studies.common.statistics import half_width

RUNS = 32  # largest number of runs, a power of two


def runs(frames, halves):
    """Yield tables in which every cell that has an interval is moved to one of its ends.

    Parameters
    ----------
    frames : dict of str to DataFrame
        Tables by item.
    halves : dict of str to DataFrame
        Half widths of the intervals, of the same shape; 0 where there is none.

    Yields
    ------
    dict of str to DataFrame
        The moved tables of each run. There are fewer than `RUNS` runs if few cells have intervals, and none if no cell
        has one.

    Examples
    --------
    >>> import pandas as pd
    >>> frame, half = pd.DataFrame({"ms": [5.0, 7.0]}), pd.DataFrame({"ms": [0.5, 0.0]})
    >>> [run["table2"]["ms"].tolist() for run in runs({"table2": frame}, {"table2": half})]
    [[5.5, 7.0], [4.5, 7.0]]
    """
    cells = {item: np.argwhere(half.to_numpy().T > 0) for item, half in halves.items()}  # by column
    number = sum(map(len, cells.values()))
    if not number:
        return
    from scipy.linalg import hadamard  # imported here because it is slow to import and most jobs do not need it

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


@dataclass(frozen=True)
class Moved:
    """Forms of one claim, recorded on tables other than the tables of the means.

    Attributes
    ----------
    forms : tuple of Form
    seeds : bool
        Whether there is one form per seed; otherwise the cells of the tables are moved to the ends of their intervals.
    """

    forms: tuple = ()
    seeds: bool = False

    def spread(self, middle, numbers):
        """Return half the width of each number's interval; 0 if there are no forms, and infinity where a form has no
        finite number, for example after a division by 0.

        Parameters
        ----------
        middle : array_like of shape (numbers,)
            The numbers on the tables of the means.
        numbers : callable
            Returns the same numbers from one of `forms`.

        Examples
        --------
        >>> Moved((1.0, 2.0, 3.0), seeds=True).spread([2.0], lambda form: [form]).round(3).tolist()
        [2.484]
        """
        middle = np.asarray(middle, float)
        if not self.forms:
            return np.zeros(len(middle))
        values = np.array([np.asarray(numbers(form), float) for form in self.forms])
        finite = np.isfinite(values).all(axis=0)
        values = np.where(finite, values, 0.0)
        if self.seeds:
            half = half_width(values.std(axis=0, ddof=1), len(values))
        else:
            half = np.sqrt(np.mean((values - middle) ** 2, axis=0))
        return np.where(finite, half, np.inf)
