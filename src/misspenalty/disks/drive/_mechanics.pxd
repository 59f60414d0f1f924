# Model the mechanics of a drive: where a block is, how long the arm moves, and when a sector passes under the head.
#
# Times are in integer ns, angles in integer ticks; a revolution has TURN ticks: a platter at n rpm turns exactly n
# ticks per ns. Sectors begin at ceil(sector * TURN / sectors) ticks behind their track's angle, so boundaries are
# absolute and rounding errors do not add up. A boundary is met in the first whole ns at or after it: a transfer that
# ends a sector in that ns is in time for the next one, and contiguous transfers lose no revolution.

from libc.stdint cimport int32_t, int64_t, uint64_t

from misspenalty._divide cimport divide

cdef extern from *:
    """
    #define MISSPENALTY_TURN 60000000000LL
    """
    const int64_t TURN "MISSPENALTY_TURN"   # ticks per revolution; also ns per minute

cdef struct track_t:
    int64_t angle                   # angle at which sector 0 begins, ticks, 0 <= angle < TURN
    int32_t cylinder                # number of the track's cylinder; the outermost is 0
    int32_t head                    # surface
    int32_t sectors                 # number of sectors on the track, including spare and slipped ones
    int32_t first                   # index of the track's first run in `by_track`; they end before the next track's
    int64_t width                   # width of a sector, rounded down, ticks
    uint64_t reciprocal             # 2**64 / sectors, rounded up


cdef struct run_t:
    int64_t lbn                     # first block; the run ends before the next run's (a closing entry follows the last)
    int32_t track                   # index of the track that contains the whole run
    int32_t sector                  # sector on the track that holds the run's first block


cdef struct mechanics_t:
    const run_t* runs               # runs in order of lbn
    const int32_t* buckets          # run of the first block of each bucket
    const track_t* tracks           # tracks by cylinder, then in the order of their blocks
    const int32_t* by_track         # runs by (track, sector)
    const int64_t* seeks            # time of a seek by distance in cylinders, ns; [0] = 0
    int64_t blocks                  # number of blocks of the drive; valid lbns are below this number
    int64_t rpm                     # revolutions per minute; ticks per ns
    int64_t head_switch             # time of a head switch, ns
    int64_t write_settle            # additional time to reposition for a write rather than a read, ns; may be negative
    int64_t revolution              # time of a revolution, rounded up, ns
    uint64_t reciprocal             # 2**64 / rpm + 1
    int32_t shift                   # log2 of the number of blocks per bucket
    int32_t tracks_n                # number of tracks, without the closing entry
    int32_t cylinders


cdef struct place_t:
    int64_t angle                   # angle at which the block begins, ticks
    int32_t track
    int32_t sector                  # number of the sector on its track
    int32_t cylinder


cdef struct parts_t:
    int64_t seek                    # time of arm movement before the first sector, ns
    int64_t rotation                # waiting time for the first sector, ns
    int64_t switches                # time between tracks, ns: head and cylinder switches, skew, remapped sectors
    int64_t transfer                # time of sectors (and slipped ones between them) passing under the head, ns


cdef inline int32_t find_run(const mechanics_t* m, int64_t lbn) noexcept nogil:
    """Return the run that holds a valid lbn."""
    cdef int32_t run = m.buckets[lbn >> m.shift]
    while m.runs[run + 1].lbn <= lbn:
        run += 1
    return run


cdef inline int64_t sector_angle(const track_t* track, int64_t sector) noexcept nogil:
    """Return the ticks from the track's angle to the start of a sector, whose number is below 2 * sectors."""
    # TURN = width * sectors + rest; sector * rest < 2 * sectors ** 2 fits in 32 bits, as no track has 2**15 sectors.
    cdef int64_t rest = TURN - track.width * track.sectors
    return sector * track.width + divide(sector * rest + track.sectors - 1, track.reciprocal)


cdef inline int64_t ceil_ns(const mechanics_t* m, int64_t ticks) noexcept nogil:
    """Return the time in which the platter turns by `ticks`, rounded up, ns."""
    return divide(ticks + m.rpm - 1, m.reciprocal)


cdef inline int64_t angle_of(const track_t* track, int32_t sector) noexcept nogil:
    """Return the angle at which a sector begins, ticks, below TURN."""
    cdef int64_t angle = track.angle + sector_angle(track, sector)
    return angle - TURN if angle >= TURN else angle


cdef inline void locate(const mechanics_t* m, int64_t lbn, place_t* place) noexcept nogil:
    """Fill in the place of a valid lbn."""
    cdef const run_t* r = &m.runs[find_run(m, lbn)]
    cdef const track_t* track = &m.tracks[r.track]
    place.track = r.track
    place.sector = r.sector + <int32_t>(lbn - r.lbn)
    place.cylinder = track.cylinder
    place.angle = angle_of(track, place.sector)


