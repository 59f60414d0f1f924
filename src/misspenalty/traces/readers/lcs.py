"""Read libCacheSim's own format, ``.lcs``, versions 1 to 8: a header of 8,192 bytes, then fixed-length records.

All numbers are little-endian. The header begins and ends with a magic number; the first one is followed by the version
of the records, the version of the header's statistics, and the number of requests. A record has u32 seconds; u64
object; its size (u32, or i64 from version 3 on); from version 2 on, u8 operation and u24 tenant; from version 3 on, u32
time to live; in all versions, i64 next access; and from version 4 on, further features. Operations that set, update or
write are writes; deletions are not references. A size of 0 in a read means an unknown size, as in ``oracleGeneral``.
Times to live and deletions are ignored unless the option ``lifetimes`` is ``honour``.
"""

import collections
import struct

import numpy as np

from misspenalty.errors import InputError, check_choice
from misspenalty.traces import unknown_sizes
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.lifetimes import DELETE as GONE
from misspenalty.traces.lifetimes import Lifetimes
from misspenalty.traces.reader import Clock, Format, Requests, records, register
from misspenalty.traces.reading import Reading
from misspenalty.traces.table import LIFETIMES, OPTIONS

MAGIC = 0x123456789ABCDEF0
HEADER_BYTES = 8192
HEAD = struct.Struct("<QQqq")  # magic number, version, version of the statistics, requests
SECOND = 1_000_000_000  # ns
VERSIONS = range(1, 9)
WRITES = (3, 4, 5, 6, 7, 8, 10, 11, 13, 14)  # set, add, cas, replace, append, prepend, incr, decr, write, update
DELETE = 9


def record(version):
    """Return the NumPy type of the records of a version."""
    fields = [("time", "<u4"), ("object", "<u8"), ("size", "<u4" if version < 3 else "<i8")]
    fields += [("operation", "u1"), ("tenant", "V3")] if version > 1 else []
    fields += [("ttl", "<u4")] if version > 2 else []
    features = [("features", f"V{4 << (version - 4)}")] if version > 3 else []  # 1, 2, 4, 8 or 16 features of 4 bytes
    return np.dtype([*fields, ("next", "<i8"), *features])


def read(path, block_bytes, lifetimes="ignore"):
    """Yield `Requests`; the block size is only recorded. Return the `Reading`."""
    lives = Lifetimes() if check_choice("lifetimes", lifetimes, LIFETIMES) == "honour" else None
    passed = collections.Counter()
    found = _batches(path, lives, passed)
    yield from found if lives is None else lives.apart(found)
    notes = [*([] if lives is None else [lives.note]), *unknown_sizes.notes(passed["unknown"])]
    if passed["lives"]:
        notes.append(f"{passed['lives']:,} time{'s' * (passed['lives'] > 1)} to live ignored (--lifetimes honour)")
    deletes = {"delete": ("ignore" if lives is None else "delete", passed["deletes"])} if passed["deletes"] else {}
    return Reading(time_unit="s", size_unit=1, operations=deletes, notes=tuple(notes))


def _batches(path, lives, passed):
    clock, done = Clock(SECOND, path), 0
    with open_stream(path) as stream:
        version, requests = header(read_some(stream, HEADER_BYTES, path), path)
    for rows in records(path, record(version), HEADER_BYTES):
        done += len(rows)
        yield _requests(rows, clock, path, lives, passed)
    if requests > 0 and done != requests:
        what = f"holds {done} request{'s' * (done != 1)}, but its header counts {requests}"
        raise InputError(what, path=path, remedy=f"it may be {'truncated' if done < requests else 'damaged'}")


def _requests(rows, clock, path, lives, passed):
    write = life = None
    if "operation" in rows.dtype.names:
        deleted = rows["operation"] == DELETE
        passed["deletes"] += int(np.count_nonzero(deleted))
        rows = rows if lives is not None else rows[~deleted]
        write = np.isin(rows["operation"], WRITES)
    if lives is not None:
        life = np.zeros(len(rows), np.int64)
        if "ttl" in rows.dtype.names:
            life = rows["ttl"].astype(np.int64) * SECOND
        if write is not None:
            life[deleted] = GONE
    elif "ttl" in rows.dtype.names:
        passed["lives"] += int(np.count_nonzero(rows["ttl"]))
    size = rows["size"].astype(np.int64)
    if size.size and size.min() < 0:
        raise InputError(f"size {int(size.min())} is out of range", path=path, expected="0 or more")
    unknown = size == 0 if write is None else (size == 0) & ~write & (rows["operation"] != DELETE)
    passed["unknown"] += int(np.count_nonzero(unknown))
    size[unknown] = unknown_sizes.UNKNOWN
    time = clock.since_start(rows["time"].astype(np.int64))
    return Requests(rows["object"].copy(), None, write, time, size, life)


def header(head, path=None):
    """Return the version and the number of requests that a header states; the latter is 0 if not stated.

    Raises
    ------
    InputError
        The header is not one of this format, or its version is unknown.
    """
    if len(head) < HEADER_BYTES:
        raise InputError("the file ends within its header", path=path, expected=f"{HEADER_BYTES} bytes")
    magic, version, _, requests = HEAD.unpack_from(head)
    if magic != MAGIC or struct.unpack_from("<Q", head, HEADER_BYTES - 8)[0] != MAGIC:
        raise InputError("has no libCacheSim header", path=path, byte=0, expected="a trace in format lcs")
    if version not in VERSIONS:
        raise InputError(f"is of version {version}", path=path, expected=f"{VERSIONS[0]} to {VERSIONS[-1]}")
    return version, max(requests, 0)


def sniff(name, head):
    """Return whether the content begins with the magic number."""
    return head[:8] == struct.pack("<Q", MAGIC)


register(
    Format(
        "lcs",
        "binary: libCacheSim's lcs, versions 1 to 8",
        read,
        sniff,
        4096,
        {"lifetimes": OPTIONS["lifetimes"]},
    )
)
