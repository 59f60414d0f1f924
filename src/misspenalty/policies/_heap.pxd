# A lazy ranking finds the block in the cache with the lowest key.
#
# It serves policies in which a block's key only grows, and only when the block is used (access count, CRF,
# second-to-last use). A use writes only the block's node, so keys in the ranking may be out of date, but never too
# high: to find the lowest key, update the first entry until the entry that is then first is already up to date. Blocks
# that are new to the policy rank in the order of their loads. They queue in a ring, and enter the heap only if they
# have been used again by the time they reach its front. The heap has four children per node, side by side.

from libc.stdint cimport uint32_t, uint64_t

from misspenalty.policies._policy cimport Policy, block_t, prefetch


cdef enum:
    NEAR_TOP = 20               # last heap place for which the block's node is prefetched, as it is needed soon
    CACHED = 1                  # `place` of a block in the cache; a higher value is its position in the history


cdef struct Rank:
    uint32_t place              # set by the policy: CACHED, NOWHERE, or the position in the history
    uint32_t last               # number of the block's last access; shows whether an entry is up to date


cdef struct Entry:
    uint64_t key                # key; the entry with the lowest key leaves first
    uint32_t last               # number of the last access when `key` was computed; breaks ties, lowest first
    block_t block


cdef struct Newcomer:
    block_t block
    uint32_t last               # number of the access that loaded the block


cdef struct Ranking:
    Entry* heap                 # room for one entry per resident block
    Newcomer* ring              # room for one newcomer per resident block; NULL if new blocks do not enter
    uint32_t size               # number of entries in the heap
    uint32_t max_resident       # number of entries for which the heap and the ring each have room
    uint32_t front              # place of the oldest newcomer in the ring
    uint32_t waiting            # number of newcomers in the ring


# Return the key of a block, from its node; `weight` is a parameter of the policy.
ctypedef uint64_t (*key_t)(const Rank* node, double weight) noexcept nogil


# Allocate a ranking that new blocks do not enter, so that it needs no ring.
cdef inline int make_heap(Ranking* ranking, Policy policy) except -1:
    ranking.max_resident = <uint32_t>policy.max_resident()
    cdef size_t first = <size_t>policy.allocate(ranking.max_resident + 8, sizeof(Entry))
    ranking.heap = <Entry*>(((first + 63) & ~<size_t>63) + 48)   # the four children of an entry share a cache line
    return 0


cdef inline int make_ranking(Ranking* ranking, Policy policy) except -1:
    make_heap(ranking, policy)
    ranking.ring = <Newcomer*>policy.allocate(ranking.max_resident, sizeof(Newcomer))
    return 0


cdef inline Rank* rank_of(void* nodes, size_t size, block_t block) noexcept nogil:
    return <Rank*>(<char*>nodes + size * block)


cdef inline bint below(const Entry* a, const Entry* b) noexcept nogil:
    return a.key < b.key or (a.key == b.key and a.last < b.last)


cdef inline void push(Ranking* ranking, Entry entry) noexcept nogil:
    cdef Entry* heap = ranking.heap
    cdef uint32_t at = ranking.size, above
    ranking.size += 1
    while at:
        above = (at - 1) >> 2
        if not below(&entry, &heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = entry


cdef inline void sink(Ranking* ranking, Entry entry, void* nodes, size_t width) noexcept nogil:
    """Replace the top with `entry`, and prefetch the nodes of blocks that move near the top."""
    cdef Entry* heap = ranking.heap
    cdef uint64_t at = 0, child, least, i, size = ranking.size
    while True:
        child = 4 * at + 1
        if child >= size:
            break
        least = child
        for i in range(child + 1, min(child + 4, size)):
            if below(&heap[i], &heap[least]):
                least = i
        if not below(&heap[least], &entry):
            break
        heap[at] = heap[least]
        if at <= NEAR_TOP and at:
            prefetch(rank_of(nodes, width, heap[least].block))
        at = least
    heap[at] = entry
    if at <= NEAR_TOP:
        prefetch(rank_of(nodes, width, entry.block))


cdef inline void pop(Ranking* ranking, void* nodes, size_t width) noexcept nogil:
    ranking.size -= 1
    if ranking.size:
        sink(ranking, ranking.heap[ranking.size], nodes, width)


cdef inline void enter_new(Ranking* ranking, block_t block, uint32_t last) noexcept nogil:
    """Add a block that has no known earlier use."""
    cdef uint64_t at = <uint64_t>ranking.front + ranking.waiting
    if at >= ranking.max_resident:
        at -= ranking.max_resident
    ranking.ring[at].block = block
    ranking.ring[at].last = last
    ranking.waiting += 1


cdef inline void enter_known(
    Ranking* ranking, const Rank* node, block_t block, key_t key, double weight
) noexcept nogil:
    """Add a block that has known earlier uses."""
    cdef Entry entry
    entry.key = key(node, weight)
    entry.last = node.last
    entry.block = block
    push(ranking, entry)


cdef inline void leave_ring(Ranking* ranking) noexcept nogil:
    ranking.front = ranking.front + 1 if ranking.front + 1 < ranking.max_resident else 0
    ranking.waiting -= 1


cdef inline Entry take_lowest(Ranking* ranking, void* nodes, size_t size, key_t key, double weight) noexcept nogil:
    """Remove and return the entry with the lowest key, which must exist."""
    cdef Entry entry
    cdef Newcomer* newcomer
    cdef Rank* node
    while True:
        if ranking.waiting:
            newcomer = &ranking.ring[ranking.front]
            prefetch(rank_of(nodes, size, ranking.ring[min(ranking.front + 8, ranking.max_resident - 1)].block))
            node = rank_of(nodes, size, newcomer.block)
            entry.key = key(node, weight)
            entry.last = node.last
            entry.block = newcomer.block
            if node.last != newcomer.last:
                leave_ring(ranking)
                push(ranking, entry)
                continue
            if not ranking.size or below(&entry, &ranking.heap[0]):
                leave_ring(ranking)
                return entry
        entry = ranking.heap[0]
        node = rank_of(nodes, size, entry.block)
        if node.last == entry.last:
            pop(ranking, nodes, size)
            return entry
        entry.key = key(node, weight)
        entry.last = node.last
        sink(ranking, entry, nodes, size)
