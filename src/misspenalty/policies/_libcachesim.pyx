"""Implement the kernels of libCacheSim's versions of SLRU, W-TinyLFU and LIRS; the definitions are in libcachesim.py.

Lists are doubly linked, oldest block first. In W-TinyLFU, list 0 is the window; lists 1 and up are the segments of an
SLRU, the lowest first.
"""

from libc.math cimport ceil, log
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._list cimport Link, append, make_list, move_newest, oldest, remove
from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch

cdef enum:
    MAX_LISTS = 5
    SAMPLE = 32                 # hits in the segments, as a multiple of their capacity, until counters are halved
    SEED_A = 0x12345678
    SEED_B = 0x12344321
    SEGMENTS = 4                # number of segments of SLRU
    LOW = 1                     # relative sizes of W-TinyLFU's two segments
    HIGH = 4


cdef struct Node:
    Link link
    uint32_t place              # number of the block's list, from 1; 0 = not in the cache


cdef struct Lists:
    Node* nodes                 # nodes: one per block, then one per list
    block_t heads               # the node of list 0
    uint32_t lists
    uint32_t blocks[MAX_LISTS]  # number of blocks in each list
    uint32_t limit[MAX_LISTS]
    uint32_t capacity           # capacity of the segments together


cdef struct Sketch:
    uint32_t* counts
    uint32_t n
    uint32_t hashes
    uint64_t hits               # number of hits in the segments since counters were halved
    uint64_t sample


cdef inline void put(Lists* l, uint32_t k, block_t block) noexcept nogil:
    append(l.nodes, sizeof(Node), l.heads + k, block)
    l.nodes[block].place = k + 1
    l.blocks[k] += 1


cdef inline void take(Lists* l, block_t block) noexcept nogil:
    remove(l.nodes, sizeof(Node), block)
    l.blocks[l.nodes[block].place - 1] -= 1
    l.nodes[block].place = 0


cdef inline block_t oldest_of(Lists* l, uint32_t k) noexcept nogil:
    return oldest(l.nodes, sizeof(Node), l.heads + k)


cdef inline uint32_t in_segments(const Lists* l) noexcept nogil:
    cdef uint32_t k, total = 0
    for k in range(1, l.lists):
        total += l.blocks[k]
    return total


cdef inline block_t victim_of(Lists* l) noexcept nogil:
    cdef uint32_t k = 1
    while not l.blocks[k]:
        k += 1
    return oldest_of(l, k)


cdef void cool(Lists* l, uint32_t k) noexcept nogil:
    """Move the oldest block of a segment into the segment below, or evict it if the segment is the lowest."""
    cdef block_t block
    if k == 1:
        take(l, victim_of(l))
        return
    block = oldest_of(l, k)
    take(l, block)
    put(l, k - 1, block)
    while l.blocks[k - 1] > l.limit[k - 1]:
        cool(l, k - 1)


cdef inline void hit_segment(Lists* l, block_t block) noexcept nogil:
    cdef uint32_t k = l.nodes[block].place - 1
    if k == l.lists - 1:
        move_newest(l.nodes, sizeof(Node), l.heads + k, block)
        return
    take(l, block)
    put(l, k + 1, block)
    while l.blocks[k + 1] > l.limit[k + 1]:
        cool(l, k + 1)


cdef inline void enter_segments(Lists* l, block_t block) noexcept nogil:
    cdef uint32_t k
    for k in range(1, l.lists):
        if l.blocks[k] < l.limit[k]:
            put(l, k, block)
            return
    while in_segments(l) >= l.capacity:
        take(l, victim_of(l))
    put(l, 1, block)


cdef inline uint64_t rotated(uint64_t x, int bits) noexcept nogil:
    return (x << bits) | (x >> (64 - bits))


cdef inline uint32_t xxh64(uint64_t key, uint64_t seed) noexcept nogil:
    """Return the low half of the XXH64 hash of the eight bytes of a number."""
    cdef uint64_t a = <uint64_t>0x9E3779B185EBCA87, b = <uint64_t>0xC2B2AE3D27D4EB4F, c = <uint64_t>0x165667B19E3779F9
    cdef uint64_t x = (seed + <uint64_t>0x27D4EB2F165667C5 + 8) ^ (rotated(key * b, 31) * a)
    x = rotated(x, 27) * a + <uint64_t>0x85EBCA77C2B2AE63
    x = (x ^ (x >> 33)) * b
    x = (x ^ (x >> 29)) * c
    return <uint32_t>(x ^ (x >> 32))


cdef inline uint32_t frequency(const Sketch* s, block_t block) noexcept nogil:
    cdef uint64_t key = <uint64_t>block + 1
    cdef uint32_t at = xxh64(key, SEED_A), step = xxh64(key, SEED_B), i, least = 0xFFFFFFFF
    for i in range(s.hashes):
        least = min(least, s.counts[at % s.n])
        at += step
    return least


