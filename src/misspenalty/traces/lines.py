"""Divide chunks of whole lines into columns, with pyarrow's CSV reader or with a regular expression.

Every value of the columns that have a role is checked. The fast way divides and converts a chunk at once. If it fails,
the same chunk is divided into texts. The texts of a column are converted together or, if this also fails, one by one,
so that unusual spellings are read and an error names the first wrong value.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from misspenalty.errors import InputError
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.layout import Layout, same_names
from misspenalty.traces.spelling import NUMBERS, has_exponents, is_padded
from misspenalty.traces.vocabulary import PLACES

CHUNK = 1 << 22  # bytes read at a time
BLOCK = 1 << 20  # bytes that pyarrow divides at a time
MOST_IDLE = 1 << 28  # maximum number of consecutive bytes without a request in a trace
LONGEST_LINE = 1 << 16  # maximum number of bytes of an incomplete line at the end of a chunk
DECIMAL = pa.decimal128(38, 18)
KINDS = (pa.int64(), DECIMAL, pa.string())  # types that are tried, in this order
TINY = r"^\s*[+-]?[\d.]+[eE]-\d{4,}\s*$"  # matches numbers that crash Arrow's conversion to decimals
TINY_INSIDE = re.compile(rb"(?<![\w.-])[+-]?[\d.]+[eE]-\d{4,}(?![\w.-])")
NEVER = r"[^\s\S]"  # a regular expression that matches nothing
MARK = b"\xef\xbb\xbf"  # UTF-8's byte order mark
BOMS = (b"\xff\xfe", b"\xfe\xff")
LINE_ENDS = "lines that end in LF or CR LF, or that all end in CR"
BLANKS = (b" ", b"\t", b"\v", b"\f")


@dataclass
class Batch:
    """Rows of a chunk: values by column, and the text that they come from."""

    columns: dict[int, pa.Array]
    rows: int
    text: bytes
    lines_before: int
    layout: Layout
    path: Path
    skipped: int = 0  # number of lines that are not requests
    repeated: int = 0  # number of headers between rows
    numbers: np.ndarray | None = None  # number of each row's line in `text`, from 0, if a pattern selected the lines
    exponents: bool = False  # whether a key or an address is a number with an exponent
    padded: bool = False  # whether a key that is a number begins with a zero, as in 007 or 0x7
    rest: InputError | None = None  # the error about the line after these rows, if it cannot be divided

    def error(self, row: int, place: int, what: str = "", remedy: str | None = None) -> InputError:
        """Return the error about a value that cannot be read."""
        number, line = self.line(row)
        if self.layout.named and same_names(self.layout.fields(line) or [], self.layout.names):
            return InputError(
                f"names the columns again, {shown(line)!r}", path=self.path, line=number,
                expected="a request", remedy="delete the line if its columns are in the order of the first header, or"
                " else split the file above it",
            )  # fmt: skip
        field = f"field {place + 1} ({self.layout.names[place]})"
        if what:
            return InputError(f"{field} in {shown(line)!r}: {what}", path=self.path, line=number)
        wrong = f"{field} missing or malformed in {shown(line)!r}"
        return InputError(wrong, path=self.path, line=number, expected=self.layout.grammar(), remedy=remedy)

    def line(self, row: int) -> tuple[int, bytes]:
        """Return the number and text of the line of a row."""
        lines = self.text.split(b"\n")
        if self.numbers is not None:
            return self.lines_before + int(self.numbers[row]) + 1, lines[self.numbers[row]]
        found = -1
        for number, line in enumerate(lines, self.lines_before + 1):
            found += self.layout.is_row(line)
            if found == row:
                return number, line
        return self.lines_before + 1, b""


def shown(line: bytes) -> str:
    """Return the beginning of a line, as messages show it."""
    return line[:60].decode("ascii", "backslashreplace").rstrip("\r")


def batches(path: Path, layout: Layout) -> Iterator[Batch]:
    """Yield the rows of a file, a chunk at a time.

    Raises
    ------
    InputError
        The file cannot be read or is in UTF-16; a line is too long, has a CR before its end, has a null byte although
        the layout has a separator, or does not match the layout's pattern; a W3C log has a second list of columns that
        differs from the first; or more than `MOST_IDLE` bytes in a row have no request. If a line cannot be
        divided at the separators, its error is not raised but becomes the batch's `rest`.
    """
    kinds = layout.kinds
    idle, header = 0, layout.header_lines
    for text, before in chunks(path, layout.grammar()):
        while header and text:
            text, header, before = text.partition(b"\n")[2], header - 1, before + 1
        batch = Batch({}, 0, text, before, layout, path)
        if layout.table.pattern:
            _match(batch)
        else:
            divide(batch, kinds)
        idle = 0 if batch.rows else idle + len(text)
        if idle > MOST_IDLE:
            raise InputError(
                f"{MOST_IDLE >> 20} MB without a request", path=path, line=before + text.count(b"\n"),
                expected=layout.grammar(),
            )  # fmt: skip
        yield batch


def chunks(path: Path, expected: str, longest: int = LONGEST_LINE) -> Iterator[tuple[bytes, int]]:
    """Yield chunks of whole lines that end in newlines, each with the number of lines before it.

    Byte order marks are left out; lines may end in LF or CR LF, or all in CR. A file is refused if one of its chunks
    ends more than `longest` bytes after the beginning of a line; the message says what is `expected` instead.
    """
    rest, line, old = b"", 0, None
    with open_stream(path) as stream:
        while chunk := read_some(stream, CHUNK, path):
            if old is None:
                chunk = without_mark(chunk, path)
                old = ends_in_returns(chunk)
            text = rest + _newlines(chunk, old, path) if rest else _newlines(chunk, old, path)
            if MARK[:1] in text:  # files that were joined have several marks
                text = text.removeprefix(MARK).replace(b"\n" + MARK, b"\n")
            whole = text.rfind(b"\n") + 1
            if len(text) - whole > longest:
                what, number = f"the line is longer than {longest >> 10:,} KB", line + text.count(b"\n") + 1
                raise InputError(what, path=path, line=number, expected=expected)
            rest = text[whole:]
            if whole:
                lines = text[:whole]
                _check_returns(lines, path, line)
                yield lines, line
                line += _count(lines)
    if rest:
        _check_returns(rest, path, line)
        yield rest + b"\n", line


def without_mark(text: bytes, path: Path | None = None) -> bytes:
    """Return the beginning of a file without a byte order mark of UTF-8; UTF-16 is refused."""
    if text[:2] in BOMS:
        raise InputError("is written in UTF-16", path=path, expected="UTF-8", remedy="save it as UTF-8 or ASCII text")
    return text.removeprefix(MARK)


def ends_in_returns(head: bytes) -> bool:
    """Return whether a text has a carriage return before its last byte but no newline, as files of old Macs do."""
    return b"\r" in head[:-1] and b"\n" not in head


def with_newlines(head: bytes) -> bytes:
    """Return the beginning of a file, with lines ending in newlines."""
    return head.replace(b"\r", b"\n") if ends_in_returns(head) else head


def _count(text: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == 10))  # faster than bytes.count here


def _newlines(chunk: bytes, old: bool, path: Path) -> bytes:
    """Return `chunk` with newlines in place of carriage returns if the file's lines end in the latter (`old`)."""
    if not old:
        return chunk
    if b"\n" in chunk:
        raise InputError("lines end in carriage returns first and in newlines later", path=path, expected=LINE_ENDS)
    return chunk.replace(b"\r", b"\n")


