# Doubly linked lists are threaded through an array of nodes, which has one node per block, at the block's dense id.
#
# Any node struct whose first member is a Link can be in a list; `size` is sizeof(node), a constant after inlining. The
# heads of lists are nodes after those of the blocks; the head of an empty list is linked to itself.

from misspenalty.policies._policy cimport block_t, prefetch


cdef struct Link:
    block_t older           # neighbour towards the least recently added block
    block_t newer           # neighbour towards the most recently added block


cdef inline Link* link_of(void* nodes, size_t size, block_t block) noexcept nogil:
    return <Link*>(<char*>nodes + size * block)


cdef inline void make_list(void* nodes, size_t size, block_t head) noexcept nogil:
    cdef Link* h = link_of(nodes, size, head)
    h.older = head
    h.newer = head


cdef inline block_t oldest(void* nodes, size_t size, block_t head) noexcept nogil:
    """Return the least recently added block, or the head itself if the list is empty."""
    return link_of(nodes, size, head).newer


cdef inline void append(void* nodes, size_t size, block_t head, block_t block) noexcept nogil:
    """Add a block at the newest end."""
    cdef Link* h = link_of(nodes, size, head)
    cdef Link* b = link_of(nodes, size, block)
    b.older = h.older
    b.newer = head
    link_of(nodes, size, h.older).newer = block
    h.older = block


cdef inline void remove(void* nodes, size_t size, block_t block) noexcept nogil:
    cdef Link* b = link_of(nodes, size, block)
    link_of(nodes, size, b.older).newer = b.newer
    link_of(nodes, size, b.newer).older = b.older


cdef inline void take_oldest(void* nodes, size_t size, block_t head, block_t block) noexcept nogil:
    """Remove `block`, which must be the oldest, and prefetch the node after the next oldest."""
    cdef block_t following = link_of(nodes, size, block).newer
    prefetch(link_of(nodes, size, link_of(nodes, size, following).newer))
    link_of(nodes, size, head).newer = following
    link_of(nodes, size, following).older = head


cdef inline void move_newest(void* nodes, size_t size, block_t head, block_t block) noexcept nogil:
    remove(nodes, size, block)
    append(nodes, size, head, block)
