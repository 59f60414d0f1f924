"""Define the base of the predictors' kernels."""

from libc.stdint cimport uint32_t
from libc.string cimport memset

from misspenalty._kernel cimport SLICE, check_signals


cdef class Predictor(Kernel):
    """Base of predictors of files with ids below `files`; at most `most` are predicted per event (None = no bound)."""

    def __cinit__(self, Py_ssize_t files, *args, most=None, **parameters):
        self.files = files
        self.most = files if most is None else min(<Py_ssize_t>most, files)
        self.predicted = <file_t*>self.allocate(files, sizeof(file_t))
        self.stamps = <uint32_t*>self.allocate(files, sizeof(uint32_t))

    @property
    def memory(self):
        """Bytes of the learnt state; 0 unless the predictor reports it."""
        return 0

    cdef int access(self, file_t file) except -1 nogil:
        return 0

    cdef void renew(self) noexcept nogil:
        self.events += 1
        self.number = 0
        self.stamp += 1
        if self.stamp == 0:                 # all stamps have been used
            memset(self.stamps, 0, self.files * sizeof(uint32_t))
            self.stamp = 1

    cdef bint emit(self, file_t file) noexcept nogil:
        if self.number == self.most:
            return False
        if self.stamps[file] != self.stamp:
            self.stamps[file] = self.stamp
            self.predicted[self.number] = file
            self.number += 1
        return True

    def feed(self, const file_t[::1] ids, uint32_t[::1] rank, uint32_t[::1] number):
        """Process a slice of events with the GIL released.

        Parameters
        ----------
        ids : uint32, shape (n,)
            File of each event.
        rank : uint32, shape (n,)
            Filled in: the place of ``ids[i]``, from 1, among the files predicted after event ``i - 1``; 0 = not predicted.
        number : uint32, shape (n,)
            Filled in: how many files are predicted after event ``i``.

        Raises
        ------
        IndexError
            An id is not below `files` (the events before it have been processed), or `rank` or `number` is shorter than
            `ids` (no event has been processed).
        """
        cdef Py_ssize_t i, n = ids.shape[0]
        cdef uint32_t place
        if rank.shape[0] < n or number.shape[0] < n:
            raise IndexError("rank or number is shorter than ids")
        with self, nogil:
            for i in range(n):
                if ids[i] >= <uint32_t>self.files:
                    with gil:
                        raise IndexError(f"event {i} names file {ids[i]}; expected an id below {self.files}")
                place = 0
                if self.stamp and self.stamps[ids[i]] == self.stamp:
                    while self.predicted[place] != ids[i]:
                        place += 1
                    place += 1
                rank[i] = place
                self.access(ids[i])
                number[i] = <uint32_t>self.number
                if i % SLICE == SLICE - 1:
                    check_signals()

    def predictions(self):
        """Return the files predicted after the last event, in order."""
        return [self.predicted[i] for i in range(self.number)]
