# How a drive serves a request whose buffer works as DiskSim 4.0's (`disksim_buffer`); its uses are as in _service.pxd.
#
# What differs, and where DiskSim says so, is in misspenalty.disks.disksim.buffer; `reference.drive_disksim` reads easier.

from libc.stdint cimport int64_t

from misspenalty.disks.drive._state cimport drive_t, record_t

cdef void disksim_settle(drive_t* d, int64_t now) noexcept nogil
# Serve a request that comes at `now` of the drive's own clock: fills `record` but for its times, and returns when the
# request is done.
cdef int64_t disksim_service(
    drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, record_t* record
) noexcept nogil
