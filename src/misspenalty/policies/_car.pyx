"""Implement the kernel of CAR; the definition is in car.py.

A block leaves a clock only at the hand, so T1 and T2 are S3-FIFO's rings, whose fronts are the hands; B1 and B2 are
logs that share one array. The node of a block in a clock is CLEAR or SET; it need not record the clock. The node of
any other block is its position in B1 (below `b2.first`) or in B2, or NOWHERE.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies._s3fifo cimport Ring, make_ring, pop, push

cdef enum:
    CLEAR = 1                   # the block is in the cache, and its bit is clear
    SET = FIRST                 # the block is in the cache, and its bit is set; positions in B1 begin at SET + 1


cdef class CAR(Policy):
    cdef uint32_t* nodes        # by block: its node
    cdef Ring t1                # clock of blocks that were used once
    cdef Ring t2                # clock of blocks that were used again
    cdef Log b1                 # names of blocks that left T1
    cdef Log b2                 # names of blocks that left T2
    cdef uint32_t in_b1         # number of names in B1
    cdef uint32_t in_b2         # number of names in B2
    cdef readonly double p      # target size of T1

    def __cinit__(self, capacity, blocks):
        cdef size_t max_resident = self.max_resident()
        cdef size_t absent = <size_t>(blocks - self.max_resident())        # ghosts exist only while the cache is full
        cdef size_t once = min(max_resident, absent) + 1
        cdef size_t again = min(2 * max_resident, absent) + 1
        entries = self.allocate_logs(once + again + 1, 2)
        make_log(&self.b2, entries, make_log(&self.b1, entries, SET + 1, once), again)
        self.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        make_ring(&self.t1, self)
        make_ring(&self.t2, self)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block] == CLEAR or self.nodes[block] == SET

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* nodes = self.nodes
        cdef block_t block
        cdef uint32_t at
        cdef Py_ssize_t i
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            block = ids[i]
            at = nodes[block]
            hit[i] = at != NOWHERE and at <= SET
            if at != NOWHERE and at <= SET:
                nodes[block] = SET
            else:
                self.load(block, at)

    cdef inline void load(self, block_t block, uint32_t at) noexcept nogil:
        """Load a block; `at` is its node: NOWHERE or its position in B1 or B2."""
        cdef uint32_t* nodes = self.nodes
        if self.resident == self.capacity:
            self.replace()
            if at == NOWHERE and <Py_ssize_t>self.t1.held + self.in_b1 == self.capacity:
                nodes[take_oldest(&self.b1, nodes, sizeof(uint32_t))] = NOWHERE
                self.in_b1 -= 1
            elif at == NOWHERE and <Py_ssize_t>self.in_b1 + self.in_b2 == self.capacity + 1:
                nodes[take_oldest(&self.b2, nodes, sizeof(uint32_t))] = NOWHERE
                self.in_b2 -= 1
            self.evictions += 1
        else:
            self.resident += 1
        if at == NOWHERE:
            push(&self.t1, block)
        else:
            self.ghost_hits += 1
            if at < self.b2.first:
                self.p = min(self.p + max(1.0, <double>self.in_b2 / <double>self.in_b1), <double>self.capacity)
                self.in_b1 -= 1
            else:
                self.p = max(self.p - max(1.0, <double>self.in_b1 / <double>self.in_b2), 0.0)
                self.in_b2 -= 1
            push(&self.t2, block)
        nodes[block] = CLEAR

    cdef inline void replace(self) noexcept nogil:
        """Turn the hands until a block leaves the cache."""
        cdef uint32_t* nodes = self.nodes
        cdef block_t block
        cdef bint from_t1
        while True:
            from_t1 = self.t1.held >= max(1.0, self.p)
            block = pop(&self.t1 if from_t1 else &self.t2, nodes)
            if nodes[block] == CLEAR:
                break
            nodes[block] = CLEAR
            push(&self.t2, block)
        if from_t1:
            add(&self.b1, nodes, sizeof(uint32_t), block)
            self.in_b1 += 1
        else:
            add(&self.b2, nodes, sizeof(uint32_t), block)
            self.in_b2 += 1
