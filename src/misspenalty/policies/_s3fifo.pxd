# Define the queues of S3-FIFO, for the policies that are built from them; other policies use the rings, too.
#
# S and M are plain rings, since nothing leaves their middle; G is a log. A block's state tells where it is: ABSENT, in
# S or M (its lowest two bits are then the counter), or, from GHOST on, in G at that position.

from libc.stdint cimport uint32_t

from misspenalty.policies._history cimport History, make_history, recall, remember
from misspenalty.policies._policy cimport Policy, block_t, prefetch

cdef enum:
    ABSENT = 0                  # state of a block that is neither in the cache nor in G
    COUNTER = 3                 # mask and highest value of the counter
    SMALL = 4                   # state of a block in S with counter 0
    MAIN = 8                    # state of a block in M with counter 0
    GHOST = 12                  # lowest position in G
    FETCHED = 8                 # number of entries ahead of a ring's front at which states are prefetched


cdef struct Ring:
    block_t* blocks
    uint32_t size               # number of blocks that the ring can hold
    uint32_t front              # place of the oldest block
    uint32_t held               # number of blocks in the ring


cdef struct State:
    uint32_t* nodes             # by block: its state
    Ring small
    Ring main
    History ghost
    uint32_t share              # number of blocks that S should hold
    uint32_t most               # number of blocks in M above which M provides the victim
    uint32_t threshold          # lowest counter with which a block of S moves to M
    bint filling                # 1 = new blocks enter M if S has reached its share; 0 after the first eviction


cdef inline int make_ring(Ring* ring, Policy policy) except -1:
    ring.size = <uint32_t>policy.max_resident()
    ring.blocks = <block_t*>policy.allocate(<size_t>ring.size + FETCHED, sizeof(block_t))
    return 0


cdef inline int make_state(State* s, Policy policy, uint32_t share, double ghost) except -1:
    """Make empty queues, with a history of `ghost` times the cache."""
    s.share = share
    s.most = <uint32_t>(policy.capacity - share)
    make_history(&s.ghost, policy, ghost, GHOST)
    s.nodes = <uint32_t*>policy.allocate(policy.blocks, sizeof(uint32_t))
    make_ring(&s.small, policy)
    make_ring(&s.main, policy)
    return 0


cdef inline bint is_cached(uint32_t state) noexcept nogil:
    return state - SMALL < GHOST - SMALL  # unsigned arithmetic: ABSENT wraps to a high value


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
    """Evict a block of S, or return False if all blocks of S have moved to M instead."""
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


cdef inline block_t at(const Ring* ring, uint32_t i) noexcept nogil:
    """Return the block of a ring that is `i` places after the oldest."""
    cdef size_t place = <size_t>ring.front + i
    return ring.blocks[place if place < ring.size else place - ring.size]


cdef inline block_t next_victim(const State* s) noexcept nogil:
    """Return the block that `evict` would evict: a block of S, or the oldest block with the lowest counter in M."""
    cdef uint32_t i, lowest = 0, moved = 0
    if s.main.held <= s.most:
        while moved < s.small.held:
            if s.nodes[at(&s.small, moved)] - SMALL < s.threshold:
                return at(&s.small, moved)
            moved += 1
    for i in range(s.main.held):
        if s.nodes[at(&s.main, i)] < s.nodes[at(&s.main, lowest)]:
            lowest = i
        if s.nodes[at(&s.main, lowest)] == MAIN:
            return at(&s.main, lowest)
    return at(&s.small, 0) if moved else at(&s.main, lowest)


cdef inline void evict(State* s) noexcept nogil:
    cdef bint evicted = False
    while not evicted:
        if s.main.held > s.most or not s.small.held:
            evict_main(s)
            evicted = True
        else:
            evicted = evict_small(s)


cdef inline void enter(State* s, block_t block, bint known) noexcept nogil:
    """Put a missed block into M if it is `known` or, until the first eviction, if S is at its share; else into S."""
    if known or (s.filling and s.small.held >= s.share):
        push(&s.main, block)
        s.nodes[block] = MAIN
    else:
        push(&s.small, block)
        s.nodes[block] = SMALL


cdef inline bint load(State* s, block_t block, bint room) noexcept nogil:
    """Load a missed block, after evicting another unless there is `room`; return whether it was in G."""
    cdef bint known = s.nodes[block] != ABSENT
    if known:
        recall(&s.ghost, s.nodes, sizeof(uint32_t), block)
    if not room:
        s.filling = False
        evict(s)
    enter(s, block, known)
    return known
