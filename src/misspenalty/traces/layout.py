"""Find the layout of a file, that is, the role of each column, from a `Table` and the file's first lines."""

import dataclasses
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.errors import InputError
from misspenalty.traces import doubts
from misspenalty.traces.fields import split
from misspenalty.traces.table import OPERATIONS, SEPARATORS, TIME_UNITS, Table
from misspenalty.traces.time_units import compact_date, epoch_unit, stated_unit
from misspenalty.traces.values import texts
from misspenalty.traces.vocabulary import ACTION, PLACES, SPACE, STATUS, TIMES, Roles, assign, meaning

GUESSED = (",", "\t", ";", "|", " ")  # separators, in the order in which they are tried
NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?")
NUMBERED = re.compile(r"[0-9+ ]+")  # columns that a user gives by number
VALUE = re.compile(NUMBER.pattern + "|0[xX][0-9a-fA-F]+|[0-9]+:")  # what a row may hold, but no header
ISO = re.compile(
    r"\d\d:\d\d:\d\d([.,]\d+)?|\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s*(Z|UTC|[+-]\d\d:?(\d\d)?)?)?"
)
EXCEL = re.compile(r'"?sep=(.)"?')
MOST_ABOVE = 10  # a header is looked for among this many lines
COMMENTS = ("#", "//", "%", "--")  # characters with which comments may begin
NAMED_ABOVE = "columns named by the comment above the first row"
FIELDS = re.compile(r"\s*Fields:\s*|fields\t")  # precedes the names of columns in logs of the W3C's format, and Zeek's
TABS = """separate the fields by tabs (perl -pe 's/("[^"]*")| /$1||"\\t"/ge' FILE)"""
RULE = re.compile(r"[-+|:= ]*--[-+|:= ]*")  # a line under a header
LOOKED_AT = 1000  # number of rows that are compared with the names of their columns
INT, TEXT = pa.int64(), pa.string()


@dataclass(frozen=True)
class Layout:
    """Description of how one file is written.

    Attributes
    ----------
    table : Table
        The description, with separator and unit of time as they were found.
    names : tuple of str
        Names of all columns.
    roles : dict of str to tuple of int
        Positions of the columns of each role, from 0.
    header_lines : int
        Number of lines at the beginning that are not requests.
    ignored : tuple of str
        Columns that are not used, although the user did not ask to leave them out.
    notes : tuple of str
        What was guessed.
    heading : bytes
        The header, or the comment that names the columns, as it is written, for files that repeat it; empty if there is
        none.
    """

    table: Table
    names: tuple[str, ...]
    roles: Roles
    header_lines: int = 0
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    heading: bytes = b""

    @property
    def named(self) -> bool:
        """Whether the file itself names its columns."""
        return self.header_lines > 0 or NAMED_ABOVE in self.notes

    @property
    def columns(self) -> dict[str, str]:
        """The name of each role's column, or the joined names of its columns."""
        return {role: " + ".join(self.names[place] for place in places) for role, places in self.roles.items()}

    @property
    def kinds(self) -> dict[int, pa.DataType]:
        """The Arrow type that each column with a role is first read as, by the column's position."""
        kinds: dict[int, pa.DataType] = {}
        for role, places in self.roles.items():
            as_text = role in ("op", "write", "read", "device", ACTION, SPACE, STATUS)
            as_text |= role in ("block", "offset", "sector") and self.table.key == "hex"
            as_text |= role == "block" and self.table.key in ("text", "words")
            as_text |= role in TIMES and (self.table.time_unit not in TIME_UNITS or len(places) > 1)
            kinds |= dict.fromkeys(places, TEXT if as_text else INT)
        return kinds

    def grammar(self) -> str:
        """Return the expected form of a line, for messages."""
        if self.table.pattern:
            return f"a line such as {self.table.example!r}" if self.table.example else "a line that matches the pattern"
        role_of = {place: role for role, places in self.roles.items() for place in places}
        shown = [f"{name}:{self._shown(role_of.get(place))}" for place, name in enumerate(self.names)]
        return "'" + self.table.separator.join(shown) + (" …" if self.table.open_ended else "") + "'"

    def _shown(self, role: str | None) -> str:
        if role in ("block", "offset", "sector") and self.table.key == "hex":
            return "hex"
        if role in TIMES:
            return "number" if self.table.time_unit in TIME_UNITS else "time"
        if role in ("op", "write", "read"):
            return "|".join((*self.table.operations, *(("R", "W") if self.table.usual else ())))
        if role in (None, "device", ACTION, SPACE, STATUS) or (role == "block" and self.table.key != "number"):
            return "any"
        return "integer"

    def is_row(self, line: bytes) -> bool:
        """Return whether a line of a table with a separator is a row, not a blank line, comment or repeated header."""
        text = line.strip()
        if not text or text == self.heading:
            return False
        return not (self.table.comment and text.startswith(self.table.comment.encode()))

    def fields(self, line: bytes) -> list[str] | None:
        """Return the fields of a line, in order; None if a quote is not closed or the line is binary data."""
        return split(line.decode("utf-8", "surrogateescape").strip("\r\n"), self.table.separator, quoted_blanks=True)


