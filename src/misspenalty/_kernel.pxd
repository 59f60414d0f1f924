# Shared by all kernel objects: one thread at a time, and calls that Ctrl-C stops.

from cpython.exc cimport PyErr_CheckSignals

# `n` zeros of a format of the module `struct` (B, i, q), as a buffer; pages of it that are never touched take no memory.
cdef object zeros(str form, Py_ssize_t n)

cdef enum:
    SLICE = 1 << 16                 # requests between a long call's checks for signals: milliseconds


cdef class Kernel:
    cdef bint in_use               # whether a call is using it with the GIL released
    cdef list kernels                 # kernels that it drives, or None

    # A kernel that this one drives: it is in use while this one is.
    cdef int uses(self, Kernel part) except -1
    # RuntimeError if another thread is in the middle of a call; every method that could disturb a call starts with
    # this.
    cdef int check_unused(self) except -1
    cdef void set_in_use(self, bint in_use) noexcept


# Raise what a signal's handler raises, KeyboardInterrupt for Ctrl-C; in other threads than the main one nothing happens.
cdef inline int check_signals() except -1 nogil:
    with gil:
        return PyErr_CheckSignals()