def _check_returns(text: bytes, path: Path, lines_before: int) -> None:
    """Raise an `InputError` if a carriage return is not part of a line ending."""
    returns = text.count(b"\r") if b"\r" in text else 0
    if returns and returns != text.count(b"\r\n") + text.endswith(b"\r"):
        place = next(i for i in range(len(text)) if text[i] == 13 and text[i + 1 : i + 2] not in (b"\n", b""))
        raise InputError(
            "a carriage return within the line",
            path=path,
            line=lines_before + text.count(b"\n", 0, place) + 1,
            expected=LINE_ENDS,
        )


def divide(batch: Batch, kinds: dict[int, pa.DataType]) -> None:
    """Fill a batch from text with a separator; `kinds`, which holds the columns' types, is updated."""
    layout, text = batch.layout, batch.text
    if (place := text.find(b"\0")) >= 0:
        raise InputError(
            "a null byte in the line", path=batch.path, line=batch.lines_before + text.count(b"\n", 0, place) + 1,
            expected="text", remedy="the file may be damaged, as by a crash while it was written: fetch it again, or"
            " delete the bytes",
        )  # fmt: skip
    # Python finds a single byte twenty times as fast as two, so such a search comes first.
    if layout.table.comment and layout.table.comment.encode() in text:
        _check_fields(batch, layout.table.comment)
        text, batch.skipped = re.subn(
            rb"(?m)^[ \t]*" + re.escape(layout.table.comment.encode()) + rb".*(?:\n|\Z)", b"", text
        )
    if layout.heading and layout.heading in text:
        again = rb"(?m)^[ \t]*" + re.escape(layout.heading) + rb"[ \t\r]*(?:\n|\Z)"
        text, batch.repeated = re.subn(again, b"", text)
    text = _without_blank_lines(text)
    if layout.table.separator == " ":
        text = squeezed(text)
    divided = True
    try:
        _check_quotes(text, layout)
        if b"-" in text and (b"e-" in text or b"E-" in text) and TINY_INSIDE.search(text):
            raise pa.ArrowInvalid("a number too small for Arrow")
        table = _read(text, layout, kinds)
        batch.padded = _has_padded_keys(text, layout, kinds)
        decimals = [place for place in _places(layout) if kinds[place] == DECIMAL]  # Arrow reads exponents in these
        if decimals and layout.table.key in NUMBERS and (b"e" in text or b"E" in text):
            batch.exponents = any(
                map(has_exponents, _read(text, layout, dict.fromkeys(decimals, pa.string())).values())
            )
    except pa.ArrowInvalid:
        try:
            _check_quotes(text, layout)
            table = _read(text, layout, dict.fromkeys(kinds, pa.string()))
        except pa.ArrowInvalid:
            table, divided = _split(batch, kinds), False
        if layout.table.key == "auto":
            batch.padded = any(is_padded(table[place]) for place in layout.roles.get("block", ()))
        if layout.table.key in NUMBERS:
            batch.exponents = any(has_exponents(table[place]) for place in _places(layout))
        table = {place: _as_written(column, place, kinds) for place, column in table.items()}
    if divided and (b" " in text or b"\t" in text):
        table = {place: _trimmed(column) for place, column in table.items()}
    batch.columns = table
    batch.rows = len(next(iter(table.values()))) if table else 0


