"""Implement the kernels of the policies that keep objects in queues; sized/queues.py has the definitions."""

from libc.stdint cimport int64_t, uint8_t

from misspenalty.policies._policy cimport block_t
from misspenalty.policies.sized._sized cimport ABSENT, GHOSTS, SizedCache

cdef enum:
    MAX_SEGMENTS = 16               # fewer than GHOSTS, as segments are lists 1, 2, …
    SMALL = 1                       # S3-FIFO's lists
    MAIN = 2
    MAX_USES = 3                    # highest value of its two-bit counter
    T1 = 1                          # ARC's lists
    T2 = 2
    B1 = GHOSTS
    B2 = GHOSTS + 1


cdef class FIFO(SizedCache):
    pass


cdef class LRU(SizedCache):
    cdef void touch(self, block_t block) noexcept nogil:
        self.move(1, block)


cdef class Clock(SizedCache):
    cdef uint8_t most                   # maximum value of an object's counter

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, bits=1, **parameters):
        self.most = 2**bits - 1

    cdef void touch(self, block_t block) noexcept nogil:
        self.nodes[block].uses = min(self.nodes[block].uses + 1, self.most)

    cdef void load(self, block_t block) noexcept nogil:
        self.make_room(block)
        self.nodes[block].uses = 0
        self.put(1, block)

    cdef void evict(self) noexcept nogil:
        cdef block_t victim = self.oldest(1)
        while self.nodes[victim].uses:              # give the victim another chance
            self.nodes[victim].uses -= 1
            self.move(1, victim)
            victim = self.oldest(1)
        self.leave(victim, ABSENT)


cdef class Sieve(Clock):
    cdef block_t hand                   # object at which the search begins; the list's head = the oldest object

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, **parameters):
        self.hand = <block_t>(blocks + 1)

    cdef void evict(self) noexcept nogil:
        cdef block_t head = <block_t>(self.blocks + 1), victim = self.oldest(1) if self.hand == head else self.hand
        while self.nodes[victim].uses:
            self.nodes[victim].uses = 0
            victim = self.nodes[victim].link.newer
            if victim == head:
                victim = self.oldest(1)
        self.hand = victim
        self.leave(victim, ABSENT)

    cdef void leave(self, block_t block, int ghosts) noexcept nogil:
        if block == self.hand:
            self.hand = self.nodes[block].link.newer
        SizedCache.leave(self, block, ghosts)


cdef class SLRU(SizedCache):
    cdef int segments
    cdef int64_t limit                  # maximum bytes of each segment but the lowest

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, segments=2, protected=0.8, **parameters):
        if not 2 <= segments <= MAX_SEGMENTS:
            raise ValueError(f"segments is {segments}; expected 2 to {MAX_SEGMENTS}")
        self.segments, self.limit = segments, int(self.room * protected / (segments - 1))

    cdef void touch(self, block_t block) noexcept nogil:
        cdef int where = self.nodes[block].list
        self.take(block)
        self.enter(min(where + 1, self.segments), block)

    cdef void evict(self) noexcept nogil:
        cdef int where = 1
        while self.oldest(where) >= self.blocks:
            where += 1
        self.leave(self.oldest(where), ABSENT)

    cdef void enter(self, int where, block_t block) noexcept nogil:
        """Put an object into a segment, and move the excess over each segment's limit into the segment below."""
        self.put(where, block)
        while where > 1:
            while self.bytes[where] > self.limit:
                self.move(where - 1, self.oldest(where))
            where -= 1


