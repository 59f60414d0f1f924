"""Read result tables in the form that the claims use: indexed by their keys, with NaN for every missing number."""

import itertools
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from misspenalty.errors import InputError
from misspenalty_studies.common.statistics import HALF_WIDTH

BY_SEED = "_by_seed"  # suffix of a table with the numbers of each seed; its column "seed" names the seed
SEEDS = ("seeds", "runs")  # columns with the number of runs that a mean is taken over


def cross(**members):
    """Return every combination of the members of some keys, as a tuple of dicts.

    >>> cross(cache_mb=[128], policy=["lru", "mq"])
    ({'cache_mb': 128, 'policy': 'lru'}, {'cache_mb': 128, 'policy': 'mq'})
    """
    return tuple(dict(zip(members, point, strict=True)) for point in itertools.product(*members.values()))


@dataclass(frozen=True)
class Table:
    """The part of one result table that the claims of a study read."""

    keys: tuple  # columns that name a row
    values: tuple  # columns that hold numbers
    rows: tuple  # dicts of keys: the rows that claims name; a row that the file lacks is read as NaN
    by_seed: bool = field(default=False, kw_only=True)  # whether there is a table of the same numbers for each seed

    def read(self, name, frame=None):
        """Return the table, and its missing cells.

        Parameters
        ----------
        name : str
            Name of the table, for error messages.
        frame : DataFrame, optional
            The result table as stored; None if there is no file.

        Returns
        -------
        frame : DataFrame
            Indexed by `keys`, with the columns `values`; rows in the order of the file, then the missing ones.
        holes : list of (list of int, list of str, str)
            Rows and columns of cells that are NaN, and a text that says what is missing there.

        Raises
        ------
        InputError
            A key column is missing, or two rows have the same keys.
        """
        given = pd.DataFrame(columns=[*self.keys, *self.values]) if frame is None else frame
        absent = [key for key in self.keys if key not in given]
        if absent:
            expected = ", ".join((*self.keys, *self.values))
            raise InputError(f"result table {name} lacks the column {absent[0]!r}", expected=expected)
        twice = given[given.duplicated(list(self.keys))]
        if len(twice):
            row = _words(twice.iloc[0][list(self.keys)].to_dict())
            raise InputError(
                f"result table {name} has two rows for {row}", expected="one row per " + ", ".join(self.keys)
            )
        missing = _absent(given, self.rows)
        table = given.reindex(columns=[*self.keys, *self.values])
        if missing:
            # A row need not name every key; the keys that it leaves out are set to 0.
            added = pd.DataFrame(missing, columns=list(self.keys)).astype(object).fillna(0)
            table = pd.concat([table.astype(object), added], ignore_index=True)
            table[list(self.keys)] = table[list(self.keys)].infer_objects()
        numbers = table[list(self.values)].apply(pd.to_numeric, errors="coerce").astype(float)
        table[list(self.values)] = numbers.where(np.isfinite(numbers))
        holes = []
        for column in self.values:
            if column not in given:
                holes.append((list(range(len(table))), [column], f"{name} has no column {column}"))
                continue
            rows = np.flatnonzero(table[column].isna().to_numpy()[: len(given)])
            for row, keys in zip(rows, table[list(self.keys)].iloc[rows].to_dict("records"), strict=True):
                holes.append(([row], [column], f"{name} has no number in {column} for {_words(keys)}"))
        for row, keys in enumerate(missing, len(given)):
            holes.append(([row], list(self.values), f"{name} has no row for {_words(keys)}"))
        return table.set_index(list(self.keys)), holes

    def halves(self, given, frame):
        """Return the half widths of the intervals of a table's numbers, and the number of runs they come from.

        Parameters
        ----------
        given : DataFrame or None
            The result table as stored. The half width of the interval of ``column`` is in ``column_ci95``, the number
            of runs in ``seeds`` or ``runs``.
        frame : DataFrame
            The same table from `read`.

        Returns
        -------
        halves : DataFrame
            With the shape of `frame`; 0 where there is no interval.
        seeds : int or None
            Number of runs that the intervals come from; 1 if the table has no intervals, None if it has intervals but
            does not state the number.
        """
        halves = pd.DataFrame(0.0, frame.index, frame.columns)
        having = [column for column in self.values if given is not None and f"{column}{HALF_WIDTH}" in given]
        for column in having:
            half = pd.to_numeric(given[f"{column}{HALF_WIDTH}"], errors="coerce").to_numpy(float)
            halves.iloc[: len(given), halves.columns.get_loc(column)] = np.where(np.isfinite(half), half, 0.0)
        counts = [name for name in SEEDS if given is not None and name in given]
        counted = given[counts[0]].dropna() if counts else ()
        seeds = int(counted.max()) if len(counted) else None
        return halves, seeds if having else 1

    def cells(self, frame, where, column):
        """Return the rows and columns of the cells of `column` where the keys are as in `where`; None if the table
        lacks the column or a key."""
        if column not in self.values or not set(where) <= set(self.keys):
            return None
        return np.flatnonzero(_matching(frame.index.to_frame(index=False), where)), [column]


def blanked(frame, rows, columns):
    """Return a copy of a table with some cells set to NaN."""
    copy = frame.copy()
    copy.iloc[list(rows), [copy.columns.get_loc(column) for column in columns]] = np.nan
    return copy


def filled(frame):
    """Return a copy of a table with a random number in each missing cell; blanking cells of the copy then shows which
    claims read these cells."""
    numbers = np.random.default_rng(0).uniform(1, 2, frame.shape)
    return frame.where(frame.notna(), pd.DataFrame(numbers, frame.index, frame.columns))


def _absent(frame, rows):
    """Return the members of `rows`, dicts of keys, that the table does not contain."""
    present = {
        keys: set(zip(*(frame[key].tolist() for key in keys), strict=True)) if keys else {()} if len(frame) else set()
        for keys in {tuple(row) for row in rows}
    }
    return [row for row in rows if tuple(row.values()) not in present[tuple(row)]]


def _matching(frame, row):
    return np.logical_and.reduce([frame[key] == member for key, member in row.items()] or [np.ones(len(frame), bool)])


def _words(row):
    return ", ".join(f"{key} {member}" for key, member in row.items() if not pd.isna(member))
