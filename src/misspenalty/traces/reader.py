"""Register trace formats with their readers, and find a format by its name or from a file.

An installed package registers a format by an entry point in the group ``misspenalty.formats``, which names a `Format`,
or a module that calls `register`.
"""

import contextlib
import functools
import importlib
import itertools
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from misspenalty.errors import InputError, MissPenaltyError, ParameterError, did_you_mean
from misspenalty.io.plugins import add_plugins
from misspenalty.traces import foreign
from misspenalty.traces.compression import bare_name, compression, open_stream, read_some
from misspenalty.traces.table import DEVICE_SHIFT, MOST_DEVICES, OPTIONS, SECTOR, SEPARATORS
from misspenalty.traces.values import TextKeysError
from misspenalty.traces.vocabulary import ACTION

GROUP = "misspenalty.formats"  # group of entry points


class Requests(NamedTuple):
    """A batch of requests as a reader yields them; arrays of one length."""

    start: np.ndarray  # uint64, first block of each request
    count: np.ndarray | None = None  # int64, blocks of each request; None: one each
    write: np.ndarray | None = None  # bool; None: all are reads
    time: np.ndarray | None = None  # int64, ns since the trace began; None: there are no times
    size: np.ndarray | None = None  # int64, bytes of the object, -1 if unknown; None: all blocks have the same size
    life: np.ndarray | None = None  # int64, ns to live, 0 = no end, -1 = a delete; see misspenalty.traces.lifetimes


@dataclass(frozen=True)
class Format:
    """A trace format.

    Attributes
    ----------
    name : str
        Name for ``--format``.
    summary : str
        The grammar in one line.
    read : callable
        ``read(path, block_bytes, **options) -> iterator of Requests``. A generator may return a
        `misspenalty.traces.reading.Reading`, which says how it understood the file.
    sniff : callable
        ``sniff(name, head) -> bool``: whether a file of this name (compression suffix removed), whose decompressed
        content begins with `head`, is of this format. For a Parquet file, `head` also holds the footer.
    block_bytes : int
        Block size if the user names none.
    options : dict of str to str
        Further options of the reader: name to meaning.
    block_bytes_of : callable, optional
        ``block_bytes_of(path, **options) -> int``: the block size that a file states, if the user names none.
    source, example : str
        Who defined the format, and lines of a file; both are empty if the docstring of the format's module has them.
    assumes_block : bool
        Whether a file holds numbers of blocks, and neither the format nor the file states how large a block is.
    actions : tuple of str
        Values of the option ``action``, which says which records are requests, the default first.
    doubt : callable, optional
        ``doubt(path) -> str``: why a recognised file may mix objects if it is read; empty if it does not.
    """

    name: str
    summary: str
    read: Callable[[Path, int], Iterator[Requests]]
    sniff: Callable[[str, bytes], bool]
    block_bytes: int
    options: dict[str, str] = field(default_factory=dict)
    block_bytes_of: Callable[..., int] | None = None
    source: str = ""
    example: str = ""
    assumes_block: bool = False
    actions: tuple[str, ...] = ()
    doubt: Callable[[Path], str] | None = None

    def check(self, options: Iterable[str]) -> None:
        """Raise a `ParameterError` if an option is not one of this format's."""
        for name in options:
            if name not in self.options:
                spelt = name in (*OPTIONS, ACTION)  # an option of other formats
                meant = "" if spelt else did_you_mean(name, [*self.options, "block_bytes", "most_references"])
                raise ParameterError(
                    f"format {self.name} has no option {name!r}{meant}; it has {', '.join(self.options) or 'none'}"
                )


LARGEST_ADDRESS = 1 << 56  # bytes: 64 PB per device
LARGEST_REQUEST = 1 << 40  # bytes
LONGEST_TIME = 1 << 62  # ns, 146 years


