"""Implement the kernel of LIRS; the definition is in lirs.py.

S and Q are logs. Between references the first entry of S is the current entry of a LIR block, if there are LIR blocks:
when a use or an exchange makes the first entry stale or HIR, it is pruned at once.
"""

from libc.stdint cimport uint8_t, uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, oldest, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    LIR = 1                     # value of `q` for a LIR block


cdef struct Node:
    uint32_t s                  # position in S, or NOWHERE
    uint32_t q                  # position in Q, LIR, or NOWHERE if the block is not in the cache


cdef class LIRS(Policy):
    cdef Node* nodes            # array of nodes, one per block
    cdef Log s                  # stack, bottom first
    cdef Log q                  # HIR blocks in the cache, the next victim first
    cdef Py_ssize_t lirs        # number of LIR blocks when the cache is full
    cdef Py_ssize_t lir         # current number of LIR blocks
    cdef Py_ssize_t limit       # maximum number of blocks in S
    cdef Py_ssize_t stacked     # number of blocks in S
    cdef uint32_t lowest        # position in S below which all entries are LIR or stale

    def __cinit__(self, capacity, blocks, hirs, stack_limit):
        cdef size_t waiting = max(<size_t>(hirs * capacity), 1)
        self.lirs = capacity - waiting
        self.limit = blocks if stack_limit is None else self.ghosts(stack_limit)
        self.nodes = <Node*>self.allocate(blocks, sizeof(Node))
        make_log(&self.s, self.allocate_logs(<size_t>self.limit + 1, 1), FIRST, <size_t>self.limit + 1)
        waiting = min(waiting, <size_t>blocks) + 1
        make_log(&self.q, self.allocate_logs(waiting, 1), FIRST, waiting)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block].q != NOWHERE

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        return oldest(&self.q, &self.nodes.q, sizeof(Node))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef Node* nodes = self.nodes
        cdef Node* node
        cdef Log s = self.s
        cdef Py_ssize_t i
        cdef bint at_bottom
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&nodes[ids[i + AHEAD]])
            node = &nodes[ids[i]]
            hit[i] = node.q != NOWHERE
            at_bottom = node.s == s.begin
            if node.q == LIR and not at_bottom and s.end != s.limit:
                add(&s, nodes, sizeof(Node), ids[i])
                continue
            self.s = s
            if s.end == s.limit:
                self.lowest = s.first           # the next append compacts the log
            if node.q == LIR:
                add(&self.s, nodes, sizeof(Node), ids[i])
                self.prune()
            else:
                self.use(ids[i])
            s = self.s
        self.s = s

    cdef inline void use(self, block_t block) noexcept nogil:
        """Handle a reference to a block that is not LIR."""
        cdef Node* node = &self.nodes[block]
        cdef bint in_s = node.s != NOWHERE
        if node.q == NOWHERE:
            self.ghost_hits += in_s
            if self.resident < self.capacity:
                self.resident += 1
            else:
                self.nodes[take_oldest(&self.q, &self.nodes.q, sizeof(Node))].q = NOWHERE
                self.evictions += 1
        self.stacked += not in_s
        add(&self.s, self.nodes, sizeof(Node), block)
        if in_s:
            self.demote_bottom()
            node.q = LIR
        elif self.lir < self.lirs:
            self.lir += 1
            node.q = LIR
        else:
            add(&self.q, &self.nodes.q, sizeof(Node), block)
        self.prune()
        if self.stacked > self.limit:
            self.drop_lowest()

    cdef inline void demote_bottom(self) noexcept nogil:
        """Make the lowest LIR block HIR."""
        cdef block_t block = self.s.entries[self.s.begin]
        self.nodes[block].s = NOWHERE
        self.stacked -= 1
        self.s.begin += 1
        add(&self.q, &self.nodes.q, sizeof(Node), block)

    cdef inline void prune(self) noexcept nogil:
        """Drop entries that are not LIR from the bottom of S."""
        cdef Node* node
        while self.s.begin < self.s.end:
            node = &self.nodes[self.s.entries[self.s.begin]]
            prefetch(&self.nodes[self.s.entries[min(self.s.begin + 8, self.s.end - 1)]])
            if node.s == self.s.begin:
                if node.q == LIR:
                    return
                node.s = NOWHERE
                self.stacked -= 1
            self.s.begin += 1

    cdef inline void drop_lowest(self) noexcept nogil:
        """Drop the lowest HIR block from S."""
        cdef Node* node
        self.lowest = max(self.lowest, self.s.begin)
        while True:
            node = &self.nodes[self.s.entries[self.lowest]]
            self.lowest += 1
            if node.s == self.lowest - 1 and node.q != LIR:
                node.s = NOWHERE
                self.stacked -= 1
                return