def resolve(table: Table, head: bytes, path: Path | None = None, *, doubted: bool = True) -> Layout:
    """Return the layout of a file that begins with `head`.

    `doubted` says whether the first rows are compared with the names of their columns.

    Raises
    ------
    InputError
        There are no rows, a dialect's header is missing, columns cannot be assigned to roles as in
        `misspenalty.traces.vocabulary.assign`, or the meaning of a column is unclear.
    ParameterError
        As in `misspenalty.traces.vocabulary.assign`.
    """
    if table.pattern:
        names = tuple(re.findall(r"\(\?P<(\w+)>", table.pattern))
        if not table.example:
            return understood(table, names, _first_matches(table, names, head), path, None, doubted)
        roles = assign(names, table.columns, path, None, recognise=False)
        return Layout(_timed(table, roles, ())[0], names, roles)
    lines = [line.strip("\r") for line in head.decode("utf-8", "surrogateescape").split("\n")]
    if len(lines) > 2:
        lines.pop()  # the last line may be incomplete
    comment = _comment(lines) if table.comment is None else table.comment
    rows = [(at, line) for at, line in enumerate(lines) if line.strip() and not (comment and _is(line, comment))]
    table = dataclasses.replace(table, comment=comment)
    if not rows:
        commented = f"lines that begin with {comment} are comments; --comment (comment=…) states other characters"
        remedy = commented if any(line.strip() for line in lines) else None
        raise InputError("contains no requests", path=path, expected="a table", remedy=remedy)
    if not table.names and table.header is None:
        table, rows = _from_header(table, rows)
    if not table.separator:
        first = [line for _, line in rows[:20]]
        found = _separator(table, first)
        if rows[0][0] and comment and not _names_place(table, split(first[0], found) or []):
            above = _above(lines[: rows[0][0]], comment)
            found = _separator_of_fields(above.removeprefix(comment), first[0]) or found
        table = dataclasses.replace(table, separator=found)
        _check_commas(table.separator, first, path)
    return _declared(table, rows, path) if table.names else _described(table, lines, rows, path, doubted)


def _from_header(table: Table, rows: list[tuple[int, str]]) -> tuple[Table, list[tuple[int, str]]]:
    """Return the table and its rows, without lines of another kind above the header: Excel's ``sep=;``, or prose."""
    if (said := EXCEL.fullmatch(rows[0][1].strip())) and len(rows) > 1:
        return dataclasses.replace(table, separator=table.separator or said[1]), rows[1:]
    asked = {name for name in table.asked() if not NUMBERED.fullmatch(name)}
    for start in range(min(MOST_ABOVE, len(rows) - 1)):
        lines = [line for _, line in rows]
        separator = table.separator or _separator(table, lines[start : start + 20])
        above, (fields, after) = (
            [split(line, separator) or [] for line in part] for part in (lines[:start], lines[start : start + 2])
        )
        stated = not asked.isdisjoint(name.lower() for name in fields)
        named = any((meaning(name) or ("",))[0] in PLACES for name in fields)
        apart = stated or (named and all(len(each) != len(fields) for each in above))
        if apart and 1 < len(fields) == len(after) and _has_header(table, fields):
            return table, rows[start:]
    return table, rows


