"""Simulate a file client of 1999: one processor, Linux 2.2's page and buffer cache, one disk, and a prefetch engine.

Recorded calls of serial programs are replayed one after another, with the recorded compute between them. The time of a
call follows from the state of the caches and of the disk:

- **Two caches** (fs/buffer.c, mm/filemap.c of Linux 2.2). Reads and mappings go through the page cache. Written data
  goes into the buffer cache, and into a page only if the page cache has this page already (`update_vm_cache`). A page
  that is absent while its buffers are present is filled by copying them, block by block, inside the call that needs it
  (`brw_page`); this is the buffer-to-page copy. With `separate_buffers` off, as in Linux 2.4, written data is in the
  page cache at once and nothing is copied. Both caches share `memory_mb`; a clock evicts frames not used since its hand
  last passed.
- **Read-ahead** follows `do_generic_file_read` and `generic_file_readahead`: it is synchronous after a page that has to
  be fetched, and asynchronous when the reader reaches the last window; it doubles from 3 up to 31 pages, and falls back
  to 3 when a page is missing within a window.
- **Page faults** request the aligned cluster of 16 pages around an absent page (`filemap_nopage`).
- A hole (an unwritten page of a file made in the run) is available at once; so is a new file's inode.
- **Paths** are walked directory by directory; inodes and directory blocks are read into the buffer cache.
- **Requests** are merged with queued neighbours up to 254 sectors and sorted by the one-way elevator (`make_request`,
  `add_request`). An empty queue is plugged, so that requests gather in it, until a process waits or until the prefetch
  engine, asynchronous read-ahead or write-back starts the disk. Dirty blocks are written when they are 30 s old.
- **Prefetching**: after each successful open and exec the predictor is given the file, which takes `engine_us`. For
  each predicted file with absent pages, the engine then requests the absent metadata and the absent pages in order, up
  to `prefetch_kb`, and starts the disk without waiting.

Sources: T. M. Kroeger, D. D. E. Long, USENIX ATC 2001, sections 3 and 4; the Linux 2.2 sources for the functions named.

Deviations and decisions:

- One thread of control. Builds are serial; what parent and child did concurrently is replayed in the order recorded.
- Processor time of read calls is `read_call_us`, `copy_us_per_kb` for each KB moved to the reader and
  `buffer_copy_us_per_kb` for each KB copied from a buffer to a page. All other calls keep their recorded, scaled
  processor time, which includes the copying of written data; copies from buffers to pages are added to it.
- Files are contiguous, except where no group, or no row of whole groups, has room; indirect blocks, fragments and
  reading a block before a part of it is overwritten are left out.
- The number of requests is unlimited (128 in Linux). Between runs everything is written back.
- Predicted files that do not exist are skipped, because the file system has no size for them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty_studies.common.machine import MachineParameters, declared
from misspenalty_studies.epcm.file_client._file_client import CALL, FileClient

PAGE_BYTES = 4096
SECTOR_BYTES = 512
CALLS = (
    "compute", "exec", "interpreter", "open", "create", "read", "write", "fault", "lookup", "search", "truncate",
    "unlink", "rename",
)  # fmt: skip
COMPONENTS = (
    "compute", "read_call", "copy_read", "copy_fault", "copy_ahead", "engine", "wait_read", "wait_fault", "wait_open",
    "wait_exec", "wait_other",
)  # fmt: skip
HIT, PARTIAL, MISS = range(3)
CLASSES = ("hit", "partial", "miss")


@dataclass(frozen=True)
class ClientMachine(MachineParameters):
    """Parameters of the client, each declared with its unit."""

    varied = ()
    nullable = True  # null = a copy time that is not fitted yet, or a prefetch without limit

    memory_mb: float = declared("MB", "Memory for the page cache and the buffer cache together", ge=0.25, le=65536)
    block_kb: Literal[1, 2, 4] = declared("KB", "Block of the file system, the unit of buffer-to-page copies")
    separate_buffers: bool = declared(
        "boolean", "Whether written data stays in a buffer cache of its own, so that reading it copies buffers to pages"
    )
    cluster_pages: int = declared("pages", "Pages of 4 KB in the aligned cluster of a page fault", ge=1, le=4096)
    least_ahead_pages: int = declared("pages", "Smallest read-ahead of a file read in sequence", ge=0, le=4096)
    most_ahead_pages: int = declared("pages", "Largest read-ahead", ge=0, le=4096)
    read_call_us: float = declared("us", "Processor time of a read call, without moving data", ge=0, le=1e9)
    copy_us_per_kb: float | None = declared("us/KB", "Processor time to copy 1024 bytes to the reader", ge=0, le=1e9)
    buffer_copy_us_per_kb: float | None = declared(
        "us/KB", "Processor time to copy 1024 bytes from a buffer to a page", ge=0, le=1e9
    )
    engine_us: float = declared(
        "us", "Processor time of model and prefetch engine per open and exec, without copies", ge=0, le=1e9
    )
    writeback_age_s: float = declared("s", "Age at which dirty blocks are written", ge=0, le=1e9)
    writeback_interval_s: float = declared("s", "Time between two searches for old dirty blocks", ge=0.001, le=1e9)
    request_sectors: int = declared("sectors", "Maximum number of sectors of 512 bytes in one request", ge=8, le=65536)
    demand_first: bool = declared(
        "boolean", "Whether requests that a process waits for overtake the others in the queue"
    )
    host_us: float = declared(
        "us",
        "Time from the decision to serve a request, or the completion of the one before, to its start at the disk",
        ge=0,
        le=1e9,
    )
    prefetch_kb: int | None = declared("KB", "Maximum amount prefetched of a file; null = all of it", ge=1, le=1 << 40)
    drive: str = declared(
        "name", "The disk, by its name in data/drives; none = the fixed-service device", pattern="^[a-z0-9_]+$"
    )
    device_depth: int = declared("requests", "Requests that the fixed-service device serves at a time", ge=1, le=1024)
    device_access_us: float = declared(
        "us", "Time of the fixed-service device for a request, without the transfer", ge=0, le=1e9
    )
    device_mb_per_s: float = declared("10^6 bytes/s", "Transfer rate of the fixed-service device", ge=1e-6)

    def kernel(self):
        """Return the parameters in the kernel's units: frames, sectors, ns.

        Raises
        ------
        ParameterError
            A copy time is not fitted yet, or a value is out of its range.
        """
        self.check("copy_us_per_kb", "buffer_copy_us_per_kb")
        return {
            "room": int(self.memory_mb * 2**20 // PAGE_BYTES),
            "block": 1024 * self.block_kb,
            "separate": self.separate_buffers,
            "cluster": self.cluster_pages,
            "least_ahead": self.least_ahead_pages,
            "most_ahead": self.most_ahead_pages,
            "call_time": round(1000 * self.read_call_us),
            "kilobyte": round(1000 * self.copy_us_per_kb),
            "buffer_kilobyte": round(1000 * self.buffer_copy_us_per_kb),
            "engine_time": round(1000 * self.engine_us),
            "age": round(1e9 * self.writeback_age_s),
            "interval": round(1e9 * self.writeback_interval_s),
            "max_sectors": self.request_sectors,
            "demand_first": self.demand_first,
            "host": round(1000 * self.host_us),
            "most_pages": 2**31 - 1 if self.prefetch_kb is None else -(-1024 * self.prefetch_kb // PAGE_BYTES),
            "depth": self.device_depth if self.drive == "none" else 1,
            "access": round(1000 * self.device_access_us),
            "sector": round(1e3 * SECTOR_BYTES / self.device_mb_per_s),
        }


@dataclass(frozen=True)
class ClientRun:
    """Times and counts of one run.

    Attributes
    ----------
    components : dict of str to int
        Components that add up to the elapsed time, ns.
    latency, outcome, copies : int64, uint8, int32 arrays, shape (read calls,)
        Time of each read call in ns, its class (`HIT`, `PARTIAL`, `MISS`), and the blocks copied from buffers.
    counts : dict of str to int
        Blocks copied in read calls (`copied`), by the engine (`copied_ahead`), in faults (`copied_in_faults`);
        prefetches that fetched or copied anything (`files_ahead`), their pages (`pages_ahead`), how many of those were
        used (`pages_used`); files used after a prefetch (`leads`) and the total time between prefetch and use, ns
        (`lead_time`), and the same for files used within n events, where n is their rank among those predicted
        (`foretold`, `foretold_time`); files prefetched and not opened or executed in the rest of the run (`wrong`);
        events on the file that had just been predicted first, whether or not anything was fetched (`right`), and the
        total time from the prediction to them, ns (`right_time`); disk requests (`reads`, `writes`) and their sectors;
        frames evicted (`evictions`).
    """

    components: dict
    latency: np.ndarray
    outcome: np.ndarray
    copies: np.ndarray
    counts: dict

    @property
    def elapsed_s(self):
        """Elapsed time, s."""
        return sum(self.components.values()) / 1e9

    @property
    def io_wait_s(self):
        """Time that the processor spent waiting for the disk, s."""
        return sum(time for name, time in self.components.items() if name.startswith("wait_")) / 1e9

    @property
    def compute_s(self):
        """Elapsed time without I/O wait, s."""
        return self.elapsed_s - self.io_wait_s

    @property
    def read_latency_us(self):
        """Mean time of a read call, us; 0 if there is none."""
        return float(self.latency.mean() / 1000) if len(self.latency) else 0.0


COUNTS = (
    "copied", "copied_ahead", "copied_in_faults", "files_ahead", "pages_ahead", "pages_used", "leads", "lead_time",
    "foretold", "foretold_time", "wrong", "right", "right_time", "reads", "writes", "read_sectors", "write_sectors",
    "evictions",
)  # fmt: skip


class Client:
    """The client with one workload's files on its disk.

    Parameters
    ----------
    workload : FileWorkload
        From `misspenalty_studies.epcm.file_client.workload.prepare`.
    machine : ClientMachine
    kind : Description, optional
        Description of the drive, from `misspenalty.disks.load`; None = the fixed-service device that the machine
        describes.
    """

    def __init__(self, workload, machine, kind=None):
        self.workload, self.machine, self.kind = workload, machine, kind
        values = machine.kernel()
        if (kind is None) != (machine.drive == "none"):
            raise ParameterError(f"the machine's drive is {machine.drive!r}; pass its description, or None for 'none'")
        self.kernel = FileClient(
            workload.lba, workload.sectors, workload.metadata, values, workload.first, workload.pages, workload.walk_at,
            workload.walks, workload.files,
        )  # fmt: skip

    def run(self, number, *, cold, scale=1.0, predictor=None, start=0, resident=(), named=()):
        """Replay one recorded run.

        Parameters
        ----------
        number : int
            Number of the run, counted from 0.
        cold : bool
            Whether all caches are emptied first.
        scale : float
            Factor on the recorded compute times.
        predictor : Predictor, optional
            A kernel of `misspenalty.prefetch`, which learns as it predicts; None = no prefetching.
        start : int
            Time of the start, ns; it determines the phase of the drive's rotation.
        resident : sequence of int
            Paths that are still in memory after the caches have been emptied; not used unless `cold`.
        named : sequence of int
            Paths whose directories and inode stay in memory, cold or not, outside the page and buffer caches.

        Returns
        -------
        ClientRun
        """
        if cold:
            self.kernel.begin_cold()
        self.kernel.keep(np.asarray(named, np.int32))
        if cold:
            self.kernel.warm(np.asarray(resident, np.int32))
        self.kernel.attach(None if self.kind is None else self.kind.drive())
        calls = self.workload.run(number)
        reads = int((calls["kind"] == CALLS.index("read")).sum())
        latency, outcome, copies = np.zeros(reads, np.int64), np.zeros(reads, np.uint8), np.zeros(reads, np.int32)
        self.kernel.run(
            calls.view(np.uint8), self.workload.sizes[number], self.workload.known[number], scale, start, predictor,
            latency, outcome, copies,
        )  # fmt: skip
        components = dict(zip(COMPONENTS, self.kernel.components.tolist(), strict=True))
        counts = {name: getattr(self.kernel, name) for name in COUNTS}
        return ClientRun(components, latency, outcome, copies, counts)


__all__ = ["CALL", "CALLS", "CLASSES", "COMPONENTS", "HIT", "MISS", "PARTIAL", "Client", "ClientMachine", "ClientRun"]
