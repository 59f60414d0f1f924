# Define the base of all kernel objects: only one thread at a time can use a kernel, and Ctrl-C stops a call.

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
from libc.stdlib cimport realloc
from libc.string cimport memcpy

cdef extern from *:
    void prefetch "__builtin_prefetch" (const void*) noexcept nogil

# Return a buffer of `n` zeros in a format of the module `struct` (B, i, I, q); pages that are never used take no
# memory.
cdef object zeros(str form, Py_ssize_t n)

# Raise IndexError unless all ids are below `blocks`.
cdef int check_ids(const uint32_t[::1] ids, Py_ssize_t blocks) except -1

cdef enum:
    SLICE = 1 << 16                 # requests between two checks for signals in a long call (a few milliseconds)
    ARRAYS = 32                     # maximum number of arrays that one kernel owns


cdef class Kernel:
    cdef bint in_use               # whether a call that has released the GIL is using this kernel
    cdef list kernels                 # kernels that this one drives, or None
    cdef void* owned[ARRAYS]        # arrays that are freed with the kernel
    cdef int owns                   # number of owned arrays

    # Return a zeroed array that the kernel owns. It has room for n + 1 items, so numbers may begin at 1; the message of
    # a MemoryError names n and the size.
    cdef void* allocate(self, size_t n, size_t size) except NULL

    # Register a kernel that this one drives, so that it is in use whenever this one is.
    cdef int uses(self, Kernel part) except -1
    # Raise RuntimeError if another thread is in the middle of a call; every method that could disturb a call checks
    # this first.
    cdef int check_unused(self) except -1
    cdef void set_in_use(self, bint in_use) noexcept


# Enlarge an array to n items; the caller frees it. The message of a MemoryError says what the items are (`what`).
cdef inline void* grown(void* array, size_t n, size_t size, const char* what) except NULL nogil:
    cdef void* made = realloc(array, n * size)
    if made == NULL:
        with gil:
            raise MemoryError(f"no memory for {n} {what.decode()}, {size} bytes each")
    return made


# Enlarge a full ring of `room` items, the oldest of which is at `head`, to twice the room and 64 items more.
cdef inline void* grown_ring(void* ring, Py_ssize_t* room, Py_ssize_t head, size_t size, const char* what) except NULL nogil:
    cdef char* made = <char*>grown(ring, 2 * room[0] + 64, size, what)
    memcpy(made + room[0] * size, made, head * size)     # move the wrapped part behind the rest
    room[0] = 2 * room[0] + 64
    return made


# Run the handlers of pending signals, which may raise (KeyboardInterrupt for Ctrl-C); do nothing outside the main
# thread.
cdef inline int check_signals() except -1 nogil:
    with gil:
        return PyErr_CheckSignals()
