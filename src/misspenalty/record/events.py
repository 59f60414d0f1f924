"""Turn the lines that ``probes/postgres.bt`` prints into a table of block reads and writes; this needs no server."""

import re
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from misspenalty.record.tracer import CaptureError, printed

BLOCK_BYTES = 8192
SEGMENT_BLOCKS = (1 << 30) // BLOCK_BYTES  # PostgreSQL splits a relation into files of 1 GiB
FILE_NAME = re.compile(r"(?P<node>(?:t\d+_)?\d+)(?:_(?P<fork>fsm|vm|init))?(?:\.(?P<segment>\d+))?")
EXPECTED = "expected 'R|W file offset count nanoseconds'"


@dataclass(frozen=True)
class Events:
    """Block reads and writes in the order in which they were issued, one array element each.

    Attributes
    ----------
    names : list of str
        Relations, with a separate entry per fork (``stock``, ``stock.fsm``).
    nanoseconds : ndarray of uint64
        Time of the event, on the clock of `misspenalty.record.tracer.now`.
    relation : ndarray of uint16
        Index into `names`.
    block : ndarray of uint32
        Number of the block in its relation, counted across all segments.
    write : ndarray of bool
    """

    names: list[str]
    nanoseconds: np.ndarray
    relation: np.ndarray
    block: np.ndarray
    write: np.ndarray

    def __len__(self) -> int:
        return len(self.block)

    @property
    def reads(self) -> int:
        """Number of reads."""
        return len(self) - int(np.count_nonzero(self.write))

    def take(self, rows) -> "Events":
        """Return the events at `rows`, an index array or slice."""
        return Events(self.names, self.nanoseconds[rows], self.relation[rows], self.block[rows], self.write[rows])


class Nodes(dict):
    """Names of relations by file node; a node without a name, such as a temporary table's, is represented by itself.

    Examples
    --------
    >>> Nodes({"16384": "accounts"})["16999"]
    '16999'
    """

    def __missing__(self, node):
        return node


def locate(file_name: str, relations: Mapping[str, str]) -> tuple[str, int]:
    """Return the relation (with its fork) of a data file, and the number of the file's first block in the relation.

    `relations` maps file nodes to names.

    Raises
    ------
    KeyError
        The file does not belong to a known relation.
    """
    parts = FILE_NAME.fullmatch(file_name)
    if parts is None:
        raise KeyError(file_name)
    name = relations[parts["node"]]
    if parts["fork"]:
        name += "." + parts["fork"]
    return name, int(parts["segment"] or 0) * SEGMENT_BLOCKS


