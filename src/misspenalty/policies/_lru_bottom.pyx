"""Implement the kernel of LRU Bottom; the definition is in lru_bottom.py.

The merged list decides what is evicted; SEQ and RANDOM only record its contents. `top_low` is the track just below the
insertion point: the last of the longest run from the LRU end with at most a share `insertion` of the resident pages.
"""

from libc.stdint cimport int64_t, uint32_t

from misspenalty.policies._list cimport append, oldest, remove
from misspenalty.policies._tracks cimport TrackLists, slot_t
from misspenalty.policies._track_cache cimport count_pages


cdef class LRUBottom(TrackLists):
    cdef double insertion           # share of the resident pages below a sequential track when it enters
    cdef uint32_t top_low           # uppermost slot below the insertion point; the merged list's head if there is none
    cdef int64_t low_pages          # number of pages below the insertion point

    def __cinit__(self, capacity, blocks, **settings):
        self.insertion = settings.pop("insertion", 0.1)
        self.set_up(settings)
        self.top_low = self.heads + 2

    cdef uint32_t victim(self) noexcept nogil:
        return oldest(&self.slots[0].merged, sizeof(slot_t), self.heads + 2)

    cdef void attach(self, uint32_t slot) noexcept nogil:
        cdef slot_t* s = &self.slots[slot]
        TrackLists.attach(self, slot)
        s.low = 0
        if s.sequential:
            self.find_insertion_point()
            append(&self.slots[0].merged, sizeof(slot_t), self.slots[self.top_low].merged.newer, slot)
        else:
            append(&self.slots[0].merged, sizeof(slot_t), self.heads + 2, slot)

    cdef void detach(self, uint32_t slot) noexcept nogil:
        cdef slot_t* s = &self.slots[slot]
        TrackLists.detach(self, slot)
        if s.low:
            self.low_pages -= count_pages(s.pages)
            if self.top_low == slot:
                self.top_low = s.merged.older
        remove(&self.slots[0].merged, sizeof(slot_t), slot)

    cdef void find_insertion_point(self) noexcept nogil:
        cdef double room = self.insertion * self.resident
        cdef uint32_t head = self.heads + 2, above
        # `low_pages` is at most `room`, as an eviction takes a track from below the insertion point if there is one.
        while True:
            above = self.slots[self.top_low].merged.newer
            if above == head or self.low_pages + count_pages(self.slots[above].pages) > room:
                return
            self.slots[above].low = 1
            self.low_pages += count_pages(self.slots[above].pages)
            self.top_low = above
