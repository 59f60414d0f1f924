# A history remembers a limited number of evicted blocks in order of eviction, and forgets the oldest.

from libc.stdint cimport uint32_t

from misspenalty.policies._log cimport FIRST, NOWHERE, Log, add, make_log, position, take_oldest
from misspenalty.policies._policy cimport Policy, block_t

cdef enum:
    NOBODY = 0xFFFFFFFF         # value that means "no block"


cdef struct History:
    Log log                     # evicted blocks, oldest eviction first; a block's node begins with its position
    uint32_t room               # maximum number of entries
    uint32_t held               # current number of entries


cdef inline int make_history(History* history, Policy policy, double multiple, uint32_t first=FIRST) except -1:
    """Make a history whose length is at most `multiple` times the cache size; its positions begin at `first`."""
    history.room = <uint32_t>policy.ghosts(multiple)
    cdef size_t live = <size_t>history.room + 1         # one more: an entry is added before the oldest is dropped
    make_log(&history.log, policy.allocate_logs(live + first, 1), first, live)
    return 0


cdef inline block_t remember(History* history, void* nodes, size_t size, block_t block) noexcept nogil:
    """Add an evicted block; return the block that the history then forgets (`block` if `room` is 0), or NOBODY."""
    if history.room:
        add(&history.log, nodes, size, block)
        if history.held < history.room:
            history.held += 1
            return NOBODY
        block = take_oldest(&history.log, nodes, size)
    position(nodes, size, block)[0] = NOWHERE
    return block


cdef inline void recall(History* history, void* nodes, size_t size, block_t block) noexcept nogil:
    """Remove a block that returns to the cache."""
    position(nodes, size, block)[0] = NOWHERE
    history.held -= 1
