"""Read traces of virtual disks from VMware's vscsiStats, versions 1 and 2, in the form published by CloudPhysics.

Records are little-endian, of 32 bytes in version 1 and 40 in version 2. We read each request's length in bytes, SCSI
operation, address in sectors of 512 bytes, and time in microseconds; the high byte of the version field is the version.
READ, WRITE, WRITE AND VERIFY, ORWRITE, WRITE ATOMIC and COMPARE AND WRITE, in commands of 6 to 16 bytes, are requests.
Other commands are left out and counted; among them is WRITE SAME, as a record does not state the range that it fills.
"""

import collections

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.reader import Clock, Format, extents, records, register, sectors_to_bytes
from misspenalty.traces.reading import Reading
from misspenalty.traces.table import SECTOR

FIELDS_1 = "serial:<u4 length:<u4 elements:<u4 command:<u2 version:<u2 lbn:<u8 time:<u8"
FIELDS_2 = "command:<u2 version:<u2 serial:<u4 length:<u4 elements:<u4 lbn:<u8 time:<u8 response:<u8"
RECORDS = {
    number: np.dtype([tuple(field.split(":")) for field in fields.split()])
    for number, fields in ((1, FIELDS_1), (2, FIELDS_2))
}
READS = {0x08: "READ(6)", 0x28: "READ(10)", 0x88: "READ(16)", 0xA8: "READ(12)"}
COMPARED = 0x89  # COMPARE AND WRITE
WRITES = {
    0x0A: "WRITE(6)", 0x2A: "WRITE(10)", 0x8A: "WRITE(16)", 0xAA: "WRITE(12)", 0x2E: "WRITE AND VERIFY(10)",
    0x8E: "WRITE AND VERIFY(16)", 0xAE: "WRITE AND VERIFY(12)", 0x8B: "ORWRITE(16)", 0x9C: "WRITE ATOMIC(16)",
    COMPARED: "COMPARE AND WRITE",
}  # fmt: skip
OTHERS = {  # names of frequent commands that are left out
    0x00: "TEST UNIT READY", 0x03: "REQUEST SENSE", 0x12: "INQUIRY", 0x15: "MODE SELECT(6)", 0x16: "RESERVE(6)",
    0x17: "RELEASE(6)", 0x1A: "MODE SENSE(6)", 0x1B: "START STOP UNIT", 0x1E: "PREVENT ALLOW MEDIUM REMOVAL",
    0x25: "READ CAPACITY(10)", 0x2F: "VERIFY(10)", 0x34: "PRE-FETCH(10)", 0x35: "SYNCHRONIZE CACHE(10)",
    0x41: "WRITE SAME(10)", 0x42: "UNMAP", 0x4D: "LOG SENSE", 0x55: "MODE SELECT(10)", 0x5A: "MODE SENSE(10)",
    0x5E: "PERSISTENT RESERVE IN", 0x5F: "PERSISTENT RESERVE OUT", 0x83: "EXTENDED COPY", 0x8F: "VERIFY(16)",
    0x90: "PRE-FETCH(16)", 0x91: "SYNCHRONIZE CACHE(16)", 0x93: "WRITE SAME(16)", 0x9E: "SERVICE ACTION IN(16)",
    0xA0: "REPORT LUNS", 0xA3: "MAINTENANCE IN", 0xAF: "VERIFY(12)",
}  # fmt: skip
MICROSECOND = 1000  # ns


def version(head):
    """Return the version of the records, 1 or 2; None if the first records are of neither version."""
    for number, dtype in RECORDS.items():
        rows = np.frombuffer(head[: len(head) // dtype.itemsize * dtype.itemsize], dtype)
        if rows.size and np.all(rows["version"] >> 8 == number) and np.all(rows["command"] < 256):
            return number
    return None


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`; return the `Reading`."""
    with open_stream(path) as stream:
        number = version(read_some(stream, 40, path))
    if number is None:
        raise InputError("the first record is not of version 1 or 2", path=path, byte=0, expected="a vSCSI trace")
    clock, done, commands = Clock(MICROSECOND, path), 0, collections.Counter()
    for rows in records(path, RECORDS[number]):
        odd = np.flatnonzero(rows["version"] >> 8 != number)
        if odd.size:
            place = done + int(odd[0]) * rows.itemsize
            raise InputError(
                f"the record is not of version {number}", path=path, byte=place, remedy="the file may be damaged"
            )
        done += rows.nbytes
        counts = np.bincount(rows["command"].astype(np.int64)).tolist()
        commands.update({code: count for code, count in enumerate(counts) if count})
        write = np.isin(rows["command"], list(WRITES))
        data = write | np.isin(rows["command"], list(READS))
        rows, write = rows[data], write[data]
        start = sectors_to_bytes(rows["lbn"], path, "LBN").astype(np.int64)
        size, time = rows["length"].astype(np.int64), clock.since_start(rows["time"].astype(np.int64))
        yield extents(np.zeros_like(start), start, size, write, time, block_bytes, path)
    notes = []
    if commands[COMPARED]:
        notes.append(
            f"{commands[COMPARED]:,} COMPARE AND WRITE taken for writes of the length in the record, which may be twice"
            " the length written"
        )
    return Reading(
        time_unit="us", address_unit=SECTOR, size_unit=1, operations=operations(commands), notes=tuple(notes)
    )


def operations(commands):
    """Return the meaning and the number of each command by its name, given the number of each operation code.

    Examples
    --------
    >>> operations({0x28: 7, 0x93: 2, 0xC1: 1})
    {'READ(10)': ('read', 7), 'WRITE SAME(16)': ('ignore', 2), 'command 0xc1': ('ignore', 1)}
    """
    found = {}
    for code in sorted(code for code, count in commands.items() if count):
        meaning = "write" if code in WRITES else "read" if code in READS else "ignore"
        found[(READS | WRITES | OTHERS).get(code, f"command {code:#04x}")] = (meaning, commands[code])
    return found


register(Format("vscsi", "binary: vSCSI version 1 or 2", read, lambda name, head: version(head) is not None, 4096))
