# The back end of a storage controller: drives in RAID-5 arrays, operations in flight, and the non-volatile write cache
# that is destaged to them.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from misspenalty._divide cimport divisor_t
from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._drive cimport drive_t, record_t
from misspenalty.engine._engine cimport queue_t
from misspenalty_studies.sarc.array._flights cimport flights_t
from misspenalty_studies.sarc.array._operations cimport operation_t, operations_t
from misspenalty_studies.sarc.array._raid cimport piece_t, plan_t, raid_t
from misspenalty_studies.sarc.array._write_cache cimport write_cache_t

cdef enum:                          # kinds of event, in their order at equal times; arrivals come last
    AT_DRIVE = 0                    # a drive is done; sequence number = drive
    AT_COMPLETE = 1                 # the host has its answer; sequence number = request
    AT_PROCESSED = 2                # a processor is done with a request; sequence number = request

cdef enum:                          # what is counted
    READS = 0                       # host requests completed
    WRITES = 1
    READ_HITS = 2                   # reads that found every page in the cache, even if still in flight
    READ_WAITS = 3                  # reads that waited for drives
    DIRTY_READS = 4                 # reads that missed pages but waited for no drive (all are dirty, or no drives)
    STAGE_READS = 5                 # drive operations that read for the cache
    DESTAGE_READS = 6               # drive operations that read what is needed to compute a parity
    DESTAGE_WRITES = 7              # drive operations that write
    DESTAGES = 8                    # destages begun
    FULL_DESTAGES = 9               # destages begun that need no read
    PREFETCH_READS = 10             # stage reads that no request waits for when they start
    COUNTS = 11


cdef class BackEnd(Kernel):
    cdef readonly list drives       # keeps the drives of `members` alive
    cdef drive_t** members          # one per drive
    cdef int64_t* turned            # offset of each drive's clock, which staggers the spindles, ns
    cdef int64_t n_drives           # drives of all arrays
    cdef int64_t track              # pages of a track
    cdef divisor_t by_track
    cdef raid_t raid
    cdef write_cache_t writes
    cdef operations_t operations
    cdef flights_t flights
    cdef queue_t queue              # events of the whole controller
    cdef readonly int64_t now       # time reached, ns
    cdef int64_t[COUNTS] counts     # counts since the last `drain_counters`
    cdef bint from_cache            # whether a parity is computed from pages in the read cache

    # A subclass calls this method first.
    cdef int connect(self, list drives, layout, marks, int64_t pages, int64_t track) except -1
    # Tell a drive to read or write pages that are contiguous on it, and return the operation's number.
    cdef int32_t issue(self, int64_t now, piece_t piece, int64_t page, int32_t owner, bint write) except -2 nogil
    # Schedule a drive's next event, if there is one.
    cdef int await_drive(self, int64_t event, int32_t number) except -1 nogil
    # Complete a drive's operation, start its next one, and resume whatever waits for the operation.
    cdef int leave_drive(self, int64_t now, int32_t number) except -1 nogil
    # Begin as many destages as the fill level requires, in one array or in all; begin, plan and continue one destage.
    cdef int destage(self, int64_t now, int64_t array) except -1 nogil
    cdef int destage_everywhere(self, int64_t now) except -1 nogil
    cdef int begin_destage(self, int64_t now, int64_t array) except -1 nogil
    cdef void plan(self, uint32_t which, plan_t* plan) noexcept nogil
    cdef int go_on_destaging(self, int64_t now, uint32_t which) except -1 nogil
    # The front end overrides these: return a mask of the pages of a track that the read cache holds; handle the arrival
    # of an operation's pages; handle new room in the write cache.
    cdef uint8_t held(self, int64_t track) noexcept nogil
    cdef int landed(self, int64_t now, const operation_t* operation, const record_t* record) except -1 nogil
    cdef int drained(self, int64_t now) except -1 nogil
