"""The ASCII trace format of DiskSim 4.0 (Bucy, Schindler, Schlosser & Ganger, CMU-PDL-08-101, section "ASCII").

A line ``arrival device block count flags``: milliseconds, decimal; device number; address and size in sectors of 512
bytes; hexadecimal flags, whose lowest bit marks a read. Each device has its own address space.
"""

from misspenalty.traces.reader import Clock, Format, extents, register, sectors_to_bytes
from misspenalty.traces.text import Lines

LINES = Lines(b"6uuux", ("arrival", "device", "block", "count", "flags"))
READ = 1


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`."""
    clock = Clock(1, path)
    for arrival, device, block, count, flags in LINES.columns(path):
        start, size = sectors_to_bytes(block, path, "block"), sectors_to_bytes(count, path, "count")
        time = clock.since_start(arrival)
        yield extents(device, start, size, (flags & READ) == 0, time, block_bytes, path)


register(Format("disksim", "text: arrival device block count flags", read, lambda name, head: LINES.fits(head), 4096))
