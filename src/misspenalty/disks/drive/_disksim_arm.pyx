"""Read ahead, and read and write the medium, as DiskSim does; _disksim_arm.pxd explains each function."""

from libc.stdint cimport int32_t, int64_t

from misspenalty.disks.drive._mechanics cimport (
    TURN, find_run, lbn_at, mechanics_t, meet, next_sector, parts_t, reposition, run_t,
)
from misspenalty.disks.drive._medium cimport extend_ahead, flow_t, read_medium
from misspenalty.disks.drive._state cimport TO_TRACK_END, behind_t, drive_t, segment_t, sweep_t

cdef inline int64_t swept_ns(int64_t parts, int64_t rpm) noexcept nogil:
    """Return the time in which a platter at `rpm` turns by `parts` times 2^-20 of a revolution, ns."""
    return (parts // rpm * TURN + parts % rpm * TURN // rpm) >> 20


cdef inline int64_t passes(const mechanics_t* m, const sweep_t* sweep, int64_t j) noexcept nogil:
    """Return the time at which the `j`-th sector after the first begins.

    Each lasts a multiple of 2^-20 of a revolution (dm_rottime_g1).
    """
    return sweep.start + swept_ns(j * ((1 << 20) // sweep.sectors), m.rpm)


cdef inline int64_t lag(const drive_t* d) noexcept nogil:
    """Return the delay of DiskSim's platter, ns: each sector passed adds 2^-24 of a revolution (dm_rotate_g1)."""
    return swept_ns(d.passed, d.m.rpm << 4)


cdef inline void land(const drive_t* d, int32_t track, int32_t sector, int64_t when, sweep_t* sweep) noexcept nogil:
    """Let the arm, which is on the track at `when`, wait for a sector, and begin a sweep there."""
    cdef int64_t late, behind = lag(d)
    sweep.track = track
    sweep.first = sector
    sweep.sectors = d.m.tracks[track].sectors
    sweep.start = meet(d.m, track, sector, max(when - behind, <int64_t>0), &late) + behind


# ---------------------------------------------------------------------------------------------------- read-ahead


cdef bint may_read(const drive_t* d, int64_t block, int64_t now) noexcept nogil:
    """Return whether a block can be read ahead without overwriting one that the last read has yet to send."""
    cdef int64_t gone = d.sending.count
    if now >= d.sending.end:
        return True
    if d.s.read_block:
        gone = min(max(now - d.sending.bus, <int64_t>0) // d.s.read_block, gone)
    return block - d.sending.lbn - gone < d.s.segment


cdef int64_t next_ahead(const drive_t* d, int32_t run, sweep_t* sweep) noexcept nogil:
    """Set the sweep that reaches the next block (in `run`); return how many sectors it passes before the block."""
    cdef const run_t* r = &d.m.runs[run]
    cdef int32_t sector = r.sector + <int32_t>(d.ahead_lbn - r.lbn)
    cdef int64_t j
    if not d.swept or d.sweep.track != r.track:
        land(d, r.track, sector, d.ahead_time + reposition(d.m, d.track, r.track, False), sweep)
        return 0
    sweep[0] = d.sweep
    j = sector - sweep.first
    if j < 0:
        j += sweep.sectors
    while j < d.swept:
        j += sweep.sectors
    return j


cdef int64_t ahead_run(drive_t* d, int64_t until, int64_t target) noexcept nogil:
    """Run read-ahead until `until`, or until it has read the blocks below `target`.

    Return the time at which the last block ended.
    """
    cdef segment_t* segment = &d.segments[d.ahead]
    cdef const mechanics_t* m = d.m
    cdef int64_t stop = min(segment.limit, target), j, begin, end
    cdef int32_t run
    cdef sweep_t sweep
    cdef bint unread
    if d.ahead_lbn >= stop:
        return d.ahead_time
    run = find_run(m, d.ahead_lbn)
    while d.ahead_lbn < stop:
        j = next_ahead(d, run, &sweep)
        begin = passes(m, &sweep, j)
        end = passes(m, &sweep, j + 1)
        unread = begin <= until and not may_read(d, d.ahead_lbn, begin)
        if end > until and not unread:
            break
        d.passed += j + 1 - (d.swept if d.swept and d.sweep.track == sweep.track else 0)
        d.track = sweep.track
        d.sweep = sweep
        d.swept = j + 1
        if unread:                          # let the sector pass; it is read a revolution later
            continue
        d.ahead_time = end
        d.ahead_lbn += 1
        segment.end = d.ahead_lbn
        segment.first = max(segment.first, segment.end - d.s.segment)
        if d.ahead_lbn == m.runs[run + 1].lbn:
            run += 1
    return d.ahead_time


cdef int64_t disksim_stopped(const drive_t* d, int64_t now, int32_t* track) noexcept nogil:
    """Return the time at which the arm can move if read-ahead stops at `now`; set `track` to the arm's track then."""
    cdef int64_t free, j
    cdef sweep_t sweep
    track[0] = d.track
    if d.ahead < 0 or d.ahead_lbn >= d.segments[d.ahead].limit:
        return d.arm_free
    next_ahead(d, find_run(d.m, d.ahead_lbn), &sweep)
    track[0] = sweep.track
    free = d.ahead_time + reposition(d.m, d.track, sweep.track, False)      # the arm arrives at this time
    if (d.swept and d.sweep.track == sweep.track) or now >= free:
        free = now
        if not d.s.stop_in_sector:          # the arm reads the sector under the head to its end
            j = 0
            if now > sweep.start:
                j = (now - sweep.start) * d.m.rpm // TURN * sweep.sectors
            while passes(d.m, &sweep, j) < now:
                j += 1
            free = passes(d.m, &sweep, j)
    return max(d.arm_free, free)


cdef int64_t stop(drive_t* d, int64_t now) noexcept nogil:
    """Stop reading ahead; return the time until the arm is free, which DiskSim adds to the command's time."""
    cdef int32_t track
    if d.ahead >= 0:
        d.arm_free = disksim_stopped(d, now, &track)
        d.track = track
    d.ahead = -1
    return max(d.arm_free - now, <int64_t>0)


cdef void start(drive_t* d, int32_t chosen, int64_t limit, int64_t when) noexcept nogil:
    """Read ahead from a segment's end, starting at `when`.

    A drive that reads ahead to the end of the track starts only if the next block is on the arm's track.
    """
    cdef segment_t* segment = &d.segments[chosen]
    extend_ahead(d, segment, limit)
    if segment.end >= segment.limit:
        return
    if d.s.ahead == TO_TRACK_END and d.m.runs[find_run(d.m, segment.end)].track != d.track:
        return
    d.ahead = chosen
    d.ahead_lbn = segment.end
    d.ahead_time = when
    d.swept = 0


# ---------------------------------------------------------------------------------------------------- the medium


cdef int64_t there(const drive_t* d, int64_t block, const behind_t* on, const behind_t* more) noexcept nogil:
    """Return the time at which a block's data is in the buffer."""
    cdef const behind_t* of = on if block < on.lbn + on.count else more
    cdef int64_t lead = min(of.count, d.s.head_start if of.count < d.s.long_write else d.s.long_head_start)
    lead = max(lead, min(of.count, d.s.segment) * d.s.write_water // 1000)
    return of.bus + max(block - of.lbn + 1, lead) * d.s.write_block


cdef int64_t write_blocks(
    drive_t* d, const behind_t* on, const behind_t* more, int64_t until, int64_t* done, parts_t* parts
) noexcept nogil:
    """Write the blocks of request `on`, then those of the appended request, `more` (or NULL).

    Stop before a block of `more` that has not arrived. Return the time at which writing ends. `done` is set to the
    number of blocks written by `until`.
    """
    cdef const mechanics_t* m = d.m
    cdef int64_t now = on.begin, block = on.lbn, own = on.lbn + on.count, end = own, from_sector = -1, to_sector = -1, j, next_one
    cdef int64_t there_at, here, was
    cdef int32_t run, sector, come, track
    cdef sweep_t sweep
    cdef bint opening = True
    if more != NULL:
        end = more.lbn + more.count
    d.track = on.track
    done[0] = 0
    while block < end and not (block >= own and there(d, block, on, more) > now):
        run = find_run(m, block)
        track = m.runs[run].track
        sector = m.runs[run].sector + <int32_t>(block - m.runs[run].lbn)
        there_at = reposition(m, d.track, track, True)
        if opening and there_at < d.s.least_seek:
            there_at = d.s.least_seek
        there_at += now
        if d.s.any_order_write:
            come = next_sector(m, track, there_at)
            if sector < come <= last_sector(m, track):
                sector = come
        land(d, track, sector, there_at, &sweep)
        if opening:
            parts.seek = there_at - now
            parts.rotation = sweep.start - there_at
        opening = False
        d.track = sweep.track
        from_sector = to_sector = -1        # range of later blocks that have been written as they passed
        j = 0
        while block < end and m.runs[run].track == sweep.track:
            was = block
            if d.s.any_order_write:
                here = lbn_at(m, sweep.track, <int32_t>((sweep.first + j) % sweep.sectors))
                j += 1
                if not (block <= here < end and there(d, here, on, more) <= passes(m, &sweep, j - 1)):
                    continue
                if here == block:
                    block += 1
                    if block == from_sector:
                        block = to_sector
                        from_sector = to_sector = -1
                elif to_sector >= 0 and here == to_sector:
                    to_sector += 1
                elif to_sector < 0 or here > to_sector:
                    from_sector = here
                    to_sector = here + 1
            else:
                next_one = m.runs[run].sector + block - m.runs[run].lbn - sweep.first
                if next_one < 0:
                    next_one += sweep.sectors
                while next_one < j or passes(m, &sweep, next_one) < there(d, block, on, more):
                    next_one += sweep.sectors
                j = next_one + 1
                block += 1
            if block == was:
                continue
            now = passes(m, &sweep, j)
            if now <= until:
                done[0] = block - on.lbn
            while block >= m.runs[run + 1].lbn and block < m.blocks:
                run += 1
            if block >= own and block < end and there(d, block, on, more) > now:
                break
    parts.transfer = now - on.begin - parts.seek - parts.rotation
    return now


cdef int32_t last_sector(const mechanics_t* m, int32_t track) noexcept nogil:
    """Return the number of a track's last sector that holds a block."""
    cdef int32_t run = m.by_track[m.tracks[track + 1].first - 1]
    return m.runs[run].sector + <int32_t>(m.runs[run + 1].lbn - m.runs[run].lbn) - 1


cdef int64_t off_medium(
    drive_t* d, int64_t arm, int64_t lbn, int64_t here, int64_t count, parts_t* parts, flow_t* flow
) noexcept nogil:
    """Read a request's blocks except the first `here`; return the time at which the last one has passed."""
    cdef int64_t behind = min(lag(d), arm), first = lbn, medium
    d.passed += count - here
    medium = read_medium(d, arm - behind, lbn, here, count, parts, flow, &first) + behind
    flow.ready += behind
    flow.done += behind
    return medium
