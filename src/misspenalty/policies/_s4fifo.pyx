"""Implement the kernel of S4-FIFO; the definition is in s4fifo.py, and the queues are S3-FIFO's, in _s3fifo.pxd.

A block can be in the cache and in G at once, so G has nodes of its own, and the `ghost` of the queues has no room.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._history cimport History, make_history, recall, remember
from misspenalty.policies._log cimport NOWHERE
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies._s3fifo cimport (
    ABSENT, COUNTER, MAIN, SMALL, State, enter, evict_main, is_cached, make_state, pop, push,
)


cdef struct Name:
    uint32_t position           # position in G, or NOWHERE
    uint32_t count              # the block's counter when it left S, plus 1 per later look-up that kept the name


cdef class S4FIFO(Policy):
    cdef State state
    cdef History ghost
    cdef Name* names            # by block: its name in G
    cdef uint32_t* entries      # value of `entered` when the block entered S; one per block
    cdef uint32_t entered       # number of blocks that have entered S
    cdef uint32_t return_hits   # minimum count of a name for its block to enter M
    cdef uint32_t window        # minimum age at which a hit in S adds to the counter

    def __cinit__(self, capacity, blocks, small, ghost, threshold, skip, return_hits):
        make_state(&self.state, self, max(int(capacity * small), 1), 0)
        self.state.threshold = threshold
        self.state.filling = True
        self.window = int(self.state.share * skip)
        self.return_hits = return_hits
        self.entries = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.names = <Name*>self.allocate(blocks, sizeof(Name))
        make_history(&self.ghost, self, ghost)

    cdef bint holds(self, block_t block) noexcept nogil:
        return is_cached(self.state.nodes[block])

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State* s = &self.state
        cdef uint32_t state
        cdef bint found, known
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&s.nodes[ids[i + AHEAD]])
                prefetch(&self.names[ids[i + AHEAD]])
            block = ids[i]
            state = s.nodes[block]
            found = is_cached(state)
            hit[i] = found
            if found and state < MAIN:
                if state & COUNTER != COUNTER and self.entered - self.entries[block] >= self.window:
                    s.nodes[block] = state + 1
                continue
            known = self.returns(block)
            if found:
                s.nodes[block] = state + (state & COUNTER != COUNTER)
                continue
            misses += 1
            if filled < free:
                filled += 1
            else:
                s.filling = False
                self.evict()
            enter(s, block, known)
            if s.nodes[block] == SMALL:
                self.entered += 1
                self.entries[block] = self.entered
        self.resident += filled
        self.evictions += misses - filled

    cdef inline bint returns(self, block_t block) noexcept nogil:
        """Return whether a block's name in G lets it enter M; if so, remove the name, otherwise raise its count."""
        cdef Name* name = &self.names[block]
        if name.position == NOWHERE:
            return False
        self.ghost_hits += not is_cached(self.state.nodes[block])
        if name.count >= self.return_hits:
            recall(&self.ghost, self.names, sizeof(Name), block)
            return True
        name.count += 1
        return False

    cdef inline void evict(self) noexcept nogil:
        cdef State* s = &self.state
        cdef block_t block
        while s.main.held <= s.most and s.small.held:
            while s.small.held:
                block = pop(&s.small, s.nodes)
                if s.nodes[block] - SMALL < s.threshold:
                    self.names[block].count = s.nodes[block] - SMALL
                    s.nodes[block] = ABSENT
                    if self.names[block].position == NOWHERE:
                        remember(&self.ghost, self.names, sizeof(Name), block)
                    return
                push(&s.main, block)
                s.nodes[block] = MAIN
        evict_main(s)
