"""GDSF: greedy dual size frequency, for objects of different sizes; for blocks, LFU with dynamic ageing.

If the cache size is in bytes, GDSF prefers small objects; `misspenalty.policies.sized.ranked` defines that form. If all
blocks have the same size, the rank of a block is its number of uses plus the clock when it was last used, and the clock
is the rank of the block that was evicted last. The block with the lowest rank is evicted, the least recently used on a
tie.

Paper: L. Cherkasova, "Improving WWW proxies performance with greedy-dual-size-frequency caching policy", HP
Laboratories HPL-98-69 (R.1), 1998; with blocks of one size it is LFU-DA of M. Arlitt et al., "Evaluating content
management techniques for web proxy caches", ACM SIGMETRICS Performance Evaluation Review 27(4), 2000.
Authors' code: none published.
Deviations: a new block is ranked after the eviction that it causes, and is always loaded.
"""

from misspenalty.policies.registry import Reference, register
from misspenalty.policies.sized import ranked
from misspenalty.policies.sized._ranked import GDSF as Kernel


@register("gdsf", Kernel)
class GDSF(Reference):
    """Greedy dual size frequency: evict what was used least per byte, with ageing."""

    def __init__(self, capacity):
        self.cache = ranked.GDSF(capacity, bypass=0)

    def cached_blocks(self):
        """Return the blocks in the cache."""
        return set(self.cache.queue)

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        return self.cache.access(block, 1)
