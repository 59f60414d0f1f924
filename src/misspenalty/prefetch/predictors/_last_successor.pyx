"""Define the kernel of the last-successor predictor; the definition is in last_successor.py."""

from libc.string cimport memset

from misspenalty.prefetch.predictors._predictor cimport Predictor, file_t

cdef enum:
    NONE = 0xFFFFFFFF               # no file


cdef class LastSuccessor(Predictor):
    cdef file_t* successor          # by file; NONE = the file has had no successor yet
    cdef file_t last                # file of the last event; NONE = no event yet

    def __cinit__(self, files, most=None):
        self.successor = <file_t*>self.allocate(files, sizeof(file_t))
        memset(self.successor, 0xFF, files * sizeof(file_t))
        self.last = NONE

    @property
    def memory(self):
        """Bytes of the successors, one per file."""
        return self.files * sizeof(file_t)

    cdef int access(self, file_t file) except -1 nogil:
        self.renew()
        if self.last != NONE:
            self.successor[self.last] = file
        self.last = file
        if self.successor[file] != NONE:
            self.emit(self.successor[file])
        return 0
