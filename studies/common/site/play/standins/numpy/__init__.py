"""Stand in for NumPy in the browser, with the functions that reading and replaying a trace need, on Python's buffers.

No package registry has NumPy for Pyodide, so the page uses this module instead. Arrays have one or two dimensions and
the types of `dtypes`. Every value equals NumPy's; a function that is missing here raises an AttributeError.
A test replays every format except Parquet, every policy and every device in a browser, and compares the results with
those of NumPy.
"""

import builtins
import itertools
import math
import operator
import os

from numpy.arrays import Records, column, ndarray, stored
from numpy.dtypes import (
    bool_,
    dtype,
    float64,
    floating,
    generic,
    int8,
    int16,
    int32,
    int64,
    integer,
    number,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = ["bool_", "dtype", "float64", "floating", "generic", "int8", "int16", "int32", "int64", "integer", "ndarray"]
__all__ += ["number", "uint8", "uint16", "uint32", "uint64"]
nan = math.nan


def empty(shape, dtype=float64):
    """Return an array of zeros, which is cheaper here than uninitialised memory."""
    kind = _dtype(dtype)
    shape = (int(shape),) if isinstance(shape, int) else tuple(map(int, shape))
    if kind.names:
        return Records(memoryview(bytearray(shape[0] * kind.itemsize)), kind)
    return ndarray(memoryview(bytearray(math.prod(shape) * kind.itemsize)).cast(kind.char), kind, shape)


zeros = empty


def full(shape, value, dtype=None):
    """Return an array in which every element is `value`."""
    made = empty(shape, dtype or (bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else float64))
    made[:] = value
    return made


def ones(shape, dtype=float64):
    """Return an array of ones."""
    return full(shape, 1, dtype)


def zeros_like(values):
    """Return zeros of the shape and type of `values`."""
    return empty(values.shape, values.dtype)


empty_like = zeros_like


def array(values, dtype=None):
    """Return a new array of these values."""
    made = asarray(values, dtype)
    return made.copy() if made is values else made


def asarray(values, dtype=None):
    """Return `values` as an array; an array whose type need not change is returned as it is, without a copy."""
    if isinstance(values, ndarray | Records):
        return values if dtype is None or values.dtype == dtype else values.astype(dtype)
    if isinstance(values, int | float):
        made = stored([values], _kind_of([values]), ())
    elif isinstance(values, list | tuple | range) or not _has_buffer(values):
        values = list(values)
        if values and isinstance(values[0], list | tuple | ndarray):
            rows = [asarray(row) for row in values]
            kind = _common([row.dtype for row in rows])
            flat = list(itertools.chain.from_iterable(row.tolist() for row in rows))
            made = stored(flat, kind, (len(rows), len(rows[0])))
        else:
            made = stored(values, _kind_of(values))
    else:
        view = memoryview(values)
        kind = _dtype(view.format)
        made = ndarray(memoryview(bytearray(view.cast("B"))).cast(kind.char), kind, view.shape)
    return made if dtype is None else made.astype(dtype)


def ascontiguousarray(values, dtype=None):
    """Return `values` as an array that is contiguous in memory."""
    made = asarray(values, dtype)
    return made if made.contiguous else made.copy()


def _has_buffer(values):
    try:
        memoryview(values)
    except TypeError:
        return False
    return True


def _kind_of(values):
    kinds = {bool if isinstance(value, bool) else int if isinstance(value, int) else type(value) for value in values}
    if kinds <= {bool}:
        return _dtype(bool_ if values else float64)
    if kinds <= {int, bool}:
        return _dtype(uint64 if builtins.max(values) >= 1 << 63 else int64)
    return _dtype(float64)


def _common(kinds):
    first = kinds[0]
    return first if builtins.all(kind == first for kind in kinds) else max(kinds, key=lambda kind: kind.rank)


_dtype = dtype


def frombuffer(data, dtype, count=-1):
    """Return all numbers or records in a buffer, or the first `count`; both byte orders are supported."""
    kind = _dtype(dtype)
    view = memoryview(data).cast("B")
    view = view if count < 0 else view[: count * kind.itemsize]
    if len(view) % kind.itemsize:
        raise ValueError("buffer size must be a multiple of element size")
    if kind.names:
        return Records(view, kind)
    if kind.swapped:
        return column(view, kind, 0, kind.itemsize)
    return ndarray(view.cast(kind.char), kind, (len(view) // kind.itemsize,))


def fromfile(file, dtype, count=-1):
    """Return all numbers in a file, or at most `count`; the file is open or given by its path."""
    kind = _dtype(dtype)
    if isinstance(file, str | os.PathLike):
        with open(file, "rb") as opened:
            return fromfile(opened, kind, count)
    data = bytearray(file.read(count * kind.itemsize if count >= 0 else -1))
    return frombuffer(memoryview(data)[: len(data) // kind.itemsize * kind.itemsize], kind)


def memmap(path, dtype, mode, shape=None):
    """Read a column's file into memory and return its content, because a browser cannot map files."""
    made = fromfile(path, dtype)
    return made if shape is None else made[: shape[0]]


def arange(begin, end=None, dtype=None):
    """Return the whole numbers from `begin` up to but excluding `end`."""
    begin, end = (0, begin) if end is None else (begin, end)
    return stored(range(int(begin), int(end)), _dtype(dtype or int64))


def concatenate(parts):
    """Join arrays one after another."""
    parts = [asarray(part) for part in parts]
    kind = _common([part.dtype for part in parts])
    if kind.names:
        return Records(memoryview(b"".join(part.view for part in parts)), kind)
    made = empty(builtins.sum(part.size for part in parts), kind)
    at = 0
    for part in parts:
        made[at : at + part.size] = part
        at += part.size
    return made


append = lambda values, more: concatenate([values, asarray(more).reshape(-1)])  # noqa: E731


def stack(columns, axis):
    """Stack columns of equal length next to each other."""
    assert axis == 1
    rows = list(zip(*(one.tolist() for one in columns), strict=True))
    return stored(itertools.chain.from_iterable(rows), columns[0].dtype, (len(rows), len(columns)))


def split(values, at):
    """Return the parts of an array, split before each of these indices."""
    ends = [0, *(int(place) for place in at), len(values)]
    return [values[begin:end] for begin, end in itertools.pairwise(ends)]


def repeat(values, times):
    """Return an array with each value repeated `times` times."""
    if isinstance(times, int):
        return stored([value for value in values.tolist() for _ in range(times)], values.dtype)
    times = times.tolist()
    return stored(itertools.chain.from_iterable(map(itertools.repeat, values.tolist(), times)), values.dtype)


def diff(values, prepend=None, append=None):
    """Return the differences of neighbouring values, after adding `prepend` before them and `append` after them."""
    given = [*([] if prepend is None else [prepend]), *values.tolist(), *([] if append is None else [append])]
    return stored(map(operator.sub, given[1:], given), values.dtype)


def cumsum(values):
    """Return running sums."""
    kind = values.dtype
    kind = kind if kind.kind == "f" else _dtype(uint64 if kind.kind == "u" else int64)
    return stored(itertools.accumulate(values.tolist()), kind)


def argsort(values, kind=None):
    """Return the indices that sort the values in ascending order; equal values keep their order."""
    given = values.tolist()
    return stored(sorted(range(len(given)), key=given.__getitem__), _dtype(int64))


def sort(values):
    """Return the values in ascending order."""
    return stored(sorted(values.tolist()), values.dtype)


def partition(values, places):
    """Return all values in ascending order; NumPy would put only those at `places` where sorting puts them."""
    return sort(values)


def unique(values, axis=None, return_index=False, return_inverse=False):
    """Return distinct values or, with ``axis=0``, distinct rows, in ascending order."""
    given = list(map(tuple, values.tolist())) if axis == 0 else values.tolist()
    first = {}
    for place, value in enumerate(given):
        first.setdefault(value, place)
    order = sorted(first)
    shape = (len(order), values.shape[1]) if axis == 0 else None
    flat = itertools.chain.from_iterable(order) if axis == 0 else order
    found = [stored(flat, values.dtype, shape)]
    if return_index:
        found.append(stored([first[value] for value in order], _dtype(int64)))
    if return_inverse:
        rank = {value: place for place, value in enumerate(order)}
        found.append(stored([rank[value] for value in given], _dtype(int64)))
    return found[0] if len(found) == 1 else tuple(found)


def searchsorted(values, wanted, side="left"):
    """Return the indices at which `wanted` would have to be inserted into ascending values."""
    import bisect

    find = bisect.bisect_left if side == "left" else bisect.bisect_right
    given = values.tolist()
    if isinstance(wanted, ndarray):
        return stored([find(given, one) for one in wanted.tolist()], _dtype(int64))
    return find(given, wanted)


def bincount(values, minlength=0):
    """Return how often each of the numbers 0, 1, 2, ... occurs."""
    counts = [0] * builtins.max(minlength, values.max(initial=-1) + 1)
    for value in values.tolist():
        counts[value] += 1
    return stored(counts, _dtype(int64))


def flatnonzero(values):
    """Return the indices of the nonzero values."""
    return stored(itertools.compress(itertools.count(), asarray(values).tolist()), _dtype(int64))


def compress(condition, values):
    """Return the values where a condition holds."""
    return asarray(values)[condition]


def count_nonzero(values):
    """Return the number of nonzero values."""
    values = asarray(values)
    if values.dtype.itemsize == 1 and values.contiguous:
        return values.size - bytes(values.data).count(0)
    return builtins.sum(map(bool, values.tolist()))


def isin(values, among, invert=False):
    """Tell for each value whether it occurs in `among`; with `invert`, whether it does not."""
    values, among = values.tolist() if isinstance(values, ndarray) else values, set(among)
    return stored([(value in among) != invert for value in values], _dtype(bool_))


def where(chosen, one, other):
    """Return the values of `one` where `chosen` is true, and those of `other` elsewhere."""
    size = len(chosen)
    one, other = (each if isinstance(each, ndarray) else full(size, each) for each in (one, other))
    pairs = zip(chosen.tolist(), one.tolist(), other.tolist(), strict=True)
    return stored([a if which else b for which, a, b in pairs], _common([one.dtype, other.dtype]))


def all(values):
    """Return whether every value is true."""
    return asarray(values).all()


def max(values, key=None):
    """Return the largest value."""
    return values.max() if isinstance(values, ndarray) else builtins.max(values, key=key)


class _Extreme:
    """The function `minimum` or `maximum`, which compares two arrays value by value."""

    def __init__(self, choose):
        self.choose = choose

    def __call__(self, one, other):
        if isinstance(one, ndarray):
            return one.combined(other, self.choose)
        return other.combined(one, self.choose) if isinstance(other, ndarray) else self.choose(one, other)

    def accumulate(self, values):
        """Return the running minimum or maximum of the values."""
        return stored(itertools.accumulate(values.tolist(), self.choose), values.dtype)

    def at(self, values, places, others):
        """Store at each index in `places` the minimum or maximum of the value there and its partner in `others`."""
        for place, other in zip(places.tolist(), others.tolist(), strict=True):
            values[place] = self.choose(values[place], other)


minimum, maximum = _Extreme(builtins.min), _Extreme(builtins.max)


def clip(values, low, high):
    """Return the values, with those outside a range replaced by its nearer end."""
    return minimum(maximum(values, low), high)


def rint(values):
    """Return values rounded to whole numbers, as floats; halves are rounded to even numbers."""
    if isinstance(values, int | float):
        return float(builtins.round(values, 0))
    return stored([float(builtins.round(value, 0)) for value in values.tolist()], _dtype(float64), values.shape)


round = rint


def isfinite(value):
    """Return whether a number, or each number of an array, is finite."""
    if isinstance(value, ndarray):
        return stored([math.isfinite(one) for one in value.tolist()], _dtype(bool_))
    return math.isfinite(value)


def argmax(values):
    """Return the index of the largest value, the first one on ties."""
    given = values.tolist()
    return given.index(builtins.max(given))


def argmin(values):
    """Return the index of the smallest value, the first one on ties."""
    return values.argmin()
