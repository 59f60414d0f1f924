"""Implement the kernel of HAC's replacement: usage scan, candidate set, compaction."""

from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memcpy, memmove, memset

from misspenalty_studies.hac.objects._cache cimport FREE, INTACT, MIXED, NONE, ObjectCache, frame_t
from misspenalty_studies.hac.objects._format cimport (
    ENTRY,
    INSTALLED,
    MODIFIED,
    PAGE,
    PAGE_HEADER,
    USAGE,
    size_of,
    usage_of,
    word,
)


cdef struct candidate_t:
    int64_t entered                 # fetch at which the frame was added to the set; 0 = not in the set
    int64_t sequence                # sequence number of this addition among those of all frames
    uint32_t threshold              # T: objects with a higher usage are hot
    uint32_t hot                    # hot objects
    uint32_t objects                # objects in the frame when it was added
    uint32_t place                  # index in `members`


cdef class Kernel(ObjectCache):
    cdef candidate_t* candidates    # one per frame, whether or not it is in the set
    cdef uint32_t* members          # frames in the set
    cdef Py_ssize_t size            # size of the set
    cdef int64_t entered            # additions to the set so far
    cdef uint32_t[2] retention      # R as a fraction, numerator and denominator
    cdef Py_ssize_t scan            # frames per scan, the paper's k
    cdef int64_t lifetime           # fetches that a candidate stays in the set, the paper's E
    cdef Py_ssize_t primary         # next frame of the primary scan
    cdef Py_ssize_t secondaries     # number of secondary pointers, the paper's N
    cdef Py_ssize_t[16] secondary   # next frame of each secondary pointer
    cdef Py_ssize_t target          # frame to which retained objects are moved; NONE = no frame

    def __cinit__(self, pages, sizes, references, budget, table, frames, activation, retention, scan, lifetime,
                  secondaries):
        self.retention[0], self.retention[1] = retention
        self.scan, self.lifetime, self.secondaries = scan, lifetime, secondaries
        self.target = NONE
        self.candidates = <candidate_t*>self.allocate(frames, sizeof(candidate_t))
        self.members = <uint32_t*>self.allocate(frames, sizeof(uint32_t))
        for i in range(secondaries):
            self.secondary[i] = (i + 1) * frames // (secondaries + 1)

    @property
    def candidate_set(self):
        """The candidates, unordered: (frame, T, hot objects, objects, fetch at which the frame was added)."""
        return [
            (frame, self.candidates[frame].threshold, self.candidates[frame].hot, self.candidates[frame].objects,
             self.candidates[frame].entered)
            for frame in [self.members[i] for i in range(self.size)]
        ]

    cdef int prepare(self) noexcept nogil:
        """Run one epoch: scan with the primary and secondary pointers, and remove candidates that have expired."""
        cdef Py_ssize_t i, looked
        cdef uint32_t frame
        self.scan_frames()
        for i in range(self.secondaries):
            for looked in range(self.scan):
                frame = self.secondary[i]
                self.secondary[i] = (self.secondary[i] + 1) % self.frame_count
                if self.frames[frame].kind != FREE and frame != self.incoming:
                    self.counts.frames_looked += 1
                    self.look(frame)
        i = 0
        while i < self.size:
            frame = self.members[i]
            if self.counts.fetches - self.candidates[frame].entered > self.lifetime:
                self.leave(frame)
            else:
                i += 1
        return 0

    cdef Py_ssize_t scan_frames(self) noexcept nogil:
        """Compute the usage of the next frames of the primary scan; return the number of frames scanned."""
        cdef Py_ssize_t found = 0, passed = 0
        while found < self.scan and passed < self.frame_count:
            if self.frames[self.primary].kind != FREE and self.primary != self.incoming:
                self.compute_usage(self.primary)
                found += 1
            self.primary = (self.primary + 1) % self.frame_count
            passed += 1
        return found

    cdef void compute_usage(self, Py_ssize_t frame) noexcept nogil:
        """Decay the usage of a frame's objects, compute the frame's threshold, and add the frame to the set."""
        cdef uint32_t[16] having
        cdef uint32_t offset = PAGE_HEADER, usage, threshold, hot, header
        cdef frame_t* scanned = &self.frames[frame]
        cdef uint8_t* base = self.memory + frame * PAGE
        memset(having, 0, sizeof(having))
        while offset < scanned.end:
            header = word(base + offset)
            usage = 0
            if header & MODIFIED:
                usage = 15
            elif header & INSTALLED:
                usage = (usage_of(header) + 1) >> 1
                (<uint32_t*>(base + offset))[0] = (header & ~USAGE) | usage << 28
            having[usage] += 1
            offset += size_of(self.classes, base + offset)
        self.counts.frames_scanned += 1
        self.counts.objects_scanned += scanned.objects
        hot = scanned.objects - having[0]
        threshold = 0
        while hot * self.retention[1] >= self.retention[0] * scanned.objects and threshold < 15:
            threshold += 1
            hot -= having[threshold]
        self.enter(frame, threshold, hot)

    cdef void look(self, uint32_t frame) noexcept nogil:
        """Add a frame to the set if it is not there yet and its share of installed objects is below R."""
        cdef frame_t* seen = &self.frames[frame]
        cdef bint few = seen.installed * self.retention[1] < self.retention[0] * seen.objects
        if self.candidates[frame].entered == 0 and few:
            self.enter(frame, 0, seen.installed)

    cdef void enter(self, uint32_t frame, uint32_t threshold, uint32_t hot) noexcept nogil:
        cdef candidate_t* candidate = &self.candidates[frame]
        if candidate.entered == 0:
            candidate.place = self.size
            self.members[self.size] = frame
            self.size += 1
        self.entered += 1
        candidate.entered = self.counts.fetches
        candidate.sequence = self.entered
        candidate.threshold = threshold
        candidate.hot = hot
        candidate.objects = self.frames[frame].objects

    cdef void leave(self, uint32_t frame) noexcept nogil:
        cdef uint32_t last = self.members[self.size - 1]
        if self.candidates[frame].entered:
            self.size -= 1
            self.members[self.candidates[frame].place] = last
            self.candidates[last].place = self.candidates[frame].place
            self.candidates[frame].entered = 0

    cdef Py_ssize_t least_valuable(self) noexcept nogil:
        """Return the unpinned candidate with the lowest (T, share of hot objects), the newest on a tie, or NONE if
        there is no such candidate."""
        cdef Py_ssize_t i, best = NONE
        cdef candidate_t* a
        cdef candidate_t* b
        cdef int64_t left, right
        for i in range(self.size):
            if self.frames[self.members[i]].pinned == self.counts.fetches:
                continue
            if best != NONE:
                a, b = &self.candidates[self.members[i]], &self.candidates[best]
                left, right = <int64_t>a.hot * b.objects, <int64_t>b.hot * a.objects
                if a.threshold > b.threshold or (a.threshold == b.threshold and (
                        left > right or (left == right and a.sequence < b.sequence))):
                    continue
            best = self.members[i]
        return best

    cdef int free_one(self) noexcept nogil:
        """Compact victims until a frame is free; return 0, or -1 if no frame can be freed."""
        cdef Py_ssize_t victim, scanned, tries = 0
        while True:
            victim = self.least_valuable()
            scanned = 0
            while victim == NONE:
                if scanned > 2 * self.frame_count:
                    return -1
                scanned += max(self.scan_frames(), 1)
                victim = self.least_valuable()
            if self.compact(victim):
                return 0
            tries += 1
            if tries > 64 + 32 * self.frame_count:
                return -1

    cdef bint compact(self, Py_ssize_t frame) noexcept nogil:
        """Drop a frame's uninstalled copies, discard its cold objects unless they are modified, and move each of the
        others to the target if it fits there; return whether the frame is free afterwards."""
        cdef frame_t* victim = &self.frames[frame]
        cdef frame_t* into
        cdef uint8_t* base = self.memory + frame * PAGE
        cdef uint8_t* place
        cdef uint32_t threshold = self.candidates[frame].threshold, offset = PAGE_HEADER, end = victim.end
        cdef uint32_t header, size, kept = 0, retained = 0, at = PAGE_HEADER
        cdef bint page = victim.kind == INTACT
        self.leave(frame)
        if self.target == frame:
            self.target = NONE
        if page:
            self.counts.page_objects += victim.objects
            self.frame_of[victim.page] = 0
            self.counts.pages_kept -= 1
        self.counts.frames_compacted += 1
        while offset < end:
            header = word(base + offset)
            size = size_of(self.classes, base + offset)
            if not header & INSTALLED:
                self.counts.dropped += 1
            elif not header & MODIFIED and usage_of(header) <= threshold:
                self.discard(base + offset, size)
            else:
                retained += 1
                into = &self.frames[self.target]
                if self.target != NONE and into.end + size <= PAGE:
                    place = self.memory + self.target * PAGE + into.end
                    memcpy(place, base + offset, size)
                    into.end += size
                    into.objects += 1
                    into.installed += 1
                    self.counts.bytes_moved += size
                else:
                    place = base + at
                    if at != offset:
                        memmove(place, base + offset, size)
                        self.counts.bytes_moved += size
                    at += size
                    kept += 1
                self.entries[header & ENTRY].address = place - self.memory
            offset += size
        self.counts.retained += retained
        self.counts.page_survivors += retained if page else 0
        self.counts.whole_evictions += retained == 0
        victim.kind = MIXED
        victim.objects = victim.installed = kept
        victim.end = at
        if kept == 0:
            self.give_back(frame)
            return True
        self.target = frame
        return False
