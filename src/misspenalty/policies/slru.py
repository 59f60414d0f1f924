"""SLRU: LRU in segments; a hit moves a block one segment up, and overflow falls back into the segment below.

A new block enters the probationary segment at its most recently used end. A hit moves a block to the most recently used
end of the next segment up, or of its own segment if that is the highest (the protected one, if there are two). A
segment above its limit passes its least recently used block on to the most recently used end of the one below. The
victim is the least recently used block of the lowest segment that holds any. Only the upper segments have limits: the
probationary one has all the room that they leave.

Paper: R. Karedla, J. S. Love, B. G. Wherry, "Caching strategies to improve disk system performance", IEEE Computer
27(3), 1994, on segmented LRU. The limit of the protected segment is a tuning parameter there.
Authors' code: none published.

Deviations and decisions:

- `protected` is 0.8 by default, as in Caffeine and in the W-TinyLFU paper.
- More than two segments are libCacheSim's generalisation. The upper ones share `protected` equally.
- `fill_up=1` is another rule of libCacheSim's: until the cache is full, a new block enters the lowest segment with
  room, so that some of the first blocks are protected without a hit. The paper has no such rule.
- libCacheSim's SLRU is `segments=4, protected=0.75, fill_up=1`, with equal misses if the cache size is a multiple of
  four. If not, libCacheSim limits the lowest segment too, and a hit may then evict a block although no room is needed:
  see `libcachesim`.
"""

from collections import OrderedDict

from misspenalty.policies._slru import SLRU as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("segments", 2, "number of segments", 2, 16),
    Parameter(
        "protected", 0.8, "combined limit of all segments above the lowest, as a share of the cache", 0, 1, float
    ),
    Parameter("fill_up", 0, "1 = until the cache is full, new blocks enter the lowest segment with room", 0, 1),
)


@register("slru", Kernel, PARAMETERS)
class SLRU(Reference):
    """Segmented LRU: probationary and protected blocks."""

    def __init__(self, capacity, segments=2, protected=0.8, fill_up=0):
        self.capacity = capacity
        upper = int(capacity * protected / (segments - 1))
        self.limits = [capacity - (segments - 1) * upper] + [upper] * (segments - 1)
        self.segments = [OrderedDict() for _ in self.limits]  # lowest first; each least recently used first
        self.fill_up = fill_up

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        for k, segment in enumerate(self.segments):
            if block in segment:
                del segment[block]
                self._enter(min(k + 1, len(self.segments) - 1), block)
                return True
        full = sum(map(len, self.segments)) == self.capacity
        if full:
            next(segment for segment in self.segments if segment).popitem(last=False)
        self._enter(0 if full or not self.fill_up else self._lowest_with_room(), block)
        return False

    def cached_blocks(self):
        """Return the blocks in the cache."""
        return {block for segment in self.segments for block in segment}

    def _enter(self, k, block):
        self.segments[k][block] = None
        if k and len(self.segments[k]) > self.limits[k]:
            demoted, _ = self.segments[k].popitem(last=False)
            self._enter(k - 1, demoted)

    def _lowest_with_room(self):
        return next(k for k, limit in enumerate(self.limits) if len(self.segments[k]) < limit)