def _names_place(table: Table, fields: list[str]) -> bool:
    """Return whether these fields are a header with a place of requests, or with a name that the user gives."""
    places = [name for name in fields if name.lower() in table.asked() or (meaning(name) or ("",))[0] in PLACES]
    return bool(places) and _has_header(table, fields)


def _comment(lines: list[str]) -> str:
    """Return the characters that begin the first line, if they usually mark a comment; otherwise ``#``."""
    first = next((line for line in lines if line.strip()), "")
    return next((comment for comment in COMMENTS if _is(first, comment)), COMMENTS[0])


def _is(line: str, comment: str) -> bool:
    return line.lstrip().startswith(comment)


def _declared(table: Table, rows: list[tuple[int, str]], path: Path | None) -> Layout:
    """Return the layout of a file in a dialect, whose columns are known."""
    first = split(rows[0][1], table.separator) or []
    header = table.header is not False and same_names(first, table.names)
    if table.header and not header and (present := _present(table, first)):
        header, table = True, dataclasses.replace(table, columns=present)
    if table.header and not header:
        raise InputError(
            f"the first line is {rows[0][1][:60]!r}", path=path, line=rows[0][0] + 1,
            expected=f"a header with {', '.join(table.names)}",
        )  # fmt: skip
    names = tuple(first) if header else table.names
    if not header and table.open_ended and len(first) > len(names):
        names += tuple(f"further {number}" for number in range(1, len(first) - len(names) + 1))
    elif not header and len(first) < len(names):
        names = names[: max(len(first), len(names) - table.optional)]
    roles = assign(names, table.columns, path, rows[0][0] + 1, recognise=False)
    _check_decimals(table, roles, rows[header:], path)
    table = _timed(table, roles, [split(line, table.separator) or [] for _, line in rows[header : header + 1]])[0]
    return Layout(table, names, roles, *((rows[0][0] + 1, (), (), _written(rows[0][1])) if header else ()))


def _check_decimals(table: Table, roles: Roles, rows: list[tuple[int, str]], path: Path | None) -> None:
    """Raise an `InputError` if the last declared column holds times that may be written with decimal commas.

    This is possible if no time has a fraction, each row has one further field of digits, whose length is the same in
    all rows but whose value is not, and the times do not fall more often if these digits are taken as their fractions.
    """
    place = len(table.names) - 1
    if not table.open_ended or table.separator != "," or not any((place,) == roles.get(role) for role in TIMES):
        return
    found = [(split(line, ",") or [])[place:] for _, line in rows[:LOOKED_AT]]
    if not all(len(each) == 2 and all(map(str.isdecimal, each)) for each in found):
        return
    parts = {part for _, part in found}
    times = [(int(whole), int(part)) for whole, part in found]
    falls = sum(later < earlier for earlier, later in itertools.pairwise(times))
    whole_falls = sum(later[0] < earlier[0] for earlier, later in itertools.pairwise(times))
    if len(parts) > 1 and len({len(part) for part in parts}) == 1 and falls == whole_falls:
        columns = ",".join(f"{role}={at[0] + 1}" for role, at in roles.items())
        raise InputError(
            f"fields {place + 1} and {place + 2} ({','.join(found[1])}) may be one time with a decimal comma, as no"
            " time has a fraction",
            path=path,
            line=rows[1][0] + 1,
            remedy="decimals follow a point, not a comma: write them so; if these are two columns, name those to read:"
            f" --columns {columns} --time-unit {table.time_unit} (columns=…, time_unit=…)",
        )


