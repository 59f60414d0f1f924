# Define the state and settings that the kernels of a simulated drive share. Times are in integer ns.

from libc.stdint cimport int32_t, int64_t, uint8_t

from misspenalty.disks.drive._mechanics cimport mechanics_t

cdef extern from *:
    """
    #define MISSPENALTY_NEVER (1LL << 61)
    """
    const int64_t NEVER "MISSPENALTY_NEVER"  # a time later than any other, ns

cdef enum:
    IDLE = -1                       # time that means "no event to schedule"

cdef enum scheduler_t:              # rule by which the next request is chosen
    FCFS = 0                        # first come, first served
    SSTF = 1                        # shortest seek
    LOOK = 2                        # next in the direction of travel, turning at the last one
    CLOOK = 3                       # next higher cylinder, from the highest back to the lowest
    SPTF = 4                        # shortest positioning time: seek and rotation

cdef enum hit_t:                    # what the cache did for a request
    MISS = 0
    WHOLE_HIT = 1                   # read entirely from the cache
    PARTIAL_HIT = 2                 # the request's first blocks were cached, or were being read ahead
    BUFFERED = 3                    # write that is reported complete once it is in the cache


cdef struct record_t:
    int64_t arrival                 # time at which the request is issued to the drive, ns
    int64_t start                   # time at which the drive starts to serve the request, ns
    int64_t done                    # time at which the request is reported complete, ns; arrival + all components
    int64_t queue                   # start - arrival, ns
    int64_t overhead                # time of command processing, disconnecting and completion, ns
    int64_t seek                    # ns
    int64_t rotation                # ns
    int64_t switches                # time of head and cylinder switches within the transfer, with their skew, ns
    int64_t transfer                # time of sectors passing under the head, ns
    int64_t bus                     # time of the bus transfer that overlaps with no other component, ns
    int64_t cache                   # time waiting for read-ahead or for cached writes to reach the medium, ns
    int64_t tag                     # the caller's tag, from `arrive`; 0 with `service`
    int64_t lbn
    int32_t count                   # blocks
    uint8_t write                   # 1 = write
    uint8_t hit                     # hit_t


cdef struct segment_t:
    int64_t first                   # first block that the segment holds
    int64_t end                     # one past the segment's last block; equal to `first` if the segment is empty
    int64_t limit                   # block before which read-ahead ends
    int64_t used                    # number of the request that used the segment last
    int64_t clean                   # time until which the segment is dirty, ns; 0 = clean
    bint written                    # 1 = the segment holds written blocks


cdef enum ahead_t:                  # how far a drive reads ahead
    NO_AHEAD = 0
    TO_TRACK_END = 1
    TO_CYLINDER_END = 2
    TO_SEGMENT_END = 3              # at most ahead_most blocks
    TO_NEXT_TRACK_END = 4           # to the end of the next block's track or, if the segment begins before that track,
                                    # one track further (as many sectors as this track has or, with `disksim`, as the
                                    # track of the request's first block has)


cdef struct settings_t:             # settings of a kind of drive; times in ns
    int64_t read_hit[2]             # command overhead; [0] after a write, [1] after a read
    int64_t read_miss[2]
    int64_t write_hit[2]
    int64_t write_miss[2]
    int64_t read_complete
    int64_t write_complete
    int64_t prepare                 # time to prepare a bus transfer
    int64_t reselect                # time to take up the bus again
    int64_t reselect_again          # … after an extra disconnect
    int64_t read_disconnect[2]      # time to leave the bus; [0] after a write, [1] after a read
    int64_t write_disconnect
    int64_t extra_command           # command overhead of a write after a write that it does not continue; -1 = the
                                    # same as for other writes: the next three settings then do not apply
    int64_t extra_bus               # … time from its command to its data: disconnect, pause, reselect, preparation
    int64_t extra_seek              # … delay of the arm's start after the command
    int64_t extra_disconnect        # … time to leave the bus after its data
    int64_t read_block              # time to transfer a block over the bus
    int64_t write_block
    int64_t least_seek              # minimum time of repositioning before a write
    int64_t ahead_most              # maximum number of blocks read ahead, except with TO_NEXT_TRACK_END
    int64_t segment                 # number of blocks per segment
    int32_t segments                # number of segments, for reads and writes together
    int32_t write_segments          # number of segments that may be dirty at once
    int32_t ahead                   # ahead_t
    int32_t read_water              # share of a read's blocks that must be cached before the bus is requested, 1/1000
    int32_t write_water             # share of a write's blocks that must be cached before the medium is written, 1/1000
    int32_t head_start              # number of a write's blocks that must be in the cache before the medium is written
    int32_t long_head_start         # … for a long write
    int32_t long_write              # number of blocks from which a write counts as long
    bint ahead_after                # 1 = ahead_most counts from the request's end, 0 = from its start
    bint ahead_sequential           # 1 = the drive reads ahead only after a read that continues the previous read
    bint ahead_on_hit               # 1 = the drive reads ahead again after a full hit
    bint drop_requested             # 1 = when read-ahead starts, blocks that it may overwrite are dropped
    bint fast_write                 # 1 = a write is complete once in the cache
    bint caching                    # 1 = a read can hit blocks of earlier requests
    bint read_written               # 1 = a read can hit written blocks
    bint own_write_segment          # 1 = the last segment is for writes only
    bint almost_hit                 # 1 = a read of the block now being read ahead is a partial hit
    bint stop_in_sector             # 1 = read-ahead stops within a sector, 0 = at its end
    bint any_order_read             # 1 = sectors of a track are read in the order in which they pass
    bint any_order_write            # 1 = sectors of a track are written in the order in which they pass
    bint free_blocks                # 1 = sectors that pass before the first sector of a read are kept
    bint prebuffer                  # 1 = the drive accepts a write's data while the arm writes older blocks
    bint hit_while_writing          # 1 = the drive serves full read hits while the arm writes older blocks
    bint disksim                    # 1 = the buffer works like DiskSim 4.0's, which ignores some of these switches


