"""Implement the kernel of FIFO; the definition is in fifo.py.

No queue is kept. Loads are numbered, and a block is in the cache as long as fewer than `capacity` loads have followed
its own.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef class FIFO(Policy):
    cdef uint32_t* loaded       # number of the block's last load, from 1; 0 = never; one per block
    cdef uint32_t loads         # number of loads so far
    cdef uint32_t room          # number of blocks that the cache can hold
    cdef uint32_t gone          # number of the last load whose block has been evicted

    def __cinit__(self, capacity, blocks):
        self.room = <uint32_t>self.max_resident()
        self.loaded = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.loaded[block] > self.gone

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* loaded = self.loaded
        cdef uint32_t loads = self.loads, gone = self.gone, room = self.room, number
        cdef bint miss
        cdef Py_ssize_t i
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&loaded[ids[i + AHEAD]])
            number = loaded[ids[i]]
            miss = number <= gone
            hit[i] = not miss
            loads += miss
            gone += miss & (loads - gone > room)
            loaded[ids[i]] = loads if miss else number
        self.loads = loads
        self.gone = gone
        self.resident = loads - gone
        self.evictions = gone
