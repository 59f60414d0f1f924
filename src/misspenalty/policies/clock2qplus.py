"""Clock2Q+: S3-FIFO whose small queue ignores hits on a block soon after its load.

A block is often referenced several times in a row, for example a tree node once for each of its entries, and then not
again. The newest blocks of the small queue S, half of its share by default, are in the correlation window: a hit there
moves nothing and is not remembered. A hit on an older block of S, or on a block of the main queue M, sets its reference
bit. The rest is S3-FIFO: the oldest block of S moves to M if its bit is set, with the bit cleared, and is otherwise
evicted, and its name goes to the ghost queue G; a missed block that G remembers enters M; M is a CLOCK, which clears a
bit and reinserts the block, or evicts it if the bit is clear.

Paper: Y. Zhai, B. D. Marthen, S. Balivada et al., "Clock2Q+: a simple and efficient replacement algorithm for metadata
cache in VMware vSAN", PVLDB 2026 (arXiv 2511.21958).
Authors' code: Clock2QPlus.c in libCacheSim (17626f7), one of whose maintainers is an author of the paper; our misses
equal its misses for objects of size 1.

Deviations and decisions: whatever the abstract of the paper does not state is done as in libCacheSim, since the full
text was not available.

- The age of a block is the number of blocks that entered S after it. The window ends at an age of `window` times the
  share of S, which need not be a whole number.
- Until the first eviction, a new block enters M, without an age, if S has reached its share.
- A missed block that is found in G is removed from it before another block is evicted.
- S has a share of at least one block, and M provides the victim if S is empty, even when M is within its share.
  libCacheSim cannot hold any block if the share of S is below two blocks.
"""

from misspenalty.policies._clock2qplus import Clock2QPlus as Kernel
from misspenalty.policies.registry import Parameter, register
from misspenalty.policies.s3fifo import S3FIFO

PARAMETERS = (
    Parameter("small", 0.1, "share of the cache used for S", 0, 1, float),
    Parameter("ghost", 0.9, "names G holds, in multiples of the cache", 0, 1000, float),
    Parameter("window", 0.5, "share of S in which hits are ignored", 0, 1, float),
)


class Windowed(S3FIFO):
    """S3-FIFO that ignores hits on blocks of S whose age is below `window` times the share of S."""

    def __init__(self, capacity, small, ghost, threshold, window):
        super().__init__(capacity, small, ghost, threshold)
        self.window = self.share * window

    def counts_hit(self, block):
        """Return whether a hit on a block of the cache is remembered."""
        return block not in self.small or self.entered_after(block) >= self.window

    def entered_after(self, block):
        """Return the number of blocks that entered S after `block`."""
        return len(self.small) - 1 - self.small.index(block)


@register("clock2qplus", Kernel, PARAMETERS)
class Clock2QPlus(Windowed):
    """Clock2Q+: S3-FIFO that ignores correlated references."""

    def __init__(self, capacity, small=0.1, ghost=0.9, window=0.5):
        super().__init__(capacity, small, ghost, threshold=1, window=window)

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block not in self.count:
            return super().access(block)
        if self.counts_hit(block):
            self.count[block] = 1
        return True
