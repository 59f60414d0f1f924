"""Define the client caches that programs run on: HAC, FPC, CLOCK on pages, and a dual buffer like GOM's.

A cache is real memory: page frames of 8 KB and an indirection table of 16-byte entries (address, oref, count of
references, next entry of the same bucket). A program follows references inside the frames. A reference loaded for the
first time is swizzled in place, from an oref to a table entry. If the entry has no object yet, the object is installed
from its page, which is in a frame or fetched from the server. Discarding an object decrements the counts of the objects
it refers to; entries with neither references nor an object are freed. Frames that the program's stack refers to are
pinned.

Paper: M. Castro, A. Adya, B. Liskov, A. C. Myers, "HAC: Hybrid Adaptive Caching for Distributed Storage Systems", SOSP
1997, sections 2 and 3. Taken from the paper: frames, compaction into a target frame, usage bits set by each access and
shifted by a decay, (threshold, fraction) of a frame, the candidate set, the frame that is always free, copies that stay
uninstalled if the object is installed elsewhere, lazy reference counts, no-steal. Recollected from the paper: decay as
(usage + 1) >> 1, ties to the newest, skipping frames that the stack refers to; and, as parameters with these defaults:
retention 2/3, 3 frames per scan, 20 fetches in the set, 2 secondary pointers.

Deviations, and choices that no source states:
    - When a frame is compacted, its uninstalled copies are dropped. If the page of a discarded object is in an intact
      frame, the object is installed again from there, without a fetch.
    - A secondary pointer adds only frames that are not in the set yet.
    - If every candidate is pinned, the primary scan continues until it finds one that is not.
    - Entries are freed as soon as they have neither references nor an object, not in the background.
    - The other caches are no-steal too: FPC and CLOCK keep pages with modified objects until the commit; the dual
      buffer keeps such pages and, in its object buffer, the modified objects. It is an error if the modified objects do
      not fit in the cache.
    - The cache's size includes the table and its buckets, because a page cache does not need that memory. With
      ``table=False`` the size is that of the frames only. The list of pages in the cache (4 bytes per page
      of the database) is not counted.
"""

import math
from fractions import Fraction

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects import _gom, _hac, _paging
from misspenalty_studies.hac.objects.format import ARRAY, CLASS_SHIFT, OID_BITS, PAGE, PAGE_HEADER, STRING, Object

COUNTS = (
    "accesses", "fetches", "installed", "swizzled", "frames_scanned", "objects_scanned", "frames_looked",
    "frames_compacted", "frames_freed", "whole_evictions", "retained", "discarded", "dropped", "bytes_moved",
    "page_objects", "page_survivors", "references_dropped", "entries_made", "entries_freed", "stack_words", "modified",
    "pages_kept", "entries",
)  # fmt: skip
LEVELS = ("pages_kept", "entries")  # counts that are current values; all others are cumulative
TIMED = ("register", "stack_scanning", "usage_computation", "compaction", "conversion")
ENTRY_BYTES = 16
_INSTALLED, _MODIFIED, _SWIZZLED, _ENTRY = 1 << 26, 1 << 27, 1 << 31, (1 << 22) - 1
_FAILURES = {
    1: "no frame could be freed: each is in use by the stack or has modified objects; use a larger cache",
    2: "the indirection table is full, or the machine has no memory left; use a smaller cache",
    3: "the program followed a reference that does not lead to an object",
}


