"""Compute operations on columns."""

import re

import pyarrow as pa

BLANKS = b" \t\r\n\v\f"


class _Scalar:
    """One value."""

    def __init__(self, value):
        self.value = value

    def as_py(self):
        """Return the value as a Python object."""
        return self.value


def cast(column, kind, safe=True):
    """Return a column converted to another type."""
    return column.cast(kind)


def ascii_trim_whitespace(column):
    """Return texts without leading and trailing blanks."""
    return pa.Array([None if text is None else text.strip(BLANKS) for text in column.values], column.type)


def equal(column, value):
    """Tell for each value of a column whether it equals `value`."""
    value = value.encode() if isinstance(value, str) else value
    return pa.Array([one == value for one in column.values], pa.DataType("bool"))


def binary_join_element_wise(*columns):
    """Return the texts of several columns row by row, joined by the last argument; none of them is missing."""
    *columns, separator = columns
    rows = zip(*(column.values for column in columns), strict=True)
    return pa.Array(list(map(separator.encode().join, rows)), pa.string())


def if_else(chosen, value, column):
    """Return `value` where `chosen` is true, and the values of `column` elsewhere."""
    pairs = zip(chosen.values, column.values, strict=True)
    return pa.Array([value if one else other for one, other in pairs], column.type)


def fill_null(column, value):
    """Return a column with missing values replaced by `value`."""
    value = value.encode() if isinstance(value, str) else value
    return pa.Array([value if one is None else one for one in column.values], column.type)


def binary_length(column):
    """Return the length of each text in bytes."""
    return pa.Array(list(map(len, column.values)), pa.int64())


def index(column, value):
    """Return the index of the first value that equals `value`, or -1."""
    return _Scalar(column.values.index(value) if value in column.values else -1)


def any(column):
    """Return whether at least one value is true."""
    return _Scalar(True in column.values)


class Encoded:
    """The distinct values of a column in order of first use, and for each row the index of its value among them."""

    type = pa.DataType("dictionary")

    def __init__(self, column):
        known = {}
        numbers = [known.setdefault(value, len(known)) for value in column.values]
        self.dictionary, self.indices = pa.Array(list(known), column.type), pa.Array(numbers, pa.int64())


dictionary_encode = Encoded


def _compiled(pattern):
    try:
        return re.compile(pattern.encode())
    except re.error as error:
        raise pa.ArrowInvalid(str(error)) from error


def match_substring_regex(column, pattern):
    """Tell for each text whether it contains a match of `pattern`."""
    find = _compiled(pattern).search
    found = [None if text is None else find(text) is not None for text in column.values]
    return pa.Array(found, pa.DataType("bool"))


def extract_regex(column, pattern):
    """Return the groups of the first match in each text, or None for a text without a match."""
    find = _compiled(pattern).search
    found = map(find, column.values)
    rows = [None if one is None else {name: text or b"" for name, text in one.groupdict().items()} for one in found]
    return pa.Array(rows, pa.DataType("struct"))
