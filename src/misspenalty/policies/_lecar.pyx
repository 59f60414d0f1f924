"""Implement the kernel of LeCaR; the definition is in lecar.py.

Each block in the cache is in the list by last use and in the list of its count, both threaded through the nodes. The
groups, one for each count that occurs, are in a list by count. The histories reuse some fields of the nodes of evicted
blocks.
"""

from libc.math cimport exp, pow
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._history cimport History, recall, remember
from misspenalty.policies._list cimport Link, append, make_list, move_newest, oldest, remove
from misspenalty.policies._log cimport FIRST, NOWHERE, make_log
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.traces._splitmix cimport GOLDEN, mix

cdef enum:
    CACHED = 1                  # `place` of a block in the cache; a higher value is its position in a history
    BY_LFU = 0                  # numbers of the histories
    BY_LRU = 1


cdef struct Node:
    uint32_t place              # CACHED, NOWHERE, or a position in a history, which also identifies the history
    Link used                   # neighbours by last use
    Link same                   # neighbours of the same count; in a history: `older` is the time of eviction
    uint32_t group              # group of the block's count; in a history: the count itself


cdef struct Group:
    uint32_t count
    uint32_t fewer              # group with the next lower count; the lowest is group 0, with count 0 and no blocks
    uint32_t more               # group with the next higher count, 0 = none; of a free group: the next free one


cdef class LeCaR(Policy):
    cdef Node* nodes            # nodes: one per block, then the head by last use, then a head per group
    cdef Group* groups
    cdef History expert[2]      # histories of the victims of LFU and of LRU
    cdef uint32_t free          # first free group
    cdef uint32_t now           # number of the last reference
    cdef uint64_t state         # state of SplitMix64
    cdef double weight          # weight of LRU
    cdef double rate
    cdef double discount        # factor by which a regret decays with each reference since the eviction
    cdef bint keeps             # whether a returning block keeps its count

    def __cinit__(self, capacity, blocks, rate, discount, lru, histories, recall, seed):
        cdef uint32_t k, first, most = <uint32_t>self.max_resident() + 3
        cdef size_t live = <size_t>self.ghosts(histories) + 1  # one more: an entry enters before the oldest leaves
        cdef block_t* entries = self.allocate_logs(2 * live, 2)
        self.rate, self.weight, self.keeps, self.state = rate, lru, recall, seed
        self.discount = pow(discount, 1.0 / <double>self.capacity)
        self.nodes = <Node*>self.allocate(<size_t>self.blocks + 1 + most, sizeof(Node))
        self.groups = <Group*>self.allocate(most, sizeof(Group))
        make_list(&self.nodes[0].used, sizeof(Node), self.blocks)
        for k in range(1, most - 1):
            self.groups[k].more = k + 1
        self.free = 1
        for k in range(2):
            self.expert[k].room = <uint32_t>(live - 1)
        first = make_log(&self.expert[BY_LFU].log, entries, FIRST, live)
        make_log(&self.expert[BY_LRU].log, entries, first, live)

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.nodes[block].place == CACHED

    cdef inline block_t head_of(self, uint32_t group) noexcept nogil:
        return <block_t>(self.blocks + 1 + group)

    cdef inline void join(self, block_t block, uint32_t count, uint32_t below) noexcept nogil:
        """Put a block into the group of this count; `below` is any group with a lower count."""
        cdef Group* groups = self.groups
        cdef uint32_t group
        while groups[below].more and groups[groups[below].more].count < count:
            below = groups[below].more
        group = groups[below].more
        if not group or groups[group].count != count:
            group = self.free
            self.free = groups[group].more
            groups[group].count = count
            groups[group].fewer = below
            groups[group].more = groups[below].more
            # If there is no higher group, this sets `fewer` of group 0, which is never read.
            groups[groups[below].more].fewer = group
            groups[below].more = group
            make_list(&self.nodes[0].same, sizeof(Node), self.head_of(group))
        append(&self.nodes[0].same, sizeof(Node), self.head_of(group), block)
        self.nodes[block].group = group

    cdef inline void leave(self, block_t block) noexcept nogil:
        """Take a block out of its group, and free the group if it is then empty."""
        cdef Group* groups = self.groups
        cdef uint32_t group = self.nodes[block].group
        remove(&self.nodes[0].same, sizeof(Node), block)
        if oldest(&self.nodes[0].same, sizeof(Node), self.head_of(group)) == self.head_of(group):
            groups[groups[group].fewer].more = groups[group].more
            groups[groups[group].more].fewer = groups[group].fewer
            groups[group].more = self.free
            self.free = group

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Node* nodes = self.nodes
        cdef Node* node
        cdef Py_ssize_t i, free = self.capacity - self.resident, misses = 0, filled = 0
        cdef uint32_t count
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&nodes[ids[i + AHEAD]])
            node = &nodes[ids[i]]
            self.now += 1
            hit[i] = node.place == CACHED
            if node.place == CACHED:
                move_newest(&nodes[0].used, sizeof(Node), <block_t>self.blocks, ids[i])
                self.use_again(ids[i])
                continue
            misses += 1
            count = 1
            if node.place != NOWHERE:
                self.ghost_hits += 1
                count += node.group * self.keeps
                self.regret(node)
                recall(&self.expert[self.expert_of(node)], nodes, sizeof(Node), ids[i])
            if filled < free:
                filled += 1
            else:
                self.evict()
            node.place = CACHED
            append(&nodes[0].used, sizeof(Node), <block_t>self.blocks, ids[i])
            self.join(ids[i], count, 0)
        self.resident += filled
        self.evictions += misses - filled

    cdef inline void use_again(self, block_t block) noexcept nogil:
        """Increment a block's count, and move the block to the group of the new count."""
        cdef uint32_t group = self.nodes[block].group, below = self.groups[group].fewer
        cdef uint32_t count = self.groups[group].count
        self.leave(block)
        self.join(block, count + 1, below)

    cdef inline int expert_of(self, const Node* node) noexcept nogil:
        """Return the expert whose history holds a block."""
        return BY_LRU if node.place >= self.expert[BY_LRU].log.first else BY_LFU

    cdef inline void regret(self, const Node* node) noexcept nogil:
        """Lower the weight of the expert that evicted a block that now returns."""
        cdef bint by_lru = self.expert_of(node) == BY_LRU
        cdef double factor = exp(-self.rate * pow(self.discount, <double>(self.now - node.same.older)))
        cdef double lru = self.weight * (factor if by_lru else 1.0)
        cdef double lfu = (1 - self.weight) * (1.0 if by_lru else factor)
        if self.rate and lru + lfu > 0:
            self.weight = min(max(lru / (lru + lfu), 1 - 0.99), 0.99)

    cdef inline void evict(self) noexcept nogil:
        cdef Node* nodes = self.nodes
        cdef block_t victim = oldest(&nodes[0].used, sizeof(Node), <block_t>self.blocks)
        cdef block_t least = oldest(&nodes[0].same, sizeof(Node), self.head_of(self.groups[0].more))
        cdef bint differ = victim != least, by_lru = True
        cdef uint32_t count
        if differ:
            self.state += <uint64_t>GOLDEN
            by_lru = <double>(mix(self.state) >> 11) * 2.0**-53 < self.weight
            if not by_lru:
                victim = least
        count = self.groups[nodes[victim].group].count
        self.leave(victim)
        remove(&nodes[0].used, sizeof(Node), victim)
        nodes[victim].place = NOWHERE
        if differ:
            nodes[victim].group = count
            nodes[victim].same.older = self.now
            remember(&self.expert[BY_LRU if by_lru else BY_LFU], nodes, sizeof(Node), victim)
