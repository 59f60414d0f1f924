"""Implement the kernel of Clock2Q+; the definition is in clock2qplus.py, and the queues are S3-FIFO's, in _s3fifo.pxd.

The age of a block in S is the number of blocks that entered S after it. It is the difference of two counts of entries
into S, which may both wrap around.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies._s3fifo cimport COUNTER, MAIN, SMALL, State, is_cached, load, make_state


cdef class Clock2QPlus(Policy):
    cdef State state
    cdef uint32_t* entries      # value of `entered` when the block entered S; one per block
    cdef uint32_t entered       # number of blocks that have entered S
    cdef double window          # minimum age at which a hit in S sets the bit

    def __cinit__(self, capacity, blocks, small, ghost, window):
        make_state(&self.state, self, max(int(capacity * small), 1), ghost)
        self.state.threshold = 1
        self.state.filling = True
        self.window = self.state.share * <double>window
        self.entries = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return is_cached(self.state.nodes[block])

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State s = self.state
        cdef uint32_t state
        cdef uint32_t entered = self.entered
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
            if found:
                if state & COUNTER == 0 and (state >= MAIN or entered - self.entries[block] >= self.window):
                    s.nodes[block] = state + 1
                continue
            misses += 1
            room = filled < free
            filled += room
            ghost_hits += load(&s, block, room)
            if s.nodes[block] == SMALL:
                entered += 1
                self.entries[block] = entered
        self.state = s
        self.entered = entered
        self.resident += filled
        self.evictions += misses - filled
        self.ghost_hits += ghost_hits
