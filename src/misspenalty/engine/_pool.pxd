# A pool hands out and takes back structs by number; the free structs are chained through one of their fields. A pool
# grows when no struct is free; numbers stay valid, pointers do not.

from libc.stdint cimport int32_t

from misspenalty._kernel cimport grown

cdef enum:
    LAST = -1                       # end of a chain; equal to every pool's own constant for "none"


cdef inline void* grow(void* all, int32_t* room, int32_t* free, size_t size, size_t link) except NULL nogil:
    """Enlarge a full pool of n structs of `size` bytes to 2 n + 256.

    The new structs are free, and chained by the int32 at byte `link` of each.
    """
    cdef int32_t more = 2 * room[0] + 256, i
    cdef char* made = <char*>grown(all, more, size, b"structs of a pool")
    for i in range(room[0], more):
        (<int32_t*>(made + i * size + link))[0] = i + 1 if i + 1 < more else LAST
    free[0] = room[0]
    room[0] = more
    return made
