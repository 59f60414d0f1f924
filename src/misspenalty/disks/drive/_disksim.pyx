"""Kernel of a drive whose buffer works as DiskSim 4.0's does; `reference.drive_disksim` reads easier."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from misspenalty.disks.drive._mechanics cimport (
    TURN, find_run, lbn_at, mechanics_t, meet, next_sector, parts_t, reposition, run_t,
)
from misspenalty.disks.drive._medium cimport ahead_limit, end_ahead, extend_ahead, flow_t, read_medium
from misspenalty.disks.drive._state cimport (
    BUFFERED, MISS, NEVER, PARTIAL_HIT, TO_NEXT_TRACK_END, TO_TRACK_END, WHOLE_HIT, behind_t, drive_t, record_t, segment_t,
    sweep_t,
)


cdef extern from *:
    """
    /* time of j sectors, each of so many 2^-20 of a revolution, at n rpm, ns */
    static inline int64_t misspenalty_swept(int64_t j, int64_t width, int64_t rpm) {
        return (int64_t)((unsigned __int128)(j * width) * 60000000000ULL / ((unsigned __int128)rpm << 20));
    }
    """
    int64_t swept_ns "misspenalty_swept" (int64_t j, int64_t width, int64_t rpm) noexcept nogil


cdef inline int64_t passes(const mechanics_t* m, const sweep_t* sweep, int64_t j) noexcept nogil:
    """When sector `j` behind the first begins: DiskSim's sectors are whole 2^-20 of a revolution (dm_rottime_g1)."""
    return sweep.start + swept_ns(j, (1 << 20) // sweep.sectors, m.rpm)


cdef inline int64_t lag(const drive_t* d) noexcept nogil:
    """How far DiskSim's platter is behind: every sector that passes leaves it 2^-24 of a revolution behind (dm_rotate_g1)."""
    return swept_ns(d.passed, 1, d.m.rpm << 4)


cdef inline void land(const drive_t* d, int32_t track, int32_t sector, int64_t when, sweep_t* sweep) noexcept nogil:
    """The arm is there at `when`, and waits for a sector."""
    cdef int64_t late, behind = lag(d)
    sweep.track = track
    sweep.first = sector
    sweep.sectors = d.m.tracks[track].sectors
    sweep.start = meet(d.m, track, sector, max(when - behind, <int64_t>0), &late) + behind


# ---------------------------------------------------------------------------------------------------- read-ahead


cdef bint may_read(const drive_t* d, int64_t block, int64_t now) noexcept nogil:
    """Whether a block read ahead would overwrite none that the last read has yet to send."""
    cdef int64_t gone = d.sending.count
    if now >= d.sending.end:
        return True
    if d.s.read_block:
        gone = min(max(now - d.sending.bus, <int64_t>0) // d.s.read_block, gone)
    return block - d.sending.lbn - gone < d.s.segment


cdef int64_t next_ahead(const drive_t* d, int32_t run, sweep_t* sweep) noexcept nogil:
    """The sweep that the next block, of this run, belongs to, and how far behind its first sector it lies."""
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
    """Let the read-ahead run until `until`, or until it has read the blocks below `target`; when it has done so."""
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
        if unread:                          # it passes, and comes again a revolution later
            continue
        d.ahead_time = end
        d.ahead_lbn += 1
        segment.end = d.ahead_lbn
        segment.first = max(segment.first, segment.end - d.s.segment)
        if d.ahead_lbn == m.runs[run + 1].lbn:
            run += 1
    return d.ahead_time


cdef int64_t disksim_stopped(const drive_t* d, int64_t now, int32_t* track) noexcept nogil:
    """When the arm can move where read-ahead stops at `now`, and the track it is on then. Nothing changes."""
    cdef int64_t free, j
    cdef sweep_t sweep
    track[0] = d.track
    if d.ahead < 0 or d.ahead_lbn >= d.segments[d.ahead].limit:
        return d.arm_free
    next_ahead(d, find_run(d.m, d.ahead_lbn), &sweep)
    track[0] = sweep.track
    free = d.ahead_time + reposition(d.m, d.track, sweep.track, False)      # the arm is there
    if (d.swept and d.sweep.track == sweep.track) or now >= free:
        free = now
        if not d.s.stop_in_sector:          # to the end of the sector that passes
            j = 0
            if now > sweep.start:
                j = (now - sweep.start) * d.m.rpm // TURN * sweep.sectors
            while passes(d.m, &sweep, j) < now:
                j += 1
            free = passes(d.m, &sweep, j)
    return max(d.arm_free, free)


cdef int64_t stop(drive_t* d, int64_t now) noexcept nogil:
    """Stop reading ahead; how much later the arm is free, which DiskSim adds to the time of the command."""
    cdef int32_t track
    if d.ahead >= 0:
        d.arm_free = disksim_stopped(d, now, &track)
        d.track = track
    d.ahead = -1
    return max(d.arm_free - now, <int64_t>0)


cdef void start(drive_t* d, int32_t chosen, int64_t limit, int64_t when) noexcept nogil:
    """Read ahead behind a segment's end from `when` on; where it ends with the track, only on the arm's."""
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


cdef int64_t limit_of(drive_t* d, const segment_t* segment, int64_t lbn, int64_t count) noexcept nogil:
    """Read-ahead behind this request ends before the block returned."""
    cdef const mechanics_t* m = d.m
    cdef int64_t first
    cdef int32_t run, track
    if d.s.ahead != TO_NEXT_TRACK_END or lbn + count == m.blocks:
        return ahead_limit(d, segment, lbn, count)
    run = find_run(m, lbn + count)
    track = m.runs[run].track
    first = m.runs[m.by_track[m.tracks[track].first]].lbn
    while m.runs[run + 1].lbn < m.blocks and m.runs[run + 1].track == track:
        run += 1
    track = m.runs[find_run(m, lbn)].track
    return min(m.runs[run + 1].lbn + (m.tracks[track].sectors if segment.first < first else 0), m.blocks)


# ------------------------------------------------------------------------------------------------------ segments


cdef bint before(const drive_t* d, int32_t i, int32_t best) noexcept nogil:
    """Whether a segment was used longer ago than another."""
    return best < 0 or d.segments[i].used < d.segments[best].used


cdef int32_t for_read(drive_t* d, int64_t lbn, int64_t count, int32_t* hit) noexcept nogil:
    """The segment for a read, and whether it holds all blocks, the first, or none."""
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
    """The segment for a write; -1 = none but the one that is being read ahead into."""
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
    """Fill a segment with a write's blocks; what others hold of them is lost, but for read-ahead under way."""
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
    """The arm is through with writes behind: their segment can be read, or is empty."""
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


# ---------------------------------------------------------------------------------------------------- the medium


cdef int64_t there(const drive_t* d, int64_t block, const behind_t* on, const behind_t* more) noexcept nogil:
    """When a block's data is in the buffer."""
    cdef const behind_t* of = on if block < on.lbn + on.count else more
    cdef int64_t lead = min(of.count, d.s.head_start if of.count < d.s.long_write else d.s.long_head_start)
    lead = max(lead, min(of.count, d.s.segment) * d.s.write_water // 1000)
    return of.bus + max(block - of.lbn + 1, lead) * d.s.write_block


cdef int64_t write_blocks(
    drive_t* d, const behind_t* on, const behind_t* more, int64_t until, int64_t* done, parts_t* parts
) noexcept nogil:
    """Write a request's blocks, and those of the one appended to it as long as their data is there; when it is through.

    `done`: blocks written by `until`.
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
        from_sector = to_sector = -1        # blocks behind the next one that were written as they passed
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
    """The last sector of a track that holds a block."""
    cdef int32_t run = m.by_track[m.tracks[track + 1].first - 1]
    return m.runs[run].sector + <int32_t>(m.runs[run + 1].lbn - m.runs[run].lbn) - 1


# ------------------------------------------------------------------------------------------------------- service


cdef void disksim_settle(drive_t* d, int64_t now) noexcept nogil:
    if d.ahead >= 0:
        ahead_run(d, now, NEVER)
        end_ahead(d)
    if d.dirty_until <= now:
        written(d)


cdef int64_t off_medium(
    drive_t* d, int64_t arm, int64_t lbn, int64_t here, int64_t count, parts_t* parts, flow_t* flow
) noexcept nogil:
    """Read a request's blocks but for the first `here`; when the last has passed."""
    cdef int64_t behind = min(lag(d), arm), first = lbn, medium
    d.passed += count - here
    medium = read_medium(d, arm - behind, lbn, here, count, parts, flow, &first) + behind
    flow.ready += behind
    flow.done += behind
    return medium


cdef int64_t go_on(
    drive_t* d, int32_t chosen, int64_t limit, int64_t medium, int64_t end, int64_t lbn, int64_t count
) noexcept nogil:
    """A read is off the medium: read ahead behind it. When its last block has left the bus."""
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
    """A read; when its last block has left the bus. `free`: when the arm is through with writes behind, or now."""
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
        limit = limit_of(d, g, lbn, count)
        medium = off_medium(d, arm, lbn, 0, count, parts, &flow)
        keep(d, g, lbn + count)
        end = max(max(flow.ready + d.s.reselect + d.s.prepare, off) + count * d.s.read_block, flow.done)
        return go_on(d, chosen, limit, medium, end, lbn, count)
    begin = off if free > now else now + d.s.read_hit[d.after_read] + d.s.prepare
    limit = max(g.limit, limit_of(d, g, lbn, count))
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
    """When the medium is written with what is in the buffer: with an appended write twice."""
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
    """Whether a write goes on where the one that the medium is being written with ends."""
    cdef int32_t track = d.track
    cdef int64_t done
    cdef parts_t parts
    if d.behinds != 1 or d.behind[0].lbn + d.behind[0].count != lbn:
        return False
    memset(&parts, 0, sizeof(parts))
    write_blocks(d, &d.behind[0], NULL, now, &done, &parts)
    d.track = track
    return d.s.segment > lbn - d.behind[0].lbn - done


cdef int64_t write_behind(drive_t* d, int64_t now, int64_t free, int64_t lbn, int64_t count) noexcept nogil:
    """A write that is complete once in the buffer; when it is."""
    cdef int64_t go = now + d.s.write_hit[d.after_read], late = 0, first, begin = go + d.s.prepare
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
    if free > now:
        written(d)
        begin = off
    chosen = for_write(d, lbn, count)
    if chosen < 0:
        late = stop(d, now)
        begin = off
        chosen = for_write(d, lbn, count)
    take(d, chosen, lbn, count)
    late = max(late, stop(d, now))
    on = &d.behind[0]
    on.lbn, on.count, on.bus = lbn, count, begin
    on.arm = on.begin = max(free, go) if free > now else go + late
    on.track = d.track
    d.behinds = 1
    plan(d)
    d.segments[chosen].clean = d.arm_free
    return begin + count * d.s.write_block


cdef int64_t write_through(drive_t* d, int64_t now, int64_t free, int64_t lbn, int64_t count, parts_t* parts) noexcept nogil:
    """A write that is complete once on the medium; when the bus is taken up again for that."""
    cdef int64_t go = now + d.s.write_miss[d.after_read], late = 0, begin = go + d.s.prepare, done
    cdef int64_t off = max(free, go) + d.s.reselect + d.s.prepare
    cdef int32_t chosen
    cdef behind_t* on = &d.behind[0]
    if free > now:
        written(d)
        begin = off
    chosen = for_write(d, lbn, count)
    if chosen < 0:
        late = stop(d, now)
        begin = off
        chosen = for_write(d, lbn, count)
    take(d, chosen, lbn, count)
    late = max(late, stop(d, now))
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
