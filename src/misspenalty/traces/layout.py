"""The layout of one file: which of its columns has which role, from a `Table` and the file's first lines."""

import csv
import dataclasses
import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from misspenalty.errors import InputError
from misspenalty.traces.table import TIME_UNITS, Table
from misspenalty.traces.vocabulary import ACTION, IGNORE, KNOWN, PLACES, REMEDY, TIMES, Roles, assign

GUESSED = (",", "\t", ";", "|", " ")  # separators, in the order in which they are tried
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
ISO = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s*(Z|UTC|[+-]\d\d:?(\d\d)?)?)?")
EPOCH = ((1e17, "ns"), (1e14, "us"), (1e11, "ms"))  # Unix times from these on are not seconds
SECONDS = ("time_s", "seconds", "time(s)")  # names that say the unit
INT, TEXT = pa.int64(), pa.string()


@dataclass(frozen=True)
class Layout:
    """How one file is written.

    Attributes
    ----------
    table : Table
        The description, with separator and unit of time as they were found.
    names : tuple of str
        Names of all columns.
    roles : dict of str to tuple of int
        Places of the columns of each role.
    header_lines : int
        Lines at the beginning that are not requests.
    ignored : tuple of str
        Columns that nobody asked to leave out.
    notes : tuple of str
        What was guessed.
    """

    table: Table
    names: tuple[str, ...]
    roles: Roles
    header_lines: int = 0
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[int, pa.DataType]:
        """The type with which each column that matters is first read."""
        kinds: dict[int, pa.DataType] = {}
        for role, places in self.roles.items():
            as_text = role in ("op", "write", "device", ACTION)
            as_text |= role in ("block", "offset", "sector") and self.table.key == "hex"
            as_text |= role == "block" and self.table.key == "text"
            as_text |= role in TIMES and self.table.time_unit not in TIME_UNITS
            kinds |= dict.fromkeys(places, TEXT if as_text else INT)
        return kinds

    def grammar(self) -> str:
        """What a line is expected to be."""
        if self.table.pattern:
            return f"a line such as {self.table.example!r}"
        role_of = {place: role for role, places in self.roles.items() for place in places}
        shown = [f"{name}:{self._shown(role_of.get(place))}" for place, name in enumerate(self.names)]
        return "'" + self.table.separator.join(shown) + (" …" if self.table.open_ended else "") + "'"

    def _shown(self, role: str | None) -> str:
        if role in ("block", "offset", "sector") and self.table.key == "hex":
            return "hex"
        if role in TIMES:
            return "number" if self.table.time_unit in TIME_UNITS else "time"
        if role in ("op", "write"):
            return "|".join(self.table.operations) or "R|W"
        if role in (None, "device", ACTION) or (role == "block" and self.table.key != "number"):
            return "any"
        return "integer"

    def is_row(self, line: bytes) -> bool:
        """Whether a line of a table with a separator is a row, not blank or a comment."""
        text = line.strip()
        return bool(text) and not (self.table.comment and text.startswith(self.table.comment.encode()))

    def fields(self, line: bytes) -> list[str] | None:
        """Fields of a line, in order; None if a quote is not closed."""
        return split(line.decode("utf-8", "surrogateescape").strip("\r\n"), self.table.separator)


def split(line: str, separator: str) -> list[str] | None:
    r"""Fields of a line, without blanks around them or quotes; None if a quote is not closed.

    Examples
    --------
    >>> split("1, \"a, b\"", ","), split(" 1   2 ", " "), split("1,\"a", ",")
    (['1', 'a, b'], ['1', '2'], None)
    """
    if separator == " ":
        return line.split()
    if line.count('"') % 2:
        return None
    try:
        fields = next(csv.reader([line], delimiter=separator, skipinitialspace=separator != "\t"), [])
    except csv.Error:  # a line of binary data
        return None
    return [field.strip() for field in fields]


def resolve(table: Table, head: bytes, path: Path | None = None) -> Layout:
    """The layout of a file that begins with `head`.

    Raises
    ------
    InputError
        The columns do not tell the place of a request, or leave open what a column means.
    """
    if table.pattern:
        names = tuple(re.findall(r"\(\?P<(\w+)>", table.pattern))
        roles = assign(names, table.columns, path, None, recognise=not table.example)
        table = dataclasses.replace(
            table, time_unit=table.time_unit or next((TIMES[r] for r in roles if TIMES.get(r)), "s")
        )
        return Layout(table, names, roles)
    lines = [line.strip("\r") for line in head.decode("utf-8", "surrogateescape").split("\n")]
    if len(lines) > 2:
        lines.pop()  # perhaps cut
    comment = table.comment if table.comment is not None else "#"
    rows = [(at, line) for at, line in enumerate(lines) if line.strip() and not (comment and _is(line, comment))]
    table = dataclasses.replace(table, comment=comment)
    if not rows:
        raise InputError("contains no requests", path=path, expected="a table")
    table = dataclasses.replace(table, separator=table.separator or _separator(table, [line for _, line in rows[:20]]))
    return _declared(table, rows, path) if table.names else _described(table, lines, rows, path)


def _is(line: str, comment: str) -> bool:
    return line.lstrip().startswith(comment)