def extents(device, start, size, write, time, block_bytes, path):
    """Return `Requests` for byte ranges on devices, each with its own address space.

    Parameters
    ----------
    device, start, size : int64, shape (n,)
        Device number, first byte and number of bytes; a request of zero bytes touches the block of its first byte.
    write, time
        As in `Requests`.

    Raises
    ------
    InputError
        A number is out of range.
    """
    for name, values, limit in (
        ("device", device, MOST_DEVICES),
        ("address", start, LARGEST_ADDRESS),
        ("size", size, LARGEST_REQUEST),
    ):
        if values.size and (values.max() >= limit or values.min() < 0):
            odd = int(values.min() if values.min() < 0 else values.max())
            raise InputError(f"{name} {odd} is out of range", path=path, expected=f"0 to {limit - 1}")
    first = start // block_bytes
    last = (start + np.maximum(size, 1) - 1) // block_bytes
    if last.size and last.max() >> DEVICE_SHIFT:
        raise InputError(
            f"address {int(start.max())} is too high for blocks of {block_bytes} byte{'s' * (block_bytes > 1)}",
            path=path,
            remedy="choose larger blocks (--block-size, block_bytes=…)",
        )
    return Requests((device << DEVICE_SHIFT | first).view("u8"), last - first + 1, write, time)


def sectors_to_bytes(sector, path, name="address"):
    """Return addresses or sizes in bytes, given int64 numbers of sectors.

    Raises
    ------
    InputError
        A number of sectors is too high.
    """
    limit = LARGEST_ADDRESS // SECTOR
    if sector.size and sector.max() >= limit:
        raise InputError(f"{name} {int(sector.max())} is out of range", path=path, expected=f"below {limit} sectors")
    return sector * SECTOR


class Devices:
    """A table that numbers devices in order of appearance, whatever their names are."""

    def __init__(self):
        self.numbers = {}

    def number(self, *names):
        """Return the number of each row's device; `names` are int64 arrays that together identify a device."""
        if not names[0].size:
            return names[0]
        if all(np.all(name == name[0]) for name in names):
            distinct, which = np.stack([name[:1] for name in names], 1), np.zeros(names[0].size, np.int64)
        else:
            rows, first, which = np.unique(np.stack(names, 1), axis=0, return_index=True, return_inverse=True)
            order = np.argsort(first)
            distinct, which = rows[order], np.argsort(order)[which.ravel()]
        numbers = [self.numbers.setdefault(tuple(row), len(self.numbers)) for row in distinct.tolist()]
        return np.array(numbers, np.int64)[which]


class Clock:
    """Converter of times to ns since the trace's first request or, if `from_start`, since 0."""

    def __init__(self, ns, path, from_start=False, remedy=None):
        self.ns, self.path, self.from_start, self.remedy = ns, path, from_start, remedy
        self.first = 0 if from_start else None  # ns

    def since_start(self, ticks, ns=None):
        """Convert `ticks` of `ns` nanoseconds, int64, to ns since the start; `ns` is by default the clock's own.

        Raises
        ------
        InputError
            A time is more than `LONGEST_TIME` before or after the first or, if `from_start`, has more than 63 bits.
        """
        if not ticks.size:
            return ticks
        ns = ns or self.ns
        if self.first is None:
            self.first = int(ticks[0]) * ns
        limit, start = ((1 << 63) - 1, "0") if self.from_start else (LONGEST_TIME, "the first")
        for tick in (int(ticks.min()), int(ticks.max())):
            if abs(tick * ns - self.first) > limit:
                raise InputError(
                    f"time {tick} is out of range", path=self.path, expected=f"within {limit} ns of {start}",
                    remedy=self.remedy,
                )  # fmt: skip
        whole, part = divmod(self.first, ns)
        return (ticks - whole) * ns - part


def records(path, dtype, skip=0):
    """Yield arrays of fixed-length binary records, which begin after the first `skip` bytes.

    Raises
    ------
    InputError
        The file ends within a record; the message names the byte where that record begins.
    """
    done, rest = skip, b""
    with open_stream(path) as stream:
        read_some(stream, skip, path)
        while chunk := read_some(stream, RECORDS * dtype.itemsize, path):
            data = rest + chunk if rest else chunk
            whole = len(data) // dtype.itemsize
            if whole:
                yield np.frombuffer(data, dtype, whole)
            rest = data[whole * dtype.itemsize :]
            done += whole * dtype.itemsize
    if rest:
        raise InputError(
            f"the file ends {len(rest)} byte{'s' * (len(rest) > 1)} into a record",
            path=path,
            byte=done,
            expected=f"records of {dtype.itemsize} bytes",
            remedy="it may be truncated, or in another format",
        )


