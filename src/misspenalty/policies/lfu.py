"""LFU: evict the block with the fewest accesses, the least recently used on a tie.

The count of a block starts at 1 when it is loaded. In the field's usual form (in-cache LFU, the default) the count is
lost when the block is evicted. With a history, the count of an evicted block stays in a directory and is resumed, plus
one, when the block returns.

Paper: E. G. Coffman, P. J. Denning, "Operating systems theory", Prentice-Hall 1973, chapter 6. The MQ paper
("Simulation set-up") ran LFU with a history of four times the cache: `history=4`.
Authors' code: none.

Deviations and decisions: on a tie, the least recently used block is evicted, which is also the one that has been
longest in its frequency class. The history is a FIFO in order of eviction, like MQ's Qout; a block that returns is
removed from it before another block is evicted.
"""

from collections import OrderedDict

from misspenalty.policies._lfu import LFU as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (Parameter("history", 0.0, "counts of evicted blocks kept, in multiples of the cache", 0, 1000, float),)


@register("lfu", Kernel, PARAMETERS)
class LFU(Reference):
    """Least frequently used, with or without a history of counts."""

    CACHED = ("count",)
    GHOSTS = ("history",)

    def __init__(self, capacity, history=0.0):
        self.capacity = capacity
        self.room = int(history * capacity)
        self.count = OrderedDict()  # counts of the blocks in the cache, least recently used first
        self.history = OrderedDict()  # counts of evicted blocks, oldest eviction first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.count
        if hit:
            self.count[block] += 1
        else:
            known = self.history.pop(block, 0)
            if len(self.count) == self.capacity:
                self._evict()
            self.count[block] = known + 1
        self.count.move_to_end(block)
        return hit

    def _evict(self):
        victim = min(self.count, key=self.count.get)  # the first such block on a tie
        self.history[victim] = self.count.pop(victim)
        if len(self.history) > self.room:
            self.history.popitem(last=False)
