"""MRU: evict the most recently used block.

Paper: H.-T. Chou, D. J. DeWitt, "An evaluation of buffer management strategies for relational database systems", VLDB
1985. MRU is best for loops larger than the cache, and the worst online policy in the MQ paper.
Deviations: none.
"""

from misspenalty.policies._mru import MRU as Kernel
from misspenalty.policies.lru import LRU
from misspenalty.policies.registry import register


@register("mru", Kernel)
class MRU(LRU):
    """Most recently used."""

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block not in self.stack and len(self.stack) == self.capacity:
            self.stack.popitem()
        return super().access(block)
