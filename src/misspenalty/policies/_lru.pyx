"""Kernel of LRU; the definition is in lru.py."""

from libc.stdint cimport uint8_t
from libc.string cimport memset

from misspenalty.policies._list cimport Link, append, block_t, make_list, move_newest, oldest, remove
from misspenalty.policies._policy cimport AHEAD, Policy, prefetch

cdef enum:
    ABSENT = 0xFFFFFFFF         # `older` of a block outside the cache


cdef class LRU(Policy):
    cdef Link* links            # one a block, then the head; 8 bytes each

    def __init__(self, capacity, blocks):
        self.links = <Link*>self.allocate(blocks + 1, sizeof(Link))
        memset(self.links, 0xFF, blocks * sizeof(Link))
        make_list(self.links, sizeof(Link), blocks)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Link* links = self.links
        cdef block_t head = <block_t>self.blocks, block, victim
        cdef Py_ssize_t i, free = self.capacity - self.resident
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&links[ids[i + AHEAD]])
            block = ids[i]
            hit[i] = links[block].older != ABSENT
            if hit[i]:
                move_newest(links, sizeof(Link), head, block)
                continue
            if free:
                free -= 1
            else:
                victim = oldest(links, sizeof(Link), head)
                remove(links, sizeof(Link), victim)
                links[victim].older = ABSENT
                self.evictions += 1
            append(links, sizeof(Link), head, block)
        self.resident = self.capacity - free
