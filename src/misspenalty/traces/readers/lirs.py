"""The traces of the LIRS paper (Jiang & Zhang, SIGMETRICS 2002): one decimal block number per line.

A line ``*`` is a checkpoint mark and is skipped. Reads only, no times; the block size is not part of the format (8 KB
assumed).
"""

from misspenalty.traces.reader import Format, Requests, register
from misspenalty.traces.text import Lines

LINES = Lines(b"u", ("block",), comment=b"*")


def read(path, block_bytes):
    """Yield `Requests`; the block size is only recorded."""
    for (block,) in LINES.columns(path):
        yield Requests(block.view("u8"))


register(Format("lirs", "text: one block number per line", read, lambda name, head: LINES.fits(head), 8192))
