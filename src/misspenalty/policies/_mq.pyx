"""Kernel of MQ; the definition is in mq.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._list cimport Link, append, make_list, oldest, remove
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef extern from *:
    int clz "__builtin_clz" (unsigned int) noexcept nogil

cdef enum:
    ABSENT = 0                  # neither in the cache nor in the history
    HISTORY = 1                 # in Qout; queue k is QUEUE + k
    QUEUE = 2


cdef struct Node:
    Link link                   # queue or Qout the block stands in
    uint32_t count              # accesses f, kept while in Qout
    uint32_t last               # number of its last access
    uint32_t expire             # access number from which it may be demoted
    uint32_t place              # ABSENT, HISTORY or QUEUE + k


cdef inline int log2_floor(uint32_t value) noexcept nogil:
    return 31 - clz(value)


cdef class MQ(Policy):
    cdef Node* nodes            # one a block, then the heads of Qout and Q0 …
    cdef uint32_t queues
    cdef uint64_t room          # entries Qout may hold
    cdef uint64_t remembered    # entries in Qout
    cdef uint64_t now           # number of the current access
    cdef double factor          # on the estimated lifeTime
    cdef bint adaptive
    cdef readonly uint64_t life_time    # accesses
    cdef uint64_t next_estimate # access number of the next estimate
    cdef uint64_t[32] distances # re-accesses by floor(log2(temporal distance)), those above the cache size

    def __init__(self, capacity, blocks, queues, history, life_time, life_time_factor):
        self.queues = queues
        self.room = <uint64_t>(history * capacity)
        self.factor = life_time_factor
        self.adaptive = life_time is None
        self.life_time = <uint64_t>(capacity * life_time_factor) if life_time is None else life_time
        self.next_estimate = capacity
        self.nodes = <Node*>self.allocate(blocks + 1 + queues, sizeof(Node))
        for head in range(blocks, blocks + 1 + queues):
            make_list(self.nodes, sizeof(Node), head)
            self.nodes[head].expire = 0xFFFFFFFF

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&self.nodes[ids[i + AHEAD]])
            hit[i] = self.access(ids[i])

    cdef inline bint access(self, block_t block) noexcept nogil:
        cdef Node* node = &self.nodes[block]
        cdef bint hit = node.place >= QUEUE
        if node.place != ABSENT:
            self.note_distance(self.now - node.last)
            remove(self.nodes, sizeof(Node), block)
            self.remembered -= node.place == HISTORY
            self.ghost_hits += node.place == HISTORY
        else:
            node.count = 0
        if not hit:
            if self.resident == self.capacity:
                self.evict()
            self.resident += 1
        node.count += 1
        node.last = <uint32_t>self.now
        self.enqueue(block, min(log2_floor(node.count), self.queues - 1))
        self.adjust()
        return hit

    cdef inline void enqueue(self, block_t block, uint32_t queue) noexcept nogil:
        cdef Node* node = &self.nodes[block]
        node.place = QUEUE + queue
        node.expire = <uint32_t>min(self.now + self.life_time, <uint64_t>0xFFFFFFFE)
        append(self.nodes, sizeof(Node), <block_t>self.blocks + 1 + queue, block)

    cdef inline void evict(self) noexcept nogil:
        cdef block_t head = <block_t>self.blocks + 1, victim
        while oldest(self.nodes, sizeof(Node), head) == head:
            head += 1
        victim = oldest(self.nodes, sizeof(Node), head)
        remove(self.nodes, sizeof(Node), victim)
        self.resident -= 1
        self.evictions += 1
        if self.room and self.remembered == self.room:
            head = oldest(self.nodes, sizeof(Node), <block_t>self.blocks)
            remove(self.nodes, sizeof(Node), head)
            self.nodes[head].place = ABSENT
            self.remembered -= 1
        if self.remembered < self.room:
            append(self.nodes, sizeof(Node), <block_t>self.blocks, victim)
            self.nodes[victim].place = HISTORY
            self.remembered += 1
        else:
            self.nodes[victim].place = ABSENT

    cdef inline void adjust(self) noexcept nogil:
        """Once an access: time passes, and the oldest block of each queue moves down where it has expired."""
        cdef uint32_t k
        cdef block_t block
        self.now += 1
        for k in range(1, self.queues):
            block = oldest(self.nodes, sizeof(Node), <block_t>self.blocks + 1 + k)
            if self.nodes[block].expire < self.now:
                remove(self.nodes, sizeof(Node), block)
                self.enqueue(block, k - 1)
        if self.adaptive and self.now == self.next_estimate:
            self.estimate_life_time()

    cdef inline void note_distance(self, uint64_t distance) noexcept nogil:
        if distance > <uint64_t>self.capacity:
            self.distances[log2_floor(<uint32_t>distance)] += 1

    cdef void estimate_life_time(self) noexcept nogil:
        """The centre of the fullest power-of-two bin of distances above the cache size."""
        cdef int peak = 0, k
        self.next_estimate += self.capacity
        for k in range(1, 32):
            if self.distances[k] > self.distances[peak]:
                peak = k
        if self.distances[peak]:
            self.life_time = <uint64_t>(1.5 * (<uint64_t>1 << peak) * self.factor)
