"""The default output of blkparse for a Linux block trace (blkparse(1), "DEFAULT OUTPUT").

A line ``device cpu sequence seconds pid action RWBS sector + count [process]``, in sectors of 512 bytes. Only lines of
one action are requests, such as Q (queued, the default), D (issued to the driver) or C (completed). Lines of other
actions, requests that move no data (flushes, discards, packet commands) and the summary at the end are skipped.
"""

import dataclasses
import string

from misspenalty.errors import ParameterError
from misspenalty.traces.reader import Clock, Devices, Format, extents, register, sectors_to_bytes
from misspenalty.traces.text import Lines

LINES = Lines(
    b"hssds=fU+u",
    ("device", "cpu", "sequence", "seconds", "pid", "action", "RWBS", "sector", "plus", "count"),
    open_ended=True,
    comment=string.ascii_letters.encode(),  # the summary; events begin with a device's number
    chosen=b"Q",
)
ACTIONS = "QGIDCM"
HEAD = Lines(b"hssdsss", LINES.names[:7], open_ended=True, comment=LINES.comment)  # of any action


def read(path, block_bytes, action="Q"):
    """Yield `Requests` of blocks of `block_bytes`, one per line whose action is `action`."""
    if action not in list(ACTIONS):
        raise ParameterError(f"action is {action!r}; expected one of {', '.join(ACTIONS)}")
    clock, devices = Clock(1, path), Devices()
    for device, _, _, time, _, _, write, sector, _, count in dataclasses.replace(LINES, chosen=action.encode()).columns(
        path
    ):
        start, size = sectors_to_bytes(sector, path, "sector"), sectors_to_bytes(count, path, "count")
        number = devices.number(device)
        yield extents(number, start, size, write.astype(bool), clock.since_start(time), block_bytes, path)


def sniff(name, head):
    """Whether `head` begins with a major,minor device and continues like an event."""
    first = head.lstrip().split(b" ", 1)[0]
    major, comma, minor = first.partition(b",")
    return bool(comma) and major.isdigit() and minor.isdigit() and HEAD.fits(head)


register(
    Format(
        "blkparse",
        "text: device cpu sequence seconds pid action RWBS sector + count",
        read,
        sniff,
        4096,
        {"action": f"which lines are requests: one of {', '.join(ACTIONS)} (default Q, queued)"},
    )
)
