"""Text traces: fixed fields per line, parsed in chunks by the kernel."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces._text import parse
from misspenalty.traces.reader import open_stream, read_some

CHUNK = 1 << 19  # bytes read at a time: the parsed values stay in the processor's cache
MOST_IDLE = 1 << 28  # bytes without a request; a file with more is not a trace
LONGEST_LINE = 1 << 16  # bytes; a file with a longer line is not a trace
_NONE = bytes(256)
_SHOWN = (
    dict.fromkeys("uU", "integer")
    | dict.fromkeys("shf=+", "any")
    | {"x": "hex", "d": "number", "6": "number", "3": "number", "o": "R|W", "b": "0|1"}
)


@dataclass(frozen=True)
class Lines:
    """The grammar of a text format.

    Attributes
    ----------
    kinds : bytes
        One letter per field: ``u`` unsigned integer, ``x`` hexadecimal one, ``d`` decimal number (kept in units of
        1e-9; ``6`` and ``3``: of 1e-6 and 1e-3, so that ms and us become ns), ``o`` R or W, Read or Write (1 = write),
        ``b`` 0 or 1, false or true, ``h`` text (a hash of 63 bits is kept), ``s`` skipped. Further ones select lines:
        ``=`` text that is `chosen`, ``f`` text that contains an R or a W (1 = write), ``U`` unsigned integer, or the
        line is skipped if there is a bracket, ``+`` a plus sign. Any field may be quoted unless blanks separate the
        fields.
    names : tuple of str
        Names of the fields in error messages.
    separator : bytes
        One byte; a space means any run of blanks.
    open_ended : bool
        Whether further fields may follow.
    comment : bytes
        First bytes of lines to skip; empty for none.
    chosen : bytes
        One byte that a field ``=`` has to be.
    header : int
        Lines at the start of the file that are not parsed.
    """

    kinds: bytes
    names: tuple[str, ...]
    separator: bytes = b" "
    open_ended: bool = False
    comment: bytes = b""
    chosen: bytes = b" "
    header: int = 0

    def columns(self, path):
        """Yield int64 arrays of shape (fields, rows), one chunk of whole lines at a time.

        Raises
        ------
        InputError
            A line does not follow the grammar; the message names file, line and what was expected.
        """
        rest, line, idle, old = b"", 0, 0, None
        with open_stream(path) as stream:
            while chunk := read_some(stream, CHUNK, path):
                old = ends_in_returns(chunk) if old is None else old
                text = rest + _newlines(chunk, old, path) if rest else _newlines(chunk, old, path)
                whole = text.rfind(b"\n") + 1
                if len(text) - whole > LONGEST_LINE:
                    raise InputError(
                        "the line is longer than 64 KB",
                        path=path,
                        line=line + text.count(b"\n") + 1,
                        expected=self._grammar(),
                    )
                rest = text[whole:]
                if whole:
                    _check_returns(text[:whole], path, line)
                    columns, lines = self._parse(text[:whole], path, line)
                    line += lines
                    idle = 0 if columns.shape[1] else idle + whole
                    if idle > MOST_IDLE:
                        raise InputError(
                            f"{MOST_IDLE >> 20} MB without a request", path=path, line=line, expected=self._grammar()
                        )
                    yield columns
        if rest:
            _check_returns(rest, path, line)
            yield self._parse(rest, path, line)[0]

    def fits(self, head):
        """Whether the first lines of `head` follow the grammar (the last, perhaps cut, line is left out)."""
        whole, newline, rest = with_newlines(head).rpartition(b"\n")
        text = whole if newline else rest
        try:
            return self._parse(text, None, 0)[0].shape[1] > 0
        except InputError:
            return False

    def _parse(self, text, path, lines_before):
        skipped = 0
        while lines_before + skipped < self.header:
            text = text.partition(b"\n")[2]
            skipped += 1
        lines_before += skipped
        newlines = np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n"))  # faster than bytes.count here
        columns = np.empty((len(self.kinds), newlines + 1), np.int64)
        passed_over = bytes(byte in self.comment for byte in range(256)) if self.comment else _NONE
        rows, lines, field = parse(
            text, self.kinds, self.separator[0], self.open_ended, passed_over, self.chosen[0], columns
        )
        if field:
            shown = text.split(b"\n", lines)[lines - 1][:60].decode("ascii", "backslashreplace").rstrip("\r")
            what = (
                f"too many fields in {shown!r}"
                if field > len(self.kinds)
                else f"field {field} ({self.names[field - 1]}) missing or malformed in {shown!r}"
            )
            raise InputError(what, path=path, line=lines_before + lines, expected=self._grammar())
        return columns[:, :rows], skipped + lines

    def _grammar(self):
        fields = [f"{name}:{_SHOWN[chr(kind)]}" for name, kind in zip(self.names, self.kinds, strict=True)]
        return "'" + self.separator.decode().join(fields) + (" …" if self.open_ended else "") + "'"


def ends_in_returns(head: bytes) -> bool:
    """Whether lines end in carriage returns only, as on old Macs: then the file has no newline at all."""
    return b"\r" in head[:-1] and b"\n" not in head


def with_newlines(head: bytes) -> bytes:
    """The beginning of a file, with lines ending in newlines."""
    return head.replace(b"\r", b"\n") if ends_in_returns(head) else head


def _newlines(chunk: bytes, old: bool, path: Path) -> bytes:
    """`chunk` with newlines in place of carriage returns, if the file's lines end in those (`old`)."""
    if not old:
        return chunk
    if b"\n" in chunk:
        raise InputError(
            "lines end in carriage returns first and in newlines later", path=path, expected="one kind of line ending"
        )
    return chunk.replace(b"\r", b"\n")


def _check_returns(text: bytes, path: Path, lines_before: int) -> None:
    """Raise an `InputError` if a carriage return is not part of a line ending."""
    returns = text.count(b"\r")
    if returns and returns != text.count(b"\r\n") + text.endswith(b"\r"):
        place = next(i for i in range(len(text)) if text[i] == 13 and text[i + 1 : i + 2] not in (b"\n", b""))
        raise InputError(
            "a carriage return within the line",
            path=path,
            line=lines_before + text.count(b"\n", 0, place) + 1,
            expected="lines that all end in LF, all in CR LF, or all in CR",
        )
