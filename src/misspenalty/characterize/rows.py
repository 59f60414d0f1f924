"""Read the table of traces, ``config/traces.tsv``: one trace per row, every cell checked before the first job."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from misspenalty.disks.drive import description
from misspenalty.errors import InputError, ParameterError, did_you_mean
from misspenalty.traces import formats
from misspenalty.traces.columns import check_block
from misspenalty.traces.parts import SHARE, parse_selection
from misspenalty.traces.quantities import is_time, parse_bytes
from misspenalty.traces.reader import find_format
from misspenalty.traces.table import OPTIONS, Table

RESERVED = ("all", "traces", "raw")  # names that other files and targets use
EXTERNAL = "external:"  # prefix of the name of a file of data/external.yaml
DEVICE = "5ms"  # device of a row that does not name one
URL = re.compile(r"https?://\S+/[^/\s?#]+")


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", text) or text.lower() in RESERVED:
        raise ValueError(
            f"{text!r} is not a valid trace name; expected a letter, then at most 63 letters, digits, _ or -, and"
            f" none of {', '.join(RESERVED)}"
        )
    return text


def _source(text: str) -> str:
    if not text or "{" in text or "}" in text:
        raise ValueError(f"{text!r}; expected a path, an address (https://…) or {EXTERNAL}NAME, without braces")
    if "://" in text and not URL.fullmatch(text):
        raise ValueError(
            f"{text!r}; expected an address that ends in the name of a file, such as https://host/a.spc.gz"
        )
    return text


def _format(text: str) -> str:
    return find_format(None, text).name if text else ""


def _block_size(text: str) -> int:
    return check_block(parse_bytes(text, "block size"))


def _parsed_by(parse: Callable[[str], Any]) -> AfterValidator:
    """Return a validator that checks whether `parse` accepts a cell that is not empty; the cell remains unchanged."""

    def check(text: str) -> str:
        if text:
            parse(text)
        return text

    return AfterValidator(check)


def _warm_up(text: str) -> str:
    if text and not (re.fullmatch(r"[0-9]{1,18}", text) or SHARE.fullmatch(text) or is_time(text)):
        raise ValueError(f"{text!r}; expected a number of references (100000), a share (20%) or a time (10m)")
    return text


def _device(text: str) -> str:
    if text and not is_time(text) and text not in description.names() and not Path(text).is_file():
        meant = did_you_mean(text, description.names())
        known = ", ".join(description.names())
        raise ValueError(f"{text!r} is not a drive{meant}; expected a time (5ms), a file, or one of {known}")
    return text or DEVICE


def parse_load(text: str) -> dict[str, Any]:
    """Convert a load, the text that says how requests arrive, to arguments of `misspenalty.penalty`.

    Raises
    ------
    ParameterError
        The text is neither empty nor of the form ``speed=0.5``, ``clients=16`` or ``interval=1ms``.

    Examples
    --------
    >>> parse_load("speed=0.5"), parse_load("clients=16"), parse_load("")
    ({'speed': 0.5}, {'clients': 16}, {})
    """
    name, _, value = (part.strip() for part in text.partition("="))
    if name == "interval" and is_time(value):
        return {name: value}
    if name == "clients" and re.fullmatch(r"[1-9][0-9]{0,5}", value):
        return {name: int(value)}
    if name == "speed" and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value) and float(value) > 0:
        return {name: float(value)}
    if text:
        raise ParameterError(
            f"{text!r}; expected a load such as speed=0.5, clients=16 or interval=1ms, or an empty cell"
        )
    return {}


class TraceRow(BaseModel):
    """One trace, as described by its row."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    name: Annotated[str, AfterValidator(_name)]  # name of the folder results/traces/<name> and of the target
    source: Annotated[str, AfterValidator(_source)]  # a path, an address, or external:NAME
    sha256: Annotated[str, Field(pattern="^([0-9a-f]{64})?$")] = ""  # digest of the file; required for an address
    format: Annotated[str, AfterValidator(_format)] = ""  # name; required if it cannot be recognised from the file
    block_size: Annotated[str, _parsed_by(_block_size)] = ""  # if empty, the block size of the format applies
    selection: Annotated[str, _parsed_by(parse_selection)] = ""  # see `misspenalty.traces.parts.select`
    warm_up: Annotated[str, AfterValidator(_warm_up)] = ""
    device: Annotated[str, AfterValidator(_device)] = ""  # a drive, a description's path, or a time
    load: Annotated[str, _parsed_by(parse_load)] = ""  # how requests arrive; see `parse_load`
    columns: str = ""  # this option and the following say how the file is read; see `misspenalty.traces.table.OPTIONS`
    separator: str = ""
    header: str = ""
    comment: str = ""
    operations: str = ""
    time_unit: str = ""
    address_unit: str = ""
    size_unit: str = ""
    key: str = ""
    order: str = ""
    lifetimes: str = ""
    pattern: str = ""
    skip: str = ""
    action: str = ""
    unit: str = ""
    block_tokens: str = ""

    @model_validator(mode="after")
    def check_sha256(self) -> "TraceRow":
        """Refuse an address without a checksum, since downloads are not trusted."""
        if self.is_url and not self.sha256:
            raise ValueError("sha256: an address needs the checksum of its file")
        return self

    @model_validator(mode="after")
    def check_options(self) -> "TraceRow":
        """Check the options that say how the file is read, as `misspenalty.open_trace` would."""
        for name in OPTIONS:
            if value := getattr(self, name):
                try:
                    Table().changed(**{name: value})
                except ParameterError as error:
                    raise ValueError(f"{name}: {error}") from error
        if self.format:
            formats()[self.format].check(self.options)
        return self

    @property
    def options(self) -> dict[str, str]:
        """Options of the format, as `misspenalty.open_trace` takes them."""
        return {name: value for name in (*OPTIONS, "action", "unit", "block_tokens") if (value := getattr(self, name))}

    @property
    def is_url(self) -> bool:
        """Whether the source is an address."""
        return "://" in self.source

    @property
    def external(self) -> str | None:
        """Name of the file in ``data/external.yaml``; None if the source does not begin with ``external:``."""
        return self.source.removeprefix(EXTERNAL) if self.source.startswith(EXTERNAL) else None

    @property
    def file_name(self) -> str:
        """Name of the raw file, without its folder or address."""
        return Path(self.external or self.source).name


