"""Read libCacheSim's ``oracleGeneral`` format, which its own converters write.

A file has little-endian records of 24 bytes: u32 seconds, u64 object, u32 size, i64 number of the next access to the
object, or a negative number if there is none. A record is one reference to one object; the next access is ignored, as
OPT computes it itself. A size of 0 is unknown: it comes from traces that state 0 for reads that
missed.
"""

import numpy as np

from misspenalty.traces import unknown_sizes
from misspenalty.traces.reader import Clock, Format, Requests, records, register
from misspenalty.traces.reading import Reading

RECORD = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
SECOND = 1_000_000_000  # ns
MAX_ACCESSES = 1 << 40  # maximum number of accesses of a trace


def read(path, block_bytes):
    """Yield `Requests`; the block size is only recorded. Return the `Reading`."""
    clock, unknown = Clock(SECOND, path), 0
    for rows in records(path, RECORD):
        time = clock.since_start(rows["time"].astype(np.int64))
        size = rows["size"].astype(np.int64)
        size[size == 0] = unknown_sizes.UNKNOWN
        unknown += int(np.count_nonzero(size == unknown_sizes.UNKNOWN))
        yield Requests(rows["object"].copy(), None, None, time, size)
    return Reading(notes=unknown_sizes.notes(unknown))


def sniff(name, head):
    """Return whether the name matches, or times never fall and every next access is -1 or lies ahead."""
    if ".oraclegeneral" in name.lower():
        return True
    rows = np.frombuffer(head[: len(head) // RECORD.itemsize * RECORD.itemsize], RECORD)
    number, coming = np.arange(rows.size), rows["next"]
    forwards = (coming == -1) | ((coming > number) & (coming < MAX_ACCESSES))
    return rows.size > 1 and bool(np.all(np.diff(rows["time"].astype(np.int64)) >= 0) and np.all(forwards))


register(Format("oracleGeneral", "binary: libCacheSim's records of 24 bytes", read, sniff, 4096))
