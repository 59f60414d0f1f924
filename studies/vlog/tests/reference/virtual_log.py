"""Define the virtual-log disk in slow, readable code, with a set of free sectors and a tree of lists.

It implements the description in `misspenalty_studies.vlog.virtual_log.log` and shares with the kernels only the drive's
mechanics, that is, seeks and angles (tested separately); tests compare it with the kernels to the nanosecond.
"""

from collections import Counter

from misspenalty.disks.drive.slices import uniform
from misspenalty_studies.vlog.virtual_log.log import longest_transaction

CHILDREN, ENTRIES = 5, 100
GOLDEN, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1


class Reference:
    """One disk; the parameters are those of `misspenalty_studies.vlog.virtual_log.log.virtual_log`."""

    def __init__(self, description, blocks, *, block_sectors=8, aligned=True, log_map=True, reserve=None, seed=0):
        self.mechanics, self.unit, self.blocks = description.mechanics, block_sectors, blocks
        self.tracks, self.heads, self.sectors = uniform(description)
        self.step = block_sectors if aligned else 1
        self.per_track = (self.sectors - block_sectors) // self.step + 1
        self.longest = longest_transaction(description, block_sectors)
        settings = description.settings
        self.overhead = {False: settings["read_miss"][1], True: settings["write_miss"][0]}
        self.log_map, self.reserve, self.state = log_map, reserve, seed
        self.free = {(track, sector) for track in range(self.tracks) for sector in range(self.sectors)}
        self.free -= set(self.sectors_of(0))  # the place of the tail's record
        self.map, self.owner = {}, {}
        self.address, self.children, self.tail = {}, {}, None  # by piece of the map; the last child comes first
        self.track = self.now = self.relogged = 0
        self.open = self.avoid = self.partial = None
        self.compacting, self.stale = False, []
        self.held = self.held_from = self.held_until = None

    def sectors_of(self, block):
        """Return the sectors of a physical block."""
        track, place = divmod(block, self.per_track)
        return [(track, place * self.step + i) for i in range(self.unit)]

    def lay_out(self, physical):
        """Map the logical blocks in order to these physical ones, and log the map."""
        for logical, block in enumerate(physical):
            self.map[logical], self.owner[block] = block, logical
            self.free -= set(self.sectors_of(block))
        for piece in range(-(-self.blocks // ENTRIES)):
            self.transaction(lambda now, spent, piece=piece: self.log(piece, now, spent), 0, Counter())
        self.track = 0

    def request(self, now, write, sector, count):
        """Serve a request; return ``(end, parts)``."""
        spent = Counter(overhead=self.overhead[write])
        now += self.overhead[write]
        if write:
            for first in range(sector // self.unit, (sector + count - 1) // self.unit + 1, self.longest):
                last = min(first + self.longest, (sector + count - 1) // self.unit + 1)
                blocks = range(first, last)
                now = self.transaction(lambda t, s, b=blocks: self.write(b, sector, sector + count, t, s), now, spent)
        else:
            while count:
                part = min(count, self.unit - sector % self.unit)
                now = self.read(now, sector // self.unit, sector % self.unit, part, spent)
                sector, count = sector + part, count - part
        self.now = now
        return now, spent

    def transaction(self, work, now, spent):
        """Call `work` in one transaction, at whose end the blocks and records that it replaces are freed."""
        self.stale = []
        now = work(now, spent)
        self.free |= set(self.stale)
        return now

    def write(self, blocks, begin, end, now, spent):
        """Write the blocks of one transaction, then their pieces of the map."""
        for block in blocks:
            if begin > block * self.unit or end < (block + 1) * self.unit:
                if block in self.map and self.partial != block:
                    now = self.read(now, block, 0, self.unit, spent)
                self.partial = block
            now = self.put(block, now, spent)
        for piece in range(blocks[0] // ENTRIES, blocks[-1] // ENTRIES + 1):
            now = self.log(piece, now, spent)
        return now

    def angle(self, track, sector):
        """Return the angle at which a sector begins."""
        return self.mechanics.locate(track * self.sectors + sector)[3]

    def passing(self, track, sector, count, now):
        """Return when `count` sectors of a track, from `sector` on, have passed, if the first of them begins now."""
        after = now + 1  # the end of a whole track is at the angle that passes now
        return after + self.mechanics.rotation(after, self.angle(track, (sector + count) % self.sectors))

    def read(self, now, block, part, count, spent):
        """Read from one block: from the track buffer if the sectors pass the head before the arm leaves the track."""
        if block not in self.map:
            return now
        track, sector = self.sectors_of(self.map[block])[part]
        if self.held == track:
            start = self.held_from + self.mechanics.rotation(self.held_from, self.angle(track, sector))
            end = self.passing(track, sector, count, start)
            if self.held_until is None or end <= self.held_until:
                waited = max(end - now, 0)
                spent.update(transfer=min(waited, end - start), locate=waited - min(waited, end - start))
                return max(now, end)
        ready = now + self.mechanics.reposition(self.track, track, False)
        start = ready + self.mechanics.rotation(ready, self.angle(track, sector))
        end = self.passing(track, sector, count, start)
        spent.update(locate=start - now, transfer=end - start)
        self.held, self.held_from, self.held_until, self.track = track, ready, None, track
        return end

    def empty(self, track):
        """Return whether a track is empty."""
        return all((track, sector) in self.free for sector in range(self.sectors))

    def step_of(self, unit):
        """Return the number of sectors from the start of one unit to the start of the next."""
        return self.step if unit == self.unit else 1

    def units(self, unit):
        """Return the free units by track."""
        found, step = {}, self.step_of(unit)
        for track in range(self.tracks):
            for place in range((self.sectors - unit) // step + 1):
                if all((track, place * step + i) in self.free for i in range(unit)):
                    found.setdefault(track, []).append(place)
        return found

    def soonest(self, tracks, units, unit, now):
        """Return (start, track, unit) of the unit on these tracks that passes first; on a tie, choose the lowest
        track."""
        best = None
        for track in sorted(tracks):
            ready = now + self.mechanics.reposition(self.track, track, True)
            for place in units[track]:
                start = ready + self.mechanics.rotation(ready, self.angle(track, place * self.step_of(unit)))
                if best is None or start < best[0]:
                    best = start, track, place
        return best

    def sweep(self, tracks, units, unit, now):
        """Return what `soonest` finds on this and the higher cylinders, or else on the first cylinder with a free
        unit."""
        here = self.track // self.heads
        ahead = [track for track in tracks if track // self.heads >= here]
        if not ahead and tracks:
            lowest = min(tracks) // self.heads
            ahead = [track for track in tracks if track // self.heads == lowest]
        # If units on two cylinders pass equally early, the one on the nearer cylinder wins, because it comes first.
        return self.soonest(ahead, units, unit, now)

    def choose(self, unit, left, now):
        """Choose where to write a unit next; filling a track leaves `left` units free."""
        units = self.units(unit)
        if self.reserve is not None and self.avoid is None:
            if self.open is not None and len(units.get(self.open, [])) > left:
                return self.soonest([self.open], units, unit, now)
            best = self.sweep([track for track in units if self.empty(track)], units, unit, now)
            self.open = best and best[1]
            if best:
                return best
        allowed = [track for track in units if track != self.avoid]
        holes = [track for track in allowed if not (self.compacting and self.empty(track))]
        return self.sweep(holes, units, unit, now) or self.sweep(allowed, units, unit, now)

    def arrive(self, unit, left, now, spent, names):
        """Write a unit where `choose` puts it; return ``(end, its sectors)``."""
        start, track, place = self.choose(unit, left, now)
        first = place * self.step_of(unit)
        end = self.passing(track, first, unit, start)
        spent.update({names[0]: start - now, names[1]: end - start})
        if track == self.held:
            self.held = None
        elif self.held is not None and self.held_until is None:
            self.held_until = now
        self.track = track
        taken = [(track, first + i) for i in range(unit)]
        self.free -= set(taken)
        return end, taken

    def put(self, logical, now, spent):
        """Write a block eagerly."""
        now, taken = self.arrive(self.unit, self.reserve, now, spent, ("locate", "transfer"))
        if logical in self.map:
            self.stale += self.sectors_of(self.map[logical])
            del self.owner[self.map[logical]]
        self.map[logical] = taken[0][0] * self.per_track + taken[0][1] // self.step
        self.owner[self.map[logical]] = logical
        return now

    def log(self, piece, now, spent):
        """Write a piece of the map at the log's tail."""
        if not self.log_map:
            return now
        own = self.children.setdefault(piece, [])
        while self.tail not in (None, piece) and len(own) >= CHILDREN:
            slim = min(own, key=lambda child: len(self.children[child]))
            now = self.log(slim, now, spent)
            self.relogged += 1
        own_spent = Counter()
        now, taken = self.arrive(1, 0, now, own_spent, ("locate", "transfer"))
        spent.update(own_spent)
        spent.update({f"map_{name}": ns for name, ns in own_spent.items()})
        for children in self.children.values():
            if piece in children:
                children.remove(piece)
        if self.tail not in (None, piece):
            own.insert(0, self.tail)
        if piece in self.address:
            self.stale.append(self.address[piece])
        self.address[piece], self.tail = taken[0], piece
        return now

    def rest(self, until):
        """Compact until a given time, which the last block and its piece of the map may exceed."""
        while self.now < until:
            track = self.victim()
            if track is None or not self.clear(track, until):
                break
        self.now = max(self.now, until)
        return self.now

    def victim(self):
        """Choose a random track other than 0 that is not empty and whose contents fit elsewhere."""
        units = self.units(self.unit)
        count = [len(units.get(track, [])) for track in range(self.tracks)]
        holes = sum(count[track] for track in range(self.tracks) if not self.empty(track))
        self.state = self.state + GOLDEN & WORD
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB & WORD
        first = (z ^ z >> 31) % self.tracks
        for track in [*range(first, self.tracks), *range(first)]:
            used = sum((track, sector) not in self.free for sector in range(self.sectors))
            things = self.per_track - count[track] if self.step == self.unit else -(-used // self.unit)
            needed = (2 * self.unit // self.step - 1) * (2 * things + 2)
            if track > 0 and not self.empty(track) and holes - count[track] >= needed:
                return track
        return None

    def clear(self, track, until):
        """Move a track's blocks and records elsewhere, if it can be read in time; return whether it is then empty."""
        begin = self.now + self.mechanics.reposition(self.track, track, False) + self.mechanics.revolution_ns
        if begin >= until:
            return False
        self.now, self.track, self.held, self.avoid, self.compacting = begin, track, None, track, True
        for piece in range(-(-self.blocks // ENTRIES)):
            if self.now < until:
                self.now = self.transaction(
                    lambda now, spent, piece=piece: self.move(track, piece, until, now, spent), self.now, Counter()
                )
        self.avoid, self.compacting = None, False
        return self.empty(track)

    def move(self, track, piece, until, now, spent):
        """Move the blocks of a track that belong to one piece of the map, while there is time, then log the piece."""
        changed = piece in self.address and self.address[piece][0] == track
        for block in range(track * self.per_track, (track + 1) * self.per_track):
            if block in self.owner and self.owner[block] // ENTRIES == piece:
                if now >= until:
                    break
                now = self.put(self.owner[block], now, spent)
                changed = True
        return self.log(piece, now, spent) if changed else now
