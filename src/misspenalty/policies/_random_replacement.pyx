"""Implement the kernel of Random; the definition is in random_replacement.py."""

from libc.stdint cimport uint8_t, uint64_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.traces._splitmix cimport GOLDEN, mix


cdef class Random(Policy):
    cdef uint8_t* cached        # whether a block is in the cache; one per block
    cdef block_t* places        # cached blocks, in no particular order
    cdef uint64_t room          # number of blocks that the cache can hold
    cdef uint64_t state         # state of SplitMix64

    def __cinit__(self, capacity, blocks, seed):
        self.room = self.max_resident()
        self.state = seed
        self.cached = <uint8_t*>self.allocate(blocks, sizeof(uint8_t))
        self.places = <block_t*>self.allocate(self.room, sizeof(block_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.cached[block]

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return self.places[((mix(self.state + GOLDEN) >> 32) * self.room) >> 32]

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint8_t* cached = self.cached
        cdef block_t* places = self.places
        cdef uint64_t state = self.state, room = self.room, place, next_place = 0
        cdef block_t block
        cdef Py_ssize_t i, resident = self.resident, evictions = 0
        next_place = ((mix(state + GOLDEN) >> 32) * room) >> 32
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&cached[ids[i + AHEAD]])
            block = ids[i]
            hit[i] = cached[block]
            if cached[block]:
                continue
            cached[block] = 1
            if <uint64_t>resident < room:
                places[resident] = block
                resident += 1
                continue
            # Draw the next victim one eviction ahead, so that its entry can be prefetched.
            place = next_place
            state += GOLDEN
            next_place = ((mix(state + GOLDEN) >> 32) * room) >> 32
            prefetch(&cached[places[next_place]])
            cached[places[place]] = 0
            places[place] = block
            evictions += 1
        self.state = state
        self.resident = resident
        self.evictions += evictions
