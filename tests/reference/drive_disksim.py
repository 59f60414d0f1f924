"""Simulate a drive whose buffer works like DiskSim 4.0's (``disksim_buffer``), sector by sector, in slow, readable
code."""

from dataclasses import dataclass
from functools import partial
from itertools import count as count_on

from reference import drive
from reference.drive_layout import TURN

NEVER = 1 << 90


@dataclass
class Behind:
    """A write whose blocks are in the buffer: they cross the bus from `bus` on, and the arm may begin at `arm`."""

    lbn: int
    count: int
    bus: int
    arm: int
    begin: int = 0
    end: int = 0
    track: int = 0

    @property
    def stop(self):
        return self.lbn + self.count


@dataclass
class Drive(drive.Drive):
    """Like `reference.drive.Drive`, for descriptions with ``disksim_buffer``."""

    writing: int = 0  # time until which the arm writes behind, ns
    sweep: tuple = None  # read-ahead on the arm's track: track, first sector, when it began
    swept: int = 0  # sectors of the sweep that have passed
    passed: int = 0  # sectors that passed under the head; each leaves DiskSim's platter 2^-24 of a revolution behind
    reader: tuple = (0, 0, 0, 0)  # last read: first block, start of its transfer, blocks, end of the transfer

    def __post_init__(self):
        super().__post_init__()
        self.behind = []

    def has_extra(self, lbn):
        return False

    # ------------------------------------------------------------------------------------------------ read-ahead

    def may_read(self, block, now):
        """Return whether a block can be read ahead without overwriting one that the last read has yet to send."""
        first, start, count, sent = self.reader
        gone = min(max(now - start, 0) // self.s["read_block"], count) if self.s["read_block"] else count
        return now >= sent or block - first - gone < self.s["segment"]

    @property
    def lag(self):
        return self.passed * TURN // (self.rpm << 24)

    def land(self, track, sector, when):
        """Return the time at which a sector next begins."""
        return self.at(self.meets(track, sector, max(when - self.lag, 0))) + self.lag

    def passes(self, sweep, j):
        """Return the time at which the `j`-th sector after the first of a sweep begins.

        Each lasts a multiple of 2^-20 of a revolution.
        """
        track, _, start = sweep
        return start + j * ((1 << 20) // self.layout.tracks[track][2]) * TURN // (self.rpm << 20)

    def next_ahead(self):
        """Return the sweep that the next block belongs to, and its distance from the sweep's first sector."""
        track, sector = self.layout.place[self.ahead_lbn]
        if self.sweep is None or self.sweep[0] != track:
            return (track, sector, self.land(track, sector, self.ahead_time + self.reposition(track, False))), 0
        sectors = self.layout.tracks[track][2]
        j = (sector - self.sweep[1]) % sectors
        return self.sweep, j + -(-max(self.swept - j, 0) // sectors) * sectors

    def read_until(self, until, target):
        segment = self.segments[self.ahead]
        while self.ahead_lbn < min(segment.limit, target):
            sweep, j = self.next_ahead()
            begin, end = self.passes(sweep, j), self.passes(sweep, j + 1)
            unread = begin <= until and not self.may_read(self.ahead_lbn, begin)
            if end > until and not unread:
                break
            self.passed += j + 1 - (self.swept if sweep is self.sweep else 0)
            self.track, self.sweep, self.swept = sweep[0], sweep, j + 1
            if unread:  # the sector passes, and returns a revolution later
                continue
            self.ahead_time = end
            self.ahead_lbn += 1
            segment.end = self.ahead_lbn
            segment.first = max(segment.first, segment.end - self.s["segment"])
        return self.ahead_time

    def stopped(self, now):
        if self.ahead < 0 or self.ahead_lbn >= self.segments[self.ahead].limit:
            return self.arm_free, self.track
        sweep, _ = self.next_ahead()
        free = self.ahead_time + self.reposition(sweep[0], False)  # the arm reaches the track at this time
        if sweep is self.sweep or now >= free:
            free = (
                now if self.s["stop_in_sector"] else next(t for j in count_on() if (t := self.passes(sweep, j)) >= now)
            )
        return max(self.arm_free, free), sweep[0]

    def stop_ahead(self, now):
        """Stop reading ahead; return the time until the arm is free."""
        if self.ahead >= 0:
            self.arm_free, self.track = self.stopped(now)
        self.ahead = -1
        return max(self.arm_free - now, 0)

    def start_ahead(self, chosen, limit, when):
        segment = self.segments[chosen]
        self.extend_ahead(chosen, limit)
        if segment.end < segment.limit and not (
            self.s["ahead"] == 1 and self.layout.place[segment.end][0] != self.track
        ):
            self.ahead, self.ahead_lbn, self.ahead_time, self.sweep = chosen, segment.end, when, None

    def limit(self, segment, lbn, count):
        place, end = self.layout.place, lbn + count
        if self.s["ahead"] != 4 or end == len(place):
            return super().limit(segment, lbn, count)
        track, stop = place[end][0], end
        while stop < len(place) and place[stop][0] == track:
            stop += 1
        on_track = self.layout.blocks_of(track)
        first = on_track[min(on_track)]
        return min(stop + (self.layout.tracks[place[lbn][0]][2] if segment.first < first else 0), len(place))

    # -------------------------------------------------------------------------------------------------- segments

    def oldest(self):
        return sorted(range(len(self.segments)), key=lambda i: self.segments[i].used)

    def for_read(self, lbn, count):
        """Return a read's segment, and 1 if it has all blocks, 2 if it has the first or reads it ahead next, else 0."""
        best, chosen, hit = 0, 0, 0
        for i in self.oldest():
            g = self.segments[i]
            if g.first == g.end:
                value, kind = 3, 0
            elif self.s["caching"] and g.first <= lbn < g.end:
                whole = g.end >= lbn + count
                value, kind = (9 if i == self.ahead else 8) - (0 if whole else 4), 1 if whole else 2
            elif i != self.ahead:
                value, kind = 2, 0
            elif self.s["caching"] and self.s["almost_hit"] and g.end == lbn < g.limit:
                value, kind = 5, 2
            else:
                value, kind = 1, 0
            if value > best:
                best, chosen, hit = value, i, kind
        return chosen, hit

    def for_write(self, lbn, count):
        """Return the segment for a write, or -1 if there is only the one that is being read ahead into."""
        best, chosen = 0, -1
        for i in self.oldest():
            g = self.segments[i]
            if i == self.ahead:
                continue
            value = 3 if g.first == g.end else 4 if g.first < lbn + count and g.end > lbn else 2
            if value > best:
                best, chosen = value, i
        return chosen

    def take(self, chosen, lbn, count, end):
        """Fill a segment with a write's blocks; empty others with any of them, except one being read ahead into."""
        for i, g in enumerate(self.segments):
            if i not in (chosen, self.ahead) and g.first < lbn + count and g.end > lbn:
                g.first = g.end
        g = self.segments[chosen]
        g.end = g.limit = lbn + count
        g.first, g.used, g.clean = max(lbn, g.end - self.s["segment"]), self.requests, end

    def written(self):
        """Mark the buffered writes as finished; empty their segment unless written blocks may be read from it."""
        self.writing = 0
        for g in self.segments:
            if g.clean:
                g.clean = 0
                if not self.s["read_written"]:
                    g.first = g.end

    # --------------------------------------------------------------------------------------------------- service

    def service(self, now, lbn, count, write):
        r = drive.Record()
        self.requests += 1
        if self.ahead >= 0:
            self.read_until(now, NEVER)
            self.end_ahead()
        if self.writing <= now:
            self.written()
        free = max(self.writing, now)
        if write and self.s["fast_write"] and count <= self.s["segment"]:
            end, block = self.write_behind(now, free, lbn, count, r), self.s["write_block"]
        elif write:
            end, block = self.write_through(now, free, lbn, count, r), self.s["write_block"]
        else:
            end, block = self.read(now, free, lbn, count, r), self.s["read_block"]
        left = end - now - r.seek - r.rotation - r.switch - r.transfer
        r.bus = min(left, count * block)
        r.cache = min(left - r.bus, free - now)
        r.overhead = left - r.bus - r.cache + self.s["write_complete" if write else "read_complete"]
        if write:
            self.passed += count
        self.after_read = not write
        r.done = end + self.s["write_complete" if write else "read_complete"]
        return r

    def read(self, now, free, lbn, count, r):
        """Read; return the time at which the last block has left the bus."""
        s, late, busy = self.s, 0, free > now
        go = now + s["read_miss"][self.after_read]
        off = max(free, go + s["read_disconnect"][self.after_read]) + s["reselect"] + s["prepare"]
        if busy:
            self.written()
        chosen, r.hit = self.for_read(lbn, count)
        g, reading = self.segments[chosen], self.ahead
        g.used = self.requests
        if not r.hit or chosen != reading:
            late = self.stop_ahead(now)
        arm = max(free, go) if busy else go + late
        if not r.hit:
            g.first = g.end = g.limit = lbn
            limit = self.limit(g, lbn, count)
            medium, ready, done = self.off_medium(arm, lbn, 0, count, r)
            ready = max(ready + s["reselect"] + s["prepare"], off)
            self.keep(g, lbn, count)
            return self.go_on(chosen, limit, medium, max(ready + count * s["read_block"], done), lbn, count)
        start = off if busy else now + s["read_hit"][self.after_read] + s["prepare"]
        limit, here = max(g.limit, self.limit(g, lbn, count)), min(g.end, lbn + count) - lbn
        end = start + count * s["read_block"]
        if r.hit == 2 and chosen != reading:
            medium, _, done = self.off_medium(arm, lbn, here, count, r)
            self.keep(g, lbn, count)
            return self.go_on(chosen, limit, medium, max(end, done), lbn, count)
        if chosen == reading:
            self.extend_ahead(chosen, limit)
        else:
            g.limit = limit
        if r.hit == 2:
            self.reader = (0, 0, 0, 0)
            for block in range(lbn + here, lbn + count):
                end = max(end, self.read_until(NEVER, block + 1) + (lbn + count - block) * s["read_block"])
        self.reader = (lbn, end - count * s["read_block"], count, end)
        if r.hit == 2:
            self.end_ahead()
        elif chosen != reading and s["ahead_on_hit"]:
            self.start_ahead(chosen, limit, arm)
        return end

    def off_medium(self, arm, lbn, here, count, r):
        lag = min(self.lag, arm)
        self.passed += count - here
        medium, ready, done, _ = self.read_medium(arm - lag, lbn, here, count, r)
        return medium + lag, ready + lag, done + lag

    def keep(self, segment, lbn, count):
        segment.end = lbn + count
        segment.first = max(segment.first, segment.end - self.s["segment"])

    def go_on(self, chosen, limit, medium, end, lbn, count):
        self.arm_free = medium
        self.reader = (lbn, end - count * self.s["read_block"], count, end)
        self.start_ahead(chosen, limit, medium)
        return end

    def write_behind(self, now, free, lbn, count, r):
        """Handle a write that is complete once it is in the buffer; return that time."""
        s, late, r.hit = self.s, 0, 3
        go = now + s["write_hit"][self.after_read]
        off = max(free, go + s["write_disconnect"]) + s["reselect"] + s["prepare"]
        if self.behind and self.behind[0].end <= now:
            self.behind = self.behind[1:]
        if free > now and len(self.behind) == 1 and self.appends(now, lbn):
            # The blocks go into the segment that is being written, and the write is planned again with them.
            last = next(i for i, g in enumerate(self.segments) if g.clean)
            first = self.segments[last].first
            self.behind.append(Behind(lbn, count, go + s["prepare"], go))
            self.plan()
            self.take(last, lbn, count, self.arm_free)
            self.segments[last].first = max(first, lbn + count - s["segment"])
            return go + s["prepare"] + count * s["write_block"]
        start, busy = go + s["prepare"], free > now
        if busy:
            self.written()
            start = off
        chosen = self.for_write(lbn, count)
        if chosen < 0:
            late, start = self.stop_ahead(now), off
            chosen = self.for_write(lbn, count)
        self.take(chosen, lbn, count, 0)
        late = max(late, self.stop_ahead(now))
        arm = max(free, go) if busy else go + late
        self.behind = [Behind(lbn, count, start, arm, arm, track=self.track)]
        self.plan()
        self.segments[chosen].clean = self.arm_free
        return start + count * s["write_block"]

    def appends(self, now, lbn):
        """Return whether a write continues at the end of the write that is in progress on the medium."""
        on = self.behind[0]
        done = sum(when <= now for when in self.blocks_written(on, None, drive.Record()))
        return on.stop == lbn and self.s["segment"] > lbn - on.lbn - done

    def plan(self):
        """Determine when the contents of the buffer are written to the medium."""
        on, *more = self.behind
        on.end = self.blocks_written(on, more[0] if more else None, drive.Record())[-1]
        if more:
            more[0].begin, more[0].track = max(on.end, more[0].arm), self.track
            more[0].end = self.blocks_written(more[0], None, drive.Record())[-1]
        self.arm_free = self.writing = self.behind[-1].end

    def write_through(self, now, free, lbn, count, r):
        """Handle a write that is complete once it is on the medium; return the time at which the bus is used again."""
        s, busy = self.s, free > now
        go = now + s["write_miss"][self.after_read]
        start = off = max(free, go) + s["reselect"] + s["prepare"]
        if busy:
            self.written()
        else:
            start = go + s["prepare"]
        chosen, late = self.for_write(lbn, count), 0
        if chosen < 0:
            late, start = self.stop_ahead(now), off
            chosen = self.for_write(lbn, count)
        self.take(chosen, lbn, count, 0)
        late = max(late, self.stop_ahead(now))
        self.behind = []
        arm = max(free, go) if busy else go + late
        on = Behind(lbn, count, start, arm, arm, track=self.track)
        self.arm_free = self.blocks_written(on, None, r)[-1]
        if not s["read_written"]:
            self.segments[chosen].first = self.segments[chosen].end
        return max(start + count * s["write_block"] + s["write_disconnect"], self.arm_free) + s["reselect"]

    # ------------------------------------------------------------------------------------------------ the medium

    def blocks_written(self, on, more, r):
        """Return the times at which a write's blocks, and those of an appended write that come in time, are written."""
        s, now, block, done = self.s, on.begin, on.lbn, []
        self.track, end, opening = on.track, more.stop if more else on.stop, True
        while block < end and not (block >= on.stop and self.there(block, on, more) > now):
            track, sector = self.layout.place[block]
            land = now + max(self.reposition(track, True), s["least_seek"] if opening else 0)
            self.track, first = track, sector
            on_track = self.layout.blocks_of(track)
            if s["any_order_write"]:
                come = self.coming(track, land)
                first = come if come is not None and sector < come <= max(on_track) else sector
            start = self.land(track, first, land)
            if opening:
                r.seek, r.rotation = land - now, start - land
            opening, begun = False, block
            passes = partial(self.passes, (track, first, start))
            pass_track = self._any_order if s["any_order_write"] else self._in_order
            for block, now in pass_track(on, more, end, begun, track, first, passes, on_track):
                done += [now] * (block - on.lbn - len(done))
                if block >= on.stop and block < end and self.there(block, on, more) > now:
                    break
        r.transfer = now - on.begin - r.seek - r.rotation
        return done

    def _in_order(self, on, more, end, block, track, first, passes, on_track):
        """Yield, after each sector written on a track, the next block and the time at which that sector ended."""
        j, sectors = 0, self.layout.tracks[track][2]
        while block < end and self.layout.place[block][0] == track:
            wait = (self.layout.place[block][1] - first) % sectors
            while wait < j or passes(wait) < self.there(block, on, more):
                wait += sectors
            j, block = wait + 1, block + 1
            yield block, passes(j)

    def _any_order(self, on, more, end, block, track, first, passes, on_track):
        """Yield what `_in_order` does, but also write sectors after the next one as they pass."""
        j, sectors, kept = 0, self.layout.tracks[track][2], range(0)
        while block < end and self.layout.place[block][0] == track:
            here = on_track.get((first + j) % sectors, -1)
            j += 1
            if not (block <= here < end and self.there(here, on, more) <= passes(j - 1)):
                continue
            if here == block:
                block += 1
                if block == kept.start and len(kept):
                    block, kept = kept.stop, range(0)
                yield block, passes(j)
            elif here == kept.stop and len(kept):
                kept = range(kept.start, here + 1)
            elif not kept or here > kept.stop:
                kept = range(here, here + 1)

    def there(self, block, on, more):
        """Return the time at which a block's data is in the buffer."""
        of = on if block < on.stop else more
        lead = self.s["head_start"] if of.count < self.s["long_write"] else self.s["long_head_start"]
        lead = max(min(of.count, lead), min(of.count, self.s["segment"]) * self.s["write_water"] // 1000)
        return of.bus + max(block - of.lbn + 1, lead) * self.s["write_block"]
