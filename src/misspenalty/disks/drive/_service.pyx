"""Serve a request with a drive's cache, bus and medium; `reference.drive` is easier to read."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from misspenalty.disks.drive._disksim cimport disksim_service, disksim_settle
from misspenalty.disks.drive._mechanics cimport parts_t
from misspenalty.disks.drive._medium cimport (
    ahead_limit, end_ahead, extend_ahead, flow_t, follow, read_medium, read_until, start_ahead, stop_ahead, write_medium,
)
from misspenalty.disks.drive._state cimport (
    BUFFERED, NEVER, PARTIAL_HIT, WHOLE_HIT, drive_t, record_t, segment_t,
)


cdef void settle(drive_t* d, int64_t now) noexcept nogil:
    """Advance read-ahead and write-behind to `now`."""
    cdef int32_t i
    if d.s.disksim:
        disksim_settle(d, now)
        return
    if d.ahead >= 0:
        read_until(d, now, d.segments[d.ahead].limit)
        end_ahead(d)
    if d.dirty_until:
        if d.dirty_until <= now:
            d.dirty_until = 0
        for i in range(d.s.segments):
            if d.segments[i].clean and d.segments[i].clean <= now:
                d.segments[i].clean = 0


# ------------------------------------------------------------------------------------------------------ segments


cdef int32_t find_segment(drive_t* d, int64_t lbn, int64_t count) noexcept nogil:
    """Find the segment that holds the most leading blocks of a read; return -1 if none can serve the first block.

    If the drive allows almost hits, a segment into which the first block is being read ahead also qualifies.
    """
    cdef int32_t i, best = -1, segments = d.s.segments
    cdef int64_t most = 0, here
    cdef segment_t* segment
    if not d.s.caching:
        return -1
    if d.s.own_write_segment:
        segments -= 1
    for i in range(segments):
        segment = &d.segments[i]
        if segment.first > lbn or segment.end < lbn or (segment.written and not d.s.read_written):
            continue
        here = min(segment.end, lbn + count) - lbn
        if here == 0 and i == d.ahead and d.s.almost_hit and lbn < segment.limit:
            here = 1
        if here > most:
            most = here
            best = i
    return best


cdef bint is_empty(const segment_t* segment) noexcept nogil:
    return segment.end == segment.first


cdef int32_t victim(drive_t* d, bint write, int64_t* free_at) noexcept nogil:
    """Choose the segment to fill next: empty, else clean and least recently used, else the first to become clean.

    If the maximum number of segments is dirty, a write waits for the first of them to become clean. A segment reserved for
    writes, if any, is the last one. `free_at` is set to the time at which the chosen one can be filled, 0 = now.
    """
    cdef int32_t i, best = -1, low = 0, high = d.s.segments, dirty = 0
    cdef segment_t* segment
    free_at[0] = 0
    if d.s.own_write_segment:
        low = high - 1 if write else 0
        high = high if write else high - 1
    for i in range(low, high):
        segment = &d.segments[i]
        if segment.clean:
            dirty += 1
        elif best < 0 or is_empty(segment) > is_empty(&d.segments[best]) or (
            is_empty(segment) == is_empty(&d.segments[best]) and segment.used < d.segments[best].used
        ):
            best = i
    if best >= 0 and not (write and dirty >= d.s.write_segments):
        return best
    best = -1
    for i in range(low, high):
        if d.segments[i].clean and (best < 0 or d.segments[i].clean < d.segments[best].clean):
            best = i
    free_at[0] = d.segments[best].clean
    return best


cdef void forget(drive_t* d, int64_t lbn, int64_t count) noexcept nogil:
    """Empty segments that hold blocks about to be overwritten; the arm still writes all blocks of a dirty segment."""
    cdef int32_t i
    for i in range(d.s.segments):
        if d.segments[i].first < lbn + count and d.segments[i].end > lbn:
            d.segments[i].first = d.segments[i].end


cdef void fill(drive_t* d, int32_t chosen, int64_t first, int64_t end, bint written) noexcept nogil:
    cdef segment_t* segment = &d.segments[chosen]
    segment.first = max(first, end - d.s.segment)
    segment.end = end
    segment.limit = end
    segment.clean = 0
    segment.used = d.requests
    segment.written = written


# ------------------------------------------------------------------------------------------------------- service


cdef bint has_extra(const drive_t* d, int64_t lbn) noexcept nogil:
    """Return whether the drive leaves the bus twice in a write: the write follows another that it does not continue.

    Only the last segment is examined, which is for writes on all drives that are known to do this.
    """
    return d.s.extra_command >= 0 and not d.s.disksim and not d.after_read and d.segments[d.s.segments - 1].end != lbn


cdef int64_t command_time(const drive_t* d, int64_t lbn, int64_t count, bint write) noexcept nogil:
    if not write:
        return d.s.read_miss[d.after_read]
    if d.s.fast_write and count <= d.s.segment:
        return d.s.write_hit[d.after_read]
    return d.s.extra_command + d.s.extra_seek if has_extra(d, lbn) else d.s.write_miss[d.after_read]


cdef void over_bus(drive_t* d, record_t* r, int64_t medium, int64_t start, int64_t count, int64_t done) noexcept nogil:
    """Divide the time between the ends of a read on the medium and on the bus into bus transfer and overhead."""
    cdef int64_t left = max(start + count * d.s.read_block, done) - medium
    if left > 0:
        r.bus = min(left, count * d.s.read_block)
        r.overhead += left - r.bus


cdef void resume_ahead(drive_t* d, int32_t chosen, int64_t lbn, int64_t count, int64_t now) noexcept nogil:
    """Update read-ahead after a full hit."""
    cdef segment_t* segment = &d.segments[chosen]
    cdef int64_t limit
    if chosen == d.ahead:
        extend_ahead(d, segment, ahead_limit(d, segment, lbn, count))
        return
    stop_ahead(d, now)
    if (d.s.ahead_on_hit or (d.s.ahead_sequential and lbn == d.read_end)) and d.arm_free <= now:
        segment.written = False
        limit = max(segment.limit, ahead_limit(d, segment, lbn, count))
        start_ahead(d, chosen, limit, now + d.s.read_miss[d.after_read])


cdef void read_hit(drive_t* d, int32_t chosen, int64_t lbn, int64_t count, flow_t* flow, record_t* r) noexcept nogil:
    """Serve a read whose first blocks are in a segment, or are being read ahead into it."""
    cdef segment_t* segment = &d.segments[chosen]
    cdef int64_t now = r.start, here = min(segment.end, lbn + count) - lbn, first = lbn, ready, medium, arm
    cdef parts_t parts
    memset(&parts, 0, sizeof(parts))
    segment.used = d.requests
    r.hit = WHOLE_HIT if here == count else PARTIAL_HIT
    r.overhead = d.s.read_hit[d.after_read] + d.s.prepare
    ready = now + r.overhead
    if d.arm_free > now and not d.s.hit_while_writing and d.ahead < 0:
        r.cache = max(d.arm_free + d.s.prepare - ready, <int64_t>0)
        ready += r.cache
    if here == count:
        r.bus = count * d.s.read_block
        resume_ahead(d, chosen, lbn, count, now)
        return
    if chosen == d.ahead:
        extend_ahead(d, segment, ahead_limit(d, segment, lbn, count))
        follow(flow, here, count, read_until(d, NEVER, lbn + here + 1))
        medium = max(ready, read_until(d, NEVER, lbn + count))
        follow(flow, count - 1, count, medium)
        end_ahead(d)
        r.cache += medium - ready
        over_bus(d, r, medium, ready, count, flow.done)
        return
    # Read the other blocks from the medium into the same segment; the arm may start before the bus transfer.
    stop_ahead(d, now)
    arm = max(d.arm_free, now + d.s.read_miss[d.after_read])
    medium = read_medium(d, arm, lbn, here, count, &parts, flow, &first)
    segment.end = lbn + count
    segment.first = max(segment.first, segment.end - d.s.segment)
    r.overhead = min(r.overhead, arm - now)
    r.cache = arm - now - r.overhead
    r.seek, r.rotation, r.switches, r.transfer = parts.seek, parts.rotation, parts.switches, parts.transfer
    over_bus(d, r, medium, ready, count, flow.done)
    d.arm_free = medium
    if not d.s.ahead_sequential or lbn == d.read_end:
        start_ahead(d, chosen, ahead_limit(d, segment, lbn, count), medium)


cdef void read_miss(drive_t* d, int64_t lbn, int64_t count, flow_t* flow, record_t* r) noexcept nogil:
    """Serve a read whose first block is not in the cache."""
    cdef int64_t now = r.start, first = lbn, ready, medium, arm, free_at, bus
    cdef int32_t chosen
    cdef parts_t parts
    memset(&parts, 0, sizeof(parts))
    r.overhead = command_time(d, lbn, count, False)
    ready = now + r.overhead
    stop_ahead(d, now)
    chosen = victim(d, False, &free_at)
    arm = max(max(d.arm_free, ready), free_at)
    r.cache = arm - ready
    medium = read_medium(d, arm, lbn, 0, count, &parts, flow, &first)
    fill(d, chosen, first, lbn + count, False)
    r.seek, r.rotation, r.switches, r.transfer = parts.seek, parts.rotation, parts.switches, parts.transfer
    bus = max(flow.ready, ready + d.s.read_disconnect[d.after_read]) + d.s.reselect + d.s.prepare
    over_bus(d, r, medium, bus, count, flow.done)
    d.arm_free = medium
    if not d.s.ahead_sequential or lbn == d.read_end:
        start_ahead(d, chosen, ahead_limit(d, &d.segments[chosen], lbn, count), medium)


cdef void read(drive_t* d, int64_t lbn, int64_t count, record_t* r) noexcept nogil:
    cdef int32_t chosen = find_segment(d, lbn, count)
    cdef flow_t flow
    flow.block = d.s.read_block
    flow.water = max(<int64_t>1, min(count, d.s.segment) * d.s.read_water // 1000)
    flow.ready = flow.done = 0
    if chosen >= 0:
        read_hit(d, chosen, lbn, count, &flow, r)
    else:
        read_miss(d, lbn, count, &flow, r)


cdef bint appends(drive_t* d, int64_t lbn, int64_t count, int32_t* chosen) noexcept nogil:
    """Return whether a write continues blocks being written behind and fits into their segment (set as `chosen`)."""
    cdef int32_t i
    for i in range(d.s.segments):
        if d.segments[i].clean and d.segments[i].end == lbn and d.segments[i].clean == d.arm_free:
            chosen[0] = i
            return lbn + count - d.segments[i].first <= d.s.segment
    return False


cdef void write_behind(drive_t* d, int64_t lbn, int64_t count, record_t* r) noexcept nogil:
    """Serve a write that is complete once its blocks are in the cache."""
    cdef int64_t now = r.start, ready, free_at = 0, arm, waited = 0
    cdef int32_t chosen = -1
    cdef parts_t parts
    cdef bint append
    memset(&parts, 0, sizeof(parts))
    r.hit = BUFFERED
    r.overhead = command_time(d, lbn, count, True)
    ready = now + r.overhead
    stop_ahead(d, now)
    append = appends(d, lbn, count, &chosen)
    forget(d, lbn, count)
    if append:
        d.segments[chosen].end = lbn + count
        d.segments[chosen].used = d.requests
    else:
        chosen = victim(d, True, &free_at)
        if not d.s.prebuffer and d.arm_free > now:
            free_at = max(free_at, d.arm_free)
        r.cache = max(free_at - ready, <int64_t>0)
        fill(d, chosen, lbn, lbn + count, True)
    r.bus = count * d.s.write_block
    r.overhead += d.s.prepare
    arm = max(d.arm_free, ready + r.cache)
    d.arm_free = write_medium(d, arm, lbn, count, ready + r.cache + d.s.prepare, &parts, &waited)
    d.segments[chosen].clean = d.arm_free
    d.dirty_until = d.arm_free


cdef void write_through(drive_t* d, int64_t lbn, int64_t count, record_t* r) noexcept nogil:
    """Serve a write that is complete once it is on the medium."""
    cdef int64_t now = r.start, ready, arm, bus, free_at, end, waited = 0
    cdef int32_t chosen
    cdef parts_t parts
    cdef bint extra = has_extra(d, lbn)
    memset(&parts, 0, sizeof(parts))
    ready = now + command_time(d, lbn, count, True)
    stop_ahead(d, now)
    chosen = victim(d, True, &free_at)
    forget(d, lbn, count)
    fill(d, chosen, lbn, lbn + count, True)
    if extra:
        bus = now + d.s.extra_command + d.s.extra_bus
    else:
        bus = ready + d.s.prepare
    bus = max(bus, free_at)
    arm = max(max(d.arm_free, ready), free_at)
    r.overhead = ready - now
    r.cache = arm - ready
    end = write_medium(d, arm, lbn, count, bus, &parts, &waited)
    r.seek, r.rotation, r.switches, r.transfer = parts.seek, parts.rotation, parts.switches, parts.transfer
    r.bus = waited
    d.arm_free = end
    # The drive takes up the bus again to report completion.
    bus += count * d.s.write_block + (d.s.extra_disconnect if extra else d.s.write_disconnect)
    r.overhead += max(bus - end, <int64_t>0) + (d.s.reselect_again if extra else d.s.reselect)


cdef int64_t service(
    drive_t* d, int64_t now, int64_t lbn, int64_t count, bint write, record_t* r
) noexcept nogil:
    now += d.turned
    memset(r, 0, sizeof(record_t))
    r.start = now
    r.lbn = lbn
    r.count = <int32_t>count
    r.write = write
    d.requests += 1
    if d.s.disksim:
        disksim_service(d, now, lbn, count, write, r)
        r.overhead += d.s.write_complete if write else d.s.read_complete
        finish(d, now, r)
        return r.done
    settle(d, now)
    if not write:
        read(d, lbn, count, r)
        r.overhead += d.s.read_complete
    else:
        if d.s.fast_write and count <= d.s.segment:
            write_behind(d, lbn, count, r)
        else:
            write_through(d, lbn, count, r)
        r.overhead += d.s.write_complete
    finish(d, now, r)
    return r.done


cdef void finish(drive_t* d, int64_t now, record_t* r) noexcept nogil:
    """Update the drive's state after a request, once its components are known."""
    cdef int64_t took = r.overhead + r.seek + r.rotation + r.switches + r.transfer + r.bus + r.cache
    d.after_read = not r.write
    if not r.write:
        d.read_end = r.lbn + r.count
    d.busy += took
    r.arrival = r.start = now - d.turned
    r.done = r.start + took
    d.now = r.done
