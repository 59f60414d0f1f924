# Declare a cache of tracks, which a controller calls, with sequential detection and prefetching in front of its lists.
#
# A track has up to eight pages, any of which may be cached. `request` makes one access to pages of one track: it sets
# the track's counter, moves the track, makes room, puts missing and prefetched pages into the cache, and lists the
# reads to issue. The cache is only a directory: pages are in it from the moment their read is issued, and the caller
# has to keep a record of the reads in flight.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t

from misspenalty.policies._policy cimport Policy, block_t

cdef enum:
    MOST_DEGREE = 256               # maximum number of tracks per group
    MOST_READS = MOST_DEGREE + 1    # maximum number of reads of one request: its own and one group

cdef enum:                          # reason for reading a track
    DEMAND                          # the request itself waits for the track
    SYNCHRONOUS                     # the track belongs to the rest of a group that a sequential miss fetches
    ASYNCHRONOUS                    # the track belongs to a group that a trigger fetches ahead of the stream

cdef enum:                          # flags of a track
    TRIGGER = 1                     # a read hit on this track fetches the next group
    UNREAD = 2                      # prefetched and not accessed since then
    AGED = 4                        # AMP: the track reached the LRU end unread, and was given a second chance
    FIRST = 8                       # AMP: first track of a set that a trigger fetched, until a read waits for it


cdef struct read_t:
    int64_t track                   # number of the track
    uint8_t pages                   # bit p = page p is to be read; never 0
    uint8_t why                     # DEMAND, SYNCHRONOUS or ASYNCHRONOUS


cdef struct mark_t:
    uint8_t counter                 # length of the run that ends here, up to the threshold (= sequential); 0 = not set
    uint8_t flags                   # TRIGGER, UNREAD, AGED, FIRST
    uint16_t to_last                # AMP: number of tracks from this one to the last of its set
    uint16_t degree                 # AMP, p: number of tracks of the next set; only in the last track of a set, else 0
    uint16_t distance               # AMP, g: number of tracks from a set's trigger to its end; also only in the last


cdef struct sequential_t:
    int32_t threshold               # seqThreshold: counter from which a track is sequential, 1 to 255
    int32_t degree                  # m: number of tracks of a group; 0 = nothing is prefetched
    int32_t trigger                 # tracks from the trigger to the end of its group; -1 = no asynchronous prefetch
    bint remedy                     # whether a trigger also moves the unread rest of its group to MRU
    bint writes_sequential          # whether written tracks of a run count as sequential
    int32_t most                    # AMP: maximum number of tracks of a set; 0 = degree and trigger are fixed
    int32_t ahead_above             # AMP: degree above which sets are fetched ahead


cdef inline int count_pages(uint8_t mask) noexcept nogil:
    mask -= mask >> 1 & 0x55
    mask = (mask & 0x33) + (mask >> 2 & 0x33)
    return (mask + (mask >> 4)) & 0xF


cdef class TrackCache(Policy):
    # `capacity`, `resident` and `evictions` count pages; `blocks` counts distinct blocks of a trace.
    cdef readonly int64_t tracks        # number of tracks; they are numbered from 0
    cdef readonly int track_pages       # number of pages per track, 1 to 8
    cdef uint8_t whole                  # mask of all pages of a track
    cdef sequential_t sequential        # settings of detection and prefetching
    cdef object places                  # array to which `place_of` points, kept alive
    cdef const uint32_t* place_of       # track of each block id of a trace; NULL = the id itself
    cdef int64_t now                    # number of requests so far; this is the clock of the stamps
    cdef read_t reads[MOST_READS]       # reads of the last request; its own read is the first
    cdef int n_reads                    # number of reads in `reads`
    cdef int32_t read_tracks            # AMP: number of tracks of the read to which this request belongs
    cdef readonly int64_t sequential_misses     # number of read misses on sequential tracks
    cdef int64_t[3] staged              # number of tracks read for each reason (`why`)
    cdef readonly int64_t unused        # number of tracks evicted without an access since their last prefetch

    # --- for a controller -------------------------------------------------------------------------------------------
    # Access `pages` (mask) of `track`; tracks from `end` on are not prefetched (end of the volume, at most `tracks`).
    # Return the mask of pages that were missing: 0 = hit. A write reads nothing. The caller issues reads[0:n_reads].
    cdef uint8_t request(self, int64_t track, uint8_t pages, bint write, int64_t end) noexcept nogil

    # Handle the arrival of a drive operation that began with this track while a read was waiting for the track.
    cdef void arrive_late(self, int64_t track) noexcept nogil

    # --- defined by each kind of cache -----------------------------------------------------------------------------
    # Return the mask of a track's cached pages.
    cdef uint8_t cached(self, int64_t track) noexcept nogil
    # Return the track's mark, valid until the next insert, or NULL if the track is not in the cache.
    cdef mark_t* mark(self, int64_t track) noexcept nogil
    # Observe an access to a cached track before anything moves; `hit` tells whether all requested pages were cached.
    cdef void observe(self, int64_t track, bint hit, bint write) noexcept nogil
    # Let the policy move a track after an access, if it is still cached; `pages` were requested and already cached.
    # When a trigger is read, the unread tracks of its group are moved, too: `pages` is then 0.
    cdef void use(self, int64_t track, uint8_t pages) noexcept nogil
    # Put pages into the cache, after evicting others, as sequential data or not; a cached track changes to that kind.
    cdef void insert(self, int64_t track, uint8_t pages, bint sequential) noexcept nogil
    # Put further pages of a cached track into the cache, after evicting others; the track keeps its kind.
    cdef void add_pages(self, int64_t track, uint8_t pages) noexcept nogil
    # Count a read miss on a sequential track.
    cdef void count_sequential_miss(self) noexcept nogil

    # Take the settings of detection and prefetching from keywords; each subclass calls this before it allocates arrays.
    cdef int arrange(self, dict settings) except -1
    # Put tracks `first` to `last`, but none from `end` on, into the cache as one group, with its trigger.
    cdef void fetch(self, int64_t first, int64_t last, int64_t end, uint8_t why) noexcept nogil
    cdef void fetch_ahead(self, int64_t track, int64_t end) noexcept nogil
    cdef int32_t run_length(self, int64_t track) noexcept nogil
    cdef void set_counter(self, int64_t track, int32_t counter) noexcept nogil
    cdef int64_t track_of(self, block_t block) noexcept nogil
    cdef void read(self, int64_t track, uint8_t pages, uint8_t why) noexcept nogil

    # Prefetch the memory that a future request for the track will use: its entry if `entry`, else the entry's data.
    cdef void warm(self, int64_t track, bint entry) noexcept nogil

    # Return the pages of SEQ or RANDOM; 0 in caches without these lists.
    cdef int64_t list_pages(self, bint sequential) noexcept nogil


cdef inline mark_t* bring(TrackCache cache, int64_t track, uint8_t why, uint8_t* missing) noexcept nogil:
    """Prefetch a whole track, and set `missing` to its absent pages; return its mark, or NULL if it was not kept."""
    cdef mark_t* mark = cache.mark(track)
    missing[0] = cache.whole & ~cache.cached(track)
    if missing[0]:
        cache.read(track, missing[0], why)
    cache.insert(track, cache.whole, True)
    if mark == NULL:
        cache.set_counter(track, 0)
    return cache.mark(track)
