"""Serve requests on a drive whose buffer works like DiskSim 4.0's; `reference.drive_disksim` is easier to read."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from misspenalty.disks.drive._disksim_arm cimport ahead_run, off_medium, start, stop, write_blocks
from misspenalty.disks.drive._mechanics cimport parts_t
from misspenalty.disks.drive._medium cimport ahead_limit, end_ahead, extend_ahead, flow_t
from misspenalty.disks.drive._state cimport (
    BUFFERED, MISS, NEVER, PARTIAL_HIT, WHOLE_HIT, behind_t, drive_t, record_t, segment_t,
)


# ------------------------------------------------------------------------------------------------------ segments


cdef bint before(const drive_t* d, int32_t i, int32_t best) noexcept nogil:
    """Return whether segment `i` was used longer ago than segment `best`, or there is no `best` yet (-1)."""
    return best < 0 or d.segments[i].used < d.segments[best].used


cdef int32_t for_read(drive_t* d, int64_t lbn, int64_t count, int32_t* hit) noexcept nogil:
    """Choose the segment for a read.

    On a drive with caching, `hit` is set to WHOLE_HIT if the segment has all blocks, to PARTIAL_HIT if it has only the
    first ones or, with almost hits allowed, if the first block is the next to be read ahead. Otherwise it is MISS.
    """
    cdef int32_t i, value, kind, best = 0, chosen = -1
    cdef const segment_t* g
    hit[0] = MISS
    for i in range(d.s.segments):
        g = &d.segments[i]
        kind = MISS
        if g.first == g.end:
            value = 3
        elif d.s.caching and g.first <= lbn < g.end:
            kind = WHOLE_HIT if g.end >= lbn + count else PARTIAL_HIT
            value = (9 if i == d.ahead else 8) - (4 if kind == PARTIAL_HIT else 0)
        elif i != d.ahead:
            value = 2
        elif d.s.caching and d.s.almost_hit and g.end == lbn and lbn < g.limit:
            value = 5
            kind = PARTIAL_HIT
        else:
            value = 1
        if value > best or (value == best and before(d, i, chosen)):
            best = value
            chosen = i
            hit[0] = kind
    return chosen


cdef int32_t for_write(const drive_t* d, int64_t lbn, int64_t count) noexcept nogil:
    """Choose the segment for a write; return -1 if the drive is reading ahead into its only segment."""
    cdef int32_t i, value, best = 0, chosen = -1
    cdef const segment_t* g
    for i in range(d.s.segments):
        g = &d.segments[i]
        if i == d.ahead:
            continue
        value = 3 if g.first == g.end else 4 if g.first < lbn + count and g.end > lbn else 2
        if value > best or (value == best and before(d, i, chosen)):
            best = value
            chosen = i
    return chosen


cdef void take(drive_t* d, int32_t chosen, int64_t lbn, int64_t count) noexcept nogil:
    """Fill a segment with a write's blocks; empty all others that hold any, except one that read-ahead is filling."""
    cdef int32_t i
    cdef segment_t* g
    for i in range(d.s.segments):
        g = &d.segments[i]
        if i != chosen and i != d.ahead and g.first < lbn + count and g.end > lbn:
            g.first = g.end
    g = &d.segments[chosen]
    g.end = g.limit = lbn + count
    g.first = max(lbn, g.end - d.s.segment)
    g.used = d.requests
    g.clean = 0


cdef void written(drive_t* d) noexcept nogil:
    """Mark the segments written behind as clean, and empty them if the drive cannot read written blocks."""
    cdef int32_t i
    d.dirty_until = 0
    for i in range(d.s.segments):
        if d.segments[i].clean:
            d.segments[i].clean = 0
            if not d.s.read_written:
                d.segments[i].first = d.segments[i].end


cdef void keep(const drive_t* d, segment_t* segment, int64_t end) noexcept nogil:
    segment.end = end
    segment.first = max(segment.first, end - d.s.segment)


# ------------------------------------------------------------------------------------------------------- service


cdef void disksim_settle(drive_t* d, int64_t now) noexcept nogil:
    if d.ahead >= 0:
        ahead_run(d, now, NEVER)
        end_ahead(d)
    if d.dirty_until <= now:
        written(d)


cdef int64_t go_on(
    drive_t* d, int32_t chosen, int64_t limit, int64_t medium, int64_t end, int64_t lbn, int64_t count
) noexcept nogil:
    """Start read-ahead when a read has finished on the medium; return `end`, the time when the read leaves the bus."""
    d.arm_free = medium
    sends(d, lbn, count, end)
    start(d, chosen, limit, medium)
    return end


