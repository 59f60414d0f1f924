"""Read the dialects of tables, each of which describes how the tables of one public source are written.

A file ``NAME.yaml`` in this folder defines the format of that name. `KEYS` lists its keys.
"""

import dataclasses
import functools
import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from misspenalty.errors import InputError, ParameterError, check_whole
from misspenalty.io.documents import read_yaml
from misspenalty.traces.columns import LARGEST_BLOCK
from misspenalty.traces.fields import split
from misspenalty.traces.layout import named_otherwise, same_names
from misspenalty.traces.table import OPTIONS, SECTOR, Table
from misspenalty.traces.unknown_sizes import KINDS as UNKNOWN_SIZES
from misspenalty.traces.values import LONGEST

KINDS = {
    "integer": r"\d+",
    "signed": r"-?\d+",
    "number": r"-?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?",
    "hex": r"(0[xX])?[0-9a-fA-F]+",
    "op": r"(?i:r|w|read|write)",
    "word": r"\S+",
    "any": r".*",
}
COMMENT = "#"  # begins a comment, unless a dialect's file states otherwise
LOOKED_AT = 200  # number of lines at the beginning of a file that are checked
# Map each key of a dialect's file to what it states; the options of every table are keys, too.
KEYS = {
    "summary": "one line",
    "source": "who described the format, and where",
    "unverified": "which parts of the description no available source confirms",
    "example": "lines as they appear in a file",
    "block_size": "bytes",
    "assumes_block": "whether nothing states the size of a block, so that block_size is a guess, which a note names",
    "assumes_time": "whether nothing states the unit of times, so that time_unit is a guess, which a note names",
    "action": "the value, in the column with the role action, of the lines that are requests by default",
    "actions": "other values of this column that a user may choose instead",
    "fields": "columns in order, NAME:KIND; kinds are those of `KINDS`, or regular expressions",
    "open_ended": "whether further columns may follow",
    "optional": "how many of the last columns may be absent",
    "from_start": "whether times count from the start of the trace",
    "epoch": "whether times count from 1970, or from 1601 in units of 100 ns; a note says if they seem to be in another"
    " unit",
    "whole_sectors": "whether offsets and sizes are multiples of 512 bytes; a note says if most are not",
    "header_has": "names of columns by which a header is recognised",
    "unknown_sizes": "what stands for an unknown size: blank, or zero (only in a read's last column of sizes)",
    "several": "operations, in small letters, of whose arguments only the first counts as a key; a note says so",
    "suffixes": "endings of file names by which a file is recognised even if its numbers could mean other things",
    "named": "whether users have to name the format (unless a suffix fits), as its lines could mean other things",
    "hosts": "regular expressions of lines, each with one group, which matches a possible host or service that no"
    " column holds; a file with several is refused unless its format is named, and then gets a note",
    "begins": "a regular expression of the beginning of the first line, by which a file is recognised even if the first"
    " requests come far below, if a pattern describes the lines",
    "some": "a regular expression that the beginning of some line has to match, if a pattern describes the lines",
    "zero": "columns that are 0 throughout",
    "steady": "columns that stay the same, or increase by 1 per line",
    "not_bytes": "columns that together have some value that is not a multiple of 512",
    "fractions": "columns in each of which some value has a decimal point",
}
EVIDENCE = ("zero", "steady", "not_bytes", "fractions")  # keys that name columns present in every row
LISTS = ("actions", "fields", "header_has", "hosts", "several", "unknown_sizes", "suffixes", *EVIDENCE)