def _check_fields(batch: Batch, comment: str) -> None:
    """Raise an `InputError` if a log in the W3C's format names other columns further on, as joined logs may."""
    heading, start = batch.layout.heading, re.escape(comment.encode())
    if not re.match(start + rb"(\s*Fields:|fields\t)", heading):
        return
    for found in re.finditer(rb"(?m)^[ \t]*" + start + rb"([ \t]*Fields:|fields\t).*$", batch.text):
        if found[0].split() != heading.split():
            raise InputError(
                f"other columns from here on, {shown(found[0].strip())!r}", path=batch.path,
                line=batch.lines_before + batch.text.count(b"\n", 0, found.start()) + 1, expected=repr(shown(heading)),
                remedy="split the file above this line",
            )  # fmt: skip


def _has_padded_keys(text: bytes, layout: Layout, kinds: dict[int, pa.DataType]) -> bool:
    """Return whether a key of a column of numbers is written with a zero before other digits."""
    places = [place for place in layout.roles.get("block", ()) if kinds[place] != pa.string()]
    if layout.table.key != "auto" or not places:
        return False
    characters = np.frombuffer(text, np.uint8)
    zeros = np.flatnonzero(characters[1:-1] == ord("0"))
    zeros = zeros[
        np.isin(characters[zeros], [ord(sign) for sign in ("\n", '"', " ", "+", "-", layout.table.separator)])
    ]
    after = characters[zeros + 2]
    if text[:1] != b"0" and not ((after - np.uint8(ord("0")) < 10) | (after | 32 == ord("x"))).any():
        return False
    columns = _read(text, layout, dict.fromkeys(places, pa.string()))
    return any(is_padded(column) for column in columns.values())


