"""Kernel of the storage controller's front end; the model is defined in array.py.

Host requests come from the workload's generator or from arrays, a buffer at a time; what follows from them stands in
the event queue of the back end.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

from misspenalty._kernel cimport check_signals
from misspenalty.disks.drive._drive cimport record_t
from misspenalty.policies._track_cache cimport DEMAND, TrackCache, mark_t, read_t
from misspenalty.systems.array._back_end cimport (
    AT_COMPLETE, AT_DRIVE, COUNTS, DIRTY_READS, READ_HITS, READ_WAITS, READS, WRITES, BackEnd,
)
from misspenalty.systems.engine._engine cimport event_t, make_event, pop, priority_of, push, serve, server_t
from misspenalty.systems.array._flights cimport add_flight, home
from misspenalty.systems.array._operations cimport NONE, operation_t
from misspenalty.systems.array._raid cimport array_of, next_piece, piece_t
from misspenalty.systems.array._requests cimport (
    ADAPTER, ADAPTER_QUEUE, COMPONENTS, CONTROLLER, DISK_BUS, DISK_CACHE, DISK_OVERHEAD, DISK_QUEUE, DISK_TRANSFER,
    ACCESSES, HOST_QUEUE, IN_FLIGHT, NOBODY, RANDOM_ACCESS, SEQUENTIAL_ACCESS, UNKNOWN_ACCESS, ROTATION, SEEK, WRITE_CACHE, arrival_t, free_request, free_waiter, leave_line, line_t, line_up, new_request,
    new_waiter, request_t, requests_t, waiters_t,
)
from misspenalty.systems.array._write_cache cimport all_dirty, clean_pages, write_pages
from misspenalty.traces._spc1 cimport SEQUENTIAL, Spc1, next_request, spc1_request_t

cdef enum:
    CHUNK = 1024                    # host requests held ready


cdef struct front_t:
    int64_t slots                   # requests of one array that the host has under way at most
    int64_t overhead                # of a request, ns
    int64_t transfer                # of a page between host and adapter, ns


cdef struct port_t:                 # what stands in front of one array
    line_t line                     # requests that wait for a slot
    int64_t running                 # slots taken
    server_t adapter                # its host adapter


cdef class Array(BackEnd):
    """One run: `run` or `run_workload` again and again up to a later time, `take` in between."""

    cdef readonly TrackCache cache
    cdef front_t front
    cdef port_t* ports              # one an array
    cdef requests_t requests
    cdef waiters_t waiters
    cdef line_t stalled             # writes that wait for room in the write cache
    cdef arrival_t[CHUNK] buffer    # requests to come
    cdef Py_ssize_t cursor, filled  # next one of the buffer, its end
    cdef int64_t serial             # requests so far
    cdef readonly int64_t backlog   # requests under way or waiting
    cdef int64_t[2][COMPONENTS] spent  # by reads, by writes, ns, since the last `take`
    cdef int64_t[ACCESSES][2] labels  # tracks accessed, by what sent the request and whether they were sequential
    cdef int64_t[2] response        # from arrival to completion, ns, since the last `take`

    def __cinit__(self, TrackCache cache not None, front, drives, layout, marks, pages):
        cdef int64_t i
        self.connect(list(drives), layout, marks, pages, cache.track_pages)
        self.cache, self.front = cache, front
        self.uses(cache)
        self.requests.free = self.waiters.free = self.stalled.first = NOBODY
        self.ports = <port_t*>calloc(self.raid.arrays, sizeof(port_t))
        if self.ports == NULL:
            raise MemoryError(f"no memory for {self.raid.arrays} arrays")
        for i in range(self.raid.arrays):
            self.ports[i].line.first = NOBODY

    def __dealloc__(self):
        free(self.ports)
        free(self.requests.all)
        free(self.waiters.all)

    # --- where requests come from -----------------------------------------------------------------------------------

    def run_workload(self, Spc1 workload not None, const int64_t[::1] bases, int64_t until):
        """Go on up to `until`, ns, with the requests of a generator; `bases` are the first pages of its units."""
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
                    arrival.end = base[drawn.asu + 1] // self.track
                    arrival.pages = drawn.blocks
                    arrival.write = drawn.write
                    arrival.kind = (
                        SEQUENTIAL_ACCESS if workload.state.kinds[drawn.stream].pattern == SEQUENTIAL
                        else RANDOM_ACCESS
                    )
                    self.filled += 1
                self.work(until)
                check_signals()
            self.work(until)
            self.now = until

    def run(self, const int64_t[::1] time, const int64_t[::1] page, const int32_t[::1] pages,
            const uint8_t[::1] write, int64_t end, int64_t until):
        """Go on up to `until`, ns, with the requests given, in order of time from the time reached."""
        cdef arrival_t* arrival
        cdef Py_ssize_t i
        self.check_whole()
        with self, nogil:
            for i in range(time.shape[0]):
                arrival = &self.buffer[self.filled]
                arrival.time, arrival.page, arrival.pages, arrival.write = time[i], page[i], pages[i], write[i]
                arrival.end, arrival.kind = end, UNKNOWN_ACCESS
                self.filled += 1
                if self.filled == CHUNK:
                    self.work(until)
                    check_signals()
            self.work(until)
            self.now = until

    cdef int check_whole(self) except -1:
        """Refuse to go on after a run that ended in an exception."""
        if self.filled:
            raise RuntimeError("the run before ended with an error; expected a new array")
        return 0

    @property
    def tracks_labelled(self):
        """Tracks accessed by random and by sequential requests, each not labelled sequential and labelled so."""
        return [[self.labels[kind][label] for label in range(2)] for kind in (RANDOM_ACCESS, SEQUENTIAL_ACCESS)]

    def drain_counters(self):
        """``(counts, spent, response)`` since the last call; they start again from zero."""
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
        """Empty the buffer; what happens behind its last request waits where more may follow, that is: it was full."""
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
        request.array = <int32_t>array_of(&self.raid, arrival.page // self.raid.stripe)
        self.serial += 1
        self.backlog += 1
        port = &self.ports[request.array]
        if port.running < self.front.slots:
            port.running += 1
            self.start(arrival.time, which)
        else:
            line_up(&self.requests, &port.line, which)
        return 0

    cdef int start(self, int64_t now, int32_t which) except -1 nogil:
        """The host sends a request; the cache looks its tracks up."""
        cdef request_t* request = &self.requests.all[which]
        request.parts[HOST_QUEUE] = now - request.asked.time
        request.since = now
        if not request.asked.write:
            self.read(now, which)
            if self.requests.all[which].left == 0:
                self.finish(now, which)
            return 0
        self.look_up(now, which)
        if self.n_drives == 0:
            self.finish(now, which)
        elif self.stalled.first == NOBODY and self.fits(which):
            self.admit(now, which)
        else:
            line_up(&self.requests, &self.stalled, which)
            self.destage_everywhere(now)
        return 0

    cdef int finish(self, int64_t now, int32_t which) except -1 nogil:
        """Data crosses the host adapter; then the request is complete."""
        cdef request_t* request = &self.requests.all[which]
        cdef int64_t transfer = request.asked.pages * self.front.transfer
        cdef int64_t done = serve(&self.ports[request.array].adapter, now, transfer)
        request.parts[ADAPTER_QUEUE] = done - transfer - now
        request.parts[ADAPTER] = transfer
        request.parts[CONTROLLER] = self.front.overhead
        push(&self.queue, make_event(done + self.front.overhead, AT_COMPLETE, request.serial, which))
        return 0

    cdef int complete(self, int64_t now, int32_t which) except -1 nogil:
        """The host has its answer; the next request takes the slot."""
        cdef request_t* request = &self.requests.all[which]
        cdef port_t* port = &self.ports[request.array]
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
        """Whether the write cache has room for a write."""
        cdef arrival_t* asked = &self.requests.all[which].asked
        return self.writes.used + clean_pages(&self.writes, &self.raid, asked.page, asked.pages) <= self.writes.room

    cdef int admit(self, int64_t now, int32_t which) except -1 nogil:
        cdef request_t* request = &self.requests.all[which]
        cdef int64_t stripe, last = (request.asked.page + request.asked.pages - 1) // self.raid.stripe
        request.parts[WRITE_CACHE] = now - request.since
        write_pages(&self.writes, &self.raid, request.asked.page, request.asked.pages)
        self.finish(now, which)
        for stripe in range(request.asked.page // self.raid.stripe, last + 1):
            self.destage(now, array_of(&self.raid, stripe))
        return 0

    cdef int drained(self, int64_t now) except -1 nogil:
        while self.stalled.first != NOBODY and self.fits(self.stalled.first):
            self.admit(now, leave_line(&self.requests, &self.stalled))
        return 0

    # --- reads ------------------------------------------------------------------------------------------------------

    cdef int look_up(self, int64_t now, int32_t which) except -1 nogil:
        """A write passes through the cache, track by track."""
        cdef arrival_t asked = self.requests.all[which].asked
        cdef int64_t first, n, page = asked.page, last = asked.page + asked.pages
        while page < last:
            first = page % self.track
            n = min(last - page, self.track - first)
            self.cache.request(page // self.track, <uint8_t>(((1 << n) - 1) << first), True, asked.end)
            self.note_label(page // self.track, asked.kind)
            page += n
        return 0

    cdef int read(self, int64_t now, int32_t which) except -1 nogil:
        """A read looks its tracks up; it waits for what is missing and for what is on its way."""
        cdef arrival_t asked = self.requests.all[which].asked
        cdef int64_t first, n, page = asked.page, last = asked.page + asked.pages
        cdef uint8_t wanted, missing, missed = 0
        while page < last:
            first = page % self.track
            n = min(last - page, self.track - first)
            wanted = <uint8_t>(((1 << n) - 1) << first)
            missing = self.cache.request(page // self.track, wanted, False, asked.end)
            self.note_label(page // self.track, asked.kind)
            missed |= missing
            if wanted != missing and self.flights.size:
                self.join(which, page // self.track, page, page + n)
            self.stage(now, which)
            page += n
        self.counts[READ_HITS] += missed == 0
        self.counts[READ_WAITS] += self.requests.all[which].left > 0
        self.counts[DIRTY_READS] += missed != 0 and self.requests.all[which].left == 0
        return 0

    cdef void note_label(self, int64_t track, int kind) noexcept nogil:
        """Count a track just accessed by what the cache takes it for and by what it is."""
        cdef mark_t* mark = self.cache.mark(track)
        self.labels[kind][mark != NULL and mark.counter == self.cache.sequential.threshold] += 1

    cdef int stage(self, int64_t now, int32_t which) except -1 nogil:
        """Issue the reads that the cache asks for: neighbouring pages together."""
        cdef int i = 0
        cdef read_t* reads = &self.cache.reads[0]
        cdef int64_t page, end, first, next_first
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
        """Read pages from the drives that hold them, for a request or (NOBODY) ahead of one."""
        cdef piece_t piece
        cdef int32_t operation
        cdef int64_t track
        while page < end and self.n_drives:
            piece = next_piece(&self.raid, page, end - page)
            if not all_dirty(&self.writes, &self.raid, page, piece.pages):
                operation = self.issue(now, piece, page, NONE, False)
                for track in range(page // self.track, (page + piece.pages - 1) // self.track + 1):
                    add_flight(&self.flights, track, operation)
                if which != NOBODY:
                    self.wait_for(which, operation, True)
            page += piece.pages
        return 0

    cdef int join(self, int32_t which, int64_t track, int64_t page, int64_t end) except -1 nogil:
        """Wait for pages of a track that are on their way."""
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
        """An operation's pages are here: requests that waited for nothing else go on, the latest first."""
        cdef int32_t waiter = operation.waiters, after
        cdef request_t* request
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
