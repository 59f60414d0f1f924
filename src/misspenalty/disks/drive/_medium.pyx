"""Read, write and read ahead as the medium passes under a drive's heads; _medium.pxd explains each function."""

from libc.stdint cimport int32_t, int64_t

from misspenalty.disks.drive._mechanics cimport (
    TURN, ceil_ns, find_run, mechanics_t, meet, next_sector, parts_t, passed, reposition, sector_angle,
)
from misspenalty.disks.drive._state cimport (
    NO_AHEAD, TO_CYLINDER_END, TO_NEXT_TRACK_END, TO_TRACK_END, drive_t, segment_t,
)


# ---------------------------------------------------------------------------------------------------- read-ahead


cdef int64_t track_end(const mechanics_t* m, int32_t run) noexcept nogil:
    """Return the block after the last one of a run's track, in block order."""
    cdef int32_t track = m.runs[run].track
    while m.runs[run + 1].lbn < m.blocks and m.runs[run + 1].track == track:
        run += 1
    return m.runs[run + 1].lbn


cdef int64_t ahead_limit(drive_t* d, const segment_t* segment, int64_t lbn, int64_t count) noexcept nogil:
    """Return the block before which read-ahead after this request ends."""
    cdef const mechanics_t* m = d.m
    cdef int64_t end = lbn + count, limit = end if d.s.ahead_after else lbn
    cdef int32_t run, track
    limit = min(max(limit + d.s.ahead_most, end), m.blocks)
    if d.s.ahead == NO_AHEAD or end == m.blocks:
        return end
    if d.s.ahead == TO_TRACK_END:
        return min(limit, track_end(m, find_run(m, end - 1)))
    if d.s.ahead == TO_CYLINDER_END:
        run = find_run(m, end - 1)
        track = m.runs[run].track
        while m.runs[run + 1].lbn < m.blocks and (
            m.tracks[m.runs[run + 1].track].cylinder == m.tracks[track].cylinder
        ):
            run += 1
        return min(limit, m.runs[run + 1].lbn)
    if d.s.ahead == TO_NEXT_TRACK_END:
        run = find_run(m, end)
        track = m.runs[run].track
        limit = track_end(m, run)
        if segment.first < m.runs[m.by_track[m.tracks[track].first]].lbn:
            limit += m.tracks[m.runs[find_run(m, lbn)].track if d.s.disksim else track].sectors
        return min(limit, m.blocks)
    return limit


