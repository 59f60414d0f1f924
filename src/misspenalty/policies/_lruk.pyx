"""Implement the kernel of LRU-K; the definition is in lruk.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from misspenalty.policies._heap cimport (
    CACHED, Entry, Rank, Ranking, below, enter_known, enter_new, make_heap, make_ranking, pop, push, rank_of, sink, take_lowest,
)
from misspenalty.policies._history cimport History, make_history, recall, remember
from misspenalty.policies._log cimport NOWHERE
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch


cdef struct Node:
    Rank rank
    uint32_t uses[1]            # times of k uncorrelated accesses, HIST(p,k) first, HIST(p,1) last; 0 = unknown


cdef inline uint64_t kth_to_last(const Rank* node, double weight) noexcept nogil:
    return (<const Node*>node).uses[0]


cdef class LRUK(Policy):
    cdef void* nodes            # one per block, `size` bytes each
    cdef size_t size            # bytes of a node
    cdef uint32_t k             # number of uses remembered per block
    cdef Ranking ranking        # ranking of the cached blocks that are not set aside
    cdef Ranking aside          # blocks set aside within their correlated period, by last use: all keys are 0
    cdef History history        # history of evicted blocks
    cdef uint64_t period        # correlated reference period, accesses
    cdef uint32_t now           # number of the coming access, from 1

    def __cinit__(self, capacity, blocks, k, history, correlated_period):
        if k < 1:
            raise ValueError(f"k is {k}; expected 1 or more uses")
        self.k = k
        self.size = sizeof(Rank) + k * sizeof(uint32_t)
        self.period = correlated_period
        self.now = 1
        self.nodes = self.allocate(blocks, self.size)
        make_ranking(&self.ranking, self)
        if correlated_period:
            make_heap(&self.aside, self)
        make_history(&self.history, self, history)

    cdef bint holds(self, block_t block) noexcept nogil:
        return rank_of(self.nodes, self.size, block).place == CACHED

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        if self.k == 2:
            self.replay_uses(ids, n, hit, 2)
        else:
            self.replay_uses(ids, n, hit, self.k)

    cdef inline void replay_uses(self, const block_t* ids, Py_ssize_t n, uint8_t* hit, const uint32_t k) noexcept nogil:
        """Do the work of `run`; this is compiled once for k = 2 and once for any k."""
        cdef size_t size = sizeof(Rank) + k * sizeof(uint32_t)
        cdef void* nodes = self.nodes
        cdef Node* node
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        cdef uint32_t now = self.now
        cdef uint64_t period = self.period
        for i in range(n):
            if i + AHEAD < n:
                prefetch(rank_of(nodes, size, ids[i + AHEAD]))
            node = <Node*>rank_of(nodes, size, ids[i])
            hit[i] = node.rank.place == CACHED
            if node.rank.place == CACHED:
                if now - node.rank.last > period:
                    shift(node, k, node.rank.last - node.uses[k - 1], now)
                node.rank.last = now
                now += 1
                continue
            misses += 1
            if node.rank.place != NOWHERE:
                self.ghost_hits += 1
                recall(&self.history, nodes, size, ids[i])
            else:
                memset(&node.uses[0], 0, k * sizeof(uint32_t))
            if filled < free:
                filled += 1
            else:
                remember(&self.history, nodes, size, self.choose(now, size))
            node.rank.place = CACHED
            node.rank.last = now
            shift(node, k, 0, now)
            now += 1
            if node.uses[0]:
                enter_known(&self.ranking, &node.rank, ids[i], kth_to_last, 0)
            else:
                enter_new(&self.ranking, ids[i], node.rank.last)
        self.now = now
        self.resident += filled
        self.evictions += misses - filled

    cdef inline block_t choose(self, uint32_t now, const size_t size) noexcept nogil:
        """Remove and return the lowest-ranked block outside its correlated period.

        If there is none, choose among all blocks. Blocks that are passed over because they are within their periods are
        set aside.
        """
        cdef Entry entry
        self.bring_back(now, size)
        while self.ranking.size or self.ranking.waiting:
            entry = take_lowest(&self.ranking, self.nodes, size, kth_to_last, 0)
            if now - entry.last > self.period:
                return entry.block
            entry.key = 0
            push(&self.aside, entry)
        return self.lowest_aside(size)

    cdef inline void bring_back(self, uint32_t now, const size_t size) noexcept nogil:
        """Return blocks to the ranking when their correlated period is over."""
        cdef Entry entry
        cdef const Rank* node
        while self.aside.size and now - self.aside.heap[0].last > self.period:
            entry = self.aside.heap[0]
            node = rank_of(self.nodes, size, entry.block)
            if node.last == entry.last:
                pop(&self.aside, self.nodes, size)
                entry.key = kth_to_last(node, 0)
                push(&self.ranking, entry)
            else:
                entry.last = node.last
                sink(&self.aside, entry, self.nodes, size)

    cdef inline block_t lowest_aside(self, const size_t size) noexcept nogil:
        """Remove and return the lowest-ranked block among those set aside."""
        cdef Entry entry, lowest
        cdef const Rank* node
        cdef uint32_t i, at = 0
        for i in range(self.aside.size):
            entry = self.aside.heap[i]
            node = rank_of(self.nodes, size, entry.block)
            entry.key = kth_to_last(node, 0)
            entry.last = node.last
            if i == 0 or below(&entry, &lowest):
                lowest = entry
                at = i
        while at:                   # move the entries above down, so that the place to empty is the top
            self.aside.heap[at] = self.aside.heap[(at - 1) >> 2]
            at = (at - 1) >> 2
        pop(&self.aside, self.nodes, size)
        return lowest.block


cdef inline void shift(Node* node, const uint32_t k, uint32_t correlated, uint32_t now) noexcept nogil:
    """Record a use, and move older uses closer by `correlated`, the duration of the last use's correlated accesses."""
    cdef uint32_t j
    for j in range(k - 1):
        node.uses[j] = node.uses[j + 1] + correlated if node.uses[j + 1] else 0
    node.uses[k - 1] = now
