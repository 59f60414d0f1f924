"""The traces of the delayed-hits simulator (Atre, Sherry, Wang & Berger, SIGCOMM 2020): ``step;object`` per line.

A step is a unit of time that the format does not give; it is taken as a microsecond.
"""

from misspenalty.traces.reader import Clock, Format, Requests, register
from misspenalty.traces.text import Lines

LINES = Lines(b"uu", ("step", "object"), separator=b";")
STEP = 1000  # ns


def read(path, block_bytes):
    """Yield `Requests`; the block size is only recorded."""
    clock = Clock(STEP, path)
    for step, block in LINES.columns(path):
        yield Requests(block.view("u8"), None, None, clock.since_start(step))


register(Format("delayed_hits", "text: step;object", read, lambda name, head: LINES.fits(head), 4096))
