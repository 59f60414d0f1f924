"""Kernel of LFRU and LRFU; the definitions are in lfru.py and lrfu.py."""

from libc.math cimport exp2, log2
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from misspenalty.policies._heap cimport Entry, Newcomer, Rank, Ranking, enter_known, enter_new, take_lowest
from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    CACHED = 1                  # `place` of a block in the cache; above: its position in the history


cdef struct Node:
    Rank rank
    double crf                  # combined recency and frequency at the last access; 0 = not known


cdef inline uint64_t timeless(const Rank* node, double lam) noexcept nogil:
    """log2(CRF) + lam * time of the last access: never negative, so its bits are ordered as it is."""
    cdef double key = log2((<const Node*>node).crf) + lam * node.last
    cdef uint64_t bits
    memcpy(&bits, &key, sizeof(double))
    return bits


cdef class LFRU(Policy):
    cdef Node* nodes            # one a block
    cdef Ranking ranking        # of the blocks in the cache
    cdef Log history            # CRFs of evicted blocks, oldest eviction first
    cdef uint32_t room          # entries the history may hold
    cdef uint32_t remembered    # entries in it
    cdef uint32_t now           # number of the coming access, from 1
    cdef double lam             # lambda, 0 to 1
    cdef uint32_t correlated    # a use that another follows within as many accesses counts no more

    def __init__(self, capacity, blocks, lam, history=0, correlated_period=0):
        self.room = <uint32_t>self.ghosts(history)
        self.lam = lam
        self.correlated = <uint32_t>min(correlated_period, 0xFFFFFFFF)
        self.now = 1
        self.nodes = <Node*>self.allocate(blocks, sizeof(Node))
        self.ranking.seats = <uint32_t>self.seats()
        self.ranking.heap = <Entry*>self.allocate(self.ranking.seats, sizeof(Entry))
        self.ranking.ring = <Newcomer*>self.allocate(self.ranking.seats, sizeof(Newcomer))
        make_log(&self.history, self.allocate_logs(<size_t>self.room + 1, 1), FIRST, <size_t>self.room + 1)

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Node* nodes = self.nodes
        cdef Node* node
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        cdef uint32_t now = self.now, age
        cdef double lam = self.lam
        for i in range(n):
            if i + AHEAD < n:
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
                self.remembered -= 1
                node.rank.place = NOWHERE
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
        cdef block_t forgotten = victim
        self.nodes[victim].rank.place = NOWHERE
        if self.room:
            add(&self.history, self.nodes, sizeof(Node), victim)
            self.remembered += 1
            if self.remembered <= self.room:
                return
            forgotten = take_oldest(&self.history, self.nodes, sizeof(Node))
            self.remembered -= 1
        self.nodes[forgotten].rank.place = NOWHERE
        self.nodes[forgotten].crf = 0
