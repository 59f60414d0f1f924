"""Implement the kernel of ARC; the definition is in arc.py.

The four lists are logs that share one array, so a block's position tells where it is: in no list (NOWHERE), in T2
(below `t1.first`), in T1 (below `b1.first`), in B1 (below `b2.first`) or in B2.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, oldest, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef class ARC(Policy):
    cdef uint32_t* nodes        # by block: position in the logs, or NOWHERE
    cdef Log t2                 # cached blocks that were used at least twice
    cdef Log t1                 # cached blocks that were used once
    cdef Log b1                 # names of blocks that left T1
    cdef Log b2                 # names of blocks that left T2
    cdef Py_ssize_t in_t1       # number of blocks in T1; the other resident blocks are in T2
    cdef Py_ssize_t in_b1       # number of names in B1
    cdef Py_ssize_t in_b2       # number of names in B2
    cdef readonly double p      # target size of T1
    cdef bint adapts            # whether ghost hits move the target

    def __cinit__(self, capacity, blocks, target=None):
        cdef size_t max_resident = self.max_resident()
        cdef size_t absent = <size_t>(blocks - self.max_resident())        # ghosts exist only while the cache is full
        cdef size_t once = min(max_resident, absent) + 1
        cdef size_t again = min(2 * max_resident, absent) + 1
        entries = self.allocate_logs(2 * max_resident + once + again, 4)
        limit = make_log(&self.t1, entries, make_log(&self.t2, entries, FIRST, max_resident), max_resident)
        make_log(&self.b2, entries, make_log(&self.b1, entries, limit, once), again)
        self.nodes = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.adapts = target is None
        self.p = 0 if target is None else target * capacity

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block] != NOWHERE and self.nodes[block] < self.b1.first

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        cdef uint32_t at = self.nodes[block]
        cdef double p = self.p
        cdef bint in_b2 = at >= self.b2.first
        if at == NOWHERE and self.in_t1 == self.capacity:
            return oldest(&self.t1, self.nodes, sizeof(uint32_t))
        if at != NOWHERE and self.adapts:
            if in_b2:
                p = max(p - max(<double>self.in_b1 / <double>self.in_b2, 1.0), 0.0)
            else:
                p = min(p + max(<double>self.in_b2 / <double>self.in_b1, 1.0), <double>self.capacity)
        if self.in_t1 and (self.in_t1 > p or (in_b2 and self.in_t1 == p)):
            return oldest(&self.t1, self.nodes, sizeof(uint32_t))
        return oldest(&self.t2, self.nodes, sizeof(uint32_t))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef uint32_t* nodes = self.nodes
        cdef Log t1 = self.t1, t2 = self.t2
        cdef uint32_t at
        cdef block_t block, victim
        cdef Py_ssize_t i, c = self.capacity, resident = self.resident
        cdef Py_ssize_t in_t1 = self.in_t1, in_b1 = self.in_b1, in_b2 = self.in_b2, ghost_hits = 0, evictions = 0
        cdef double p = self.p
        cdef bint full, in_b2_now, once, adapts = self.adapts
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&nodes[ids[i + AHEAD]])
            block = ids[i]
            at = nodes[block]
            hit[i] = at != NOWHERE and at < self.b1.first
            if at != NOWHERE and at < self.b1.first:
                in_t1 -= at >= t1.first
                add(&t2, nodes, sizeof(uint32_t), block)
                continue
            full = resident == c
            once = at == NOWHERE
            in_b2_now = at >= self.b2.first
            if once:
                if full and in_t1 + in_b1 == c:
                    if in_b1:
                        nodes[take_oldest(&self.b1, nodes, sizeof(uint32_t))] = NOWHERE
                        in_b1 -= 1
                    else:
                        nodes[take_oldest(&t1, nodes, sizeof(uint32_t))] = NOWHERE
                        in_t1 -= 1
                        evictions += 1
                        full = False
                        resident -= 1
                elif full and c + in_b1 + in_b2 == 2 * c:
                    nodes[take_oldest(&self.b2, nodes, sizeof(uint32_t))] = NOWHERE
                    in_b2 -= 1
            else:
                ghost_hits += 1
                nodes[block] = NOWHERE
                if in_b2_now:
                    if adapts:
                        p = max(p - max(<double>in_b1 / <double>in_b2, 1.0), 0.0)
                    in_b2 -= 1
                else:
                    if adapts:
                        p = min(p + max(<double>in_b2 / <double>in_b1, 1.0), <double>c)
                    in_b1 -= 1
            if full:
                evictions += 1
                resident -= 1
                if in_t1 and (in_t1 > p or (in_b2_now and in_t1 == p)):
                    victim = take_oldest(&t1, nodes, sizeof(uint32_t))
                    add(&self.b1, nodes, sizeof(uint32_t), victim)
                    in_t1 -= 1
                    in_b1 += 1
                else:
                    victim = take_oldest(&t2, nodes, sizeof(uint32_t))
                    add(&self.b2, nodes, sizeof(uint32_t), victim)
                    in_b2 += 1
            resident += 1
            if once:
                add(&t1, nodes, sizeof(uint32_t), block)
                in_t1 += 1
            else:
                add(&t2, nodes, sizeof(uint32_t), block)
        self.t1 = t1
        self.t2 = t2
        self.in_t1 = in_t1
        self.in_b1 = in_b1
        self.in_b2 = in_b2
        self.p = p
        self.resident = resident
        self.evictions += evictions
        self.ghost_hits += ghost_hits
