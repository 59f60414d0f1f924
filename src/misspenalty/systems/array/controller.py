"""A storage controller under open load: read cache with prefetching, non-volatile write cache, RAID-5 arrays of drives.

Paper: B. S. Gill, D. S. Modha, "SARC: Sequential Prefetching in Adaptive Replacement Cache", USENIX ATC 2005,
sections IV (the machine, one cluster of an IBM ESS 800) and V (response times over load). A host request goes through

1. the host's queue of its array: the host has at most `host_slots` requests of an array under way (FCFS);
2. the caches. A read looks its tracks up in the read cache, whose policy and prefetcher say what has to be read from
   drives (`misspenalty.prefetch.sequential.prefetcher`); it waits for its own missing pages and for those that are on
   their way already. A write puts its pages into the read cache and into the write cache, and waits for room there
   (FCFS);
3. the array's host adapter, which moves the data (FCFS), and a constant time of the controller.

Behind the caches, neighbouring pages on one drive are one operation. Of the operations that have waited longest, a
drive takes the one whose first sector it reaches first, and moves as described in `misspenalty.disks`. The write cache
is emptied by stripe, each array's oldest first, by linear thresholds (`destage_low`, `destage_high`, `destages`): a
stripe that is entirely dirty is written with its parity; otherwise the parity is computed from the old one or from the
whole stripe, whichever reads less, so that a single dirty page costs four operations. Its space is free when the last
of them is complete.

Addresses are 4 KB pages of one volume, which is striped over the arrays. Every latency is a record of `COMPONENTS`.

Deviations and decisions, where the paper doesn't say: ``data/machines/shark.yaml`` has each parameter with its status.
The volume is striped over all arrays (wide striping), where the authors' host striped over four at a time; a scale
model has fewer arrays than that, and the paper states that striping changes none of its results (IV-E). Pages are in
the read cache from the moment their read is issued, may be evicted while on their way, and then still serve the
requests that wait. Pages of a stripe under destage that are written again are a new entry, and the two may be written
in either order; a read of pages under destage goes to the drives. A drive gives reads and destages equal priority.
Nothing fails, and there are no spare drives.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from misspenalty.disks import SCHEDULERS
from misspenalty.errors import ParameterError
from misspenalty.systems.array._array import Array
from misspenalty.systems.array._back_end import MEMBERS, STRIP

PAGE = 4096  # bytes
MB = 1 << 20
MAX_PAGES = 64  # pages of a request
COMPONENTS = (
    "host_queue",
    "controller",
    "adapter_queue",
    "adapter",
    "write_cache",
    "in_flight",
    "disk_queue",
    "disk_overhead",
    "seek",
    "rotation",
    "disk_transfer",
    "disk_bus",
    "disk_cache",
)
COUNTS = (
    "reads",
    "writes",
    "read_hits",
    "read_waits",
    "dirty_reads",
    "stage_reads",
    "destage_reads",
    "destage_writes",
    "destages",
    "full_destages",
)
STAGED = ("demand", "synchronous", "asynchronous")


@dataclass(frozen=True)
class Controller:
    """Parameters of a storage controller, in the units their names end in; ``shark.schema.yaml`` describes each."""

    cache_mb: float
    write_cache_mb: float
    arrays: int
    array_members: int
    strip_kb: int
    stripes_per_turn: int
    host_slots: int | None
    controller_us: float
    adapter_mb_per_s: float
    drive_scheduler: str
    drive_window: int
    destage_low: float
    destage_high: float
    destages: int

    @property
    def cache_pages(self):
        """Pages of the read cache."""
        return int(self.cache_mb * MB) // PAGE

    @property
    def write_cache_pages(self):
        """Pages of the write cache."""
        return int(self.write_cache_mb * MB) // PAGE

    @property
    def stripe_pages(self):
        """Data pages of a stripe."""
        return (self.array_members - 1) * self.strip_kb * 1024 // PAGE

    def scaled(self, divisor):
        """A model of one `divisor`-th: caches and arrays; what concerns one array or one request stays.

        Raises
        ------
        ParameterError
            `divisor` doesn't divide the arrays.
        """
        if divisor < 1 or self.arrays % divisor:
            divisors = ", ".join(str(n) for n in range(1, self.arrays + 1) if self.arrays % n == 0)
            raise ParameterError(f"{self.arrays} arrays cannot be divided by {divisor!r}; expected one of {divisors}")
        return replace(
            self,
            arrays=self.arrays // divisor,
            cache_mb=self.cache_mb / divisor,
            write_cache_mb=self.write_cache_mb / divisor,
        )

    def check(self):
        """Raise a `ParameterError` that names the first impossible value and what is possible."""
        strip = self.strip_kb * 1024 // PAGE
        least = MAX_PAGES * PAGE / MB  # a request has to fit above the fill at which destages begin
        strips = range(8, STRIP + 1, 8)
        tests = {
            "cache_mb": (0.25 <= self.cache_mb <= 1 << 24, f"0.25 to {1 << 24} MB"),
            "destage_low": (0 <= self.destage_low < 1, "at least 0 and less than 1"),
            "destage_high": (
                self.destage_low < self.destage_high <= 1,
                f"more than destage_low, {self.destage_low:g}, and at most 1",
            ),
            "write_cache_mb": (
                self.write_cache_mb * (1 - self.destage_low) >= least and self.write_cache_mb <= 1 << 20,
                f"{least:g} MB above destage_low, which is {least / (1 - self.destage_low):g} MB, to {1 << 20} MB"
                if self.destage_low < 1
                else "a destage_low below 1 first",
            ),
            "arrays": (1 <= self.arrays <= 4096, "1 to 4096 arrays"),
            "array_members": (3 <= self.array_members <= MEMBERS, f"3 to {MEMBERS} drives"),
            "strip_kb": (
                strip * PAGE == self.strip_kb * 1024 and strip in strips,
                f"one of {', '.join(str(pages * PAGE // 1024) for pages in strips)} KB",
            ),
            "stripes_per_turn": (1 <= self.stripes_per_turn <= 1 << 20, f"1 to {1 << 20} stripes"),
            "host_slots": (
                self.host_slots is not None and 1 <= self.host_slots <= 1 << 20,
                f"1 to {1 << 20} requests per array",
            ),
            "controller_us": (0 <= self.controller_us <= 1e6, "0 to 1e+06 us"),
            "adapter_mb_per_s": (1e-6 <= self.adapter_mb_per_s <= 1e6, "1e-06 to 1e+06 times 10^6 bytes/s"),
            "drive_window": (1 <= self.drive_window <= 1 << 20, f"1 to {1 << 20} operations"),
            "drive_scheduler": (self.drive_scheduler in SCHEDULERS, " or ".join(SCHEDULERS)),
            "destages": (1 <= self.destages <= 1 << 20, f"1 to {1 << 20} stripes an array"),
        }
        for name, (good, expected) in tests.items():
            if not good:
                raise ParameterError(f"{name} is {getattr(self, name)!r}; expected {expected}")


@dataclass(frozen=True)
class Interval:
    """What happened in a stretch of time; a request counts where it is completed, a hit where it is looked up.

    Attributes
    ----------
    seconds : float
    counts : dict of str to int
        By `COUNTS`: reads and writes completed, reads that found all pages (on their way or not), that waited for
        drives, that missed only dirty pages; drive operations by purpose; destages, and those that needed no read.
    staged : dict of str to int
        Tracks read into the cache, by `STAGED`: asked for, rest of a synchronous group, asynchronous group.
    read_ns, write_ns : dict of str to int
        Time spent by reads, by writes, by component of `COMPONENTS`.
    response_ns : (int, int)
        The same from arrival to completion, by the clock.
    utilisation : float
        Mean over the drives, a fraction; 0 without drives.
    state : dict of str to float
        At the end: ``seq_pages, random_pages, ratio`` (2 * s * deltaL / |SEQ| at the last hit in RANDOM's bottom;
        all three 0 in caches without such lists), ``sequential_misses`` and ``unused`` tracks since the start,
        ``dirty_pages``, ``backlog`` (requests not completed). With a generator's requests also what detection made of
        the tracks accessed since the start: ``false_sequential`` of the ``random_tracks``, ``missed_sequential`` of
        the ``stream_tracks``.
    """

    seconds: float
    counts: dict
    staged: dict
    read_ns: dict
    write_ns: dict
    response_ns: tuple
    utilisation: float
    state: dict

    @property
    def read_ms(self):
        """Mean response of a read; NaN where none was completed."""
        return _mean_ms(self.response_ns[0], self.counts["reads"])

    @property
    def write_ms(self):
        """Mean response of a write; NaN where none was completed."""
        return _mean_ms(self.response_ns[1], self.counts["writes"])

    @property
    def response_ms(self):
        """Mean response of all requests; NaN where none was completed."""
        return _mean_ms(sum(self.response_ns), self.counts["reads"] + self.counts["writes"])

    def row(self):
        """Everything as a flat dict; times by component in ms per request."""
        row = {"seconds": self.seconds, **self.counts, **{f"staged_{name}": n for name, n in self.staged.items()}}
        row |= {"read_ms": self.read_ms, "write_ms": self.write_ms, "response_ms": self.response_ms}
        for side, spent in (("read", self.read_ns), ("write", self.write_ns)):
            number = self.counts[f"{side}s"]
            row |= {f"{side}_{name}_ms": _mean_ms(ns, number) for name, ns in spent.items()}
        return row | {"utilisation": self.utilisation, **self.state}


def _mean_ms(ns, number):
    return ns / number / 1e6 if number else math.nan


class StorageController:
    """A controller at work, from an empty cache at time 0.

    Parameters
    ----------
    controller : Controller
    drive : Description or None
        Of the drives, from `misspenalty.disks.load`. None = the caches alone: what has to be read is there at once, and
        nothing is destaged.
    cache : TrackCache
        From `misspenalty.prefetch.sequential.prefetcher.track_cache`, of ``controller.cache_pages`` pages.
    pages : int
        Pages of the volume.

    Raises
    ------
    ParameterError
        A parameter is impossible, or the volume doesn't fit the drives or the cache.
    """

    def __init__(self, controller, drive, cache, pages):
        controller.check()
        if pages < 1 or -(-pages // cache.track_pages) > cache.tracks:
            most = cache.tracks * cache.track_pages
            raise ParameterError(
                f"a volume of {pages} pages behind a cache for {cache.tracks} tracks; expected 1 to {most} pages"
            )
        strip = controller.strip_kb * 1024 // PAGE
        if strip % cache.track_pages:
            raise ParameterError(
                f"a strip of {strip} pages is not a multiple of the cache's tracks of {cache.track_pages}"
            )
        layout = {
            "arrays": controller.arrays,
            "members": controller.array_members,
            "strip": strip,
            "stripe": controller.stripe_pages,
            "unit": controller.stripes_per_turn,
        }
        front = {
            "slots": controller.host_slots,
            "overhead": round(1000 * controller.controller_us),
            "transfer": round(1000 * PAGE / controller.adapter_mb_per_s),
        }
        room = controller.write_cache_pages
        marks = (room, int(controller.destage_low * room), int(controller.destage_high * room), controller.destages)
        number = controller.arrays * controller.array_members
        drives = (
            []
            if drive is None
            else [drive.drive(controller.drive_scheduler, controller.drive_window) for _ in range(number)]
        )
        self.cache, self.pages = cache, pages
        self._kernel = Array(cache, front, drives, layout, marks, pages)
        self._busy, self._staged = 0, np.zeros(len(STAGED), np.int64)

    def run_workload(self, workload, bases, until_ns):
        """Go on with the requests of a generator; the GIL is released meanwhile.

        Parameters
        ----------
        workload : Spc1
            From `misspenalty.traces.spc1.Workload.start`.
        bases : sequence of int
            First page of each of its units, and the end of the last, each the first of a track.
        until_ns : int
            Nothing at or after this time happens.

        Returns
        -------
        Interval
            Since the last call.
        """
        bases = np.asarray(bases, np.int64)
        lengths = np.array(workload.blocks)
        track = self.cache.track_pages
        if bases.shape != (len(lengths) + 1,) or bases.min() < 0 or bases.max() > self.pages:
            raise ParameterError(f"bases are {bases.tolist()}; the volume has {self.pages} pages")
        if (bases % track).any() or (np.diff(bases) < lengths).any():
            raise ParameterError(
                f"bases are {bases.tolist()}; expected first pages of tracks, room for {lengths.tolist()}"
            )
        if workload.due < self._kernel.now:
            raise ParameterError(f"the next request comes at {workload.due} ns, but {self._kernel.now} ns is reached")
        begin = self._begin(until_ns)
        self._kernel.run_workload(workload, bases, until_ns)
        return self._interval(begin)

    def run(self, time_ns, page, pages, write, until_ns):
        """Go on with the requests given.

        Parameters
        ----------
        time_ns, page : int64, shape (n,)
            Arrivals in order, not before the time reached, and first pages.
        pages : int32, shape (n,)
            Lengths, 1 to `MAX_PAGES`.
        write : bool, shape (n,)
        until_ns : int
            Nothing at or after this time happens; later than the last arrival.

        Returns
        -------
        Interval
            Since the last call.
        """
        time_ns, page = np.ascontiguousarray(time_ns, np.int64), np.ascontiguousarray(page, np.int64)
        pages, write = np.ascontiguousarray(pages, np.int32), np.ascontiguousarray(write, np.uint8)
        begin = self._begin(until_ns)
        if not time_ns.shape == page.shape == pages.shape == write.shape == (time_ns.size,):
            raise ParameterError("the columns of the requests differ in length")
        if time_ns.size:
            if time_ns[0] < begin or time_ns[-1] >= until_ns or (time_ns[1:] < time_ns[:-1]).any():
                raise ParameterError(f"arrivals are not in order between {begin} and {until_ns} ns")
            if page.min() < 0 or pages.min() < 1 or pages.max() > MAX_PAGES or (page > self.pages - pages).any():
                raise ParameterError(f"a request of 1 to {MAX_PAGES} pages within {self.pages} pages was expected")
        self._kernel.run(time_ns, page, pages, write, self.pages // self.cache.track_pages, until_ns)
        return self._interval(begin)

    def _begin(self, until_ns):
        if until_ns < self._kernel.now:
            raise ParameterError(f"until {until_ns} ns; {self._kernel.now} ns is reached already")
        return self._kernel.now

    def _interval(self, begin):
        kernel, cache = self._kernel, self.cache
        counts, spent, response = kernel.drain_counters()
        length = kernel.now - begin
        busy, staged = sum(kernel.busy), np.array(cache.tracks_staged)
        utilisation = (busy - self._busy) / max(length, 1) / max(len(kernel.busy), 1)
        (random, false), (missed, found) = kernel.tracks_labelled
        state = {
            "seq_pages": cache.seq_pages,
            "random_pages": cache.random_pages,
            "ratio": getattr(cache, "last_ratio", 0.0),
            "sequential_misses": cache.sequential_misses,
            "unused": cache.unused,
            "dirty_pages": kernel.dirty_pages,
            "backlog": kernel.backlog,
            "random_tracks": random + false,
            "false_sequential": false,
            "stream_tracks": missed + found,
            "missed_sequential": missed,
        }
        interval = Interval(
            length / 1e9,
            dict(zip(COUNTS, map(int, counts), strict=True)),
            dict(zip(STAGED, map(int, staged - self._staged), strict=True)),
            *(dict(zip(COMPONENTS, map(int, side), strict=True)) for side in spent),
            tuple(map(int, response)),
            utilisation,
            state,
        )
        self._busy, self._staged = busy, staged
        return interval
