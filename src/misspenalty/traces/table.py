"""Describe a table of requests: what its columns mean, and how their values are written.

The same description serves the command line (``--columns``, ``--separator`` and so on), `misspenalty.open_trace`, the
rows of ``config/traces.tsv`` and the dialects, each of which is a file with such a description.
"""

import dataclasses
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.errors import ParameterError, did_you_mean
from misspenalty.traces.quantities import parse_bytes
from misspenalty.traces.vocabulary import SPACE, parse_columns

SECTOR = 512  # bytes of a disk sector, the unit of most address fields
MOST_DEVICES = 1 << 16
DEVICE_SHIFT = 47  # first bit of an address's device number; the lower bits are the place on the device
SEPARATORS = {"comma": ",", "tab": "\t", "blanks": " ", "semicolon": ";", "bar": "|", "colon": ":"}
TIME_UNITS = {"s": 9, "ms": 6, "us": 3, "ns": 0, "100ns": 2}  # power of ten that gives ns
MEANINGS = ("read", "write", "both", "delete", "ignore")
KEYS = ("auto", "number", "text", "hex", "words")
ORDERS = ("file", "time")
LIFETIMES = ("ignore", "honour")
READS = ("r", "read", "rd", "rs", "ra", "ras", "rm", "rsm", "ram", "get", "gets", "load", "rb", "false")
WRITES = (
    "w",
    "write",
    "wr",
    "ws",
    "wm",
    "wsm",
    "wf",
    "wfs",
    "wfsm",
    "fw",
    "fws",
    "fwf",
    "fwfs",
    "fwfsm",
    "fwsm",
    "set",
    "put",
    "store",
    "wb",
    "true",
)
OPERATIONS = {word: "read" for word in READS} | {word: "write" for word in WRITES}
# What a message proposes for unknown operations: SCSI's writes (42 is 0x2A), and words. Others are taken for reads.
LIKELY = {
    "delete": re.compile("(?i)(del|rem|unlink|evict|purge|expire).*"),
    "write": re.compile(
        "(?i)(0x)?[28]a|42|138|.*(wr|put|(?<!off)set|ins|upd|modif|creat|append|upload|post|store|push|(?<!re)add(?!r)).*"
    ),
}
TRUTHS = {"0": "read", "1": "write", "f": "read", "t": "write", "false": "read", "true": "write", "no": "read",
          "yes": "write", "n": "read", "y": "write"}  # fmt: skip

# Map the name of each option of a table to its meaning. The command line, `open_trace` and config/traces.tsv accept
# them.
OPTIONS = {
    "columns": "role=column,… by name or number: key (or block), offset, sector; size, sectors, count, repeat; op,"
    " write, read; device, space; time (or time_s, time_ms, time_us, time_ns), ttl; status; ignore",
    "separator": "comma, tab, blanks, semicolon, bar, colon, or one other ASCII character, no letter, digit or quote",
    "header": "yes or no: whether the first line names the columns",
    "comment": "first characters of lines to skip, such as '#'",
    "operations": "meaning of each operation, GET=read,SET=write,28=read,DEL=delete (or both, ignore); * is any text",
    "time_unit": "s, ms, us, ns, 100ns, iso (ISO 8601), or a format such as '%d/%m/%Y %H:%M'",
    "address_unit": "unit of offsets: bytes, sectors, or a size such as 4KB",
    "size_unit": "unit of sizes: bytes, sectors, or a size such as 4KB",
    "key": "number, text or hex (default: number if the whole column holds whole numbers)",
    "order": "file, or time: sort the rows by time",
    "lifetimes": "ignore, or honour times to live (column ttl, in s) and deletes: after either, the object counts as a"
    " new one",
    "pattern": "instead of a separator, a regular expression of a line whose named groups are columns",
    "skip": "with pattern, a regular expression of the beginning of lines to leave out",
}
OF_TEXT = ("separator", "header", "comment", "pattern", "skip")  # options that have a meaning only for tables of text


def likely_meaning(name: str, unknown: Collection[str]) -> str:
    """Return the meaning that a message proposes for an operation, one of those in `unknown`.

    Examples
    --------
    >>> [likely_meaning(name, ["0", "1"]) for name in ("0", "1", "UPDATE", "readdir", "DELETE")]
    ['read', 'write', 'write', 'read', 'delete']
    """
    if name == "1" and "0" in unknown:
        return "write"
    return next((what for what, form in LIKELY.items() if form.fullmatch(name)), "read")


