"""Kernel of LRU-2; the definition is in lru2.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._heap cimport Entry, Newcomer, Rank, Ranking, enter_known, enter_new, push, take_lowest
from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, take_oldest
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    CACHED = 1                  # `place` of a block in the cache; above: its position in the history


cdef struct Node:
    Rank rank
    uint32_t first              # HIST(p,1): last uncorrelated access
    uint32_t second             # HIST(p,2): second-to-last uncorrelated access; 0 = not known


cdef inline uint64_t second_to_last(const Rank* node, double weight) noexcept nogil:
    return (<const Node*>node).second


cdef class LRU2(Policy):
    cdef Node* nodes            # one a block
    cdef Ranking ranking        # of the blocks in the cache
    cdef Log history            # evicted blocks, oldest eviction first
    cdef uint32_t room          # entries the history may hold
    cdef uint32_t remembered    # entries in it
    cdef uint64_t period        # correlated reference period, accesses
    cdef uint32_t now           # number of the coming access, from 1

    def __init__(self, capacity, blocks, history, correlated_period):
        self.room = <uint32_t>self.ghosts(history)
        self.period = correlated_period
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
        cdef uint32_t now = self.now
        cdef uint64_t period = self.period
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            node = &nodes[ids[i]]
            hit[i] = node.rank.place == CACHED
            if node.rank.place == CACHED:
                if now - node.rank.last > period:
                    node.second = node.rank.last
                    node.first = now
                node.rank.last = now
                now += 1
                continue
            misses += 1
            if node.rank.place != NOWHERE:
                self.ghost_hits += 1
                self.remembered -= 1
                node.rank.place = NOWHERE
                node.second = node.first
            else:
                node.second = 0
            if filled < free:
                filled += 1
            else:
                self.evict(now)
            node.rank.place = CACHED
            node.rank.last = now
            node.first = now
            now += 1
            if node.second:
                enter_known(&self.ranking, &node.rank, ids[i], second_to_last, 0)
            else:
                enter_new(&self.ranking, ids[i], node.rank.last)
        self.now = now
        self.resident += filled
        self.evictions += misses - filled

    cdef inline void evict(self, uint32_t now) noexcept nogil:
        cdef block_t victim = self.choose(now)
        self.nodes[victim].rank.place = NOWHERE
        if self.room:
            add(&self.history, self.nodes, sizeof(Node), victim)
            self.remembered += 1
            if self.remembered > self.room:
                self.nodes[take_oldest(&self.history, self.nodes, sizeof(Node))].rank.place = NOWHERE
                self.remembered -= 1

    cdef inline block_t choose(self, uint32_t now) noexcept nogil:
        """The lowest block outside its correlated period, or the lowest of all; others wait behind the heap's end."""
        cdef Entry lowest = take_lowest(&self.ranking, self.nodes, sizeof(Node), second_to_last, 0)
        cdef Entry spared, chosen = lowest
        cdef uint32_t aside = self.ranking.seats
        while now - chosen.last <= self.period:
            aside -= 1
            self.ranking.heap[aside] = chosen
            if not self.ranking.size and not self.ranking.waiting:
                chosen = lowest
                break
            chosen = take_lowest(&self.ranking, self.nodes, sizeof(Node), second_to_last, 0)
        while aside < self.ranking.seats:
            spared = self.ranking.heap[aside]
            aside += 1
            if spared.block != chosen.block:
                push(&self.ranking, spared)
        return chosen.block
