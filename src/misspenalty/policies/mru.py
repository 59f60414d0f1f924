"""MRU: evict the most recently used block.

Paper: H.-T. Chou, D. J. DeWitt, "An evaluation of buffer management strategies for relational database systems", VLDB
1985. MRU is best for loops larger than the cache, and the worst on-line policy in the MQ paper.
Deviations: none.
"""

from collections import OrderedDict

from misspenalty.policies._mru import MRU as Kernel
from misspenalty.policies.registry import Reference, register


@register("mru", Kernel)
class MRU(Reference):
    """Most recently used."""

    CACHED = ("stack",)

    def __init__(self, capacity):
        self.capacity = capacity
        self.stack = OrderedDict()  # oldest first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.stack
        if not hit and len(self.stack) == self.capacity:
            self.stack.popitem()
        self.stack[block] = None
        self.stack.move_to_end(block)
        return hit
