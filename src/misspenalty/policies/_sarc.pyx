"""Implement the kernel of SARC; the definition is in sarc.py."""

from libc.stdint cimport uint32_t

from misspenalty.policies._tracks cimport TrackLists


cdef class SARC(TrackLists):
    def __cinit__(self, capacity, blocks, **settings):
        self.set_up(settings)

    cdef uint32_t victim(self) noexcept nogil:
        cdef uint32_t seq = self.lru_of(True), random = self.lru_of(False)
        if not self.tracks_in[1]:
            return random
        if not self.tracks_in[0]:
            return seq
        if self.pages_in[1] < self.delta or self.pages_in[0] < self.delta:
            return seq if self.slots[seq].stamp < self.slots[random].stamp else random
        return seq if self.pages_in[1] > self.desired else random

    cdef void adjust(self, int pages) noexcept nogil:
        if self.desired > 0:
            self.desired = max(0.0, min(self.desired + self.adapt / 2 * pages, <double>self.capacity))
        else:
            self.desired = <double>self.pages_in[1]
