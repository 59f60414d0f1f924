"""OPT: the maximum number of hits if all future references are known, for caches that may or may not refuse a block.

``opt`` loads every block that it misses and evicts the cached block whose next use is farthest in the future, or a
block that is never used again. No policy that loads every block it misses has fewer misses. A policy that may leave a
block out of the cache can have fewer: on 1 2 1 2 … a cache of one block that keeps block 1 hits every other access,
while ``opt`` hits none.

``opt_bypass`` leaves out the missed block if the cache is full and no cached block has a later next use. No cache that
holds only referenced blocks has fewer misses, whether or not it loads every block that it misses.

Both maximise the hits over all references that they are given. If a trace has writes or a warm-up, another policy may
therefore have more hits among the references that are counted.

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2),
1966 (MIN); proof of optimality in Mattson et al. 1970. With bypass: S. McFarling, "Cache replacement with dynamic
exclusion", ISCA 1992 (its optimal direct-mapped cache is the case of one block).
Deviations: none in the outcome of any access. The classes below decide by looking ahead, as published; the kernels
compute the same hits and misses without looking ahead and without determining victims (see _opt.pyx). A block that
``opt_bypass`` leaves out counts as evicted at once.
"""

from collections import defaultdict, deque

from misspenalty.policies._opt import OPT as Kernel
from misspenalty.policies._opt import OPTBypass as BypassKernel
from misspenalty.policies.registry import Reference, register


@register("opt", Kernel, offline=True)
class OPT(Reference):
    """Optimal for a cache that loads every block it misses: the off-line bound of Belady (MIN)."""

    CACHED = ("cached",)

    def __init__(self, capacity, future):
        self.capacity = capacity
        self.cached = set()
        self.uses = defaultdict(deque)  # block -> numbers of its future accesses
        for number, block in enumerate(future):
            self.uses[block].append(number)

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.uses[block].popleft()
        hit = block in self.cached
        if not hit:
            self.load(block)
        return hit

    def load(self, block):
        """Load a missed block, after evicting another if the cache is full."""
        if len(self.cached) == self.capacity:
            self.cached.remove(max(self.cached, key=self.next_use))
        self.cached.add(block)

    def next_use(self, block):
        """Return the number of the block's next access, or infinity if there is none."""
        return self.uses[block][0] if self.uses[block] else float("inf")


@register("opt_bypass", BypassKernel, offline=True)
class OPTBypass(OPT):
    """Optimal for a cache that need not load a missed block: no policy has more hits over all references."""

    def load(self, block):
        """Load a missed block if there is room, or if some cached block has a later next use."""
        if len(self.cached) < self.capacity or self.next_use(block) < max(map(self.next_use, self.cached)):
            super().load(block)