cdef struct pending_t:
    int64_t arrival                 # ns
    int64_t lbn
    int64_t tag
    int64_t angle                   # angle of the request's first sector, ticks
    int64_t sequence                # number of the request in order of arrival
    int32_t count
    int32_t head
    int32_t cylinder
    bint write


cdef struct sweep_t:                # sectors of a track that pass under the head, from where the arm landed
    int64_t start                   # start of the first sector, ns
    int32_t track
    int32_t first                   # number of the first sector
    int32_t sectors                 # number of sectors on the track


cdef struct behind_t:               # a request's blocks in flight between bus and medium
    int64_t lbn
    int64_t count
    int64_t bus                     # start of the request's bus transfer, ns
    int64_t arm                     # earliest time at which the arm can start, ns
    int64_t begin                   # time at which the arm starts, ns
    int64_t end                     # end, ns; for a read, the time at which its last block has left the bus
    int32_t track                   # track of the arm before the request


cdef struct drive_t:
    const mechanics_t* m
    settings_t s
    int64_t turned                  # time by which the drive's own clock, used below, is ahead of the caller's, ns
    segment_t* segments             # array of s.segments segments
    int32_t track                   # track on which the arm is, or will be at arm_free
    int32_t ahead                   # segment that is being read ahead into, or -1
    int32_t direction               # direction of LOOK: 1 = towards higher cylinders, -1 = towards lower ones
    int64_t arm_free                # end of the arm's work that cannot be stopped, ns
    int64_t ahead_lbn               # next block to read ahead
    int64_t ahead_time              # … time from which the arm, on `track`, is free to read it, ns
    int64_t dirty_until             # time until which a segment may be dirty, ns; 0 = all are clean
    int64_t now                     # end of the last request, or a later time given to `position`; caller's clock, ns
    int64_t requests                # number of requests served so far
    int64_t busy                    # total time spent on requests, ns
    int64_t read_end                # one past the last block of the last read; -1 = no read yet
    bint after_read                 # 1 = the last command was a read
    # The next fields hold the state of a buffer that works like DiskSim's.
    behind_t[2] behind              # writes in progress: the one being written to the medium, and one appended to it
    int32_t behinds                 # … number of them
    behind_t sending                # the last read
    sweep_t sweep                   # read-ahead on the arm's track
    int64_t swept                   # … number of its sectors that have passed; 0 = the arm has yet to land
    int64_t passed                  # number of sectors that have passed under the head so far
    # The remaining fields belong to the queue.
    pending_t* window               # requests from which the scheduler chooses
    Py_ssize_t depth                # maximum number of requests in the window
    Py_ssize_t waiting              # current number of requests in the window
    pending_t* backlog              # ring of the requests that arrived when the window was full
    Py_ssize_t room                 # capacity of the ring
    Py_ssize_t head                 # index of the oldest request in the ring
    Py_ssize_t backlogged           # number of requests in the ring
    int64_t sequence                # sequence number of the next request
    int32_t scheduler               # scheduler_t
    bint active                     # 1 = a request is being served
    record_t current                # record of the request that is being served
