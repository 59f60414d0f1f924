"""Simulate the storage controller in slow, readable code; the kernel has to agree with this to the nanosecond.

Everything is an explicit Python object: each drive operation, each set of dirty pages. The drives are those of
`misspenalty.disks` behind a first-come-first-served queue; the cache is the reference of the track cache.
"""

import heapq
import math
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, field

from misspenalty.policies.track_cache import DEMAND
from misspenalty_studies.sarc.array.controller import PAGE
from misspenalty_studies.sarc.array.interval import COMPONENTS, Interval

AT_DRIVE, AT_COMPLETE, AT_PROCESSED, ARRIVAL = range(4)
ECHO = 100_000_000  # ns between one copy of the slice's requests and the next
DISK = {
    "queue": "disk_queue",
    "overhead": "disk_overhead",
    "seek": "seek",
    "rotation": "rotation",
    "switch": "disk_transfer",
    "transfer": "disk_transfer",
    "bus": "disk_bus",
    "cache": "disk_cache",
}


@dataclass(eq=False)
class Request:
    """A host request in progress."""

    serial: int
    arrived: int
    page: int
    pages: int
    write: bool
    since: int = 0
    waits_for: list = field(default_factory=list)
    parts: Counter = field(default_factory=Counter)
    known: set = field(default_factory=set)  # pages that the cache held before they were written

    @property
    def range(self):
        """The pages of the request."""
        return range(self.page, self.page + self.pages)


@dataclass(eq=False)
class Operation:
    """Sectors of one drive to read or write: for the cache (`pages`) or for a destage."""

    drive: int
    lbn: int
    sectors: int
    write: bool
    pages: range | None = None
    destage: "Destage | None" = None
    waiting: list = field(default_factory=list)  # (request, whether the operation was issued for it)


@dataclass(eq=False)
class Destage:
    """Dirty pages of one stripe that are being written to its drives."""

    array: int
    stripe: int
    dirty: set
    old: set  # dirty pages whose old contents are in memory
    left: int = 0
    writing: bool = False


class Station:
    """Processors with one queue; they also serve other slices, whose requests are delayed copies of this slice's."""

    def __init__(self, servers, echoes):
        self.free, self.delays = [0] * servers, [(n + 1) * ECHO for n in range(echoes)]
        self.came, self.to_come = [], []

    def process(self, now, service):
        """Return the time at which a request that arrives now completes."""
        while self.to_come and self.to_come[0] <= now:
            self.occupy(heapq.heappop(self.to_come), service)
        for delay in self.delays:
            heapq.heappush(self.to_come, now + delay)
        return self.occupy(now, service)

    def occupy(self, now, service):
        """Assign the request to the server that is free first."""
        done = max(heapq.heappop(self.free), now) + service
        heapq.heappush(self.free, done)
        return done


