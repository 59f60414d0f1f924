"""LRFU: evict the block with the lowest combined recency and frequency (CRF) of its uses since it was loaded.

Every past use of a block adds (1/2)**(lam * age) to its CRF, with the age in accesses. With lam = 0 the policy is LFU;
with lam = 1 a use outweighs all earlier ones, so the policy is LRU. A block's uses are forgotten when it is evicted.

Paper: D. Lee, J. Choi, J.-H. Kim, S. H. Noh, S. L. Min, Y. Cho, C. S. Kim, "LRFU: a spectrum of policies that subsumes
the least recently used and least frequently used policies", IEEE Transactions on Computers 50(12), 2001; first at
SIGMETRICS 1999, in a paper whose abstract states that a block's history covers only its time in the cache.
Authors' code: none published.

Deviations and decisions:

- LRFU shares the kernel of LFRU (see lfru.py), without the history. Blocks are ranked by log2(CRF) + lam * (time of
  last use), as there, and on a tie the least recently used is evicted.
- `correlated_period` follows the sense of the paper's correlated period: a use followed by another of the same block
  within this number of accesses no longer counts, so that only the last use of a burst counts.
- The default lam = 0.001 has the order of magnitude of the best values in the paper, as we remember it; the paper's
  caches were small. As lam times the cache size grows beyond 1, the policy approaches LRU, so try several values.
"""

from misspenalty.policies._lfru import LFRU as Kernel
from misspenalty.policies.lfru import LAM, LFRU
from misspenalty.policies.registry import Parameter, register

PARAMETERS = (
    LAM,
    Parameter("correlated_period", 0, "accesses within which two uses of a block count as one", 0, 2**31, accesses=1),
)


@register("lrfu", Kernel, PARAMETERS)
class LRFU(LFRU):
    """LRFU: evict by combined recency and frequency."""

    GHOSTS = ()

    def __init__(self, capacity, lam=0.001, correlated_period=0):
        super().__init__(capacity, lam, history=0)
        self.correlated_period = correlated_period

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        crf, last = self.crf.get(block, (0, 0))
        if crf and self.now + 1 - last <= self.correlated_period:
            self.crf[block] = crf - 1, last  # the previous use is no longer counted
        return super().access(block)
