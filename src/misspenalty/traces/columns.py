"""Define the columns of a trace, with their names and types, and check their values."""

import contextlib
import dataclasses
import numbers
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from misspenalty.errors import ParameterError, check_whole, is_number

LARGEST_BLOCK = 1 << 30  # bytes
LONGEST_NAME = 4096  # maximum length of a trace's name, characters
LARGEST_VALUE = (1 << 63) - 1  # largest time, ns, and largest size, bytes
LARGEST_TOTAL = 1 << 62  # maximum total size of all references, or of all objects, bytes
COLUMNS: dict[str, type] = {
    "ids": np.uint32,
    "write": np.bool_,
    "time": np.int64,
    "address": np.uint64,
    "object_bytes": np.int64,
    "request_bytes": np.int64,
}
OPTIONAL = ("write", "time", "object_bytes", "request_bytes")
BY_BLOCK = ("address", "object_bytes")  # one entry per dense id; the other columns have one per reference


def object_sizes(ids: np.ndarray, sizes: np.ndarray | None) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return the columns ``object_bytes`` and ``request_bytes`` of references with these ids and sizes.

    Examples
    --------
    >>> ids = np.array([0, 1, 0], np.uint32)
    >>> object_sizes(ids, np.array([10, 20, 10])), object_sizes(ids, None)
    ((array([10, 20]), None), (None, None))
    """
    if sizes is None:
        return None, None
    first = sizes[np.unique(ids, return_index=True)[1]]
    return first, None if np.array_equal(first[ids], sizes) else sizes


def as_column(values: ArrayLike, name: str, dtype: type, kinds: str) -> np.ndarray:
    """Return a copy of a column as `dtype`; raise a `ParameterError` if values are of another kind or too large."""
    given = unmasked(values, name)
    if given.dtype.kind not in kinds:
        expected = "booleans" if kinds == "b" else "integers"
        raise ParameterError(f"column {name} is of type {given.dtype}; expected {expected}")
    if given.dtype.kind == "u" and given.max(initial=0) > LARGEST_VALUE:
        at = int(given.argmax())
        raise ParameterError(f"column {name} is {given.flat[at]} at position {at}; expected at most {LARGEST_VALUE}")
    return np.array(given, dtype, order="C")


def unmasked(values: ArrayLike, name: str) -> np.ndarray:
    """Return `values` as an array; raise a `ParameterError` if some are masked, as the mask would be lost, or if they
    are rows of different lengths.

    Whole numbers stay whole even if some need 64 bits without a sign; NumPy would round them to floats.

    Examples
    --------
    >>> unmasked([2**63 + 1, 1], "blocks")
    array([9223372036854775809,                   1], dtype=uint64)
    """
    # The page "Press play" has a NumPy without masked arrays, so their class is named only for arrays with a mask.
    if (
        hasattr(values, "mask")
        and isinstance(values, np.ma.MaskedArray)
        and (masked := int(np.ma.getmaskarray(values).sum()))
    ):
        raise ParameterError(
            f"{name}: {masked} of {values.size} values are masked; leave them out (values.compressed()) or fill them"
            " (values.filled(…))"
        )
    try:
        made = np.asarray(values)
    except ValueError as error:
        raise ParameterError(f"{name}: {error}; expected one value per entry") from error
    given = list(values) if made.dtype.kind == "f" and isinstance(values, list | tuple | range) else []
    if given and all(is_number(value) and isinstance(value, numbers.Integral) for value in given):
        with contextlib.suppress(OverflowError):  # a number below 0, which the caller refuses
            made = np.array(given, np.uint64)
    return made


def same_columns(one: Any, other: Any) -> bool:
    """Return whether two objects of a dataclass whose fields are columns, or None, have equal columns."""
    return all(np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in dataclasses.fields(one))


def check_name(what: str, name: Any) -> str:
    """Return a trace's name, text or a path, as text; raise a `ParameterError` if it is anything else, or too long."""
    text = os.fspath(name) if isinstance(name, os.PathLike) else name
    if not isinstance(text, str) or len(text) > LONGEST_NAME:
        raise ParameterError(f"{what} is {name!r:.60}; expected text of at most {LONGEST_NAME} characters")
    return str(text)


def check_block(block_bytes: int) -> int:
    """Return `block_bytes` as an int, or raise a `ParameterError` if it is not a block size."""
    return check_whole("block_bytes", block_bytes, 1, LARGEST_BLOCK)