COLUMNS = tuple(TraceRow.model_fields)


def read_rows(path: "str | Path") -> dict[str, TraceRow]:
    """Read a table of traces, and return its rows by name.

    Lines that begin with ``#`` and blank lines are skipped; columns may be in any order, and optional ones may be left
    out.

    Raises
    ------
    InputError
        The file cannot be read; its header is missing or invalid; or a row has too many cells, an invalid or too long
        cell, no name, no source, or the name of an earlier row. The message names the line, row and column if they are
        known.
    """
    path = Path(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # "utf-8-sig" skips a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path, expected="a table of traces") from error
    numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip() and not line.startswith("#")]
    if not numbered:
        raise InputError("has no header", path=path, expected=f"columns {', '.join(COLUMNS)}, with tabs between them")
    header = _header(numbered[0], path)
    rows: dict[str, TraceRow] = {}
    for number, line in numbered[1:]:
        row = _row(header, line, number, path)
        if row.name in rows:
            raise InputError(f"row {row.name}, column name: listed twice", path=path, line=number)
        rows[row.name] = row
    return rows


def _cells(line: str, number: int, path: Path) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter="\t", strict=True))]
    except csv.Error as error:  # raised for a cell of more than 131,072 characters or for unbalanced quotes
        raise InputError(
            f"cannot be divided into cells ({error})",
            path=path,
            line=number,
            remedy="enclose a cell that begins with a quote in quotes, and double the quotes inside it",
        ) from error


def _header(numbered: tuple[int, str], path: Path) -> list[str]:
    number, line = numbered
    header = _cells(line, number, path)
    for column in header:
        if column not in COLUMNS or header.count(column) > 1:
            twice = header.count(column) > 1
            what = "is listed twice" if twice else f"is unknown{did_you_mean(column, COLUMNS)}"
            raise InputError(f"column {column!r} {what}", path=path, line=number,
                             expected=f"{', '.join(COLUMNS)}, with tabs between them")  # fmt: skip
    if missing := [column for column in ("name", "source") if column not in header]:
        raise InputError(f"column {missing[0]} is missing", path=path, line=number, expected=", ".join(COLUMNS))
    return header


def _row(header: list[str], line: str, number: int, path: Path) -> TraceRow:
    cells = _cells(line, number, path)
    if len(cells) > len(header):
        raise InputError(f"row {cells[0]}: {len(cells)} cells for {len(header)} columns", path=path, line=number)
    entries = dict(zip(header, cells, strict=False))
    try:
        return TraceRow.model_validate(entries)
    except ValidationError as error:
        first = error.errors()[0]
        message = first["msg"].removeprefix("Value error, ")
        column = ".".join(map(str, first["loc"])) or next((c for c in COLUMNS if message.startswith(f"{c}: ")), "")
        message = message.removeprefix(f"{column}: ")
        if column == "sha256" and "pattern" in message:
            message = f"{entries['sha256']!r}; expected 64 hexadecimal digits"
        place = f"row {entries.get('name')}" + (f", column {column}" if column else "")
        raise InputError(f"{place}: {message}", path=path, line=number) from error