@dataclass(frozen=True)
class Table:
    """Description of how a table of requests is written; a field is None or empty where the file decides.

    Attributes
    ----------
    columns : dict of str to tuple of str
        Columns by role (see `misspenalty.traces.vocabulary`), by name or by number from 1.
    separator : str
        One character between columns; a space means any run of blanks.
    header : bool or None
        Whether the first line names the columns.
    comment : str or None
        First characters of lines to skip.
    operations : dict of str to str
        Meaning of operations: read, write, both (a read, then a write), delete or ignore; ``*`` in a name is any text.
    time_unit : str
        A key of `TIME_UNITS`, ``iso``, or a `strptime` format.
    address_unit, size_unit : int or None
        Bytes per unit of addresses and of sizes; by default 1 in the columns ``offset`` and ``size``, and `SECTOR` in
        ``sector`` and ``sectors``.
    key : {"auto", "number", "text", "hex", "words"}
        How keys and addresses are written; ``words`` means text that was recognised, not stated by the user, so that a
        key such as NULL is refused as missing.
    order : {"file", "time"}
        Order of the requests: that of the file, or by time.
    lifetimes : {"ignore", "honour"}
        Whether times to live and deletes are honoured; see `misspenalty.traces.lifetimes`.
    names : tuple of str
        Names of the columns, if no header names them.
    pattern, skip : str
        Instead of a separator, a regular expression (RE2) of a row, whose named groups are the columns; and a second
        expression, which matches the beginning of each line to leave out.
    open_ended : bool
        Whether lines may have further columns.
    optional : int
        Number of columns that a file may lack at the end.
    from_start : bool
        Whether times count from the start of the trace, not from an epoch; the first time is kept and need not be 0.
    assumes_time : bool
        Whether nothing states the unit of times, so that `time_unit` is a guess.
    epoch : bool
        Whether times count from 1970, or from 1601 if they are in units of 100 ns.
    whole_sectors : bool
        Whether offsets and sizes are multiples of `SECTOR` bytes.
    example : str
        A line, for messages about a pattern.
    usual : bool
        Whether the words of `OPERATIONS` and `TRUTHS` keep their meaning where `operations` says nothing else.
    unknown_sizes : tuple of str
        What marks an unknown size: ``blank``, or ``zero`` in a read's last column of sizes.
    several : tuple of str
        Operations, in lower case, whose lines name several keys, or name a key after other arguments.
    hosts : tuple of str
        Regular expressions, each with one group, which matches a possible host that no column holds.
    """

    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    separator: str = ""
    header: bool | None = None
    comment: str | None = None
    operations: dict[str, str] = field(default_factory=dict)
    time_unit: str = ""
    address_unit: int | None = None
    size_unit: int | None = None
    key: str = "auto"
    order: str = "file"
    lifetimes: str = "ignore"
    names: tuple[str, ...] = ()
    pattern: str = ""
    skip: str = ""
    open_ended: bool = False
    optional: int = 0
    from_start: bool = False
    assumes_time: bool = False
    epoch: bool = False
    whole_sectors: bool = False
    example: str = ""
    usual: bool = True
    unknown_sizes: tuple[str, ...] = ()
    several: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()

    def asked(self, *roles: str) -> set[str]:
        """Return the columns of these roles, or of all, as names or numbers in lower case; joined ones also in parts.

        Examples
        --------
        >>> sorted(Table(columns={"device": ("Host+disk",), "ignore": ("x",)}).asked("device"))
        ['disk', 'host', 'host+disk']
        """
        columns = [column for role in roles or self.columns for column in self.columns.get(role, ())]
        return {part.strip().lower() for column in columns for part in (column, *column.split("+"))}

    def changed(self, **options: Any) -> "Table":
        """Return this description with the options of a user, given as text or as Python values.

        Raises
        ------
        ParameterError
            An option is unknown or has an invalid value.

        Examples
        --------
        >>> Table().changed(columns="block=key", separator="tab", operations="GET=read").separator
        '\\t'
        """
        if unknown := next((name for name in options if name not in OPTIONS), None):
            raise ParameterError(
                f"tables have no option {unknown!r}{did_you_mean(unknown, OPTIONS)}; they have"
                f" {', '.join(name for name in OPTIONS if name not in OF_TEXT)}, and tables of text also"
                f" {', '.join(OF_TEXT)}"
            )
        parsed = {name: _PARSERS[name](value) for name, value in options.items() if value is not None}
        if "columns" in parsed:
            replaced = ("device",) if SPACE in parsed["columns"] else ()  # spaces replace devices
            kept = {role: names for role, names in self.columns.items() if role not in replaced}
            parsed["columns"] = kept | parsed["columns"]
        if "time_unit" in parsed and self.time_unit:
            parsed["assumes_time"] = False
        if "operations" in parsed:
            parsed["operations"] = parsed["operations"] | {
                name: meaning for name, meaning in self.operations.items() if name not in parsed["operations"]
            }
        return dataclasses.replace(self, **parsed)


