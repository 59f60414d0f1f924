"""LRU-K: evict the block whose K-th-to-last use is oldest; LRU-2 unless another K is given.

Blocks with fewer than K known uses are evicted before all others, the least recently used of them first. The history of
an evicted block is retained for a while, so that its next use adds to the earlier ones. K = 1 is LRU.

Correlated reference period: uses of a block that are at most this number of accesses apart (by one transaction, say)
count as one use, which lasts from the first of them to the last. A block within that period after its last use is not
evicted unless all blocks in the cache are within theirs. At the next uncorrelated use, the duration of the previous use
is removed by moving the older uses closer, so that only the intervals between uses count.

Paper: E. J. O'Neil, P. E. O'Neil, G. Weikum, "The LRU-K page replacement algorithm for database disk buffering",
SIGMOD 1993, section 2 and Figure 2.1, with LRU as the subsidiary policy.
Authors' code: none published.

Deviations and decisions:

- The paper retains a block's history for a time (the retained information period). Here a number of histories is
  retained, `history` times the cache, and the oldest eviction is forgotten first. The default, 4, is the value that the
  MQ paper gave LRU-2 ("Simulation set-up").
- The correlated reference period is in accesses; 0, the default, makes every access count.
- An eviction takes time proportional to the cache size if every block is within its correlated period.
- If every block is within its correlated period, the victim is the one that would be evicted without the period.
- An unknown use stays unknown, whereas Figure 2.1 would add the duration of the previous use to the 0 that stands for
  the unknown one.
"""

from collections import OrderedDict

from misspenalty.policies._lruk import LRUK as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("k", 2, "number of last uses remembered per block; the oldest decides", 1, 64),
    Parameter("history", 4.0, "evicted blocks remembered, in multiples of the cache", 0, 1000, float),
    Parameter("correlated_period", 0, "accesses within which uses of a block count as one", 0, 2**32 - 1, accesses=1),
)


@register("lru2", Kernel, PARAMETERS)
class LRUK(Reference):
    """LRU-K: evict by the K-th-to-last use, by default the second-to-last."""

    CACHED = ("hist",)
    GHOSTS = ("history",)

    def __init__(self, capacity, k=2, history=4.0, correlated_period=0):
        self.capacity = capacity
        self.k = k
        self.room = int(history * capacity)
        self.period = correlated_period
        self.now = 0
        self.last = {}  # time of the last access to each block in the cache
        self.hist = {}  # times of up to k uncorrelated accesses to each block in the cache, the last one first
        self.history = OrderedDict()  # the same for evicted blocks, oldest eviction first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.now += 1
        hit = block in self.hist
        if not hit:
            known = self.history.pop(block, [])
            if len(self.hist) == self.capacity:
                self._evict()
            self.hist[block] = [self.now, *known][: self.k]
        elif self.now - self.last[block] > self.period:
            correlated = self.last[block] - self.hist[block][0]
            self.hist[block] = [self.now, *(use + correlated for use in self.hist[block])][: self.k]
        self.last[block] = self.now
        return hit

    def _evict(self):
        uncorrelated = [block for block, last in self.last.items() if self.now - last > self.period]
        victim = min(uncorrelated or self.hist, key=self._rank)
        self.history[victim] = self.hist.pop(victim)
        del self.last[victim]
        if len(self.history) > self.room:
            self.history.popitem(last=False)

    def _rank(self, block):
        """Return the times of the K-th-to-last use (0 if unknown) and of the last use, which breaks ties."""
        uses = self.hist[block]
        return uses[-1] if len(uses) == self.k else 0, self.last[block]
