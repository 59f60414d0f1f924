"""Detect what is lost when the text of a column is converted: zones of times; signs, exponents and zeros of keys."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.traces import values

NUMBERS = ("auto", "number")  # values of the option `key` for which keys in decimal digits are numbers


def ends(column: pa.Array, made: np.ndarray) -> set[str]:
    """Return a set with "below" if a column has numbers below 0, and "beyond" if it has numbers above 2**63 - 1.

    A number below 0 and one above 2**63 - 1 may be equal modulo 2**64.

    Parameters
    ----------
    column : pyarrow.Array
    made : ndarray of uint64
        The keys in the column, as `misspenalty.traces.values.keys` returned them.

    Examples
    --------
    >>> column = pa.array(["-1", "7", "18446744073709551615"])
    >>> sorted(ends(column, values.keys(column, "number")))
    ['below', 'beyond']
    """
    high = np.flatnonzero(made > np.uint64(values.LARGEST))
    if not high.size or pa.types.is_binary(column.type):  # bytes are hashed, even if keys may be numbers
        return set()
    written = values.texts(values.flat(column).take(pa.array(high)).cast(pa.string()))
    signs = {text.lstrip()[:1] == "-" for text in written}
    return {"below" if below else "beyond" for below in signs}


def zones(column: pa.Array) -> set[bool]:
    """Return a set that contains True if some times in ISO 8601 name their zone, and False if some do not.

    Examples
    --------
    >>> sorted(zones(pa.array(["2024-05-31T12:00:00Z", "2024-05-31 12:00:00.5"])))
    [False, True]
    """
    found = pc.match_substring_regex(values.flat(column), r":\d\d(?:[.,]\d+)?\s*(?:[zZ]|UTC|[+-]\d\d(?::?\d\d)?)\s*$")
    return set(found.to_pylist()) - {None}


def is_padded(column: pa.Array) -> bool:
    """Return whether a number in a column of texts has a leading zero, and so may equal a number spelled differently.

    Examples
    --------
    >>> is_padded(pa.array(["7", "007"])), is_padded(pa.array(["0x7"])), is_padded(pa.array(["70", "0", "0.5"]))
    (True, True, False)
    """
    column = column.dictionary if pa.types.is_dictionary(column.type) else column
    return bool(pc.any(pc.match_substring_regex(column.cast(pa.string()), r"^\s*[+-]?0[0-9xX]")).as_py())


def has_exponents(column: pa.Array) -> bool:
    """Return whether a number in a column of texts is written with an exponent, as a spreadsheet writes large ones.

    Examples
    --------
    >>> has_exponents(pa.array(["7", "1.8E+19"])), has_exponents(pa.array(["e3", "1e3a"]))
    (True, False)
    """
    column = column.dictionary if pa.types.is_dictionary(column.type) else column
    form = r"^\s*[+-]?[\d.]+[eE][+-]?\d+\s*$"
    return bool(pc.any(pc.match_substring_regex(column.cast(pa.string()), form)).as_py())