def _separator(value: object) -> str:
    text = SEPARATORS.get(str(value).strip().lower(), str(value).replace("\\t", "\t"))
    if len(text) != 1 or not text.isascii() or text.isalnum() or text in '"\r\n':
        raise ParameterError(
            f"separator is {value!r}; expected {', '.join(SEPARATORS)}, or one ASCII character other than a letter, a"
            " digit, a double quote or a line end"
        )
    return text


def _header(value: object) -> bool:
    known = {"yes": True, "no": False, "true": True, "false": False}
    if isinstance(value, bool):
        return value
    if str(value).strip().lower() not in known:
        raise ParameterError(f"header is {value!r}; expected yes or no")
    return known[str(value).strip().lower()]


def parse_operations(value: "str | dict[str, str]") -> dict[str, str]:
    """Return the meanings of operations, given as ``"GET=read,SET=write,DELETE=ignore"`` or as a dict.

    Raises
    ------
    ParameterError
        `value` is neither text nor a dict, a meaning is unknown, or an operation has two meanings.

    Examples
    --------
    >>> parse_operations("GET=read,2a=write")
    {'GET': 'read', '2a': 'write'}
    """
    if isinstance(value, str):
        pairs = [pair.rpartition("=")[::2] for pair in value.split(",")]
    elif isinstance(value, dict):
        pairs = [(name, str(meaning)) for each, meaning in value.items() for name in _names(each)]
    else:
        raise ParameterError(f"operations is {value!r}; expected text such as GET=read,SET=write, or a dict")
    made: dict[str, str] = {}
    for name, meaning in ((name.strip(), meaning.strip().lower()) for name, meaning in pairs):
        if meaning not in MEANINGS:
            raise ParameterError(
                f"operations: {f'{name}={meaning}' if name else repr(meaning)}{did_you_mean(meaning, MEANINGS)};"
                f" expected NAME={' or '.join(MEANINGS)}"
            )
        if made.setdefault(name, meaning) != meaning:
            raise ParameterError(f"operations: {name} has two meanings, {made[name]} and {meaning}; expected one")
    return made


def _names(operation: object) -> tuple[str, ...]:
    """Return the texts by which a column shows an operation; a truth value may be a digit."""
    if type(operation).__name__ in ("bool", "bool_"):  # this includes NumPy's bool
        return str(operation), str(int(bool(operation)))
    return (str(operation),)


def _time_unit(value: object) -> str:
    text = str(value).strip()
    text = {"\u00b5s": "us", "\u03bcs": "us", "ticks": "100ns", "iso8601": "iso"}.get(text.lower(), text)
    if "%" in text or text.lower() in (*TIME_UNITS, "iso"):
        return text if "%" in text else text.lower()
    raise ParameterError(f"time_unit is {value!r}; expected {', '.join(TIME_UNITS)}, iso, or a format such as %H:%M:%S")


def _bytes(name: str, value: object) -> int:
    text = str(value).strip()
    known = {"byte": 1, "bytes": 1, "sector": SECTOR, "sectors": SECTOR}
    return known[text.lower()] if text.lower() in known else parse_bytes(text, name, ", or sectors")


def _choice(name: str, value: object, known: tuple[str, ...]) -> str:
    text = str(value).strip().lower()
    if text not in known:
        raise ParameterError(f"{name} is {value!r}{did_you_mean(text, known)}; expected {', '.join(known)}")
    return text


def _pattern(name: str, value: object) -> str:
    try:
        made = re.compile(str(value))
        pc.match_substring_regex(pa.nulls(1, pa.string()), str(value))  # a list of values would import pandas
    except (re.error, pa.ArrowInvalid) as error:
        raise ParameterError(f"{name} is {value!r}: {error}; expected a regular expression (RE2)") from error
    if name == "pattern" and not 0 < len(made.groupindex) == made.groups:
        raise ParameterError(
            f"pattern is {value!r}; expected named groups, such as (?P<time>\\S+) (?P<key>\\S+); write others as (?:…)"
        )
    return str(value)


def _comment(value: object) -> str:
    if not isinstance(value, str) or not value.isascii() or re.search(r"\s", value):
        raise ParameterError(
            f"comment is {value!r}; expected the first characters of lines to skip, such as '#': ASCII without blanks"
        )
    return value


_PARSERS: dict[str, Any] = {
    "columns": parse_columns,
    "separator": _separator,
    "header": _header,
    "comment": _comment,
    "operations": parse_operations,
    "time_unit": _time_unit,
    "address_unit": lambda value: _bytes("address_unit", value),
    "size_unit": lambda value: _bytes("size_unit", value),
    "key": lambda value: _choice("key", value, KEYS),
    "order": lambda value: _choice("order", value, ORDERS),
    "lifetimes": lambda value: _choice("lifetimes", value, LIFETIMES),
    "pattern": lambda value: _pattern("pattern", value),
    "skip": lambda value: _pattern("skip", value),
}
assert _PARSERS.keys() == OPTIONS.keys()
