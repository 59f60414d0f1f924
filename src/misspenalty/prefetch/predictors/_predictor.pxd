# What every predictor's kernel is, seen by the file client.

from libc.stdint cimport int64_t, uint32_t

from misspenalty._kernel cimport Kernel

ctypedef uint32_t file_t                    # dense id of a file


cdef class Predictor(Kernel):
    cdef readonly Py_ssize_t files          # distinct files; every id is below it
    cdef readonly Py_ssize_t most           # files predicted after one event, at most
    cdef readonly int64_t events            # events seen
    cdef file_t* predicted                  # after the last event, in order of prediction; room for `files`
    cdef Py_ssize_t number                  # of files predicted
    cdef uint32_t* stamps                   # by file: the stamp of the event after which it was predicted last
    cdef uint32_t stamp                     # of the last event; 0 = none yet

    # Core method, each predictor's own: take in an event, then `emit` what is predicted to follow it.
    cdef int access(self, file_t file) except -1 nogil
    # Begin the predictions that follow the next event.
    cdef void renew(self) noexcept nogil
    # Predict a file, unless it is predicted already; whether there is room for more.
    cdef bint emit(self, file_t file) noexcept nogil
