# Read, write and read ahead as the medium passes under the heads. Times are by the drive's own clock, ns.

from libc.stdint cimport int32_t, int64_t

from misspenalty.disks.drive._mechanics cimport parts_t
from misspenalty.disks.drive._state cimport drive_t, segment_t


cdef struct flow_t:                 # progress of a read's blocks over the bus
    int64_t block                   # time of a block on the bus, ns
    int64_t water                   # number of blocks that must have been read before the bus is requested
    int64_t ready                   # time at which these blocks have been read, ns
    int64_t done                    # earliest time at which the bus can have carried all blocks, ns


cdef inline void follow(flow_t* flow, int64_t index, int64_t count, int64_t when) noexcept nogil:
    """Update `flow.done` for block `index` of `count`, read by `when`: it and later blocks must still cross the bus."""
    cdef int64_t done = when + (count - index) * flow.block
    if done > flow.done:
        flow.done = done


# Read the blocks lbn + from_index to lbn + count - 1; return the time at which the last has passed. If the drive keeps
# blocks that pass before the first one, `first` is set to the first block kept.
cdef int64_t read_medium(
    drive_t* d, int64_t now, int64_t lbn, int64_t from_index, int64_t count, parts_t* parts, flow_t* flow, int64_t* first
) noexcept nogil
# Write blocks whose data crosses the bus from `bus_start` on; return the time at which the last has passed. If a sector
# passes before its data has arrived, it is written a revolution later; the wait is added to `waited`, ns.
cdef int64_t write_medium(
    drive_t* d, int64_t now, int64_t lbn, int64_t count, int64_t bus_start, parts_t* parts, int64_t* waited
) noexcept nogil
# Return the block before which read-ahead after this request ends.
cdef int64_t ahead_limit(drive_t* d, const segment_t* segment, int64_t lbn, int64_t count) noexcept nogil
# Run read-ahead until `until`, or until it has read the blocks below `target`; return the time at which its last
# block ended.
cdef int64_t read_until(drive_t* d, int64_t until, int64_t target) noexcept nogil
# End read-ahead if it has reached its limit.
cdef void end_ahead(drive_t* d) noexcept nogil
# Stop reading ahead, and set arm_free to the time at which the arm can move. Call `settle` first.
cdef void stop_ahead(drive_t* d, int64_t now) noexcept nogil
# Return the time at which the arm can move if read-ahead stops at `now`; set `track` to the arm's track then.
# Change nothing else.
cdef int64_t arm_stopped(const drive_t* d, int64_t now, int32_t* track) noexcept nogil
# Let read-ahead into a segment continue up to `limit`.
cdef void extend_ahead(const drive_t* d, segment_t* segment, int64_t limit) noexcept nogil
# Read ahead from a segment's end, starting at `when`.
cdef void start_ahead(drive_t* d, int64_t chosen, int64_t limit, int64_t when) noexcept nogil