def parse(lines: Iterable[str], relations: Mapping[str, str], source: str) -> Events:
    """Parse the lines that the probe prints, and sort the events by time.

    Parameters
    ----------
    lines : iterable of str
    relations : mapping
        Maps file nodes (as text) to names of relations; with a `Nodes`, nodes without a known name are accepted, too.
    source : str
        Name of the recording, for messages.

    Raises
    ------
    CaptureError
        A line is malformed, events were lost, or a file belongs to an unknown relation; the message names `source` and
        the line.
    """
    names: list[str] = []
    numbers: dict[str, int] = {}
    files: dict[str, tuple[int, int]] = {}
    nanoseconds, relation, block, write = array("Q"), array("H"), array("L"), array("B")
    for at, line in printed(lines, source):
        try:
            operation, name, offset, count, time = line.split()
            offset, count, time = int(offset), int(count), int(time)
        except ValueError:
            raise CaptureError(f"{at}: {line.strip()!r}; {EXPECTED}") from None
        if operation not in ("R", "W"):
            raise CaptureError(f"{at}: operation {operation!r}; {EXPECTED}")
        if count != BLOCK_BYTES or offset % BLOCK_BYTES:
            raise CaptureError(f"{at}: {count} bytes at {offset}; expected one aligned block of {BLOCK_BYTES} bytes")
        if name not in files:
            try:
                label, first = locate(name, relations)
            except KeyError:
                raise CaptureError(
                    f"{at}: file {name!r} belongs to no relation known after the run; "
                    "expected a relfilenode of pg_class, with fork and segment"
                ) from None
            if label not in numbers:
                numbers[label] = len(names)
                names.append(label)
            files[name] = numbers[label], first
        index, first = files[name]
        nanoseconds.append(time)
        relation.append(index)
        block.append(first + offset // BLOCK_BYTES)
        write.append(operation == "W")
    events = Events(
        names,
        np.frombuffer(nanoseconds, np.uint64) if nanoseconds else np.empty(0, np.uint64),
        np.array(relation, np.uint16),
        np.array(block, np.uint32),
        np.array(write, bool),
    )
    # Each processor has its own buffer, so lines of different processors arrive out of order.
    return events.take(np.argsort(events.nanoseconds, kind="stable"))


def cut(events: Events, start: int, reads: int) -> Events:
    """Return the window that begins with the first event at or after `start` ns and ends with its `reads`-th read.

    Raises
    ------
    CaptureError
        Fewer than `reads` reads follow.
    """
    first = int(np.searchsorted(events.nanoseconds, start))
    positions = np.flatnonzero(~events.write[first:])
    if len(positions) < reads:
        found = f"only {len(positions)} read{'s' * (len(positions) != 1)}"
        raise CaptureError(f"{found} after the warm-up, expected {reads}: run for longer")
    return events.take(slice(first, first + int(positions[reads - 1]) + 1))


def extensions(events: Events, blocks_at_start: Mapping[str, int]) -> np.ndarray:
    """Mark the writes that append a block to a relation.

    The counter ``blks_read`` of PostgreSQL 15 includes appended blocks, although they are only written, so a comparison
    with it needs the number of these writes.

    Parameters
    ----------
    events : Events
    blocks_at_start : mapping
        Maps relations to their sizes in blocks when the recording began; a relation that is missing was empty.
    """
    marks = np.zeros(len(events), bool)
    for index, name in enumerate(events.names):
        rows = np.flatnonzero((events.relation == index) & events.write)
        if len(rows) == 0:
            continue
        blocks = events.block[rows].astype(np.int64)
        # Before each write, a relation has its size at the start or, if larger, the largest block written so far plus
        # one.
        size = np.maximum.accumulate(np.concatenate(([blocks_at_start.get(name, 0)], blocks[:-1] + 1)))
        marks[rows] = blocks >= size
    return marks


def distinct_blocks(events: Events) -> int:
    """Count the distinct blocks read or written."""
    return len(np.unique((events.relation.astype(np.uint64) << np.uint64(32)) | events.block))


def write_parquet(events: Events, path: Path, relations: Iterable[str] = ()) -> None:
    """Write the capture as Parquet: ``time_ms``, ``relation``, ``block``, ``write`` in capture order.

    The dictionary lists the relations of the events and also those in `relations`. With 129 entries or more, indices
    take whole bytes, which zstd compresses to three quarters of the size of five-bit indices. The dictionary is sorted,
    so equal events give equal bytes.
    """
    used = np.unique(events.relation)
    names = sorted({events.names[index] for index in used} | set(relations))
    renumber = np.zeros(len(events.names), np.int32)
    renumber[used] = [names.index(events.names[index]) for index in used]
    milliseconds = (events.nanoseconds - events.nanoseconds[0]) // np.uint64(1_000_000)
    table = pa.table(
        {
            "time_ms": pa.array(milliseconds.astype(np.uint32)),
            "relation": pa.DictionaryArray.from_arrays(pa.array(renumber[events.relation]), pa.array(names)),
            "block": pa.array(events.block),
            "write": pa.array(events.write),
        }
    )
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=19,
        use_dictionary=["relation"],
        column_encoding={"time_ms": "DELTA_BINARY_PACKED", "block": "BYTE_STREAM_SPLIT"},
        # Each column is one page, since zstd packs long pages 2 % smaller than the default of 20,000 rows.
        row_group_size=1 << 24,
        max_rows_per_page=1 << 24,
        data_page_size=1 << 28,
        write_statistics=False,
    )
