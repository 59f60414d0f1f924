"""Read captures of file activity as block requests: reads, writes and page faults of programs, in blocks of one page.

The trace is the file of events of a capture (`misspenalty.traces.builds`), and the capture's two other files lie next
to it. Runs follow one another; each file has its own address space. Only reads, writes and page faults that succeeded
and moved data are requests.
"""

import numpy as np

from misspenalty.traces import builds
from misspenalty.traces.reader import PARQUET, Format, extents, register

MICROSECOND = 1000  # ns
COLUMNS = (b"compute_us", b"system_us")  # as in the file's footer


def read(path, block_bytes):
    """Yield `Requests`, one batch per run."""
    capture = builds.read(path)
    before = 0  # ns
    for _, run in capture.events.groupby("run", sort=False):
        moved = run[run["kind"].isin(["read", "write", "fault"]) & (run["error"] == 0) & (run["length"] > 0)]
        time = before + moved["time_us"].to_numpy() * MICROSECOND
        before += (int(run["time_us"].iloc[-1]) + 1) * MICROSECOND
        columns = (moved[name].to_numpy(np.int64) for name in ("file", "offset", "length"))
        yield extents(*columns, (moved["kind"] == "write").to_numpy(), time, block_bytes, path)


def sniff(name, head):
    """Return whether the footer names the columns of such a capture."""
    return head.startswith(PARQUET) and all(column in head for column in COLUMNS)


register(Format("files", "Parquet: run, process, kind, file, offset, length and more", read, sniff, builds.PAGE_BYTES))
