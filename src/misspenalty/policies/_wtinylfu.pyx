"""Implement the kernel of W-TinyLFU; the definition is in wtinylfu.py.

Window, probation and protected segment are logs that share one array, so that a block's position tells where it is.
"""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, take_oldest
from misspenalty.policies._policy cimport AHEAD, NEAR, Policy, block_t, prefetch
from misspenalty.policies._sketch cimport Sketch, draw_of, frequency, increment, line_of, make_sketch

cdef enum:
    DRAWS = 16                  # number of draws kept for future requests, more than NEAR; a power of two


cdef struct Node:
    uint32_t position           # position in a log, or NOWHERE
    uint32_t number             # the block's number in order of first use, from 1; 0 = not yet used


cdef struct State:
    Node* nodes                 # array of nodes, one per block
    Sketch sketch
    Log window
    Log probation
    Log protected
    uint32_t seen               # number of blocks that have a number
    uint32_t in_window          # number of blocks in the window
    uint32_t in_probation       # number of blocks in probation
    uint32_t in_protected       # number of protected blocks
    uint32_t window_limit       # maximum number of blocks in the window
    uint32_t protected_limit    # maximum number of protected blocks


cdef inline void expect(const State* s, const Log* log) noexcept nogil:
    """Prefetch the counters of the block that will probably be taken from a log next."""
    prefetch(line_of(&s.sketch, draw_of(s.nodes[log.entries[log.begin]].number)))


cdef inline uint64_t draw_of_next(State* s, block_t block) noexcept nogil:
    """Return the draw of a block that will be requested soon (number it first if it is new); prefetch its counters."""
    cdef Node* node = &s.nodes[block]
    cdef uint64_t draw
    if node.number == 0:
        s.seen += 1
        node.number = s.seen
    draw = draw_of(node.number)
    prefetch(line_of(&s.sketch, draw))
    return draw


cdef inline void append(State* s, Log* log, block_t block) noexcept nogil:
    add(log, s.nodes, sizeof(Node), block)


cdef inline block_t take(State* s, Log* log) noexcept nogil:
    return take_oldest(log, s.nodes, sizeof(Node))


cdef inline void promote(State* s, block_t block) noexcept nogil:
    """Move a block from probation to protected, which may overflow."""
    append(s, &s.protected, block)
    if s.in_protected < s.protected_limit:
        s.in_probation -= 1
        s.in_protected += 1
    else:
        append(s, &s.probation, take(s, &s.protected))


cdef inline void admit(State* s, block_t candidate, bint full) noexcept nogil:
    """Admit a block to probation if there is room or its count is higher than the victim's; otherwise evict it."""
    cdef block_t victim
    if full:
        s.nodes[candidate].position = NOWHERE
        if not s.in_probation:
            return
        victim = take(s, &s.probation)
        if frequency(&s.sketch, s.nodes[candidate].number) <= frequency(&s.sketch, s.nodes[victim].number):
            s.probation.begin -= 1  # put the victim back in its place
            return
        s.nodes[victim].position = NOWHERE
        s.in_probation -= 1
    append(s, &s.probation, candidate)
    s.in_probation += 1


cdef class WTinyLFU(Policy):
    cdef State state

    def __cinit__(self, capacity, blocks, window, protected, sample_size):
        cdef State* s = &self.state
        s.window_limit = max(capacity - int(capacity * (1 - window)), 1)
        s.protected_limit = int((capacity - s.window_limit) * protected)
        max_resident = self.max_resident()
        live = [min(limit, max_resident) + 1 for limit in (s.window_limit, capacity - s.window_limit, s.protected_limit)]
        entries = self.allocate_logs(sum(live), len(live))
        first = make_log(&s.window, entries, FIRST, live[0])
        first = make_log(&s.probation, entries, first, live[1])
        make_log(&s.protected, entries, first, live[2])
        s.nodes = <Node*>self.allocate(blocks, sizeof(Node))
        make_sketch(&s.sketch, self, max_resident, int(sample_size * capacity))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.state.nodes[block].position != NOWHERE

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State s = self.state
        cdef uint64_t[DRAWS] draws
        cdef uint32_t at
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(min(n, <Py_ssize_t>NEAR)):
            draws[i] = draw_of_next(&s, ids[i])
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&s.nodes[ids[i + AHEAD]])
            increment(&s.sketch, draws[i % DRAWS])
            if i + NEAR < n:
                draws[(i + NEAR) % DRAWS] = draw_of_next(&s, ids[i + NEAR])
            at = s.nodes[ids[i]].position
            hit[i] = at != NOWHERE
            if at >= s.protected.first:
                append(&s, &s.protected, ids[i])
            elif at >= s.probation.first:
                promote(&s, ids[i])
            elif at != NOWHERE:
                append(&s, &s.window, ids[i])
            else:
                misses += 1
                append(&s, &s.window, ids[i])
                if s.in_window < s.window_limit:
                    s.in_window += 1
                    filled += 1
                else:
                    admit(&s, take(&s, &s.window), filled == free)
                    filled += filled < free
                    expect(&s, &s.window)
                    expect(&s, &s.probation)
        self.state = s
        self.resident += filled
        self.evictions += misses - filled
