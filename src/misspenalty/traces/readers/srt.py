"""Read HP Labs' SRT disk traces (cello, snake and hplajw; Ruemmler & Wilkes, USENIX Winter 1993).

The layout follows the notes of HP's TraceAccess library that DiskSim 4.0 ships: a text header with a line
``tracedate``, ended by a form feed (or no header), then records of 13 to 15 words of 32 bits: record bytes, version <<
16 | type, seconds and microseconds of the arrival, start, stop, bytes, sector, device, drive type, cylinder, flags (bit
0: read), origin; in version 4 the queue length; in suspect records (type 4) their flags. Words may be in either byte
order. As in DiskSim, sectors are taken as 512 bytes, and suspect records are left out; the reader counts them. No real
trace was available to check the reader against.
"""

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.reader import Clock, Devices, Format, extents, register, sectors_to_bytes
from misspenalty.traces.reading import Reading

SHORT, SUSPECT = 1, 4
VERSIONS = range(1, 5)
SIZE, ID, SECONDS, MICROSECONDS, BYTES, SECTOR_NUMBER, DEVICE, FLAGS = 0, 1, 2, 3, 6, 7, 8, 11
CHUNK = 1 << 22  # bytes read at a time
MAX_RECORD_BYTES = 60  # length of the longest record
FORM_FEED = b"\f"


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`."""
    clock, devices, suspect = Clock(1000, path), Devices(), 0
    for rows in _rows(path):
        sound = rows[:, ID] & 0xFFFF == SHORT
        suspect += int(np.count_nonzero(~sound))
        rows = rows[sound]
        start = sectors_to_bytes(rows[:, SECTOR_NUMBER], path, "sector")
        time = clock.since_start(rows[:, SECONDS] * 1_000_000 + rows[:, MICROSECONDS])
        device = devices.number(rows[:, DEVICE])
        yield extents(device, start, rows[:, BYTES], rows[:, FLAGS] & 1 == 0, time, block_bytes, path)
    skipped = {"suspect records": suspect} if suspect else {}
    return Reading(devices=len(devices.numbers), time_unit="us", skipped=skipped)


def _rows(path):
    """Yield int64 arrays of shape (records, 12), each of consecutive records of equal length, version and type."""
    with open_stream(path) as stream:
        data = read_some(stream, CHUNK, path)
        at, done = header_bytes(data), 0
        order = byte_order(data[at:])
        if order is None:
            raise InputError("no SRT record begins here", path=path, byte=at, expected="a record of 52 to 60 bytes")
        while len(data) > at:
            more = read_some(stream, CHUNK, path) if len(data) - at < MAX_RECORD_BYTES else b""
            done, data, at = done + at, data[at:] + more, 0
            words = np.frombuffer(data, order, len(data) // 4)
            size = int(words[SIZE]) if words.size > ID else 0
            if size != record_bytes(int(words[ID]) if size else 0):
                raise InputError("no SRT record begins here", path=path, byte=done, remedy="the file may be damaged")
            if size > len(data):
                raise InputError("the file ends within a record", path=path, byte=done, remedy="it may be truncated")
            rows = words[: len(words) // (size // 4) * (size // 4)].reshape(-1, size // 4)
            alike = (rows[:, SIZE] == size) & (rows[:, ID] == rows[0, ID])
            run = len(rows) if alike.all() else int(np.argmin(alike))
            yield rows[:run, : FLAGS + 1].astype(np.int64)
            at = run * size


def header_bytes(head):
    """Return the length of the text header, 0 if there is none."""
    end = head.find(FORM_FEED)
    return end + 1 if b"tracedate" in head[: max(end, 0)] else 0


def record_bytes(identity):
    """Return the size of a record of this version and type, bytes; -1 if there is no such record."""
    number, kind = identity >> 16, identity & 0xFFFF
    if number not in VERSIONS or kind not in (SHORT, SUSPECT):
        return -1
    return 4 * (13 + (number == 4) + (kind == SUSPECT))


def byte_order(data):
    """Return the type of the words of the records in `data`, or None if the first is not a record."""
    for order in (">u4", "<u4"):
        words = np.frombuffer(data[:8], order) if len(data) >= 8 else [0, 0]
        if int(words[SIZE]) == record_bytes(int(words[ID])):
            return np.dtype(order)
    return None


def sniff(name, head):
    """Return whether a record begins after the header."""
    return byte_order(head[header_bytes(head) :]) is not None


register(Format("srt", "binary: HP Labs' disk traces", read, sniff, 4096))