cdef inline void count(Sketch* s, block_t block) noexcept nogil:
    cdef uint64_t key = <uint64_t>block + 1
    cdef uint32_t at = xxh64(key, SEED_A), step = xxh64(key, SEED_B), i
    for i in range(s.hashes):
        s.counts[at % s.n] += 1
        at += step


cdef inline void count_hit(Sketch* s, block_t block) noexcept nogil:
    cdef uint32_t i
    count(s, block)
    s.hits += 1
    if s.hits >= s.sample:
        s.hits = 0
        for i in range(s.n):
            s.counts[i] >>= 1


cdef class Segmented(Policy):
    cdef Lists lists

    cdef int make_lists(self, Py_ssize_t lists) except -1:
        cdef Lists* l = &self.lists
        cdef uint32_t k
        self.varies = True
        l.lists = lists
        l.heads = self.blocks
        l.nodes = <Node*>self.allocate(self.blocks + lists, sizeof(Node))
        for k in range(l.lists):
            make_list(l.nodes, sizeof(Node), l.heads + k)
        return 0

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.lists.nodes[block].place != 0

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i, before = self.resident, misses = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&self.lists.nodes[ids[i + AHEAD]])
            hit[i] = self.use(ids[i])
            misses += not hit[i] and self.lists.nodes[ids[i]].place != 0
        self.resident = self.lists.blocks[0] + in_segments(&self.lists)
        self.evictions += misses + before - self.resident

    cdef bint use(self, block_t block) noexcept nogil:
        return False


cdef class SLRU(Segmented):
    def __cinit__(self, capacity, blocks):
        cdef uint32_t k
        self.make_lists(SEGMENTS + 1)
        self.lists.capacity = capacity
        for k in range(1, SEGMENTS + 1):
            self.lists.limit[k] = capacity // SEGMENTS

    cdef bint use(self, block_t block) noexcept nogil:
        cdef Lists* l = &self.lists
        if l.nodes[block].place:
            hit_segment(l, block)
            return True
        if l.limit[1]:
            while in_segments(l) >= l.capacity:
                take(l, victim_of(l))
            enter_segments(l, block)
        return False


cdef class WTinyLFU(Segmented):
    cdef Sketch sketch

    def __cinit__(self, capacity, blocks, window):
        cdef Lists* l = &self.lists
        cdef Sketch* s = &self.sketch
        per_entry = -log(0.001) / 0.480453013918201
        self.make_lists(3)
        l.limit[0] = <uint32_t>(capacity * <double>window)
        l.capacity = capacity - l.limit[0]
        l.limit[1] = <uint32_t>(<double>LOW / (LOW + HIGH) * l.capacity)
        l.limit[2] = <uint32_t>(<double>HIGH / (LOW + HIGH) * l.capacity)
        s.hashes = <uint32_t>ceil(0.693147180559945 * per_entry)
        s.n = <uint32_t>min(ceil(per_entry * l.capacity), 0x7FFFFFFF)
        s.n = 2 * s.hashes if s.n < s.hashes else s.n
        s.sample = <uint64_t>SAMPLE * l.capacity
        s.counts = <uint32_t*>self.allocate(s.n, sizeof(uint32_t))

    cdef bint use(self, block_t block) noexcept nogil:
        cdef Lists* l = &self.lists
        if l.nodes[block].place == 1:
            move_newest(l.nodes, sizeof(Node), l.heads, block)
            return True
        if l.nodes[block].place:
            hit_segment(l, block)
            count_hit(&self.sketch, block)
            return True
        if l.limit[0] and l.limit[1]:
            while l.blocks[0] + in_segments(l) >= <uint32_t>self.capacity:
                self.make_room()
            put(l, 0, block)
            count(&self.sketch, block)
        return False

    cdef inline void make_room(self) noexcept nogil:
        """Move blocks from the window, which holds at least one, into the segments until a block is evicted."""
        cdef Lists* l = &self.lists
        cdef block_t candidate, victim
        cdef bint evicted = False
        while not evicted:
            candidate = oldest_of(l, 0)
            evicted = in_segments(l) >= l.capacity
            if evicted:
                victim = victim_of(l)
                if frequency(&self.sketch, candidate) > frequency(&self.sketch, victim):
                    take(l, victim)
                    take(l, candidate)
                    enter_segments(l, candidate)
                else:
                    take(l, candidate)
            else:
                take(l, candidate)
                enter_segments(l, candidate)
            count(&self.sketch, candidate)


cdef struct LirsNode:
    Link s                      # neighbours in the stack
    Link q                      # neighbours in the queue
    Link gone                   # neighbours among the evicted blocks of the stack
    uint8_t in_s
    uint8_t in_q
    uint8_t in_gone
    uint8_t lir
    uint8_t resident            # whether the block's entry in the stack says that the block is in the cache


