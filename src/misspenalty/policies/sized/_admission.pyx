"""Implement the kernel of W-TinyLFU for objects of different sizes; the definition is in sized/admission.py."""

from libc.stdint cimport int64_t, uint32_t

from misspenalty.policies._policy cimport block_t
from misspenalty.policies._sketch cimport Sketch, draw_of, frequency, increment, make_sketch
from misspenalty.policies.sized._sized cimport ABSENT, SizedCache

cdef enum:
    WINDOW = 1                          # numbers of the lists
    PROBATION = 2
    PROTECTED = 3


cdef class WTinyLFU(SizedCache):
    cdef Sketch sketch
    cdef uint32_t* number               # number of each object in order of first use, from 1; 0 = not yet used
    cdef uint32_t seen                  # number of objects that have a number
    cdef int64_t window_room            # maximum bytes of the window
    cdef int64_t main_room              # maximum bytes of the main region
    cdef int64_t protected_room         # maximum bytes of the protected segment

    def __cinit__(
        self, Py_ssize_t capacity, Py_ssize_t blocks, *args, window=0.01, protected=0.8, sample_size=10.0, mean_bytes=1, **parameters
    ):
        self.window_room = max(self.room - int(self.room * (1 - window)), 1)
        self.main_room = self.room - self.window_room
        self.protected_room = int(self.main_room * protected)
        self.largest = max(self.window_room, self.main_room)
        entries = max(self.room // mean_bytes, 1)
        make_sketch(&self.sketch, self, min(entries, max(blocks, 1)), min(int(sample_size * entries), 1 << 62))
        self.number = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))

    cdef void see(self, block_t block) noexcept nogil:
        if not self.number[block]:
            self.seen += 1
            self.number[block] = self.seen
        increment(&self.sketch, draw_of(self.number[block]))

    cdef void touch(self, block_t block) noexcept nogil:
        if self.nodes[block].list == PROBATION:
            self.move(PROTECTED, block)
            self.demote()
        else:
            self.move(self.nodes[block].list, block)

    cdef void load(self, block_t block) noexcept nogil:
        self.nodes[block].held = self.nodes[block].asked
        self.put(WINDOW, block)
        self.settle()

    cdef void settle(self) noexcept nogil:
        cdef block_t newest = self.nodes[self.blocks + WINDOW].link.older
        self.demote()
        while self.bytes[PROBATION] + self.bytes[PROTECTED] > self.main_room:
            self.leave(self.oldest(PROBATION if self.oldest(PROBATION) < self.blocks else PROTECTED), ABSENT)
        if self.bytes[WINDOW] > self.window_room and self.nodes[newest].held > self.window_room:
            self.admit(newest)
        while self.bytes[WINDOW] > self.window_room:
            self.admit(self.oldest(WINDOW))

    cdef void demote(self) noexcept nogil:
        while self.bytes[PROTECTED] > self.protected_room:
            self.move(PROBATION, self.oldest(PROTECTED))

    cdef int count(self, block_t block) noexcept nogil:
        return frequency(&self.sketch, self.number[block])

    cdef void admit(self, block_t candidate) noexcept nogil:
        """Move a candidate to probation if it needs no victims or its count exceeds the sum of theirs; else evict it.

        A candidate larger than the main region is always evicted.
        """
        cdef int64_t excess = self.bytes[PROBATION] + self.bytes[PROTECTED] + self.nodes[candidate].held - self.main_room
        cdef int rivals = 0, own = self.count(candidate), where = PROBATION
        cdef int64_t victims = 0
        cdef block_t block = self.oldest(PROBATION)
        if self.nodes[candidate].held > self.main_room:
            self.leave(candidate, ABSENT)
            return
        while excess > 0 and rivals < own:
            while block >= self.blocks:
                where += 1
                block = self.oldest(where)
            rivals += self.count(block)
            victims += 1
            excess -= self.nodes[block].held
            block = self.nodes[block].link.newer
        if excess > 0 or (victims and rivals >= own):
            self.leave(candidate, ABSENT)
            return
        for _ in range(victims):
            self.leave(self.oldest(PROBATION if self.oldest(PROBATION) < self.blocks else PROTECTED), ABSENT)
        self.move(PROBATION, candidate)
