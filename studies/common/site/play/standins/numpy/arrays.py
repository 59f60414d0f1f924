"""Define arrays on Python's buffers."""

import builtins
import itertools
import operator
from array import array as packed

from numpy.dtypes import bool_, dtype, float64, int64, uint64, wrapped

ARRAY_CODES = {"?": "B"}  # codes for types that the module `array` lacks


def stored(values, kind, shape=None):
    """Return an array of these values; values beyond the range of the type wrap around."""
    char = ARRAY_CODES.get(kind.char, kind.char)
    values = values if isinstance(values, list | range) else list(values)
    try:
        made = packed(char, values)
    except OverflowError:
        made = packed(char, [wrapped(value, kind.kind, 8 * kind.itemsize) for value in values])
    return ndarray(memoryview(made).cast("B").cast(kind.char), kind, (len(values),) if shape is None else shape)


def column(view, kind, first, step):
    """Copy numbers that are `step` bytes apart in a buffer, in either byte order, into a new array."""
    size, count = kind.itemsize, len(view) // step
    made = bytearray(size * count)
    for byte in range(size):
        place = size - 1 - byte if kind.swapped else byte
        made[place::size] = view[first + byte : len(view) : step]
    plain = dtype(kind.type)
    return ndarray(memoryview(made).cast(plain.char), plain, (count,))


