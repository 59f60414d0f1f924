"""Open a trace: load a compiled one or, if it is large, map it; compile a raw one on the fly.

If another process truncates a mapped file, SIGBUS ends this process; if the other process changes the file after its
checksum was verified, results are wrong. Columns of up to a gigabyte in total are therefore read into memory, which
takes no longer than the verification. Larger traces are mapped; their files must not be changed while they are open.
"""

import contextlib
import dataclasses
import json
import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from misspenalty.errors import InputError, ParameterError, check_whole
from misspenalty.io.files import temporary_folder
from misspenalty.traces._compile import first_sizes
from misspenalty.traces.columns import BY_BLOCK, COLUMNS, LONGEST_NAME, check_block
from misspenalty.traces.compression import check_path, unreadable
from misspenalty.traces.meta import META, VERSION, RequestSizes, checksum, meta_checksum, write_meta
from misspenalty.traces.numbering import CHUNK, Numbering
from misspenalty.traces.reader import Format, Requests, find_format
from misspenalty.traces.reading import Reading, check_heeded, counted
from misspenalty.traces.selection import MOST_REFERENCES
from misspenalty.traces.source import Source, expand
from misspenalty.traces.spool import spooled
from misspenalty.traces.trace import Trace
from misspenalty.traces.unknown_sizes import UNKNOWN, fill, notes_never
from misspenalty.traces.values import TextKeysError

LONGEST_REQUEST = 1 << 18  # maximum length of a request, blocks; a longer one is treated as a damaged line
ALWAYS = 10_000_000  # number of references that any file may contain
PER_BYTE = 100  # further references allowed per byte of the file as it is stored
LOADED = 1 << 30  # size in bytes up to which a compiled trace is read into memory; larger ones are mapped

TraceLike: TypeAlias = Trace | str | os.PathLike[str] | ArrayLike


def as_trace(source: TraceLike) -> Trace:
    """Return `source` as a `Trace` whose ids have been checked.

    Parameters
    ----------
    source : Trace, path-like, array of integers or table
        A trace, the path of a raw or compiled one, block addresses as in `Trace.from_blocks`, or a data frame,
        an Arrow table, an array of records or a dict of columns as in `Trace.from_table`.

    Raises
    ------
    InputError
        As in `open_trace` and `Trace.from_table`; or the trace contains invalid ids.
    ParameterError
        `source` is none of these, or a value in it is invalid.
    """
    if isinstance(source, str | os.PathLike):
        source = open_trace(source)
    elif not isinstance(source, Trace):
        if isinstance(source, dict) or hasattr(source, "columns"):
            return Trace.from_table(source)
        if isinstance(source, np.ndarray) and source.dtype.names:
            return Trace.from_table(source)
        if not isinstance(source, list | tuple | range | np.ndarray) and not hasattr(source, "__array__"):
            raise ParameterError(
                f"trace is of type {type(source).__name__}; expected a Trace, a path, an array of block addresses, or a"
                " table"
            )
        source = Trace.from_blocks(source)
    source.check()
    return source


def open_trace(
    path: str | os.PathLike[str],
    format: str | None = None,
    block_bytes: int | None = None,
    *,
    most_references: int | None = None,
    **options: Any,
) -> Trace:
    """Open a trace.

    Parameters
    ----------
    path : path-like
        A compiled trace (folder), or a raw trace in any known format, compressed (.gz, .xz, .bz2, .zst) or not. A raw
        trace is compiled on the fly into temporary files below ``TMPDIR``. Numbering its blocks takes up to half a
        gigabyte of memory and, above 7 million distinct blocks, about 4 more bytes per block, or 12 per object if
        objects have sizes. A pipe is first copied to a temporary file; ``-`` is standard input.
    format : str, optional
        Name of the raw trace's format, in upper or lower case; needed if the format cannot be recognised from the file.
        See `misspenalty.formats`.
    block_bytes : int, optional
        Block size into which byte ranges are split; by default the format's own.
    most_references : int, optional
        Maximum number of block references of a raw trace, which keeps a small hostile file from filling the disk; by
        default 10 million plus 100 per byte of the file.
    **options
        Further options of the format, such as ``columns`` of ``csv``; see the ``options`` in `misspenalty.formats`.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        The file is missing, empty, damaged or malformed, its format cannot be recognised, it has too many references
        or distinct blocks, or ``TMPDIR`` is full; the message names the file and, where possible, the line and what
        was expected.
    ParameterError
        The path, the format, the block size, `most_references` or an option is invalid, or an argument other than the
        path is given for a compiled trace.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "mine.spc")
    ...     _ = file.write_text("0,8,4096,R,0.0\\n0,16,4096,W,0.5\\n0,8,4096,R,0.7\\n")
    ...     open_trace(file)
    <Trace 'mine.spc' (spc): 3 references (2 reads, 1 write) to 2 blocks of 4096 bytes, footprint 8 KB>
    """
    path = check_path(path)
    if is_compiled(path):
        if format or block_bytes is not None or most_references is not None or options:
            raise ParameterError(
                f"{path} is compiled: its format, block size and options were chosen when it was made; leave them out"
            )
        return _check_ids(_open_compiled(path, verify=True), path)
    if most_references is not None:
        most_references = check_whole("most_references", most_references, 1, MOST_REFERENCES)
    with spooled(path) as (file, name):
        return _open_raw(file, name, format, block_bytes, most_references, options)


