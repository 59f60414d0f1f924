# Serve one request on a drive with its cache, bus and medium.

from libc.stdint cimport int64_t

from misspenalty.disks.drive._state cimport drive_t, record_t

# Serve one complete request; the drive must be idle, and `now` not before the last request's `done`.
cdef int64_t service(
    drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, record_t* record
) noexcept nogil
# Return the time from a command until the arm may start to serve it, ns; the arm may be busy for longer.
cdef int64_t command_time(const drive_t* d, int64_t lbn, int64_t count, bint write) noexcept nogil
# Advance read-ahead and write-behind to a time of the drive's own clock.
cdef void settle(drive_t* d, int64_t now) noexcept nogil
