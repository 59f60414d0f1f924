"""Define when two numbers of a verdict are equal, and how numbers are formatted."""

import math

import numpy as np
import pandas as pd
import xarray as xr

SLACK = 1e-9  # numbers that agree to nine digits are equal, because sums of printed decimals are not exact in binary
DIGITS = 4  # significant digits of a number without an interval
WHOLE = 1e15  # whole numbers below this one are written in full


def series(values):
    """Return obtained numbers as a Series whose index names the points."""
    if isinstance(values, xr.DataArray):
        values = values.to_series() if values.ndim else values.item()
    return values if isinstance(values, pd.Series) else pd.Series(np.ravel(values))


def close(a, b, digits_of=0.0):
    """Tell whether two numbers agree to nine digits of the greater one, or of `digits_of` if that is greater still."""
    return abs(a - b) <= SLACK * max(abs(a), abs(b), abs(digits_of))


def compare(op, a, b, digits_of=0.0):
    """Compare two numbers; numbers that agree to nine digits are equal."""
    if close(a, b, digits_of):
        return op in ("<=", ">=", "==")
    return op != "==" and (a < b) == (op in ("<", "<="))


def below(low, high):
    """Return 1 where `low` is below `high`, else 0, and NaN where either is missing; numbers that agree to nine digits
    are equal."""
    sides = (side if isinstance(side, xr.DataArray) else xr.DataArray(side) for side in (low, high))
    return xr.apply_ufunc(_below, *sides, join="outer")


def _below(low, high):
    truth = (low < high) & (abs(low - high) > SLACK * np.maximum(abs(low), abs(high)))
    return np.where(np.isnan(low) | np.isnan(high), np.nan, truth)


def number(value):
    """Return a value as text: a number with at most six significant digits, so that the text is the same on every
    machine; a boolean in lower case; anything else as ``str`` formats it."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return f"{value:.6g}" if isinstance(value, int | float | np.number) else str(value)


def significant(value):
    """Count the significant digits of a printed number; anything else has 0.

    >>> [significant(value) for value in (19.85, 12035, 0.0488, "hot")]
    [4, 5, 3, 0]
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0
    digits = f"{abs(value):.15g}".partition("e")[0].replace(".", "").lstrip("0")
    return len(digits)


def rounded(value, digits=DIGITS, half=0.0):
    """Return a number as text, rounded to its known digits.

    Parameters
    ----------
    value : float
    digits : int
        Maximum number of significant digits; whole numbers are written in full. Numbers below 1e-6 have up to six
        digits, as do those from `WHOLE` on.
    half : float
        Half the width of the number's interval; the number is rounded no finer than to the second significant digit of
        `half`.

    Examples
    --------
    >>> rounded(19.84321), rounded(71355.0), rounded(1234567.8), rounded(47.512, half=18.3), rounded(0.18544, half=2e-4)
    ('19.84', '71355', '1235000', '48', '0.1854')
    """
    value = float(value)
    if abs(value) >= WHOLE:  # write six digits, because rounding the largest numbers would overflow
        return number(value)
    if not math.isfinite(value) or value == 0 or value.is_integer():
        return f"{value + 0.0:.0f}" if math.isfinite(value) else number(value)
    places = digits - 1 - math.floor(math.log10(abs(value)))
    if half > 0 and math.isfinite(half):
        places = min(places, 1 - math.floor(math.log10(half)))
    written = f"{round(value, places) + 0.0:.{max(places, 0)}f}"  # adding 0.0 turns -0 into 0
    return (written.rstrip("0").rstrip(".") if "." in written else written) if abs(value) >= 1e-6 else number(value)


def last_place(written):
    """Return the last decimal place that `rounded` kept in a number without an interval.

    It drops trailing zeros, so fewer decimals may be written.

    >>> [last_place(written) for written in ("35.4", "7", "0.0445", "120345", "0")]
    [2, 3, 5, 0, inf]
    """
    value = abs(float(written))
    least = DIGITS - 1 - math.floor(math.log10(value)) if value else math.inf
    return max(len(written.partition(".")[2]), least)


def label(point):
    """Return the name of a point of a Series."""
    return " ".join(map(number, point if isinstance(point, tuple) else (point,)))


def text(values, write=number):
    """Return numbers as text: a single one if all are written alike, otherwise one per point with its name."""
    if len({write(value) for value in values}) == 1:
        return write(values.iloc[0])
    return ", ".join(f"{label(point)}: {write(value)}" for point, value in values.items())
