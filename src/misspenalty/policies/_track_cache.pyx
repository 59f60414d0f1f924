"""Implement the kernel of sequential detection and prefetching; the definition is in prefetch/sequential/prefetcher.py."""

from misspenalty.policies._amp cimport fetch_set_behind_miss, grow_distance, hit_in_set
from misspenalty.policies._policy cimport AHEAD, NEAR

from misspenalty.errors import ParameterError

MOST_TRACKS = 0xFFFFFFF0  # maximum number of tracks of a cache: 32-bit slots also number some list heads


cdef bint all_below(const uint32_t[::1] places, int64_t tracks) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(places.shape[0]):
        if places[i] >= tracks:
            return False
    return True


cdef class TrackCache(Policy):
    """A cache of tracks behind a sequential prefetcher; subclasses decide what it evicts."""

    cdef int arrange(self, dict settings) except -1:
        """Remove the settings of tracks, detection and prefetching from `settings`, and check them.

        Raise TypeError if any settings are left; a subclass must therefore remove its own settings first.
        """
        cdef const uint32_t[::1] places
        self.varies = True
        self.sequential.threshold = settings.pop("threshold", 3)
        self.sequential.degree = settings.pop("degree", 0)
        self.sequential.trigger = settings.pop("trigger", -1)
        self.sequential.remedy = settings.pop("remedy", True)
        self.sequential.writes_sequential = settings.pop("writes_sequential", True)
        self.sequential.most = settings.pop("most", 0)
        self.sequential.ahead_above = settings.pop("ahead_above", 4)
        self.read_tracks = 1
        self.track_pages = settings.pop("track_pages", 1)
        self.tracks = settings.pop("tracks", self.blocks)
        self.places = settings.pop("places", None)
        if not (1 <= self.track_pages <= 8 and self.track_pages <= self.capacity):
            raise ParameterError(f"a track has {self.track_pages} pages; expected 1 to 8, and no more than the cache")
        if not 1 <= self.tracks <= MOST_TRACKS:
            raise ParameterError(f"there are {self.tracks} tracks; expected 1 to {MOST_TRACKS}")
        if self.places is None and self.blocks > self.tracks:
            raise IndexError(
                f"blocks is {self.blocks}, but there are only {self.tracks} tracks; give places, or more tracks"
            )
        self.whole = (1 << self.track_pages) - 1
        if self.places is not None:
            places = self.places
            if places.shape[0] < self.blocks or not all_below(places, self.tracks):
                raise IndexError(
                    "places is too short or names a track that does not exist; expected a track below"
                    f" {self.tracks} for each of {self.blocks} blocks"
                )
            self.place_of = &places[0] if self.blocks else NULL
        if self.sequential.degree > MOST_DEGREE or self.sequential.trigger >= max(self.sequential.degree, 1):
            raise ParameterError(
                f"degree is {self.sequential.degree}, trigger {self.sequential.trigger}; expected a degree from 0 to"
                f" {MOST_DEGREE} and a trigger below the degree, or -1 for none"
            )
        if not 0 <= self.sequential.most <= MOST_DEGREE:
            raise ParameterError(f"most is {self.sequential.most}; expected 0 to {MOST_DEGREE} tracks per set")
        if settings:
            raise TypeError(f"{type(self).__name__} has no setting {' or '.join(settings)}")
        return 0

    cdef uint8_t request(self, int64_t track, uint8_t pages, bint write, int64_t end) noexcept nogil:
        cdef uint8_t have = self.cached(track), missing = pages & ~have
        cdef int32_t counter
        cdef bint run, new
        cdef mark_t* mark
        self.now += 1
        self.n_reads = 0
        if have:
            self.observe(track, missing == 0, write)
            mark = self.mark(track)
            if mark.counter == 0:
                mark.counter = <uint8_t>self.run_length(track)
            new = mark.flags & UNREAD != 0
            mark.flags &= ~UNREAD
            if missing:
                if not write:
                    if mark.counter == self.sequential.threshold:
                        missing = self.whole & ~have
                    self.read(track, missing, DEMAND)
                self.add_pages(track, missing)
                mark = self.mark(track)
            if self.sequential.most:
                if mark != NULL and not write:
                    hit_in_set(self, track, new, end)
                if new:             # do not move the track, as it is most likely read only once
                    return missing & pages
            elif mark != NULL and mark.flags & TRIGGER and not write:
                mark.flags &= ~TRIGGER
                self.fetch_ahead(track, end)
            self.use(track, pages & have)
            return missing & pages
        counter = self.run_length(track)
        run = track > 0 and counter == self.sequential.threshold and self.cached(track - 1) != 0
        if not run or write:
            self.insert(track, pages, run and self.sequential.writes_sequential)
            if not write:
                self.read(track, pages, DEMAND)
            self.set_counter(track, counter)
            return missing
        self.sequential_misses += 1
        self.count_sequential_miss()
        self.read(track, self.whole, DEMAND)
        if self.sequential.most:
            fetch_set_behind_miss(self, track, counter, end)
            return missing
        self.insert(track, self.whole, True)
        self.set_counter(track, counter)
        self.fetch(track + 1, track + self.sequential.degree, end, SYNCHRONOUS)
        return missing

    cdef inline int32_t run_length(self, int64_t track) noexcept nogil:
        """Return the value to which an access sets an unset counter."""
        cdef mark_t* before = self.mark(track - 1) if track > 0 else NULL
        return min(self.sequential.threshold, <int32_t>before.counter + 1) if before != NULL else 1

    cdef inline void set_counter(self, int64_t track, int32_t counter) noexcept nogil:
        cdef mark_t* mark = self.mark(track)
        if mark != NULL:
            mark.counter = <uint8_t>counter
            mark.flags = 0
            mark.to_last = mark.degree = mark.distance = 0

    cdef inline void fetch_ahead(self, int64_t track, int64_t end) noexcept nogil:
        """Handle a read of a group's trigger: renew the unread tracks after the trigger, and fetch the next group."""
        cdef int64_t last = track + self.sequential.trigger, t
        cdef mark_t* mark
        if self.sequential.remedy:
            for t in range(track + 1, min(last, end - 1) + 1):
                mark = self.mark(t)
                if mark != NULL and mark.flags & UNREAD:
                    self.use(t, 0)
        self.fetch(last + 1, last + self.sequential.degree, end, ASYNCHRONOUS)

    cdef void fetch(self, int64_t first, int64_t last, int64_t end, uint8_t why) noexcept nogil:
        cdef int64_t t
        cdef uint8_t missing
        cdef mark_t* mark
        for t in range(first, min(last, end - 1) + 1):
            mark = bring(self, t, why, &missing)
            if mark != NULL:
                mark.flags |= UNREAD
        if self.sequential.trigger >= 0 and first <= last < end:
            mark = self.mark(last - self.sequential.trigger)
            if mark != NULL:
                mark.flags |= TRIGGER

    cdef void arrive_late(self, int64_t track) noexcept nogil:
        grow_distance(self, track)

    cdef inline void read(self, int64_t track, uint8_t pages, uint8_t why) noexcept nogil:
        cdef read_t* read = &self.reads[self.n_reads]
        read.track = track
        read.pages = pages
        read.why = why
        self.n_reads += 1
        self.staged[why] += 1

    cdef uint8_t cached(self, int64_t track) noexcept nogil:
        return 0

    cdef mark_t* mark(self, int64_t track) noexcept nogil:
        return NULL

    cdef void observe(self, int64_t track, bint hit, bint write) noexcept nogil:
        pass

    cdef void use(self, int64_t track, uint8_t pages) noexcept nogil:
        pass

    cdef void add_pages(self, int64_t track, uint8_t pages) noexcept nogil:
        pass

    cdef void insert(self, int64_t track, uint8_t pages, bint sequential) noexcept nogil:
        pass

    cdef void count_sequential_miss(self) noexcept nogil:
        pass

    cdef int64_t list_pages(self, bint sequential) noexcept nogil:
        return 0

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if i + AHEAD < n:
                self.warm(self.track_of(ids[i + AHEAD]), True)
            if i + NEAR < n:
                self.warm(self.track_of(ids[i + NEAR]), False)
            hit[i] = self.request(self.track_of(ids[i]), self.whole, False, self.tracks) == 0

    cdef inline int64_t track_of(self, block_t block) noexcept nogil:
        return self.place_of[block] if self.place_of else block

    cdef void warm(self, int64_t track, bint entry) noexcept nogil:
        pass

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.cached(self.track_of(block)) != 0

    def access_pages(self, int64_t track, int pages=-1, bint write=False, end=None):
        """Access `pages` (mask, by default all) of a track; return the mask of missing pages, and the reads to issue.

        Returns
        -------
        int
            Mask of the missing pages; 0 = hit.
        list of (track, pages, why)
            `why` is 0 for the request's own read, 1 for a synchronous and 2 for an asynchronous prefetch.
        """
        cdef int64_t stop = self.tracks if end is None else end
        cdef int i
        self.check_unused()
        if not 0 <= track < stop <= self.tracks or not (pages == -1 or 0 < pages <= self.whole):
            raise IndexError(
                f"track {track}, pages {pages}, end {stop}; expected 0 <= track < end <= {self.tracks}, and pages from 1 to "
                f"{self.whole} or -1"
            )
        missing = self.request(track, <uint8_t>(pages & self.whole), write, stop)
        self.requests += 1
        return missing, [(self.reads[i].track, self.reads[i].pages, self.reads[i].why) for i in range(self.n_reads)]

    def late(self, int64_t track):
        """Tell AMP that a drive operation beginning with this track arrived while a read was waiting for the track."""
        self.check_unused()
        if not 0 <= track < self.tracks:
            raise IndexError(f"track {track}; expected one below {self.tracks}")
        self.arrive_late(track)

    def kept(self, int64_t track):
        """Return AMP's ``(p, g)`` of a track: (0, 0) if the track is not a set's last, None if it is not cached."""
        cdef mark_t* mark
        if not 0 <= track < self.tracks:
            raise IndexError(f"track {track}; expected one below {self.tracks}")
        mark = self.mark(track)
        return None if mark == NULL else (mark.degree, mark.distance)

    @property
    def tracks_staged(self):
        """Numbers of tracks read so far: on demand, by synchronous prefetch, and by asynchronous prefetch."""
        return tuple(self.staged)

    @property
    def seq_pages(self):
        """Number of pages in SEQ."""
        return self.list_pages(True)

    @property
    def random_pages(self):
        """Number of pages in RANDOM."""
        return self.list_pages(False)
