"""What a trace reader is, and the register of them: one module a format, found by its name."""

import bz2
import contextlib
import gzip
import importlib
import lzma
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError, ParameterError

SECTOR = 512  # bytes of a disk sector, the unit of most address fields


class Requests(NamedTuple):
    """A batch of requests as a reader yields them; arrays of one length."""

    start: np.ndarray  # uint64, first block of the request
    count: np.ndarray | None = None  # int64, blocks of the request; None = one each
    write: np.ndarray | None = None  # bool; None = the format holds reads only
    time: np.ndarray | None = None  # int64, ns since the trace began; None = the format holds no times


@dataclass(frozen=True)
class Format:
    """A trace format.

    Attributes
    ----------
    name : str
        What ``--format`` takes.
    summary : str
        The grammar in a line.
    read : callable
        ``read(path, block_bytes) -> iterator of Requests``.
    sniff : callable
        ``sniff(name, head) -> bool``: whether a file of this name (compression suffix removed), whose decompressed
        content begins with `head`, is of this format.
    block_bytes : int
        Block size where the user names none.
    """

    name: str
    summary: str
    read: Callable[[Path, int], Iterator[Requests]]
    sniff: Callable[[str, bytes], bool]
    block_bytes: int


_formats: dict[str, Format] = {}


def register(form):
    """Make a `Format` known."""
    _formats[form.name] = form


def formats():
    """Every known `Format`, by name."""
    if not _formats:
        from misspenalty.traces import readers as package

        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(_formats.items()))


def find_format(path, name=None):
    """The `Format` called `name`, or the one that `path` itself tells.

    Raises
    ------
    ParameterError
        No format has this name.
    InputError
        The file does not tell its format.
    """
    known = formats()
    if name is not None:
        if name not in known:
            raise ParameterError(f"unknown trace format {name!r}; known formats: {', '.join(known)}")
        return known[name]
    with open_stream(path) as stream:
        head = read_some(stream, 4096, path)
    if not head:
        raise InputError("is empty", path=path, expected="a trace")
    bare = path.stem if path.suffix in _OPENERS else path.name
    matching = [form for form in known.values() if form.sniff(bare, head)]
    if len(matching) != 1:
        found = "fits no format" if not matching else "fits " + " and ".join(form.name for form in matching)
        raise InputError(
            f"the content {found}", path=path, remedy=f"name it with --format (format=…): {', '.join(known)}"
        )
    return matching[0]


_OPENERS = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
    ".zst": lambda path: pa.CompressedInputStream(pa.OSFile(str(path)), "zstd"),
}


@contextlib.contextmanager
def open_stream(path):
    """A binary stream of the file's content, decompressed by its suffix (.gz, .xz, .bz2, .zst).

    Raises
    ------
    InputError
        The file cannot be read.
    """
    try:
        with _OPENERS.get(path.suffix, lambda p: open(p, "rb"))(path) as stream:
            yield stream
    except OSError as error:
        raise _unreadable(error, path) from error


def read_some(stream, size, path):
    """At most `size` bytes; broken or truncated compression becomes an `InputError`."""
    try:
        return stream.read(size)
    except (OSError, EOFError, lzma.LZMAError, pa.ArrowInvalid) as error:
        raise _unreadable(error, path) from error


def _unreadable(error, path):
    if isinstance(error, FileNotFoundError):
        return InputError("no such file", path=path)
    if isinstance(error, IsADirectoryError):
        return InputError("is a folder", path=path, expected="a trace file or a compiled trace")
    if isinstance(error, PermissionError):
        return InputError("may not be read", path=path, remedy="change its permissions")
    return InputError(
        f"cannot be read ({error})", path=path, remedy="the file may be truncated or damaged: fetch it again"
    )