cdef void sends(drive_t* d, int64_t lbn, int64_t count, int64_t end) noexcept nogil:
    d.sending.lbn = lbn
    d.sending.count = count
    d.sending.bus = end - count * d.s.read_block
    d.sending.end = end


cdef int64_t read(drive_t* d, int64_t now, int64_t free, int64_t lbn, int64_t count, parts_t* parts, int32_t* hit) noexcept nogil:
    """Serve a read; return the time at which its last block has left the bus.

    `free` is the time at which the arm has finished writing behind, or `now` if it is not writing.
    """
    cdef int64_t go = now + d.s.read_miss[d.after_read], late = 0, block, begin, limit, here, end, medium, arm
    cdef int64_t off = max(free, go + d.s.read_disconnect[d.after_read]) + d.s.reselect + d.s.prepare
    cdef int32_t chosen, reading
    cdef segment_t* g
    cdef flow_t flow
    flow.block = d.s.read_block
    flow.water = max(<int64_t>1, min(count, d.s.segment) * d.s.read_water // 1000)
    flow.ready = flow.done = 0
    if free > now:
        written(d)
    chosen = for_read(d, lbn, count, hit)
    g = &d.segments[chosen]
    reading = d.ahead
    g.used = d.requests
    if hit[0] == MISS or chosen != reading:
        late = stop(d, now)
    arm = max(free, go) if free > now else go + late
    if hit[0] == MISS:
        g.first = g.end = g.limit = lbn
        limit = ahead_limit(d, g, lbn, count)
        medium = off_medium(d, arm, lbn, 0, count, parts, &flow)
        keep(d, g, lbn + count)
        end = max(max(flow.ready + d.s.reselect + d.s.prepare, off) + count * d.s.read_block, flow.done)
        return go_on(d, chosen, limit, medium, end, lbn, count)
    begin = off if free > now else now + d.s.read_hit[d.after_read] + d.s.prepare
    limit = max(g.limit, ahead_limit(d, g, lbn, count))
    here = min(g.end, lbn + count) - lbn
    end = begin + count * d.s.read_block
    if hit[0] == PARTIAL_HIT and chosen != reading:
        medium = off_medium(d, arm, lbn, here, count, parts, &flow)
        keep(d, g, lbn + count)
        return go_on(d, chosen, limit, medium, max(end, flow.done), lbn, count)
    if chosen == reading:
        extend_ahead(d, g, limit)
    else:
        g.limit = limit
    if hit[0] == PARTIAL_HIT:
        d.sending.end = 0
        for block in range(lbn + here, lbn + count):
            end = max(end, ahead_run(d, NEVER, block + 1) + (lbn + count - block) * d.s.read_block)
    sends(d, lbn, count, end)
    if hit[0] == PARTIAL_HIT:
        end_ahead(d)
    elif chosen != reading and d.s.ahead_on_hit:
        start(d, chosen, limit, arm)
    return end


cdef void plan(drive_t* d) noexcept nogil:
    """Compute when the blocks written behind will be on the medium; an appended write is written twice."""
    cdef parts_t parts
    cdef int64_t done
    memset(&parts, 0, sizeof(parts))
    d.behind[0].end = write_blocks(d, &d.behind[0], &d.behind[1] if d.behinds > 1 else NULL, NEVER, &done, &parts)
    if d.behinds > 1:
        d.behind[1].begin = max(d.behind[0].end, d.behind[1].arm)
        d.behind[1].track = d.track
        d.behind[1].end = write_blocks(d, &d.behind[1], NULL, NEVER, &done, &parts)
    d.arm_free = d.dirty_until = d.behind[d.behinds - 1].end


cdef bint appends(drive_t* d, int64_t now, int64_t lbn) noexcept nogil:
    """Return whether a write continues the only write in progress, and the segment of that write still has room."""
    cdef int32_t track = d.track
    cdef int64_t done
    cdef parts_t parts
    if d.behinds != 1 or d.behind[0].lbn + d.behind[0].count != lbn:
        return False
    memset(&parts, 0, sizeof(parts))
    write_blocks(d, &d.behind[0], NULL, now, &done, &parts)
    d.track = track
    return d.s.segment > lbn - d.behind[0].lbn - done


cdef int32_t room_for_write(
    drive_t* d, int64_t now, int64_t free, int64_t off, int64_t lbn, int64_t count, int64_t* begin, int64_t* late
) noexcept nogil:
    """Choose the segment of a new write, fill it with the write's blocks, and stop read-ahead.

    If the write must wait, `begin`, the start of its bus transfer, is set to `off`. `late` is set to the time until the
    arm is free.
    """
    cdef int32_t chosen
    late[0] = 0
    if free > now:
        written(d)
        begin[0] = off
    chosen = for_write(d, lbn, count)
    if chosen < 0:
        late[0] = stop(d, now)
        begin[0] = off
        chosen = for_write(d, lbn, count)
    take(d, chosen, lbn, count)
    late[0] = max(late[0], stop(d, now))
    return chosen


cdef int64_t write_behind(drive_t* d, int64_t now, int64_t free, int64_t lbn, int64_t count) noexcept nogil:
    """Serve a write that is complete once it is in the buffer; return the time at which its data has arrived."""
    cdef int64_t go = now + d.s.write_hit[d.after_read], late, first, begin = go + d.s.prepare
    cdef int64_t off = max(free, go + d.s.write_disconnect) + d.s.reselect + d.s.prepare
    cdef int32_t chosen
    cdef behind_t* on
    if d.behinds and d.behind[0].end <= now:
        d.behinds -= 1
        d.behind[0] = d.behind[1]
    if free > now and appends(d, now, lbn):
        chosen = 0
        while not d.segments[chosen].clean:
            chosen += 1
        on = &d.behind[1]
        on.lbn, on.count, on.bus, on.arm = lbn, count, begin, go
        d.behinds = 2
        plan(d)
        first = d.segments[chosen].first
        take(d, chosen, lbn, count)
        d.segments[chosen].first = max(first, lbn + count - d.s.segment)
        d.segments[chosen].clean = d.arm_free
        return begin + count * d.s.write_block
    chosen = room_for_write(d, now, free, off, lbn, count, &begin, &late)
    on = &d.behind[0]
    on.lbn, on.count, on.bus = lbn, count, begin
    on.arm = on.begin = max(free, go) if free > now else go + late
    on.track = d.track
    d.behinds = 1
    plan(d)
    d.segments[chosen].clean = d.arm_free
    return begin + count * d.s.write_block


cdef int64_t write_through(drive_t* d, int64_t now, int64_t free, int64_t lbn, int64_t count, parts_t* parts) noexcept nogil:
    """Serve a write that is complete once it is on the medium.

    Return the time at which the drive has taken up the bus again to report completion.
    """
    cdef int64_t go = now + d.s.write_miss[d.after_read], late, begin = go + d.s.prepare, done
    cdef int64_t off = max(free, go) + d.s.reselect + d.s.prepare
    cdef int32_t chosen
    cdef behind_t* on = &d.behind[0]
    chosen = room_for_write(d, now, free, off, lbn, count, &begin, &late)
    on.lbn, on.count, on.bus, on.track = lbn, count, begin, d.track
    on.begin = max(free, go) if free > now else go + late
    d.behinds = 0
    d.arm_free = write_blocks(d, on, NULL, NEVER, &done, parts)
    if not d.s.read_written:
        d.segments[chosen].first = d.segments[chosen].end
    return max(begin + count * d.s.write_block + d.s.write_disconnect, d.arm_free) + d.s.reselect


cdef int64_t disksim_service(drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, record_t* r) noexcept nogil:
    cdef int64_t free, end, left
    cdef int32_t hit = MISS
    cdef parts_t parts
    memset(&parts, 0, sizeof(parts))
    disksim_settle(d, now)
    free = max(d.dirty_until, now)
    if not write:
        end = read(d, now, free, lbn, count, &parts, &hit)
    elif d.s.fast_write and count <= d.s.segment:
        end = write_behind(d, now, free, lbn, count)
        hit = BUFFERED
    else:
        end = write_through(d, now, free, lbn, count, &parts)
    r.hit = hit
    r.seek, r.rotation, r.switches, r.transfer = parts.seek, parts.rotation, parts.switches, parts.transfer
    if write:
        d.passed += count
    left = end - now - r.seek - r.rotation - r.switches - r.transfer
    r.bus = min(left, count * (d.s.write_block if write else d.s.read_block))
    r.cache = min(left - r.bus, free - now)
    r.overhead = left - r.bus - r.cache
    return end
