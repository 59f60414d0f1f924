"""SARC: one cache split between sequential and random tracks so that both lists have equal marginal utility.

SEQ holds sequential tracks and RANDOM all others, each in LRU order. With s sequential misses since the last hit in the
bottom deltaL pages of RANDOM, one more page of SEQ saves 2 * s / |SEQ| misses, and one more page of RANDOM saves 1 /
deltaL. A hit in the bottom of RANDOM sets the pace `adapt` to the ratio of the two minus 1, limited to the range from
-1 to 1, and begins a new interval; a hit in the bottom of SEQ while the ratio is above `large_ratio` sets `adapt` to 1.
Each eviction moves the desired size of SEQ by half of `adapt`. The LRU track of SEQ is evicted if SEQ is larger than
desired, otherwise that of RANDOM; while one of the lists is below deltaL, the older of the two LRU tracks is evicted.

Paper: B. S. Gill, D. S. Modha, "SARC: sequential prefetching in adaptive replacement cache", USENIX 2005, sections
III-B to III-D. Authors' code: none published.

Deviations and decisions: the algorithm's figure was not available; its control flow is reconstructed from what two
public ports (the `sarc.c` of aiofs and pymesh) and the authors' patents (US 7,464,246, 7,509,470, 7,533,239) have in
common; lists below deltaL and the initial desired size are handled as in pymesh. The paper gives values neither for
deltaL (here 5 % of the cache) nor for large_ratio (here 20), nor does it state whether writes set `adapt`. The desired
size stays between 0 and the cache size; at 0 it starts again from the size of SEQ. As sizes are counted in pages, the
eviction of a track moves the desired size by half of `adapt` for each of the track's pages. Frames are freed when they
are needed, not in advance. Without the prefetcher (`misspenalty.prefetch.sequential.prefetcher`), blocks are
tracks of one page and nothing is prefetched: SEQ then holds the blocks of a run from its `threshold`-th block on.
"""

from misspenalty.policies._sarc import SARC as Kernel
from misspenalty.policies.registry import Parameter, register
from misspenalty.policies.track_cache import THRESHOLD
from misspenalty.policies.tracks import DELTA, TrackLists

PARAMETERS = [
    THRESHOLD,
    DELTA,
    Parameter("large_ratio", 20.0, "ratio above which SEQ grows at a hit in its bottom", 0, 1e9, float),
    Parameter("count_writes", 1, "1: a write hit in RANDOM's bottom adapts like a read hit", 0, 1),
]


@register("sarc", Kernel, PARAMETERS, spatial=True)
class SARC(TrackLists):
    """Sequential and random tracks share the cache by their marginal utility."""

    desired = 0.0  # desired size of SEQ, pages; 0 = not known yet

    def victim(self):
        """Return the LRU track of the list that is too large, or the older LRU track while a list is below deltaL."""
        if not self.seq or not self.random:
            return next(iter(self.seq or self.random))
        seq, random = next(iter(self.seq)), next(iter(self.random))
        if min(self.size(self.seq), self.size(self.random)) < self.delta:
            return seq if self.seq[seq] < self.random[random] else random
        return seq if self.size(self.seq) > self.desired else random

    def adjust(self, pages):
        """Move the desired size of SEQ."""
        if self.desired > 0:
            self.desired = max(0.0, min(self.desired + self.adapt / 2 * pages, float(self.capacity)))
        else:
            self.desired = float(self.size(self.seq))
