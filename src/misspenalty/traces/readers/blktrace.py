"""Read Linux block traces as the kernel writes them: the binary files of blktrace(8), ``<device>.blktrace.<cpu>``.

A file has little-endian records of 48 bytes (``struct blk_io_trace`` of linux/blktrace_api.h: magic number and version,
sequence, time in ns, sector, bytes, action, process, device, processor, error, bytes of further data), each followed by
its further data. As with `blkparse`, records of one action are requests: Q (queued, the default), G, D or C. Discards,
packet commands and requests of 0 bytes (such as flushes) are left out and counted, and so are notes and records of
other actions. blktrace writes one file per processor: the other processors' files next to the named one are read with
it, and all are merged in time order.
"""

import re

import numpy as np

from misspenalty.errors import InputError, check_choice
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.reader import Clock, Devices, Format, extents, register, sectors_to_bytes
from misspenalty.traces.reading import Reading
from misspenalty.traces.table import SECTOR

RECORD = np.dtype([("magic", "<u4"), ("sequence", "<u4"), ("time", "<u8"), ("sector", "<u8"), ("bytes", "<u4"),
                   ("action", "<u4"), ("pid", "<u4"), ("device", "<u4"), ("cpu", "<u4"), ("error", "<u2"),
                   ("further", "<u2")])  # fmt: skip
MAGIC = 0x65617400  # the low byte is the version
VERSION = 7
ACTIONS = {"Q": 1, "G": 4, "D": 7, "C": 8}  # low bits of an action
LOW = 0xFFFF & ~(1 << 8)  # bit 8 only says that the number of a control group follows
WRITE, FLUSH, PACKET, NOTIFY, DISCARD = (1 << (16 + bit) for bit in (1, 2, 9, 10, 13))
CHUNK = 1 << 22  # bytes read at a time


def read(path, block_bytes, action="Q"):
    """Yield one batch of `Requests`: the reads and writes among the records whose action is `action`, in blocks."""
    check_choice("action", action, ACTIONS)
    files = of_all_processors(path)
    rows = np.concatenate([np.empty(0, RECORD), *(part for file in files for part in _records(file))])
    rows, skipped = _of_action(rows, action)
    rows, operations = _that_move_data(rows)
    rows = rows[np.argsort(rows["time"], kind="stable")]
    start = sectors_to_bytes(rows["sector"].astype(np.int64), path, "sector")
    time = Clock(1, path).since_start(rows["time"].astype(np.int64))
    devices = Devices()
    device = devices.number(rows["device"].astype(np.int64))
    yield extents(device, start, rows["bytes"].astype(np.int64), rows["action"] & WRITE != 0, time, block_bytes, path)
    others = ", ".join(file.name for file in files if file != path)
    notes = (f"read together with {others}, of the other processors",) if others else ()
    return Reading(
        devices=len(devices.numbers), time_unit="ns", address_unit=SECTOR, size_unit=1, operations=operations,
        skipped=skipped, notes=notes,
    )  # fmt: skip


def _of_action(rows, action):
    """Return the records of an action, and the numbers of other records by their kind."""
    note, number = rows["action"] & NOTIFY != 0, rows["action"] & LOW
    counts = {f"records of action {name}": np.count_nonzero(~note & (number == own)) for name, own in ACTIONS.items()}
    counts["notes"] = np.count_nonzero(note)
    counts["other records"] = len(rows) - sum(counts.values())
    del counts[f"records of action {action}"]
    skipped = {reason: int(count) for reason, count in counts.items() if count}
    return rows[~note & (number == ACTIONS[action])], skipped


def _that_move_data(rows):
    """Return the records of reads and writes, and the meaning and number of each operation."""
    bits, empty = rows["action"], rows["bytes"] == 0
    kinds = {
        "packet command": bits & PACKET != 0,
        "discard": bits & DISCARD != 0,
        "flush": empty & (bits & FLUSH != 0),
        "request of 0 bytes": empty,
        "write": bits & WRITE != 0,
        "read": np.ones(len(rows), bool),
    }
    kind = np.full(len(rows), len(kinds) - 1)
    for place, applies in reversed(list(enumerate(kinds.values()))):  # the first that applies
        kind = np.where(applies, place, kind)
    counts = np.bincount(kind, minlength=len(kinds)).tolist()
    operations = {
        name: (name if name in ("read", "write") else "ignore", counts[place])
        for place, name in enumerate(kinds)
        if counts[place]
    }
    return rows[kind >= list(kinds).index("write")], operations


def of_all_processors(path):
    """Return the files of all processors of the trace that `path` is a part of, in order of processor."""
    match = re.fullmatch(r"(.*\.blktrace\.)\d+(\.(?:gz|xz|bz2|zst))?", path.name)
    if match is None:
        return [path]
    own = re.compile(re.escape(match[1]) + r"(\d+)" + re.escape(match[2] or ""))
    found = {int(other[1]): file for file in path.parent.iterdir() if (other := own.fullmatch(file.name))}
    return [found[number] for number in sorted(found)]


def _records(path):
    """Yield arrays of records, without the data that follows them."""
    done, data = 0, b""
    with open_stream(path) as stream:
        while chunk := read_some(stream, CHUNK, path):
            data += chunk
            places, at = [], 0
            while at + RECORD.itemsize <= len(data):
                if int.from_bytes(data[at : at + 4], "little") != MAGIC | VERSION:
                    raise InputError("no blktrace record begins here", path=path, byte=done + at,
                                     expected=f"the magic number {MAGIC | VERSION:#x}")  # fmt: skip
                length = RECORD.itemsize + int.from_bytes(data[at + 46 : at + 48], "little")
                if at + length > len(data):
                    break
                places.append(at)
                at += length
            yield np.frombuffer(b"".join(data[place : place + RECORD.itemsize] for place in places), RECORD)
            data, done = data[at:], done + at
    if data:
        raise InputError("the file ends within a record", path=path, byte=done, remedy="it may be truncated")


def sniff(name, head):
    """Return whether the content begins with the magic number of a record, or is that of an idle processor: empty."""
    if not head:
        return re.fullmatch(r".*\.blktrace\.\d+", name) is not None
    return head[:4] == (MAGIC | VERSION).to_bytes(4, "little")


register(
    Format(
        "blktrace",
        "binary: blktrace's records",
        read,
        sniff,
        4096,
        {"action": f"which records are requests: one of {', '.join(ACTIONS)} (default Q, queued)"},
        actions=tuple(ACTIONS),
    )
)
