"""The SPC trace file format (Storage Performance Council, revision 1.0.1).

A line ``ASU,LBA,size,opcode,timestamp[,…]``: application-specific unit, address in sectors of 512 bytes, bytes, R or
W, seconds. Each unit has its own address space; a request covers every block that its bytes touch.
"""

from misspenalty.traces.reader import Format, extents, register, sectors_to_bytes
from misspenalty.traces.text import Lines

LINES = Lines(b"uuuod", ("ASU", "LBA", "size", "opcode", "timestamp"), separator=b",", open_ended=True)


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`."""
    for unit, lba, size, write, time in LINES.columns(path):
        start = sectors_to_bytes(lba, path, "LBA")
        yield extents(unit, start, size, write.astype(bool), time, block_bytes, path)


register(Format("spc", "text: ASU,LBA,size,opcode,timestamp", read, lambda name, head: LINES.fits(head), 4096))
