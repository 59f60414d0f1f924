"""Kernel of S3-FIFO; the definition is in s3fifo.py.

S and M are plain rings, since nothing leaves their middle; G is a log. A block's state tells where it is: ABSENT, in S
or M with its counter in the lowest two bits, or, from GHOST on, its position in G.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._history cimport History, make_history, recall, remember
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    ABSENT = 0                  # neither in the cache nor in G
    COUNTER = 3                 # mask and highest value of the counter
    SMALL = 4                   # in S, counter 0
    MAIN = 8                    # in M, counter 0
    GHOST = 12                  # lowest position in G
    FETCHED = 8                 # entries of a ring whose blocks are fetched before they are the oldest


cdef struct Ring:
    block_t* blocks
    uint32_t size               # blocks it can hold
    uint32_t front              # place of the oldest
    uint32_t held               # blocks in it


cdef struct State:
    uint32_t* nodes             # state; one per block
    Ring small
    Ring main
    History ghost
    uint32_t share              # blocks S should hold
    uint32_t most               # M gives the victim if it holds more
    uint32_t threshold          # counter that lets a block move to M
    bint filling                # whether new blocks beyond the share of S enter M


cdef inline void push(Ring* ring, block_t block) noexcept nogil:
    cdef size_t at = <size_t>ring.front + ring.held
    ring.blocks[at if at < ring.size else at - ring.size] = block
    ring.held += 1


cdef inline block_t pop(Ring* ring, const uint32_t* nodes) noexcept nogil:
    cdef block_t block = ring.blocks[ring.front]
    ring.front = ring.front + 1 if ring.front + 1 < ring.size else 0
    ring.held -= 1
    prefetch(&nodes[ring.blocks[ring.front + FETCHED]])
    return block


cdef inline bint evict_small(State* s) noexcept nogil:
    """Evict a block of S; False if all moved to M."""
    cdef block_t block
    while s.small.held:
        block = pop(&s.small, s.nodes)
        if s.nodes[block] - SMALL < s.threshold:
            remember(&s.ghost, s.nodes, sizeof(uint32_t), block)
            return True
        push(&s.main, block)
        s.nodes[block] = MAIN
    return False


cdef inline void evict_main(State* s) noexcept nogil:
    cdef block_t block
    while True:
        block = pop(&s.main, s.nodes)
        if s.nodes[block] == MAIN:
            s.nodes[block] = ABSENT
            return
        s.nodes[block] -= 1
        push(&s.main, block)


cdef inline void evict(State* s) noexcept nogil:
    cdef bint evicted = False
    while not evicted:
        if s.main.held > s.most or not s.small.held:
            evict_main(s)
            evicted = True
        else:
            evicted = evict_small(s)


cdef class S3FIFO(Policy):
    cdef State state

    def __cinit__(self, capacity, blocks, small, ghost, threshold, fill_main):
        cdef State* s = &self.state
        share = max(int(capacity * small), 1)
        s.share = share
        s.most = capacity - share
        s.threshold = threshold
        s.filling = fill_main
        s.small.size = s.main.size = <uint32_t>self.max_resident()
        make_history(&s.ghost, self, ghost, GHOST)
        s.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        s.small.blocks = <block_t*>self.allocate(<size_t>s.small.size + FETCHED, sizeof(block_t))
        s.main.blocks = <block_t*>self.allocate(<size_t>s.main.size + FETCHED, sizeof(block_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.state.nodes[block] >= SMALL and self.state.nodes[block] < GHOST

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State s = self.state
        cdef uint32_t state
        cdef bint found, known
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0, ghost_hits = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&s.nodes[ids[i + AHEAD]])
            block = ids[i]
            state = s.nodes[block]
            found = state - SMALL < GHOST - SMALL  # unsigned: ABSENT is far above
            hit[i] = found
            s.nodes[block] = state + (found & (state & COUNTER != COUNTER))
            if found:
                continue
            misses += 1
            known = state != ABSENT
            if known:
                ghost_hits += 1
                recall(&s.ghost, s.nodes, sizeof(uint32_t), block)
            if filled < free:
                filled += 1
            else:
                s.filling = False
                evict(&s)
            if known or (s.filling and s.small.held >= s.share):
                push(&s.main, block)
                s.nodes[block] = MAIN
            else:
                push(&s.small, block)
                s.nodes[block] = SMALL
        self.state = s
        self.resident += filled
        self.evictions += misses - filled
        self.ghost_hits += ghost_hits
