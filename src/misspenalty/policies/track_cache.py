"""Define the cache of tracks that SARC, LRU Top and LRU Bottom share, with sequential detection and prefetching.

The definition of the prefetcher, with paper, decisions and deviations, is in
`misspenalty.prefetch.sequential.prefetcher`; this module is its readable reference, from which the policies on tracks
are derived.
"""

import math
from dataclasses import dataclass

from misspenalty.policies.registry import Parameter, Reference

DEMAND, SYNCHRONOUS, ASYNCHRONOUS = range(3)
THRESHOLD = Parameter("threshold", 3, "length of the run of tracks that counts as a sequential stream", 1, 255)


@dataclass
class Mark:
    """State of a cached track."""

    counter: int = 0  # 0 = not set
    trigger: bool = False
    unread: bool = False


class Tracks(Reference):
    """The prefetcher, slow and readable; subclasses decide what is cached."""

    def __init__(self, capacity, track_pages=1, threshold=3, degree=0, trigger=-1, remedy=True, writes_sequential=True):
        self.capacity, self.whole = capacity, (1 << track_pages) - 1
        self.threshold, self.degree, self.trigger = threshold, degree, trigger
        self.remedy, self.writes_sequential = remedy, writes_sequential
        self.marks = {}  # marks of cached tracks
        self.now, self.reads, self.sequential_misses, self.staged = 0, [], 0, [0, 0, 0]

    def access(self, block):
        """Reference `block`, a track of one page; return whether it was in the cache."""
        return self.request(block, self.whole) == 0

    def request(self, track, pages, write=False, end=math.inf):
        """Access `pages` of `track`; return the mask of the missing pages. The reads to issue are in `reads`."""
        self.now, self.reads = self.now + 1, []
        have = self.cached(track)
        missing = pages & ~have
        if have:
            self._again(track, have, missing, write, end, pages)
            return missing
        counter = self._run_length(track)
        run = counter == self.threshold and self.cached(track - 1)
        if run and not write:
            self.sequential_misses += 1
            self.count_sequential_miss()
            self._read(track, self.whole, DEMAND)
            self.insert(track, self.whole, sequential=True)
            self._mark(track, counter)
            self._fetch(track + 1, track + self.degree, end, SYNCHRONOUS)
        else:
            self.insert(track, pages, sequential=run and self.writes_sequential)
            if not write:
                self._read(track, pages, DEMAND)
            self._mark(track, counter)
        return missing

    def _again(self, track, have, missing, write, end, pages):
        """Handle an access to a track that is cached, at least in part."""
        mark = self.marks[track]
        self.observe(track, missing == 0, write)
        mark.counter = mark.counter or self._run_length(track)
        mark.unread = False
        if missing:
            if not write:
                missing = self.whole & ~have if mark.counter == self.threshold else missing
                self._read(track, missing, DEMAND)
            self.add_pages(track, missing)
        if mark.trigger and not write and self.cached(track):
            mark.trigger = False
            if self.remedy:
                for rest in range(track + 1, track + self.trigger + 1):
                    if rest < end and self.cached(rest) and self.marks[rest].unread:
                        self.use(rest, 0)
            last = track + self.trigger
            self._fetch(last + 1, last + self.degree, end, ASYNCHRONOUS)
        self.use(track, pages & have)

    def _run_length(self, track):
        return min(self.threshold, self.marks[track - 1].counter + 1) if self.cached(track - 1) else 1

    def _fetch(self, first, last, end, why):
        for track in range(first, int(min(last, end - 1)) + 1):
            new, missing = not self.cached(track), self.whole & ~self.cached(track)
            if missing:
                self._read(track, missing, why)
            self.insert(track, self.whole, sequential=True)
            if self.cached(track):
                if new:
                    self.marks[track] = Mark()
                self.marks[track].unread = True
        if self.trigger >= 0 and first <= last < end and self.cached(last - self.trigger):
            self.marks[last - self.trigger].trigger = True

    def _mark(self, track, counter):
        if self.cached(track):
            self.marks[track] = Mark(counter)

    def _read(self, track, pages, why):
        self.reads.append((track, pages, why))
        self.staged[why] += 1

    def observe(self, track, hit, write):
        """Handle an access to a cached track, before any track moves."""

    def arrive_late(self, track):
        """Handle the arrival of an operation that begins with this track while a read waits for the track.

        Only AMP reacts.
        """

    def count_sequential_miss(self):
        """Handle a read miss on a sequential track."""
