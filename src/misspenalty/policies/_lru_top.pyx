"""Implement the kernel of LRU Top; the definition is in lru_top.py.

The single LRU list is kept as SEQ and RANDOM, each in order of stamps, so that its sequential tracks can be told apart.
"""

from libc.stdint cimport uint32_t

from misspenalty.policies._tracks cimport TrackLists


cdef class LRUTop(TrackLists):
    def __cinit__(self, capacity, blocks, **settings):
        self.set_up(settings)

    cdef uint32_t victim(self) noexcept nogil:
        cdef uint32_t seq = self.lru_of(True), random = self.lru_of(False)
        if not self.tracks_in[0] or (self.tracks_in[1] and self.slots[seq].stamp <= self.slots[random].stamp):
            return seq
        return random