class ndarray:
    """Numbers in a buffer, in one or two dimensions; slices share the buffer."""

    def __init__(self, flat, kind, shape, step=None):
        self.flat, self.dtype, self.shape = flat, kind, tuple(shape)
        self.step = step if step is not None else self.shape[1] if len(self.shape) == 2 else 1  # distance between rows
        self.flags = _Flags()

    ndim = property(lambda self: len(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)

    @property
    def T(self):
        """The transposed array."""
        return stored(itertools.chain.from_iterable(zip(*self.tolist(), strict=True)), self.dtype, self.shape[::-1])

    @property
    def size(self):
        """The number of elements."""
        return self.shape[0] * self.shape[1] if len(self.shape) == 2 else self.shape[0] if self.shape else 1

    @property
    def contiguous(self):
        """Whether the numbers are contiguous in memory."""
        return self.flat.contiguous and (len(self.shape) != 2 or self.step == self.shape[1])

    @property
    def data(self):
        """The array as a buffer."""
        return self.__buffer__(0)

    def __buffer__(self, flags):
        if not self.contiguous:
            raise BufferError("ndarray is not C-contiguous")
        flat = self.flat if len(self.shape) < 2 else self.flat[: self.size]
        flat = flat if self.flags.writeable else flat.toreadonly()
        return flat.cast("B").cast(self.dtype.char, self.shape) if len(self.shape) == 2 and self.size else flat

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))] if len(self.shape) == 2 else self.tolist())

    def _row(self, place):
        place = place + len(self) if place < 0 else place
        if not 0 <= place < len(self):
            raise IndexError(f"index {place} is out of bounds for size {len(self)}")
        begin = place * self.step
        return ndarray(self.flat[begin : begin + self.shape[1]], self.dtype, (self.shape[1],))

    def _rows(self, part):
        begin, end, by = part.indices(len(self))
        assert by == 1
        return ndarray(
            self.flat[begin * self.step :], self.dtype, (builtins.max(end - begin, 0), self.shape[1]), self.step
        )

    def __getitem__(self, key):
        if isinstance(key, tuple) and len(self.shape) == 2:
            rows, columns = key
            part = self[rows] if isinstance(rows, slice) else self._row(rows)
            if len(part.shape) == 1:
                return part[columns]
            if isinstance(columns, slice):
                begin, end, _ = columns.indices(self.shape[1])
                return ndarray(part.flat[begin:], self.dtype, (len(part), end - begin), part.step)
            flat = part.flat[columns :: part.step][: len(part)]
            return ndarray(flat, self.dtype, (len(flat),))
        if isinstance(key, slice):
            if len(self.shape) == 2:
                return self._rows(key)
            flat = self.flat[key]
            return self._like(flat, (len(flat),))
        if isinstance(key, ndarray | list):
            return self._chosen(key)
        if key is Ellipsis:
            return self
        return self._row(operator.index(key)) if len(self.shape) == 2 else self.flat[operator.index(key)]

    def _like(self, flat, shape):
        made = ndarray(flat, self.dtype, shape)
        made.flags.writeable = self.flags.writeable
        return made

    def _chosen(self, key):
        mask = isinstance(key, ndarray) and key.dtype == bool_
        if mask and len(key) != len(self):
            raise IndexError(f"boolean index of length {len(key)} for an array of length {len(self)}")
        places = key.tolist() if isinstance(key, ndarray) else key
        if len(self.shape) == 2:
            rows = self.tolist()
            chosen = list(itertools.compress(rows, places)) if mask else [rows[place] for place in places]
            return stored(itertools.chain.from_iterable(chosen), self.dtype, (len(chosen), self.shape[1]))
        given = self.tolist()
        return stored(itertools.compress(given, places) if mask else map(given.__getitem__, places), self.dtype)

    def __setitem__(self, key, value):
        if not self.flags.writeable:
            raise ValueError("assignment destination is read-only")
        if isinstance(key, slice) and len(self.shape) == 1:
            place = self.flat[key]
            self.flat[key] = _as_values(value, self.dtype, len(place)).flat
        elif isinstance(key, ndarray | list):
            if isinstance(key, ndarray) and key.dtype == bool_:
                places = list(itertools.compress(range(len(self)), key.tolist()))
            else:
                places = list(key)
            flat = self.flat
            for place, one in zip(places, _as_values(value, self.dtype, len(places)).tolist(), strict=True):
                flat[place] = one
        elif len(self.shape) == 2 and isinstance(key, slice):
            for row in range(*key.indices(len(self))):
                self._row(row)[:] = value
        elif len(self.shape) == 2:
            self._row(key)[:] = value
        else:
            self.flat[operator.index(key)] = value

    def tolist(self):
        """Return the numbers as a list of Python's numbers, or a list of lists."""
        if len(self.shape) == 2:
            return [self._row(row).tolist() for row in range(len(self))]
        return self.flat.tolist() if self.shape else self.flat[0]

    def copy(self):
        """Return an array of the same numbers in a new buffer."""
        made = bytearray(self.nbytes)
        into = memoryview(made).cast(self.dtype.char)
        if len(self.shape) == 2:
            for row in range(len(self)):
                into[row * self.shape[1] : (row + 1) * self.shape[1]] = self._row(row).flat
        else:
            into[:] = self.flat
        return ndarray(into, self.dtype, self.shape)

    def astype(self, kind):
        """Return the numbers as another type, truncated and wrapped around where necessary."""
        kind = dtype(kind)
        if kind == self.dtype:
            return self.copy()
        if kind.kind == "b":
            return stored(map(bool, self._values()), kind, self.shape)
        values = map(int, self._values()) if self.dtype.kind == "f" and kind.kind in "iu" else self._values()
        return stored(values, kind, self.shape)

    def _values(self):
        return (
            list(itertools.chain.from_iterable(self.tolist()))
            if len(self.shape) == 2
            else (self.flat.tolist() if self.shape else [self.flat[0]])
        )

    def view(self, kind):
        """Return the same bytes as another type."""
        kind = dtype(kind)
        flat = self.flat if self.contiguous else self.copy().flat
        made = flat.cast("B").cast(kind.char)
        return ndarray(made, kind, (len(made),))

    def reshape(self, rows, columns=None):
        """Return the numbers in `rows` rows (-1 = as many as needed); without `columns`, in one dimension."""
        if columns is None:
            return ndarray(self.flat[: self.size], self.dtype, (self.size,))
        return ndarray(self.flat, self.dtype, (self.size // columns if rows == -1 else rows, columns))

    def ravel(self):
        """Return the numbers in one dimension."""
        return self if len(self.shape) == 1 else self.copy().reshape(-1)

    def tofile(self, file):
        """Write the numbers to an open file or a path."""
        if hasattr(file, "write"):
            file.write(bytes(self.copy().flat.cast("B")))
        else:
            with open(file, "wb") as opened:
                self.tofile(opened)

    def max(self, initial=None):
        """Return the largest number, or `initial` if that is larger."""
        values = self._values()
        return builtins.max(values if initial is None else [*values, initial])

    def min(self, initial=None):
        """Return the smallest number, or `initial` if that is smaller."""
        values = self._values()
        return builtins.min(values if initial is None else [*values, initial])

    def sum(self, dtype=None):
        """Return the sum of the numbers, converted to `dtype` if that is given."""
        total = builtins.sum(self._values())
        return total if dtype is None else dtype(total)

    def all(self):
        """Return whether all numbers are nonzero."""
        return builtins.all(self._values())

    def any(self):
        """Return whether at least one number is nonzero."""
        return builtins.any(self._values())

    def argmin(self):
        """Return the index of the smallest number."""
        values = self._values()
        return values.index(builtins.min(values))

    def combined(self, other, operation, kind=None, swapped=False):
        """Apply an operation to pairs of numbers of this array and `other`, or of this array and a single number."""
        mine = self._values()
        if isinstance(other, list):
            other = stored(other, self.dtype)
        if isinstance(other, ndarray):
            theirs, partner = other._values(), other.dtype
            if len(theirs) != len(mine):
                theirs = theirs * len(mine) if len(theirs) == 1 else theirs
                if len(theirs) != len(mine):
                    raise ValueError(f"operands could not be broadcast together: {self.shape}, {other.shape}")
        else:
            theirs, partner = itertools.repeat(other, len(mine)), _weak(other, self.dtype)
        kind = kind or _together(self.dtype, partner)
        pairs = (theirs, mine) if swapped else (mine, theirs)
        return stored(map(operation, *pairs), kind, self.shape)

    def __invert__(self):
        if self.dtype == bool_:
            return stored(map(operator.not_, self._values()), self.dtype, self.shape)
        return stored(map(operator.invert, self._values()), self.dtype, self.shape)

    def __neg__(self):
        return stored(map(operator.neg, self._values()), self.dtype, self.shape)

    __hash__ = None


def _as_values(value, kind, count):
    """Return an array of this type and length, made from one repeated value or from several values."""
    if isinstance(value, ndarray):
        if value.dtype != kind:
            value = value.astype(kind)
        if len(value) != count:
            raise ValueError(f"could not broadcast input array from {len(value)} into {count}")
        return value if value.dtype.char == kind.char else value.view(kind)
    values = [value] * count if isinstance(value, int | float) else list(value)
    if len(values) != count:
        raise ValueError(f"could not broadcast input array from {len(values)} into {count}")
    return stored([bool(one) for one in values] if kind.kind == "b" else values, kind)


def _weak(value, kind):
    """Return the type that a Python number takes in an operation with an array of type `kind`."""
    if isinstance(value, float):
        return dtype(float64)
    if isinstance(value, bool):
        return dtype(bool_)
    return dtype(int64) if kind.kind == "b" else kind


def _together(one, other):
    """Return the type of the result of an operation on two types."""
    if one == other or other.kind == "b":
        return one
    if one.kind == "b":
        return other
    if "f" in (one.kind, other.kind):
        return dtype(float64)
    if one.kind == other.kind:
        return max(one, other, key=lambda kind: kind.itemsize)
    signed, unsigned = (one, other) if one.kind == "i" else (other, one)
    if unsigned.itemsize == dtype(uint64).itemsize:
        return dtype(float64)
    return signed if signed.itemsize > unsigned.itemsize else dtype(f"i{2 * unsigned.itemsize}")


def _operation(function, kind=None, swapped=False):
    return lambda self, other: self.combined(other, function, kind and dtype(kind), swapped)


for _name in ("add", "sub", "mul", "floordiv", "mod", "lshift", "rshift", "and", "or", "xor"):
    _function = getattr(operator, {"and": "and_", "or": "or_"}.get(_name, _name))
    setattr(ndarray, f"__{_name}__", _operation(_function))
    setattr(ndarray, f"__r{_name}__", _operation(_function, None, True))
ndarray.__truediv__ = _operation(operator.truediv, float64)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ndarray, f"__{_name}__", _operation(getattr(operator, _name), bool_))


def _in_place(name):
    def run(self, other):
        self[:] = getattr(self, f"__{name}__")(other)
        return self

    return run


for _name in ("add", "sub", "mul", "and", "or"):
    setattr(ndarray, f"__i{_name}__", _in_place(_name))


class _Flags:
    """Flags of an array: whether its numbers may be changed. `c_contiguous` is true, so that traces copy no array."""

    c_contiguous = True

    def __init__(self):
        self.writeable = True


class Records:
    """Records of several fields; indexing by a field's name copies its column into a new array."""

    def __init__(self, view, kind):
        self.view, self.dtype, self.itemsize = view, kind, kind.itemsize
        self.size = len(view) // kind.itemsize
        self.shape, self.nbytes, self.contiguous = (self.size,), len(view), True

    def __len__(self):
        return self.size

    def __buffer__(self, flags):
        return self.view

    def __getitem__(self, key):
        if isinstance(key, str):
            kind, first = self.dtype.fields[key]
            return column(self.view, kind, first, self.itemsize)
        size = self.itemsize
        if isinstance(key, slice):
            begin, end, by = key.indices(self.size)
            assert by == 1
            return Records(self.view[begin * size : builtins.max(end, begin) * size], self.dtype)
        places = itertools.compress(range(self.size), key.tolist()) if key.dtype == bool_ else key.tolist()
        return Records(memoryview(b"".join(self.view[at * size : (at + 1) * size] for at in places)), self.dtype)
