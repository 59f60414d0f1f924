"""The compiled trace: written once, memory-mapped, replayed many times."""

import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from misspenalty.errors import InputError, ParameterError
from misspenalty.io.files import atomic_path
from misspenalty.traces._compile import Interner
from misspenalty.traces.reader import find_format, unreadable

META = "meta.json"
VERSION = 1
LONGEST_REQUEST = 1 << 18  # blocks; a longer request is taken for a damaged line
MOST_REFERENCES = 0xFFFFFFFE  # what a kernel's 32-bit clock can count
LARGEST_BLOCK = 1 << 30  # bytes
EXPANDED = 1 << 20  # references expanded at a time


@dataclass(frozen=True)
class Trace:
    """References to blocks, ready for a kernel.

    Attributes
    ----------
    ids : uint32, shape (n,)
        Dense block ids in order of first use; memory-mapped.
    write : bool, shape (n,) or None
        Which references are writes; None where the format holds reads only.
    time : int64, shape (n,) or None
        ns since the trace began.
    address : uint64, shape (blocks,)
        Address of each dense id in the trace's own numbering.
    block_bytes : int
        Block size.
    name, format : str
        File name and format it was read from.
    """

    ids: np.ndarray = field(repr=False)
    write: np.ndarray | None = field(repr=False)
    time: np.ndarray | None = field(repr=False)
    address: np.ndarray = field(repr=False)
    block_bytes: int
    name: str
    format: str
    _known: dict = field(default_factory=dict, init=False, repr=False, compare=False)  # counts made once

    def __len__(self):
        return self.ids.shape[0]

    @property
    def blocks(self):
        """Distinct blocks: every id is below it."""
        return self.address.shape[0]

    @property
    def reads(self):
        """References that are reads."""
        return len(self) if self.write is None else len(self) - int(np.count_nonzero(self.write))

    def save(self, path):
        """Write the compiled trace as a folder that `open_trace` opens again; it appears whole or not at all."""
        with atomic_path(path) as partial:
            partial.mkdir()
            for column in _COLUMNS:
                values = getattr(self, column)
                if values is not None:
                    values.tofile(partial / column)
            _write_meta(partial, len(self), self.blocks, self.block_bytes, self.name, self.format)


def open_trace(path, format=None, block_bytes=None, **options):
    """Open a trace.

    Parameters
    ----------
    path : path-like
        A compiled trace (folder), or a raw trace in any known format, compressed (.gz, .xz, .bz2, .zst) or not. A raw
        trace is compiled on the way into unnamed temporary files (``TMPDIR`` says where), in memory bounded by its
        distinct blocks.
    format : str, optional
        Format of a raw trace where the file doesn't tell; see `misspenalty.traces.formats`.
    block_bytes : int, optional
        Block size that byte ranges are split by; by default the format's own.
    **options
        What else the format can be told, such as ``columns`` of ``csv``; see its ``options``.

    Returns
    -------
    Trace

    Raises
    ------
    InputError
        The file is missing, empty, damaged or malformed; the message names file, line and what was expected.
    ParameterError
        The format or an option is unknown, or the block size impossible.
    """
    if not os.fspath(path):
        raise InputError("the name of the trace is empty", expected="a trace file or a compiled trace")
    if "\0" in os.fspath(path):
        raise InputError("the name of the trace holds a null character", path=repr(path))
    path = Path(path)
    if _is_compiled(path):
        if format or block_bytes is not None or options:
            raise ParameterError(f"{path} is compiled: format, block size and options were chosen when it was made")
        return _check_ids(_open_compiled(path), path)
    form = find_format(path, format)
    form.check(options)
    size = form.block_bytes if block_bytes is None else _check_block(block_bytes)
    folder = Path(tempfile.mkdtemp(prefix="misspenalty-"))
    try:
        _compile(path, form, size, options, folder)
        return _open_compiled(folder)
    except OSError as error:
        raise InputError(f"compiling stopped ({error})", path=path, remedy="set TMPDIR to a disk with room") from error
    except (MemoryError, OverflowError) as error:
        remedy = "choose larger blocks (--block-size, block_bytes=…) or a shorter trace"
        raise InputError(f"has too many distinct blocks to compile here ({error})", path=path, remedy=remedy) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # the mappings outlive their names


def _is_compiled(path):
    try:
        return (path / META).is_file()
    except OSError as error:
        raise unreadable(error, path) from error


