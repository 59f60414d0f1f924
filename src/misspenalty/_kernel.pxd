# Base of all kernel objects: only one thread at a time can call one, and Ctrl-C stops a call.

from cpython.exc cimport PyErr_CheckSignals
from libc.stdlib cimport realloc

# Return a buffer of `n` zeros in a format of the module `struct` (B, i, I, q); pages that are never used take no
# memory.
cdef object zeros(str form, Py_ssize_t n)

cdef enum:
    SLICE = 1 << 16                 # a long call checks for signals after this many requests: every few milliseconds
    ARRAYS = 32                     # maximum number of arrays of one kernel


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
    # Raise RuntimeError if another thread is in the middle of a call; every method that could disturb a call starts
    # with this.
    cdef int check_unused(self) except -1
    cdef void set_in_use(self, bint in_use) noexcept


# Enlarge an array to n items; the caller frees it.
cdef inline void* grown(void* array, size_t n, size_t size) except NULL nogil:
    cdef void* made = realloc(array, n * size)
    if made == NULL:
        with gil:
            raise MemoryError(f"no memory for {n} items of {size} bytes")
    return made


# Raise what a signal's handler raises (KeyboardInterrupt for Ctrl-C); in threads other than the main one, do nothing.
cdef inline int check_signals() except -1 nogil:
    with gil:
        return PyErr_CheckSignals()
