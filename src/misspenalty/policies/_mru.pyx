"""Implement the kernel of MRU; the definition is in mru.py.

The most recently used block is the previous one in the trace, so no order has to be kept.
"""

from libc.stdint cimport uint8_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef class MRU(Policy):
    cdef uint8_t* cached        # whether a block is in the cache; one per block
    cdef block_t last           # most recently used block

    def __cinit__(self, capacity, blocks):
        self.cached = <uint8_t*>self.allocate(blocks, sizeof(uint8_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.cached[block]

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return self.last

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef uint8_t* cached = self.cached
        cdef block_t block, last = self.last
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&cached[ids[i + AHEAD]])
            block = ids[i]
            hit[i] = cached[block]
            if not cached[block]:
                misses += 1
                if filled < free:
                    filled += 1
                else:
                    cached[last] = 0
                cached[block] = 1
            last = block
        self.last = last
        self.resident += filled
        self.evictions += misses - filled
