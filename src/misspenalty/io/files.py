"""Files are written whole or not at all, and the same content always gives the same bytes."""

import bz2
import contextlib
import errno
import gzip
import lzma
import os
import shutil
from pathlib import Path

import pyarrow as pa

from misspenalty.errors import InputError


@contextlib.contextmanager
def atomic_path(path):
    """Yield a temporary path beside `path` that replaces it when the block succeeds.

    The temporary path keeps the suffix of `path` and may become a file or a folder; nothing is left behind on error.

    Raises
    ------
    InputError
        The folder cannot be written to, or the disk is full.
    """
    path = Path(path)
    partial = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        if partial.is_dir() and path.is_dir():
            shutil.rmtree(path)
        os.replace(partial, path)
    except OSError as error:
        raise _explain(error, path) from error
    finally:
        _remove(partial)


def write_csv(frame, path):
    """Write a tidy table: comma separated, ``\\n`` line ends, no index, floats with at most 10 significant digits."""
    with atomic_path(path) as partial:
        frame.to_csv(partial, index=False, float_format="%.10g", lineterminator="\n")


@contextlib.contextmanager
def open_output(path):
    """A binary stream into a new file, compressed as its suffix says (.gz, .xz, .bz2, .zst), without a date in it."""
    openers = {".xz": lzma.open, ".bz2": bz2.open, ".zst": _open_zstd}
    with openers.get(path.suffix, open)(path, "wb") as stream:
        if path.suffix != ".gz":
            yield stream
            return
        with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as compressed:
            yield compressed


def _open_zstd(path, mode):
    return pa.CompressedOutputStream(pa.OSFile(str(path), mode), "zstd")


def _remove(path):
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()


def _explain(error, path):
    if error.errno == errno.ENOSPC:
        return InputError(
            f"no space left on the disk while writing: {error}", path=path, remedy="free some space and rerun"
        )
    if isinstance(
        error, FileNotFoundError | PermissionError | NotADirectoryError | IsADirectoryError | FileExistsError
    ):
        return InputError(f"cannot be written: {error.strerror}", path=path, remedy="choose another place")
    return error
