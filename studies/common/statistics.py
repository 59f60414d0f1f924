"""Compute statistics that several studies report."""

import numpy as np

CONFIDENCE = 0.95  # level of every confidence interval in the results


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
    from scipy.special import stdtrit  # slow to import, and most jobs do not need it

    return stdtrit(np.maximum(number - 1, 1), (1 + CONFIDENCE) / 2) * deviation / np.sqrt(number)
