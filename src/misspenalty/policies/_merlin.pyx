"""Implement the kernel of Merlin; the definition is in merlin.py, and the rings are S3-FIFO's, in _s3fifo.pxd.

A block can be in the cache and in the history at once, so the history has nodes of its own.
"""

from libc.math cimport ceil, log
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from misspenalty.policies._history cimport NOBODY, History, make_history, recall, remember
from misspenalty.policies._log cimport NOWHERE
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies._s3fifo cimport Ring, make_ring, pop, push
from misspenalty.policies._sketch cimport draw_of

cdef enum:
    ABSENT = 0                  # state of a block that is not in the cache
    COUNT = 7                   # mask and highest value of the count
    CACHED = 8                  # state of a block in the cache with count 0
    ALSO_NAMED = 16             # added to CACHED: the block entered staging while its name was in the history
    HASHES = 10                 # number of counters of a block in the sketch
    COUNTERS = 0x7FFFFFFF       # maximum number of counters of the sketch


cdef struct Name:
    uint32_t position           # position in the history, or NOWHERE
    uint32_t count


cdef struct State:
    uint32_t* nodes             # by block: its state
    uint32_t* numbers           # number of each block in order of first use, from 1; 0 = not yet used
    Name* names                 # by block: its name in the history
    uint32_t* counters          # counters of the sketch
    uint32_t counted            # number of counters of the sketch
    uint32_t seen               # number of blocks that have a number
    History ghost
    Ring filter
    Ring staging
    Ring core
    uint32_t filter_share       # number of blocks that the filter should hold
    uint32_t core_share         # number of blocks that the core should hold
    uint32_t guard
    uint32_t epoch              # a count in the sketch above this number never wins a comparison
    uint64_t rounds             # number of calls of make_room since the sketch was last halved
    uint64_t period             # number of calls after which the sketch is halved
    int64_t[COUNT + 2] reaching  # by count: number of blocks and names with at least that count


cdef inline uint32_t least(const State* s, block_t block) noexcept nogil:
    """Return the block's count in the sketch."""
    cdef uint64_t draw = draw_of(s.numbers[block])
    cdef uint32_t place = <uint32_t>draw, lowest = 0xFFFFFFFF
    cdef int k
    for k in range(HASHES):
        lowest = min(lowest, s.counters[place % s.counted])
        place += <uint32_t>(draw >> 32)
    return lowest


cdef inline void add(State* s, block_t block) noexcept nogil:
    """Count a block in the sketch."""
    cdef uint64_t draw = draw_of(s.numbers[block])
    cdef uint32_t place = <uint32_t>draw
    cdef int k
    for k in range(HASHES):
        s.counters[place % s.counted] += 1
        place += <uint32_t>(draw >> 32)


cdef inline void discount(State* s, int above, int to) noexcept nogil:
    cdef int count
    for count in range(to + 1, above + 1):
        s.reaching[count] -= 1


cdef inline void enter(State* s, Ring* ring, block_t block, uint32_t mark) noexcept nogil:
    """Add a block to a queue, with a count of 0."""
    push(ring, block)
    s.nodes[block] = CACHED | mark
    s.reaching[0] += 1


cdef inline void keep_name(State* s, block_t block) noexcept nogil:
    """Add the name of a block in the filter to the history, with the block's count."""
    cdef block_t forgotten
    s.names[block].count = s.nodes[block] & COUNT
    forgotten = remember(&s.ghost, s.names, sizeof(Name), block)
    if forgotten != NOBODY:
        discount(s, s.names[forgotten].count, -1)


cdef inline void adjust_guard(State* s) noexcept nogil:
    if s.reaching[s.guard] > s.core.held:
        while s.reaching[s.guard] > s.core.held:
            s.guard += 1
    else:
        while s.guard > 1 and s.reaching[s.guard - 1] < s.core.held:
            s.guard -= 1


cdef inline bint compare(State* s) noexcept nogil:
    """Move the filter's oldest block to staging if the sketch prefers it to staging's; return whether it moved."""
    cdef block_t block, other
    cdef uint32_t value
    if not s.filter.held or not s.staging.held:
        return False
    other = s.staging.blocks[s.staging.front]
    if s.nodes[other] & COUNT:
        return False
    block = s.filter.blocks[s.filter.front]
    value = least(s, block)
    if value > s.epoch or value <= least(s, other):
        return False
    add(s, block)
    keep_name(s, block)
    pop(&s.filter, s.nodes)
    enter(s, &s.staging, block, ALSO_NAMED)
    return True


cdef inline void evict_staging(State* s) noexcept nogil:
    cdef block_t block = pop(&s.staging, s.nodes)
    discount(s, s.nodes[block] & COUNT, -1)
    s.nodes[block] = ABSENT


