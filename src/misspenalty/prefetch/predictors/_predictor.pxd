# Declare the base of the predictors' kernels, as the file client sees it.

from libc.stdint cimport int64_t, uint32_t

from misspenalty._kernel cimport Kernel

ctypedef uint32_t file_t                    # dense id of a file


cdef class Predictor(Kernel):
    cdef readonly Py_ssize_t files          # number of distinct files; every id is below this number
    cdef readonly Py_ssize_t most           # maximum number of files predicted after one event
    cdef readonly int64_t events            # number of events so far
    cdef file_t* predicted                  # files predicted after the last event, in order; has room for `files`
    cdef Py_ssize_t number                  # number of files predicted
    cdef uint32_t* stamps                   # by file: the stamp of the last event after which it was predicted
    cdef uint32_t stamp                     # stamp of the last event; 0 = no event yet

    # Process an event, then `emit` the files predicted to follow it; each predictor implements this core method.
    cdef int access(self, file_t file) except -1 nogil
    # Count an event, and begin the list of the files predicted to follow it.
    cdef void renew(self) noexcept nogil
    # Predict a file, unless it has already been predicted; return whether there was room for it.
    cdef bint emit(self, file_t file) noexcept nogil
