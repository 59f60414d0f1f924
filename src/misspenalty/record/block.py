"""Record the requests queued to block devices in the trace format ``blkparse``, that is, as blkparse prints them."""

import os
from pathlib import Path

from misspenalty.io.files import atomic_path, open_output, temporary_folder
from misspenalty.record import tracer
from misspenalty.record.tracer import CaptureError

PROBED = "block/block_bio_queue"
SYSFS = "/sys/dev/block"
MINOR_BITS = 20
EXPECTED = "expected 'device sector count kind nanoseconds process command'"


def device_number(path):
    """Return the kernel's device number of a block device.

    Raises
    ------
    CaptureError
        The path is not a block device, or is a partition.
    """
    path = Path(path)
    if not path.is_block_device():
        raise CaptureError(f"{path} is not a block device; lsblk lists them")
    raw = path.stat().st_rdev
    if Path(SYSFS, f"{os.major(raw)}:{os.minor(raw)}", "partition").exists():
        raise CaptureError(f"{path} is a partition, whose requests are queued to its disk: name the disk (see lsblk)")
    return (raw >> 8 & 0xFFF) << MINOR_BITS | (raw & 0xFF) | (raw >> 12 & 0xFFF00)


def blkparse_lines(lines, source, begin=0, end=2**64):
    """Turn lines of the probe into lines in the format of blkparse, in time order.

    Parameters
    ----------
    lines : iterable of str
    source : str
        Name of the recording, for messages.
    begin, end : int
        Interval in ns; events outside it are left out.

    Yields
    ------
    str

    Raises
    ------
    CaptureError
        A line is malformed, or events were lost.

    Examples
    --------
    >>> list(blkparse_lines(["266338304 2048 8 WS 1000000500 77 fio"], "x"))
    ['254,0    0        1     0.000000000    77  Q  WS 2048 + 8 [fio]']
    """
    events = []
    for at, line in tracer.printed(lines, source):
        try:
            device, sector, count, kind, time, process, command = line.split(maxsplit=6)
            events.append((int(time), int(device), int(sector), int(count), kind, int(process), command.strip()))
        except ValueError:
            raise CaptureError(f"{at}: {line.strip()[:80]!r}; {EXPECTED}") from None
    events = sorted((event for event in events if begin <= event[0] <= end), key=lambda event: event[0])
    for number, (time, device, sector, count, kind, process, command) in enumerate(events, 1):
        seconds, rest = divmod(time - events[0][0], 1_000_000_000)
        name = f"{device >> MINOR_BITS},{device & (1 << MINOR_BITS) - 1}"
        place = f"{sector} + {count} " if count else ""  # a flush has no sector
        yield f"{name:<7}  0 {number:8} {seconds:5}.{rest:09} {process:5}  Q {kind:>3} {place}[{command}]"


def record(device, output, *, seconds=None, ring_pages=4096, told=print):
    """Record the requests of a block device for some seconds, or until Ctrl-C.

    Parameters
    ----------
    device : path-like or None
        The block device; None records all of them.
    output : path-like
        Text file, written atomically; compressed if its suffix says so.
    seconds, ring_pages, told
        As in `misspenalty.record.postgres.record`.

    Returns
    -------
    dict
        ``output, ended, requests, seconds``.

    Raises
    ------
    CaptureError
        The machine cannot record, `device` is not a block device, bpftrace fails or loses events, or no request is
        queued.
    """
    tracer.check(PROBED)
    number = 0 if device is None else device_number(device)
    with temporary_folder() as work:
        lines, log = Path(work, "events.txt"), Path(work, "bpftrace.log")
        settings = {"BPFTRACE_PERF_RB_PAGES": str(ring_pages)}
        with tracer.tracing("block.bt", number, lines, log, settings=settings) as probe:
            told(f"recording {device or 'all block devices'}; Ctrl-C ends it")
            begin = tracer.now()
            why, when = tracer.ended(probe, log, seconds)
        with lines.open(errors="replace") as stream:
            found = list(blkparse_lines(stream, str(output), begin, when))
    if not found:
        idle = "no block device received a request" if device is None else f"{device} received no requests"
        raise CaptureError(f"{idle} during the recording")
    with atomic_path(output) as partial, open_output(partial) as stream:
        for line in found:
            stream.write(f"{line}\n".encode())
    return {"output": str(output), "ended": why, "requests": len(found), "seconds": float(found[-1].split()[3])}
