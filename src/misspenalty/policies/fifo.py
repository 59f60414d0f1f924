"""FIFO: evict the block that was loaded first.

Hits change nothing. Which blocks are in the cache depends only on the order of the misses, and a larger cache may
miss more often (Belady's anomaly).

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2),
1966, where it is one of the algorithms simulated.
Authors' code: none.
Deviations: none.
"""

from collections import OrderedDict

from misspenalty.policies._fifo import FIFO as Kernel
from misspenalty.policies.registry import Reference, register


@register("fifo", Kernel)
class FIFO(Reference):
    """First in, first out."""

    CACHED = ("queue",)

    def __init__(self, capacity):
        self.capacity = capacity
        self.queue = OrderedDict()  # oldest first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.queue
        if not hit:
            if len(self.queue) == self.capacity:
                self.queue.popitem(last=False)
            self.queue[block] = None
        return hit
