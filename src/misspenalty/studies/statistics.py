"""Statistics that several studies report."""

import numpy as np
from scipy import stats


def half_width(deviation, number, confidence):
    """Half the width of the confidence interval of a mean, by Student's t.

    Parameters
    ----------
    deviation : float or Series
        Standard deviation of the sample (`number` - 1 in the denominator); NaN for a single value.
    number : int or Series
        Size of the sample.
    confidence : float
        Such as 0.95.

    Returns
    -------
    float or Series
        In the unit of `deviation`.

    Examples
    --------
    >>> round(half_width(1.0, 3, 0.9), 6)
    1.685854
    """
    return stats.t.ppf((1 + confidence) / 2, np.maximum(number - 1, 1)) * deviation / np.sqrt(number)
