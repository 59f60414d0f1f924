"""Stand in for pyarrow in the browser: columns of text are lists; zstd works, Parquet does not.

Python's own functions split and convert columns. Text that is not simple enough for them raises an `ArrowInvalid`; the
package's readers then parse the lines one by one, as they do with pyarrow.
"""

import re
from functools import partial

from compression import zstd

from pyarrow import types
from pyarrow.types import DataType

__all__ = ["Array", "ArrowException", "ArrowInvalid", "BinaryArray", "ChunkedArray", "DataType", "array", "types"]
ArrowException = zstd.ZstdError
HEXADECIMAL = re.compile(rb"0[xX][0-9a-fA-F]{1,16}")


class ArrowInvalid(ArrowException):
    """A value does not belong to a type, or text does not split into fields as expected."""


class ChunkedArray:
    """A column in chunks; no column has this type here."""


# Texts, the values of the type `string`, are bytes here.
int8, int32, int64, uint64, string, binary = (
    partial(DataType, name) for name in ("int8", "int32", "int64", "uint64", "string", "binary")
)


def decimal128(digits, places):
    """Return the type of decimals; no value has this type here."""
    return DataType(f"decimal128({digits}, {places})")


class Array:
    """Values of one type; a missing value is None."""

    offset = 0

    def __init__(self, values, kind):
        self.values, self.type = values, kind

    def __len__(self):
        return len(self.values)

    def __getitem__(self, place):
        value = self.values[place]
        return value.decode(errors="backslashreplace") if self.type == string() and value is not None else value

    @property
    def null_count(self):
        """Number of missing values."""
        return self.values.count(None)

    def to_pylist(self):
        """Return the values as a list."""
        return list(self.values)

    def to_numpy(self, zero_copy_only):
        """Return the values as a NumPy array."""
        import numpy as np

        return np.array(self.values, np.bool_ if self.type == DataType("bool") else np.int64)

    def is_null(self):
        """Tell for each value whether it is missing."""
        return Array([value is None for value in self.values], DataType("bool"))

    def is_valid(self):
        """Tell for each value whether it is present."""
        return Array([value is not None for value in self.values], DataType("bool"))

    def cast(self, kind):
        """Return the values converted to another type."""
        if kind == self.type or {kind.name, self.type.name} <= {"string", "binary"}:
            return Array(self.values, kind)
        if kind == string():
            return Array([None if value is None else str(value).encode() for value in self.values], kind)
        if kind != int64() or self.type != string():
            raise ArrowInvalid(f"no conversion from {self.type} to {kind}")
        return Array([None if value is None else whole(value) for value in self.values], kind)

    view = cast

    def slice(self, first, count):
        """Return `count` values from the index `first` on."""
        return Array(self.values[first : first + count], self.type)

    def take(self, places):
        """Return the values at these indices."""
        return Array([self.values[place] for place in places.values], self.type)

    def filter(self, chosen):
        """Return the values for which `chosen` is true."""
        return Array([value for value, one in zip(self.values, chosen.values, strict=True) if one], self.type)

    def field(self, name):
        """Return one field of each value; the values are dicts."""
        return Array([value[name] for value in self.values], binary())

    def buffers(self):
        """Return three buffers: None, the offsets of the texts, and the texts joined."""
        import itertools

        import numpy as np

        ends = np.array([0, *itertools.accumulate(map(len, self.values))], np.int32)
        return [None, ends, b"".join(self.values)]


def whole(text):
    """Convert a text, decimal or hexadecimal (``0x``), to a whole number that fits into a signed integer of 64 bits."""
    if text[:2] in (b"0x", b"0X"):
        if not HEXADECIMAL.fullmatch(text):
            raise ArrowInvalid(f"{text!r} is not a whole number")
        return (int(text, 16) + (1 << 63)) % (1 << 64) - (1 << 63)
    digits = text.removeprefix(b"-")
    if not digits.isdigit() or len(digits) > 19 or not -(1 << 63) <= (value := int(text)) < 1 << 63:
        raise ArrowInvalid(f"{text!r} is not a whole number")
    return value


def array(values, kind=None):
    """Return an array of these values."""
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    if kind is None:
        kind = DataType("bool") if values and isinstance(values[0], bool) else int64()
        kind = string() if values and isinstance(values[0], str) else kind
    return Array([value.encode() if isinstance(value, str) else value for value in values], kind)


def nulls(count, kind):
    """Return an array of missing values."""
    return Array([None] * count, kind)


def scalar(value, kind):
    """Return the value itself."""
    return value


def py_buffer(data):
    """Return `data` as a buffer, which is the bytes themselves."""
    return data


class BinaryArray:
    """Texts that are stored one after another in a buffer."""

    @staticmethod
    def from_buffers(kind, count, buffers):
        """Return the texts between the offsets in `buffers`, the buffers that `Array.buffers` returns."""
        _, ends, text = buffers
        ends = ends.tolist()
        return Array([text[ends[row] : ends[row + 1]] for row in range(count)], kind)


def OSFile(path):
    """Return the path itself; `CompressedInputStream` opens it."""
    return path


def CompressedInputStream(path, kind):
    """Return a stream of a file's decompressed content."""
    return zstd.open(path)
