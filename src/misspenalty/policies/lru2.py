"""LRU-2: evict the block whose second-to-last use is the longest ago.

A block used only once as far as is known goes before all used twice; among those the least recently used goes first.
Uses closer together than the correlated reference period count as one, and within that period after its last use a
block is spared. What is known of an evicted block is retained for a while, so that its next use is its second.

Paper: E. J. O'Neil, P. E. O'Neil, G. Weikum, "The LRU-K page replacement algorithm for database disk buffering",
SIGMOD 1993, section 2 and Figure 2.1, with K = 2 and LRU as the subsidiary policy.
Authors' code: none published.

Deviations and decisions:

- The paper retains a block's history for a time (the retained information period); here for a number of blocks,
  `history` times the cache, the oldest eviction forgotten first. The default, 4, is what the MQ paper gave LRU-2
  ("Simulation set-up").
- The correlated reference period is in accesses; 0, the default, makes every access count.
- With a correlated period an eviction takes time in proportion to the blocks it passes over.
- Where every block is within its correlated period, the one that would go without the period goes.
"""

from collections import OrderedDict

from misspenalty.policies._lru2 import LRU2 as Kernel
from misspenalty.policies.registry import Parameter, Twin, register

PARAMETERS = (
    Parameter("history", 4.0, "evicted blocks remembered, in multiples of the cache", 0, 1000, float),
    Parameter("correlated_period", 0, "accesses within which uses of a block count as one", 0, 2**32 - 1),
)


@register("lru2", Kernel, PARAMETERS)
class LRU2(Twin):
    """LRU-2: evict by the second-to-last use."""

    def __init__(self, capacity, history=4.0, correlated_period=0):
        self.capacity = capacity
        self.room = int(history * capacity)
        self.period = correlated_period
        self.now = 0
        self.last = {}  # last access to each block in the cache
        self.hist = {}  # (last, second-to-last) uncorrelated access to each block in the cache; 0 = not known
        self.history = OrderedDict()  # last uncorrelated access to evicted blocks, oldest eviction first

    def access(self, block):
        """Reference `block`; whether it was in the cache."""
        self.now += 1
        hit = block in self.hist
        if not hit:
            known = self.history.pop(block, 0)
            if len(self.hist) == self.capacity:
                self._evict()
            self.hist[block] = (self.now, known)
        elif self.now - self.last[block] > self.period:
            self.hist[block] = (self.now, self.last[block])  # the correlated period between the uses is left out
        self.last[block] = self.now
        return hit

    def _evict(self):
        uncorrelated = [block for block, last in self.last.items() if self.now - last > self.period]
        victim = min(uncorrelated or self.hist, key=lambda block: (self.hist[block][1], self.last[block]))
        self.history[victim] = self.hist.pop(victim)[0]
        del self.last[victim]
        if len(self.history) > self.room:
            self.history.popitem(last=False)
