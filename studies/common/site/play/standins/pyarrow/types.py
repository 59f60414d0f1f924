"""Define the types of columns."""


class DataType:
    """A type by its name."""

    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return isinstance(other, DataType) and self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return self.name


def _named(*names):
    return lambda kind: kind.name.partition("(")[0] in names


is_boolean, is_string, is_binary, is_decimal = (_named(name) for name in ("bool", "string", "binary", "decimal128"))
is_integer = _named("int8", "int32", "int64", "uint64")
is_dictionary = _named("dictionary")
is_large_string = is_string_view = is_floating = _named()
is_timestamp = is_date = is_time = is_duration = _named()
