# Declare blocks in memory and requests to the disk, as in Linux 2.2; the file client is built on them. An entry
# describes a page of a file or a block of metadata: its state and its place in memory. A request is a contiguous
# stretch of entries on its way to or from the disk. Only the layers above this one deal with files.

from libc.stdint cimport int32_t, int64_t, uint8_t

from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._drive cimport Drive, drive_t
from misspenalty.engine._engine cimport queue_t
from misspenalty_studies.epcm.file_client._ranks cimport ranks_t

cdef enum:
    NOTHING = -1                    # no entry, request or frame

cdef enum flag_t:                   # flags of an entry
    PAGE = 1                        # up to date in the page cache
    BUFFER = 2                      # up to date in the buffer cache
    COMING = 4                      # being read
    DIRTY = 8                       # written, and not yet issued to the disk
    LEAVING = 16                    # being written
    AHEAD = 32                      # brought into the page cache by the prefetch engine, and not used since
    PAGE_USED = 64                  # the page has been used since the clock's hand last passed it
    BUFFER_USED = 128               # the buffer has been used since the hand last passed it
    STORED = 256                    # has been written, so it is not a hole

cdef enum moment_t:                 # kinds of event, in their order at equal times
    AT_DISK_DONE = 0                # a request has completed; what = request
    AT_WRITEBACK = 1                # old dirty blocks are issued to the disk


cdef struct entry_t:
    int64_t lba                     # first sector on disk
    int64_t dirtied                 # time at which it became dirty, ns; valid if DIRTY is set
    int32_t sectors                 # number of sectors on disk
    int32_t flags                   # flag_t
    int32_t lands                   # PAGE or BUFFER: flag to set once the entry has been read
    int32_t request                 # request that contains the entry; NOTHING = none
    int32_t next                    # next entry of that request, by sector; NOTHING = last
    int32_t page_frame              # frame of the page; NOTHING = none
    int32_t buffer_frame            # frame of the buffer; NOTHING = none
    int32_t older                   # next older dirty entry; NOTHING = it is the oldest
    int32_t newer                   # next newer dirty entry; NOTHING = it is the newest


cdef struct request_t:
    int64_t lba                     # first sector
    int32_t sectors
    int32_t first                   # first entry
    int32_t last                    # last entry
    int32_t next                    # next request in the queue, or next free one; NOTHING = none
    uint8_t write                   # 1 = write
    uint8_t demand                  # 1 = a process waits for it
    uint8_t queued                  # 1 = not yet issued to the disk


cdef class BlockLayer(Kernel):
    cdef entry_t* entries
    cdef readonly Py_ssize_t number     # number of entries
    # the queue of requests
    cdef request_t* requests        # one per entry, because an entry is in at most one request
    cdef int32_t free               # first unused request
    cdef int32_t head               # head of the queue in the elevator's order; NOTHING = none queued
    cdef int32_t* rank              # rank of each entry by sector
    cdef int32_t* ranked            # entry of each rank
    cdef ranks_t heads              # ranks of the first entries of queued requests
    cdef bint plugged               # whether requests wait so that more can join them
    cdef int64_t max_sectors        # maximum number of sectors of a request
    cdef bint demand_first          # whether requests that a process waits for overtake the others
    # the disk
    cdef Drive drive                # None = the fixed-service device
    cdef drive_t* d
    cdef int64_t depth              # requests served at a time (fixed-service device)
    cdef int64_t access             # fixed-service device: access time per request, ns
    cdef int64_t sector             # fixed-service device: transfer time per sector, ns
    cdef int64_t host               # time from the decision to serve a request until it reaches the disk, ns
    cdef int64_t serving            # number of requests at the disk
    cdef int64_t latest             # completion time of the most recently issued request, ns
    cdef queue_t events
    # memory
    cdef int64_t* frames            # content: 2 * entry + (1 = its buffer, 0 = its page); NOTHING = unused frame
    cdef int32_t* unused            # stack of unused frames
    cdef Py_ssize_t room            # total number of frames
    cdef Py_ssize_t spare           # number of unused frames
    cdef Py_ssize_t hand            # the clock's hand: next frame to examine
    cdef bint separate              # whether written data has a buffer cache of its own (Linux 2.2)
    # write-back
    cdef int32_t oldest             # oldest dirty entry; NOTHING = none is dirty
    cdef int32_t newest
    cdef int64_t age                # age at which dirty blocks are written, ns
    cdef int64_t interval           # time between checks for old dirty blocks, ns
    # counts
    cdef readonly int64_t reads, writes, read_sectors, write_sectors, evictions

    cdef int32_t request_at(self, int64_t rank) noexcept nogil
    cdef bint grows(self, int32_t i, const entry_t* e, bint write) noexcept nogil
    cdef void append(self, int32_t i, int32_t entry) noexcept nogil
    cdef void prepend(self, int32_t i, int32_t entry) noexcept nogil
    cdef void insert(self, int32_t i) noexcept nogil
    cdef void join(self, int32_t entry, bint write) noexcept nogil
    cdef int submit(self, int32_t entry, bint write, int64_t now) except -1 nogil
    cdef int unplug(self, int64_t now) except -1 nogil
    cdef int dispatch(self, int64_t now) except -1 nogil
    cdef int complete(self, int32_t request, int64_t now) except -1 nogil
    cdef int64_t step(self) except -1 nogil
    cdef int advance(self, int64_t now) except -1 nogil
    cdef int64_t wait(self, int32_t entry, int64_t now) except -1 nogil
    cdef int64_t hold(self, int32_t entry, bint buffer, int64_t now) except -1 nogil
    cdef void release(self, int32_t entry, bint buffer) noexcept nogil
    cdef bint evict(self) noexcept nogil
    cdef void gone(self, int32_t entry, bint buffer) noexcept nogil
    cdef void soil(self, int32_t entry, int64_t now) noexcept nogil
    cdef void clean(self, int32_t entry) noexcept nogil
    cdef int write_back(self, int64_t older, int64_t now) except -1 nogil
    cdef int64_t settle(self, int64_t now) except -1 nogil
