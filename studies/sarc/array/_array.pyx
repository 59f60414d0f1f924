"""Implement the kernel of the storage controller's front end; the model is defined in controller.py.

Host requests come from the workload's generator or from NumPy arrays, one buffer at a time; the events that follow from
them are in the back end's queue.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from misspenalty._divide cimport divisor, quotient
from misspenalty._kernel cimport check_signals
from misspenalty.disks.drive._drive cimport record_t
from misspenalty.policies._track_cache cimport DEMAND, TrackCache, mark_t, read_t
from misspenalty_studies.sarc.array._back_end cimport (
    AT_COMPLETE, AT_DRIVE, AT_PROCESSED, COUNTS, DIRTY_READS, PREFETCH_READS, READ_HITS, READ_WAITS, READS, WRITES, BackEnd,
)
from misspenalty.engine._engine cimport event_t, make_event, pop, priority_of, push, serve, server_t
from misspenalty_studies.sarc.array._flights cimport add_flight, home
from misspenalty_studies.sarc.array._host cimport next_stretch, placed, stretch_t, stripes_t
from misspenalty_studies.sarc.array._operations cimport NONE, operation_t
from misspenalty_studies.sarc.array._processors cimport free_station, make_station, process, station_t
from misspenalty_studies.sarc.array._raid cimport array_of, next_piece, piece_t
from misspenalty_studies.sarc.array._requests cimport (
    ADAPTER, ADAPTER_QUEUE, COMPONENTS, CONTROLLER, DISK_BUS, DISK_CACHE, DISK_OVERHEAD, DISK_QUEUE, DISK_TRANSFER,
    ACCESSES, HOST_QUEUE, IN_FLIGHT, NOBODY, RANDOM_ACCESS, SEQUENTIAL_ACCESS, UNKNOWN_ACCESS, ROTATION, SEEK, WRITE_CACHE, arrival_t, free_request, free_waiter, leave_line, line_t, line_up, new_request,
    new_waiter, request_t, requests_t, waiters_t,
)
from misspenalty_studies.sarc.array._write_cache cimport all_dirty, clean_pages, destages_wanted, warm_stripe, write_pages
from misspenalty.traces._spc1 cimport SEQUENTIAL, Spc1, next_request, spc1_request_t

cdef enum:
    CHUNK = 1024                    # capacity of the buffer, host requests


cdef struct front_t:
    int64_t slots                   # maximum number of requests per array that the host has in progress
    int64_t service                 # service time of a request at a processor, ns
    int64_t transfer                # transfer time of a page between host and adapter, ns
    int64_t stations                # stations of processors; array i goes to station i modulo this number
    int64_t servers                 # processors of a station; 0 = none, and the service is a delay at the end
    int64_t echoes                  # other slices of the machine that each station also serves
    int64_t strip                   # consecutive pages of a unit on one array; longer than any unit = not striped
    int64_t width                   # arrays over which the host stripes a unit
    bint from_cache                 # whether a parity is computed from pages in the read cache
    int64_t staging                 # a miss reads: 0 = missing pages, 1 = also later pages of the track, 2 = the track


cdef struct port_t:                 # the front end of one array
    line_t line                     # requests that wait for a slot
    int64_t running                 # slots taken
    server_t adapter                # its host adapter


cdef class Array(BackEnd):
    """A running controller.

    Call `run` or `run_workload` with increasing times, and `drain_counters` after each call.
    """

    cdef readonly TrackCache cache
    cdef front_t front
    cdef port_t* ports              # one per array
    cdef station_t* stations        # processors
    cdef stripes_t stripes          # where the host puts its pages
    cdef requests_t requests
    cdef waiters_t waiters
    cdef line_t stalled             # writes that wait for room in the write cache
    cdef arrival_t[CHUNK] buffer    # requests that have not arrived yet
    cdef Py_ssize_t cursor, filled  # next request in the buffer, end of the buffer
    cdef int64_t serial             # requests so far
    cdef readonly int64_t backlog   # requests in progress or waiting
    cdef public int64_t delay       # delay at the end of every request, ns, which depends on the load
    cdef int64_t[2][COMPONENTS] spent  # time spent by reads and by writes, ns, since the last `drain_counters`
    cdef int64_t[ACCESSES][2] labels  # tracks accessed, by the request's source and whether labelled sequential
    cdef int64_t[2] response        # response times of reads and of writes, ns, summed since the last `drain_counters`

    def __cinit__(self, TrackCache cache not None, front, drives, layout, marks, pages):
        cdef int64_t i
        self.connect(list(drives), layout, marks, pages, cache.track_pages)
        self.cache, self.front = cache, front
        self.from_cache = self.front.from_cache
        self.stripes.strip, self.stripes.width = divisor(self.front.strip), divisor(self.front.width)
        self.stripes.track = self.by_track
        self.uses(cache)
        self.requests.free = self.waiters.free = self.stalled.first = NOBODY
        self.ports = <port_t*>self.allocate(self.raid.arrays, sizeof(port_t))
        self.stations = <station_t*>self.allocate(self.front.stations, sizeof(station_t))
        for i in range(self.front.stations):
            make_station(&self.stations[i], self.front.servers, self.front.echoes)
        for i in range(self.raid.arrays):
            self.ports[i].line.first = NOBODY

    def __dealloc__(self):
        cdef int64_t i
        for i in range(self.front.stations if self.stations != NULL else 0):
            free_station(&self.stations[i])
        free(self.requests.all)
        free(self.waiters.all)

    # --- where requests come from -----------------------------------------------------------------------------------

    def run_workload(self, Spc1 workload not None, const int64_t[::1] bases, int64_t until):
        """Continue up to `until`, ns, with the requests of a generator.

        `bases` are the first pages of the generator's units, and the end of the last one.
        """
        cdef spc1_request_t drawn
        cdef arrival_t* arrival
        cdef const int64_t* base = &bases[0]
        self.check_whole()
        with self, workload, nogil:
            while workload.state.due < until:
                while self.filled < CHUNK and workload.state.due < until:
                    next_request(&workload.state, &drawn)
                    arrival = &self.buffer[self.filled]
                    arrival.time = drawn.time
                    arrival.page = base[drawn.asu] + drawn.block
                    arrival.base = base[drawn.asu]
                    arrival.part = (base[drawn.asu + 1] - base[drawn.asu]) // self.front.width
                    arrival.pages = drawn.blocks
                    arrival.write = drawn.write
                    arrival.kind = (
                        SEQUENTIAL_ACCESS if workload.state.kinds[drawn.stream].pattern == SEQUENTIAL
                        else RANDOM_ACCESS
                    )
                    self.place(arrival)
                    self.cache.warm(quotient(arrival.placed, &self.by_track), True)
                    if arrival.write:
                        warm_stripe(&self.writes, &self.raid, arrival.placed, True)
                    self.filled += 1
                self.work(until)
                check_signals()
            self.work(until)
            self.now = until

    def run(self, const int64_t[::1] time, const int64_t[::1] page, const int32_t[::1] pages,
            const uint8_t[::1] write, int64_t volume, int64_t until):
        """Continue up to `until`, ns, with the given requests, which are in order of time.

        The volume has `volume` pages.
        """
        cdef arrival_t* arrival
        cdef Py_ssize_t i
        self.check_whole()
        with self, nogil:
            for i in range(time.shape[0]):
                arrival = &self.buffer[self.filled]
                arrival.time, arrival.page, arrival.pages, arrival.write = time[i], page[i], pages[i], write[i]
                arrival.base, arrival.part, arrival.kind = 0, volume // self.front.width, UNKNOWN_ACCESS
                self.place(arrival)
                self.filled += 1
                if self.filled == CHUNK:
                    check_signals()             # if this raises, `check_whole` detects the lost requests
                    self.work(until)
            self.work(until)
            self.now = until

    cdef void place(self, arrival_t* arrival) noexcept nogil:
        """Set the controller's number of a request's first page, and the array that holds it."""
        arrival.placed = placed(&self.stripes, arrival, arrival.page)
        arrival.array = <int32_t>array_of(&self.raid, quotient(arrival.placed, &self.raid.by_stripe))

    cdef int check_whole(self) except -1:
        """Refuse to continue if an exception or Ctrl-C ended the previous run before it had handled all its requests.

        With a generator, Ctrl-C loses no request: the next run continues with those that are left.
        """
        if self.filled:
            raise RuntimeError("the previous run did not end; make a new array")
        return 0

    @property
    def tracks_labelled(self):
        """Return the numbers of accessed tracks, by the request's true kind and by the cache's label."""
        return [[self.labels[kind][label] for label in range(2)] for kind in (RANDOM_ACCESS, SEQUENTIAL_ACCESS)]

    def drain_counters(self):
        """Return ``(counts, spent, response)`` since the last call, and restart them from zero."""
        self.check_unused()
        counts = np.array([self.counts[i] for i in range(COUNTS)])
        spent = np.array([[self.spent[side][i] for i in range(COMPONENTS)] for side in range(2)])
        response = np.array([self.response[side] for side in range(2)])
        memset(self.counts, 0, sizeof(self.counts))
        memset(self.spent, 0, sizeof(self.spent))
        memset(self.response, 0, sizeof(self.response))
        return counts, spent, response

    # --- events -----------------------------------------------------------------------------------------------------

    cdef int work(self, int64_t until) except -1 nogil:
        """Handle buffered requests and the events up to `until`; if the buffer was full, stop at its last request."""
        cdef event_t event
        cdef bint more = self.filled == CHUNK
        while self.cursor < self.filled or not more:
            if self.cursor < self.filled and (
                self.queue.size == 0 or self.buffer[self.cursor].time < self.queue.events[0].time
            ):
                self.cursor += 1
                self.arrive(&self.buffer[self.cursor - 1])
            elif self.queue.size and self.queue.events[0].time < until:
                event = pop(&self.queue)
                if priority_of(event) == AT_DRIVE:
                    self.leave_drive(event.time, <int32_t>event.what)
                elif priority_of(event) == AT_PROCESSED:
                    self.look_up(event.time, <int32_t>event.what)
                else:
                    self.complete(event.time, <int32_t>event.what)
            else:
                break
        self.cursor = self.filled = 0
        return 0

    cdef int arrive(self, const arrival_t* arrival) except -1 nogil:
        cdef int32_t which = new_request(&self.requests)
        cdef request_t* request = &self.requests.all[which]
        cdef port_t* port
        memset(request, 0, sizeof(request_t))
        request.asked = arrival[0]
        request.serial = self.serial
        self.serial += 1
        self.backlog += 1
        port = &self.ports[arrival.array]
        if port.running < self.front.slots:
            port.running += 1
            self.start(arrival.time, which)
        else:
            line_up(&self.requests, &port.line, which)
        return 0

    cdef int start(self, int64_t now, int32_t which) except -1 nogil:
        """Send a request from the host to a processor or, if there are none, straight to the cache."""
        cdef request_t* request = &self.requests.all[which]
        cdef int64_t done
        request.parts[HOST_QUEUE] = now - request.asked.time
        if self.front.servers == 0:
            return self.look_up(now, which)
        done = process(&self.stations[request.asked.array % self.front.stations], now, self.front.service)
        request.parts[CONTROLLER] = done - now
        self.cache.warm(quotient(request.asked.placed, &self.by_track), False)
        if request.asked.write:
            warm_stripe(&self.writes, &self.raid, request.asked.placed, False)
        push(&self.queue, make_event(done, AT_PROCESSED, request.serial, which))
        return 0

    cdef int look_up(self, int64_t now, int32_t which) except -1 nogil:
        """Look up a request's tracks in the cache; with drives, a write also needs room in the write cache."""
        self.requests.all[which].since = now
        if not self.requests.all[which].asked.write:
            self.read(now, which)
            if self.requests.all[which].left == 0:
                self.finish(now, which)
            return 0
        self.pass_through(which)
        if self.n_drives == 0:
            self.finish(now, which)
        elif self.stalled.first == NOBODY and self.fits(which):
            self.admit(now, which)
        else:
            line_up(&self.requests, &self.stalled, which)
            self.destage_everywhere(now)
        return 0

    cdef int finish(self, int64_t now, int32_t which) except -1 nogil:
        """Transfer the data of a request over the host adapter, and schedule its completion."""
        cdef request_t* request = &self.requests.all[which]
        cdef int64_t transfer = request.asked.pages * self.front.transfer
        cdef int64_t done = serve(&self.ports[request.asked.array].adapter, now, transfer)
        request.parts[ADAPTER_QUEUE] = done - transfer - now
        request.parts[ADAPTER] = transfer
        request.parts[CONTROLLER] += self.delay
        done += self.delay
        if self.front.servers == 0:
            request.parts[CONTROLLER] += self.front.service
            done += self.front.service
        push(&self.queue, make_event(done, AT_COMPLETE, request.serial, which))
        return 0

    cdef int complete(self, int64_t now, int32_t which) except -1 nogil:
        """Complete a request, and assign its slot to the next one in the queue."""
        cdef request_t* request = &self.requests.all[which]
        cdef port_t* port = &self.ports[request.asked.array]
        cdef bint write = request.asked.write
        cdef int i
        self.counts[WRITES if write else READS] += 1
        self.response[write] += now - request.asked.time
        for i in range(COMPONENTS):
            self.spent[write][i] += request.parts[i]
        free_request(&self.requests, which)
        self.backlog -= 1
        if port.line.first == NOBODY:
            port.running -= 1
        else:
            self.start(now, leave_line(&self.requests, &port.line))
        return 0

    # --- writes -----------------------------------------------------------------------------------------------------

    cdef bint fits(self, int32_t which) noexcept nogil:
        """Return whether the write cache has room for a write."""
        cdef arrival_t* asked = &self.requests.all[which].asked
        cdef int64_t page = asked.page, clean = 0
        cdef stretch_t at
        while page < asked.page + asked.pages:
            at = next_stretch(&self.stripes, asked, page)
            clean += clean_pages(&self.writes, &self.raid, at.track * self.track + at.first, at.pages)
            page += at.pages
        return self.writes.used + clean <= self.writes.room

    cdef int admit(self, int64_t now, int32_t which) except -1 nogil:
        cdef arrival_t asked = self.requests.all[which].asked
        cdef int64_t page = asked.page
        cdef stretch_t at
        self.requests.all[which].parts[WRITE_CACHE] = now - self.requests.all[which].since
        while page < asked.page + asked.pages:
            at = next_stretch(&self.stripes, &asked, page)
            write_pages(
                &self.writes, &self.raid, at.track * self.track + at.first, at.pages,
                self.requests.all[which].known >> (page - asked.page)
            )
            page += at.pages
        self.finish(now, which)
        page = asked.page
        while page < asked.page + asked.pages and destages_wanted(&self.writes):
            at = next_stretch(&self.stripes, &asked, page)
            self.destage(now, array_of(&self.raid, quotient(at.track * self.track, &self.raid.by_stripe)))
            page += at.pages
        return 0

    cdef uint8_t held(self, int64_t track) noexcept nogil:
        """Return a mask of a track's cached pages; it is 0 for a track of the last stripe that lies beyond the
        volume."""
        return self.cache.cached(track) if track < self.cache.tracks else 0

    cdef int drained(self, int64_t now) except -1 nogil:
        while self.stalled.first != NOBODY and self.fits(self.stalled.first):
            self.admit(now, leave_line(&self.requests, &self.stalled))
        return 0

    # --- reads ------------------------------------------------------------------------------------------------------

    cdef int pass_through(self, int32_t which) except -1 nogil:
        """Pass a write through the cache, track by track."""
        cdef arrival_t asked = self.requests.all[which].asked
        cdef int64_t page = asked.page
        cdef uint64_t known
        cdef uint8_t wanted, missing
        cdef stretch_t at
        while page < asked.page + asked.pages:
            at = next_stretch(&self.stripes, &asked, page)
            wanted = <uint8_t>(((1 << at.pages) - 1) << at.first)
            missing = self.cache.request(at.track, wanted, True, at.end)
            if self.from_cache:
                known = <uint64_t>((wanted & ~missing) >> at.first)
                self.requests.all[which].known |= known << (page - asked.page)
            self.note_label(at.track, asked.kind)
            page += at.pages
        return 0

    cdef int read(self, int64_t now, int32_t which) except -1 nogil:
        """Look up the tracks of a read, and let it wait for missing pages and for those in flight."""
        cdef arrival_t asked = self.requests.all[which].asked
        cdef int64_t page = asked.page, first
        cdef uint8_t wanted, missing, missed = 0
        cdef stretch_t at
        self.cache.read_tracks = <int32_t>quotient(min(asked.pages, self.front.strip) + self.track - 1, &self.by_track)
        while page < asked.page + asked.pages:
            at = next_stretch(&self.stripes, &asked, page)
            first = at.track * self.track + at.first
            wanted = <uint8_t>(((1 << at.pages) - 1) << at.first)
            missing = self.cache.request(at.track, self.staged(at.track, wanted), False, at.end) & wanted
            self.note_label(at.track, asked.kind)
            missed |= missing
            if wanted != missing and self.flights.size:
                self.join(which, at.track, first, first + at.pages)
            self.stage(now, which)
            page += at.pages
        self.counts[READ_HITS] += missed == 0
        self.counts[READ_WAITS] += self.requests.all[which].left > 0
        self.counts[DIRTY_READS] += missed != 0 and self.requests.all[which].left == 0
        return 0

    cdef uint8_t staged(self, int64_t track, uint8_t wanted) noexcept nogil:
        """Return the pages to request from the cache: those that a read needs and, if one is missing, those that a miss
        adds."""
        cdef uint8_t missing = 0, rest
        if self.front.staging:
            missing = wanted & ~self.cache.cached(track)
        if missing == 0:
            return wanted
        rest = <uint8_t>((1 << self.track) - 1)
        if self.front.staging == 1:
            rest &= <uint8_t>~((missing & -missing) - 1)
        return wanted | rest

    cdef void note_label(self, int64_t track, int kind) noexcept nogil:
        """Count an accessed track by the true kind of its request and by whether the cache labels it sequential."""
        cdef mark_t* mark = self.cache.mark(track)
        self.labels[kind][mark != NULL and mark.counter == self.cache.sequential.threshold] += 1

    cdef int stage(self, int64_t now, int32_t which) except -1 nogil:
        """Issue the reads that the cache requests, combining neighbouring pages."""
        cdef int i = 0
        cdef read_t* reads = &self.cache.reads[0]
        cdef int64_t page, end, first
        cdef uint8_t mask
        while i < self.cache.n_reads:
            mask = reads[i].pages
            first = 0
            while mask >> first:
                while not mask >> first & 1:
                    first += 1
                page = reads[i].track * self.track + first
                while first < self.track and mask >> first & 1:
                    first += 1
                end = reads[i].track * self.track + first
                while (end % self.track == 0 and i + 1 < self.cache.n_reads and reads[i + 1].why == reads[i].why
                       and reads[i + 1].track * self.track == end and reads[i + 1].pages & 1):
                    i += 1
                    mask = reads[i].pages
                    first = 0
                    while first < self.track and mask >> first & 1:
                        first += 1
                    end += first
                self.fetch(now, page, end, which if reads[i].why == DEMAND else NOBODY)
            i += 1
        return 0

    cdef int fetch(self, int64_t now, int64_t page, int64_t end, int32_t which) except -1 nogil:
        """Read pages from the drives that hold them, for a request or, with NOBODY, as a prefetch."""
        cdef piece_t piece
        cdef int32_t operation
        cdef int64_t track
        while page < end and self.n_drives:
            piece = next_piece(&self.raid, page, end - page)
            if not all_dirty(&self.writes, &self.raid, page, piece.pages):
                operation = self.issue(now, piece, page, NONE, False)
                self.counts[PREFETCH_READS] += which == NOBODY
                for track in range(quotient(page, &self.by_track), quotient(page + piece.pages - 1, &self.by_track) + 1):
                    add_flight(&self.flights, track, operation)
                if which != NOBODY:
                    self.wait_for(which, operation, True)
            page += piece.pages
        return 0

    cdef int join(self, int32_t which, int64_t track, int64_t page, int64_t end) except -1 nogil:
        """Wait for pages of a track that are in flight."""
        cdef uint64_t place = home(&self.flights, track)
        cdef operation_t* operation
        cdef int32_t number
        while self.flights.slots[place].key:
            if self.flights.slots[place].key == track + 1:
                number = self.flights.slots[place].operation
                operation = &self.operations.all[number]
                if operation.page < end and page < operation.page + operation.piece.pages:
                    self.wait_for(which, number, False)
            place = (place + 1) & self.flights.mask
        return 0

    cdef int wait_for(self, int32_t which, int32_t number, bint own) except -1 nogil:
        cdef operation_t* operation = &self.operations.all[number]
        cdef int32_t waiter
        if operation.waiters != NOBODY and self.waiters.all[operation.waiters].request == which:
            return 0
        waiter = new_waiter(&self.waiters)
        self.waiters.all[waiter].request = which
        self.waiters.all[waiter].own = own
        self.waiters.all[waiter].next = operation.waiters
        operation.waiters = waiter
        self.requests.all[which].left += 1
        return 0

    cdef int landed(self, int64_t now, const operation_t* operation, const record_t* record) except -1 nogil:
        """Finish the requests that waited only for this operation, which is now complete; the newest waiter first."""
        cdef int32_t waiter = operation.waiters, after
        cdef request_t* request
        if waiter != NOBODY and self.cache.sequential.most:
            self.cache.arrive_late(quotient(operation.page, &self.by_track))
        while waiter != NOBODY:
            request = &self.requests.all[self.waiters.all[waiter].request]
            request.left -= 1
            if request.left == 0:
                if self.waiters.all[waiter].own:
                    request.parts[DISK_QUEUE] = record.queue
                    request.parts[DISK_OVERHEAD] = record.overhead
                    request.parts[SEEK] = record.seek
                    request.parts[ROTATION] = record.rotation
                    request.parts[DISK_TRANSFER] = record.transfer + record.switches
                    request.parts[DISK_BUS] = record.bus
                    request.parts[DISK_CACHE] = record.cache
                else:
                    request.parts[IN_FLIGHT] = now - request.since
                self.finish(now, self.waiters.all[waiter].request)
            after = self.waiters.all[waiter].next
            free_waiter(&self.waiters, waiter)
            waiter = after
        return 0
