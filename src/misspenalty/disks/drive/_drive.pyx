"""Simulate a drive and its queue; `reference.drive_queue` is easier to read, and _drive.pxd explains how to use it."""

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free

from misspenalty._kernel cimport Kernel, grown_ring
from misspenalty.disks.drive._disksim_arm cimport disksim_stopped
from misspenalty.disks.drive._mechanics cimport TURN, Mechanics, behind, ceil_ns, locate, move_arm, phase, place_t
from misspenalty.disks.drive._medium cimport arm_stopped
from misspenalty.disks.drive._service cimport command_time, service, settle
from misspenalty.disks.drive._state cimport CLOOK, FCFS, IDLE, LOOK, SPTF, SSTF, drive_t, pending_t, record_t, segment_t
from misspenalty.errors import ParameterError

COMPONENTS = ("queue", "overhead", "seek", "rotation", "switch", "transfer", "bus", "cache")
SCHEDULERS = ("fcfs", "sstf", "look", "clook", "sptf")


cdef int64_t stopped(const drive_t* d, int64_t now, int32_t* track) noexcept nogil:
    """Return the time at which the arm can move if read-ahead stops at `now`; set `track` to the arm's track then."""
    return disksim_stopped(d, now, track) if d.s.disksim else arm_stopped(d, now, track)


cdef int64_t positioned(
    const drive_t* d, const pending_t* p, int64_t now, int64_t here, int64_t released, int32_t track
) noexcept nogil:
    """Return the ticks until the first sector of a request passes, if the request starts at `now` and misses the cache.

    `here` is the angle under the heads, `released` the time at which the arm can move, `track` its track then.
    """
    cdef int64_t move = move_arm(d.m, p.cylinder - d.m.tracks[track].cylinder, p.head != d.m.tracks[track].head, p.write)
    cdef int64_t ticks = behind(p.angle, here) - TURN, ready
    if p.write and move < d.s.least_seek:
        move = d.s.least_seek
    ready = max(released - now, command_time(d, p.lbn, p.count, p.write)) + move
    while ticks <= (ready - 1) * d.m.rpm:   # a boundary that passed within the same ns counts as met (see `rotation`)
        ticks += TURN
    return ticks


cdef Py_ssize_t choose(drive_t* d, int64_t now) noexcept nogil:
    """Choose the next request of the window; `now` is a time of the drive's own clock."""
    cdef Py_ssize_t i, best = 0
    cdef int64_t value, least = 0, here = 0, released = 0
    cdef int32_t cylinder = d.m.tracks[d.track].cylinder, highest = d.m.cylinders, track = d.track
    cdef pending_t* p
    cdef bint ahead = False
    if d.scheduler == LOOK:
        for i in range(d.waiting):
            if d.direction * (d.window[i].cylinder - cylinder) >= 0:
                ahead = True
        if not ahead:
            d.direction = -d.direction
    if d.scheduler == SPTF:
        here = phase(d.m, now)
        released = stopped(d, now, &track)
    for i in range(d.waiting):
        p = &d.window[i]
        if d.scheduler == SSTF:
            value = p.cylinder - cylinder
            value = -value if value < 0 else value
        elif d.scheduler == LOOK:
            value = d.direction * (p.cylinder - cylinder)
            if value < 0:
                value += 4 * <int64_t>highest
        elif d.scheduler == CLOOK:
            value = p.cylinder - cylinder
            if value < 0:
                value += 2 * <int64_t>highest
        elif d.scheduler == SPTF:
            value = positioned(d, p, now, here, released, track)
        else:
            value = p.sequence
        if i == 0 or value < least or (value == least and p.sequence < d.window[best].sequence):
            best = i
            least = value
    return best


cdef int64_t next_request(drive_t* d, int64_t now) noexcept nogil:
    """Start the next request of the queue, if there is one."""
    cdef Py_ssize_t i
    cdef pending_t p
    if d.waiting == 0:
        d.active = False
        return IDLE
    if d.waiting > 1 and d.scheduler != FCFS and d.ahead >= 0:
        settle(d, now + d.turned)
    i = choose(d, now + d.turned)
    p = d.window[i]
    d.waiting -= 1
    d.window[i] = d.window[d.waiting]
    if d.backlogged:
        d.window[d.waiting] = d.backlog[d.head]
        d.waiting += 1
        d.backlogged -= 1
        d.head += 1
        if d.head == d.room:
            d.head = 0
    service(d, now, p.lbn, p.count, p.write, &d.current)
    d.current.arrival = p.arrival
    d.current.queue = now - p.arrival
    d.current.tag = p.tag
    d.active = True
    return d.current.done


