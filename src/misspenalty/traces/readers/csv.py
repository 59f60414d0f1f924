"""Comma- or semicolon-separated values under a header that names the columns, in any order.

The meaning of a column follows from its name, in either case, or from the option ``columns``. The place of a request is
either a block or object (`block`; text is hashed) or a byte or sector address (`offset`, `sector`), which is
split into blocks. Other columns are ignored.
"""

from dataclasses import dataclass

import numpy as np

from misspenalty.errors import InputError, ParameterError
from misspenalty.traces.reader import (
    Clock,
    Devices,
    Format,
    Requests,
    extents,
    open_stream,
    read_some,
    register,
    sectors_to_bytes,
)
from misspenalty.traces.text import Lines, with_newlines

# role: the names a header may have for it
ROLES = {
    "block": ("block", "id", "obj_id", "object", "object_id", "key", "block_number", "page"),
    "offset": ("offset", "byte_offset", "offset_bytes"),
    "sector": ("sector", "lba", "lbn", "lbn_512"),
    "count": ("count", "nblocks", "block_count"),
    "size": ("size", "length", "len", "bytes", "size_bytes", "obj_size"),
    "sectors": ("sectors", "nsectors", "sector_count"),
    "op": ("op", "operation", "opcode", "type", "rw"),
    "write": ("write", "is_write"),
    "device": ("device", "disk", "dev", "volume", "asu", "unit"),
    "time": ("time", "timestamp", "time_s", "seconds"),
    "time_ms": ("time_ms", "timestamp_ms"),
    "time_us": ("time_us", "timestamp_us"),
    "time_ns": ("time_ns", "timestamp_ns"),
}
PLACES = ("block", "offset", "sector")
KINDS = {"op": b"o", "write": b"b", "device": b"h", "time": b"d", "time_ms": b"6", "time_us": b"3"}  # others u
TIMES = ("time", "time_ms", "time_us", "time_ns")  # each converted to ns; the first one present counts
HEAD = 1 << 16  # bytes that hold the header and the first row


@dataclass(frozen=True)
class Layout:
    """The parsed header: the grammar of the rows, and the place of each role in them."""

    lines: Lines
    place: dict[str, int]


def layout(head, columns=None, path=None):
    """The `Layout` of a file that begins with `head`.

    Parameters
    ----------
    head : bytes
    columns : str or dict, optional
        Role to the name of its column: ``"block=key,time_ms=when"`` or a dict; recognised names otherwise.

    Raises
    ------
    InputError
        No column gives the place of a request, or two give the same.
    ParameterError
        `columns` names an unknown role.
    """
    header, _, rest = with_newlines(head).partition(b"\n")
    separator = b";" if header.count(b";") > header.count(b",") else b","
    names = _fields(header, separator)
    roles = roles_of(names, columns, path)
    first = _fields(rest.partition(b"\n")[0], separator) + [""] * len(names)
    kinds = b"".join(_kind(roles.get(i), first[i]) for i in range(len(names)))
    return Layout(Lines(kinds, tuple(names), separator, header=1), {role: i for i, role in roles.items()})


def roles_of(names, columns=None, path=None, line=1):
    """Role of each column that has one, by its number; errors as in `layout`."""
    roles = _named(names, columns, path) if columns else _recognised(names)
    places = [role for role in roles.values() if role in PLACES]
    if len(places) != 1 or len(set(roles.values())) != len(roles):
        raise InputError(
            f"the header names {', '.join(places) or 'no place of a request'}",
            path=path,
            line=line,
            expected=f"one column of {', '.join(PLACES)}",
            remedy="name it with --columns (columns=…), such as block=key,time_ms=when",
        )
    return roles


def hash_of(text):
    """The value kept of a text: FNV-1a, as computed by the kernel of `Lines`.

    Examples
    --------
    >>> hash_of(b"a") == hash_of(b"a"), hash_of(b"a") == hash_of(b"b")
    (True, False)
    """
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return (value ^ value >> 32) & 0x7FFFFFFFFFFFFFFF


def _fields(line, separator):
    text = line.decode("utf-8-sig", "replace")
    return [field.strip().strip('"').strip() for field in text.split(separator.decode())]


def _kind(role, first):
    """Letter of the grammar for a column whose first value is `first`."""
    if role is None:
        return b"s"
    if role == "block" and not first.isdigit():
        return b"h"
    return KINDS.get(role, b"u")


def _recognised(names):
    known = {name: role for role, synonyms in ROLES.items() for name in synonyms}
    return {i: known[name.lower()] for i, name in enumerate(names) if name.lower() in known}


def _named(names, columns, path):
    if isinstance(columns, str):
        pairs = [pair.partition("=")[::2] for pair in columns.split(",")]
        columns = {role.strip(): name.strip() for role, name in pairs}
    for role, name in columns.items():
        if role not in ROLES:
            raise ParameterError(f"columns: unknown role {role!r}; expected role=column with {', '.join(ROLES)}")
        if name not in names:
            raise InputError(f"no column {name!r}", path=path, line=1, expected=f"one of {', '.join(names)}")
    return {names.index(name): role for role, name in columns.items()}


def read(path, block_bytes, columns=None):
    """Yield `Requests` of blocks of `block_bytes`; `columns` as in `layout`."""
    with open_stream(path) as stream:
        form = layout(read_some(stream, HEAD, path), columns, path)
    devices, clock = Devices(), Clock(1, path)
    when = next((role for role in TIMES if role in form.place), None)
    for rows in form.lines.columns(path):
        row = {role: rows[i] for role, i in form.place.items()}
        yield requests(row, when, clock, devices, block_bytes, path)


def requests(row, when, clock, devices, block_bytes, path):
    """`Requests` of columns by role; `when` is the role of the time, or None."""
    write = row["op"] if "op" in row else row.get("write")
    write = None if write is None else write.astype(bool)
    time = None if when is None else clock.since_start(row[when])
    if "block" in row:
        own = row.get("size") if "count" not in row else None
        return Requests(row["block"].view("u8"), row.get("count"), write, time, own)
    start = row["offset"] if "offset" in row else sectors_to_bytes(row["sector"], path, "sector")
    size = row["size"] if "size" in row else sectors_to_bytes(row["sectors"], path) if "sectors" in row else None
    device = devices.number(row["device"]) if "device" in row else np.zeros_like(start)
    return extents(device, start, np.ones_like(start) if size is None else size, write, time, block_bytes, path)


def sniff(name, head):
    """Whether the first line names a column that gives a place, and the next lines match."""
    if not head[:1].isalpha() and head[:1] not in (b'"', b"_", b"\xef"):
        return False
    try:
        return layout(head).lines.fits(head)
    except InputError:
        return False


register(
    Format(
        "csv",
        "text: a header with " + " or ".join(PLACES),
        read,
        sniff,
        4096,
        {"columns": f"role=column,… with the roles {', '.join(ROLES)} (default: recognised by name)"},
    )
)