@contextlib.contextmanager
def open_parquet(path, columns=(), **options):
    """Yield a Parquet file as a `pyarrow.parquet.ParquetFile` with these options.

    Raises
    ------
    InputError
        The file cannot be opened, cannot be read in the ``with`` block, or does not have each of `columns` exactly
        once.
    """
    import pyarrow.parquet as pq  # the import takes longer than opening a small trace

    try:
        with pq.ParquetFile(path, **options) as parquet:
            names = parquet.schema_arrow.names
            if missing := [name for name in columns if name not in names]:
                raise InputError(f"no column {', '.join(missing)}", path=path, expected=f"columns {', '.join(columns)}")
            if twice := [name for name in columns if names.count(name) > 1]:
                raise InputError(f"two columns {twice[0]}", path=path, expected="each column once")
            yield parquet
    except MissPenaltyError:
        raise
    except (pa.ArrowException, OSError, ValueError, LookupError) as error:
        raise InputError(
            f"cannot be read as Parquet ({error})", path=path, remedy="the file may be truncated: fetch it again"
        ) from error


RECORDS = 1 << 16  # records read at a time; four times as many would not stay in the processor's cache

_formats: dict[str, Format] = {}


def register(form):
    """Register a `Format`."""
    _formats[form.name] = form


def formats() -> dict[str, Format]:
    """Return every known `Format`, by name."""
    _import_readers()
    return dict(sorted(_formats.items()))


@functools.cache
def _import_readers():
    from misspenalty.traces import readers as package

    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    add_plugins(GROUP, _enter)


def _enter(name, value):
    """Resolve an entry point: a `Format`, or a module that registered one on import."""
    if isinstance(value, Format):
        register(value)
    elif name not in _formats:
        raise ParameterError(f"expected a Format, or a module that registers the format {name}, not {value!r}")


def find_format(path: Path | None, name: str | None = None, options: Iterable[str] = ()) -> Format:
    """Return the `Format` called `name`; without a name, that of tables if the user describes the columns, otherwise
    the one recognised from the file.

    Parameters
    ----------
    path : Path or None
        None stands for no file, if `name` is given.
    name : str, optional
    options : iterable of str
        Names of the options that the user gave.

    Raises
    ------
    ParameterError
        No format has this name.
    InputError
        The file at `path` cannot be read, is empty or an archive, or its format cannot be recognised.
    """
    known, form = formats(), None
    if name is not None:
        asked, lower = str(name).strip().lower(), {each.lower(): form for each, form in known.items()}
        if asked not in lower:
            raise ParameterError(
                f"unknown trace format {name!r}{did_you_mean(asked, known)}; known formats: {', '.join(known)}"
            )
        form = lower[asked]
        if path is None:
            return form
    with open_stream(path) as stream:
        head = read_some(stream, 4096, path)
        if not any(byte in head for byte in b"\0\n\r"):  # a long line of text
            head += read_some(stream, LONGEST_FIRST_LINE, path)
    other = foreign.packed(head)
    if other and any(each.sniff("", head) for each in ([form] if form else known.values())):
        other = None  # a format of an installed package reads it
    if other := foreign.pointer(head) or other:
        raise InputError(f"is {other[0]}", path=path, remedy=other[1])
    if head.startswith(PARQUET) and compression(path):
        raise InputError("a Parquet file must not be compressed as a whole", path=path, remedy="decompress the file")
    if form is not None:
        return form
    if not head and not known["blktrace"].sniff(bare_name(path), head):
        raise InputError("is empty", path=path, expected="a trace")
    if head.startswith(PARQUET):
        head += _footer(path)
    bare = bare_name(path)
    if not DESCRIBING.isdisjoint(options):
        return known["parquet" if head.startswith(PARQUET) else "csv"]
    matching = [form for form in known.values() if form.sniff(bare, head)]
    if not matching and not OPTIONS.keys().isdisjoint(options):
        return known["csv"]
    if len(matching) == 1:
        if matching[0].doubt is not None and (what := matching[0].doubt(path)):
            name = matching[0].name
            raise InputError(
                what, path=path,
                remedy=f"--pattern, with a group device, keeps hosts apart (pattern=…); if these are not hosts, read"
                f" the file with --format {name} (format=…)",
            )  # fmt: skip
        return matching[0]
    timed = re.match(DRIVE_REQUESTS, head)
    remedy = "name the format with --format (format=…); misspenalty trace formats lists all formats"
    if timed:
        remedy = "they are requests timed on a drive; misspenalty disk replay DRIVE FILE compares a drive with them"
    if matching:
        raise InputError(f"the content fits {' and '.join(form.name for form in matching)}", path=path, remedy=remedy)
    if other := otherwise_separated(bare, head):
        name, written, usual = other
        raise InputError(
            f"has the columns of {name} ({known[name].summary.removeprefix('text: ')}), but they are separated by"
            f" {written} instead of {usual}", path=path,
            remedy=f"if it is {name}, read it with --format {name} --separator {written} (format=…, separator=…)",
        )  # fmt: skip
    possible = candidates(bare, head)
    if len(possible) > 1 or (possible and not timed):
        shown = "; ".join(f"{name} ({known[name].summary.removeprefix('text: ')})" for name in possible)
        raise InputError(
            f"the format cannot be recognised from the content alone; it could be {shown}", path=path,
            remedy=f"name it, such as --format {possible[0]} (format=…), or its columns with --columns (columns=…)",
        )  # fmt: skip
    if other := foreign.recognise(head):
        raise InputError(f"is {other[0]}", path=path, remedy=other[1])
    if complaint := _complaint(path, bare, head, known):
        raise complaint
    if not timed and b"\0" not in head:
        with contextlib.suppress(TextKeysError):
            next(iter(known["csv"].read(path, known["csv"].block_bytes)), None)  # raises the error about a table
        return known["csv"]  # its header begins or ends so late that the formats above did not see it
    raise InputError("the content fits no format", path=path, remedy=remedy)


