# Declare SEQ and RANDOM, the lists of tracks that SARC, LRU Top and LRU Bottom share. Each is in the order of the tracks'
# last moves to the MRU end. The policies differ in the victim and in where sequential tracks enter.

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty.policies._list cimport Link
from misspenalty.policies._track_cache cimport TrackCache, mark_t

cdef enum:
    NO_SLOT = 0                     # value of `slot_of` for a track that is not cached
    HEADS = 3                       # number of list heads: RANDOM, SEQ, and the merged list of LRU Bottom


cdef struct slot_t:                 # a cached track
    Link list                       # neighbours in SEQ or RANDOM
    Link merged                     # neighbours in the one list of LRU Bottom
    int64_t stamp                   # number of the request that last moved the track to the MRU end
    uint32_t track                  # number of the track; in a free slot, the next free slot
    mark_t mark                     # counter and flags of the track
    uint8_t pages                   # mask of cached pages
    uint8_t sequential              # 1 = in SEQ, 0 = in RANDOM
    uint8_t low                     # 1 = below the insertion point; LRU Bottom only


cdef class TrackLists(TrackCache):
    cdef uint32_t* slot_of          # slot of each track, fixed while the track is cached; NO_SLOT = not cached
    cdef slot_t* slots              # array of slots: one per cached track, then the heads
    cdef uint32_t free              # first free slot, NO_SLOT = none
    cdef uint32_t slots_used        # number of slots used so far; higher slots are free as well
    cdef uint32_t heads             # slot of RANDOM's head; the heads of SEQ and of the merged list follow
    cdef int64_t pages_in[2]        # numbers of pages in RANDOM and SEQ
    cdef int64_t tracks_in[2]       # numbers of tracks in RANDOM and SEQ
    cdef double delta               # deltaL: number of pages in the bottom of a list
    cdef double large_ratio         # LargeRatio: ratio above which SEQ grows at a hit in its bottom
    cdef bint count_writes          # whether a write hit in RANDOM's bottom ends the interval
    cdef readonly int64_t seq_miss  # number of sequential misses in the current interval
    cdef readonly double adapt      # signed rate at which the desired size changes, -1 to 1
    cdef readonly double desired    # desired size of SEQ, pages; SARC only
    cdef readonly double last_ratio # ratio at the last hit in RANDOM's bottom, as plotted in Figure 8
    cdef readonly int64_t bottom_hits   # number of hits in RANDOM's bottom

    # Return the slot of the track to evict; the lists must not be empty.
    cdef uint32_t victim(self) noexcept nogil
    # Adapt after a track with this number of pages has been evicted.
    cdef void adjust(self, int pages) noexcept nogil
    # Put a slot into its list, at the MRU end or where the policy inserts it; `detach` removes it.
    cdef void attach(self, uint32_t slot) noexcept nogil
    cdef void detach(self, uint32_t slot) noexcept nogil
    cdef void evict(self) noexcept nogil
    cdef bint in_bottom(self, uint32_t slot) noexcept nogil
    # Return the ratio 2 * s * deltaL / |SEQ| of the current interval.
    cdef double ratio(self) noexcept nogil
    cdef int set_up(self, dict settings) except -1
    cdef uint32_t lru_of(self, bint sequential) noexcept nogil      # slot at the LRU end; a head if the list is empty
