"""Kernel of caches of objects of different sizes; the definitions are in by_bytes.py."""

from libc.stdint cimport int64_t, uint8_t

from misspenalty.policies._list cimport Link, append, make_list, move_newest, oldest, remove
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    FIFO, LRU, CLOCK, SIEVE         # rules, in the order of by_bytes.RULES
    ABSENT = 0                      # state of an object
    RESIDENT = 1
    AGAIN = 2                       # used since it came, or since the hand passed


cdef struct node_t:
    Link link
    uint8_t state


cdef class ByteCache(Policy):
    """A cache of `room` bytes; an object that is larger than all of it is a miss and changes nothing."""

    cdef readonly int64_t room, used_bytes  # bytes
    cdef readonly int64_t refused           # misses of objects larger than the cache
    cdef readonly int64_t evicted_bytes
    cdef const int64_t[::1] size            # of each object, bytes
    cdef node_t* nodes                      # one per object, and the list's head
    cdef block_t hand                       # SIEVE's; the head where it begins at the oldest
    cdef int rule

    def __cinit__(self, Py_ssize_t capacity, Py_ssize_t blocks, int rule, int64_t room, const int64_t[::1] size not None):
        if size.shape[0] != blocks:
            raise IndexError(f"size has {size.shape[0]} places for {blocks} objects")
        self.rule, self.room, self.size = rule, room, size
        self.nodes = <node_t*>self.allocate(blocks + 1, sizeof(node_t))
        make_list(self.nodes, sizeof(node_t), <block_t>blocks)
        self.hand = <block_t>blocks

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block].state != ABSENT

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i
        cdef block_t block, head = <block_t>self.blocks
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&self.nodes[ids[i + AHEAD]])
            block = ids[i]
            hit[i] = self.nodes[block].state != ABSENT
            if not hit[i]:
                if self.size[block] > self.room:
                    self.refused += 1
                    continue
                while self.used_bytes + self.size[block] > self.room:
                    self.evict()
                append(self.nodes, sizeof(node_t), head, block)
                self.nodes[block].state = RESIDENT
                self.used_bytes += self.size[block]
                self.resident += 1
            elif self.rule == LRU:
                move_newest(self.nodes, sizeof(node_t), head, block)
            else:
                self.nodes[block].state = AGAIN

    cdef void evict(self) noexcept nogil:
        cdef block_t head = <block_t>self.blocks, victim = oldest(self.nodes, sizeof(node_t), head)
        if self.rule == CLOCK:
            while self.nodes[victim].state == AGAIN:        # a second chance
                self.nodes[victim].state = RESIDENT
                move_newest(self.nodes, sizeof(node_t), head, victim)
                victim = oldest(self.nodes, sizeof(node_t), head)
        elif self.rule == SIEVE:
            if self.hand != head:
                victim = self.hand
            while self.nodes[victim].state == AGAIN:
                self.nodes[victim].state = RESIDENT
                victim = self.nodes[victim].link.newer
                if victim == head:
                    victim = oldest(self.nodes, sizeof(node_t), head)
            self.hand = self.nodes[victim].link.newer
        remove(self.nodes, sizeof(node_t), victim)
        self.nodes[victim].state = ABSENT
        self.used_bytes -= self.size[victim]
        self.evicted_bytes += self.size[victim]
        self.resident -= 1
        self.evictions += 1
