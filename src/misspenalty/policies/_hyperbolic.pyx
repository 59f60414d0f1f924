"""Implement the kernel of Hyperbolic; the definition is in hyperbolic.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.traces._splitmix cimport GOLDEN, mix

cdef enum:
    SOON = 8                    # number of draws by which entries are prefetched in advance; a power of two


cdef struct Entry:
    block_t block
    uint32_t references         # number of references, including the one that loaded the block
    uint32_t loaded             # number of the reference that loaded the block


cdef inline bint below(const Entry* one, const Entry* other, uint32_t now) noexcept nogil:
    """Return whether the priority of `one` is lower; on a tie, the block that was loaded first counts as lower."""
    cdef uint64_t left = <uint64_t>one.references * (now - other.loaded)
    cdef uint64_t right = <uint64_t>other.references * (now - one.loaded)
    return left < right or (left == right and one.loaded < other.loaded)


cdef class Hyperbolic(Policy):
    cdef uint32_t* places       # place of a block in the cache, from 1; 0 = not in it; one per block
    cdef Entry* entries         # entries of the blocks in the cache, by place
    cdef uint64_t room          # number of blocks that the cache can hold
    cdef uint64_t state         # state of SplitMix64
    cdef uint32_t candidates    # number of blocks compared for each eviction
    cdef uint32_t now           # number of the last reference

    def __cinit__(self, capacity, blocks, candidates, seed):
        self.room = self.max_resident()
        self.candidates = candidates
        self.state = seed
        self.places = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.entries = <Entry*>self.allocate(self.room + 1, sizeof(Entry))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.places[block] != 0

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* places = self.places
        cdef Entry* entries = self.entries
        cdef uint32_t place, now = self.now
        cdef Py_ssize_t i, resident = self.resident, evictions = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&places[ids[i + AHEAD]])
            now += 1
            place = places[ids[i]]
            hit[i] = place != 0
            if place:
                entries[place].references += 1
                continue
            if <uint64_t>resident < self.room:
                resident += 1
                place = resident
            else:
                place = self.victim(now)
                places[entries[place].block] = 0
                evictions += 1
            places[ids[i]] = place
            entries[place].block = ids[i]
            entries[place].references = 1
            entries[place].loaded = now
        self.now = now
        self.resident = resident
        self.evictions += evictions

    cdef uint32_t victim(self, uint32_t now) noexcept nogil:
        """Return the place of the block with the lowest priority among those compared."""
        cdef Entry* entries = self.entries
        cdef uint32_t[SOON] drawn
        cdef uint32_t place, lowest = 0, k
        if self.room <= self.candidates:
            lowest = 1
            for place in range(2, <uint32_t>self.room + 1):
                if below(&entries[place], &entries[lowest], now):
                    lowest = place
            return lowest
        for k in range(self.candidates + SOON):
            place = drawn[k % SOON]
            if k < self.candidates:
                self.state += <uint64_t>GOLDEN
                drawn[k % SOON] = 1 + <uint32_t>(((mix(self.state) >> 32) * self.room) >> 32)
                prefetch(&entries[drawn[k % SOON]])
            if k >= SOON and k - SOON < self.candidates:
                if not lowest or below(&entries[place], &entries[lowest], now):
                    lowest = place
        return lowest
