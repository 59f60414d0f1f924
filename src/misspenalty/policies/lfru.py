"""LFRU: evict the block with the lowest combined recency and frequency (CRF).

Every past use of a block adds (1/2)**(lam * age) to its CRF, with the age in accesses. With lam = 0 the CRF is the
access count, so the policy is LFU; with lam = 1 a use outweighs all earlier ones, so the policy is LRU. The CRF of an
evicted block stays in a bounded history and is resumed when the block returns.

Paper: D. Lee, J. Choi, J.-H. Kim, S. H. Noh, S. L. Min, Y. Cho, C. S. Kim, "On the existence of a spectrum of
policies that subsumes the least recently used (LRU) and least frequently used (LFU) policies", SIGMETRICS 1999, where
it is called LRFU. LFRU is the MQ paper's name for it, with a history of four times the cache ("Simulation set-up"),
the default here; `history=0` is the original.
Authors' code: none published.

Deviations and decisions:

- All CRFs decay at the same rate, so log2(CRF) + lam * (time of last use) orders the blocks, and a block's value does
  not change until its next use. Kernel and reference compute it in the same steps, with identical results.
- On a tie, the least recently used block is evicted. The history is a FIFO in order of eviction, like MQ's Qout.
- The default lam = 0.001 has the order of magnitude of the best values in the LRFU paper, as we remember it; the
  paper's caches were small. As lam times the cache size grows beyond 1, the policy approaches LRU. The MQ paper tried
  several values but states none, so try several.
- The correlated reference period of the LRFU paper is left out.
"""

from collections import OrderedDict
from math import exp2, log2

from misspenalty.policies._lfru import LFRU as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

LAM = Parameter("lam", 0.001, "lambda, the decay of a use's weight in halvings per access", 0, 1, float, -1)
PARAMETERS = (
    LAM,
    Parameter("history", 4.0, "CRFs of evicted blocks kept, in multiples of the cache", 0, 1000, float),
)


@register("lfru", Kernel, PARAMETERS)
class LFRU(Reference):
    """LFRU (LRFU with a history): evict by combined recency and frequency."""

    CACHED = ("crf",)
    GHOSTS = ("history",)

    def __init__(self, capacity, lam=0.001, history=4.0):
        self.capacity = capacity
        self.lam = lam
        self.room = int(history * capacity)
        self.now = 0
        self.crf = OrderedDict()  # (CRF, time) at the last use of each block in the cache, least recently used first
        self.history = OrderedDict()  # the same for evicted blocks, oldest eviction first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.now += 1
        hit = block in self.crf
        crf, last = self.crf[block] if hit else self.history.pop(block, (0, 0))
        if not hit and len(self.crf) == self.capacity:
            self._evict()
        self.crf[block] = 1 + crf * exp2(-self.lam * (self.now - last)), self.now
        self.crf.move_to_end(block)
        return hit

    def _evict(self):
        victim = min(self.crf, key=self._rank)  # the first such block on a tie
        self.history[victim] = self.crf.pop(victim)
        if len(self.history) > self.room:
            self.history.popitem(last=False)

    def _rank(self, block):
        crf, last = self.crf[block]
        return log2(crf) + self.lam * last
