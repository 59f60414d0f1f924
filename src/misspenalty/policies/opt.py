"""OPT: evict the block whose next use is farthest in the future, or that is never used again.

No policy has fewer misses.

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2),
1966 (MIN); proof of optimality in Mattson et al. 1970.
Deviations: none in the outcome of any access. The reference is MIN as published; the kernel finds the same hits and
misses, and thus the same number of evictions, without looking ahead and without naming victims (see its head).
"""

from collections import defaultdict, deque

from misspenalty.policies._opt import OPT as Kernel
from misspenalty.policies.registry import Reference, register


@register("opt", Kernel, offline=True)
class OPT(Reference):
    """Optimal: the off-line bound of Belady (MIN)."""

    def __init__(self, capacity, future):
        self.capacity = capacity
        self.cached = set()
        self.uses = defaultdict(deque)  # block -> numbers of its future accesses
        for number, block in enumerate(future):
            self.uses[block].append(number)

    def access(self, block):
        """Reference `block`; returns whether it was in the cache."""
        self.uses[block].popleft()
        hit = block in self.cached
        if not hit and len(self.cached) == self.capacity:
            self.cached.remove(max(self.cached, key=self._next_use))
        self.cached.add(block)
        return hit

    def _next_use(self, block):
        return self.uses[block][0] if self.uses[block] else float("inf")
