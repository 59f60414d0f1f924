"""Kernel of 2Q; the definition is in twoq.py.

A1in is a plain ring, for nothing ever leaves its middle; Am and A1out are logs that share one array, so that a
block's position tells where it is: NOWHERE, IN_A1IN, below `a1out.first` in Am, else in A1out.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    IN_A1IN = 1


cdef class TwoQ(Policy):
    cdef uint32_t* nodes        # position; one a block
    cdef block_t* ring          # A1in
    cdef uint32_t size          # entries the ring can hold
    cdef uint32_t front         # place of the oldest in the ring
    cdef uint32_t inside        # blocks in A1in
    cdef uint32_t kin           # A1in gives the victim when it holds more
    cdef uint32_t room          # Kout, entries A1out may hold
    cdef uint32_t remembered    # entries in A1out
    cdef Log am
    cdef Log a1out

    def __init__(self, capacity, blocks, kin, kout):
        self.kin = <uint32_t>min(kin * capacity, 0xFFFFFFFF)
        self.room = <uint32_t>self.ghosts(kout)
        self.size = <uint32_t>self.seats()
        entries = self.allocate_logs(<size_t>self.size + self.room + 1, 2)
        make_log(&self.a1out, entries, make_log(&self.am, entries, FIRST, self.size), <size_t>self.room + 1)
        self.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.ring = <block_t*>self.allocate(self.size, sizeof(block_t))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* nodes = self.nodes
        cdef Log am = self.am, a1out = self.a1out
        cdef uint32_t inside = self.inside, remembered = self.remembered, at
        cdef bint known
        cdef block_t block, victim
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0, ghost_hits = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            block = ids[i]
            at = nodes[block]
            hit[i] = at != NOWHERE and at < a1out.first
            if at >= FIRST and at < a1out.first:
                add(&am, nodes, sizeof(uint32_t), block)
                continue
            if at == IN_A1IN:
                continue
            misses += 1
            known = at != NOWHERE
            if known:
                nodes[block] = NOWHERE
                remembered -= 1
                ghost_hits += 1
            if filled < free:
                filled += 1
            elif inside > self.kin or inside == self.capacity:
                victim = self.ring[self.front]
                self.front = self.front + 1 if self.front + 1 < self.size else 0
                inside -= 1
                nodes[victim] = NOWHERE
                if self.room:
                    add(&a1out, nodes, sizeof(uint32_t), victim)
                    remembered += 1
                    if remembered > self.room:
                        nodes[take_oldest(&a1out, nodes, sizeof(uint32_t))] = NOWHERE
                        remembered -= 1
            else:
                nodes[take_oldest(&am, nodes, sizeof(uint32_t))] = NOWHERE
            if known:
                add(&am, nodes, sizeof(uint32_t), block)
            else:
                at = self.front + inside
                self.ring[at if at < self.size and at >= inside else at - self.size] = block
                inside += 1
                nodes[block] = IN_A1IN
        self.am = am
        self.a1out = a1out
        self.inside = inside
        self.remembered = remembered
        self.resident += filled
        self.evictions += misses - filled
        self.ghost_hits += ghost_hits
