"""LRU Top: one LRU list in which every track, sequential or not, enters at the MRU end and returns there when used.

Paper: B. S. Gill, D. S. Modha, "SARC: sequential prefetching in adaptive replacement cache", USENIX 2005, section
III-A, where it is a baseline.
Deviations: none. Without the prefetcher (`misspenalty.prefetch.sequential.prefetcher`) it is LRU.
"""

from misspenalty.policies._lru_top import LRUTop as Kernel
from misspenalty.policies.registry import register
from misspenalty.policies.tracks import TrackLists


@register("lru_top", Kernel, spatial=True)
class LRUTop(TrackLists):
    """One LRU list that sequential tracks enter at the MRU end like all others."""

    def victim(self):
        """Return the least recently moved track."""
        return min(
            (next(iter(tracks.items())) for tracks in (self.seq, self.random) if tracks), key=lambda item: item[1]
        )[0]
