"""Implement the kernel of LRU; the definition is in lru.py."""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, oldest, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef class LRU(Policy):
    cdef uint32_t* nodes        # by block: position in the log, or NOWHERE
    cdef Log log                # the LRU stack; it takes 12 bytes per resident block

    def __cinit__(self, capacity, blocks):
        make_log(&self.log, self.allocate_logs(self.max_resident(), 1), FIRST, self.max_resident())
        self.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block] != NOWHERE

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return oldest(&self.log, self.nodes, sizeof(uint32_t))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef uint32_t* nodes = self.nodes
        cdef Log log = self.log
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&nodes[ids[i + AHEAD]])
            block = ids[i]
            hit[i] = nodes[block] != NOWHERE
            if nodes[block] == NOWHERE:
                misses += 1
                if filled < free:
                    filled += 1
                else:
                    nodes[take_oldest(&log, nodes, sizeof(uint32_t))] = NOWHERE
            add(&log, nodes, sizeof(uint32_t), block)
        self.log = log
        self.resident += filled
        self.evictions += misses - filled
