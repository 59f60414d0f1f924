# Read ahead, and read and write the medium, for a drive whose buffer works like DiskSim's.

from libc.stdint cimport int32_t, int64_t

from misspenalty.disks.drive._mechanics cimport parts_t
from misspenalty.disks.drive._medium cimport flow_t
from misspenalty.disks.drive._state cimport behind_t, drive_t

# Run read-ahead until `until`, or until it has read the blocks below `target`; return the time at which its last
# block ended.
cdef int64_t ahead_run(drive_t* d, int64_t until, int64_t target) noexcept nogil
# Return the time at which the arm can move if read-ahead stops at `now`; set `track` to the arm's track then.
# Change nothing else.
cdef int64_t disksim_stopped(const drive_t* d, int64_t now, int32_t* track) noexcept nogil
# Stop reading ahead; return the time until the arm is free, which DiskSim adds to the command's time.
cdef int64_t stop(drive_t* d, int64_t now) noexcept nogil
# Read ahead from a segment's end, starting at `when`. A drive that reads ahead to the end of the track starts only if
# the next block is on the arm's track.
cdef void start(drive_t* d, int32_t chosen, int64_t limit, int64_t when) noexcept nogil
# Read a request's blocks except the first `here`; return the time at which the last has passed.
cdef int64_t off_medium(
    drive_t* d, int64_t arm, int64_t lbn, int64_t here, int64_t count, parts_t* parts, flow_t* flow
) noexcept nogil
# Write the blocks of request `on`, then those of the appended request, `more` (or NULL). Stop before a block of
# `more` that has not arrived. Return the time at which writing ends; set `done` to the number of blocks written by
# `until`.
cdef int64_t write_blocks(
    drive_t* d, const behind_t* on, const behind_t* more, int64_t until, int64_t* done, parts_t* parts
) noexcept nogil
