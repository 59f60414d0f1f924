"""Put any online replacement policy behind the sequential prefetcher; the policy's blocks are pages.

A page gets its id when its track is first touched, so that the policy's arrays are used from their beginning.
"""

from libc.stdint cimport int64_t, uint8_t, uint32_t

from misspenalty.policies._policy cimport Policy, block_t
from misspenalty.policies._track_cache cimport UNREAD, TrackCache, mark_t


cdef class Behind(TrackCache):
    """A cache of tracks whose pages `policy` replaces; `policy` must take ``tracks * track_pages`` ids."""

    cdef Policy policy              # the policy that replaces pages
    cdef uint32_t* number           # 1 + number of each track in order of first use; 0 = not used yet
    cdef mark_t* marks              # counter and flags of each track; valid while a page of it is cached
    cdef uint32_t numbered          # number of tracks that have a number

    def __cinit__(self, capacity, blocks, Policy policy not None, **settings):
        self.arrange(settings)
        if policy.offline or policy.blocks < self.tracks * self.track_pages:
            raise TypeError(
                f"{type(policy).__name__} of {policy.blocks} blocks cannot be used behind a prefetcher of {self.tracks}"
                f" tracks; expected an online policy of at least {self.tracks * self.track_pages} blocks"
            )
        self.policy = policy
        self.uses(policy)
        self.number = <uint32_t*>self.allocate(self.tracks, sizeof(uint32_t))
        self.marks = <mark_t*>self.allocate(self.tracks, sizeof(mark_t))
        self.memory += policy.memory

    cdef inline int64_t first_page(self, int64_t track) noexcept nogil:
        return (<int64_t>self.number[track] - 1) * self.track_pages

    cdef uint8_t cached(self, int64_t track) noexcept nogil:
        cdef int64_t first = self.first_page(track)
        cdef uint8_t have = 0
        cdef int page
        if self.number[track]:
            for page in range(self.track_pages):
                have |= self.policy.holds(<uint32_t>(first + page)) << page
        return have

    cdef mark_t* mark(self, int64_t track) noexcept nogil:
        return &self.marks[track] if self.cached(track) else NULL

    cdef void reference(self, int64_t track, uint8_t pages) noexcept nogil:
        """Have the policy reference pages, which it loads if they are not cached."""
        cdef block_t ids[8]
        cdef uint8_t hit[8]
        cdef int page, n = 0
        if not pages:
            return
        if not self.number[track]:
            self.numbered += 1
            self.number[track] = self.numbered
        for page in range(self.track_pages):
            if pages >> page & 1:
                ids[n] = <block_t>(self.first_page(track) + page)
                n += 1
        self.policy.run(ids, n, hit)
        self.policy.requests += n
        self.resident = self.policy.resident
        self.evictions = self.policy.evictions
        self.ghost_hits = self.policy.ghost_hits

    cdef void use(self, int64_t track, uint8_t pages) noexcept nogil:
        self.reference(track, pages & self.cached(track))

    cdef void add_pages(self, int64_t track, uint8_t pages) noexcept nogil:
        self.reference(track, pages)

    cdef void insert(self, int64_t track, uint8_t pages, bint sequential) noexcept nogil:
        cdef uint8_t have = self.cached(track)
        if not have and self.marks[track].flags & UNREAD:
            self.unused += 1        # the eviction of an unread track is noticed only when the track is loaded again
            self.marks[track].flags = 0
        self.reference(track, pages & ~have)
