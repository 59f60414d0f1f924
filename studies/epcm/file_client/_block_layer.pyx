"""Implement the file client's lower half: frames, request queue, disk. The model is defined in client.py."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free

import numpy as np

from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._drive cimport Drive, record_t, service
from misspenalty.engine._engine cimport event_t, pop, priority_of, reserve, schedule
from misspenalty_studies.epcm.file_client._ranks cimport add_rank, below, clear_ranks, drop_rank, make_ranks

from misspenalty.errors import ParameterError


cdef class BlockLayer(Kernel):
    """Entries on disk and in memory.

    Parameters
    ----------
    lba, sectors : int64, shape (n,)
        First sector and number of sectors of each entry.
    metadata : int
        Entries from this one on are blocks of metadata, which are read into the buffer cache.
    machine : dict
        `room` (frames), `max_sectors`, `demand_first`, `separate`, `age`, `interval`, `host`, `depth`, `access`,
        `sector`; times in ns.
    """

    def __cinit__(self, const int64_t[::1] lba, const int64_t[::1] sectors, Py_ssize_t metadata, machine, *own):
        cdef Py_ssize_t i
        cdef const int64_t[::1] order
        self.number = lba.shape[0]
        if not 0 < self.number < 2**30 or sectors.shape[0] != self.number:
            raise ParameterError(f"{self.number} entries, {sectors.shape[0]} sizes; expected equal numbers, 1 to 2**30 - 1")
        self.max_sectors, self.demand_first = machine["max_sectors"], machine["demand_first"]
        self.separate, self.age, self.interval = machine["separate"], machine["age"], machine["interval"]
        self.host, self.depth = machine["host"], machine["depth"]
        self.access, self.sector = machine["access"], machine["sector"]
        self.room = machine["room"]
        self.entries = <entry_t*>self.allocate(self.number, sizeof(entry_t))
        self.requests = <request_t*>self.allocate(self.number, sizeof(request_t))
        self.frames = <int64_t*>self.allocate(self.room, sizeof(int64_t))
        self.unused = <int32_t*>self.allocate(self.room, sizeof(int32_t))
        self.rank = <int32_t*>self.allocate(self.number, sizeof(int32_t))
        self.ranked = <int32_t*>self.allocate(self.number, sizeof(int32_t))
        make_ranks(&self.heads, self, self.number)
        reserve(&self.events, 64)
        for i in range(self.number):
            self.entries[i].lba, self.entries[i].sectors = lba[i], <int32_t>sectors[i]
            self.entries[i].lands = PAGE if i < metadata else BUFFER
        order = np.argsort(lba, kind="stable")
        for i in range(self.number):
            self.ranked[i] = order[i]
            self.rank[self.ranked[i]] = <int32_t>i
            if i and lba[self.ranked[i - 1]] + sectors[self.ranked[i - 1]] > lba[self.ranked[i]]:
                raise ParameterError(f"entries {self.ranked[i - 1]} and {self.ranked[i]} overlap on the disk")
        self.forget()

    def __dealloc__(self):
        free(self.events.events)

    def forget(self):
        """Empty all caches, and forget all requests and events."""
        cdef Py_ssize_t i
        self.check_unused()
        self.events.size = 0
        self.head = self.oldest = self.newest = NOTHING
        self.plugged, self.serving, self.hand, self.free, self.latest = False, 0, 0, 0, 0
        self.spare = self.room
        clear_ranks(&self.heads)
        for i in range(self.room):
            self.frames[i] = NOTHING
            self.unused[i] = <int32_t>(self.room - 1 - i)
        for i in range(self.number):
            self.entries[i].flags = 0
            self.entries[i].request = self.entries[i].next = NOTHING
            self.entries[i].page_frame = self.entries[i].buffer_frame = NOTHING
            self.requests[i].next = <int32_t>(i + 1) if i + 1 < self.number else NOTHING

    def attach(self, Drive drive):
        """Connect the queue to a drive or, with None, to the fixed-service device."""
        cdef Py_ssize_t i
        if drive is not None and self.depth != 1:
            raise ParameterError(f"a drive serves one request at a time, but depth is {self.depth}")
        for i in range(self.number if drive is not None else 0):
            if self.entries[i].lba < 0 or self.entries[i].lba + self.entries[i].sectors > drive.d.m.blocks:
                raise ParameterError(f"entry {i} is at sector {self.entries[i].lba}; the drive has {drive.d.m.blocks}")
        self.check_unused()
        self.drive = drive
        self.kernels = None if drive is None else [drive]
        self.d = NULL if drive is None else &drive.d

    # ------------------------------------------------------------------------------------------ requests

    cdef int32_t request_at(self, int64_t rank) noexcept nogil:
        """Return the queued request that contains the entry of a given rank; NOTHING = none."""
        cdef int32_t i
        if not 0 <= rank < self.number:
            return NOTHING
        i = self.entries[self.ranked[rank]].request
        return i if i != NOTHING and self.requests[i].queued else NOTHING

    cdef bint grows(self, int32_t i, const entry_t* e, bint write) noexcept nogil:
        """Return whether request `i` exists, has the direction given by `write`, and has room for entry `e`."""
        return i != NOTHING and self.requests[i].write == write and self.requests[i].sectors + e.sectors <= self.max_sectors

    cdef void append(self, int32_t i, int32_t entry) noexcept nogil:
        """Append an entry to a request; merge the request with the next in the queue if the two now fit together."""
        cdef request_t* r = &self.requests[i]
        cdef request_t* other
        cdef int32_t joined
        self.entries[r.last].next = entry
        r.last = entry
        r.sectors += self.entries[entry].sectors
        self.entries[entry].request = i
        if r.next == NOTHING:
            return
        other = &self.requests[r.next]
        if other.write != r.write or r.lba + r.sectors != other.lba or r.sectors + other.sectors > self.max_sectors:
            return
        drop_rank(&self.heads, self.rank[other.first])
        self.entries[r.last].next = other.first
        r.last = other.last
        r.sectors += other.sectors
        r.demand |= other.demand
        joined = other.first
        while joined != NOTHING:
            self.entries[joined].request = i
            joined = self.entries[joined].next
        joined = r.next
        r.next = other.next
        other.next = self.free
        self.free = joined

    cdef void prepend(self, int32_t i, int32_t entry) noexcept nogil:
        """Prepend an entry to a request."""
        cdef request_t* r = &self.requests[i]
        drop_rank(&self.heads, self.rank[r.first])
        add_rank(&self.heads, self.rank[entry])
        self.entries[entry].next = r.first
        self.entries[entry].request = i
        r.first = entry
        r.lba = self.entries[entry].lba
        r.sectors += self.entries[entry].sectors

    cdef void insert(self, int32_t i) noexcept nogil:
        """Insert a request in elevator order: sectors rise from the head of the queue, then wrap around to the lowest.

        A request therefore follows the queued one that begins closest below it. If no queued request begins below it,
        it becomes the head of a plugged queue; in an unplugged queue it follows the highest request, after which the
        sectors wrap around.
        """
        cdef request_t* r = &self.requests[i]
        cdef int64_t before = below(&self.heads, self.rank[r.first])
        add_rank(&self.heads, self.rank[r.first])
        if self.head == NOTHING or (self.plugged and before < 0):  # the plug counts as a request below every sector
            r.next = self.head
            self.head = i
            return
        if before < 0:
            before = below(&self.heads, self.number)
        i = self.entries[self.ranked[before]].request
        r.next = self.requests[i].next
        self.requests[i].next = self.entries[r.first].request

    cdef void join(self, int32_t entry, bint write) noexcept nogil:
        """Merge an entry into the first queued request that it extends, or queue a new one."""
        cdef entry_t* e = &self.entries[entry]
        cdef int32_t i, low = self.request_at(self.rank[entry] - 1), high = self.request_at(self.rank[entry] + 1)
        cdef request_t* r
        cdef bint ends, begins
        cdef int64_t current = 0 if self.head == NOTHING or self.plugged else self.requests[self.head].lba
        ends = self.grows(low, e, write) and self.requests[low].lba + self.requests[low].sectors == e.lba
        begins = self.grows(high, e, write) and self.requests[high].lba == e.lba + e.sectors
        if ends and begins and self.requests[low].lba < current <= self.requests[high].lba:
            ends = False                # the upper request is served first
        if ends:
            self.append(low, entry)
        elif begins:
            self.prepend(high, entry)
        else:
            i = self.free
            r = &self.requests[i]
            self.free = r.next
            r.lba, r.sectors, r.write, r.demand, r.queued = e.lba, e.sectors, write, 0, 1
            r.first = r.last = entry
            e.request = i
            self.insert(i)

    cdef int submit(self, int32_t entry, bint write, int64_t now) except -1 nogil:
        """Request that an entry be read or written; an empty queue is plugged first."""
        self.advance(now)
        if self.head == NOTHING:
            self.plugged = True
        self.entries[entry].flags |= LEAVING if write else COMING
        self.entries[entry].next = NOTHING
        self.join(entry, write)
        return 0

    cdef int unplug(self, int64_t now) except -1 nogil:
        self.advance(now)
        self.plugged = False
        return self.dispatch(now)

    cdef int dispatch(self, int64_t now) except -1 nogil:
        """Issue as many requests as the disk can take, unless the queue is plugged."""
        cdef record_t record
        cdef request_t* r
        cdef int32_t i, previous, chosen, before
        cdef int64_t begin, done
        while self.serving < self.depth and self.head != NOTHING and not self.plugged:
            chosen, before = self.head, NOTHING
            if self.demand_first:
                i, previous = self.head, NOTHING
                while i != NOTHING and not self.requests[i].demand:
                    previous = i
                    i = self.requests[i].next
                if i != NOTHING:
                    chosen, before = i, previous
            r = &self.requests[chosen]
            if before == NOTHING:
                self.head = r.next
            else:
                self.requests[before].next = r.next
            r.queued = 0
            drop_rank(&self.heads, self.rank[r.first])
            begin = now + self.host
            if self.d != NULL:
                begin = max(begin, self.latest)
                service(self.d, begin, r.lba, r.sectors, r.write, &record)
                done = record.done
            else:
                done = begin + self.access + r.sectors * self.sector
            self.latest = done
            self.serving += 1
            if r.write:
                self.writes += 1
                self.write_sectors += r.sectors
            else:
                self.reads += 1
                self.read_sectors += r.sectors
            schedule(&self.events, done, AT_DISK_DONE, chosen)
        return 0

    cdef int complete(self, int32_t request, int64_t now) except -1 nogil:
        cdef request_t* r = &self.requests[request]
        cdef int32_t i = r.first, following
        while i != NOTHING:
            following = self.entries[i].next
            self.entries[i].request = self.entries[i].next = NOTHING
            if r.write:
                self.entries[i].flags &= ~LEAVING
            else:
                self.entries[i].flags = (self.entries[i].flags & ~COMING) | self.entries[i].lands
            i = following
        r.next = self.free
        self.free = request
        self.serving -= 1
        return self.dispatch(now)

    cdef int64_t step(self) except -1 nogil:
        """Process the next event; return its time."""
        cdef event_t event = pop(&self.events)
        if priority_of(event) == AT_DISK_DONE:
            self.complete(<int32_t>event.what, event.time)
        else:
            schedule(&self.events, event.time + self.interval, AT_WRITEBACK, 0)
            self.write_back(event.time - self.age, event.time)
        return event.time

    cdef int advance(self, int64_t now) except -1 nogil:
        """Process all events that are due."""
        while self.events.size and self.events.events[0].time <= now:
            self.step()
        return 0

    cdef int64_t wait(self, int32_t entry, int64_t now) except -1 nogil:
        """Wait until an entry is neither being read nor written; return the time."""
        if not self.entries[entry].flags & (COMING | LEAVING):
            return now
        self.requests[self.entries[entry].request].demand = 1
        self.unplug(now)
        while self.entries[entry].flags & (COMING | LEAVING):
            now = max(now, self.step())
        return now

    # -------------------------------------------------------------------------------------------- memory

    cdef int64_t hold(self, int32_t entry, bint buffer, int64_t now) except -1 nogil:
        """Allocate a frame for an entry, evicting a page or buffer if none is unused; return when it is available."""
        cdef int32_t frame
        while self.spare == 0 and not self.evict():
            self.write_back(now, now)
            self.unplug(now)
            if not self.serving:
                with gil:
                    raise ParameterError(f"a memory of {self.room} pages is too small for one call")
            now = max(now, self.step())
        self.spare -= 1
        frame = self.unused[self.spare]
        self.frames[frame] = 2 * <int64_t>entry + buffer
        if buffer:
            self.entries[entry].buffer_frame = frame
        else:
            self.entries[entry].page_frame = frame
        return now

    cdef void release(self, int32_t entry, bint buffer) noexcept nogil:
        """Free the frame of an entry's page or buffer."""
        cdef entry_t* e = &self.entries[entry]
        cdef int32_t frame = e.buffer_frame if buffer else e.page_frame
        if buffer:
            e.buffer_frame = NOTHING
            e.flags &= ~(BUFFER | BUFFER_USED)
        else:
            e.page_frame = NOTHING
            e.flags &= ~(PAGE | PAGE_USED | AHEAD)
        self.frames[frame] = NOTHING
        self.unused[self.spare] = frame
        self.spare += 1

    cdef bint evict(self) noexcept nogil:
        """Free the next evictable frame not used since the clock's hand last passed; return whether there was one."""
        cdef Py_ssize_t looked
        cdef int32_t entry
        cdef int32_t* flags
        cdef bint buffer
        for looked in range(2 * self.room):
            entry, buffer = <int32_t>(self.frames[self.hand] >> 1), self.frames[self.hand] & 1
            self.hand = self.hand + 1 if self.hand + 1 < self.room else 0
            flags = &self.entries[entry].flags
            if flags[0] & COMING or ((buffer or not self.separate) and flags[0] & (DIRTY | LEAVING)):
                continue
            if flags[0] & (BUFFER_USED if buffer else PAGE_USED):
                flags[0] &= ~(BUFFER_USED if buffer else PAGE_USED)
                continue
            self.release(entry, buffer)
            self.evictions += 1
            self.gone(entry, buffer)
            return True
        return False

    cdef void gone(self, int32_t entry, bint buffer) noexcept nogil:
        """Record that an entry's page or buffer has been evicted."""
        pass

    # ---------------------------------------------------------------------------------------- write-back

    cdef void soil(self, int32_t entry, int64_t now) noexcept nogil:
        """Mark an entry dirty."""
        cdef entry_t* e = &self.entries[entry]
        if e.flags & DIRTY:
            return
        e.flags |= DIRTY
        e.dirtied = now
        e.older, e.newer = self.newest, NOTHING
        if self.newest == NOTHING:
            self.oldest = entry
        else:
            self.entries[self.newest].newer = entry
        self.newest = entry

    cdef void clean(self, int32_t entry) noexcept nogil:
        """Mark an entry clean."""
        cdef entry_t* e = &self.entries[entry]
        if not e.flags & DIRTY:
            return
        e.flags &= ~DIRTY
        if e.older == NOTHING:
            self.oldest = e.newer
        else:
            self.entries[e.older].newer = e.newer
        if e.newer == NOTHING:
            self.newest = e.older
        else:
            self.entries[e.newer].older = e.older

    cdef int write_back(self, int64_t older, int64_t now) except -1 nogil:
        """Issue the blocks that became dirty by the time `older`, except those that are being read or written."""
        cdef int32_t i = self.oldest, following
        cdef bint any = False
        while i != NOTHING and self.entries[i].dirtied <= older:
            following = self.entries[i].newer       # may be cleaned if `submit` processes a write-back that is due
            if self.entries[i].flags & (DIRTY | LEAVING | COMING) == DIRTY:
                self.clean(i)
                self.submit(i, True, now)
                any = True
            i = following
        if any:
            self.unplug(now)
        return 0

    cdef int64_t settle(self, int64_t now) except -1 nogil:
        """Write everything back and wait until the disk is idle; return the time."""
        while self.oldest != NOTHING or self.head != NOTHING or self.serving:
            self.write_back(now, now)
            self.unplug(now)
            now = max(now, self.step())
        self.events.size = 0
        return now
