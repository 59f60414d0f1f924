"""Define the two lists of tracks that SARC, LRU Top and LRU Bottom share, SEQ and RANDOM, in slow, readable form.

A track is in SEQ if it entered as sequential data (by a prefetch, a sequential miss or the write of a sequential
track), and otherwise in RANDOM; a prefetch moves a track from RANDOM to SEQ. Sizes are counted in pages. A track's
stamp is the number of the request that last moved it to the MRU end. A track x is in the bottom deltaL pages of its
list if

    stamp(x) - stamp(LRU) <= deltaL / |list| * (stamp(MRU) - stamp(LRU)).

The ratio of section III-B, 2 * s * deltaL / |SEQ| with s sequential misses since the last hit in RANDOM's bottom, is
computed whether or not the policy uses it.
"""

from collections import OrderedDict

from misspenalty.policies.registry import Parameter
from misspenalty.policies.track_cache import Tracks

DELTA = Parameter("delta", 0.05, "deltaL, the size of the bottom of a list, as a share of the cache", 0, 1, float)


class TrackLists(Tracks):
    """A cache of tracks with the lists SEQ and RANDOM, each with its LRU end first."""

    CACHED = ("pages",)

    def __init__(self, capacity, delta=0.05, large_ratio=20.0, count_writes=True, **settings):
        super().__init__(capacity, **settings)
        self.delta, self.large_ratio, self.count_writes = delta * capacity, large_ratio, count_writes
        self.seq, self.random = OrderedDict(), OrderedDict()  # stamp of each track
        self.pages = {}  # mask of each cached track
        self.seq_miss, self.adapt, self.last_ratio = 0, 0.0, 0.0
        self.evictions = self.unused = self.bottom_hits = 0

    def size(self, tracks):
        """Return the number of pages of a list, or of the whole cache."""
        return sum(self.pages[track].bit_count() for track in tracks)

    def cached(self, track):
        """Return the mask of the pages in the cache."""
        return self.pages.get(track, 0)

    def ratio(self):
        """Return the ratio of the marginal utility of SEQ to that of RANDOM; 0 if SEQ is empty."""
        return 2 * self.seq_miss * self.delta / self.size(self.seq) if self.seq else 0

    def observe(self, track, hit, write):
        """Adapt if the track is hit in the bottom of its list."""
        ratio, tracks = self.ratio(), self.seq if track in self.seq else self.random
        if not hit or not self._in_bottom(tracks, track):
            return
        if tracks is self.seq:
            if ratio > self.large_ratio:
                self.adapt = 1
        elif self.count_writes or not write:
            self.adapt, self.last_ratio = max(-1, min(ratio - 1, 1)), ratio
            self.seq_miss = 0
            self.bottom_hits += 1

    def _in_bottom(self, tracks, track):
        lru, mru = next(iter(tracks.values())), next(reversed(tracks.values()))
        return tracks[track] - lru <= self.delta / self.size(tracks) * (mru - lru)

    def count_sequential_miss(self):
        """Handle a read miss on a sequential track."""
        self.seq_miss += 1

    def use(self, track, pages):
        """Move the track to the MRU end of its list, unless its own prefetch has evicted it."""
        if track in self.pages:
            sequential = track in self.seq
            self.detach(track)
            self.attach(track, sequential)

    def add_pages(self, track, pages):
        """Put further pages of a cached track into the cache."""
        self.insert(track, pages, track in self.seq)

    def insert(self, track, pages, sequential):
        """Put pages into the cache after making room; a cached track is taken out of its list until there is room."""
        have = self.cached(track)
        if have:
            self.detach(track)
        more = (pages & ~have).bit_count()
        while self.size(self.pages) + more > self.capacity:
            self._evict()
        self.pages[track] = have | pages
        self.attach(track, sequential)

    def attach(self, track, sequential):
        """Put the track into its list."""
        (self.seq if sequential else self.random)[track] = self.now

    def detach(self, track):
        """Take the track out of its list."""
        (self.seq if track in self.seq else self.random).pop(track)

    def _evict(self):
        track = self.victim()
        self.detach(track)
        pages = self.pages.pop(track).bit_count()
        self.unused += self.marks.pop(track).unread
        self.evictions += pages
        self.adjust(pages)

    def adjust(self, pages):
        """Adapt after a track with this number of pages has been evicted; by default, do nothing."""