def _open_raw(
    path: Path,
    name: str,
    format: str | None,
    block_bytes: int | None,
    most_references: int | None,
    options: dict[str, Any],
) -> Trace:
    form = find_format(path, format, options)
    form.check(options)
    if block_bytes is not None:
        size = check_block(block_bytes)
    else:
        size = form.block_bytes if form.block_bytes_of is None else form.block_bytes_of(path, **options)
    assumed = block_bytes is None and form.assumes_block
    said = (f"block size of {size} bytes taken from {form.name} (--block-size)",) if assumed else ()
    try:
        with temporary_folder() as folder:  # the mappings stay valid after the files are removed
            try:
                _compile(path, name, form, size, most_references, options, folder, said)
            except TextKeysError:  # a key is not a number, so the whole column is read again as text
                _compile(path, name, form, size, most_references, options | {"key": "words"}, folder, said)
            trace = _open_compiled(folder, verify=False)
            if block_bytes is not None and trace.object_bytes is not None:
                what = "has objects with sizes of their own, so that a block size would have no effect"
                raise InputError(what, path=path, remedy="leave out --block-size (block_bytes=…)")
            trace._known["checked"] = True  # the ids need no check, as the interner made them
            return trace
    except OSError as error:
        remedy = "set TMPDIR to a folder that can be written to and has more space"
        raise InputError(f"compiling stopped ({error})", path=path, remedy=remedy) from error
    except (MemoryError, OverflowError) as error:
        remedy = "choose larger blocks (--block-size, block_bytes=…) or a shorter trace"
        raise InputError(
            f"is too large to compile here ({str(error) or 'out of memory'})", path=path, remedy=remedy
        ) from error


def is_compiled(path: Path) -> bool:
    """Return whether a path is that of a compiled trace.

    Raises
    ------
    InputError
        The path cannot be examined.
    """
    try:
        return (path / META).is_file()
    except OSError as error:
        raise unreadable(error, path) from error


def _check_ids(trace: Trace, path: Path) -> Trace:
    """Return `trace`, after checking that no id makes a kernel read beyond its arrays."""
    try:
        trace.check()
    except InputError as error:
        raise _damaged(f"id {int(trace.ids.max())} in column ids is not below {trace.blocks}", path) from error
    return trace


def _compile(
    path: Path,
    name: str,
    form: Format,
    block_bytes: int,
    most_references: int | None,
    options: dict[str, Any],
    folder: Path,
    said: tuple[str, ...],
) -> None:
    present = set()
    references = 0
    lengths = np.zeros(1, np.int64)  # number of requests by their length in blocks
    with (
        contextlib.closing(Numbering(folder)) as numbering,
        contextlib.closing(ObjectBytes(folder)) as sizes,
        open(folder / "write", "wb") as write,
        open(folder / "time", "wb") as time,
    ):
        source = Source(form.read(path, block_bytes, **options))
        for requests in source:
            references += _references(requests, path, int(lengths.sum()))
            lengths = _tally(lengths, requests)
            _check_references(references, most_references, path)
            for start, writes, times in expand(requests):
                ids = numbering.add(start)
                if requests.size is not None:
                    sizes.add(requests.size, ids)
                for column, values, file in (("write", writes, write), ("time", times, time)):
                    if values is not None:
                        file.write(np.ascontiguousarray(values).data)
                        present.add(column)
        if not references:
            raise _without_requests(source.reading, path, form)
        blocks = numbering.finish()
        sizes.finish()
    for column in {"write", "time"} - present:
        (folder / column).unlink()
    reading = source.reading or Reading()
    check_heeded(reading, options, path)
    reading = dataclasses.replace(
        reading, format=form.name, block_bytes=block_bytes, rows=int(lengths.sum()),
        reads=references - source.writes, writes=source.writes, size_changes=sizes.changes,
        earlier=reading.earlier + source.earlier, notes=(*reading.notes, *notes_never(sizes.never), *said),
    )  # fmt: skip
    write_meta(folder, references, blocks, block_bytes, name, form.name, _sizes(lengths), reading, checksums=False)


