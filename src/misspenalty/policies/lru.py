"""LRU: evict the least recently used block.

Paper: R. L. Mattson, J. Gecsei, D. R. Slutz, I. L. Traiger, "Evaluation techniques for storage hierarchies", IBM
Systems Journal 9(2), 1970, which also shows that LRU is a stack algorithm: a larger cache holds everything that a
smaller one does. Deviations: none.
"""

from collections import OrderedDict

from misspenalty.policies._lru import LRU as Kernel
from misspenalty.policies.registry import Reference, register


@register("lru", Kernel)
class LRU(Reference):
    """Least recently used."""

    CACHED = ("stack",)

    def __init__(self, capacity):
        self.capacity = capacity
        self.stack = OrderedDict()  # oldest first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.stack
        if not hit and len(self.stack) == self.capacity:
            self.stack.popitem(last=False)
        self.stack[block] = None
        self.stack.move_to_end(block)
        return hit
