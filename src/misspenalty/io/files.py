"""Write files atomically and reproducibly: the same content always gives the same bytes."""

import bz2
import contextlib
import ctypes
import errno
import glob
import gzip
import hashlib
import lzma
import os
import re
import shutil
import socket
import tempfile
import threading
from pathlib import Path

import pyarrow as pa

from misspenalty.errors import InputError

_partial = set()  # temporary paths that `atomic_path` has not removed yet


@contextlib.contextmanager
def atomic_path(path):
    """Yield a temporary path next to `path`, which replaces `path` if the ``with`` block succeeds.

    The temporary path keeps the suffix of `path` and may become a file or a folder. It is flushed to disk before it
    replaces `path` in one step: a process that is killed at any moment leaves the old content or the new, never a
    mixture. On a system that cannot exchange folders, however, an existing folder is moved aside first.
    Nothing is left behind on error; leftovers of a killed process are removed by the next process that writes the same
    path on the same machine.

    Raises
    ------
    InputError
        The file or folder cannot be written, or `path` has no name (``.``, ``/``) or is a device or a pipe, which root
        would replace with a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with atomic_path(folder / "table.csv") as partial:
    ...     _ = partial.write_text("a,b\\n")
    >>> [path.name for path in folder.iterdir()]
    ['table.csv']
    """
    path = Path(path)
    if _is_device(path):
        raise InputError("is a device or a pipe", path=path, remedy="name a file")
    if path.name in ("", ".."):
        raise InputError("is a folder without a name of its own", path=path, remedy="name what to write")
    digest = hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]  # the digest is short even if the name is long
    prefix = f".{digest}.{_host()}."
    partial = path.with_name(f"{prefix}{os.getpid()}.{threading.get_ident()}.partial{path.suffix}")
    _partial.add(partial)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path.parent, prefix)
        yield partial
        _sync(partial)
        if partial.is_dir() and path.is_dir():
            _exchange(partial, path)
        else:
            os.replace(partial, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise _explain(error, path) from error
    finally:
        _remove(partial)
        _partial.discard(partial)


@contextlib.contextmanager
def temporary_folder():
    """Yield a new folder below ``TMPDIR``, and remove it at the end.

    Folders left by processes on this machine that were killed are removed as well.

    Examples
    --------
    >>> with temporary_folder() as folder:
    ...     folder.is_dir()
    True
    >>> folder.exists()
    False
    """
    _remove_abandoned(Path(tempfile.gettempdir()), f"misspenalty-{_host()}.", ".*")
    with tempfile.TemporaryDirectory(prefix=_own_prefix(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def remove_temporary():
    """Remove all temporary files and folders of this process, because a signal or Ctrl-C is ending it."""
    for path in (*_partial, *Path(tempfile.gettempdir()).glob(f"{glob.escape(_own_prefix())}*")):
        _remove(path)


def _own_prefix():
    return f"misspenalty-{_host()}.{os.getpid()}."


def _host():
    return socket.gethostname()[:32]


def _is_device(path):
    """Return whether a path is a device, a pipe, or a link to an open file, such as /dev/stdout."""
    if os.path.islink(path) and os.readlink(path).startswith("/proc/"):
        return True
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _remove_abandoned(folder, prefix, rest=".partial*"):
    """Remove temporary files left by processes on this host that no longer run."""
    for left in folder.glob(f"{glob.escape(prefix)}*{rest}"):
        number = left.name[len(prefix) :].partition(".")[0]
        if re.fullmatch("[0-9]{1,9}", number) and not _is_running(int(number)):
            _remove(left)


def _is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync(path):
    """Flush a file, or the files of a folder, to disk."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            with open(file, "rb") as stream:
                os.fsync(stream.fileno())
    if path.is_dir():
        _sync_folder(path)


def _sync_folder(folder):
    """Flush the entries of a folder to disk, if the file system supports this."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems cannot sync folders
            raise
    finally:
        os.close(descriptor)


def _exchange(partial, path):
    """Replace the folder `path` with the folder `partial`.

    Linux exchanges the two in one step: the old folder is then at `partial`. Elsewhere the old folder is moved aside,
    and removed at the end.
    """
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is not None and rename(-100, os.fsencode(partial), -100, os.fsencode(path), 2) == 0:
        return  # -100 is AT_FDCWD, 2 is RENAME_EXCHANGE
    old = partial.with_name(f"{partial.name}.old")
    os.replace(path, old)
    try:
        os.replace(partial, path)
    except OSError:
        os.replace(old, path)
        raise
    _remove(old)


def write_csv(frame, path):
    """Write a tidy table: comma separated, ``\\n`` line ends, no index, floats with at most 10 significant digits."""
    with atomic_path(path) as partial:
        frame.to_csv(partial, index=False, float_format="%.10g", lineterminator="\n")


@contextlib.contextmanager
def open_output(path):
    """Yield a binary stream to a file, compressed according to its suffix (.gz, .xz, .bz2, .zst), with no timestamp."""
    openers = {".xz": lzma.open, ".bz2": bz2.open, ".zst": _open_zstd}
    suffix = path.suffix.lower()
    with openers.get(suffix, open)(path, "wb") as stream:
        if suffix != ".gz":
            yield stream
            return
        with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as compressed:
            yield compressed


def _open_zstd(path, mode):
    return pa.CompressedOutputStream(pa.OSFile(os.fsencode(path), mode), "zstd")


def _remove(path):
    if os.path.isdir(path):  # unlike `Path.is_dir`, this raises no error in a folder without search permission
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _explain(error, path):
    if error.errno is None or isinstance(error, ConnectionError):
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return InputError(
            f"no space left on the disk while writing: {error}", path=path, remedy="free some space and rerun"
        )
    if error.errno == errno.ENAMETOOLONG:
        return InputError("the name is too long for this file system", path=path, remedy="choose a shorter name")
    return InputError(f"cannot be written: {error.strerror}", path=path, remedy="choose another place")