def _present(table: Table, first: list[str]) -> dict[str, tuple[str, ...]]:
    """Return an incomplete header's columns by role; none if a column of keys, spaces or operations is missing.

    Only declared columns may be missing; columns that the user names are kept.
    """
    declared, present = ({name.lower() for name in names} for names in (table.names, first))
    found = {
        role: "+".join(
            part for column in columns for part in column.split("+") if part.lower() not in declared - present
        )
        for role, columns in table.columns.items()
    }
    whole = declared & present and all(
        found[role] == "+".join(table.columns[role]) for role in ("block", "op", SPACE) if role in found
    )
    return {role: (columns,) for role, columns in found.items() if columns} if whole else {}


def _written(line: str) -> bytes:
    return line.strip().encode("utf-8", "surrogateescape")


def same_names(first: list[str], names: tuple[str, ...]) -> bool:
    """Return whether these fields are the names of a dialect's columns, in any order and case."""
    return sorted(map(str.lower, first)) == sorted(map(str.lower, names))


def _described(table: Table, lines: list[str], rows: list[tuple[int, str]], path: Path | None, doubted: bool) -> Layout:
    """Return the layout of a table that is described by its header and the user, not by a dialect."""
    notes: list[str] = []
    at, line = rows[0]
    first = split(line, table.separator) or []
    header = _has_header(table, first) if table.header is None else table.header
    names: tuple[str, ...] = tuple(first) if header else ("",) * len(first)
    skipped = at + 1 if header else 0
    if header and (prose := sum(bool(each.strip()) and not _is(each, table.comment or "\n") for each in lines[:at])):
        notes.append(f"left out {prose} line{'s' * (prose > 1)} above the header")
    if header and len(rows) > 1 and RULE.fullmatch(rows[1][1].strip()):
        skipped = rows.pop(1)[0] + 1
    above, written_above = _above(lines[:at], table.comment) if at and table.comment else "", b""
    if not header and table.header is None and above:
        headings = _headings(above.removeprefix(table.comment or ""), table.separator)
        for heading in headings:
            if len(heading) == len(first) and _has_header(table, heading):
                names, notes, written_above = tuple(heading), [NAMED_ABOVE], _written(above)
                break
        if not notes and not table.columns and FIELDS.match(above.removeprefix(table.comment or "")):
            quoted = table.separator == " " and any(" " in part for part in line.split('"')[1::2])
            raise InputError(
                f"{len(first)} field{'s' * (len(first) != 1)}{' (blanks within quotes separate fields, too)' * quoted},"
                f" although {above[:40].strip()!r} names {len(max(headings, key=len))} columns",
                path=path,
                line=at + 1,
                remedy=f"{TABS if quoted else 'correct that comment'}, or describe lines with a regular expression"
                " (--pattern)",
            )
    if not header and not notes and not table.columns:
        raise InputError(
            "has no header that names the place of a request",
            path=path,
            line=at + 1,
            expected=f"one column of {', '.join(PLACES)}",
            remedy="name columns by number, --columns block=2,time=1 (columns=…), the format (--format), or describe"
            " lines with a regular expression (--pattern)",
        )
    columns = _first_values(table, rows[header:], len(names))
    blank = {place for place, name in enumerate(names) if not name and not any(columns[place])}
    names = tuple(name or (f"#{place}" if header else str(place)) for place, name in enumerate(names, 1))
    made = understood(table, names, columns, path, at + 1, doubted)
    unnamed = {names[place] for place in blank}
    return dataclasses.replace(
        made,
        header_lines=skipped,
        ignored=tuple(name for name in made.ignored if name not in unnamed),
        notes=(*notes, *made.notes),
        heading=_written(line) if header else written_above,
    )