def candidates(name, head):
    """Return the names of all dialects that fit a file, including those that its columns alone do not distinguish."""
    from misspenalty.traces.dialects import dialects

    return [dialect.name for dialect in dialects().values() if dialect.fits(name, head, strict=False)]


def otherwise_separated(name, head):
    """Return the dialect that a file fits except for its separator, and the names of the file's separator and its own.

    Only dialects with words for reads and writes are considered, as numbers could mean other things. Return None if no
    dialect or more than one fits.
    """
    from misspenalty.traces.dialects import dialects

    said = {sign: word for word, sign in SEPARATORS.items()}
    found = [
        (dialect.name, word, said.get(dialect.table.separator, dialect.table.separator))
        for dialect in dialects().values()
        for word, sign in SEPARATORS.items()
        if dialect.names_operations and sign != dialect.table.separator and dialect.separated(sign).fits(name, head)
    ]
    return found[0] if len({dialect for dialect, _, _ in found}) == 1 else None


def _complaint(path, name, head, known):
    """Return the error of the format that fits the file best, by its suffix or its first lines; None if none fits."""
    lines, complaints = head.splitlines(keepends=True), []
    beginnings = [b"".join(lines[:count]) for count in range(1, 11)]
    for form in known.values():
        named = name.lower().endswith(f".{form.name.lower()}")
        if not named and not any(form.sniff(name, beginning) for beginning in beginnings):
            continue
        try:
            for _ in itertools.islice(
                form.read(path, form.block_bytes), 2
            ):  # an error on a later line means that more lines matched
                pass
        except TextKeysError:
            continue
        except InputError as error:
            if error.line is not None:
                complaints.append((error.line, named, form.name, error))
    if not complaints:
        return None
    _, _, form, error = max(complaints, key=lambda complaint: complaint[:2])
    remedy = f"read as {form}; if the file is of another format, name that format with --format (format=…)"
    if error.remedy:
        remedy = f"{error.remedy}; {remedy}"
    return InputError(error.what, path=path, line=error.line, remedy=remedy)


DESCRIBING = {"columns", "pattern"}  # options that make any file a table
LONGEST_FIRST_LINE = 1 << 16  # bytes of a first line of text by which a format is recognised
PARQUET = b"PAR1"  # first and last bytes of a Parquet file
# Match the input of `disk replay`. The parts are mutually exclusive, so that blanks cause no backtracking.
DRIVE_REQUESTS = rb"(?:#.*\n|[ \t\r]*\n)*[RWrw][ \t]+[A-Za-z]\S*(?:[ \t]+\d+){2}(?:[ \t]+[\d.]+){2}[ \t\r]*\n"
LARGEST_FOOTER = 1 << 24  # bytes


def _footer(path):
    """Return the footer of a Parquet file, which names its columns; empty if there is no valid one."""
    with open(path, "rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(size - 8, 0))
        length = int.from_bytes(stream.read(4), "little")
        if stream.read(4) != PARQUET or length > min(size - 8, LARGEST_FOOTER):
            return b""
        stream.seek(size - 8 - length)
        return stream.read(length)
