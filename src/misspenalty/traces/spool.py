"""Copy standard input and pipes, which can be read only once, into a temporary file."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from misspenalty.errors import InputError
from misspenalty.io.files import temporary_folder
from misspenalty.traces.compression import unreadable
from misspenalty.traces.lines import MOST_IDLE

STANDARD_INPUT = "-"
CHUNK = 1 << 20  # bytes copied at a time


@contextlib.contextmanager
def spooled(path: Path) -> Iterator[tuple[Path, str]]:
    """Yield a file with the content of `path` that can be read repeatedly, and the name to show for it.

    A regular file is used directly. Standard input (``-``) and pipes are copied completely into a temporary folder,
    which is deleted at the end; error messages name the pipe, not the copy.

    Raises
    ------
    InputError
        The path is a device, standard input is closed or a terminal, the input begins with endless white space, or the
        copy cannot be made.
    """
    piped = str(path) == STANDARD_INPUT
    if not piped and not _is_pipe(path):
        yield path, path.name
        return
    name = "standard input" if piped else path.name
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(temporary_folder())
        except OSError as error:
            raise _stopped(error, name if piped else path) from error
        copy = folder / ("standard_input" if piped else path.name)
        try:
            _copy(path, copy, piped)
            yield copy, name
        except InputError as error:
            shown = str(error).replace(str(copy), name if piped else str(path))
            raise InputError(shown) from error


def _stopped(error: OSError, shown: str | Path) -> InputError:
    """Return the error about a copy that cannot be made."""
    remedy = "set TMPDIR to a folder that can be written to and has more space"
    return InputError(f"copying stopped ({os.strerror(error.errno or 0)})", path=shown, remedy=remedy)


def _is_pipe(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # opening it will report why
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise InputError("is a device", path=path, expected="a trace file, a pipe, or - for standard input")
    return stat.S_ISFIFO(mode)


def _copy(path: Path, copy: Path, piped: bool) -> None:
    if piped and sys.stdin is None:
        raise InputError("is closed", path="standard input", remedy="pipe a trace into it, or name a file")
    with contextlib.ExitStack() as stack:
        try:
            source: BinaryIO = sys.stdin.buffer if piped else stack.enter_context(open(path, "rb"))
        except OSError as error:
            raise unreadable(error, path) from error
        if source.isatty():
            raise InputError("is a terminal", path="standard input", remedy="pipe a trace into it, or name a file")
        try:
            with open(copy, "wb") as target:
                _pour(source, target, "standard input" if piped else path)
        except OSError as error:
            raise _stopped(error, "standard input" if piped else path) from error


def _pour(source: BinaryIO, target: BinaryIO, name: str | Path) -> None:
    """Copy the whole source; endless white space is rejected before it fills the disk."""
    blank = True
    while chunk := source.read(CHUNK):
        blank = blank and chunk.isspace()
        target.write(chunk)
        if blank and target.tell() > MOST_IDLE:
            raise InputError(f"{MOST_IDLE >> 20} MB of white space at its beginning", path=name, expected="a trace")