def _without_blank_lines(text: bytes) -> bytes:
    """Return `text` without lines that hold only blanks, which pyarrow takes for values in a table of one column."""
    if not any(blank in text for blank in BLANKS):
        return text
    characters = np.frombuffer(text, np.uint8)
    starts = characters[1:][np.flatnonzero(characters[:-1] == ord("\n"))]
    if not text.startswith(BLANKS) and not np.isin(starts, np.frombuffer(b"".join(BLANKS), np.uint8)).any():
        return text
    return re.sub(rb"(?m)^[ \t\v\f]+\r?(?:\n|\Z)", b"", text)


def _check_quotes(text: bytes, layout: Layout) -> None:
    """Raise an `ArrowInvalid` if quotes are not paired or stand next to a blank; lines are then divided one by one."""
    if layout.table.separator != " " and b'"' in text:
        if b' "' in text or b'" ' in text or (layout.table.separator != "\t" and (b'\t"' in text or b'"\t' in text)):
            raise pa.ArrowInvalid("blanks next to a quote")
        characters = np.frombuffer(text, np.uint8)
        before = np.searchsorted(np.flatnonzero(characters == 34), np.flatnonzero(characters == 10))
        if (before % 2).any():
            raise pa.ArrowInvalid("a quote is not closed")


def squeezed(text: bytes) -> bytes:
    """Return `text` with one space in place of every run of blanks, and none at the ends of lines.

    Examples
    --------
    >>> squeezed(b"  1\\t 2 \\r\\n3  4\\n")
    b'1 2\\n3 4\\n'
    """
    if b"\t" in text or b"\r" in text:
        text = text.translate(bytes.maketrans(b"\t\r", b"  "))
    while b"  " in text:
        text = text.replace(b"  ", b" ")
    return text.replace(b"\n ", b"\n").replace(b" \n", b"\n").removeprefix(b" ")


def _read(text: bytes, layout: Layout, kinds: dict[int, pa.DataType]) -> dict[int, pa.Array]:
    """Divide the text with pyarrow, and return the columns that `kinds` names, converted to its types."""
    import pyarrow.csv as csv_reader

    names = [str(place) for place in range(len(layout.names))]
    if not text or text.isspace():
        return {place: pa.array([], kind) for place, kind in kinds.items()}
    table = csv_reader.read_csv(
        pa.py_buffer(text),
        csv_reader.ReadOptions(column_names=names, block_size=BLOCK),
        csv_reader.ParseOptions(
            delimiter=layout.table.separator, quote_char=False if layout.table.separator == " " else '"'
        ),
        csv_reader.ConvertOptions(
            column_types={str(place): kind for place, kind in kinds.items()},
            include_columns=[str(place) for place in kinds],
            null_values=[""],
            check_utf8=False,
        ),
    )
    return {place: table[str(place)].combine_chunks() for place in kinds}


