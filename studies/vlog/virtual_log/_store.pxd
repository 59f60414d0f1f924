# A disk as file systems see it: a store that serves one request at a time and may use the time between requests.

from libc.stdint cimport int32_t, int64_t

from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._drive cimport Drive
from misspenalty.disks.drive._mechanics cimport Mechanics

cdef enum:                          # kinds of request
    READ = 0
    WRITE = 1
    KINDS = 2


cdef struct latency_t:
    int64_t other                   # host processing, ns
    int64_t overhead                # processing of the command in the drive, ns
    int64_t locate                  # seek, rotation and head switches, ns
    int64_t transfer                # sectors passing under the head; in `InPlace` also bus and cache waits, ns
    int64_t map_locate              # the part of `locate` that map sectors took
    int64_t map_transfer            # the part of `transfer` that map sectors took


cdef class Store(Kernel):
    cdef Mechanics mechanics        # keeps alive the structure that pointers of subclasses lead to
    cdef int64_t[KINDS] overhead    # processing of a command in the drive, by kind, ns
    cdef readonly int64_t now       # when the last request or pause ended, ns
    cdef int32_t track              # track at which the arm is
    cdef readonly int64_t sectors   # addressable sectors
    cdef bint full                  # whether there was no room for a block or a map sector
    # Every subclass calls this method first. Without it, a store has no sectors and rejects every request.
    cdef int set_up(self, Mechanics mechanics, int64_t sectors, int64_t read_overhead, int64_t write_overhead) except -1
    cdef int64_t serve(self, int64_t now, int kind, int64_t sector, int64_t count, latency_t* spent) noexcept nogil
    cdef void idle(self, int64_t until) noexcept nogil
    cdef int check_room(self) except -1
    cdef int check(self, int64_t now, int64_t sector, int64_t count) except -1


cdef class InPlace(Store):
    cdef Drive drive
