"""Text traces: fixed fields a line, parsed in chunks by the kernel."""

from dataclasses import dataclass

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces._text import parse
from misspenalty.traces.reader import open_stream, read_some

CHUNK = 1 << 22  # bytes read at a time
LONGEST_LINE = 1 << 16  # bytes; a longer line is no trace


@dataclass(frozen=True)
class Lines:
    """The grammar of a text format.

    Attributes
    ----------
    kinds : bytes
        One letter a field: ``u`` unsigned integer, ``d`` decimal number (kept in units of 1e-9), ``o`` R or W, ``s``
        skipped.
    names : tuple of str
        What each field is called in error messages.
    separator : bytes
        One byte; a space stands for any run of blanks.
    open_ended : bool
        Whether further fields may follow.
    comment : bytes
        First byte of lines to skip; empty for none.
    """

    kinds: bytes
    names: tuple[str, ...]
    separator: bytes = b" "
    open_ended: bool = False
    comment: bytes = b""

    def columns(self, path):
        """Yield int64 arrays of shape (fields, rows), a chunk of whole lines at a time.

        Raises
        ------
        InputError
            A line does not follow the grammar; the message names file, line and what was expected.
        """
        rest, line = b"", 0
        with open_stream(path) as stream:
            while chunk := read_some(stream, CHUNK, path):
                whole, newline, rest = (rest + chunk).rpartition(b"\n")
                if len(rest) > LONGEST_LINE:
                    raise InputError(
                        "the line is longer than 64 KB",
                        path=path,
                        line=line + whole.count(b"\n") + 1,
                        expected=self._grammar(),
                    )
                if newline:
                    yield self._parse(whole, path, line)
                    line += whole.count(b"\n") + 1
        if rest:
            yield self._parse(rest, path, line)

    def fits(self, head):
        """Whether the first lines of `head` follow the grammar (the last, perhaps cut, line is left out)."""
        whole, newline, rest = head.rpartition(b"\n")
        text = whole if newline else rest
        try:
            return self._parse(text, None, 0).shape[1] > 0
        except InputError:
            return False

    def _parse(self, text, path, lines_before):
        columns = np.empty((len(self.kinds), text.count(b"\n") + 1), np.int64)
        comment = self.comment[0] if self.comment else -1
        rows, lines, field = parse(text, self.kinds, self.separator[0], self.open_ended, comment, columns)
        if field:
            shown = text.split(b"\n", lines)[lines - 1][:60].decode("ascii", "backslashreplace").rstrip("\r")
            what = (
                f"too many fields in {shown!r}"
                if field > len(self.kinds)
                else f"field {field} ({self.names[field - 1]}) missing or malformed in {shown!r}"
            )
            raise InputError(what, path=path, line=lines_before + lines, expected=self._grammar())
        return columns[:, :rows]

    def _grammar(self):
        shown = {ord("u"): "integer", ord("d"): "number", ord("o"): "R|W", ord("s"): "any"}
        fields = [f"{name}:{shown[kind]}" for name, kind in zip(self.names, self.kinds, strict=True)]
        return "'" + self.separator.decode().join(fields) + (" …" if self.open_ended else "") + "'"
