"""Implement the kernels of the policies that evict the object with the lowest rank; sized/ranked.py has the definitions.

The objects in the cache form a binary heap, ordered by key and then by last use; `rank_t.place` is an object's place.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from misspenalty.policies._policy cimport block_t
from misspenalty.policies.sized._sized cimport ABSENT, GHOSTS, SizedCache

cdef enum:
    MAX_USES = 64                       # maximum number of uses that LRU-K can remember of an object


cdef struct rank_t:
    double key                          # key; the object with the lowest key leaves first
    uint64_t last                       # number of the last access; breaks ties
    uint64_t count                      # number of uses; kept while the object is in the history
    uint32_t place                      # place in the heap


cdef class Ranked(SizedCache):
    cdef rank_t* ranks                  # one per object
    cdef block_t* heap                  # objects, the lowest key first
    cdef uint32_t size                  # number of objects in the heap
    cdef uint64_t now                   # number of accesses so far
    cdef int64_t history                # maximum bytes of the evicted objects that are remembered

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, history=0.0, **parameters):
        self.ranks = <rank_t*>self.allocate(blocks, sizeof(rank_t))
        self.heap = <block_t*>self.allocate(blocks, sizeof(block_t))
        self.history = min(int(history * self.room), 1 << 62)

    cdef void see(self, block_t block) noexcept nogil:
        self.now += 1

    cdef void use(self, block_t block) noexcept nogil:
        """Count a use of an object, and set its new key."""

    cdef void evicting(self, double key) noexcept nogil:
        """Take note of the key of the object that is being evicted."""

    cdef void touch(self, block_t block) noexcept nogil:
        self.ranks[block].last = self.now
        self.use(block)
        self.sift(block)

    cdef void load(self, block_t block) noexcept nogil:
        if self.nodes[block].list == GHOSTS:
            self.ghost_hits += 1
            self.take(block)
        else:
            self.ranks[block].count = 0
        self.make_room(block)
        self.put(1, block)
        self.ranks[block].last = self.now
        self.ranks[block].place = self.size
        self.heap[self.size] = block
        self.size += 1
        self.use(block)
        self.sift(block)

    cdef void evict(self) noexcept nogil:
        self.evicting(self.ranks[self.heap[0]].key)
        self.leave(self.heap[0], GHOSTS if self.nodes[self.heap[0]].held <= self.history > 0 else ABSENT)
        while self.bytes[GHOSTS] > self.history:
            self.take(self.oldest(GHOSTS))

    cdef void leave(self, block_t block, int ghosts) noexcept nogil:
        cdef uint32_t place = self.ranks[block].place
        self.size -= 1
        if place < self.size:
            self.heap[place] = self.heap[self.size]
            self.ranks[self.heap[place]].place = place
            self.sift(self.heap[place])
        SizedCache.leave(self, block, ghosts)

    cdef inline bint below(self, block_t a, block_t b) noexcept nogil:
        cdef rank_t* x = &self.ranks[a]
        cdef rank_t* y = &self.ranks[b]
        return x.key < y.key or (x.key == y.key and x.last < y.last)

    cdef void sift(self, block_t block) noexcept nogil:
        """Restore the order of the heap around an object whose key has changed."""
        cdef uint64_t at = self.ranks[block].place, other
        while at and self.below(block, self.heap[(at - 1) // 2]):
            self.set(at, self.heap[(at - 1) // 2])
            at = (at - 1) // 2
        while 2 * at + 1 < self.size:
            other = 2 * at + 1
            if other + 1 < self.size and self.below(self.heap[other + 1], self.heap[other]):
                other += 1
            if not self.below(self.heap[other], block):
                break
            self.set(at, self.heap[other])
            at = other
        self.set(at, block)

    cdef inline void set(self, uint64_t at, block_t block) noexcept nogil:
        self.heap[at] = block
        self.ranks[block].place = <uint32_t>at


cdef class LFU(Ranked):
    cdef void use(self, block_t block) noexcept nogil:
        self.ranks[block].count += 1
        self.ranks[block].key = <double>self.ranks[block].count


cdef class LRUK(Ranked):
    cdef uint64_t k
    cdef uint64_t* times                # the last k uses of each object, in a ring

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, k=2, **parameters):
        if not 1 <= k <= MAX_USES:
            raise ValueError(f"k is {k}; expected 1 to {MAX_USES}")
        self.k = k
        self.times = <uint64_t*>self.allocate(k * blocks, sizeof(uint64_t))

    cdef void use(self, block_t block) noexcept nogil:
        cdef rank_t* rank = &self.ranks[block]
        self.times[self.k * block + rank.count % self.k] = self.now
        rank.count += 1
        rank.key = <double>self.times[self.k * block + rank.count % self.k] if rank.count >= self.k else 0


cdef class GDSF(Ranked):
    cdef readonly double clock          # key of the object last evicted or not loaded
    cdef bint bypass

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, *args, bypass=0, **parameters):
        self.bypass = bool(bypass)

    cdef void evicting(self, double key) noexcept nogil:
        self.clock = key

    cdef void load(self, block_t block) noexcept nogil:
        cdef double own = self.clock + 1.0 / <double>max(self.nodes[block].asked, 1)
        while self.bypass and self.used_bytes + self.nodes[block].asked > self.room:
            if self.ranks[self.heap[0]].key > own:
                self.clock = own
                return
            self.evict()
        Ranked.load(self, block)
        if self.bypass:
            self.ranks[block].key = own
            self.sift(block)

    cdef void use(self, block_t block) noexcept nogil:
        cdef rank_t* rank = &self.ranks[block]
        rank.count += 1
        rank.key = self.clock + <double>rank.count / <double>max(self.nodes[block].held, 1)
