# Find the cached block whose next request is farthest in the future: it is the top of an indexed heap.

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #define MISSPENALTY_NOT_AGAIN (1LL << 62)
    """
    const int64_t NOT_AGAIN "MISSPENALTY_NOT_AGAIN"   # value of `coming` for a block that is not requested again

cdef enum:
    ABSENT = -1                     # value of `place` for a block that is not in the heap


cdef struct farthest_t:
    int64_t* heap                   # blocks; the one whose next request is farthest is at 0
    int64_t* place                  # place of each block in the heap, or ABSENT
    int64_t* coming                 # next request of each block in the heap
    Py_ssize_t size


cdef inline void set_at(farthest_t* f, Py_ssize_t at, int64_t block) noexcept nogil:
    f.heap[at] = block
    f.place[block] = at


cdef inline void rise(farthest_t* f, Py_ssize_t at, int64_t block) noexcept nogil:
    cdef Py_ssize_t above
    while at:
        above = (at - 1) >> 1
        if f.coming[f.heap[above]] >= f.coming[block]:
            break
        set_at(f, at, f.heap[above])
        at = above
    set_at(f, at, block)


cdef inline void postpone(farthest_t* f, int64_t block, int64_t coming) noexcept nogil:
    """Set a block's next request, which must not be earlier than the old one, and move the block up."""
    f.coming[block] = coming
    rise(f, f.place[block], block)


cdef inline void enter(farthest_t* f, int64_t block, int64_t coming) noexcept nogil:
    f.coming[block] = coming
    f.size += 1
    rise(f, f.size - 1, block)


cdef inline int64_t take_farthest(farthest_t* f) noexcept nogil:
    """Remove and return the top; the heap must not be empty."""
    cdef int64_t top = f.heap[0], moved
    cdef Py_ssize_t at = 0, child
    f.size -= 1
    f.place[top] = ABSENT
    if f.size == 0:
        return top
    moved = f.heap[f.size]
    while True:
        child = 2 * at + 1
        if child >= f.size:
            break
        if child + 1 < f.size and f.coming[f.heap[child + 1]] > f.coming[f.heap[child]]:
            child += 1
        if f.coming[f.heap[child]] <= f.coming[moved]:
            break
        set_at(f, at, f.heap[child])
        at = child
    set_at(f, at, moved)
    return top
