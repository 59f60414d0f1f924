# A log keeps the recency order of blocks without links: one array lists the blocks in the order of their uses.
#
# A block's node begins with its position in the log. An entry is stale if its block's node holds another position,
# because the block has moved or left. Moving a block to the newest end takes one write to its node and one at the
# log's end, and touches no neighbour. The first entry that is not stale holds the oldest block. When the array is full,
# the stale entries are removed. The array has three entries for each block that can be live, so this copies at most
# half an entry per append on average.
#
# Several logs may share one array of entries; a node's position then also tells which log its block is in.

from libc.stdint cimport uint32_t

from misspenalty.policies._policy cimport block_t, prefetch

cdef enum:
    NOWHERE = 0                 # position of a block in no log
    FIRST = 2                   # lowest position; 1 is free for the policy's own use
    SPARE = 3                   # number of array entries for each block that can be live


cdef struct Log:
    block_t* entries            # blocks, oldest first; may be shared with other logs
    uint32_t first              # lowest position
    uint32_t limit              # one past the last position
    uint32_t begin              # all entries below this position are stale
    uint32_t end                # position of the next append


cdef inline uint32_t* position(void* nodes, size_t size, block_t block) noexcept nogil:
    return <uint32_t*>(<char*>nodes + size * block)


cdef inline uint32_t make_log(Log* log, block_t* entries, uint32_t first, size_t live) noexcept nogil:
    """Make a log for at most `live` live blocks in part of `entries`; return its limit, where another may begin."""
    log.entries = entries
    log.first = log.begin = log.end = first
    log.limit = <uint32_t>(first + SPARE * live + 1)
    return log.limit


cdef inline void squeeze(Log* log, void* nodes, size_t size) noexcept nogil:
    """Drop the stale entries."""
    cdef uint32_t i, to = log.first
    cdef block_t block
    for i in range(log.begin, log.end):
        prefetch(position(nodes, size, log.entries[min(i + 16, log.end - 1)]))
        block = log.entries[i]
        if position(nodes, size, block)[0] == i:
            position(nodes, size, block)[0] = to
            log.entries[to] = block
            to += 1
    log.begin = log.first
    log.end = to


cdef inline void add(Log* log, void* nodes, size_t size, block_t block) noexcept nogil:
    """Append a block; an older entry of the block becomes stale."""
    if log.end == log.limit:
        squeeze(log, nodes, size)
    log.entries[log.end] = block
    position(nodes, size, block)[0] = log.end
    log.end += 1


cdef inline block_t oldest(Log* log, void* nodes, size_t size) noexcept nogil:
    """Return the oldest live block, which must exist."""
    while position(nodes, size, log.entries[log.begin])[0] != log.begin:
        log.begin += 1
    return log.entries[log.begin]


cdef inline block_t take_oldest(Log* log, void* nodes, size_t size) noexcept nogil:
    """Remove and return the oldest live block, which must exist; the caller sets the position in its node."""
    cdef block_t block
    while True:
        block = log.entries[log.begin]
        prefetch(position(nodes, size, log.entries[min(log.begin + 8, log.limit - 1)]))
        log.begin += 1
        if position(nodes, size, block)[0] == log.begin - 1:
            return block