def _check_block(block_bytes):
    whole = isinstance(block_bytes, int | np.integer) and not isinstance(block_bytes, bool)
    if not whole or not 1 <= block_bytes <= LARGEST_BLOCK:
        raise ParameterError(f"block_bytes is {block_bytes!r}; expected a whole number from 1 to {LARGEST_BLOCK}")
    return int(block_bytes)


def _check_ids(trace, path):
    """`trace`, once no id can lead a kernel out of its arrays."""
    largest = int(trace.ids.max())
    if largest >= trace.blocks:
        raise InputError(
            f"id {largest} in column ids is damaged",
            path=path,
            expected=f"below {trace.blocks}",
            remedy="the compiled trace is damaged: compile it again",
        )
    return trace


_COLUMNS = {"ids": np.uint32, "write": np.bool_, "time": np.int64, "address": np.uint64}


def _compile(path, form, block_bytes, options, folder):
    interner = Interner()
    present = set()
    references = 0
    with open(folder / "ids", "wb") as ids, open(folder / "write", "wb") as write, open(folder / "time", "wb") as time:
        for requests in form.read(path, block_bytes, **options):
            references += _references(requests, path)
            if references > MOST_REFERENCES:
                raise InputError(
                    f"holds more than {MOST_REFERENCES} references",
                    path=path,
                    remedy="choose larger blocks (--block-size, block_bytes=…) or split the trace",
                )
            for start, writes, times in _expand(requests):
                interner.ids(start).tofile(ids)
                for name, values, file in (("write", writes, write), ("time", times, time)):
                    if values is not None:
                        values.tofile(file)
                        present.add(name)
    if not references:
        raise InputError("holds no requests", path=path, expected=form.summary)
    for name in {"write", "time"} - present:
        (folder / name).unlink()
    interner.addresses_by_id().tofile(folder / "address")
    _write_meta(folder, references, len(interner), block_bytes, path.name, form.name)


def _references(requests, path):
    """How many references of one block the requests make."""
    count = requests.count
    if count is None:
        return requests.start.size
    if count.size and (count.max() > LONGEST_REQUEST or count.min() < 1):
        odd = int(count.max() if count.max() > LONGEST_REQUEST else count.min())
        raise InputError(f"a request of {odd} blocks", path=path, expected=f"1 to {LONGEST_REQUEST}")
    return int(count.sum())


def _expand(requests):
    """Requests that span blocks to references of one block, a bounded number at a time."""
    start, count, write, time = requests
    if count is None:
        yield start, write, time
        return
    ends = np.cumsum(count)
    low = 0
    while low < count.size:
        done = ends[low - 1] if low else 0
        high = max(int(np.searchsorted(ends, done + EXPANDED, side="right")), low + 1)
        part = slice(low, high)
        offsets = np.arange(ends[high - 1] - done) - np.repeat(ends[part] - count[part] - done, count[part])
        blocks = np.repeat(start[part], count[part]) + offsets.astype(np.uint64)
        yield (blocks, *(None if values is None else np.repeat(values[part], count[part]) for values in (write, time)))
        low = high


def _write_meta(folder, references, blocks, block_bytes, name, format):
    meta = {
        "version": VERSION,
        "references": references,
        "blocks": blocks,
        "block_bytes": block_bytes,
        "name": name,
        "format": format,
    }
    (folder / META).write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n")


def _open_compiled(folder):
    try:
        meta = json.loads((folder / META).read_text())
        if meta["version"] != VERSION:
            raise InputError(
                f"was compiled by another version ({meta['version']})",
                path=folder,
                remedy="compile it again from the raw trace",
            )
        lengths = {
            "ids": meta["references"],
            "write": meta["references"],
            "time": meta["references"],
            "address": meta["blocks"],
        }
        columns = {name: _map(folder / name, dtype, lengths[name]) for name, dtype in _COLUMNS.items()}
        return Trace(**columns, block_bytes=meta["block_bytes"], name=meta["name"], format=meta["format"])
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"is no compiled trace ({error!r})", path=folder, remedy="compile it again") from error


def _map(path, dtype, length):
    if not path.exists() and path.name in ("write", "time"):
        return None
    if not path.exists() or path.stat().st_size != length * np.dtype(dtype).itemsize:
        raise InputError(
            f"column {path.name} is missing or not {length} long",
            path=path.parent,
            remedy="the compiled trace is damaged: compile it again",
        )
    return np.memmap(path, dtype, "r", shape=(length,))
