"""Read traces of virtual disks from VMware's vscsiStats, versions 1 and 2, in the form published by CloudPhysics.

Records are little-endian, of 32 bytes in version 1 and 40 in version 2. We read each request's length in bytes, SCSI
operation, address in sectors of 512 bytes, and time in microseconds; the high byte of the version field is the version.
Commands other than reads and writes are skipped.
"""

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces.compression import open_stream, read_some
from misspenalty.traces.reader import Clock, Format, extents, records, register, sectors_to_bytes

FIELDS_1 = "serial:<u4 length:<u4 elements:<u4 command:<u2 version:<u2 lbn:<u8 time:<u8"
FIELDS_2 = "command:<u2 version:<u2 serial:<u4 length:<u4 elements:<u4 lbn:<u8 time:<u8 response:<u8"
RECORDS = {
    number: np.dtype([tuple(field.split(":")) for field in fields.split()])
    for number, fields in ((1, FIELDS_1), (2, FIELDS_2))
}
READS = (0x08, 0x28, 0x88, 0xA8)
WRITES = (0x0A, 0x2A, 0x8A, 0xAA)
MICROSECOND = 1000  # ns


def version(head):
    """Return the version of the records, 1 or 2; None if the first records are of neither version."""
    for number, dtype in RECORDS.items():
        rows = np.frombuffer(head[: len(head) // dtype.itemsize * dtype.itemsize], dtype)
        if rows.size and np.all(rows["version"] >> 8 == number) and np.all(rows["command"] < 256):
            return number
    return None


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`."""
    with open_stream(path) as stream:
        number = version(read_some(stream, 40, path))
    if number is None:
        raise InputError("the first record has no version 1 or 2", path=path, byte=0, expected="a vSCSI trace")
    clock, done = Clock(MICROSECOND, path), 0
    for rows in records(path, RECORDS[number]):
        odd = np.flatnonzero(rows["version"] >> 8 != number)
        if odd.size:
            place = done + int(odd[0]) * rows.itemsize
            raise InputError(
                f"the record is not of version {number}", path=path, byte=place, remedy="the file may be damaged"
            )
        done += rows.nbytes
        write = np.isin(rows["command"], WRITES)
        data = write | np.isin(rows["command"], READS)
        rows, write = rows[data], write[data]
        start = sectors_to_bytes(rows["lbn"], path, "LBN").astype(np.int64)
        size, time = rows["length"].astype(np.int64), clock.since_start(rows["time"].astype(np.int64))
        yield extents(np.zeros_like(start), start, size, write, time, block_bytes, path)


register(Format("vscsi", "binary: vSCSI version 1 or 2", read, lambda name, head: version(head) is not None, 4096))
