"""LRU Bottom: one LRU list that sequential tracks enter near the LRU end, random ones at the MRU end.

Paper: B. S. Gill, D. S. Modha, "SARC: sequential prefetching in adaptive replacement cache", USENIX 2005, section
III-A, where it is a baseline.

Deviations and decisions: the paper says only "near the LRU end". A sequential track enters above the longest run of
tracks from the LRU end that together have at most a share `insertion` of all cached pages, the new track's included; a
hit puts it there again. Without the prefetcher (`misspenalty.prefetch.sequential.prefetcher`), blocks are tracks of one
page, and a block is sequential if it ends a run of at least `threshold` blocks.
"""

from misspenalty.policies._lru_bottom import LRUBottom as Kernel
from misspenalty.policies.registry import Parameter, register
from misspenalty.policies.track_cache import THRESHOLD
from misspenalty.policies.tracks import TrackLists

PARAMETERS = [
    THRESHOLD,
    Parameter("insertion", 0.1, "share of the cached pages below a sequential track when it enters", 0, 1, float),
]


@register("lru_bottom", Kernel, PARAMETERS, spatial=True)
class LRUBottom(TrackLists):
    """One LRU list that sequential tracks enter near the LRU end."""

    def __init__(self, capacity, insertion=0.1, **settings):
        super().__init__(capacity, **settings)
        self.insertion, self.merged = insertion, []  # the list begins at the LRU end

    def victim(self):
        """Return the track at the LRU end of the merged list."""
        return self.merged[0]

    def attach(self, track, sequential):
        """Put the track into the merged list as well."""
        super().attach(track, sequential)
        at, below, room = 0, 0, self.insertion * self.size(self.pages)
        while sequential and at < len(self.merged):
            below += self.pages[self.merged[at]].bit_count()
            if below > room:
                break
            at += 1
        self.merged.insert(at if sequential else len(self.merged), track)

    def detach(self, track):
        """Remove the track from the merged list as well."""
        super().detach(track)
        self.merged.remove(track)
