"""Implement the kernel of LFU; the definition is in lfu.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._heap cimport (
    CACHED, Entry, Rank, Ranking, enter_known, enter_new, make_ranking, push, take_lowest,
)
from misspenalty.policies._history cimport History, make_history, recall, remember
from misspenalty.policies._log cimport NOWHERE
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef struct Node:
    Rank rank
    uint32_t count              # number of accesses; kept while in the history


cdef inline uint64_t frequency(const Rank* node, double weight) noexcept nogil:
    return (<const Node*>node).count


cdef class LFU(Policy):
    cdef Node* nodes            # array of nodes, one per block
    cdef Ranking ranking        # ranking of the blocks in the cache
    cdef History history        # history of the counts of evicted blocks
    cdef uint32_t now           # number of the coming access, from 1

    def __cinit__(self, capacity, blocks, history):
        self.now = 1
        self.nodes = <Node*>self.allocate(blocks, sizeof(Node))
        make_ranking(&self.ranking, self)
        make_history(&self.history, self, history)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block].rank.place == CACHED

    cdef block_t would_evict(self, block_t block) noexcept nogil:
        cdef Entry lowest = take_lowest(&self.ranking, self.nodes, sizeof(Node), frequency, 0)
        push(&self.ranking, lowest)
        return lowest.block

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef Node* nodes = self.nodes
        cdef Node* node
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        cdef uint32_t now = self.now
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&nodes[ids[i + AHEAD]])
            node = &nodes[ids[i]]
            hit[i] = node.rank.place == CACHED
            node.rank.last = now
            now += 1
            if node.rank.place == CACHED:
                node.count += 1
                continue
            misses += 1
            if node.rank.place != NOWHERE:
                self.ghost_hits += 1
                recall(&self.history, nodes, sizeof(Node), ids[i])
            else:
                node.count = 0
            if filled < free:
                filled += 1
            else:
                self.evict()
            node.rank.place = CACHED
            node.count += 1
            if node.count == 1:
                enter_new(&self.ranking, ids[i], node.rank.last)
            else:
                enter_known(&self.ranking, &node.rank, ids[i], frequency, 0)
        self.now = now
        self.resident += filled
        self.evictions += misses - filled

    cdef inline void evict(self) noexcept nogil:
        cdef block_t victim = take_lowest(&self.ranking, self.nodes, sizeof(Node), frequency, 0).block
        remember(&self.history, self.nodes, sizeof(Node), victim)