def _above(lines: list[str], comment: str) -> str:
    """Return the comment above the first row that names columns or, if none says so, the line directly above it."""
    comments = [line.lstrip() for line in reversed(lines) if _is(line, comment)]
    named = (each for each in comments if FIELDS.match(each.removeprefix(comment)))
    return next(named, comments[0] if comments and _is(lines[-1], comment) else "")


def _headings(above: str, separator: str) -> tuple[list[str], list[str]]:
    """Return the names in a comment, without its mark, as divided by a table's separator and by blanks."""
    written = _after_fields(above)
    return split(written, separator) or [], written.split()


def _after_fields(above: str) -> str:
    """Return a comment without ``Fields:`` at its beginning."""
    found = FIELDS.match(above)  # not `sub`, which takes quadratic time for a line of blanks
    return above[found.end() :] if found else above


def named_otherwise(lines: list[str], comment: str, separator: str, names: tuple[str, ...]) -> bool:
    """Return whether the comment above the first row of a table names columns, but not those of `names` in this order.

    Examples
    --------
    >>> lines = ["# key size", "7 512"]
    >>> named_otherwise(lines, "#", " ", ("time", "key")), named_otherwise(lines, "#", " ", ("Key", "Size"))
    (True, False)
    """
    at = next((place for place, line in enumerate(lines) if not _is(line, comment)), len(lines))
    above = _above(lines[:at], comment) if at else ""
    if at == len(lines) or not above:
        return False
    width = len(split(lines[at], separator) or [])
    found = [each for each in _headings(above.removeprefix(comment), separator) if len(each) == width]
    named = [each for each in found if _has_header(Table(), each)]
    return bool(named) and all([*map(str.lower, each)] != [*map(str.lower, names[:width])] for each in named)


def understood(
    table: Table,
    names: tuple[str, ...],
    columns: list[list[str]],
    path: Path | None,
    line: int | None = None,
    doubted: bool = True,
    timed: Callable[[Table, Roles], tuple[Table, Iterable[str]]] | None = None,
) -> Layout:
    """Return the layout of a table whose columns have these names and first values; parameters as in `doubts.check`.

    ``timed(table, roles)`` returns the table with its unit of times, and notes if the unit was guessed; by default, it
    is guessed from the first values.
    """
    roles = assign(names, table.columns, path, line)
    used = {place for places in roles.values() for place in places}
    ignored = (
        name for place, name in enumerate(names) if place not in used and not doubts.left_out(name, place, table)
    )
    table = dataclasses.replace(table, **doubts.units(table, names, roles))
    table, notes = timed(table, roles) if timed else _timed(table, roles, list(zip(*columns, strict=True))[:1])
    if doubted:
        doubts.check(table, names, roles, columns, path, line)
    return Layout(table, names, roles, ignored=tuple(ignored), notes=(*notes, *doubts.merged(table, names)))


def _first_matches(table: Table, names: tuple[str, ...], head: bytes) -> list[list[str]]:
    """Return the first values of each group of the pattern; none if no line at the beginning of the file matches."""
    lines = head.split(b"\n")
    if len(lines) > 2:
        lines.pop()  # the last line may be incomplete
    found = pc.extract_regex(pa.array(lines[:LOOKED_AT], pa.binary()), f"(?m)^(?:{table.pattern})\\s*$")
    found = found.filter(pa.array(found.is_valid().to_numpy(zero_copy_only=False)))
    return [texts(found.field(name).view(pa.string())) for name in names]


def _first_values(table: Table, rows: list[tuple[int, str]], width: int) -> list[list[str]]:
    """Return the first values of each column, from rows that have all columns."""
    found = [split(line, table.separator) or [] for _, line in rows[:LOOKED_AT]]
    return [list(column) for column in zip(*(row for row in found if len(row) == width), strict=True)] or [
        [] for _ in range(width)
    ]


