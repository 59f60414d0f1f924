"""Implement the kernels of the caches that keep whole pages: perfect LRU (FPC) and CLOCK (QuickStore's)."""

from libc.stdint cimport int64_t

from misspenalty_studies.hac.objects._cache cimport FREE, NONE, ObjectCache


cdef class Lru(ObjectCache):
    """Evicts the least recently accessed page among those that are neither modified nor pinned."""

    def __cinit__(self, *arguments):
        self.tracks = 1

    cdef int free_one(self) noexcept nogil:
        cdef Py_ssize_t frame, oldest = NONE
        for frame in range(self.frame_count):
            if self.frames[frame].kind == FREE or frame == self.incoming:
                continue
            if self.frames[frame].modified or self.frames[frame].pinned == self.counts.fetches:
                continue
            if oldest == NONE or self.frames[frame].used < self.frames[oldest].used:
                oldest = frame
        if oldest == NONE:
            return -1
        self.evict(oldest)
        return 0


cdef class Clock(ObjectCache):
    """Evicts the next page, neither modified nor pinned, that has not been accessed since the hand last passed it."""

    cdef Py_ssize_t hand

    def __cinit__(self, *arguments):
        self.tracks = 1

    cdef int free_one(self) noexcept nogil:
        cdef Py_ssize_t frame, passed
        for passed in range(2 * self.frame_count + 1):
            frame = self.hand
            self.hand = (self.hand + 1) % self.frame_count
            if self.frames[frame].kind == FREE or frame == self.incoming:
                continue
            if self.frames[frame].modified or self.frames[frame].pinned == self.counts.fetches:
                continue
            if self.frames[frame].used:
                self.frames[frame].used = 0  # accessed since the hand last passed, so it gets a second chance
                continue
            self.evict(frame)
            return 0
        return -1
