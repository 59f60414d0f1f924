"""Implement the kernel of the lists of tracks; the definition is in tracks.py."""

from misspenalty.policies._amp cimport pass_by
from misspenalty.policies._list cimport append, make_list, oldest, remove
from misspenalty.policies._policy cimport prefetch
from misspenalty.policies._track_cache cimport AGED, UNREAD, count_pages


cdef class TrackLists(TrackCache):
    """Base of the policies on tracks, with the lists SEQ and RANDOM."""

    cdef int set_up(self, dict settings) except -1:
        """Remove all settings from `settings`, check them, and allocate the lists."""
        cdef int i
        self.delta = settings.pop("delta", 0.05) * <double>self.capacity
        self.large_ratio = settings.pop("large_ratio", 20)
        self.count_writes = settings.pop("count_writes", True)
        self.arrange(settings)
        max_resident = min(self.capacity, self.tracks)
        self.heads = max_resident + 1
        self.slot_of = <uint32_t*>self.allocate(self.tracks, sizeof(uint32_t))
        self.slots = <slot_t*>self.allocate(max_resident + 1 + HEADS, sizeof(slot_t))
        for i in range(2):
            make_list(self.slots, sizeof(slot_t), self.heads + i)
        make_list(&self.slots[0].merged, sizeof(slot_t), self.heads + 2)
        return 0

    cdef void warm(self, int64_t track, bint entry) noexcept nogil:
        if entry:
            prefetch(&self.slot_of[track])
        else:
            prefetch(&self.slots[self.slot_of[track]])

    cdef uint8_t cached(self, int64_t track) noexcept nogil:
        cdef uint32_t slot = self.slot_of[track]
        return self.slots[slot].pages if slot != NO_SLOT else 0

    cdef mark_t* mark(self, int64_t track) noexcept nogil:
        cdef uint32_t slot = self.slot_of[track]
        return &self.slots[slot].mark if slot != NO_SLOT else NULL

    cdef void observe(self, int64_t track, bint hit, bint write) noexcept nogil:
        cdef uint32_t slot = self.slot_of[track]
        cdef double ratio
        if not hit or not self.in_bottom(slot):
            return
        ratio = self.ratio()
        if self.slots[slot].sequential:
            if ratio > self.large_ratio:
                self.adapt = 1
        elif self.count_writes or not write:
            self.adapt = max(-1.0, min(ratio - 1, 1.0))
            self.last_ratio = ratio
            self.seq_miss = 0
            self.bottom_hits += 1

    cdef bint in_bottom(self, uint32_t slot) noexcept nogil:
        cdef bint sequential = self.slots[slot].sequential
        cdef int64_t lru = self.slots[self.lru_of(sequential)].stamp
        cdef int64_t mru = self.slots[self.slots[self.heads + sequential].list.older].stamp
        return self.slots[slot].stamp - lru <= self.delta / self.pages_in[sequential] * (mru - lru)

    cdef double ratio(self) noexcept nogil:
        return 2 * self.seq_miss * self.delta / self.pages_in[1] if self.pages_in[1] else 0

    cdef void count_sequential_miss(self) noexcept nogil:
        self.seq_miss += 1

    cdef void use(self, int64_t track, uint8_t pages) noexcept nogil:
        cdef uint32_t slot = self.slot_of[track]
        if slot != NO_SLOT:         # a small cache may have evicted the track for a prefetch that it caused
            self.detach(slot)
            self.attach(slot)

    cdef void add_pages(self, int64_t track, uint8_t pages) noexcept nogil:
        self.insert(track, pages, self.slots[self.slot_of[track]].sequential)

    cdef void insert(self, int64_t track, uint8_t pages, bint sequential) noexcept nogil:
        cdef uint32_t slot = self.slot_of[track]
        cdef int more
        if slot != NO_SLOT:
            self.detach(slot)       # remove it, so that it cannot be the victim
            pages &= ~self.slots[slot].pages
        more = count_pages(pages)
        while self.resident + more > self.capacity:
            self.evict()
        if slot == NO_SLOT:
            slot = self.free
            if slot == NO_SLOT:
                self.slots_used += 1
                slot = self.slots_used
            else:
                self.free = self.slots[slot].track
            self.slot_of[track] = slot
            self.slots[slot].track = <uint32_t>track
            self.slots[slot].pages = 0
        self.slots[slot].pages |= pages
        self.slots[slot].sequential = sequential
        self.resident += more
        self.attach(slot)

    cdef void attach(self, uint32_t slot) noexcept nogil:
        cdef slot_t* s = &self.slots[slot]
        append(self.slots, sizeof(slot_t), self.heads + s.sequential, slot)
        s.stamp = self.now
        self.pages_in[s.sequential] += count_pages(s.pages)
        self.tracks_in[s.sequential] += 1

    cdef void detach(self, uint32_t slot) noexcept nogil:
        cdef slot_t* s = &self.slots[slot]
        remove(self.slots, sizeof(slot_t), slot)
        self.pages_in[s.sequential] -= count_pages(s.pages)
        self.tracks_in[s.sequential] -= 1

    cdef void evict(self) noexcept nogil:
        cdef uint32_t slot = self.victim()
        cdef slot_t* s = &self.slots[slot]
        cdef int pages = count_pages(s.pages)
        self.detach(slot)
        if self.sequential.most and s.mark.flags & (UNREAD | AGED) == UNREAD:
            pass_by(self, s.track, &s.mark)
            self.attach(slot)
            return
        self.slot_of[s.track] = NO_SLOT
        s.track = self.free
        self.free = slot
        self.unused += (s.mark.flags & UNREAD) != 0
        self.resident -= pages
        self.evictions += pages
        self.adjust(pages)

    cdef uint32_t lru_of(self, bint sequential) noexcept nogil:
        return oldest(self.slots, sizeof(slot_t), self.heads + sequential)

    cdef uint32_t victim(self) noexcept nogil:
        return NO_SLOT

    cdef void adjust(self, int pages) noexcept nogil:
        pass

    cdef int64_t list_pages(self, bint sequential) noexcept nogil:
        return self.pages_in[sequential]

    @property
    def running_ratio(self):
        """Ratio 2 * s * deltaL / |SEQ| of the interval since the last hit in RANDOM's bottom."""
        return self.ratio()
