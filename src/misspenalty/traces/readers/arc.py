"""The ``.lis`` traces of the ARC paper (Megiddo & Modha, FAST 2003).

A line ``start nblocks tag reqno`` means references to the blocks start … start + nblocks - 1, in ascending order.
Reads only, no times; blocks of 512 bytes.
"""

from misspenalty.traces.reader import SECTOR, Format, Requests, register
from misspenalty.traces.text import Lines

LINES = Lines(b"uuuu", ("start", "nblocks", "tag", "reqno"))


def read(path, block_bytes):
    """Yield `Requests`; the block size is fixed by the trace and only recorded."""
    for start, count, _, _ in LINES.columns(path):
        yield Requests(start.view("u8"), count)


register(Format("arc", "text: start nblocks tag reqno", read, lambda name, head: LINES.fits(head), SECTOR))
