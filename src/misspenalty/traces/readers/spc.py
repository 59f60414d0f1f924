"""The SPC trace file format (Storage Performance Council, revision 1.0.1).

A line ``ASU,LBA,size,opcode,timestamp[,…]``: application-specific unit, address in sectors of 512 bytes, bytes, R or
W, seconds. Each unit is an address space of its own; a request covers every block that its bytes touch.
"""

import numpy as np

from misspenalty.errors import InputError
from misspenalty.traces.reader import SECTOR, Format, Requests, register
from misspenalty.traces.text import Lines

LINES = Lines(b"uuuod", ("ASU", "LBA", "size", "opcode", "timestamp"), separator=b",", open_ended=True)
LARGEST_LBA = 1 << 47  # sectors: 64 PB a unit, so that unit and byte address fit 64 bits
MOST_UNITS = 1 << 16


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`."""
    for unit, lba, size, write, time in LINES.columns(path):
        for name, values, limit in (("ASU", unit, MOST_UNITS), ("LBA", lba, LARGEST_LBA), ("size", size, 1 << 40)):
            if values.size and values.max() >= limit:
                raise InputError(f"{name} {values.max()} is impossible", path=path, expected=f"below {limit}")
        first = lba * SECTOR // block_bytes
        last = (lba * SECTOR + np.maximum(size, 1) - 1) // block_bytes
        yield Requests((unit << 47 | first).view("u8"), last - first + 1, write.astype(bool), time)


register(Format("spc", "text: ASU,LBA,size,opcode,timestamp", read, lambda name, head: LINES.fits(head), 4096))
