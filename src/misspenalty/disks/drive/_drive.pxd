# A simulated drive has an arm, cache segments and a command queue. Times are in integer ns.
#
# It can be used in two ways, both without the GIL:
#   service(&drive, now, lbn, count, write, &record)    The caller decides the order; `now` must not be before the last
#                                                       record's `done`.
#   arrive(&drive, now, lbn, count, write, tag)         The drive has a queue. Schedule an event at the time returned.
#   complete(&drive, &record)                           Call this at that event: it fills in the record of the request
#                                                       being served, with its tag. Schedule the next event at the time
#                                                       returned.
# `arrive` and `complete` return IDLE if no event is to be scheduled: a drive has at most one event pending.

from libc.stdint cimport int64_t

from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._mechanics cimport Mechanics
from misspenalty.disks.drive._service cimport service
from misspenalty.disks.drive._state cimport IDLE, drive_t, record_t


# Add a request to the drive's queue. Return the time of the drive's next event if the drive was idle, IDLE if it was
# busy.
cdef int64_t arrive(drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, int64_t tag) except -2 nogil
# Complete the request being served: fill its record, and return the time of the next event, or IDLE.
cdef int64_t complete(drive_t* d, record_t* record) noexcept nogil


cdef class Drive(Kernel):
    cdef drive_t d
    cdef readonly Mechanics mechanics
    cdef int check_request(self, int64_t now, int64_t lbn, int64_t count) except -1