class ClientCache:
    """Base class of all client caches.

    Parameters
    ----------
    database : Database
        Only its pages and classes are used.
    size : float
        Bytes of memory: frames and, unless `table` is false, the indirection table.
    table : bool
        Whether `size` includes the table.
    activation_words : int
        64-bit words of one activation record of the program; a stack scan examines all of them.
    writable : bool
        Whether the program will commit changes; the cache then has its own copy of the server's pages, so that commits
        do not change `database`.

    Raises
    ------
    ParameterError
        The size is less than two frames or at least 2 GB, or another parameter is invalid.
    """

    name = None

    def __init__(self, database, size, *, table=True, activation_words=16, writable=False):
        if not (math.isfinite(size) and 2 * PAGE <= size < 2**31):
            raise ParameterError(
                f"the cache has {size} bytes; expected at least two frames of {PAGE} bytes and less than 2 GB"
            )
        if not 4 <= activation_words <= 4096:
            raise ParameterError(f"activation_words is {activation_words}; expected 4 to 4096")
        self.size, self.table, self.classes, self.database = int(size), table, database.classes, database
        self.pages = database.pages.copy() if writable or not database.pages.flags.writeable else database.pages
        self.writable = writable
        self.frames = min(self.size // PAGE, len(self.pages) + 2)
        self._common = (
            self.pages,
            [one.size for one in database.classes],
            [one.mask for one in database.classes],
            self.size,
            bool(table),
            self.frames,
            activation_words,
        )

    def check(self):
        """Raise an error if the kernel has failed."""
        if self.kernel.failed:
            raise ParameterError(f"the {self.name} cache of {self.size} bytes failed: {_FAILURES[self.kernel.failed]}")

    def commit(self):
        """End the transaction: send modified objects to the server and return (bytes, objects) sent.

        Raises
        ------
        ParameterError
            The cache is not `writable`.
        """
        if not self.writable:
            raise ParameterError(f"{self.name}: a commit changes the server's pages; make the cache with writable=True")
        return self.kernel.commit()

    def log(self):
        """Return the log of fetches and counts, and empty it; the counts themselves are not reset.

        Returns
        -------
        (int64 array, shape (n,); int64 array, shape (n, len(COUNTS)))
            Page of each fetch (0 = a run ended), and the counts before the fetch or at the end of the run.
        """
        pages, counts = self.kernel.fetched, self.kernel.counted()
        self.kernel.forget()
        return pages, counts

    def time_operations(self):
        """Start timing the operations on this machine; this must be called before the first fetch.

        The times vary between machines and runs, and no judged table of the study contains them. A timer costs about
        20 ns. Conversion is timed separately for each object installed and each reference swizzled, so it is
        overestimated by that much each time.
        """
        if not self.kernel.time_operations():
            raise ParameterError(
                "the cache has already been used; call time_operations on a new cache, before its first fetch"
            )

    def timed(self):
        """Return the timer ticks spent until each row of the log, int64, shape (n, 5), one column for each of `TIMED`.

        Call this before `log`, which empties the log.
        """
        return self.kernel.timed_ticks()

    @property
    def memory_used(self):
        """Memory in bytes: (frames in use, including the one that is kept free; indirection table)."""
        return self.kernel.memory_used

    def installed(self):
        """Return the orefs of the objects that are installed, in ascending order; uint32."""
        _, _, entries = self.kernel.snapshot()
        address, oref = entries[1:, 0], entries[1:, 1]
        return np.sort(oref[address != 0])

    def contents(self):
        """Return the contents of the frames, for tests and inspection.

        Returns
        -------
        list of dict
            One dict per frame: ``kind`` (0 free, 1 intact, 2 mixed, 3 object buffer), ``page``, ``installed`` and
            ``objects`` as counted by the kernel, and ``things``: a list of (Object whose references are
            orefs, usage, installed, modified), which is empty for kinds 0 and 3.
        """
        memory, frames, entries = self.kernel.snapshot()
        found = []
        for bytes_, frame in zip(memory, frames, strict=True):
            one = {key: frame[key] for key in ("kind", "page", "installed", "objects")}
            one["things"] = list(self._things(bytes_, frame, entries)) if frame["kind"] in (1, 2) else []
            found.append(one)
        return found

    def _things(self, memory, frame, entries):
        at, oid = PAGE_HEADER, 0
        while at < frame["end"]:
            words = memory[at:].view(np.uint32)
            header, kind = int(words[0]), int(words[0]) >> CLASS_SHIFT & 15
            installed = bool(header & _INSTALLED)
            oref = int(entries[header & _ENTRY, 1]) if installed else frame["page"] << OID_BITS | oid
            if kind == STRING:
                size, values = 8 + int(words[1]), memory[at + 8 : at + 8 + int(words[1])].tobytes()
            else:
                size = 8 + 4 * int(words[1]) if kind == ARRAY else self.classes[kind].size
                fields = (
                    words[2 : 2 + int(words[1])] if kind == ARRAY else words[1 : 1 + len(self.classes[kind].fields)]
                )
                mask = -1 if kind == ARRAY else self.classes[kind].mask >> 1
                values = tuple(
                    int(entries[v & ~_SWIZZLED, 1]) if mask >> i & 1 and v & _SWIZZLED else v
                    for i, v in enumerate(int(field) for field in fields)
                )
            yield Object(oref, kind, values), header >> 28, installed, bool(header & _MODIFIED)
            at += size + 7 & ~7
            oid += 1


class HAC(ClientCache):
    """Hybrid adaptive caching.

    Parameters
    ----------
    retention : float
        R: a frame's threshold is the lowest usage such that the objects with a higher usage (the hot objects) make up
        less than this share of the frame's objects. The share is rounded to a fraction with a denominator of at most
        10^6.
    scan : int
        k: frames that the primary pointer, and each secondary one, examines per fetch.
    lifetime : int
        E: fetches after which a candidate is forgotten.
    secondary : int
        N: secondary pointers.
    **common
        Same as in `ClientCache`.
    """

    name = "hac"

    def __init__(self, database, size, *, retention=2 / 3, scan=3, lifetime=20, secondary=2, **common):
        super().__init__(database, size, **common)
        if not (1e-6 <= retention <= 1 and 1 <= scan <= 1000 and 1 <= lifetime <= 10**6 and 0 <= secondary <= 16):
            raise ParameterError(
                f"retention is {retention}, scan {scan}, lifetime {lifetime} and secondary {secondary}; expected a "
                "retention from 1e-6 to 1, a scan from 1 to 1000, a lifetime from 1 to 10^6, and secondary from 0 to 16"
            )
        share = Fraction(retention).limit_denominator(10**6)  # 2/3 stays exact, and products with counts fit in 32 bits
        self.kernel = _hac.Kernel(*self._common, share.as_integer_ratio(), scan, lifetime, secondary)


class FPC(ClientCache):
    """Fast page caching: HAC's client with perfect LRU on whole pages instead of compaction."""

    name = "fpc"

    def __init__(self, database, size, **common):
        super().__init__(database, size, **common)
        self.kernel = _paging.Lru(*self._common)


class Clock(ClientCache):
    """CLOCK on whole pages, QuickStore's policy; it needs no indirection table, so its size includes frames only."""

    name = "clock"

    def __init__(self, database, size, **common):
        super().__init__(database, size, **common | {"table": False})
        self.kernel = _paging.Clock(*self._common)


class GOM(ClientCache):
    """A dual buffer: pages in LRU order, and the used objects of evicted pages in a separate buffer, in LRU order.

    It follows A. Kemper and D. Kossmann, "Dual-buffering strategies in object bases", VLDB 1994, in the version that
    HAC's paper compares with HAC: the split is fixed and must be tuned. The object buffer uses a buddy allocator with
    blocks of 16 to 8192 bytes.

    Parameters
    ----------
    share : float
        Share of the frames used for the object buffer.
    **common
        Same as in `ClientCache`.
    """

    name = "gom"

    def __init__(self, database, size, *, share=0.5, **common):
        super().__init__(database, size, **common)
        if not 0 <= share < 1:
            raise ParameterError(f"share is {share}; expected at least 0 and less than 1")
        buffer_frames = min(round(share * self.frames), self.frames - 3)  # leave a pinned, an incoming and a free frame
        self.kernel = _gom.Kernel(*self._common, max(buffer_frames, 0))


SYSTEMS = {system.name: system for system in (HAC, FPC, Clock, GOM)}