cdef int64_t read_until(drive_t* d, int64_t until, int64_t target) noexcept nogil:
    """Run read-ahead until `until`, or until it has read the blocks below `target`.

    Return the time at which its last block ended.
    Update the segment's end, the arm's track and the next block, but only for sectors that ended by `until`.
    """
    cdef segment_t* segment = &d.segments[d.ahead]
    cdef const mechanics_t* m = d.m
    cdef int64_t stop = min(segment.limit, target)
    cdef int64_t n, start, end, late
    cdef int32_t run, sector, track
    if d.ahead_lbn >= stop:
        return d.ahead_time
    run = find_run(m, d.ahead_lbn)
    while d.ahead_lbn < stop and d.ahead_time < until:
        track = m.runs[run].track
        sector = m.runs[run].sector + <int32_t>(d.ahead_lbn - m.runs[run].lbn)
        n = min(stop, m.runs[run + 1].lbn) - d.ahead_lbn
        start = d.ahead_time + reposition(m, d.track, track, False)
        if start > until and track != d.track:
            break
        start = meet(m, track, sector, start, &late)
        end = passed(m, track, sector, n, start, late)
        if end > until:
            # Compute the number of sectors that have passed, or one more; the loop below corrects it.
            n = min(n, ((until - start) * m.rpm + late) * m.tracks[track].sectors // TURN + 1) if until > start else 0
            while n > 0 and passed(m, track, sector, n, start, late) > until:
                n -= 1
            if n == 0:
                break
            end = passed(m, track, sector, n, start, late)
        d.track = track
        d.ahead_time = end
        d.ahead_lbn += n
        if d.ahead_lbn == m.runs[run + 1].lbn:
            run += 1
    segment.end = d.ahead_lbn
    segment.first = max(segment.first, segment.end - d.s.segment)
    return d.ahead_time


cdef void end_ahead(drive_t* d) noexcept nogil:
    """End read-ahead if it has reached its limit."""
    if d.ahead_lbn >= d.segments[d.ahead].limit:
        d.arm_free = max(d.arm_free, d.ahead_time)
        d.ahead = -1


cdef int64_t arm_stopped(const drive_t* d, int64_t now, int32_t* track) noexcept nogil:
    """Return the time at which the arm can move if read-ahead stops at `now`; set `track` to the arm's track then.

    Call `settle` first.
    An arm on its way to the next track arrives first; a sector under the head is read to its end if the drive does not
    stop within sectors.
    """
    cdef int32_t run, sector
    cdef int64_t start, late
    track[0] = d.track
    if d.ahead < 0 or d.ahead_lbn >= d.segments[d.ahead].limit or now <= d.ahead_time:
        return d.arm_free
    run = find_run(d.m, d.ahead_lbn)
    if d.m.runs[run].track != d.track:
        track[0] = d.m.runs[run].track
        return max(d.arm_free, d.ahead_time + reposition(d.m, d.track, track[0], False))
    if d.s.stop_in_sector:
        return d.arm_free
    sector = d.m.runs[run].sector + <int32_t>(d.ahead_lbn - d.m.runs[run].lbn)
    start = meet(d.m, d.track, sector, d.ahead_time, &late)
    return max(d.arm_free, passed(d.m, d.track, sector, 1, start, late))


cdef void stop_ahead(drive_t* d, int64_t now) noexcept nogil:
    """Stop reading ahead, and set arm_free to the time at which the arm can move. Call `settle` first."""
    cdef int32_t track
    cdef int64_t released
    if d.ahead < 0:
        return
    released = arm_stopped(d, now, &track)
    if track == d.track and released > d.arm_free:
        read_until(d, released, d.ahead_lbn + 1)    # the sector that is read to its end is kept
    d.arm_free = released
    d.track = track
    d.ahead = -1


cdef void extend_ahead(const drive_t* d, segment_t* segment, int64_t limit) noexcept nogil:
    """Let read-ahead into this segment continue up to `limit`."""
    segment.limit = max(segment.limit, limit)
    if d.s.drop_requested:
        segment.first = min(max(segment.first, segment.limit - d.s.segment), segment.end)


cdef void start_ahead(drive_t* d, int64_t chosen, int64_t limit, int64_t when) noexcept nogil:
    """Read ahead from a segment's end, starting at `when`."""
    d.segments[chosen].limit = limit
    extend_ahead(d, &d.segments[chosen], limit)
    if d.segments[chosen].end < limit:
        d.ahead = <int32_t>chosen
        d.ahead_lbn = d.segments[chosen].end
        d.ahead_time = when


# ------------------------------------------------------------------------------------------------ reads and writes


cdef int64_t read_medium(
    drive_t* d, int64_t now, int64_t lbn, int64_t from_index, int64_t count, parts_t* parts, flow_t* flow, int64_t* first
) noexcept nogil:
    """Read the blocks lbn + from_index to lbn + count - 1; return the time at which the last has passed.

    If the drive keeps blocks that pass before the first one, `first` is set to the first block kept.
    """
    cdef const mechanics_t* m = d.m
    cdef int64_t index = from_index, n, s, land, start, end, late
    cdef int32_t run = find_run(m, lbn + index), sector, next_one, track
    cdef bint opening = True
    while index < count:
        track = m.runs[run].track
        sector = m.runs[run].sector + <int32_t>(lbn + index - m.runs[run].lbn)
        n = min(count, m.runs[run + 1].lbn - lbn) - index
        land = now + reposition(m, d.track, track, False)
        next_one = -1
        if d.s.any_order_read or d.s.free_blocks:
            next_one = next_sector(m, track, land)
        if opening and d.s.free_blocks and m.runs[run].sector < next_one < sector:
            first[0] = lbn + next_one - sector
        if d.s.any_order_read and sector < next_one < sector + n:
            # The arm lands among the requested sectors: it reads those ahead of it first, the others a revolution
            # later.
            start = meet(m, track, next_one, land, &late)
            end = passed(m, track, next_one, m.tracks[track].sectors, start, late)
            s = m.tracks[track].sectors - (next_one - sector) + 1
            follow(flow, index, count, passed(m, track, next_one, s, start, late))
            follow(flow, index + next_one - sector - 1, count, end)
            if index < flow.water <= index + n:
                # Blocks cross the bus in order, so the drive requests the bus once the first `water` blocks have been
                # read.
                s += min(flow.water - index, <int64_t>(next_one - sector)) - 1
                flow.ready = passed(m, track, next_one, s, start, late)
            start = max(land, end - ceil_ns(m, sector_angle(&m.tracks[track], n)))
        else:
            start = meet(m, track, sector, land, &late)
            end = passed(m, track, sector, n, start, late)
            follow(flow, index, count, passed(m, track, sector, 1, start, late))
            follow(flow, index + n - 1, count, end)
            if index < flow.water <= index + n:
                flow.ready = passed(m, track, sector, flow.water - index, start, late)
        if opening:
            parts.seek += land - now
            parts.rotation += start - land
        elif track == d.track:              # time in which slipped sectors pass
            parts.transfer += start - now
        else:
            parts.switches += start - now
        parts.transfer += end - start
        opening = False
        d.track = track
        now = end
        index += n
        run += 1
    return now


cdef int64_t write_medium(
    drive_t* d, int64_t now, int64_t lbn, int64_t count, int64_t bus_start, parts_t* parts, int64_t* waited
) noexcept nogil:
    """Write blocks whose data crosses the bus from `bus_start` on; return the time at which the last has passed.

    If a sector passes before its data has arrived, it is written a revolution later; the wait is added to `waited`, ns.
    """
    cdef const mechanics_t* m = d.m
    cdef int64_t index = 0, n, land, start, end, late, there
    cdef int64_t lead = min(count, d.s.head_start if count < d.s.long_write else d.s.long_head_start)
    cdef int32_t run = find_run(m, lbn), sector, next_one, track
    cdef bint opening = True
    lead = max(lead, min(count, d.s.segment) * d.s.write_water // 1000)
    while index < count:
        track = m.runs[run].track
        sector = m.runs[run].sector + <int32_t>(lbn + index - m.runs[run].lbn)
        n = min(count, m.runs[run + 1].lbn - lbn) - index
        land = reposition(m, d.track, track, True)
        if opening and land < d.s.least_seek:
            land = d.s.least_seek
        land += now
        next_one = next_sector(m, track, land) if d.s.any_order_write else -1
        if sector < next_one < sector + n and bus_start + max(index + n, lead) * d.s.write_block <= land:
            # The arm lands among the sectors to write, and all their data and the head start have arrived: it writes
            # the sectors ahead of it first, the others a revolution later.
            start = meet(m, track, next_one, land, &late)
            end = passed(m, track, next_one, m.tracks[track].sectors, start, late)
            start = max(land, end - ceil_ns(m, sector_angle(&m.tracks[track], n)))
            parts.transfer += end - start
        else:
            start = meet(m, track, sector, land, &late)
            there = bus_start + max(index + 1, lead) * d.s.write_block
            end = start
            if there > start:
                end = meet(m, track, sector, there, &late)
                waited[0] += end - start
            n = in_time(d, track, sector, n, end, late, bus_start + index * d.s.write_block)
            there = end
            end = passed(m, track, sector, n, there, late)
            parts.transfer += end - there
        if opening:
            parts.seek += land - now
            parts.rotation += start - land
        elif track == d.track:
            parts.transfer += start - now
        else:
            parts.switches += start - now
        opening = False
        d.track = track
        now = end
        index += n
        if lbn + index == m.runs[run + 1].lbn:
            run += 1
    return now


cdef int64_t in_time(
    drive_t* d, int32_t track, int32_t sector, int64_t n, int64_t start, int64_t late, int64_t bus_start
) noexcept nogil:
    """Return how many of n sectors, counted from the first, have their data when they pass; the first must have it."""
    cdef int64_t low = 1, high = n, middle
    if bus_start + n * d.s.write_block <= passed(d.m, track, sector, n - 1, start, late):
        return n
    while high - low > 1:                   # the number of sectors in time is at least low and less than high
        middle = (low + high) // 2
        if bus_start + middle * d.s.write_block <= passed(d.m, track, sector, middle - 1, start, late):
            low = middle
        else:
            high = middle
    return low
