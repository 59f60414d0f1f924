# Serve a request on a drive whose buffer works like DiskSim 4.0's (`disksim_buffer`); the functions are used like those
# of _service.pxd. `misspenalty.disks.disksim.buffer` lists the differences for each function of DiskSim;
# `reference.drive_disksim` is easier to read.

from libc.stdint cimport int64_t

from misspenalty.disks.drive._state cimport drive_t, record_t

cdef void disksim_settle(drive_t* d, int64_t now) noexcept nogil
# Serve a request that arrives at `now` by the drive's own clock. Fill in the components of `record`, not its times, and
# return the time at which the request completes, without the completion overhead, which the caller adds.
cdef int64_t disksim_service(
    drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, record_t* record
) noexcept nogil
