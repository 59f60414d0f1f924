"""Read fio's logs of requests (``write_iolog``), versions 2 and 3 (fio(1), "Trace file format").

The first line is ``fio version 2 iolog`` or ``… 3 iolog``; the others are ``[time] file action [offset bytes]``. Each
file has its own address space. Only reads and writes are requests: sync, datasync, sync_file_range, trim and wait are
left out and counted; lines that add, open or close a file are left out without a count. Only lines of version 3 begin
with a time, which is in microseconds, as fio 3.33 writes it, unless the option ``unit`` states another unit.
"""

import collections

import numpy as np

from misspenalty.errors import InputError, check_choice
from misspenalty.traces.lines import MARK, chunks, with_newlines
from misspenalty.traces.reader import Clock, Devices, Format, extents, register
from misspenalty.traces.reading import Reading

HEAD = b"fio version "
ACTIONS = {b"read": False, b"write": True}
FILES = (b"add", b"open", b"close")  # actions that are not requests
IGNORED = (b"sync", b"datasync", b"sync_file_range", b"trim", b"wait")
PASSED = FILES + IGNORED
UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000}  # ns
VERSION_1 = (
    "lines of version 1 are a table without a header (0 or 1 for a read or a write, offset, length): leave out the"
    " first line, and read the rest with --columns write=1,offset=2,size=3 (columns=…)"
)


def read(path, block_bytes, unit=None):
    """Yield `Requests` of blocks of `block_bytes`; return the `Reading`. `unit` is the unit of times."""
    given, unit = unit, check_choice("unit", "us" if unit is None else unit, UNITS)
    names, clock, devices, version = {}, Clock(UNITS[unit], path), Devices(), 0
    counts = collections.Counter()
    for text, first in chunks(path, "an iolog"):
        lines, first = text.splitlines(), first + 1
        if not version:
            version = _version(lines[0], path)
            if given and version == 2:
                raise InputError("lines of version 2 have no times", path=path, remedy="leave out --unit (unit=…)")
            lines, first = lines[1:], first + 1
        rows = [
            row
            for number, line in enumerate(lines, first)
            if (row := _row(line, version, names, counts, path, number)) is not None
        ]
        if rows:
            time, device, write, offset, size = np.array(rows, np.int64).T
            when = clock.since_start(time) if version == 3 else None
            device = devices.number(np.ascontiguousarray(device))
            yield extents(device, offset, size, write.astype(bool), when, block_bytes, path)
    operations = {
        action.decode(): (action.decode() if action in ACTIONS else "ignore", counts[action])
        for action in (*ACTIONS, *IGNORED)
        if counts[action]
    }
    return Reading(
        devices=len(devices.numbers), time_unit=unit if version == 3 else "", address_unit=1, size_unit=1,
        operations=operations,
    )  # fmt: skip


def _version(line, path):
    fields = line.split()
    if fields[:2] != HEAD.split() or len(fields) != 4 or fields[2] not in (b"2", b"3"):
        raise InputError(
            repr(line[:40].decode("ascii", "replace")),
            path=path,
            line=1,
            expected="'fio version 2 iolog' or 'fio version 3 iolog'",
            remedy=VERSION_1 if fields[2:3] == [b"1"] else None,
        )
    return int(fields[2])


def _row(line, version, names, counts, path, number):
    """Return ``(time, file, write, offset, bytes)`` of a request; None for any other line.

    The action of the line is added to `counts`.
    """
    fields = line.split()
    if not fields:
        return None
    time, fields = (fields[0], fields[1:]) if version == 3 else (b"0", fields)
    action = fields[1] if len(fields) > 1 else b""
    moves = action in ACTIONS
    if len(fields) not in ((4,) if moves else (2, 3, 4)) or not (moves or action in PASSED):
        expected = f"{'time ' if version == 3 else ''}file action [offset bytes]"
        raise InputError(f"{line[:60].decode('ascii', 'replace')!r}", path=path, line=number, expected=expected)
    counts[action] += 1
    if not moves:
        return None
    numbers = (time, *fields[2:])
    if not all(value.isdigit() and len(value) <= 18 for value in numbers):
        expected = "whole numbers of at most 18 digits"
        raise InputError(f"{line[:60].decode('ascii', 'replace')!r}", path=path, line=number, expected=expected)
    return int(time), names.setdefault(fields[0], len(names)), ACTIONS[action], int(fields[2]), int(fields[3])


def sniff(name, head):
    """Return whether the content begins with the first line of an iolog."""
    return with_newlines(head).removeprefix(MARK).startswith(HEAD) and b" iolog" in head[:40]


register(
    Format(
        "fio",
        "text: fio's iolog, versions 2 and 3",
        read,
        sniff,
        4096,
        {"unit": "unit of times: ns, us or ms (default us)"},
    )
)