def _has_header(table: Table, first: list[str]) -> bool:
    """Return whether these fields are names of columns.

    They are if none of them is a number or a time, and one is a known name or the user gives columns by name. A word
    such as read, which is also an operation, is no sign of a header.
    """
    if any(VALUE.fullmatch(field) or ISO.fullmatch(field) for field in first):
        return False
    known = (meaning(field) for field in first if field.lower() not in OPERATIONS)
    return any(not NUMBERED.fullmatch(name) for name in table.asked()) or any(known)


def _separator(table: Table, lines: list[str]) -> str:
    """Return the separator that gives the most known names in the first line or, without known names, the most fields,
    equally many in all lines."""
    best, found = (False, -1, -1, False), ","
    wanted = table.asked()
    for separator in GUESSED:
        rows = [split(line, separator) or [] for line in lines]
        known = sum(meaning(field) is not None or field.lower() in wanted for field in rows[0])
        known = 0 if any(map(NUMBER.fullmatch, rows[0])) else known
        even = len(rows[0]) if all(len(row) == len(rows[0]) for row in rows) else 0
        score = (known > 0 and separator != " ", known, even, separator != " ")
        if len(rows[0]) > 1 and score > best:
            best, found = score, separator
    return found


def _separator_of_fields(above: str, line: str) -> str:
    """Return the separator that gives a line as many fields as a comment such as ``Fields: …`` names, or a blank if it
    gives more; empty if none does, or the comment is another one."""
    if not FIELDS.match(above):
        return ""
    names = _after_fields(above)
    apart = len(names.split())
    numbers = {sign: len(split(line, sign) or []) for sign in GUESSED}
    even = (sign for sign in GUESSED if numbers[sign] == len(split(names, sign) or []) > 1)
    wide = (sign for sign in GUESSED if numbers[sign] == apart > 1)
    return next(even, next(wide, " " if numbers[" "] > apart else ""))


def _check_commas(found: str, lines: list[str], path: Path | None) -> None:
    """Raise an `InputError` if the separator found in a table's first lines is a comma that may be a decimal comma."""
    if found == "," and (other := next((sign for sign in GUESSED[1:] if _has_decimal_commas(lines, sign)), None)):
        word = next(word for word, sign in SEPARATORS.items() if sign == other)
        raise InputError(
            f"commas in {lines[0][:60]!r} may separate columns, or be decimal commas",
            path=path,
            remedy=f"say which, --separator comma or {word} (separator=…); decimals follow a point, not a comma",
        )


def _has_decimal_commas(lines: list[str], separator: str) -> bool:
    """Return whether `separator` divides the lines into equally many fields, and all commas are between digits there.

    Examples
    --------
    >>> _has_decimal_commas(["0,5;7", "1;8"], ";"), _has_decimal_commas(["1, 7", "2, 8"], " ")
    (True, False)
    """
    rows = [split(line, separator) or [] for line in lines]
    fields = itertools.chain.from_iterable(rows)
    even = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
    decimal = r"[+-]?\d+,\d+" if separator == " " else r"[^,]*\d,\d+"  # a blank may be part of a date and time
    return even and all("," not in field or re.fullmatch(decimal, field) for field in fields)


def _timed(table: Table, roles: Roles, rows: Sequence[Sequence[str]]) -> tuple[Table, list[str]]:
    """Return `table` with the unit of its times, and a list with a note if the unit was guessed from the first row."""
    role = next((role for role in TIMES if role in roles), None)
    if role is None:
        return table, []
    if unit := stated_unit(table, role):
        return dataclasses.replace(table, time_unit=unit), []
    fields = rows[0] if rows else ()
    value = " ".join(fields[place] for place in roles[role] if place < len(fields))
    if ISO.fullmatch(value):
        return dataclasses.replace(table, time_unit="iso"), []
    size = abs(float(value)) if NUMBER.fullmatch(value) else 0.0
    unit = compact_date(value) or epoch_unit(size)
    return dataclasses.replace(table, time_unit=unit), [f"times taken as {unit} (--time-unit)"]
