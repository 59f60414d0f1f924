"""Implement what all client caches share: fetch pages, install objects, swizzle references and pin frames."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

from misspenalty_studies.hac.objects._format cimport (
    ARRAY,
    ENTRY,
    INSTALLED,
    MODIFIED,
    OID_BITS,
    PAGE,
    PAGE_HEADER,
    STRING,
    SWIZZLED,
    class_of,
    class_t,
    end_of,
    objects_on,
    offset_of,
    size_of,
    word,
)
from misspenalty_studies.hac.objects._table cimport NO_FRAME, NO_MEMORY, NO_OBJECT, IndirectionTable, counts_t, entry_t


cdef class ObjectCache(IndirectionTable):
    """The frames and the indirection table of a client cache; a subclass defines how frames are freed.

    `sizes` and `references` describe the classes; `table` is true if `budget` includes the indirection table.
    """

    def __cinit__(self, uint8_t[:, ::1] pages, sizes, references, int64_t budget, bint table, int64_t frames,
                  Py_ssize_t activation, *own):
        cdef Py_ssize_t i
        self.make_table(max(budget // 128, 16), pages.shape[0])
        for i in range(len(sizes)):
            self.classes[i].size = sizes[i]
            self.classes[i].references = references[i]
        self.database = pages
        self.pages = &pages[0, 0]
        self.page_count = pages.shape[0]
        self.budget = budget
        self.counts_table = table
        self.frame_count = frames
        self.activation = activation
        self.incoming = NONE
        self.memory = <uint8_t*>self.allocate(self.frame_count, PAGE)
        self.frames = <frame_t*>self.allocate(self.frame_count, sizeof(frame_t))
        self.free_frames = <uint32_t*>self.allocate(self.frame_count, sizeof(uint32_t))
        self.frame_of = <uint32_t*>self.allocate(self.page_count, sizeof(uint32_t))
        self.free_count = self.frame_count
        for i in range(self.frame_count):
            self.free_frames[i] = self.frame_count - 1 - i

    def __dealloc__(self):
        free(self.stack)
        free(self.log)
        free(self.timings)

    # --- methods that a policy overrides

    cdef int free_one(self) noexcept nogil:
        return -1

    cdef int prepare(self) noexcept nogil:
        return 0

    cdef void touch(self, uint8_t* thing) noexcept nogil:
        pass

    cdef void ship_buffer(self, Py_ssize_t* shipped, Py_ssize_t* count) noexcept nogil:
        pass

    # --- references

    cdef uint32_t swizzle(self, uint8_t* field) noexcept nogil:
        """Replace the oref in a field by a reference to a table entry; return this reference, or 0 if that failed."""
        cdef int64_t begin = ticks() if self.timed else 0
        cdef uint32_t index = self.find(word(field))
        if index == 0:
            return 0
        self.entries[index].references += 1
        self.counts.swizzled += 1
        (<uint32_t*>field)[0] = SWIZZLED | index
        if self.timed:
            self.spent[CONVERSION] += ticks() - begin
        return SWIZZLED | index

    cdef uint8_t* bring(self, uint32_t index) noexcept nogil:
        """Install the object of a table entry and return it; fetch its page if it is not in the cache."""
        cdef uint32_t oref = self.entries[index].oref, page = oref >> OID_BITS, oid = oref & ((1 << OID_BITS) - 1)
        cdef Py_ssize_t frame
        cdef uint8_t* thing
        cdef int64_t begin
        if page == 0 or page > self.page_count or oid >= objects_on(self.pages + (page - 1) * <Py_ssize_t>PAGE):
            self.failed = NO_OBJECT
            return NULL
        if self.frame_of[page] == 0 and self.fetch(page) < 0:
            return NULL
        begin = ticks() if self.timed else 0
        frame = self.frame_of[page] - 1
        thing = self.memory + frame * PAGE + offset_of(self.memory + frame * PAGE, oid)
        (<uint32_t*>thing)[0] = (word(thing) & ~ENTRY) | INSTALLED | index
        self.entries[index].address = thing - self.memory
        self.frames[frame].installed += 1
        self.counts.installed += 1
        if self.timed:
            self.spent[CONVERSION] += ticks() - begin
        return thing

    # --- frames

    cdef int fetch(self, uint32_t page) noexcept nogil:
        """Fetch a page from the server; while waiting, free a frame for the next fetch."""
        cdef Py_ssize_t frame
        cdef frame_t* into
        cdef int64_t begin
        if self.failed or self.free_count == 0 or self.record(page) < 0:
            return -1
        begin = ticks() if self.timed else 0
        self.counts.fetches += 1
        self.free_count -= 1
        frame = self.free_frames[self.free_count]
        into = &self.frames[frame]
        self.incoming = frame
        into.kind = INTACT
        into.page = page
        memcpy(self.memory + frame * PAGE, self.pages + (page - 1) * <Py_ssize_t>PAGE, PAGE)
        into.objects = objects_on(self.memory + frame * PAGE)
        into.end = end_of(self.memory + frame * PAGE)
        into.installed = 0
        self.tick += 1
        into.used = self.tick
        self.frame_of[page] = frame + 1
        self.counts.pages_kept += 1
        if self.timed:
            self.spent[REGISTER] += ticks() - begin
        if self.make_room() < 0:
            self.failed = NO_FRAME
            return -1
        self.incoming = NONE
        return 0

    cdef int make_room(self) noexcept nogil:
        """Pin frames, run `prepare`, and free frames until one is free and frames and table are within the budget."""
        cdef int64_t table = self.table_bytes() if self.counts_table else 0
        cdef int64_t most, begin = ticks() if self.timed else 0
        self.scan_stack()
        begin = self.lap(STACK, begin)
        if self.prepare() < 0:
            return -1
        begin = self.lap(USAGE, begin)
        while True:
            # The budget includes the frame that is kept free.
            most = min(self.frame_count, (self.budget - table) // PAGE)
            if self.frame_count - self.free_count < most:
                break
            if self.free_one() < 0:
                return -1
            table = self.table_bytes() if self.counts_table else 0
        self.lap(COMPACTION, begin)
        return 0

    cdef int64_t lap(self, int what, int64_t begin) noexcept nogil:
        """Add the time since `begin` to an operation's time; return the time now, or 0 if operations are not timed."""
        cdef int64_t now
        if not self.timed:
            return 0
        now = ticks()
        self.spent[what] += now - begin
        return now

    cdef void scan_stack(self) noexcept nogil:
        """Pin the frames that the stack refers to."""
        cdef Py_ssize_t i
        cdef int64_t low = <int64_t>self.memory, offset
        for i in range(self.stack_top):
            offset = self.stack[i] - low
            if 0 <= offset < self.frame_count * PAGE:
                self.frames[offset // PAGE].pinned = self.counts.fetches
        self.counts.stack_words += self.stack_top

    cdef void discard(self, uint8_t* thing, uint32_t size) noexcept nogil:
        """Remove an installed object: clear its entry, and lower the reference counts of objects it refers to."""
        cdef uint32_t header = word(thing), kind = class_of(header), index = header & ENTRY, i, bits
        cdef uint32_t* words = <uint32_t*>thing
        self.counts.discarded += 1
        self.entries[index].address = 0
        if self.entries[index].references == 0:
            self.free_table_entry(index)
        if kind == ARRAY:
            for i in range(2, 2 + words[1]):
                if words[i] & SWIZZLED:
                    self.counts.references_dropped += 1
                    self.release(words[i] & ~SWIZZLED)
        elif kind != STRING:
            bits = self.classes[kind].references
            for i in range(1, size // 4):
                if bits >> i & 1 and words[i] & SWIZZLED:
                    self.counts.references_dropped += 1
                    self.release(words[i] & ~SWIZZLED)

    cdef void evict(self, Py_ssize_t frame) noexcept nogil:
        """Discard everything in a frame and free it."""
        cdef uint8_t* base = self.memory + frame * PAGE
        cdef uint32_t offset = PAGE_HEADER, size
        cdef frame_t* out = &self.frames[frame]
        while offset < out.end:
            size = size_of(self.classes, base + offset)
            if word(base + offset) & INSTALLED:
                self.discard(base + offset, size)
            else:
                self.counts.dropped += 1
            offset += size
        self.counts.frames_compacted += 1
        self.counts.whole_evictions += 1
        self.counts.page_objects += out.objects
        self.give_back(frame)

    cdef void give_back(self, Py_ssize_t frame) noexcept nogil:
        if self.frames[frame].kind == INTACT:
            self.frame_of[self.frames[frame].page] = 0
            self.counts.pages_kept -= 1
        self.frames[frame].kind = FREE
        self.frames[frame].modified = False
        self.free_frames[self.free_count] = frame
        self.free_count += 1
        self.counts.frames_freed += 1

    # --- the program's stack and the log

    cdef int64_t* push(self) noexcept nogil:
        """Push a new, empty activation record and return it; NULL if there is no memory."""
        cdef int64_t* grown
        cdef Py_ssize_t room
        if self.stack_top + self.activation > self.stack_room:
            room = 2 * self.stack_room + 64 * self.activation
            grown = <int64_t*>realloc(self.stack, room * sizeof(int64_t))
            if grown == NULL:
                self.failed = NO_MEMORY
                return NULL
            self.stack = grown
            self.stack_room = room
        grown = self.stack + self.stack_top
        memset(grown, 0, self.activation * sizeof(int64_t))
        self.stack_top += self.activation
        return grown

    cdef int record(self, int64_t page) noexcept nogil:
        cdef log_t* log
        cdef int64_t* timings
        cdef Py_ssize_t room
        if self.log_size == self.log_room:
            room = 2 * self.log_room + 1024
            log = <log_t*>realloc(self.log, room * sizeof(log_t))
            if log == NULL:
                self.failed = NO_MEMORY
                return -1
            self.log = log
            if self.timed:
                timings = <int64_t*>realloc(self.timings, room * sizeof(self.spent))
                if timings == NULL:
                    self.failed = NO_MEMORY
                    return -1
                self.timings = timings
            self.log_room = room
        self.log[self.log_size].page = page
        self.log[self.log_size].before = self.counts
        if self.timed:
            memcpy(self.timings + TIMED * self.log_size, self.spent, sizeof(self.spent))
        self.log_size += 1
        return 0

    # --- transactions

    def commit(self):
        """Ship modified objects to the server, with references converted to orefs; return the numbers of bytes and
        objects shipped."""
        cdef Py_ssize_t frame, shipped = 0, count = 0
        cdef uint32_t offset, size
        cdef uint8_t* thing
        with self, nogil:
            for frame in range(self.frame_count):
                if self.frames[frame].kind in (FREE, BUFFER):
                    continue
                offset = PAGE_HEADER
                while offset < self.frames[frame].end:
                    thing = self.memory + frame * PAGE + offset
                    size = size_of(self.classes, thing)
                    self.settle(thing, size, &shipped, &count)
                    offset += size
            self.ship_buffer(&shipped, &count)
            for frame in range(self.frame_count):
                self.frames[frame].modified = False
        return shipped, count

    cdef void settle(self, uint8_t* thing, uint32_t size, Py_ssize_t* shipped, Py_ssize_t* count) noexcept nogil:
        """Ship an object if it is modified, and add to the numbers of bytes and objects."""
        if word(thing) & MODIFIED:
            (<uint32_t*>thing)[0] &= ~MODIFIED
            self.ship(thing, size)
            shipped[0] += size
            count[0] += 1

    cdef void ship(self, uint8_t* thing, uint32_t size) noexcept nogil:
        """Write an object to the server's page and, if there is one, to a cached copy of it that is not installed."""
        cdef uint32_t oref = self.entries[word(thing) & ENTRY].oref, oid = oref & ((1 << OID_BITS) - 1), i
        cdef uint8_t* page = self.pages + ((oref >> OID_BITS) - 1) * <Py_ssize_t>PAGE
        cdef uint32_t* to = <uint32_t*>(page + offset_of(page, oid))
        cdef Py_ssize_t frame = <Py_ssize_t>self.frame_of[oref >> OID_BITS] - 1
        cdef uint8_t* copy = NULL
        cdef uint32_t* source = <uint32_t*>thing
        cdef uint32_t kind = class_of(source[0]), bits = self.classes[kind].references
        cdef bint refers
        for i in range(1, size // 4):
            refers = i >= 2 if kind == ARRAY else bits >> i & 1 if kind < ARRAY else False
            if refers and source[i] & SWIZZLED:
                to[i] = self.entries[source[i] & ~SWIZZLED].oref
            else:
                to[i] = source[i]
        if frame != NONE:  # the page was fetched again, or is still intact
            copy = self.memory + frame * PAGE + offset_of(self.memory + frame * PAGE, oid)
            if not word(copy) & INSTALLED:
                memcpy(copy + 4, to + 1, size - 4)

    # --- the Python interface

    @property
    def fetched(self):
        """Ids of the pages in the log of fetches, int64; 0 where a run ended."""
        self.check_unused()
        return np.array([self.log[i].page for i in range(self.log_size)], np.int64)

    def counted(self):
        """Return an int64 array with one row of counts before every fetch and at the end of every run; its columns are
        `COUNTS`."""
        cdef Py_ssize_t i, columns = sizeof(counts_t) // sizeof(int64_t)
        self.check_unused()
        table = np.empty((self.log_size, columns), np.int64)
        cdef int64_t[:, ::1] view = table
        for i in range(self.log_size):
            memcpy(&view[i, 0], &self.log[i].before, sizeof(counts_t))
        return table

    def time_operations(self):
        """Start timing the operations and return True; return False if the log was already in use."""
        self.check_unused()
        self.timed = self.log_room == 0
        return self.timed

    def timed_ticks(self):
        """Return the timer ticks spent before every row of the log, as an int64 array; its columns are the operations
        in the order of `cache.TIMED`."""
        cdef Py_ssize_t i
        self.check_unused()
        table = np.zeros((self.log_size if self.timed else 0, TIMED), np.int64)
        cdef int64_t[:, ::1] view = table
        for i in range(table.shape[0]):
            memcpy(&view[i, 0], self.timings + TIMED * i, sizeof(self.spent))
        return table

    def forget(self):
        """Empty the log."""
        self.check_unused()
        self.log_size = 0

    def end_run(self):
        """Record the counts at the end of a run and empty the stack."""
        self.check_unused()
        self.stack_top = 0
        if self.record(0) < 0:
            raise MemoryError("no memory for the log of fetches")

    def snapshot(self):
        """Return copies of the frames' bytes, the frames' descriptions, and the table, whose entry 0 is unused."""
        cdef Py_ssize_t i
        self.check_unused()
        memory = np.empty((self.frame_count, PAGE), np.uint8)
        cdef uint8_t[:, ::1] view = memory
        memcpy(&view[0, 0], self.memory, self.frame_count * PAGE)
        frames = [self.frames[i] for i in range(self.frame_count)]
        entries = np.zeros((self.entry_end, 4), np.uint32)
        cdef uint32_t[:, ::1] table = entries
        if self.entries != NULL:
            memcpy(&table[1, 0] if self.entry_end > 1 else &table[0, 0], self.entries + 1,
                   (self.entry_end - 1) * sizeof(entry_t))
        return memory, frames, entries

    @property
    def memory_used(self):
        """Memory in bytes of the frames in use, including the one that is kept free, and of the table."""
        return min(self.frame_count - self.free_count + 1, self.frame_count) * PAGE, self.table_bytes()
