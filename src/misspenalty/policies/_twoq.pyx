"""Implement the kernels of 2Q, full and simplified; the definitions are in twoq.py."""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._history cimport History, recall, remember
from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, oldest, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.policies._s3fifo cimport Ring, make_ring, pop, push

cdef enum:
    IN_A1IN = 1


cdef class TwoQ(Policy):
    """Kernel of the full version: A1in is a plain ring, since nothing leaves its middle; Am and A1out are logs.

    The logs share one array, so a block's node tells where the block is: NOWHERE, IN_A1IN, in Am (a position below
    `a1out.log.first`) or in A1out.
    """

    cdef uint32_t* nodes        # by block: its position
    cdef Ring a1in
    cdef uint32_t kin           # number of blocks in A1in above which A1in provides the victim
    cdef Log am
    cdef History a1out          # history with room for Kout names

    def __cinit__(self, capacity, blocks, kin, kout):
        self.kin = <uint32_t>min(kin * capacity, 0xFFFFFFFF)
        cdef size_t max_resident = self.max_resident()
        self.a1out.room = <uint32_t>self.ghosts(kout)
        cdef size_t names = <size_t>self.a1out.room + 1
        entries = self.allocate_logs(max_resident + names, 2)
        make_log(&self.a1out.log, entries, make_log(&self.am, entries, FIRST, max_resident), names)
        self.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        make_ring(&self.a1in, self)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block] != NOWHERE and self.nodes[block] < self.a1out.log.first

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        if self.a1in.held > self.kin or self.a1in.held == self.capacity:
            return self.a1in.blocks[self.a1in.front]
        return oldest(&self.am, self.nodes, sizeof(uint32_t))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* nodes = self.nodes
        cdef Log am = self.am
        cdef History a1out = self.a1out
        cdef Ring a1in = self.a1in
        cdef uint32_t at
        cdef bint known
        cdef block_t block
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0, ghost_hits = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            block = ids[i]
            at = nodes[block]
            hit[i] = at != NOWHERE and at < a1out.log.first
            if at >= FIRST and at < a1out.log.first:
                add(&am, nodes, sizeof(uint32_t), block)
                continue
            if at == IN_A1IN:
                continue
            misses += 1
            known = at != NOWHERE
            if known:
                ghost_hits += 1
                recall(&a1out, nodes, sizeof(uint32_t), block)
            if filled < free:
                filled += 1
            elif a1in.held > self.kin or a1in.held == self.capacity:
                remember(&a1out, nodes, sizeof(uint32_t), pop(&a1in, nodes))
            else:
                nodes[take_oldest(&am, nodes, sizeof(uint32_t))] = NOWHERE
            if known:
                add(&am, nodes, sizeof(uint32_t), block)
            else:
                push(&a1in, block)
                nodes[block] = IN_A1IN
        self.am = am
        self.a1out = a1out
        self.a1in = a1in
        self.resident += filled
        self.evictions += misses - filled
        self.ghost_hits += ghost_hits


cdef class Simplified2Q(Policy):
    """Kernel of the simplified version: A1 and Am are logs in one array; positions from `a1.first` on are in A1."""

    cdef uint32_t* nodes        # by block: its position, or NOWHERE
    cdef uint32_t threshold     # number of blocks in A1 above which A1 provides the victim
    cdef uint32_t inside        # number of blocks in A1; the other resident blocks are in Am
    cdef Log am
    cdef Log a1

    def __cinit__(self, capacity, blocks, threshold):
        cdef size_t max_resident = self.max_resident()
        self.threshold = <uint32_t>min(threshold * capacity, 0xFFFFFFFF)
        entries = self.allocate_logs(2 * max_resident, 2)
        make_log(&self.a1, entries, make_log(&self.am, entries, FIRST, max_resident), max_resident)
        self.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block] != NOWHERE

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        cdef bint from_a1 = self.inside > self.threshold or self.inside == self.capacity
        return oldest(&self.a1 if from_a1 else &self.am, self.nodes, sizeof(uint32_t))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* nodes = self.nodes
        cdef Log am = self.am, a1 = self.a1
        cdef uint32_t inside = self.inside, at
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            at = nodes[ids[i]]
            hit[i] = at != NOWHERE
            if at != NOWHERE:
                inside -= at >= a1.first
                add(&am, nodes, sizeof(uint32_t), ids[i])
                continue
            misses += 1
            if filled < free:
                filled += 1
            elif inside > self.threshold or inside == self.capacity:
                nodes[take_oldest(&a1, nodes, sizeof(uint32_t))] = NOWHERE
                inside -= 1
            else:
                nodes[take_oldest(&am, nodes, sizeof(uint32_t))] = NOWHERE
            add(&a1, nodes, sizeof(uint32_t), ids[i])
            inside += 1
        self.am = am
        self.a1 = a1
        self.inside = inside
        self.resident += filled
        self.evictions += misses - filled
