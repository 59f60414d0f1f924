"""LeCaR: at each eviction, draw LRU or LFU, with weights that regret adjusts, to choose the victim.

Each of the two experts has a weight; LRU chooses the victim with a probability equal to its weight, else LFU does. The
name of a victim goes to the history of the expert that chose it. If a block in a history returns, that expert was
wrong: its weight is multiplied by exp(-`rate` * d**age), where age is the number of references since the eviction and d
is `discount` to the power of 1 / capacity, and the weights are scaled to a sum of 1.

Paper: G. Vietri, L. V. Rodriguez, W. A. Martinez, S. Lyons, J. Liu, R. Rangaswami, M. Zhao, G. Narasimhan, "Driving
cache replacement with ML-based LeCaR", HotStorage 2018, section 3 and algorithm 1. The algorithm multiplies the other
expert's weight by the inverse of that factor; after scaling, the weights are the same.
Authors' code: code/algs/lecar.py of sylab/cacheus (7e7053d), which we follow where the paper leaves something open,
except as stated below.

Deviations and decisions:

- Each history holds `histories` times as many names as the cache has blocks, half as many by default, and forgets the
  oldest eviction first.
- A block that both experts choose enters no history.
- The count of a block that returns from a history is, for LFU, the count with which it was evicted, plus one; the
  count of any other missed block is 1. (In libCacheSim's LeCaR.c, the count of every missed block is 1: `recall` = 0.)
- No adjusted weight exceeds 0.99, as in the authors' code; the paper does not say so.
- On a tie, LFU chooses the least recently used block; the authors' code takes the lowest block number.
- A number is drawn only if the experts disagree; draws are SplitMix64's. With `rate` 0 the weights do not change.
"""

from collections import OrderedDict
from math import exp

from misspenalty.policies._lecar import LeCaR as Kernel
from misspenalty.policies.draws import Draws
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("rate", 0.45, "learning rate", 0, 100, float),
    Parameter(
        "discount",
        0.005,
        "weight of a regret when the block returns as many references after its eviction as the cache has blocks",
        1e-9,
        1,
        float,
    ),
    Parameter("lru", 0.5, "initial weight of LRU", 0, 1, float),
    Parameter(
        "histories",
        0.5,
        "evicted blocks that each of the two histories holds, in multiples of the cache",
        0,
        1000,
        float,
    ),
    Parameter("recall", 1, "1 = a block from a history resumes its old count, 0 = it starts at 1", 0, 1),
    Parameter("seed", 42, "start of the random number generator", 0, 2**63 - 1),
)
MOST = 0.99  # maximum weight of an expert


@register("lecar", Kernel, PARAMETERS)
class LeCaR(Reference):
    """LeCaR: LRU or LFU, drawn by weights that learn from regret."""

    CACHED = ("count",)
    GHOSTS = ("lru_history", "lfu_history")

    def __init__(self, capacity, rate=0.45, discount=0.005, lru=0.5, histories=0.5, recall=1, seed=42):
        self.capacity = capacity
        self.rate = rate
        self.discount = discount ** (1 / capacity)
        self.weight = lru  # weight of LRU; that of LFU is 1 minus this
        self.room = int(histories * capacity)
        self.recall = recall
        self.draws = Draws(seed)
        self.now = 0
        self.count = OrderedDict()  # numbers of references to the blocks in the cache, least recently used first
        self.lru_history = OrderedDict()  # count and time of eviction by block, oldest eviction first
        self.lfu_history = OrderedDict()

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.now += 1
        if block in self.count:
            self.count[block] += 1
            self.count.move_to_end(block)
            return True
        count = 1
        for history in (self.lru_history, self.lfu_history):
            if block in history:
                known, evicted = history.pop(block)
                count += known * self.recall
                self._regret(history is self.lru_history, self.now - evicted)
        if len(self.count) == self.capacity:
            self._evict()
        self.count[block] = count
        return False

    def _regret(self, of_lru, age):
        """Lower the weight of the expert that evicted a block `age` references before it returned."""
        factor = exp(-self.rate * self.discount**age)
        lru = self.weight * (factor if of_lru else 1.0)
        lfu = (1 - self.weight) * (1.0 if of_lru else factor)
        if self.rate and lru + lfu > 0:
            self.weight = min(max(lru / (lru + lfu), 1 - MOST), MOST)

    def _evict(self):
        lru = next(iter(self.count))
        lfu = min(self.count, key=self.count.get)  # the least recently used block on a tie
        by_lru = lru == lfu or self.draws.share() < self.weight
        victim = lru if by_lru else lfu
        count = self.count.pop(victim)
        if lru == lfu:
            return
        history = self.lru_history if by_lru else self.lfu_history
        history[victim] = count, self.now
        if len(history) > self.room:
            history.popitem(last=False)
