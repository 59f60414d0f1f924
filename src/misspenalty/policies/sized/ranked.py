"""Define LFU, LRU-K and GDSF for objects of different sizes: they evict the object with the lowest rank.

LFU and LRU-K are the policies for blocks (`misspenalty.policies.lfu`, `misspenalty.policies.lruk`) without a correlated
period; their histories hold the names of objects that together have up to `history` times the cache's bytes.

GDSF, greedy dual size frequency: the rank of an object is the value of ``clock + uses / bytes`` at its last use, where
``clock`` is the rank of the object that was evicted last. Small objects and frequently used objects therefore stay, and
objects that are no longer used fall behind in rank.

Paper: L. Cherkasova, "Improving WWW proxies performance with greedy-dual-size-frequency caching policy", HP
Laboratories HPL-98-69 (R.1), 1998, with a cost of 1 for each miss, which favours the number of hits over the bytes hit.
Authors' code: none published.

As in the paper, a new object is ranked before others are evicted for it. If it has the lowest rank itself, it is not
loaded. In a cache of blocks, by contrast, GDSF always loads the new block, and ranks it after the evictions.

Deviations and decisions:

- An object that is not loaded moves the clock to its rank, as a victim does, and the objects evicted for it before that
  do not return. Misses are then those of libCacheSim, and objects that were once used often cannot keep all others out
  for ever; in the paper nothing else is evicted in that case.
- On a tie, the least recently used object is evicted. An object of no bytes ranks like one of one byte.
"""

from misspenalty.policies.sized.reference import Queue, SizedReference, remember


class Ranked(SizedReference):
    """Base of the policies that evict the object with the lowest rank, the least recently used on a tie."""

    def __init__(self, room, changes="replace", history=0.0):
        super().__init__(room, changes)
        self.history_room = int(history * room)
        self.history = Queue()  # evicted objects, oldest eviction first
        self.facts = {}  # number or times of the uses of each object in the cache or the history
        self.rank, self.last, self.now = {}, {}, 0

    def see(self, block):
        """Count a reference."""
        self.now += 1

    def touch(self, block):
        """Count a use."""
        self.last[block] = self.now
        self.rank[block] = self.use(block)

    def load(self, block, size):
        """Load an object; its earlier uses count if the history still has it."""
        known = self.history.pop(block, None) is not None
        if not known:
            self.facts.pop(block, None)
        self.make_room(size)
        self.queue[block] = size
        self.touch(block)

    def evict(self):
        """Evict the object with the lowest rank."""
        victim = min(self.queue, key=self.order)
        self.evicting(victim)
        remember(self.history, victim, self.leave(victim), self.history_room)

    def order(self, block):
        """Return the key by which objects are evicted, the lowest first."""
        return self.rank[block], self.last[block]

    def evicting(self, block):
        """Take note of an object that is about to be evicted."""


class LFU(Ranked):
    """Least frequently used, with or without a history of counts."""

    def use(self, block):
        """Return the number of uses."""
        self.facts[block] = self.facts.get(block, 0) + 1
        return self.facts[block]


class LRUK(Ranked):
    """LRU-K: evict by the K-th-to-last use, by default the second-to-last."""

    def __init__(self, room, changes="replace", k=2, history=4.0):
        super().__init__(room, changes, history)
        self.k = k

    def use(self, block):
        """Return the K-th-to-last use, 0 if it is not known."""
        self.facts[block] = [self.now, *self.facts.get(block, [])][: self.k]
        return self.facts[block][-1] if len(self.facts[block]) == self.k else 0


class GDSF(Ranked):
    """Greedy dual size frequency: the rank is the clock plus uses per byte."""

    def __init__(self, room, changes="replace", bypass=1):
        super().__init__(room, changes)
        self.bypass = bool(bypass)
        self.clock = 0.0

    def load(self, block, size):
        """Load an object; with `bypass` it is ranked before others are evicted, and not loaded if it ranks lowest."""
        own = self.clock + 1 / max(size, 1)
        while self.bypass and self.used + size > self.room:
            if min(self.rank[block] for block in self.queue) > own:
                self.clock = own
                return
            self.evict()
        super().load(block, size)
        if self.bypass:
            self.rank[block] = own

    def use(self, block):
        """Return the clock plus uses per byte."""
        self.facts[block] = self.facts.get(block, 0) + 1
        return self.clock + self.facts[block] / max(self.queue[block], 1)

    def evicting(self, block):
        """Move the clock to the rank of the victim."""
        self.clock = self.rank[block]
