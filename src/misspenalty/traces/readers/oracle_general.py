"""Read libCacheSim's ``oracleGeneral`` format, which its own converters write.

A file has little-endian records of 24 bytes: u32 seconds, u64 object, u32 size, i64 number of the next access to the
object, or -1, -2 or 2**63 - 1 if there is none. A record is one reference to one object. The next access is ignored, as
OPT computes it anyway, but a file with an impossible one is refused, because its records probably have a different
length, such as the 27 bytes of ``oracleGeneralOpNS``. A size of 0 means an unknown size, because some converted traces
state 0 for reads that missed.
"""

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces import unknown_sizes
from misspenalty.traces.reader import Clock, Format, Requests, records, register
from misspenalty.traces.reading import Reading

RECORD = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
SECOND = 1_000_000_000  # ns
MAX_ACCESSES = 1 << 40  # maximum number of accesses of a trace
NEVER = (1 << 63) - 1  # next access of an object that is not accessed again


def read(path, block_bytes):
    """Yield `Requests`; the block size is only recorded. Return the `Reading`."""
    clock, unknown, done = Clock(SECOND, path), 0, 0
    for rows in records(path, RECORD):
        _check(rows["next"], done, path)
        done += len(rows)
        time = clock.since_start(rows["time"].astype(np.int64))
        size = rows["size"].astype(np.int64)
        size[size == 0] = unknown_sizes.UNKNOWN
        unknown += int(np.count_nonzero(size == unknown_sizes.UNKNOWN))
        yield Requests(rows["object"].copy(), None, None, time, size)
    return Reading(notes=unknown_sizes.notes(unknown))


def _check(coming, done, path):
    """Raise an `InputError` if a next access is impossible; `done` is the number of earlier records."""
    odd = np.flatnonzero((coming < -2) | ((coming >= MAX_ACCESSES) & (coming != NEVER)))
    if odd.size:
        raise InputError(
            f"record {done + int(odd[0]) + 1} has the impossible next access {int(coming[odd[0]])}",
            path=path,
            byte=(done + int(odd[0])) * RECORD.itemsize,
            expected=f"the number of a later record, below {MAX_ACCESSES}; -1, -2 or {NEVER} if there is none",
            remedy="the records may not be the 24 bytes of oracleGeneral but, for instance, the 27 of"
            " oracleGeneralOpNS: convert them with libCacheSim's traceConv",
        )


def sniff(name, head):
    """Return whether the name matches, or the first records have times that never fall and next accesses that are later
    records or -1."""
    if ".oraclegeneral" in name.lower():
        return True
    rows = np.frombuffer(head[: len(head) // RECORD.itemsize * RECORD.itemsize], RECORD)
    number, coming = np.arange(rows.size), rows["next"]
    forwards = (coming == -1) | ((coming > number) & (coming < MAX_ACCESSES))
    return rows.size > 1 and bool(np.all(np.diff(rows["time"].astype(np.int64)) >= 0) and np.all(forwards))


register(Format("oracleGeneral", "binary: libCacheSim's records of 24 bytes", read, sniff, 4096))
