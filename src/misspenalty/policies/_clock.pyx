"""Implement the kernel of CLOCK; the definition is in clock.py."""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    ABSENT = 0                  # state of a block outside the cache
    CACHED = 1                  # state of a block in the cache; each hit adds one, up to `top`
    FETCHED = 8                 # number of places ahead of the hand at which states are prefetched


cdef class Clock(Policy):
    cdef uint8_t* states        # ABSENT or CACHED + counter; one per block
    cdef block_t* circle        # cached blocks, in the order of the clock
    cdef uint32_t hand          # next place to examine
    cdef uint32_t room          # number of blocks that the cache can hold
    cdef uint8_t top            # highest state
    cdef int64_t asked          # value of `evictions` at the last call of `would_evict`
    cdef size_t passed          # number of consecutive places from the hand on whose counters were above 0 at that time

    def __cinit__(self, capacity, blocks, bits):
        self.room = <uint32_t>self.max_resident()
        self.top = <uint8_t>(CACHED + (1 << <int>bits) - 1)
        self.states = <uint8_t*>self.allocate(blocks, sizeof(uint8_t))
        self.circle = <block_t*>self.allocate(self.room + FETCHED, sizeof(block_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.states[block] != ABSENT

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        cdef size_t lowest = 0, i
        if self.asked != self.evictions:
            self.asked, self.passed = self.evictions, 0
        while self.passed < self.room and self.states[self.at(self.passed)] > CACHED:
            self.passed += 1
        if self.passed < self.room:
            return self.at(self.passed)
        for i in range(self.room):
            if self.states[self.at(lowest)] == CACHED + 1:
                break
            if self.states[self.at(i)] < self.states[self.at(lowest)]:
                lowest = i
        return self.at(lowest)

    cdef inline block_t at(self, size_t i) noexcept nogil:
        """Return the block that is `i` places after the hand."""
        cdef size_t place = self.hand + i
        return self.circle[place if place < self.room else place - self.room]

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint8_t* states = self.states
        cdef block_t* circle = self.circle
        cdef uint32_t hand = self.hand, room = self.room
        cdef uint8_t state, top = self.top
        cdef block_t block
        cdef Py_ssize_t i, resident = self.resident, evictions = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&states[ids[i + AHEAD]])
            block = ids[i]
            state = states[block]
            hit[i] = state != ABSENT
            states[block] = state + (state < top)
            if state != ABSENT:
                continue
            if resident < room:
                circle[resident] = block
                resident += 1
                continue
            while states[circle[hand]] > CACHED:
                states[circle[hand]] -= 1
                hand = hand + 1 if hand + 1 < room else 0
                prefetch(&states[circle[hand + FETCHED]])
            states[circle[hand]] = ABSENT
            circle[hand] = block
            hand = hand + 1 if hand + 1 < room else 0
            prefetch(&states[circle[hand + FETCHED]])
            evictions += 1
        self.hand = hand
        self.resident = resident
        self.evictions += evictions
