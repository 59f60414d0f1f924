"""Define AMP in slow, readable code, in front of any policy's reference on tracks; the kernel must equal it exactly."""

import math
from dataclasses import dataclass

from misspenalty.policies.track_cache import ASYNCHRONOUS, DEMAND, SYNCHRONOUS, Mark


@dataclass
class SetMark(Mark):
    """The mark of a cached track; the last track of a set also keeps p and g."""

    last: int = -1  # last track of the set that this track belongs to
    p: int = 0
    g: int = 0
    old: bool = False  # whether it has had its second chance
    first: bool = False  # whether it is the first of a set fetched ahead, until a read waits for it


class Amp:
    """A mix-in for a policy's reference: prefetching by AMP instead of a fixed degree."""

    def __init__(self, *args, most=32, ahead_above=4, **settings):
        super().__init__(*args, **settings)
        self.most, self.ahead_above, self.read_tracks = most, ahead_above, 1

    def request(self, track, pages, write=False, end=math.inf):
        """Access pages of a track, as in the class that this is mixed into."""
        self.now, self.reads = self.now + 1, []
        have = self.cached(track)
        missing = pages & ~have
        counter = self._run_length(track)
        in_run = counter == self.threshold and self.cached(track - 1)
        if have:
            self._hit(track, pages, have, write, end)
        elif in_run and not write:
            self._sequential_miss(track, counter, end)
        else:
            self.insert(track, pages, sequential=in_run and self.writes_sequential)
            if not write:
                self._read(track, pages, DEMAND)
            self._mark(track, counter)
        return missing

    def _hit(self, track, pages, have, write, end):
        mark, missing = self.marks[track], pages & ~have
        new, mark.unread = mark.unread, False
        self.observe(track, missing == 0, write)
        mark.counter = mark.counter or self._run_length(track)
        if missing:
            if not write:
                missing = self.whole & ~have if mark.counter == self.threshold else missing
                self._read(track, missing, DEMAND)
            self.add_pages(track, missing)
        if not write and self.cached(track):
            self._use_of_set(track, mark, new, end)
        if not new:
            self.use(track, pages & have)

    def _use_of_set(self, track, mark, new, end):
        last, length = mark.last, 0
        if mark.trigger:
            mark.trigger = False
            length = self._kept(last).p if self._kept(last) else min(self.read_tracks, self.most)
        if new and track == last and not mark.old:
            kept = self._last_in_sequence(last)
            if kept:
                kept.p = min(kept.p + self.read_tracks, self.most)
        if length:
            self._fetch_set(last, length, end, ASYNCHRONOUS)

    def _sequential_miss(self, track, counter, end):
        self.sequential_misses += 1
        self.count_sequential_miss()
        self._read(track, self.whole, DEMAND)
        p = self._kept(track - 1).p if self._kept(track - 1) else 0
        self.insert(track, self.whole, sequential=True)
        self._mark(track, counter)
        if self.cached(track):
            mark = self.marks[track]
            mark.p = min(p + self.read_tracks, self.most)
            mark.g = self.ahead_above // 2 if mark.p > self.ahead_above else 0
        self._fetch_set(track, p or min(self.read_tracks, self.most), end, SYNCHRONOUS)

    def _fetch_set(self, before, length, end, why):
        kept = self._kept(before)
        p, g = (kept.p, kept.g) if kept else (length, 0)
        last = int(min(before + length, end - 1))
        for track in range(before + 1, last + 1):
            missing = self.whole & ~self.cached(track)
            counter = self.marks[track].counter if self.cached(track) else 0
            if missing:
                self._read(track, missing, why)
            self.insert(track, self.whole, sequential=True)
            if self.cached(track):
                first = track == before + 1 and missing != 0 and why == ASYNCHRONOUS
                self.marks[track] = SetMark(counter, unread=True, last=last, first=first)
        if last > before:
            if self.cached(last):
                self.marks[last].p, self.marks[last].g = p, g
            trigger = max(before + 1, last - g)
            if p > self.ahead_above and last + 1 < end and self.cached(trigger):
                self.marks[trigger].trigger = True

    def _mark(self, track, counter):
        if self.cached(track):
            self.marks[track] = SetMark(counter, last=track)

    def _kept(self, last):
        """Return the mark of the last track of a set, or None if it no longer keeps p and g."""
        return self.marks[last] if self.cached(last) and self.marks[last].p else None

    def _last_in_sequence(self, last):
        """Return the mark that keeps a stream's p and g: the next set's last track if fetched, else this set's."""
        kept = self._kept(last)
        if kept and self.cached(last + 1):
            return self._kept(self.marks[last + 1].last) or kept
        return kept

    def _evict(self):
        track = self.victim()
        mark = self.marks[track]
        if not mark.unread or mark.old:
            super()._evict()
            return
        kept = self._last_in_sequence(mark.last)
        mark.old, mark.trigger = True, False
        if kept:
            kept.p = max(kept.p - 1, 1)
            kept.g = min(max(kept.g - 1, 0), kept.p - 1)
        sequential = track in self.seq
        self.detach(track)
        self.attach(track, sequential)

    def arrive_late(self, track):
        """Handle the end of a drive operation that began with this track and for which a read was waiting."""
        if not self.cached(track) or not self.marks[track].first:
            return
        self.marks[track].first = False
        kept = self._last_in_sequence(self.marks[track].last)
        if kept:
            kept.g = min(kept.g + 1, self.most - 1)
            kept.p = max(kept.p, kept.g + 1)


def amp(policy):
    """Return a policy's reference with AMP mixed in."""
    return type(f"Amp{policy.__name__}", (Amp, policy), {})
