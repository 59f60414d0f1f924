"""The MSR Cambridge traces (Narayanan, Donnelly & Rowstron, FAST 2008): one CSV file per volume, no header.

A line ``timestamp,hostname,disk,type,offset,size,response``: ticks of 100 ns since 1601, name of the server, number of
the volume, Read or Write, byte address, bytes, ticks. Each volume of each server has its own address space.
"""

from misspenalty.traces.reader import Clock, Devices, Format, extents, register
from misspenalty.traces.text import Lines

LINES = Lines(b"uhuouuu", ("timestamp", "hostname", "disk", "type", "offset", "size", "response"), separator=b",")
TICK = 100  # ns


def read(path, block_bytes):
    """Yield `Requests` of blocks of `block_bytes`."""
    clock, devices = Clock(TICK, path), Devices()
    for ticks, host, disk, write, offset, size, _ in LINES.columns(path):
        device = devices.number(host, disk)
        yield extents(device, offset, size, write.astype(bool), clock.since_start(ticks), block_bytes, path)


register(
    Format(
        "msr",
        "text: timestamp,hostname,disk,type,offset,size,response",
        read,
        lambda name, head: LINES.fits(head),
        4096,
    )
)
