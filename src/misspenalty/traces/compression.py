"""Read files as decompressed streams of bytes: gzip, bzip2, xz and Zstandard are recognised by their content.

Every stream of a file has to be complete: a truncated stream is refused, and so is data after the last stream that is
neither a stream nor padding. Damage is refused if the stream carries a checksum; a Zstandard stream may have none.
"""

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from misspenalty.errors import InputError, ParameterError

MAGIC = {b"\x1f\x8b\x08": ".gz", b"\xfd7zXZ\0": ".xz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
STORED = 1 << 18  # bytes of a compressed file read at a time
TOO_LONG = "Frame requires too much memory"  # part of a message of Zstandard's library


class Streams:
    """Reader of a file that consists of one or more compressed streams, each of which has to be complete.

    Parameters
    ----------
    path : Path
    start : callable
        Returns a new decompressor, such as those of `bz2` and `lzma`.
    padding : bytes
        Bytes that may occur between streams and at the end.
    """

    def __init__(self, path: Path, start: Callable[[], Any], padding: bytes = b"") -> None:
        self.file, self.start, self.padding = open(path, "rb"), start, padding  # noqa: SIM115, closed by `__exit__`
        self.stream, self.waiting = start(), b""

    def __enter__(self) -> "Streams":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def read(self, size: int = -1) -> bytes:
        """Return the next `size` bytes, or fewer at the end; return all remaining bytes if `size` is below 0."""
        parts: list[bytes] = []
        size = sys.maxsize if size < 0 else size
        while size:
            if self.stream.eof:
                self.waiting = (self.stream.unused_data or self.waiting).lstrip(self.padding)
                self.waiting = self.waiting or self._stored().lstrip(self.padding)
                if not self.waiting:
                    break
                self.stream = self.start()
            elif self.stream.needs_input and not self.waiting:
                self.waiting = self._stored()
                if not self.waiting:
                    raise EOFError("the compressed data ends within a stream")
            part = self.stream.decompress(self.waiting, size)
            self.waiting = b""
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _stored(self) -> bytes:
        """Return the next bytes of the file; at the end of a stream, skip the padding first."""
        while data := self.file.read(STORED):
            if not self.stream.eof or data.strip(self.padding or b""):
                return data
        return b""


_OPENERS: dict[str, Callable[[Path], Any]] = {
    ".gz": gzip.open,
    ".xz": lambda path: Streams(path, lzma.LZMADecompressor, b"\0"),
    ".bz2": lambda path: Streams(path, bz2.BZ2Decompressor),
    ".zst": lambda path: pa.CompressedInputStream(pa.OSFile(os.fsencode(path)), "zstd"),
}


def check_path(path: Any) -> Path:
    """Return the path of a trace as a `Path`.

    Raises
    ------
    ParameterError
        `path` is neither text, nor bytes, nor a path-like object.
    InputError
        `path` is empty or contains a null character.

    Examples
    --------
    >>> check_path(b"mine.spc").name
    'mine.spc'
    """
    if not isinstance(path, str | bytes | os.PathLike):
        raise ParameterError(f"path is {path!r}; expected the path of a trace")
    if not os.fspath(path):
        raise InputError("the name of the trace is empty", expected="a trace file or a compiled trace")
    if "\0" in os.fsdecode(path):
        raise InputError("the name of the trace contains a null character", path=repr(path))
    return Path(os.fsdecode(path))


def compression(path: Path) -> str:
    """Return the suffix that stands for the compression of a file, found from its content or else from its name; empty
    if the file is not compressed."""
    return _by_content(path) or (path.suffix if path.suffix in _OPENERS else "")


def _by_content(path: Path) -> str:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        head = file.read(max(map(len, MAGIC)))
        for magic, suffix in MAGIC.items():
            if head.startswith(magic) and (suffix != ".bz2" or head[3:4] in b"123456789"):
                return suffix
    return ""


def bare_name(path: Path) -> str:
    """Return the name of a file without the suffix of its compression."""
    return path.stem if path.suffix in _OPENERS else path.name


@contextlib.contextmanager
def open_stream(path: Path) -> Iterator[BinaryIO]:
    """Yield a binary stream of the file's content, decompressed (gzip, xz, bzip2, Zstandard).

    Raises
    ------
    InputError
        The file cannot be read, or is a sparse file with more than `MOST_HOLES` bytes of holes.
    """
    try:
        _check_holes(path)
        with _OPENERS.get(compression(path), lambda p: open(p, "rb"))(path) as stream:
            yield stream
    except OSError as error:
        raise unreadable(error, path) from error


MOST_HOLES = 1 << 28  # bytes


def _check_holes(path: Path) -> None:
    """Refuse a file with more than `MOST_HOLES` bytes of holes, which take no disk space but would be read as zeros."""
    if not hasattr(os, "SEEK_DATA"):  # as in a browser, where files have no holes
        return
    with open(path, "rb") as file:
        size, place, holes = os.fstat(file.fileno()).st_size, 0, 0
        while place < size and size > MOST_HOLES:
            start = place
            try:
                data = os.lseek(file.fileno(), start, os.SEEK_DATA)
                place = os.lseek(file.fileno(), data, os.SEEK_HOLE)
            except OSError as error:
                if error.errno != errno.ENXIO:  # the file system cannot find holes
                    return
                data = place = size  # the rest is a hole
            holes += data - start
            if holes > MOST_HOLES:
                raise InputError(
                    f"is a sparse file with more than {MOST_HOLES >> 20} MB of holes",
                    path=path,
                    expected="a trace",
                    remedy="if the zeros are part of the trace, write them out: cp --sparse=never",
                )


def read_some(stream: BinaryIO, size: int, path: Path) -> bytes:
    """Read at most `size` bytes; broken or truncated compression raises an `InputError`."""
    try:
        return stream.read(size)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        raise unreadable(error, path) from error


def unreadable(error: Exception, path: Path) -> InputError:
    """Return the `InputError` for an exception from opening or reading `path`."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return InputError("no such file", path=path)
    if isinstance(error, IsADirectoryError):
        return InputError("is a folder", path=path, expected="a trace file or a compiled trace")
    if isinstance(error, PermissionError):
        return InputError("cannot be read: permission denied", path=path, remedy="change its permissions")
    if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
        return InputError("the name is longer than the system allows", path=path, expected="the name of a trace")
    if isinstance(error, OSError) and error.filename is not None:  # the file was not opened
        return InputError(f"cannot be read: {error.strerror}", path=path)
    if TOO_LONG in str(error):
        return InputError(
            "was compressed by zstd with a window of more than 128 MB (--long)",
            path=path,
            remedy=f"decompress it first: zstd -d --long=31 {path.name}",
        )
    remedy = "the file may be truncated or damaged: fetch it again"
    if path.suffix in _OPENERS and not _by_content(path):
        remedy += f"; if it is not compressed, as after a download by a browser, rename it without {path.suffix}"
    return InputError(f"cannot be read ({error})", path=path, remedy=remedy)