cdef inline int64_t lbn_at(const mechanics_t* m, int32_t track, int32_t sector) noexcept nogil:
    """Return the block of a sector, or -1 if it holds none (it is spare, slipped, remapped or unused)."""
    cdef int32_t i, run
    for i in range(m.tracks[track].first, m.tracks[track + 1].first):
        run = m.by_track[i]
        if m.runs[run].sector <= sector < m.runs[run].sector + m.runs[run + 1].lbn - m.runs[run].lbn:
            return m.runs[run].lbn + sector - m.runs[run].sector
    return -1


cdef inline int64_t phase(const mechanics_t* m, int64_t now) noexcept nogil:
    """Return the angle under the heads at a time >= 0, ticks."""
    return (now % TURN) * m.rpm % TURN


cdef inline int64_t behind(int64_t angle, int64_t from_angle) noexcept nogil:
    """Return how far the platter turns from `from_angle` until `angle` passes under the head, ticks."""
    cdef int64_t ticks = angle - from_angle
    return ticks + TURN if ticks < 0 else ticks


cdef inline int64_t rotation(const mechanics_t* m, int64_t now, int64_t angle) noexcept nogil:
    """Return the time until an angle next passes under the head, ns; 0 if the angle passed within the current ns."""
    cdef int64_t late = behind(phase(m, now), angle)
    return 0 if late < m.rpm else ceil_ns(m, TURN - late)


cdef inline int64_t meet(
    const mechanics_t* m, int32_t track, int32_t sector, int64_t now, int64_t* late
) noexcept nogil:
    """Return the time at which a sector next begins at or after `now`.

    `late` is set to the number of ticks (fewer than rpm) by which the time returned is behind the boundary.
    """
    cdef int64_t missed = behind(phase(m, now), angle_of(&m.tracks[track], sector))
    cdef int64_t wait
    if missed < m.rpm:
        late[0] = missed
        return now
    wait = ceil_ns(m, TURN - missed)
    late[0] = wait * m.rpm - (TURN - missed)
    return now + wait


cdef inline int64_t passed(
    const mechanics_t* m, int32_t track, int32_t sector, int64_t count, int64_t start, int64_t late
) noexcept nogil:
    """Return the time at which `count` sectors have passed; `meet` returned `start` and `late` for the first one."""
    cdef const track_t* t = &m.tracks[track]
    return start + ceil_ns(m, sector_angle(t, sector + count) - sector_angle(t, sector) - late)


cdef inline int32_t next_sector(const mechanics_t* m, int32_t track, int64_t now) noexcept nogil:
    """Return the sector that begins next at or after `now`; a result equal to the number of sectors means sector 0."""
    cdef int64_t gone = behind(phase(m, now), m.tracks[track].angle) - m.rpm
    return <int32_t>(gone * m.tracks[track].sectors // TURN) + 1 if gone >= 0 else 0


cdef inline int64_t move_arm(const mechanics_t* m, int32_t distance, bint switched, bint write) noexcept nogil:
    """Return the time to bring a head onto another track: the longer of seek and switch, plus a write's settling."""
    cdef int64_t time = m.seeks[-distance if distance < 0 else distance]
    if switched and time < m.head_switch:
        time = m.head_switch
    if write and time > 0:
        time += m.write_settle
    return time if time > 0 else 0


cdef inline int64_t reposition(const mechanics_t* m, int32_t from_track, int32_t to_track, bint write) noexcept nogil:
    """Return the time to move from one track to another; 0 if they are the same."""
    cdef const track_t* a = &m.tracks[from_track]
    cdef const track_t* b = &m.tracks[to_track]
    return move_arm(m, b.cylinder - a.cylinder, a.head != b.head, write)


cdef inline int64_t pass_sectors(
    const mechanics_t* m, int32_t track, int32_t sector, int64_t count, int64_t now
) noexcept nogil:
    """Return the time at which `count` sectors of a track have passed; the first begins after a wait of `rotation`."""
    cdef const track_t* t = &m.tracks[track]
    cdef int64_t begin = sector_angle(t, sector)
    cdef int64_t width = sector_angle(t, sector + count) - begin
    cdef int64_t start = t.angle + begin
    cdef int64_t late = behind(phase(m, now), start - TURN if start >= TURN else start)
    return now + ceil_ns(m, width - late)


cdef class Mechanics:
    cdef mechanics_t m              # its pointers refer to `arrays`
    cdef readonly object arrays     # the NumPy arrays that `m` points to; they are never changed
    cdef int check(self, int64_t lbn, int64_t count) except -1
