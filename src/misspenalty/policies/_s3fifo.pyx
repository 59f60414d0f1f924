"""Implement the kernel of S3-FIFO; the definition is in s3fifo.py, and the queues are in _s3fifo.pxd."""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies._s3fifo cimport COUNTER, State, is_cached, load, make_state, next_victim


cdef class S3FIFO(Policy):
    cdef State state

    def __cinit__(self, capacity, blocks, small, ghost, threshold, fill_main):
        make_state(&self.state, self, max(int(capacity * small), 1), ghost)
        self.state.threshold = threshold
        self.state.filling = fill_main

    cdef bint holds(self, block_t block) noexcept nogil:
        return is_cached(self.state.nodes[block])

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return next_victim(&self.state)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State s = self.state
        cdef uint32_t state
        cdef bint found, room
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0, ghost_hits = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&s.nodes[ids[i + AHEAD]])
            block = ids[i]
            state = s.nodes[block]
            found = is_cached(state)
            hit[i] = found
            s.nodes[block] = state + (found & (state & COUNTER != COUNTER))
            if found:
                continue
            misses += 1
            room = filled < free
            filled += room
            ghost_hits += load(&s, block, room)
        self.state = s
        self.resident += filled
        self.evictions += misses - filled
        self.ghost_hits += ghost_hits
