"""Define perfect foresight, which is given the future: an upper bound for every predictor."""

from misspenalty.prefetch.predictors._predictor cimport Predictor, file_t


cdef class Foresight(Predictor):
    """Predictor that is given all events and predicts those that follow.

    Parameters
    ----------
    files : int
        Number of files; every id is below this number.
    events : uint32, shape (n,)
        The events that the predictor will see, in order.
    ahead : int
        Number of coming events that are predicted after each event.
    """

    cdef const file_t[::1] to_come
    cdef Py_ssize_t next            # number of the next event
    cdef Py_ssize_t ahead

    def __cinit__(self, files, const file_t[::1] events, Py_ssize_t ahead, most=None):
        cdef Py_ssize_t i
        for i in range(events.shape[0]):
            if events[i] >= <file_t>self.files:
                raise IndexError(f"event {i} names file {events[i]}; expected an id below {self.files}")
        self.to_come, self.ahead = events, ahead

    cdef int access(self, file_t file) except -1 nogil:
        cdef Py_ssize_t i
        self.renew()
        self.next += 1
        for i in range(self.next, min(self.next + self.ahead, self.to_come.shape[0])):
            self.emit(self.to_come[i])
        return 0