cdef class S3FIFO(SizedCache):
    cdef int64_t share                  # bytes that the small queue should hold
    cdef int64_t ghosts_room            # maximum bytes of the objects whose names are remembered
    cdef int threshold
    cdef bint filling

    def __cinit__(
        self, Py_ssize_t capacity, Py_ssize_t blocks, *args, small=0.1, ghost=0.9, threshold=2, fill_main=1, **parameters
    ):
        self.share = min(max(int(self.room * small), 1), self.room)     # conversion to float may round a large room up
        self.ghosts_room = min(int(self.room * ghost), 1 << 62)
        self.threshold, self.filling = threshold, fill_main

    cdef void touch(self, block_t block) noexcept nogil:
        self.nodes[block].uses = min(self.nodes[block].uses + 1, <uint8_t>MAX_USES)

    cdef void load(self, block_t block) noexcept nogil:
        cdef bint known = self.nodes[block].list == GHOSTS
        if known:
            self.ghost_hits += 1
            self.take(block)
        self.make_room(block)
        self.nodes[block].uses = 0
        self.put(MAIN if known or (self.filling and self.bytes[SMALL] >= self.share) else SMALL, block)

    cdef void evict(self) noexcept nogil:
        self.filling = False
        if self.bytes[MAIN] > self.room - self.share or self.oldest(SMALL) >= self.blocks:
            self.evict_main()
        else:
            self.evict_small()

    cdef void evict_small(self) noexcept nogil:
        """Evict an object of the small queue, or none if all of them move to the main queue."""
        cdef block_t block
        while self.oldest(SMALL) < self.blocks:
            block = self.oldest(SMALL)
            if self.nodes[block].uses < self.threshold:
                self.leave(block, GHOSTS if self.nodes[block].held <= self.ghosts_room > 0 else ABSENT)
                while self.bytes[GHOSTS] > self.ghosts_room:
                    self.take(self.oldest(GHOSTS))
                return
            self.nodes[block].uses = 0
            self.move(MAIN, block)

    cdef void evict_main(self) noexcept nogil:
        cdef block_t block = self.oldest(MAIN)
        while self.nodes[block].uses:
            self.nodes[block].uses -= 1
            self.move(MAIN, block)
            block = self.oldest(MAIN)
        self.leave(block, ABSENT)


cdef class ARC(SizedCache):
    cdef readonly double p              # target bytes of T1
    cdef bint adapts

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, target=None, **parameters):
        self.adapts = target is None
        self.p = 0 if target is None else target * self.room

    cdef void touch(self, block_t block) noexcept nogil:
        self.move(T2, block)

    cdef void load(self, block_t block) noexcept nogil:
        cdef int known = self.nodes[block].list
        cdef int64_t size = self.nodes[block].asked
        if known == ABSENT:
            while self.used_bytes + size > self.room:
                if self.bytes[T1] + size > self.room and self.oldest(B1) >= self.blocks:
                    self.leave(self.oldest(T1), ABSENT)
                else:
                    self.replace(False)
            while self.bytes[T1] + self.bytes[B1] + size > self.room:
                self.take(self.oldest(B1))
        else:
            self.ghost_hits += 1
            self.adapt(known == B1, size)
            self.take(block)
            while self.used_bytes + size > self.room:
                self.replace(known == B2)
        self.trim(size)
        self.nodes[block].held = size
        self.put(T1 if known == ABSENT else T2, block)

    cdef void adapt(self, bint in_b1, int64_t size) noexcept nogil:
        """Move the target by the object's size times the ratio of the ghost lists' bytes, but at least by its size."""
        cdef double own = self.bytes[B1] if in_b1 else self.bytes[B2], other = self.bytes[B2] if in_b1 else self.bytes[B1]
        cdef double step
        if self.adapts:
            step = size * max(other / max(own, 1.0), 1.0)
            self.p = min(max(self.p + (step if in_b1 else -step), 0.0), <double>self.room)

    cdef void replace(self, bint in_b2) noexcept nogil:
        cdef bint t1 = self.oldest(T1) < self.blocks, t2 = self.oldest(T2) < self.blocks
        if t1 and (not t2 or self.bytes[T1] > self.p or (in_b2 and self.bytes[T1] == self.p)):
            self.leave(self.oldest(T1), B1)
        else:
            self.leave(self.oldest(T2), B2)

    cdef void trim(self, int64_t size) noexcept nogil:
        """Forget names until the lists and a coming object of `size` together have at most twice the cache's bytes."""
        while self.bytes[T1] + self.bytes[T2] + self.bytes[B1] + self.bytes[B2] + size > 2 * self.room:
            self.take(self.oldest(B2 if self.oldest(B2) < self.blocks else B1))

    cdef void evict(self) noexcept nogil:
        self.replace(False)

    cdef void settle(self) noexcept nogil:
        SizedCache.settle(self)
        while self.bytes[T1] + self.bytes[B1] > self.room:
            self.take(self.oldest(B1))
        self.trim(0)
