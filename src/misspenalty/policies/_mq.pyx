"""Implement the kernel of MQ; the definition is in mq.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._list cimport Link, append, make_list, oldest, remove, take_oldest
from misspenalty.policies._policy cimport AHEAD, NEAR, Policy, block_t, prefetch

cdef extern from *:
    int clz "__builtin_clz" (unsigned int) noexcept nogil

cdef enum:
    ABSENT = 0                  # `place` of a block that is neither in the cache nor in the history
    HISTORY = 1                 # `place` of a block in Qout; that of a block in queue k is QUEUE + k
    QUEUE = 2
    NO_EXPIRY = 0xFFFFFFFF      # value of `expire` in a list head


cdef struct Node:
    Link link                   # neighbours in the queue or Qout that holds the block
    uint32_t count              # number of accesses f; kept while in Qout
    uint32_t last               # number of the block's last access
    uint32_t expire             # number of the access after which the block may be demoted
    uint32_t place              # ABSENT, HISTORY or QUEUE + k


cdef struct State:
    Node* nodes                 # nodes: one per block, then the heads of Qout, Q0, Q1, …
    block_t qout                # head of Qout, which follows the nodes of the blocks; the head of Qk is qout + 1 + k
    uint32_t queues             # m
    uint32_t soonest            # lower bound on the expiry of the oldest blocks of queues above Q0; Q0's do not expire
    uint64_t capacity           # cache size, blocks
    uint64_t resident           # number of blocks in the cache
    uint64_t room               # maximum number of entries in Qout
    uint64_t remembered         # number of entries in Qout
    uint64_t now                # number of the current access
    uint64_t life_time          # lifeTime, accesses
    uint64_t next_estimate      # number of the access at which lifeTime is next estimated; 0 = lifeTime is given
    uint64_t evictions
    uint64_t ghost_hits
    double factor               # factor by which the estimated lifeTime is multiplied
    bint recall_first           # whether a miss looks in Qout before it evicts
    uint64_t distances[32]      # number of re-accesses at distances above the cache size, by floor(log2(distance))


cdef inline uint32_t log2_floor(uint32_t value) noexcept nogil:
    return 31 - clz(value)


cdef inline void leave(State* s, block_t block) noexcept nogil:
    """Unlink a block; if a queue above Q0 gets a new oldest block that expires before `soonest`, lower `soonest`."""
    cdef Link link = s.nodes[block].link
    remove(s.nodes, sizeof(Node), block)
    if link.older > s.qout + 1:
        s.soonest = min(s.soonest, s.nodes[link.newer].expire)


cdef inline void enqueue(State* s, block_t block, uint32_t queue) noexcept nogil:
    cdef Node* node = &s.nodes[block]
    node.place = QUEUE + queue
    node.expire = <uint32_t>min(s.now + s.life_time, <uint64_t>NO_EXPIRY - 1)
    append(s.nodes, sizeof(Node), s.qout + 1 + queue, block)
    if node.link.older > s.qout + 1:
        s.soonest = min(s.soonest, node.expire)


cdef inline void remember(State* s, block_t block) noexcept nogil:
    """Put an evicted block into Qout, which may drop its oldest entry."""
    cdef block_t forgotten
    if not s.room:
        s.nodes[block].place = ABSENT
        return
    if s.remembered == s.room:
        forgotten = oldest(s.nodes, sizeof(Node), s.qout)
        take_oldest(s.nodes, sizeof(Node), s.qout, forgotten)
        s.nodes[forgotten].place = ABSENT
        s.remembered -= 1
    append(s.nodes, sizeof(Node), s.qout, block)
    s.nodes[block].place = HISTORY
    s.remembered += 1


cdef inline void evict(State* s) noexcept nogil:
    cdef block_t head = s.qout + 1, victim
    while oldest(s.nodes, sizeof(Node), head) == head:
        head += 1
    victim = oldest(s.nodes, sizeof(Node), head)
    take_oldest(s.nodes, sizeof(Node), head, victim)
    if head > s.qout + 1:
        s.soonest = min(s.soonest, s.nodes[oldest(s.nodes, sizeof(Node), head)].expire)
    s.resident -= 1
    s.evictions += 1
    remember(s, victim)


cdef void demote(State* s) noexcept nogil:
    """Move the oldest block of each queue above Q0 one queue down if it has expired; then set `soonest`."""
    cdef uint32_t k, soonest = NO_EXPIRY
    cdef block_t block
    for k in range(1, s.queues):
        block = oldest(s.nodes, sizeof(Node), s.qout + 1 + k)
        if s.nodes[block].expire < s.now:
            take_oldest(s.nodes, sizeof(Node), s.qout + 1 + k, block)
            enqueue(s, block, k - 1)
    for k in range(1, s.queues):
        soonest = min(soonest, s.nodes[oldest(s.nodes, sizeof(Node), s.qout + 1 + k)].expire)
    s.soonest = soonest


cdef void estimate_life_time(State* s) noexcept nogil:
    """Set lifeTime to `factor` times the centre of the fullest power-of-two bin of distances above the cache size."""
    cdef int peak = 0, k
    s.next_estimate += s.capacity
    for k in range(1, 32):
        if s.distances[k] > s.distances[peak]:
            peak = k
    if s.distances[peak]:
        s.life_time = <uint64_t>(1.5 * <double>(<uint64_t>1 << peak) * s.factor)


cdef inline bint access(State* s, block_t block) noexcept nogil:
    cdef Node* node = &s.nodes[block]
    cdef bint hit = node.place >= QUEUE
    cdef bint full = not hit and s.resident == s.capacity
    cdef uint64_t distance
    if full and not s.recall_first:
        evict(s)                                # this may drop `block` from Qout
    if node.place != ABSENT:
        distance = s.now - node.last
        s.distances[log2_floor(<uint32_t>distance)] += distance > s.capacity
        leave(s, block)
        s.remembered -= node.place == HISTORY
        s.ghost_hits += node.place == HISTORY
    else:
        node.count = 0
    if full and s.recall_first:
        evict(s)
    s.resident += not hit
    node.count += 1
    node.last = <uint32_t>s.now
    enqueue(s, block, min(log2_floor(node.count), s.queues - 1))
    s.now += 1
    if s.soonest < s.now:
        demote(s)
    if s.now == s.next_estimate:
        estimate_life_time(s)
    return hit


cdef class MQ(Policy):
    cdef State state

    def __cinit__(self, capacity, blocks, queues, history, life_time, life_time_factor, recall_first):
        cdef State* s = &self.state
        s.qout = blocks
        s.queues = queues
        s.soonest = NO_EXPIRY
        s.capacity = capacity
        s.room = self.ghosts(history)
        s.life_time = <uint64_t>(capacity * life_time_factor) if life_time is None else life_time
        s.next_estimate = capacity if life_time is None else 0
        s.factor = life_time_factor
        s.recall_first = recall_first
        s.nodes = <Node*>self.allocate(blocks + 1 + queues, sizeof(Node))
        for head in range(blocks, blocks + 1 + queues):
            make_list(s.nodes, sizeof(Node), head)
            s.nodes[head].expire = NO_EXPIRY

    @property
    def life_time(self):
        """Current lifeTime: the number of accesses after which an unused block moves down."""
        return self.state.life_time

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.state.nodes[block].place >= QUEUE

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t beyond = self.beyond
        cdef State* s = &self.state
        cdef Link near
        cdef Py_ssize_t i
        for i in range(n):
            if i + AHEAD < n + beyond:
                prefetch(&s.nodes[ids[i + AHEAD]])
                near = s.nodes[ids[i + NEAR]].link
                prefetch(&s.nodes[near.older])
                prefetch(&s.nodes[near.newer])
            hit[i] = access(s, ids[i])
        self.resident = s.resident
        self.evictions = s.evictions
        self.ghost_hits = s.ghost_hits