cdef pending_t waiting(const drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, int64_t tag) noexcept nogil:
    """Make the entry of a waiting request, with its place on the drive."""
    cdef place_t place
    cdef pending_t p
    locate(d.m, lbn, &place)
    p.arrival = now
    p.lbn = lbn
    p.tag = tag
    p.angle = place.angle
    p.sequence = d.sequence
    p.count = <int32_t>count
    p.head = d.m.tracks[place.track].head
    p.cylinder = place.cylinder
    p.write = write
    return p


cdef int64_t arrive(drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, int64_t tag) except -2 nogil:
    cdef pending_t p = waiting(d, now, lbn, count, write, tag)
    cdef Py_ssize_t last
    d.sequence += 1
    if d.waiting < d.depth:
        d.window[d.waiting] = p
        d.waiting += 1
    else:
        if d.backlogged == d.room:
            d.backlog = <pending_t*>grown_ring(d.backlog, &d.room, d.head, sizeof(pending_t), b"requests in the drive's queue")
        last = d.head + d.backlogged
        d.backlog[last if last < d.room else last - d.room] = p
        d.backlogged += 1
    return IDLE if d.active else next_request(d, now)


cdef int64_t complete(drive_t* d, record_t* record) noexcept nogil:
    record[0] = d.current
    return next_request(d, d.current.done)


cdef class Drive(Kernel):
    """A drive with given mechanics; `settings` has the fields of settings_t by name.

    `misspenalty.disks.load(...).drive()` makes a drive from a description.
    """

    def __cinit__(self, Mechanics mechanics not None, dict settings not None, str scheduler="fcfs", Py_ssize_t depth=256, int64_t turned=0):
        if scheduler not in SCHEDULERS:
            raise ParameterError(f"scheduler {scheduler!r}: expected one of {', '.join(SCHEDULERS)}")
        if not 1 <= depth <= 1 << 20:
            raise ParameterError(f"depth {depth}: expected 1 to {1 << 20} requests")
        self.mechanics = mechanics
        self.d.m = &mechanics.m
        self.d.s = settings
        self.d.segments = <segment_t*>self.allocate(self.d.s.segments, sizeof(segment_t))
        self.d.depth = depth
        self.d.window = <pending_t*>self.allocate(self.d.depth, sizeof(pending_t))
        self.d.scheduler = SCHEDULERS.index(scheduler)
        self.d.direction = 1
        self.d.turned = turned
        self.d.ahead = -1
        self.d.read_end = -1
        self.d.after_read = True

    def __dealloc__(self):
        free(self.d.backlog)

    cdef int check_request(self, int64_t now, int64_t lbn, int64_t count) except -1:
        self.check_unused()
        self.mechanics.check(lbn, count)
        if not self.d.now <= now <= 1 << 60:
            raise ParameterError(
                f"a request at {now} ns; expected {self.d.now}, the drive's time, to {1 << 60}; times must not decrease"
            )
        if count > 1 << 30:
            raise ParameterError(f"{count} blocks: expected at most {1 << 30}")
        return 0

    def service(self, int64_t now, int64_t lbn, int64_t count, bint write=False):
        """Serve one complete request and return its record as a dict, times in ns.

        Raises
        ------
        ParameterError
            The drive has no such blocks, `count` is above 2^30, or `now` is above 2^60 or before the drive's
            time: the end of the last request, or a later time given to `position`.
        """
        cdef record_t record
        self.check_request(now, lbn, count)
        service(&self.d, now, lbn, count, write, &record)
        made = dict(record)
        made["switch"] = made.pop("switches")
        return made

    def position(self, int64_t now, int64_t lbn, int64_t count, bint write=False):
        """Return the time until the first block would pass under the head if a request started now, ns.

        SPTF compares these times, which include the command, work of the arm that cannot be stopped, seek or switch,
        settling and rotation. The cache is ignored.
        """
        cdef int32_t track
        cdef int64_t released
        cdef pending_t p
        self.check_request(now, lbn, count)
        self.d.now = now
        now += self.d.turned
        settle(&self.d, now)
        released = stopped(&self.d, now, &track)
        p = waiting(&self.d, now, lbn, count, write, 0)
        return ceil_ns(self.d.m, positioned(&self.d, &p, now, phase(self.d.m, now), released, track))