def _without_requests(reading: Reading | None, path: Path, form: Format) -> InputError:
    """Return the error about a file without requests, which says what the file contains instead."""
    passed = dict(reading.skipped) if reading else {}
    actions = [action for action in form.actions if any(reason.endswith(f"s of action {action}") for reason in passed)]
    ignored = {
        name: count for name, (what, count) in (reading.operations if reading else {}).items() if what == "ignore"
    }
    held = [counted(count, reason) for reason, count in passed.items()]
    held += [f"{count:,} of the ignored operation {name or '(blank)'}" for name, count in ignored.items()]
    remedy = None
    if actions:
        remedy = f"choose another action: --action {actions[0]} (action=…)"
    elif ignored and "operations" in form.options:
        remedy = f"say what an operation means: --operations {next(iter(ignored))}=read (operations=…)"
    what = "contains no requests" + (f", but {', '.join(held)}" if held else "")
    return InputError(what, path=path, expected=None if held else form.summary, remedy=remedy)


class ObjectBytes:
    """Writer of each object's size at its first reference (``object_bytes``) and at all references (``request_bytes``).

    ``request_bytes`` is left out if no object changes its size.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.changes, self.unknown = folder, 0, False
        self.never = 0  # objects whose size no request states
        self.first: np.ndarray | None = np.empty(CHUNK, np.int64)  # sizes by id, or None if `finish` finds them
        self.seen = 0  # objects whose size is in `first`
        self.requests = open(folder / "request_bytes", "wb")  # noqa: SIM115, closed by `finish`

    def add(self, sizes: np.ndarray, ids: np.ndarray | None) -> None:
        """Append the int64 sizes of the next references, whose ids are None if they are known only at the end."""
        self.unknown |= bool((sizes == UNKNOWN).any())
        self.requests.write(np.ascontiguousarray(sizes).data)
        if ids is None or self.unknown:
            self.first = None
        elif self.first is not None:
            self.first = self._enter(self.first, ids, sizes)

    def _enter(self, first: np.ndarray, ids: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Enter the sizes of new objects in `first`, and count those of other objects that differ; return `first`."""
        if (blocks := int(ids.max(initial=0)) + 1) > first.size:
            first = np.concatenate([first, np.empty(max(blocks, 2 * first.size) - first.size, np.int64)])
        self.seen, changes = first_sizes(ids, np.ascontiguousarray(sizes), first, self.seen)
        self.changes += changes
        return first

    def finish(self) -> None:
        """Write the sizes of the objects, once the column ``ids`` is complete."""
        self.requests.close()
        requests = self.folder / "request_bytes"
        if not requests.stat().st_size:
            requests.unlink()
            return
        first = self._found(requests) if self.first is None else self.first
        first[: self.seen].tofile(self.folder / "object_bytes")
        if not self.changes:
            requests.unlink()

    def _found(self, requests: Path) -> np.ndarray:
        """Return the size of each object, given the files of the references."""
        blocks = (self.folder / "address").stat().st_size // 8
        if self.unknown:
            self.never = fill(self.folder / "ids", requests, blocks)
        first = np.empty(blocks, np.int64)
        self.seen = self.changes = 0
        with open(self.folder / "ids", "rb") as ids, open(requests, "rb") as sizes:
            while (part := np.fromfile(ids, np.uint32, CHUNK)).size:
                self._enter(first, part, np.fromfile(sizes, np.int64, part.size))
        return first

    def close(self) -> None:
        """Close the file; unfinished work is lost."""
        self.requests.close()


def _check_references(references: int, most: int | None, path: Path) -> None:
    """Raise an `InputError` if a file has more references than allowed, or than a kernel can count."""
    if references > MOST_REFERENCES:
        raise InputError(
            f"contains more than {MOST_REFERENCES} references",
            path=path,
            remedy="choose larger blocks (--block-size, block_bytes=…) or split the trace",
        )
    stored = path.stat().st_size
    allowed = ALWAYS + PER_BYTE * stored if most is None else most
    if references > allowed:
        raise InputError(
            f"{stored} bytes contain more than {allowed} reference{'s' * (allowed != 1)}",
            path=path,
            remedy="if that is intended, allow more with --most-references (most_references=…)",
        )


