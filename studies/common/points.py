"""Run many points of a study in one process: in threads, stacked, with the rounding of tables between the steps."""

import io
from concurrent.futures import ThreadPoolExecutor

import pandas as pd


def as_written(table, **options):
    """Return a table as it reads back from a file, with 10 significant digits; `options` go to ``read_csv``.

    Examples
    --------
    >>> as_written(pd.DataFrame({"x": [1 / 3]}))["x"].item()
    0.3333333333
    """
    return pd.read_csv(io.StringIO(table.to_csv(index=False, float_format="%.10g", lineterminator="\n")), **options)


def in_threads(function, items, threads):
    """Return the results of a function for each item, in the items' order; the kernels run in parallel.

    Parameters
    ----------
    function : callable
        Called with one item; it must not modify shared state.
    items : iterable
    threads : int

    Returns
    -------
    list

    Examples
    --------
    >>> in_threads(abs, [-1, 2], threads=2)
    [1, 2]
    """
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(function, items))


def stacked(runs):
    """Return the runs concatenated, as they are.

    Parameters
    ----------
    runs : DataFrame
        The workflow reads a list of files as one table.
    """
    return runs
