"""Implement the kernel of LFRU and LRFU; the definitions are in lfru.py and lrfu.py."""

from libc.math cimport exp2, log2
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from misspenalty.policies._heap cimport CACHED, Rank, Ranking, enter_known, enter_new, make_ranking, take_lowest
from misspenalty.policies._history cimport NOBODY, History, make_history, recall, remember
from misspenalty.policies._log cimport NOWHERE
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef struct Node:
    Rank rank
    double crf                  # combined recency and frequency at the last access; 0 = unknown


cdef inline uint64_t timeless(const Rank* node, double lam) noexcept nogil:
    """Return the bits of log2(CRF) + lam * time of the last access; they sort like this number, which is at least 0."""
    cdef double key = log2((<const Node*>node).crf) + lam * node.last
    cdef uint64_t bits
    memcpy(&bits, &key, sizeof(double))
    return bits


cdef class LFRU(Policy):
    cdef Node* nodes            # array of nodes, one per block
    cdef Ranking ranking        # ranking of the blocks in the cache
    cdef History history        # history of the CRFs of evicted blocks
    cdef uint32_t now           # number of the coming access, from 1
    cdef double lam             # lambda, 0 to 1
    cdef uint32_t correlated    # a use that is followed by another within this number of accesses is not counted

    def __cinit__(self, capacity, blocks, lam, history=0, correlated_period=0):
        self.lam = lam
        self.correlated = <uint32_t>min(correlated_period, 0xFFFFFFFF)
        self.now = 1
        self.nodes = <Node*>self.allocate(blocks, sizeof(Node))
        make_ranking(&self.ranking, self)
        make_history(&self.history, self, history)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block].rank.place == CACHED

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef Node* nodes = self.nodes
        cdef Node* node
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        cdef uint32_t now = self.now, age
        cdef double lam = self.lam
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&nodes[ids[i + AHEAD]])
            node = &nodes[ids[i]]
            hit[i] = node.rank.place == CACHED
            age = now - node.rank.last
            if age <= self.correlated and node.crf:
                node.crf -= 1
            node.crf = 1 + node.crf * exp2(-lam * age)
            node.rank.last = now
            now += 1
            if node.rank.place == CACHED:
                continue
            misses += 1
            if node.rank.place != NOWHERE:
                self.ghost_hits += 1
                recall(&self.history, nodes, sizeof(Node), ids[i])
            if filled < free:
                filled += 1
            else:
                self.evict()
            node.rank.place = CACHED
            if node.crf == 1:
                enter_new(&self.ranking, ids[i], node.rank.last)
            else:
                enter_known(&self.ranking, &node.rank, ids[i], timeless, lam)
        self.now = now
        self.resident += filled
        self.evictions += misses - filled

    cdef inline void evict(self) noexcept nogil:
        cdef block_t victim = take_lowest(&self.ranking, self.nodes, sizeof(Node), timeless, self.lam).block
        cdef block_t forgotten = remember(&self.history, self.nodes, sizeof(Node), victim)
        if forgotten != NOBODY:
            self.nodes[forgotten].crf = 0
