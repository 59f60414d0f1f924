"""Compute statistics that several studies report."""

import numpy as np

CONFIDENCE = 0.95  # level of every confidence interval in the results
HALF_WIDTH = "_ci95"  # suffix of the column with half the width of the interval of a mean


def half_width(deviation, number):
    """Return half the width of the interval of a mean at the level `CONFIDENCE`, by Student's t.

    Parameters
    ----------
    deviation : float, array or Series
        Standard deviation of the sample (`number` - 1 in the denominator); NaN for a single value.
    number : int or Series
        Size of the sample.

    Returns
    -------
    float, array or Series
        The half width, in the unit of `deviation`.

    Examples
    --------
    >>> round(float(half_width(1.0, 3)), 6)
    2.484138
    """
    from scipy.special import stdtrit  # imported here because it is slow to import and most jobs do not need it

    return stdtrit(np.maximum(number - 1, 1), (1 + CONFIDENCE) / 2) * deviation / np.sqrt(number)


def half_widths(groups, columns):
    """Return half the widths of the intervals of groups' means, as ``<column>_ci95``.

    Parameters
    ----------
    groups : DataFrameGroupBy
    columns : sequence of str

    Returns
    -------
    DataFrame
        One row per group; a value is NaN if the group has fewer than two.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = pd.DataFrame({"size": [1, 1, 2], "us": [3.0, 4.0, 5.0]})
    >>> half_widths(runs.groupby("size"), ["us"]).round(2).to_dict()
    {'us_ci95': {1: 6.35, 2: nan}}
    """
    values = groups[list(columns)]
    return half_width(values.std(), values.count()).add_suffix(HALF_WIDTH)
