"""Simulate a drive in slow, readable code: sector by sector, without tables or shortcuts.

It takes the same descriptions and returns the same records as the kernels, to the nanosecond. It is fast enough only
for small drives, because the layout (`reference.drive_layout`) is a list of all blocks.
"""

from dataclasses import dataclass, field

from reference.drive_layout import TURN, Layout

from misspenalty.disks.drive.description import seek_table


@dataclass
class Segment:
    first: int = 0
    end: int = 0
    limit: int = 0
    used: int = 0
    clean: int = 0  # time until which its blocks are dirty, ns
    written: bool = False


@dataclass
class Record:
    overhead: int = 0
    seek: int = 0
    rotation: int = 0
    switch: int = 0
    transfer: int = 0
    bus: int = 0
    cache: int = 0
    hit: int = 0
    done: int = 0


@dataclass
class Drive:
    """A drive made from a `misspenalty.disks.Description`; `service` is like the kernel's."""

    kind: object
    layout: Layout = None
    segments: list = field(default_factory=list)
    track: int = 0
    arm_free: int = 0
    ahead: int = -1
    ahead_lbn: int = 0
    ahead_time: int = 0
    read_end: int = -1
    requests: int = 0
    after_read: bool = True

    def __post_init__(self):
        data = self.kind.data
        self.s, self.rpm = self.kind.settings, data["mechanics"]["rpm"]
        self.layout = self.layout or Layout(data["geometry"])
        arm = data["mechanics"]
        self.seeks = [int(t) for t in seek_table(arm["seek"], data["geometry"]["cylinders"], arm["seek_left_out"])]
        self.head_switch = round(1e6 * data["mechanics"]["head_switch_ms"])
        self.settle_ns = round(1e6 * data["mechanics"]["write_settle_ms"])
        self.segments = [Segment() for _ in range(self.s["segments"])]

    def reposition(self, to, write, stands=None):
        (c1, h1, *_), (c2, h2, *_) = (self.layout.tracks[t] for t in (self.track if stands is None else stands, to))
        time = max(self.seeks[abs(c1 - c2)], self.head_switch if h1 != h2 else 0)
        return max(time + self.settle_ns if write and time else time, 0)

    def command_time(self, lbn, count, write):
        """Return the time from a command until the arm may start on it."""
        if not write:
            return self.s["read_miss"][self.after_read]
        if self.s["fast_write"] and count <= self.s["segment"]:
            return self.s["write_hit"][self.after_read]
        extra = self.s["extra_command"] + self.s["extra_seek"]
        return extra if self.has_extra(lbn) else self.s["write_miss"][self.after_read]

    def has_extra(self, lbn):
        """Return whether the drive leaves the bus twice in a write, as the write does not continue the previous one."""
        return self.s["extra_command"] >= 0 and not self.after_read and self.segments[-1].end != lbn

    def boundary(self, track, sector):
        """Return where a sector begins, in ticks, which continue past a revolution."""
        _, _, sectors, angle = self.layout.tracks[track]
        return angle + -(-sector * TURN // sectors)

    def meets(self, track, sector, now):
        """Return the time at which a sector next begins, at or after `now` (whole ns), in ticks since time 0."""
        ticks = self.boundary(track, sector)
        return ticks + TURN * (((now - 1) * self.rpm - ticks) // TURN + 1)

    def at(self, ticks):
        """Return the first whole ns at which the platter has turned by `ticks` since time 0."""
        return -(-ticks // self.rpm)

    def width(self, track, sector, count):
        return self.boundary(track, sector + count) - self.boundary(track, sector)

    def runs(self, lbn, end):
        """Yield the blocks from `lbn` to `end` - 1, in pieces that are contiguous on one track."""
        piece = [lbn]
        for block in range(lbn + 1, end):
            (t1, s1), (t2, s2) = self.layout.place[block - 1], self.layout.place[block]
            if t1 == t2 and s2 == s1 + 1:
                piece.append(block)
            else:
                yield piece
                piece = [block]
        yield piece

    def limit(self, segment, lbn, count):
        s, place, end = self.s, self.layout.place, lbn + count
        most = min(max((end if s["ahead_after"] else lbn) + s["ahead_most"], end), len(place))
        if s["ahead"] == 0 or end == len(place):
            return end
        if s["ahead"] in (1, 2):  # up to the end of the last block's track or cylinder
            where = (lambda b: place[b][0]) if s["ahead"] == 1 else lambda b: self.layout.tracks[place[b][0]][0]
            stop = end
            while stop < len(place) and where(stop) == where(end - 1):
                stop += 1
            return min(most, stop)
        if s["ahead"] == 4:  # to the end of the next block's track, or a track further if the segment begins before it
            track, stop = place[end][0], end
            while stop < len(place) and place[stop][0] == track:
                stop += 1
            first = min((b for b, (t, _) in enumerate(place) if t == track), key=lambda b: place[b][1])
            return min(stop + (self.layout.tracks[track][2] if segment.first < first else 0), len(place))
        return most

    def next_ahead(self):
        """Return the track of the next block of read-ahead, and the time at which that block has been read, ns."""
        track, sector = self.layout.place[self.ahead_lbn]
        begin = self.meets(track, sector, self.ahead_time + self.reposition(track, False))
        return track, self.at(begin + self.width(track, sector, 1))

    def read_until(self, until, target):
        segment = self.segments[self.ahead]
        while self.ahead_lbn < min(segment.limit, target):
            track, end = self.next_ahead()
            if end > until:
                break
            self.track, self.ahead_time = track, end
            self.ahead_lbn += 1
            segment.end = self.ahead_lbn
            segment.first = max(segment.first, segment.end - self.s["segment"])
        return self.ahead_time

    def end_ahead(self):
        if self.ahead_lbn >= self.segments[self.ahead].limit:
            self.arm_free = max(self.arm_free, self.ahead_time)
            self.ahead = -1

    def stopped(self, now):
        """Return the time at which the arm can move, and the track that it is then on, if read-ahead stops now."""
        if self.ahead < 0 or self.ahead_lbn >= self.segments[self.ahead].limit or now <= self.ahead_time:
            return self.arm_free, self.track
        track, end = self.next_ahead()
        if track != self.track:  # the arm is on its way
            return max(self.arm_free, self.ahead_time + self.reposition(track, False)), track
        return (self.arm_free if self.s["stop_in_sector"] else max(self.arm_free, end)), track

    def stop_ahead(self, now):
        if self.ahead >= 0:
            released, track = self.stopped(now)
            if track == self.track:
                self.read_until(released, self.ahead_lbn + 1)  # the sector that is read to its end is kept
            self.arm_free, self.track = released, track
        self.ahead = -1

    def extend_ahead(self, chosen, limit):
        segment = self.segments[chosen]
        segment.limit = max(segment.limit, limit)
        if self.s["drop_requested"]:
            segment.first = min(max(segment.first, segment.limit - self.s["segment"]), segment.end)

    def start_ahead(self, chosen, limit, when):
        self.segments[chosen].limit = limit
        self.extend_ahead(chosen, limit)
        if self.segments[chosen].end < limit:
            self.ahead, self.ahead_lbn, self.ahead_time = chosen, self.segments[chosen].end, when

    def find(self, lbn, count):
        best, most = -1, 0
        for i, segment in enumerate(self.segments[: len(self.segments) - self.s["own_write_segment"]]):
            if not self.s["caching"] or (segment.written and not self.s["read_written"]):
                continue
            here = min(segment.end, lbn + count) - lbn if segment.first <= lbn <= segment.end else 0
            if segment.end == lbn >= segment.first and i == self.ahead and self.s["almost_hit"] and lbn < segment.limit:
                here = 1
            if here > most:
                best, most = i, here
        return best

    def victim(self, write):
        candidates = list(range(len(self.segments)))
        if self.s["own_write_segment"]:
            candidates = candidates[-1:] if write else candidates[:-1]
        dirty = [i for i in candidates if self.segments[i].clean]
        free = [i for i in candidates if not self.segments[i].clean]
        if free and not (write and len(dirty) >= self.s["write_segments"]):
            return min(free, key=lambda i: (self.segments[i].end > self.segments[i].first, self.segments[i].used)), 0
        best = min(dirty, key=lambda i: self.segments[i].clean)
        return best, self.segments[best].clean

    def fill(self, chosen, first, end, written):
        self.segments[chosen] = Segment(max(first, end - self.s["segment"]), end, end, self.requests, 0, written)

    def forget(self, lbn, count):
        for segment in self.segments:
            if segment.first < lbn + count and segment.end > lbn:
                segment.first = segment.end

    def read_medium(self, now, lbn, start_index, count, r):
        """Return three times and the first block kept, which precedes `lbn` if blocks that pass earlier are kept.

        The times are those at which all blocks have been read, at which enough have been read for the drive to request
        the bus, and at which the bus transfer can end at the earliest.
        """
        s, opening, first = self.s, True, lbn
        water, ready, done = max(1, min(count, s["segment"]) * s["read_water"] // 1000), 0, 0
        for piece in self.runs(lbn + start_index, lbn + count):
            index, n = piece[0] - lbn, len(piece)
            track, sector = self.layout.place[piece[0]]
            land = now + self.reposition(track, False)
            come = self.coming(track, land) if s["any_order_read"] or s["free_blocks"] else None
            if opening and s["free_blocks"] and come is not None and come < sector:
                earlier, place = piece[0] - (sector - come), self.layout.place
                if earlier > 0 and all(place[earlier + k] == (track, come + k) for k in range(-1, sector - come)):
                    first = earlier
            if s["any_order_read"] and come is not None and sector < come < sector + n:
                begin = self.meets(track, come, land)
                end = self.at(begin + TURN)
                before = self.layout.tracks[track][2] - (come - sector)  # sectors that pass before the first one wanted
                back = [self.at(begin + self.width(track, come, before + k)) for k in range(come - sector + 1)]
                reads = [(index, back[1]), (index + come - sector - 1, end)]
                start = max(land, end - self.at(self.width(track, 0, n)))
                read_by = lambda k, back=back: back[min(k, len(back) - 1)]  # noqa: E731
            else:
                begin = self.meets(track, sector, land)
                start, end = self.at(begin), self.at(begin + self.width(track, sector, n))
                reads = [(index, self.at(begin + self.width(track, sector, 1))), (index + n - 1, end)]
                read_by = lambda k, b=begin, t=track, c=sector: self.at(b + self.width(t, c, k))  # noqa: E731
            for k, when in reads:
                done = max(done, when + (count - k) * s["read_block"])
            if index < water <= index + n:
                ready = read_by(water - index)
            self._share(r, opening, track, now, land, start)
            r.transfer += end - start
            opening, self.track, now = False, track, end
        return now, ready, done, first

    def write_medium(self, now, lbn, count, bus, r):
        s, opening, waited, index = self.s, True, 0, 0
        lead = s["head_start"] if count < s["long_write"] else s["long_head_start"]
        lead = max(min(count, lead), min(count, s["segment"]) * s["write_water"] // 1000)
        there = [bus + (k + 1) * s["write_block"] for k in range(count)]
        while index < count:
            piece = next(self.runs(lbn + index, lbn + count))
            n = len(piece)
            track, sector = self.layout.place[piece[0]]
            land = now + max(self.reposition(track, True), s["least_seek"] if opening else 0)
            come = self.coming(track, land) if s["any_order_write"] else None
            if come is not None and sector < come < sector + n and there[max(index + n, lead) - 1] <= land:
                end = self.at(self.meets(track, come, land) + TURN)
                start = begin = max(land, end - self.at(self.width(track, 0, n)))
            else:
                start = self.at(self.meets(track, sector, land))
                ticks = self.meets(track, sector, max(land, there[max(index + 1, lead) - 1]))
                begin = self.at(ticks)
                waited += begin - start
                good = 1
                while good < n and there[index + good] <= self.at(ticks + self.width(track, sector, good)):
                    good += 1
                n = good
                end = self.at(ticks + self.width(track, sector, n))
            self._share(r, opening, track, now, land, start)
            r.transfer += end - begin
            opening, self.track, now, index = False, track, end, index + n
        return now, waited

    def coming(self, track, now):
        """Return the sector that begins next; None if the last one has begun, so that sector 0 is next."""
        sectors = self.layout.tracks[track][2]
        turned = (now * self.rpm - self.layout.tracks[track][3]) % TURN
        late = [k for k in range(sectors) if -(-k * TURN // sectors) > turned - self.rpm]
        return late[0] if late else None

    def _share(self, r, opening, track, now, land, start):
        if opening:
            r.seek += land - now
            r.rotation += start - land
        elif track == self.track:
            r.transfer += start - now
        else:
            r.switch += start - now

    def service(self, now, lbn, count, write):
        """Serve a request; return its Record."""
        r = Record()
        self.requests += 1
        if self.ahead >= 0:
            self.read_until(now, 1 << 90)
            self.end_ahead()
        for segment in self.segments:
            if segment.clean <= now:
                segment.clean = 0
        if write and self.s["fast_write"] and count <= self.s["segment"]:
            self.write_behind(now, lbn, count, r)
        elif write:
            self.write_through(now, lbn, count, r)
        else:
            self.read(now, lbn, count, r)
            self.read_end = lbn + count
        r.overhead += self.s["write_complete" if write else "read_complete"]
        self.after_read = not write
        r.done = now + r.overhead + r.seek + r.rotation + r.switch + r.transfer + r.bus + r.cache
        return r

    def over_bus(self, r, medium, start, count, done):
        left = max(max(start + count * self.s["read_block"], done) - medium, 0)
        r.bus = min(left, count * self.s["read_block"])
        r.overhead += left - r.bus

    def go_on(self, chosen, lbn, count, medium):
        self.arm_free = medium
        if not self.s["ahead_sequential"] or lbn == self.read_end:
            self.start_ahead(chosen, self.limit(self.segments[chosen], lbn, count), medium)

    def read(self, now, lbn, count, r):
        s, chosen, miss = self.s, self.find(lbn, count), self.s["read_miss"][self.after_read]
        if chosen < 0:
            r.overhead = miss
            self.stop_ahead(now)
            arm = max(self.arm_free, now + miss)
            chosen, free_at = self.victim(False)
            arm = max(arm, free_at)
            r.cache = arm - now - miss
            medium, ready, done, first = self.read_medium(arm, lbn, 0, count, r)
            self.fill(chosen, first, lbn + count, False)
            bus = max(ready, now + miss + s["read_disconnect"][self.after_read]) + s["reselect"] + s["prepare"]
            self.over_bus(r, medium, bus, count, done)
            self.go_on(chosen, lbn, count, medium)
            return
        segment = self.segments[chosen]
        segment.used, here = self.requests, min(segment.end, lbn + count) - lbn
        r.hit = 1 if here == count else 2
        r.overhead = s["read_hit"][self.after_read] + s["prepare"]
        if self.arm_free > now and not s["hit_while_writing"] and self.ahead < 0:
            r.cache = max(self.arm_free + s["prepare"] - now - r.overhead, 0)
        ready = now + r.overhead + r.cache
        if here == count:
            r.bus = count * s["read_block"]
            if chosen == self.ahead:
                self.extend_ahead(chosen, self.limit(segment, lbn, count))
                return
            self.stop_ahead(now)
            again = s["ahead_on_hit"] or (s["ahead_sequential"] and lbn == self.read_end)
            if again and self.arm_free <= now:
                segment.written = False
                self.start_ahead(chosen, max(segment.limit, self.limit(segment, lbn, count)), now + miss)
        elif chosen == self.ahead:
            self.extend_ahead(chosen, self.limit(segment, lbn, count))
            done = self.read_until(1 << 90, lbn + here + 1) + (count - here) * s["read_block"]
            medium = max(ready, self.read_until(1 << 90, lbn + count))
            self.end_ahead()
            r.cache += medium - ready
            self.over_bus(r, medium, ready, count, max(done, medium + s["read_block"]))
        else:
            self.stop_ahead(now)
            arm = max(self.arm_free, now + miss)
            medium, _, done, _ = self.read_medium(arm, lbn, here, count, r)
            segment.end = lbn + count
            segment.first = max(segment.first, segment.end - s["segment"])
            r.overhead = min(r.overhead, arm - now)
            r.cache = arm - now - r.overhead
            self.over_bus(r, medium, ready, count, done)
            self.go_on(chosen, lbn, count, medium)

    def write_behind(self, now, lbn, count, r):
        s = self.s
        r.hit, r.overhead = 3, s["write_hit"][self.after_read]
        self.stop_ahead(now)
        last = [i for i, g in enumerate(self.segments) if g.clean and g.end == lbn and g.clean == self.arm_free]
        append = bool(last) and lbn + count - self.segments[last[0]].first <= s["segment"]
        self.forget(lbn, count)
        if append:
            chosen = last[0]
            self.segments[chosen].end, self.segments[chosen].used = lbn + count, self.requests
        else:
            chosen, free_at = self.victim(True)
            if not s["prebuffer"] and self.arm_free > now:
                free_at = max(free_at, self.arm_free)
            r.cache = max(free_at - now - r.overhead, 0)
            self.fill(chosen, lbn, lbn + count, True)
        ready = now + r.overhead + r.cache
        r.bus = count * s["write_block"]
        r.overhead += s["prepare"]
        self.arm_free, _ = self.write_medium(max(self.arm_free, ready), lbn, count, ready + s["prepare"], Record())
        self.segments[chosen].clean = self.arm_free

    def write_through(self, now, lbn, count, r):
        s = self.s
        extra, ready = self.has_extra(lbn), now + self.command_time(lbn, count, True)
        self.stop_ahead(now)
        chosen, free_at = self.victim(True)
        self.forget(lbn, count)
        self.fill(chosen, lbn, lbn + count, True)
        bus = now + s["extra_command"] + s["extra_bus"] if extra else ready + s["prepare"]
        bus = max(bus, free_at)
        arm = max(self.arm_free, ready, free_at)
        r.overhead, r.cache = ready - now, arm - ready
        end, r.bus = self.write_medium(arm, lbn, count, bus, r)
        self.arm_free = end
        bus += count * s["write_block"] + s["extra_disconnect" if extra else "write_disconnect"]
        r.overhead += max(bus - end, 0) + s["reselect_again" if extra else "reselect"]
