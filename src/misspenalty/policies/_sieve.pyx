"""Implement the kernel of SIEVE; the definition is in sieve.py.

The queue is an array, tail first, without links. The hand reads it and writes the survivors back one after another
at the tail. The gap left by evicted blocks therefore lies between `kept` and `hand`, and closes when the hand wraps.
"""

from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memmove

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    ABSENT = 0                  # state of a block outside the cache
    CACHED = 1                  # state of a cached block that is not marked as visited
    VISITED = 2                 # state of a cached block that is marked as visited
    FETCHED = 8                 # number of entries ahead of the hand at which states are prefetched


cdef struct Queue:
    block_t* entries            # array with room for twice `max_resident`, so that the gap rarely has to be closed
    size_t kept                 # index below which entries survived the current round of the hand
    size_t hand                 # next entry to examine; entries from `kept` up to this one are a gap
    size_t end                  # one past the newest entry
    size_t room                 # number of entries that the array can hold


cdef class SIEVE(Policy):
    cdef uint8_t* states        # ABSENT, CACHED or VISITED; one per block
    cdef Queue queue
    cdef int64_t asked          # value of `evictions` at the last call of `would_evict`
    cdef size_t passed          # number of consecutive entries from the hand on that were marked visited at that time

    def __cinit__(self, capacity, blocks):
        self.states = <uint8_t*>self.allocate(blocks, sizeof(uint8_t))
        self.queue.room = 2 * <size_t>self.max_resident()
        self.queue.entries = <block_t*>self.allocate(self.queue.room + FETCHED, sizeof(block_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.states[block] != ABSENT

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        cdef Queue* queue = &self.queue
        cdef size_t after = queue.end - queue.hand
        if self.asked != self.evictions:
            self.asked, self.passed = self.evictions, 0
        while self.passed < after + queue.kept:
            block = queue.entries[queue.hand + self.passed if self.passed < after else self.passed - after]
            if self.states[block] != VISITED:
                return block
            self.passed += 1
        return queue.entries[queue.hand]

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint8_t* states = self.states
        cdef Queue queue = self.queue
        cdef uint8_t state
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&states[ids[i + AHEAD]])
            block = ids[i]
            state = states[block]
            hit[i] = state != ABSENT
            states[block] = VISITED if state != ABSENT else CACHED
            if state != ABSENT:
                continue
            misses += 1
            if filled < free:
                filled += 1
            else:
                evict(&queue, states)
            if queue.end == queue.room:
                close_gap(&queue)
            queue.entries[queue.end] = block
            queue.end += 1
        self.queue = queue
        self.resident += filled
        self.evictions += misses - filled


cdef inline void evict(Queue* queue, uint8_t* states) noexcept nogil:
    cdef block_t block
    cdef bint visited = True
    while visited:
        block = queue.entries[queue.hand]
        queue.hand += 1
        prefetch(&states[queue.entries[queue.hand + FETCHED - 1]])
        visited = states[block] == VISITED
        states[block] = CACHED if visited else ABSENT
        queue.entries[queue.kept] = block
        queue.kept += visited
        if queue.hand == queue.end:
            queue.end = queue.kept
            queue.kept = queue.hand = 0


cdef inline void close_gap(Queue* queue) noexcept nogil:
    memmove(&queue.entries[queue.kept], &queue.entries[queue.hand], (queue.end - queue.hand) * sizeof(block_t))
    queue.end -= queue.hand - queue.kept
    queue.hand = queue.kept
