"""Implement the kernel of FBR; the definition is in fbr.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._history cimport History, make_history, recall, remember
from misspenalty.policies._list cimport Link, append, make_list, move_newest, oldest, remove, take_oldest
from misspenalty.policies._policy cimport AHEAD, NEAR, Policy, block_t, prefetch

cdef enum:
    ABSENT = 0                  # `place` of a block that is neither in the cache nor in the history
    NEW = 1                     # sections of the stack
    MIDDLE = 2
    OLD = 3                     # a `place` above OLD is the position in the history
    HEADS = 4                   # list heads after the blocks: one per place, then one per chain


cdef struct Node:
    Link link                   # neighbours in the section
    Link chain                  # blocks of the old section with the same count, least recently used first
    uint32_t count              # number of accesses outside the new section, after halvings; kept while in the history
    uint32_t place              # ABSENT, a section, or the position in the history


cdef class FBR(Policy):
    cdef Node* nodes            # array of nodes: one per block, then the heads
    cdef Link* chains           # the same nodes, addressed by their member `chain`
    cdef uint64_t[4] size       # number of blocks in each section
    cdef uint64_t[4] most       # maximum number of blocks per section; a full one overflows into the next
    cdef uint64_t c_max         # highest count of blocks in a chain
    cdef uint64_t total         # sum of the counts of the blocks in the cache
    cdef double a_max           # average count above which all counts are halved
    cdef History history        # history of the counts of evicted blocks

    def __cinit__(self, capacity, blocks, f_new, f_old, c_max, a_max, history):
        self.most[OLD] = max(<uint64_t>(f_old * capacity), 1)
        self.most[NEW] = min(<uint64_t>(f_new * capacity), capacity - self.most[OLD])
        self.most[MIDDLE] = capacity - self.most[OLD] - self.most[NEW]
        self.c_max = c_max
        self.a_max = a_max
        make_history(&self.history, self, history, OLD + 1)
        self.nodes = <Node*>self.allocate(blocks + HEADS + c_max, sizeof(Node))
        self.chains = &self.nodes[0].chain
        for head in range(blocks, blocks + HEADS):
            make_list(self.nodes, sizeof(Node), head)
        self.empty_chains()

    cdef bint holds(self, block_t block) noexcept nogil:
        return NEW <= self.nodes[block].place <= OLD

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef Node* nodes = self.nodes
        cdef Link* near
        cdef Py_ssize_t i
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&nodes[ids[i + AHEAD]])
                near = &nodes[ids[i + NEAR]].link
                prefetch(&nodes[near.older])
                prefetch(&nodes[near.newer])
            hit[i] = self.use(ids[i])

    cdef inline bint use(self, block_t block) noexcept nogil:
        cdef Node* node = &self.nodes[block]
        cdef uint32_t place = node.place
        if place == NEW:
            move_newest(self.nodes, sizeof(Node), self.head(NEW), block)
            return True
        if place == ABSENT or place > OLD:
            self.load(block)
        else:
            self.leave(block)
            node.count += 1
            self.total += 1
        self.enter(block, NEW)
        self.push_down(NEW)
        self.push_down(MIDDLE)
        if <double>self.total > self.a_max * <double>self.resident:
            self.halve()
        return place == MIDDLE or place == OLD

    cdef inline block_t head(self, uint32_t place) noexcept nogil:
        return <block_t>self.blocks + place

    cdef inline block_t chain_head(self, uint64_t count) noexcept nogil:
        return <block_t>(self.blocks + HEADS + count - 1)

    cdef inline void load(self, block_t block) noexcept nogil:
        """Make room for a block outside the cache and give it its count."""
        cdef Node* node = &self.nodes[block]
        if node.place != ABSENT:
            recall(&self.history, &self.nodes.place, sizeof(Node), block)
            self.ghost_hits += 1
        else:
            node.count = 0
        if self.resident == self.capacity:
            self.evict()
        self.resident += 1
        node.count += 1
        self.total += node.count

    cdef inline void enter(self, block_t block, uint32_t place) noexcept nogil:
        cdef Node* node = &self.nodes[block]
        append(self.nodes, sizeof(Node), self.head(place), block)
        node.place = place
        self.size[place] += 1
        if place == OLD and node.count <= self.c_max:
            append(self.chains, sizeof(Node), self.chain_head(node.count), block)

    cdef inline void leave(self, block_t block) noexcept nogil:
        cdef Node* node = &self.nodes[block]
        remove(self.nodes, sizeof(Node), block)
        self.size[node.place] -= 1
        if node.place == OLD and node.count <= self.c_max:
            remove(self.chains, sizeof(Node), block)

    cdef inline void push_down(self, uint32_t place) noexcept nogil:
        """Move the least recently used block of a section to the section below if the section is overfull."""
        cdef block_t block
        if self.size[place] > self.most[place]:
            block = oldest(self.nodes, sizeof(Node), self.head(place))
            take_oldest(self.nodes, sizeof(Node), self.head(place), block)
            self.size[place] -= 1
            self.enter(block, place + 1)

    cdef inline void evict(self) noexcept nogil:
        cdef block_t victim = self.choose()
        self.leave(victim)
        self.resident -= 1
        self.evictions += 1
        self.total -= self.nodes[victim].count
        remember(&self.history, &self.nodes.place, sizeof(Node), victim)

    cdef inline block_t choose(self) noexcept nogil:
        """Return the least recently used block of the lowest nonempty chain, or of the old section if all are empty."""
        cdef uint64_t count
        cdef block_t head
        for count in range(1, self.c_max + 1):
            head = self.chain_head(count)
            if oldest(self.chains, sizeof(Node), head) != head:
                return oldest(self.chains, sizeof(Node), head)
        return oldest(self.nodes, sizeof(Node), self.head(OLD))

    cdef void empty_chains(self) noexcept nogil:
        cdef uint64_t count
        for count in range(1, self.c_max + 1):
            make_list(self.chains, sizeof(Node), self.chain_head(count))

    cdef void halve(self) noexcept nogil:
        """Halve every count, rounding up, and rebuild the chains."""
        cdef uint32_t place
        cdef block_t block
        cdef Node* node
        self.empty_chains()
        self.total = 0
        for place in range(NEW, OLD + 1):
            block = oldest(self.nodes, sizeof(Node), self.head(place))
            while block != self.head(place):
                node = &self.nodes[block]
                node.count -= node.count >> 1
                self.total += node.count
                if place == OLD and node.count <= self.c_max:
                    append(self.chains, sizeof(Node), self.chain_head(node.count), block)
                block = node.link.newer
