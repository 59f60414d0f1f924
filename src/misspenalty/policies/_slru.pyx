"""Implement the kernel of SLRU; the definition is in slru.py.

Every segment is a log, and all logs share one array, so that a block's position tells its segment.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, oldest, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    MAX_SEGMENTS = 16                   # maximum number of segments


cdef struct Segment:
    Log log
    uint32_t blocks             # current number of blocks in the segment
    uint32_t limit              # maximum number of blocks in the segment


cdef struct State:
    uint32_t* nodes             # by block: its position
    uint32_t top                # number of the highest segment; the lowest is 0
    Segment segments[MAX_SEGMENTS]


cdef inline uint32_t segment_at(const State* s, uint32_t position) noexcept nogil:
    cdef uint32_t k = 0
    while position >= s.segments[k].log.limit:
        k += 1
    return k


cdef inline block_t take(State* s, uint32_t k) noexcept nogil:
    """Remove and return the least recently used block of a segment; the caller sets its position."""
    s.segments[k].blocks -= 1
    return take_oldest(&s.segments[k].log, s.nodes, sizeof(uint32_t))


cdef inline void enter(State* s, uint32_t k, block_t block) noexcept nogil:
    """Put a block that is in no segment into segment `k`; overflowing blocks move down."""
    while True:
        add(&s.segments[k].log, s.nodes, sizeof(uint32_t), block)
        s.segments[k].blocks += 1
        if k == 0 or s.segments[k].blocks <= s.segments[k].limit:
            break
        block = take(s, k)
        k -= 1


cdef inline void evict(State* s) noexcept nogil:
    cdef uint32_t k = 0
    while not s.segments[k].blocks:
        k += 1
    s.nodes[take(s, k)] = NOWHERE


cdef inline uint32_t lowest_with_room(const State* s) noexcept nogil:
    cdef uint32_t k = 0
    while k < s.top and s.segments[k].blocks >= s.segments[k].limit:
        k += 1
    return k


cdef class SLRU(Policy):
    cdef State state
    cdef bint fill_up

    def __cinit__(self, capacity, blocks, segments, protected, fill_up):
        cdef State* s = &self.state
        max_resident = self.max_resident()
        upper = int(capacity * protected / (segments - 1))
        limits = [capacity - (segments - 1) * upper] + [upper] * (segments - 1)
        # Allow one more than the limit, as a block enters before the oldest moves down.
        live = [max_resident] + [min(upper, max_resident) + 1] * (segments - 1)
        entries = self.allocate_logs(sum(live), segments)
        first = FIRST
        for k in range(segments):
            s.segments[k].limit = limits[k]
            first = make_log(&s.segments[k].log, entries, first, live[k])
        s.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        s.top = segments - 1
        self.fill_up = fill_up

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.state.nodes[block] != NOWHERE

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        cdef uint32_t k = 0
        while not self.state.segments[k].blocks:
            k += 1
        return oldest(&self.state.segments[k].log, self.state.nodes, sizeof(uint32_t))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef State s = self.state
        cdef uint32_t at, k
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&s.nodes[ids[i + AHEAD]])
            block = ids[i]
            at = s.nodes[block]
            hit[i] = at != NOWHERE
            if at != NOWHERE:
                k = segment_at(&s, at)
                if k == s.top:
                    add(&s.segments[k].log, s.nodes, sizeof(uint32_t), block)
                else:
                    s.segments[k].blocks -= 1
                    s.nodes[block] = NOWHERE
                    enter(&s, k + 1, block)
                continue
            misses += 1
            if filled < free:
                filled += 1
                enter(&s, lowest_with_room(&s) if self.fill_up else 0, block)
            else:
                evict(&s)
                enter(&s, 0, block)
        self.state = s
        self.resident += filled
        self.evictions += misses - filled