class Reference:
    """One run; the parameters are those of `misspenalty_studies.sarc.array.controller.StorageController`."""

    def __init__(self, controller, drive, cache, pages):
        self.c, self.cache, self.pages = controller, cache, pages
        self.strip, self.track = controller.strip_kb * 1024 // PAGE, cache.whole.bit_length()
        number = controller.arrays * controller.array_members
        self.drives = [drive.drive("fcfs", 1) for _ in range(number)]
        self.queues = [deque() for _ in range(number)]
        self.serving = [None] * number
        revolution = drive.mechanics.revolution_ns
        self.turned = [i * revolution // number for i in range(number)]
        self.lines = [deque() for _ in range(controller.arrays)]
        self.running = [0] * controller.arrays
        self.adapter_free = [0] * controller.arrays
        stations, servers, echoes = controller.stations
        self.stations = [Station(servers, echoes) for _ in range(stations)]
        self.stalled = deque()
        self.dirty = [OrderedDict() for _ in range(controller.arrays)]  # stripe -> pages, oldest first
        self.destaging = [0] * controller.arrays
        self.old = {}  # stripe -> dirty pages whose old contents are in memory
        self.used = 0
        self.on_the_way = []  # drive reads in flight for the cache
        self.events, self.serial, self.now = [], 0, 0
        self.counts, self.spent, self.response = Counter(), (Counter(), Counter()), [0, 0]
        self.delay = 0

    def load(self, iops):
        self.delay = round(self.c.contention_us * iops * self.c.slices)

    # --- where pages lie --------------------------------------------------------------------------------------------

    def stripe_of(self, page):
        return page // self.c.stripe_pages

    def array_of(self, stripe):
        return stripe // self.c.stripes_per_turn % self.c.arrays

    def place(self, stripe, strip, first, end):
        """Return (drive, first sector, sectors) of pages of a strip; the last strip is the parity."""
        members, turn = self.c.array_members, self.c.stripes_per_turn
        row = stripe // (turn * self.c.arrays) * turn + stripe % turn
        parity = members - 1 - row % members
        member = parity if strip == members - 1 else (parity + 1 + strip) % members
        return self.array_of(stripe) * members + member, 8 * (row * self.strip + first), 8 * (end - first)

    def seen(self, page):
        """Return the controller's number of a host page, given that the host stripes its pages over a few arrays."""
        if not self.c.host_stripe_kb:
            return page
        width, strip = self.c.host_stripe_arrays, self.c.host_stripe_kb * 1024 // PAGE
        turn, within = divmod(page, strip * width)
        array, rest = divmod(within, strip)
        return array * self.part + turn * strip + rest

    @property
    def part(self):
        """Return the number of pages on each of the arrays that the host stripes over."""
        return self.pages // (self.c.host_stripe_arrays if self.c.host_stripe_kb else 1)

    def strips(self, pages):
        """Return pages in order, split where the drive changes."""
        cut = []
        for page in pages:
            if cut and page // self.strip == cut[-1][-1] // self.strip:
                cut[-1].append(page)
            else:
                cut.append([page])
        return cut

    # --- time -------------------------------------------------------------------------------------------------------

    def run(self, time_ns, page, pages, write, until_ns):
        """Run requests as `StorageController.run` does."""
        begin = self.now
        for values in zip(time_ns, page, pages, write, strict=True):
            time, first, length, writes = map(int, values)
            request = Request(self.serial, time, first, length, bool(writes))
            heapq.heappush(self.events, (time, ARRIVAL, self.serial, request))
            self.serial += 1
        handlers = {
            AT_DRIVE: self.drive_done,
            AT_COMPLETE: self.complete,
            AT_PROCESSED: self.look_up,
            ARRIVAL: self.arrive,
        }
        while self.events and self.events[0][0] < until_ns:
            self.now, kind, _, what = heapq.heappop(self.events)
            handlers[kind](what)
        self.now = until_ns
        return self.interval(begin)

    def interval(self, begin):
        """Return an `Interval` like the kernel's, but without the staged tracks, the utilisation and the state."""
        spent = [{name: side[name] for name in COMPONENTS} for side in self.spent]
        result = Interval((self.now - begin) / 1e9, dict(self.counts), {}, *spent, tuple(self.response), math.nan, {})
        self.counts, self.spent, self.response = Counter(), (Counter(), Counter()), [0, 0]
        return result

    def arrive(self, request):
        array = self.array_of(self.stripe_of(self.seen(request.page)))
        if self.running[array] < self.c.host_slots:
            self.running[array] += 1
            self.start(request)
        else:
            self.lines[array].append(request)

    def start(self, request):
        array = self.array_of(self.stripe_of(self.seen(request.page)))
        service = round(1000 * self.c.controller_us)
        request.parts["host_queue"] = self.now - request.arrived
        if self.c.processor_queue == "none":
            self.look_up(request)
            return
        done = self.stations[array % len(self.stations)].process(self.now, service)
        request.parts["controller"] = done - self.now
        heapq.heappush(self.events, (done, AT_PROCESSED, request.serial, request))

    def look_up(self, request):
        request.since = self.now
        if request.write:
            for track, mask in self.tracks(request):
                held = mask & ~self.cache.request(track, mask, True, self.end(track))
                if self.c.parity_from_cache:
                    request.known |= {track * self.track + bit for bit in range(self.track) if held >> bit & 1}
            if not self.stalled and self.fits(request):
                self.admit(request)
            else:
                self.stalled.append(request)
                self.destage_everywhere()
        else:
            self.read(request)
            if not request.waits_for:
                self.finish(request)

    def end(self, track):
        """Return the first track after the part of a host unit in which a track lies."""
        return (track * self.track // self.part + 1) * self.part // self.track

    def tracks(self, request):
        """Return (track, mask of pages) in the order of the host's pages; a track occurs twice if another is in
        between."""
        masks, before = [], None
        for page in map(self.seen, request.range):
            track, bit = divmod(page, self.track)
            if page - 1 != before or not masks or masks[-1][0] != track:
                masks.append((track, 0))
            masks[-1] = (track, masks[-1][1] | 1 << bit)
            before = page
        return masks

    def finish(self, request):
        array = self.array_of(self.stripe_of(self.seen(request.page)))
        transfer = request.pages * round(1000 * PAGE / self.c.adapter_mb_per_s)
        begins = max(self.now, self.adapter_free[array])
        self.adapter_free[array] = begins + transfer
        request.parts.update(adapter_queue=begins - self.now, adapter=transfer)
        done = begins + transfer + self.delay
        request.parts["controller"] += self.delay
        if self.c.processor_queue == "none":
            request.parts["controller"] += round(1000 * self.c.controller_us)
            done += round(1000 * self.c.controller_us)
        heapq.heappush(self.events, (done, AT_COMPLETE, request.serial, request))

    def complete(self, request):
        array = self.array_of(self.stripe_of(self.seen(request.page)))
        self.counts["writes" if request.write else "reads"] += 1
        self.response[request.write] += self.now - request.arrived
        self.spent[request.write].update(request.parts)
        if self.lines[array]:
            self.start(self.lines[array].popleft())
        else:
            self.running[array] -= 1

    # --- reads ------------------------------------------------------------------------------------------------------

    def read(self, request):
        missed = False
        strip = self.c.host_stripe_kb * 1024 // PAGE or request.pages
        self.cache.read_tracks = math.ceil(min(request.pages, strip) / self.track)
        for track, mask in self.tracks(request):
            absent = [bit for bit in range(self.track) if mask >> bit & 1 and not self.cache.cached(track) >> bit & 1]
            asked = mask
            if absent and self.c.staging:
                first = absent[0] if self.c.staging == 1 else 0
                asked |= sum(1 << bit for bit in range(first, self.track))
            missing = self.cache.request(track, asked, False, self.end(track)) & mask
            missed |= missing != 0
            present = mask & ~missing
            if present:
                wanted = {track * self.track + bit for bit in range(self.track) if mask >> bit & 1}
                for operation in [o for o in self.on_the_way if wanted & set(o.pages)]:
                    self.wait(request, operation, False)
            self.stage(request, list(self.cache.reads))
        self.counts["read_hits"] += not missed
        self.counts["read_waits"] += bool(request.waits_for)
        self.counts["dirty_reads"] += missed and not request.waits_for

    def stage(self, request, reads):
        """Read neighbouring pages of a strip in one operation if they are read for the same reason."""
        runs = []
        for track, mask, why in reads:
            for bit in range(self.track):
                page = track * self.track + bit
                if mask >> bit & 1:
                    if runs and runs[-1][0] == why and runs[-1][1][-1] == page - 1:
                        runs[-1][1].append(page)
                    else:
                        runs.append((why, [page]))
        for why, pages in runs:
            for part in self.strips(pages):
                self.fetch(request if why == DEMAND else None, part)

    def fetch(self, request, pages):
        stripe = self.stripe_of(pages[0])
        if set(pages) <= self.dirty[self.array_of(stripe)].get(stripe, set()):
            return
        strip, first = divmod(pages[0] - stripe * self.c.stripe_pages, self.strip)
        operation = Operation(
            *self.place(stripe, strip, first, first + len(pages)), False, range(pages[0], pages[-1] + 1)
        )
        self.counts["stage_reads"] += 1
        self.counts["prefetch_reads"] += request is None
        self.on_the_way.append(operation)
        if request is not None:
            self.wait(request, operation, True)
        self.issue(operation)

    def wait(self, request, operation, own):
        if operation not in request.waits_for:
            request.waits_for.append(operation)
            operation.waiting.append((request, own))

    # --- drives -----------------------------------------------------------------------------------------------------

    def issue(self, operation):
        self.queues[operation.drive].append((self.now, operation))
        if self.serving[operation.drive] is None:
            self.serve_next(operation.drive)

    def serve_next(self, number):
        if not self.queues[number]:
            self.serving[number] = None
            return
        issued, operation = self.queues[number].popleft()
        turned = self.turned[number]
        record = self.drives[number].service(self.now + turned, operation.lbn, operation.sectors, operation.write)
        record = record | {"queue": self.now - issued}
        self.serving[number] = operation, record
        heapq.heappush(self.events, (record["done"] - turned, AT_DRIVE, number, number))

    def drive_done(self, number):
        operation, record = self.serving[number]
        self.serve_next(number)
        if operation.destage:
            self.go_on(operation.destage)
            return
        self.on_the_way.remove(operation)
        if operation.waiting:
            self.cache.arrive_late(operation.pages[0] // self.track)
        for request, own in reversed(operation.waiting):
            request.waits_for.remove(operation)
            if not request.waits_for:
                if own:
                    for name, component in DISK.items():
                        request.parts[component] += record[name]
                else:
                    request.parts["in_flight"] = self.now - request.since
                self.finish(request)

    # --- writes and destages ----------------------------------------------------------------------------------------

    def fits(self, request):
        stripes = {page: self.stripe_of(page) for page in map(self.seen, request.range)}
        clean = [p for p, s in stripes.items() if p not in self.dirty[self.array_of(s)].get(s, ())]
        return self.used + len(clean) <= self.c.write_cache_pages

    def admit(self, request):
        request.parts["write_cache"] = self.now - request.since
        for page in map(self.seen, request.range):
            stripe = self.stripe_of(page)
            order = self.dirty[self.array_of(stripe)]
            pages = order.setdefault(stripe, set())
            if page not in pages:
                self.used += 1
                self.old.setdefault(stripe, set()).update({page} & request.known)
            pages.add(page)
            if self.c.destage_order == "last":
                order.move_to_end(stripe)
        self.finish(request)
        for page in map(self.seen, request.range):
            self.destage(self.array_of(self.stripe_of(page)))

    def wanted(self):
        room = self.c.write_cache_pages
        low, high = int(self.c.destage_low * room), int(self.c.destage_high * room)
        if self.used <= low:
            return 0
        return self.c.destages if self.used >= high else math.ceil(self.c.destages * (self.used - low) / (high - low))

    def destage_everywhere(self):
        for array in range(self.c.arrays):
            self.destage(array)

    def destage(self, array):
        wanted = self.wanted()
        while self.destaging[array] < wanted and self.dirty[array]:
            stripe, dirty = next(iter(self.dirty[array].items()))
            taken = set(dirty)
            if self.c.destage_unit == "strip":
                begin = stripe * self.c.stripe_pages
                first = (min(dirty) - begin) // self.strip
                taken = {page for page in dirty if (page - begin) // self.strip == first}
            destage = Destage(array, stripe, taken, self.old[stripe] & taken)
            dirty -= taken
            self.old[stripe] -= taken
            if not dirty:
                del self.dirty[array][stripe], self.old[stripe]
            self.destaging[array] += 1
            reads, _ = self.plan(destage)
            self.counts["destages"] += 1
            self.counts["full_destages"] += not reads
            self.step(destage, writing=not reads)

    def step(self, destage, writing):
        reads, writes = self.plan(destage)
        chosen = writes if writing else reads
        destage.writing, destage.left = writing, len(chosen)
        self.counts["destage_writes" if writing else "destage_reads"] += len(chosen)
        for place in chosen:
            self.issue(Operation(*place, writing, destage=destage))

    def go_on(self, destage):
        destage.left -= 1
        if destage.left:
            return
        if not destage.writing:
            self.step(destage, writing=True)
            return
        self.used -= len(destage.dirty)
        self.destaging[destage.array] -= 1
        while self.stalled and self.fits(self.stalled[0]):
            self.admit(self.stalled.popleft())
        self.destage_everywhere()

    def plan(self, destage):
        """Return the places to read and the places to write in the cheaper of the two ways to compute a parity."""
        first, data = destage.stripe * self.c.stripe_pages, self.c.array_members - 1
        dirty = [
            {p - first - s * self.strip for p in destage.dirty if (p - first) // self.strip == s} for s in range(data)
        ]
        low, high = min(map(min, filter(None, dirty))), max(map(max, filter(None, dirty))) + 1
        parity = self.place(destage.stripe, data, low, high)
        changed = [self.place(destage.stripe, s, min(d), max(d) + 1) for s, d in enumerate(dirty) if d]
        unknown = [
            self.place(destage.stripe, s, low, high)
            for s, d in enumerate(dirty)
            if not d | self.held(first + s * self.strip) >= set(range(low, high))
        ]
        old = {page - first for page in destage.old}
        missed = [
            place
            for place, s in zip(changed, (s for s, d in enumerate(dirty) if d), strict=True)
            if not old >= {page + s * self.strip for page in dirty[s]}
        ]
        reads = [*missed, parity] if len(unknown) > len(missed) else unknown
        return reads, [*changed, parity]

    def held(self, first):
        """Return the offsets of the pages of a strip that the read cache holds."""
        if not self.c.parity_from_cache:
            return set()
        pages = range(first, first + self.strip)
        return {p - first for p in pages if self.cache.cached(p // self.track) >> p % self.track & 1}