def _references(requests: Requests, path: Path, before: int) -> int:
    """Count the one-block references of the requests; `before` is the number of earlier requests, for messages."""
    count = requests.count
    if count is None:
        return requests.start.size
    if (odd := np.flatnonzero((count > LONGEST_REQUEST) | (count < 1))).size:
        raise InputError(
            f"request {before + int(odd[0]) + 1} has {int(count[odd[0]])} blocks",
            path=path,
            expected=f"1 to {LONGEST_REQUEST}",
            remedy="fix or leave out the request, or choose larger blocks (--block-size, block_bytes=…)",
        )
    return int(count.sum())


def _tally(lengths: np.ndarray, requests: Requests) -> np.ndarray:
    """Add the lengths of these requests to the counts in `lengths`, and return the counts."""
    more = np.array([0, requests.start.size], np.int64) if requests.count is None else np.bincount(requests.count)
    short, long = sorted((lengths, more), key=len)
    long[: len(short)] += short
    return long


def _sizes(lengths: np.ndarray) -> RequestSizes:
    ends = np.cumsum(lengths)
    requests = int(ends[-1])
    median, p95 = (int(np.searchsorted(ends, share * requests)) for share in (0.5, 0.95))
    largest = int(np.flatnonzero(lengths)[-1])
    bounds = 1 << np.arange((largest - 1).bit_length() + 1)
    octaves = np.diff(ends[np.minimum(bounds, len(ends) - 1)], prepend=0)
    return RequestSizes(requests, median, p95, largest, tuple(octaves.tolist()))


def _open_compiled(folder: Path, verify: bool) -> Trace:
    """Load a compiled trace, or map a large or unverified one; with `verify`, check its checksums."""
    try:
        meta = json.loads((folder / META).read_text(encoding="utf-8"))
        if meta["version"] != VERSION:
            raise InputError(
                f"was compiled by another version ({meta['version']})",
                path=folder,
                remedy="compile it again from the raw trace",
            )
        if verify and meta["checksum"] != meta_checksum(meta):
            raise _damaged(f"{META} does not match its checksum {meta['checksum']}", folder)
        for name in (meta["name"], meta["format"]):
            if not isinstance(name, str) or len(name) > LONGEST_NAME:
                raise ValueError(f"{name!r:.40} is not a name")
        block_bytes = check_block(meta["block_bytes"])
        lengths = dict.fromkeys(BY_BLOCK, meta["blocks"])
        columns: dict[str, Any] = dict.fromkeys(COLUMNS)
        small = sum((folder / name).stat().st_size for name in meta["columns"] if (folder / name).exists()) <= LOADED
        for name in meta["columns"]:
            columns[name] = _column(
                folder / name, COLUMNS[name], lengths.get(name, meta["references"]), load=verify and small
            )
            if verify and checksum(columns[name]) != meta["columns"][name]:
                raise _damaged(f"column {name} does not match its checksum {meta['columns'][name]}", folder)
        sizes = _known_sizes(meta["sizes"]) if "sizes" in meta else None
        counts = (*dataclasses.astuple(sizes)[:-1], *sizes.octaves) if sizes else ()
        for number in (meta["references"], meta["blocks"], *counts):
            if type(number) is not int or number < 0:
                raise ValueError(f"{number!r} is not a count")
        if sizes is not None and not sizes.requests:
            raise ValueError("there are sizes of requests, but no requests")
        reading = Reading.from_dict(meta["reading"]) if "reading" in meta else None
        return Trace(**columns, block_bytes=block_bytes, name=meta["name"], format=meta["format"], sizes=sizes,
                     reading=reading)  # fmt: skip
    except InputError:
        raise
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"is not a compiled trace ({error!r})", path=folder, remedy="compile it again") from error


def _known_sizes(entries: dict[str, Any]) -> RequestSizes:
    return RequestSizes(**{**entries, "octaves": tuple(entries.get("octaves", ()))})


def _damaged(what: str, folder: Path) -> InputError:
    return InputError(what, path=folder, remedy="the compiled trace is damaged; compile it again")


def _column(path: Path, dtype: type, length: int, load: bool) -> np.ndarray:
    if not path.exists() or path.stat().st_size != length * np.dtype(dtype).itemsize:
        raise _damaged(f"column {path.name} is missing or does not have {length} entries", path.parent)
    if not load:
        return np.memmap(path, dtype, "r", shape=(length,))
    values: np.ndarray = np.fromfile(path, dtype)
    if values.size != length:
        raise _damaged(f"column {path.name} changed while it was read", path.parent)
    values.flags.writeable = False
    return values
