"""Define the types of numbers and of records."""


class generic:
    """Base of all types."""


class number(generic):
    """Base of the types of numbers."""


class integer(number):
    """Base of the types of whole numbers."""


class floating(number):
    """Base of the floating-point types."""


def _make(name, char, kind, bits, base):
    """Return a type; calling it converts a value to a Python number. Whole numbers wrap around at the ends of the
    type's range."""

    def new(cls, value=0):
        if kind == "f":
            return float(value)
        if kind == "b":
            return bool(value)
        return wrapped(int(value), kind, bits)

    return type(name, (base,), {"__new__": new, "char": char, "kind": kind, "itemsize": bits // 8})


def wrapped(value, kind, bits):
    """Return a whole number wrapped around to `bits` bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind == "i" and value >> (bits - 1) else value


bool_ = _make("bool", "?", "b", 8, generic)
int8, int16, int32, int64 = (
    _make(f"int{bits}", char, "i", bits, integer) for char, bits in zip("bhiq", (8, 16, 32, 64), strict=True)
)
uint8, uint16, uint32, uint64 = (
    _make(f"uint{bits}", char, "u", bits, integer) for char, bits in zip("BHIQ", (8, 16, 32, 64), strict=True)
)
float32, float64 = _make("float32", "f", "f", 32, floating), _make("float64", "d", "f", 64, floating)
TYPES = (bool_, int8, uint8, int16, uint16, int32, uint32, int64, uint64, float32, float64)
BY_NAME = {made.__name__: made for made in TYPES} | {f"{made.kind}{made.itemsize}": made for made in TYPES}
BY_NAME |= {made.char: made for made in TYPES} | {"l": int32, "L": uint32, "b1": bool_, "?": bool_}
PYTHON = {bool: bool_, int: int64, float: float64}


class dtype:
    """A type of numbers, made from its class, name or code, or a type of records, made from a list of fields.

    Attributes
    ----------
    name, char, kind : str
    itemsize : int
    names : tuple of str or None
    fields : dict of str to (dtype, int)
        Type and offset in bytes of each field.
    swapped : bool
        Whether the bytes of a number are in big-endian order.
    """

    def __init__(self, what):
        self.names, self.fields, self.swapped = None, {}, False
        if isinstance(what, list):
            self.itemsize = 0
            for name, code in what:
                kind = _Void(int(code[1:])) if isinstance(code, str) and code.startswith("V") else dtype(code)
                self.fields[name] = (kind, self.itemsize)
                self.itemsize += kind.itemsize
            self.names, self.name, self.kind, self.char, self.rank = tuple(self.fields), "record", "V", "B", 0
            return
        if isinstance(what, dtype):
            self.__dict__.update(what.__dict__)
            return
        if isinstance(what, str):
            self.swapped = what.startswith(">") and what[2:] != "1"
            made = BY_NAME[what.lstrip("<>=|@")]
        else:
            made = PYTHON.get(what, what)
        self.type, self.name, self.char, self.kind = made, made.__name__, made.char, made.kind
        self.itemsize, self.rank = made.itemsize, TYPES.index(made)

    def __eq__(self, other):
        other = other if isinstance(other, dtype) else dtype(other)
        return (self.names, self.name) == (other.names, other.name)

    def __hash__(self):
        return hash((self.names, self.name))

    def __repr__(self):
        return f"dtype('{self.name}')"

    __str__ = lambda self: self.name  # noqa: E731


class _Void:
    """The type of those bytes of a record that are never read."""

    def __init__(self, size):
        self.itemsize = size
