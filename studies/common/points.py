"""Pass a study's points from one step to the next: concatenated, or rounded as in a table's file."""

import io

import pandas as pd


def as_written(table, **options):
    """Return a table as it would be read back from its file, with 10 significant digits; `options` go to ``read_csv``.

    Examples
    --------
    >>> as_written(pd.DataFrame({"x": [1 / 3]}))["x"].item()
    0.3333333333
    """
    return pd.read_csv(io.StringIO(table.to_csv(index=False, float_format="%.10g", lineterminator="\n")), **options)


def stacked(runs):
    """Return the runs unchanged; the workflow has already concatenated them.

    Parameters
    ----------
    runs : DataFrame
        One table, because the workflow concatenates a list of files.
    """
    return runs