def _split(batch: Batch, places: dict[int, pa.DataType]) -> dict[int, pa.Array]:
    """Return the columns as texts, line by line, up to a line that cannot be divided into fields."""
    layout = batch.layout
    table, wanted = layout.table, len(layout.names)
    least = min(wanted, len(table.names) - table.optional) if table.open_ended or table.optional else wanted
    least = max(least, 1 + max(places, default=0))
    values: dict[int, list[str]] = {place: [] for place in places}
    for number, line in enumerate(batch.text.split(b"\n"), batch.lines_before + 1):
        if not layout.is_row(line):
            continue
        fields = layout.fields(line)
        if fields is None or len(fields) < least or (len(fields) > wanted and not table.open_ended):
            remedy: str | None = "correct the line, or delete it if it is no request or was cut off"
            if fields is None:
                what = f"a quote is not closed in {shown(line)!r}; values must not contain line breaks"
                remedy = None
            elif len(fields) > wanted:
                what = f"too many fields in {shown(line)!r}"
                if len(fields) == wanted + 1 and not fields[-1]:
                    written = "\\t" if table.separator == "\t" else table.separator
                    remedy = f"delete the '{written}' at the end of each line: sed 's/{written}\\r*$//' FILE"
            else:
                place = len(fields)
                what = f"field {place + 1} ({layout.names[place]}) missing or malformed in {shown(line)!r}"
                if place == wanted - 1 and layout.heading.endswith(table.separator.encode()):
                    remedy = f"delete the {table.separator!r} at the end of the header"
            batch.rest = InputError(what, path=batch.path, line=number, expected=layout.grammar(), remedy=remedy)
            break
        for place, column in values.items():
            column.append(fields[place])
    return {
        place: pa.array([each.encode("utf-8", "surrogateescape") for each in column], pa.binary()).view(pa.string())
        for place, column in values.items()
    }


def _as_written(column: pa.Array, place: int, kinds: dict[int, pa.DataType]) -> pa.Array:
    """Return texts converted to the first type of `KINDS` that fits, and make it the column's type from now on."""
    if kinds[place] not in KINDS:
        return column
    trimmed = pc.ascii_trim_whitespace(column)
    empty = pc.equal(trimmed, "")
    tiny = pc.any(pc.match_substring_regex(trimmed, TINY)).as_py()
    for kind in () if tiny else KINDS[KINDS.index(kinds[place]) : -1]:
        with contextlib.suppress(pa.ArrowInvalid):
            made = pc.cast(pc.if_else(empty, pa.scalar(None, pa.string()), trimmed), kind)
            kinds[place] = kind
            return made
    kinds[place] = pa.string()
    return column


def _trimmed(column: pa.Array) -> pa.Array:
    return pc.ascii_trim_whitespace(column) if pa.types.is_string(column.type) else column


def _places(layout: Layout) -> list[int]:
    """Return the columns that hold keys or addresses."""
    return [place for role in PLACES for place in layout.roles.get(role, ())]


def _match(batch: Batch) -> None:
    """Fill a batch from lines that match the layout's pattern."""
    layout, text = batch.layout, batch.text.replace(b"\r\n", b"\n")
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 10) + 1
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    lines = pa.BinaryArray.from_buffers(
        pa.binary(), len(ends), [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    )  # with their newlines
    found = pc.extract_regex(lines, f"(?m)^(?:{layout.table.pattern})\\s*$")
    batch.numbers = np.arange(len(ends))
    matched = found.is_valid().to_numpy(zero_copy_only=False)
    if not matched.all():
        passed = pc.match_substring_regex(lines, f"(?m)^(?:{layout.table.skip or NEVER})").to_numpy(
            zero_copy_only=False
        )
        blank = pc.match_substring_regex(lines, "^\\s*$").to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(~(matched | passed | blank))
        if wrong.size:
            row = int(wrong[0])
            line = text[offsets[row] : offsets[row + 1] - 1]
            raise InputError(
                f"{shown(line)!r}", path=batch.path, line=batch.lines_before + row + 1, expected=layout.grammar()
            )
        batch.skipped = int(np.count_nonzero(passed & ~matched & ~blank))
        batch.numbers = np.flatnonzero(matched)
        found = found.filter(pa.array(matched))
    texts = {place: found.field(layout.names[place]).view(pa.string()) for place in layout.kinds}
    keys = [texts[place] for place in layout.roles.get("block", ())]
    batch.padded = layout.table.key == "auto" and any(map(is_padded, keys))
    places = [texts[place] for place in _places(layout)]
    batch.exponents = layout.table.key in NUMBERS and any(map(has_exponents, places))
    batch.columns = {place: _as_written(texts[place], place, {place: kind}) for place, kind in layout.kinds.items()}
    batch.rows = len(found)
