"""Compute statistics that several studies report."""

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95  # level of every confidence interval in the results


def half_width(deviation, number, confidence=CONFIDENCE):
    """Return half the width of the confidence interval of a mean, by Student's t.

    Parameters
    ----------
    deviation : float or Series
        Standard deviation of the sample (`number` - 1 in the denominator); NaN for a single value.
    number : int or Series
        Size of the sample.
    confidence : float, optional
        Confidence level; by default the level of all results.

    Returns
    -------
    float or Series
        The half width, in the unit of `deviation`.

    Examples
    --------
    >>> round(float(half_width(1.0, 3)), 6)
    2.484138
    """
    return stdtrit(np.maximum(number - 1, 1), (1 + confidence) / 2) * deviation / np.sqrt(number)