cdef class LIRS(Policy):
    cdef LirsNode* nodes        # nodes: one per block, then the head of the three lists
    cdef block_t head
    cdef Py_ssize_t lirs        # maximum number of LIR blocks
    cdef Py_ssize_t hirs        # maximum number of blocks in the queue
    cdef Py_ssize_t lir         # number of LIR blocks
    cdef Py_ssize_t queued
    cdef Py_ssize_t stacked

    def __cinit__(self, capacity, blocks):
        self.varies = True
        self.hirs = max(1, <Py_ssize_t>(0.01 * <double>self.capacity))
        self.lirs = capacity - self.hirs
        self.nodes = <LirsNode*>self.allocate(blocks + 1, sizeof(LirsNode))
        self.head = blocks
        make_list(self.nodes, sizeof(LirsNode), self.head)
        make_list(&self.nodes.q, sizeof(LirsNode), self.head)
        make_list(&self.nodes.gone, sizeof(LirsNode), self.head)

    cdef bint holds(self, block_t block) noexcept nogil:
        cdef LirsNode* node = &self.nodes[block]
        return node.in_q or (node.in_s and (node.lir or node.resident))

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i, before = self.resident, misses = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&self.nodes[ids[i + AHEAD]])
            hit[i] = self.find(ids[i])
            if not hit[i] and self.lirs:
                misses += 1
                self.enter(ids[i])
            self.limit()
        self.resident = self.lir + self.queued
        self.evictions += misses + before - self.resident

    cdef inline bint find(self, block_t block) noexcept nogil:
        cdef LirsNode* node = &self.nodes[block]
        if node.in_q:
            move_newest(&self.nodes.q, sizeof(LirsNode), self.head, block)
        if node.in_s:
            move_newest(self.nodes, sizeof(LirsNode), self.head, block)
            if node.lir:
                self.prune()
                return True
            if not node.resident:
                return False
            if node.in_q:
                self.unqueue(block)
            self.make_lir_room()
            node.lir = 1
            self.lir += 1
            return True
        if not node.in_q:
            return False
        self.make_lir_room()
        self.push(block)
        node.lir = 0
        node.resident = 1
        return True

    cdef inline void enter(self, block_t block) noexcept nogil:
        cdef LirsNode* node = &self.nodes[block]
        cdef bint known = node.in_s
        if known:
            self.make_lir_room()
            self.recall(block)
        elif self.lir >= self.lirs and self.queued >= self.hirs:
            self.evict()
        if not known:
            self.push(block)
        node.resident = 1
        node.lir = known or self.lir < self.lirs
        self.lir += node.lir
        if not node.lir:
            self.queue(block)

    cdef inline void make_lir_room(self) noexcept nogil:
        """Move LIR blocks from the bottom of the stack to the queue, which evicts blocks if it is full."""
        cdef block_t block
        while self.lir >= self.lirs:
            block = oldest(self.nodes, sizeof(LirsNode), self.head)
            self.lir -= 1
            self.pop(block)
            while self.queued >= self.hirs:
                self.evict()
            self.queue(block)
            self.prune()

    cdef inline void evict(self) noexcept nogil:
        """Evict the oldest block of the queue."""
        cdef block_t block = oldest(&self.nodes.q, sizeof(LirsNode), self.head)
        self.unqueue(block)
        if self.nodes[block].in_s:
            self.nodes[block].resident = 0
            self.nodes[block].in_gone = 1
            append(&self.nodes.gone, sizeof(LirsNode), self.head, block)

    cdef inline void prune(self) noexcept nogil:
        cdef block_t block
        while self.stacked > 1:
            block = oldest(self.nodes, sizeof(LirsNode), self.head)
            if self.nodes[block].lir:
                return
            self.pop(block)

    cdef inline void limit(self) noexcept nogil:
        """Drop the blocks that were evicted first from the stack if it exceeds twice the cache."""
        cdef block_t block
        while self.stacked > 2 * self.capacity:
            block = oldest(&self.nodes.gone, sizeof(LirsNode), self.head)
            if block == self.head:
                return
            self.pop(block)

    cdef inline void recall(self, block_t block) noexcept nogil:
        if self.nodes[block].in_gone:
            remove(&self.nodes.gone, sizeof(LirsNode), block)
            self.nodes[block].in_gone = 0

    cdef inline void push(self, block_t block) noexcept nogil:
        append(self.nodes, sizeof(LirsNode), self.head, block)
        self.nodes[block].in_s = 1
        self.stacked += 1

    cdef inline void pop(self, block_t block) noexcept nogil:
        self.recall(block)
        remove(self.nodes, sizeof(LirsNode), block)
        self.nodes[block].in_s = self.nodes[block].lir = 0
        self.stacked -= 1

    cdef inline void queue(self, block_t block) noexcept nogil:
        append(&self.nodes.q, sizeof(LirsNode), self.head, block)
        self.nodes[block].in_q = 1
        self.queued += 1

    cdef inline void unqueue(self, block_t block) noexcept nogil:
        remove(&self.nodes.q, sizeof(LirsNode), block)
        self.nodes[block].in_q = 0
        self.queued -= 1
