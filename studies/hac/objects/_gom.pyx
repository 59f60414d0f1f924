"""Implement the kernel of a dual buffer: whole pages in LRU order, and a buffer for the used objects of evicted pages.

The object buffer uses a buddy allocator with blocks of 16 to 8192 bytes, each within one frame of the buffer.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy

from misspenalty_studies.hac.objects._cache cimport BUFFER, FREE, INTACT, NONE, ObjectCache
from misspenalty_studies.hac.objects._format cimport ENTRY, INSTALLED, MODIFIED, PAGE, PAGE_HEADER, size_of, word

cdef enum:
    GRANULE = 16                    # smallest block, bytes
    ORDERS = 10                     # block sizes, 16 << order
    TOP = 9                         # order of a whole frame
    VACANT = 0x80                   # flag of an order: the block is free


cdef struct link_t:
    uint32_t before                 # granule + 1; 0 = none
    uint32_t after                  # granule + 1; 0 = none


cdef class Kernel(ObjectCache):
    cdef Py_ssize_t first           # frame at which the object buffer begins
    cdef link_t* links              # indexed by a block's first granule: links in a free list or in the LRU list
    cdef uint8_t* orders            # indexed by a block's first granule: its order, with VACANT set if it is free
    cdef uint32_t[10] vacant        # first free block of each order, granule + 1
    cdef uint32_t newest            # most recently used object, granule + 1
    cdef uint32_t oldest            # least recently used object, granule + 1

    def __cinit__(self, pages, sizes, references, budget, table, frames, activation, buffer_frames):
        cdef Py_ssize_t i
        self.tracks = 2
        self.first = frames - buffer_frames
        granules = buffer_frames * PAGE // GRANULE + 1
        self.links = <link_t*>self.allocate(granules, sizeof(link_t))
        self.orders = <uint8_t*>self.allocate(granules, 1)
        self.free_count = 0
        for i in range(self.first):
            self.free_frames[self.free_count] = self.first - 1 - i
            self.free_count += 1
        for i in range(self.first, frames):
            self.frames[i].kind = BUFFER
            self.give(<uint32_t>((i - self.first) * (PAGE // GRANULE)), TOP)

    # --- lists over granules

    cdef void unlink(self, uint32_t granule, uint32_t* head, uint32_t* tail) noexcept nogil:
        cdef link_t* link = &self.links[granule]
        if link.before:
            self.links[link.before - 1].after = link.after
        else:
            head[0] = link.after
        if link.after:
            self.links[link.after - 1].before = link.before
        elif tail != NULL:
            tail[0] = link.before

    cdef void prepend(self, uint32_t granule, uint32_t* head, uint32_t* tail) noexcept nogil:
        self.links[granule].before = 0
        self.links[granule].after = head[0]
        if head[0]:
            self.links[head[0] - 1].before = granule + 1
        elif tail != NULL:
            tail[0] = granule + 1
        head[0] = granule + 1

    # --- blocks

    cdef void give(self, uint32_t granule, int order) noexcept nogil:
        """Free a block, merging it with its buddies while they are free."""
        cdef uint32_t buddy
        while order < TOP:
            buddy = granule ^ (1 << order)
            if self.orders[buddy] != (VACANT | order):
                break
            self.unlink(buddy, &self.vacant[order], NULL)
            self.orders[buddy] = 0
            granule &= ~<uint32_t>(1 << order)
            order += 1
        self.orders[granule] = VACANT | order
        self.prepend(granule, &self.vacant[order], NULL)

    cdef Py_ssize_t take(self, uint32_t size) noexcept nogil:
        """Allocate a block, splitting a larger one if necessary; return its first granule, or NONE if there is no
        room."""
        cdef int order = 0, found
        cdef uint32_t granule
        while (GRANULE << order) < size:
            order += 1
        found = order
        while found < ORDERS and self.vacant[found] == 0:
            found += 1
        if found == ORDERS:
            return NONE
        granule = self.vacant[found] - 1
        self.unlink(granule, &self.vacant[found], NULL)
        while found > order:
            found -= 1
            self.orders[granule + (1 << found)] = VACANT | found
            self.prepend(granule + (1 << found), &self.vacant[found], NULL)
        self.orders[granule] = order
        return granule

    # --- objects

    cdef uint8_t* object_at(self, uint32_t granule) noexcept nogil:
        return self.memory + self.first * PAGE + <Py_ssize_t>granule * GRANULE

    cdef void touch(self, uint8_t* thing) noexcept nogil:
        cdef Py_ssize_t offset = thing - self.memory - self.first * PAGE
        cdef uint32_t granule
        if offset < 0:
            self.tick += 1
            self.frames[(thing - self.memory) // PAGE].used = self.tick
            return
        granule = offset // GRANULE
        self.unlink(granule, &self.newest, &self.oldest)
        self.prepend(granule, &self.newest, &self.oldest)

    cdef int drop_oldest(self) noexcept nogil:
        """Discard the least recently used object that is not modified and whose frame the stack does not pin."""
        cdef uint32_t granule, at = self.oldest
        cdef uint8_t* thing
        cdef bint pinned
        while at:
            granule = at - 1
            thing = self.object_at(granule)
            pinned = self.frames[(thing - self.memory) // PAGE].pinned == self.counts.fetches
            if not pinned and not word(thing) & MODIFIED:
                self.unlink(granule, &self.newest, &self.oldest)
                self.discard(thing, size_of(self.classes, thing))
                self.give(granule, self.orders[granule])
                return 0
            at = self.links[granule].before
        return -1

    cdef void keep(self, uint8_t* thing, uint32_t size) noexcept nogil:
        """Move a used object to the object buffer, or discard it if no room can be made for it."""
        cdef Py_ssize_t granule = self.take(size)
        while granule == NONE:
            if self.drop_oldest() < 0:
                self.discard(thing, size)
                return
            granule = self.take(size)
        memcpy(self.object_at(granule), thing, size)
        self.entries[word(thing) & ENTRY].address = self.object_at(granule) - self.memory
        self.prepend(granule, &self.newest, &self.oldest)
        self.counts.retained += 1
        self.counts.bytes_moved += size

    cdef void ship_buffer(self, Py_ssize_t* shipped, Py_ssize_t* count) noexcept nogil:
        cdef uint32_t at = self.oldest
        cdef uint8_t* thing
        while at:
            thing = self.object_at(at - 1)
            self.settle(thing, size_of(self.classes, thing), shipped, count)
            at = self.links[at - 1].before

    cdef int free_one(self) noexcept nogil:
        cdef Py_ssize_t frame, oldest = NONE
        cdef uint32_t offset = PAGE_HEADER, size
        cdef uint8_t* base
        cdef int64_t before = self.counts.retained
        for frame in range(self.first):
            if self.frames[frame].kind != INTACT or frame == self.incoming:
                continue
            if self.frames[frame].modified or self.frames[frame].pinned == self.counts.fetches:
                continue
            if oldest == NONE or self.frames[frame].used < self.frames[oldest].used:
                oldest = frame
        if oldest == NONE:
            return -1
        base = self.memory + oldest * PAGE
        while offset < self.frames[oldest].end:
            size = size_of(self.classes, base + offset)
            if word(base + offset) & INSTALLED:
                self.keep(base + offset, size)
            else:
                self.counts.dropped += 1
            offset += size
        self.counts.frames_compacted += 1
        self.counts.whole_evictions += self.counts.retained == before
        self.counts.page_objects += self.frames[oldest].objects
        self.counts.page_survivors += self.counts.retained - before
        self.give_back(oldest)
        return 0
