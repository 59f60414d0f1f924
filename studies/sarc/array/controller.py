"""Simulate a storage controller under open load: read cache with prefetching, non-volatile write cache, RAID-5 arrays.

Paper: B. S. Gill, D. S. Modha, "SARC: Sequential Prefetching in Adaptive Replacement Cache", USENIX ATC 2005,
sections IV (the machine, one cluster of an IBM ESS 800) and V (response times over load). A host request goes through

1. the host's queue for its array: the host has at most `host_slots` requests per array in progress (FCFS);
2. the controller's processors: one queue for all of them (`processor_queue` "shared") or one each ("own"), and the same
   service time for every request; with "none" that service is a constant time at the end;
3. the caches. A read looks its tracks up in the read cache, whose policy and prefetcher decide which pages are read
   from the drives (`misspenalty.prefetch.sequential.prefetcher`). The read waits for its missing pages and for those of
   its pages that are already in flight. A write puts its pages into the read cache and, once there is room (FCFS), into
   the write cache;
4. the array's host adapter, which moves the data (FCFS);
5. a delay proportional to the request rate of the whole machine (`contention_us`). It represents contention in the
   front end, whose buses and locks are not modelled.

A miss reads the missing pages, or also the later ones of their track, or the whole track (`staging`). Behind the
caches, neighbouring pages on one drive form one operation if they belong to the same track or the same prefetched
group; the tracks that a request asks for are read separately. A drive's scheduler (`drive_scheduler`) chooses the next
operation among the `drive_window` operations that have waited longest; in the study, it chooses the one whose first
sector the drive reaches first. Drives move as described in `misspenalty.disks`. The write cache is destaged stripe by
stripe: each array takes the stripe whose last write is oldest, and the number of destages rises linearly between two
fill levels (`destage_low`, `destage_high`, `destages`). With `destage_order` "first", an array takes the stripe whose
first write is oldest; with `destage_unit` "strip", it takes one dirty strip of a stripe at a time. A stripe that is
entirely dirty is written with its parity, without a read. Otherwise the parity is computed from the old parity or from
the whole stripe, whichever needs fewer reads, so a single dirty page costs four operations in arrays of more than three
drives. The space of a destage is freed when its last operation completes. With `parity_from_cache`, contents that the
read cache holds are not read for a parity: the current contents of the other strips, and the old contents of a page
that was in the read cache when it was written.

Addresses are numbers of 4 KB pages in one volume. The host stripes each unit of this volume over `host_stripe_arrays`
arrays, and the controller sees each array's part of a unit as contiguous pages: sequential detection sees a stream of
the host as `host_stripe_arrays` slower streams, each with its own groups and triggers. The controller deals out its
pages to the arrays, `stripes_per_turn` stripes at a time. Every latency is recorded by component (`COMPONENTS`).

The following are deviations from the paper, and decisions where it is silent; ``studies/sarc/machine.yaml`` lists each
parameter with its status. The paper does not say which units are on which four arrays, so the stripes of every unit are
spread over all arrays, and there are no hot spots. A model that is a slice of its machine (`Controller.scaled`) has no
processor of its own: it shares processors with the other slices. The requests of the other slices are copies of the
model's own, which each slice sends with a different delay, a multiple of a tenth of a second, so every slice's load is
as heavy, as bursty and as throttled by the host as the model's own. Pages are in the read cache from the moment their
read is issued; they may be evicted while in flight, and still serve the requests that wait for them. If pages are
written again while they are destaged, they form a second entry, and the two entries may be written to disk in either
order; a read that misses pages being destaged reads them from the drives. A drive gives reads and destages equal
priority. Nothing fails, and each array's spare is idle.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from misspenalty.errors import ParameterError
from misspenalty_studies.common.machine import MachineParameters, declared
from misspenalty_studies.sarc.array._array import Array
from misspenalty_studies.sarc.array.interval import COMPONENTS, COUNTS, STAGED, Interval

PAGE = 4096  # bytes
MB = 1 << 20
MAX_PAGES = 64  # maximum length of a request, pages
NOT_STRIPED = 1 << 40  # pages, more than any unit has


@dataclass(frozen=True)
class Controller(MachineParameters):
    """Parameters of a storage controller, in the units that their declarations state."""

    statuses = ("stated", "derived", "secondary", "assumed", "fitted")
    varied = ()

    cache_mb: float = declared("MB", "Read cache", ge=0.25, le=1 << 24)
    write_cache_mb: float = declared("MB", "Non-volatile write cache", gt=0, le=1048576)
    arrays: int = declared("RAID-5 arrays", "RAID-5 arrays", ge=1, le=4096)
    array_members: int = declared(  # at most MOST_MEMBERS of `_raid.pxd`
        "drives", "Working drives of an array, including the parity drive, without spares", ge=3, le=16
    )
    strip_kb: Literal[32, 64, 96, 128, 160, 192, 224, 256] = declared(  # dirty pages are the bits of a 64-bit word
        "KB", "Consecutive data on one drive, whole tracks of 32 KB"
    )
    stripes_per_turn: int = declared(
        "stripes", "Consecutive stripes on one array before the next array's turn", ge=1, le=1048576
    )
    host_slots: int | None = declared(
        "requests per array",
        "Maximum number of requests per array that the host has in progress; the others wait in the host",
        ge=1,
        le=1048576,
    )
    controller_us: float | None = declared("us", "Controller's time for a request", ge=0, le=1e6)
    processors: int = declared("processors", "Processors of the controller", ge=1, le=256)
    processor_queue: Literal["none", "shared", "own"] = declared(
        "queue",
        "Whether requests wait in one queue for all processors (shared) or in one queue per processor (own), each of "
        "which then serves certain arrays; none = the controller's time is a constant delay",
    )
    host_stripe_kb: int = declared(
        "KB",
        "Length of the strips that the host puts on one array after the other, unknown to the controller; 0 = no "
        "striping",
        ge=0,
        le=1048576,
    )
    host_stripe_arrays: int = declared("RAID-5 arrays", "Arrays that the host stripes over", ge=2, le=256)
    adapter_mb_per_s: float = declared("10^6 bytes/s", "Rate of each array's host adapter", ge=1e-6, le=1e6)
    drive_scheduler: Literal["fcfs", "sstf", "look", "clook", "sptf"] = declared(
        "order", "Order in which a drive serves its queue"
    )
    drive_window: int = declared(
        "operations", "Number of oldest operations that a drive chooses from; others wait", ge=1, le=1048576
    )
    destage_low: float = declared(
        "share of the write cache", "Fill of the write cache above which destages begin", ge=0, lt=1
    )
    destage_high: float = declared(
        "share of the write cache",
        "Fill at which the number of destages reaches its maximum, rising linearly from destage_low on",
        gt=0,
        le=1,
    )
    destages: int = declared("stripes per array", "Maximum number of destages of one array at a time", ge=1, le=1048576)
    destage_unit: Literal["stripe", "strip"] = declared(
        "extent of a destage",
        "Whether a destage writes all dirty strips of a stripe, with one write of its parity, or a single strip",
    )
    destage_order: Literal["last", "first"] = declared(
        "write that sets a stripe's age",
        "Whether a stripe's age counts from its last or from its first write; the oldest stripe is destaged first",
    )
    parity_from_cache: bool = declared(
        "boolean", "Whether parities are computed from the read cache's contents where it holds them"
    )
    staging: int | None = declared(
        "0 pages, 1 rest of the track, 2 track",
        "Pages that a miss outside a stream reads: the missing ones (0), also the later ones of their track (1), or "
        "the whole track (2)",
        ge=0,
        le=2,
    )
    contention_us: float | None = declared(
        "us per 1000 requests/s",
        "Delay at the end of every request, per 1000 requests per second to the whole machine",
        ge=0,
        le=1e3,
    )
    slices: int = field(default=1, kw_only=True)  # the machine has `slices` times as many arrays

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
        """Return a slice with one `divisor`-th of the caches and arrays.

        Parameters of one array or request stay the same, and so do the processors, which serve all slices.

        Raises
        ------
        ParameterError
            `divisor` does not divide the number of arrays.
        """
        if divisor < 1 or self.arrays % divisor:
            divisors = ", ".join(str(n) for n in range(1, self.arrays + 1) if self.arrays % n == 0)
            raise ParameterError(f"{self.arrays} arrays cannot be divided by {divisor!r}; expected one of {divisors}")
        return replace(
            self,
            arrays=self.arrays // divisor,
            cache_mb=self.cache_mb / divisor,
            write_cache_mb=self.write_cache_mb / divisor,
            slices=self.slices * divisor,
        )

    @property
    def stations(self):
        """``(stations, servers, echoes)``: processor queues, processors per queue, other slices that a queue serves."""
        if self.processor_queue == "none":
            return 1, 0, 0
        if self.processor_queue == "shared":
            return 1, self.processors, self.slices - 1
        stations = min(self.processors, self.arrays)
        return stations, 1, self.slices * stations // self.processors - 1

    @property
    def host_strip_pages(self):
        """Consecutive pages that the host puts on one array; more than any unit has if the host does not stripe."""
        return self.host_stripe_kb * 1024 // PAGE or NOT_STRIPED

    @property
    def host_stripe_width(self):
        """Arrays over which the host stripes a unit."""
        return self.host_stripe_arrays if self.host_stripe_kb else 1

    def host_turn(self, track):
        """Return the length in pages that must divide the length of every unit that the host stripes.

        It is the shortest length that puts whole strips and whole tracks of `track` pages on each array; without
        striping, it is one track.
        """
        width = self.host_stripe_width
        return math.lcm(width * track, width * self.host_strip_pages if self.host_stripe_kb else 1)

    def check(self):
        """Check all values; raise a `ParameterError` that names an invalid value and the allowed range."""
        super().check("host_slots", "controller_us", "contention_us", "staging")
        least = MAX_PAGES * PAGE / MB / (1 - self.destage_low)  # the longest request must fit above `destage_low`
        tests = {
            "destage_high": (self.destage_low < self.destage_high, f"more than destage_low, {self.destage_low:g}"),
            "write_cache_mb": (self.write_cache_mb >= least, f"at least {least:g} MB, which a request needs"),
            "slices": (1 <= self.slices <= 256, "1 to 256 slices"),
            "processor_queue": (
                self.processor_queue != "own"
                or (
                    self.arrays * self.slices % self.processors == 0
                    and (self.arrays <= self.processors or self.arrays % self.processors == 0)
                ),
                f"none, shared, or own with processors that serve equally many of the {self.arrays} arrays in each of"
                f" {self.slices} slices",
            ),
            "host_stripe_kb": (self.host_stripe_kb * 1024 % PAGE == 0, f"a multiple of {PAGE // 1024} KB"),
        }
        for name, (good, expected) in tests.items():
            if not good:
                raise ParameterError(f"{name} is {getattr(self, name)!r}; expected {expected}")


class StorageController:
    """A running controller, which starts with an empty cache at time 0.

    Parameters
    ----------
    controller : Controller
    drive : Description or None
        Description of the drives, from `misspenalty.disks.load`. None = caches only: missing pages arrive at once, and
        nothing is destaged.
    cache : TrackCache
        A cache of ``controller.cache_pages`` pages, from `misspenalty.prefetch.sequential.prefetcher.track_cache`.
    pages : int
        Pages of the volume.

    Raises
    ------
    ParameterError
        A parameter is invalid, the volume does not fit on the drives or has more tracks than the cache covers, or a
        strip is not a whole number of tracks.
    """

    def __init__(self, controller, drive, cache, pages):
        controller.check()
        if pages < 1 or -(-pages // cache.track_pages) > cache.tracks:
            most = cache.tracks * cache.track_pages
            raise ParameterError(
                f"the volume has {pages} pages, but the cache covers {cache.tracks} tracks; expected 1 to {most} pages"
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
        stations, servers, echoes = controller.stations
        front = {
            "slots": controller.host_slots,
            "service": round(1000 * controller.controller_us),
            "transfer": round(1000 * PAGE / controller.adapter_mb_per_s),
            "stations": stations,
            "servers": servers,
            "echoes": echoes,
            "strip": controller.host_strip_pages,
            "width": controller.host_stripe_width,
            "from_cache": controller.parity_from_cache,
            "staging": controller.staging,
        }
        room = controller.write_cache_pages
        marks = (
            room,
            int(controller.destage_low * room),
            int(controller.destage_high * room),
            controller.destages,
            controller.destage_unit == "stripe",
            controller.destage_order == "last",
        )
        number = controller.arrays * controller.array_members
        drives = (
            []
            if drive is None
            else [drive.drive(controller.drive_scheduler, controller.drive_window) for _ in range(number)]
        )
        self.cache, self.pages, self._controller = cache, pages, controller
        self._turn = controller.host_turn(cache.track_pages)
        self._kernel = Array(cache, front, drives, layout, marks, pages)
        self._busy, self._staged = 0, np.zeros(len(STAGED), np.int64)

    def load(self, iops):
        """Set the request rate to which the delay for contention is proportional.

        Parameters
        ----------
        iops : float
            Requests per second that arrive at this slice from now on.
        """
        self._kernel.delay = round(self._controller.contention_us * iops * self._controller.slices)

    def run_workload(self, workload, bases, until_ns):
        """Continue with the requests of a generator; the GIL is released meanwhile.

        Parameters
        ----------
        workload : Spc1
            From `misspenalty.traces.spc1.Workload.start`.
        bases : sequence of int
            First page of each of the workload's units, and the end of the last; each is the first page of a track.
        until_ns : int
            Events at or after this time stay pending.

        Returns
        -------
        Interval
            What happened since the last call.
        """
        bases = np.asarray(bases, np.int64)
        lengths = np.array(workload.blocks)
        track = self.cache.track_pages
        if bases.shape != (len(lengths) + 1,) or bases.min() < 0 or bases.max() > self.pages:
            raise ParameterError(
                f"bases are {bases.tolist()}; expected {len(lengths) + 1}, one more than the units, within the"
                f" {self.pages} pages of the volume"
            )
        if (bases % track).any() or (np.diff(bases) < lengths).any():
            raise ParameterError(
                f"bases are {bases.tolist()}; expected first pages of tracks, with room for {lengths.tolist()} pages"
            )
        for length in np.diff(bases):
            self._check_striped(int(length))
        if workload.due < self._kernel.now:
            raise ParameterError(
                f"the next request arrives at {workload.due} ns, but it is already {self._kernel.now} ns"
            )
        begin = self._begin(until_ns)
        self._kernel.run_workload(workload, bases, until_ns)
        return self._interval(begin)

    def run(self, time_ns, page, pages, write, until_ns):
        """Continue with the given requests.

        Parameters
        ----------
        time_ns, page : int64, shape (n,)
            Arrival times in order, not before the time reached, and first pages.
        pages : int32, shape (n,)
            Lengths, 1 to `MAX_PAGES`.
        write : bool, shape (n,)
        until_ns : int
            Events at or after this time stay pending; it must be later than the last arrival.

        Returns
        -------
        Interval
            What happened since the last call.
        """
        time_ns, page = np.ascontiguousarray(time_ns, np.int64), np.ascontiguousarray(page, np.int64)
        pages, write = np.ascontiguousarray(pages, np.int32), np.ascontiguousarray(write, np.uint8)
        self._check_striped(self.pages)
        begin = self._begin(until_ns)
        if not time_ns.shape == page.shape == pages.shape == write.shape == (time_ns.size,):
            raise ParameterError("the columns of the requests differ in length")
        if time_ns.size:
            if time_ns[0] < begin or time_ns[-1] >= until_ns or (time_ns[1:] < time_ns[:-1]).any():
                raise ParameterError(f"arrivals are not in order between {begin} and {until_ns} ns")
            if page.min() < 0 or pages.min() < 1 or pages.max() > MAX_PAGES or (page > self.pages - pages).any():
                raise ParameterError(
                    f"a request is out of range; expected 1 to {MAX_PAGES} pages within {self.pages} pages"
                )
        self._kernel.run(time_ns, page, pages, write, self.pages, until_ns)
        return self._interval(begin)

    def _check_striped(self, pages):
        """Refuse a unit that the host cannot deal out evenly, in whole strips and whole tracks."""
        if pages % self._turn and self._turn > self.cache.track_pages:
            raise ParameterError(
                f"a unit has {pages} pages; expected a multiple of {self._turn}, which the host can deal to its arrays"
                " in whole turns and whole tracks"
            )

    def _begin(self, until_ns):
        if until_ns < self._kernel.now:
            raise ParameterError(f"until_ns is {until_ns}, but {self._kernel.now} ns has already been reached")
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