cdef inline bint shrink_filter(State* s) noexcept nogil:
    """Evict a block, or return False if all blocks of the filter have moved to the core instead."""
    cdef block_t block
    while s.filter.held:
        block = s.filter.blocks[s.filter.front]
        if s.nodes[block] & COUNT < s.guard:
            if compare(s):
                evict_staging(s)
            else:
                pop(&s.filter, s.nodes)
                keep_name(s, block)
                s.nodes[block] = ABSENT
                add(s, block)
            return True
        push(&s.core, pop(&s.filter, s.nodes))
        discount(s, s.nodes[block] & COUNT, 0)
        s.nodes[block] = CACHED
        add(s, block)
    return False


cdef inline void promote(State* s, block_t block) noexcept nogil:
    """Add to the core a block that was just removed from staging."""
    if s.nodes[block] & ALSO_NAMED and s.names[block].position != NOWHERE:
        recall(&s.ghost, s.names, sizeof(Name), block)
        discount(s, s.names[block].count, -1)
    add(s, block)
    s.reaching[s.nodes[block] & COUNT] -= 1
    s.nodes[block] = (s.nodes[block] & ~<uint32_t>ALSO_NAMED) - 1
    push(&s.core, block)


cdef inline void settle(State* s) noexcept nogil:
    """Move the core's excess to staging, and staging's oldest blocks to the core while these have hits."""
    while True:
        while s.core.held > s.core_share:
            push(&s.staging, pop(&s.core, s.nodes))
        while s.staging.held:
            if not s.nodes[s.staging.blocks[s.staging.front]] & COUNT:
                return
            promote(s, pop(&s.staging, s.nodes))


cdef inline bint make_room(State* s) noexcept nogil:
    """Evict a block, or only move blocks of the filter to the core; return whether there is room."""
    cdef uint32_t k
    s.rounds += 1
    if s.rounds == s.period:
        s.rounds = 0
        for k in range(s.counted):
            s.counters[k] >>= 1
    adjust_guard(s)
    if s.filter.held >= s.filter_share:
        return shrink_filter(s)
    settle(s)
    compare(s)
    evict_staging(s)
    return True


cdef class Merlin(Policy):
    cdef State state

    def __cinit__(self, capacity, blocks, filter, staging, ghost, epoch, sketch):
        cdef State* s = &self.state
        cdef double counted
        s.filter_share = max(int(filter * capacity), 1)
        s.core_share = max(capacity - int(s.filter_share) - max(int(staging * capacity), 1), 0)
        s.guard = 2
        s.epoch = epoch
        s.period = epoch * capacity
        counted = ceil(-log(0.001) / log(2.0) ** 2 * int(self.max_resident() * sketch))
        s.counted = <uint32_t>min(counted, <double>COUNTERS) if counted >= HASHES else 2 * HASHES
        s.counters = <uint32_t*>self.allocate(s.counted, sizeof(uint32_t))
        make_ring(&s.filter, self)
        make_ring(&s.staging, self)
        make_ring(&s.core, self)
        make_history(&s.ghost, self, ghost)
        s.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        s.numbers = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        s.names = <Name*>self.allocate(blocks, sizeof(Name))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.state.nodes[block] != ABSENT

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State* s = &self.state
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&s.nodes[ids[i + AHEAD]])
            block = ids[i]
            if s.numbers[block] == 0:
                s.seen += 1
                s.numbers[block] = s.seen
            hit[i] = s.nodes[block] != ABSENT
            if hit[i]:
                if s.nodes[block] & COUNT != COUNT:
                    s.nodes[block] += 1
                    s.reaching[s.nodes[block] & COUNT] += 1
                continue
            misses += 1
            filled += filled < free
            self.load(block, misses <= free)
        self.resident += filled
        self.evictions += misses - filled

    cdef inline void load(self, block_t block, bint room) noexcept nogil:
        cdef State* s = &self.state
        cdef Name* name = &s.names[block]
        cdef bint known = name.position != NOWHERE
        cdef bint hot = False
        if known:
            self.ghost_hits += 1
            if name.count < COUNT:
                name.count += 1
                s.reaching[name.count] += 1
            hot = name.count >= s.guard
        while not room:
            room = make_room(s)
        if not s.filter.held and not s.staging.held:
            enter(s, &s.core, block, 0)
        elif hot:
            if name.position != NOWHERE:
                recall(&s.ghost, s.names, sizeof(Name), block)
            push(&s.core, block)
            s.nodes[block] = CACHED + name.count
        elif known:
            add(s, block)
            enter(s, &s.staging, block, ALSO_NAMED)
        else:
            enter(s, &s.filter, block, 0)
