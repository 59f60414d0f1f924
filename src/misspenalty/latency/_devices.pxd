# A cache sends fetches, and writes with `write_through`, to these devices. All follow one protocol, without the GIL, in
# which time is in integer ns and never decreases:
#   submit(now, lbn, count, write, tag)     accept a request that arrives
#   complete(&record)                       complete the next request, at `device.event`; fill in its record
# All keep `event` at the time of the next completion, or at IDLE if nothing is in progress.

from libc.stdint cimport int32_t, int64_t

from misspenalty._kernel cimport Kernel
from misspenalty.disks.drive._drive cimport Drive
from misspenalty.disks.drive._state cimport record_t


cdef class Device(Kernel):
    cdef int64_t event
    cdef int submit(self, int64_t now, int64_t lbn, int32_t count, bint write, int64_t tag) except -1 nogil
    cdef int complete(self, record_t* record) except -1 nogil


cdef class FixedTime(Device):       # every request takes the same time, whatever else is in progress
    cdef readonly int64_t latency   # ns
    cdef record_t* ring             # requests in progress, oldest at `head`
    cdef Py_ssize_t room, head, size


cdef class Disk(Device):            # serves one request at a time, in the order that the drive's scheduler chooses
    cdef readonly Drive drive
