"""Implement the kernel of TinyLFU as a filter before another policy; the definition is in tinylfu.py."""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._policy cimport Policy, block_t
from misspenalty.policies._sketch cimport Sketch, draw_of, frequency, increment, make_sketch


cdef class TinyLFU(Policy):
    cdef Policy policy          # the policy behind the filter, which implements `would_evict`
    cdef Sketch sketch
    cdef uint32_t* numbers      # number of each block in order of first use, from 1; 0 = not yet used
    cdef uint32_t seen          # number of blocks that have a number

    def __cinit__(self, capacity, blocks, Policy policy, sample_size):
        self.policy = policy
        self.varies = True
        self.numbers = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        make_sketch(&self.sketch, self, self.max_resident(), int(sample_size * capacity))
        self.memory += policy.memory

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.policy.holds(block)

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return self.policy.would_evict(block)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef block_t block
        cdef Py_ssize_t i
        for i in range(n):
            block = ids[i]
            if self.numbers[block] == 0:
                self.seen += 1
                self.numbers[block] = self.seen
            increment(&self.sketch, draw_of(self.numbers[block]))
            if self.policy.holds(block) or self.policy.resident < self.capacity or self.admits(block):
                hit[i] = self.policy.access(block)
            else:
                hit[i] = 0
        self.resident = self.policy.resident
        self.evictions = self.policy.evictions
        self.ghost_hits = self.policy.ghost_hits

    cdef inline bint admits(self, block_t block) noexcept nogil:
        """Return whether the sketch has a higher count for a missed block than for the block that it would evict."""
        cdef int count = frequency(&self.sketch, self.numbers[block])
        return count > frequency(&self.sketch, self.numbers[self.policy.would_evict(block)])