def _declared(table: Table, rows: list[tuple[int, str]], path: Path | None) -> Layout:
    """The layout of a dialect, whose columns are known."""
    first = split(rows[0][1], table.separator) or []
    header = table.header is not False and same_names(first, table.names)
    if table.header and not header:
        raise InputError(
            f"the first line is {rows[0][1][:60]!r}", path=path, line=rows[0][0] + 1,
            expected=f"a header with {', '.join(table.names)}",
        )  # fmt: skip
    names = tuple(first) if header else table.names
    if not header and table.open_ended:
        names += tuple(f"further {number}" for number in range(1, len(first) - len(names) + 1))
    elif not header and len(first) < len(names):
        names = names[: max(len(first), len(names) - table.optional)]
    roles = assign(names, table.columns, path, rows[0][0] + 1, recognise=False)
    return Layout(_timed(table, roles, names, rows[header:])[0], names, roles, rows[0][0] + 1 if header else 0)


def same_names(first: list[str], names: tuple[str, ...]) -> bool:
    """Whether these fields are the names of a dialect's columns, in any order and case."""
    return sorted(map(str.lower, first)) == sorted(map(str.lower, names))


def _described(table: Table, lines: list[str], rows: list[tuple[int, str]], path: Path | None) -> Layout:
    """The layout of a table that only its header and the user describe."""
    notes: list[str] = []
    at, line = rows[0]
    first = split(line, table.separator) or []
    header = _has_header(table, first) if table.header is None else table.header
    names: tuple[str, ...] = tuple(first) if header else tuple(str(place) for place in range(1, len(first) + 1))
    skipped = at + 1 if header else 0
    above = lines[at - 1].lstrip() if at else ""
    if not header and table.header is None and table.comment and _is(above, table.comment):
        heading = split(above.removeprefix(table.comment), table.separator) or []
        if len(heading) == len(first) and _has_header(table, heading):
            names, notes = tuple(heading), ["columns named by the comment above the first row"]
    if not header and not notes and not table.columns:
        raise InputError(
            "has no header that names the place of a request",
            path=path,
            line=at + 1,
            expected=f"one column of {', '.join(PLACES)}",
            remedy="name columns by number, --columns block=2,time=1 (columns=…), or the format, --format",
        )
    roles = assign(names, table.columns, path, at + 1)
    ignore = {part for column in table.columns.get(IGNORE, ()) for part in (column, *column.split("+"))}
    used = {place for places in roles.values() for place in places}
    ignored = [
        name for place, name in enumerate(names)
        if place not in used and name not in ignore and str(place + 1) not in ignore
    ]  # fmt: skip
    if not header and not notes:
        ignored = [f"{name}" for name in ignored]
    table, more = _timed(table, roles, names, rows[header:])
    if "size" in roles and "count" in roles:
        raise InputError("columns give both a count of blocks and a size", path=path, line=at + 1, remedy=REMEDY)
    return Layout(table, names, roles, skipped, tuple(ignored), (*notes, *more))


def _has_header(table: Table, first: list[str]) -> bool:
    """Whether these fields are names of columns: none is a number, and the user names columns, or one is known."""
    if any(NUMBER.fullmatch(field) for field in first):
        return False
    asked = {part.strip().lower() for columns in table.columns.values() for column in columns
             for part in (column, *column.split("+"))}  # fmt: skip
    return any(not name.isdigit() for name in asked) or any(field.lower() in KNOWN for field in first)


def _separator(table: Table, lines: list[str]) -> str:
    """The separator that gives the most known names in the first line, or else the most fields of equal number."""
    best, found = (-1, -1, False), ","
    wanted = {
        part.lower()
        for columns in table.columns.values()
        for column in columns
        for part in (column, *column.split("+"))
    }
    for separator in GUESSED:
        rows = [split(line, separator) or [] for line in lines]
        known = sum(field.lower() in KNOWN or field.lower() in wanted for field in rows[0])
        even = len(rows[0]) if all(len(row) == len(rows[0]) for row in rows) else 0
        score = (known if not any(map(NUMBER.fullmatch, rows[0])) else 0, even, separator != " ")
        if len(rows[0]) > 1 and score > best:
            best, found = score, separator
    return found


def _timed(table: Table, roles: Roles, names: tuple[str, ...], rows: list[tuple[int, str]]) -> tuple[Table, list[str]]:
    """`table` with the unit of the column of times, and a note if it was guessed."""
    role = next((role for role in TIMES if role in roles), None)
    if role is None:
        return table, []
    if unit := TIMES[role] or table.time_unit:
        return dataclasses.replace(table, time_unit=unit), []
    place = roles[role][0]
    fields = (split(rows[0][1], table.separator) or []) if rows else []
    value = fields[place] if place < len(fields) else ""
    if ISO.fullmatch(value):
        return dataclasses.replace(table, time_unit="iso"), []
    if names[place].lower() in SECONDS:
        return dataclasses.replace(table, time_unit="s"), []
    size = abs(float(value)) if NUMBER.fullmatch(value) else 0.0
    unit = next((unit for least, unit in EPOCH if size >= least), "s")
    return dataclasses.replace(table, time_unit=unit), [f"times taken as {unit} (--time-unit)"]