@dataclass(frozen=True)
class Dialect:
    """A kind of table, as the dialect's file describes it.

    Attributes
    ----------
    name, summary, source, example : str
    table : Table
    block_bytes : int
    kinds : tuple of str
        Regular expression of each column's values.
    evidence : dict of str to list of str, str or bool
        What must hold for a file to be recognised: see `KEYS`.
    actions : tuple of str
        The actions from which the user chooses one, the default first.
    assumes_block : bool
        As in `misspenalty.traces.reader.Format`.
    """

    name: str
    summary: str
    source: str
    example: str
    table: Table
    block_bytes: int
    kinds: tuple[str, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    actions: tuple[str, ...] = ()
    assumes_block: bool = False

    def fits(self, name: str, head: bytes, *, strict: bool = True) -> bool:
        """Return whether a file with this name and these first bytes is in this dialect.

        Parameters
        ----------
        name : str
            Name of the file, without the suffix of its compression.
        head : bytes
        strict : bool
            Whether a file also has to show the evidence that distinguishes the dialect from others with similar
            columns.
        """
        lines = _lines(head)
        if not lines:
            return False
        if self.table.pattern:
            return self._matches(lines) and not (strict and self.evidence.get("named"))
        comment = COMMENT if self.table.comment is None else self.table.comment
        rows = [
            split(line, self.table.separator) or [""]
            for line in lines
            if not (comment and line.lstrip().startswith(comment))
        ]
        if not rows or (comment and named_otherwise(lines, comment, self.table.separator, self.table.names)):
            return False
        if self.table.header is not False and self._is_header(rows[0]):
            return True
        if self.table.header or not all(self._is_row(row) for row in rows):
            return False
        if not strict:
            return True
        suffixes = tuple(self.evidence.get("suffixes", ()))
        if suffixes and name.lower().endswith(suffixes):
            return True
        return not self.evidence.get("named") and self._holds(rows)

    @property
    def names_operations(self) -> bool:
        """Whether lines are divided by a separator and have a word, not a number, for a read or a write."""
        kinds = dict(zip(self.table.names, self.kinds, strict=True))
        return not self.table.pattern and any(
            not re.fullmatch(kinds[name], "1") for name in self.table.columns.get("op", ()) if name in kinds
        )

    def separated(self, separator: str) -> "Dialect":
        """Return this dialect with another separator."""
        return dataclasses.replace(self, table=dataclasses.replace(self.table, separator=separator))

    def _matches(self, lines: list[str]) -> bool:
        pattern, skip = self.table.pattern, self.table.skip
        others = [line for line in lines if not re.fullmatch(pattern, line.rstrip())]
        some, begins = self.evidence.get("some", ""), self.evidence.get("begins")
        if begins and re.match(begins, lines[0]):
            return True
        fitting = len(others) < len(lines) and all(skip and re.match(skip, line) for line in others)
        return fitting and any(re.match(some, line) for line in lines)

    def _is_header(self, first: list[str]) -> bool:
        has = self.evidence.get("header_has")
        if has:
            lower = {field.lower() for field in first}
            return all(name.lower() in lower for name in has)
        return same_names(first, self.table.names)

    def _is_row(self, row: list[str]) -> bool:
        if not len(self.kinds) - self.table.optional <= len(row):
            return False
        if len(row) > len(self.kinds) and not self.table.open_ended:
            return False
        return all(re.fullmatch(kind, value) for kind, value in zip(self.kinds, row, strict=False))

    def _holds(self, rows: list[list[str]]) -> bool:
        """Return whether the evidence holds in these rows."""
        named = {name for key in EVIDENCE for name in self.evidence.get(key, ())}
        columns = {name: [row[self.table.names.index(name)] for row in rows] for name in named}
        sectors = self.evidence.get("not_bytes", ())
        numbers = [*self.evidence.get("steady", ()), *sectors]
        if any(len(value) > LONGEST for name in numbers for value in columns[name]):
            return False
        zero = all(set(columns[name]) == {"0"} for name in self.evidence.get("zero", ()))
        steady = all(_is_steady([int(value) for value in columns[name]]) for name in self.evidence.get("steady", ()))
        in_bytes = sectors and all(int(value) % SECTOR == 0 for name in sectors for value in columns[name])
        fractions = all(any("." in value for value in columns[name]) for name in self.evidence.get("fractions", ()))
        return zero and steady and not in_bytes and fractions


def _is_steady(values: list[int]) -> bool:
    steps = {after - before for before, after in itertools.pairwise(values)}
    return steps <= {0} or steps <= {1}


def _lines(head: bytes) -> list[str]:
    """Return the first whole lines, without those that are blank."""
    from misspenalty.traces.lines import MARK, with_newlines

    text = with_newlines(head.removeprefix(MARK)).decode("utf-8", "replace")
    lines = text.split("\n")
    if len(lines) > 1:
        lines.pop()  # the last line may be incomplete
    return [line.rstrip("\r") for line in lines[:LOOKED_AT] if line.strip()]


def _source(entries: dict[str, Any]) -> str:
    """Return who published a format, and what is not confirmed about it."""
    said = str(entries["source"])
    return f"{said}. Not verified: {entries['unverified']}" if entries.get("unverified") else said


@functools.cache
def dialects() -> dict[str, Dialect]:
    """Return every dialect, by name."""
    return {path.stem: load(path) for path in sorted(Path(__file__).parent.glob("*.yaml"))}


def load(path: Path) -> Dialect:
    """Return the dialect that a file describes.

    Raises
    ------
    InputError
        The file is not YAML, or a key is unknown, missing or invalid.
    """
    entries = read_yaml(path)
    if not isinstance(entries, dict):
        raise InputError("describes nothing", path=path, expected=f"keys {', '.join(KEYS)}")
    if unknown := [key for key in entries if key not in KEYS and key not in OPTIONS]:
        raise InputError(f"unknown key {unknown[0]!r}", path=path, expected=", ".join([*KEYS, *OPTIONS]))
    if missing := [key for key in ("summary", "source", "example", "columns") if not entries.get(key)]:
        raise InputError(f"no {missing[0]}", path=path, expected="summary, source, example and columns")
    if single := [key for key in LISTS if not isinstance(entries.get(key, []), list)]:
        raise InputError(f"{single[0]} is {entries[single[0]]!r}", path=path, expected="a list, such as [a, b]")
    fields = [str(each).partition(":")[::2] for each in entries.get("fields", ())]
    try:
        for _, kind in fields:
            re.compile(KINDS.get(kind, kind))
        if odd := [form for form in entries.get("hosts", ()) if re.compile(form).groups != 1]:
            raise ValueError(f"hosts holds {odd[0]!r}; expected one group")
        block_bytes = check_whole("block_size", entries.get("block_size", 4096), 1, LARGEST_BLOCK)
        table = Table(
            names=tuple(name for name, _ in fields),
            open_ended=bool(entries.get("open_ended", False)),
            optional=check_whole("optional", entries.get("optional", 0), 0, len(fields)),
            from_start=bool(entries.get("from_start", False)),
            assumes_time=bool(entries.get("assumes_time", False)),
            epoch=bool(entries.get("epoch", False)),
            whole_sectors=bool(entries.get("whole_sectors", False)),
            example=str(entries["example"]).splitlines()[0],
            usual="operations" not in entries,
            unknown_sizes=tuple(map(str, entries.get("unknown_sizes", ()))),
            several=tuple(entries.get("several", ())),
            hosts=tuple(entries.get("hosts", ())),
        ).changed(**{key: entries[key] for key in OPTIONS if key in entries})
        if table.pattern:
            table = table.changed(skip=f"{table.skip}|{COMMENT}" if table.skip else COMMENT)
    except (ParameterError, re.error, ValueError) as error:
        raise InputError(str(error), path=path) from error
    if not table.pattern and not (table.names and table.separator):
        raise InputError("describes no lines", path=path, expected="a pattern, or fields and a separator")
    if odd := [each for each in table.unknown_sizes if each not in UNKNOWN_SIZES]:
        raise InputError(f"unknown_sizes holds {odd[0]!r}", path=path, expected=" or ".join(UNKNOWN_SIZES))
    for key in EVIDENCE:
        whole = ("integer", "signed") if key in ("steady", "not_bytes") else ()
        known = [name for name, kind in fields[: len(fields) - table.optional] if not whole or kind in whole]
        if odd := [name for name in entries.get(key, ()) if name not in known]:
            what = f"fields of kind {' or '.join(whole)}" if whole else "fields"
            shown = f"{what} that are not optional: {', '.join(known) or 'none'}"
            raise InputError(f"{key} names {odd[0]!r}", path=path, expected=shown)
    evidence = ("header_has", "suffixes", "named", "some", "begins", *EVIDENCE)
    return Dialect(
        path.stem,
        str(entries["summary"]),
        _source(entries),
        str(entries["example"]).rstrip("\n"),
        table,
        block_bytes,
        tuple(KINDS.get(kind or "any", kind) for _, kind in fields),
        {key: entries[key] for key in evidence if key in entries},
        (str(entries["action"]), *map(str, entries.get("actions", ()))) if "action" in entries else (),
        bool(entries.get("assumes_block", False)),
    )
