"""LIRS: keep the blocks whose last two uses were close together; the others pass through a small queue.

A block's inter-reference recency (IRR) is the number of other blocks used between its last two uses. Blocks of low IRR
(LIR) fill all but a small share of the cache; those of high IRR (HIR) that are in the cache wait in the queue Q, whose
front is the victim. The stack S holds, by recency, the LIR blocks and every HIR block, in the cache or not, that was
used after the lowest LIR block. A HIR block used while it is in S has a new IRR below the recency of the lowest LIR
block (the number of other blocks used since its last use), so it becomes LIR, and the lowest LIR block becomes HIR, at
the end of Q. HIR blocks that become the lowest in S leave it (pruning).

Paper: S. Jiang, X. Zhang, "LIRS: an efficient low inter-reference recency set replacement policy to improve buffer
cache performance", SIGMETRICS 2002, section 3; 1 % of the cache for HIR blocks as in section 4.
Authors' code: lirs.c by S. Jiang, 15 November 2002, whose rules are followed where the paper is silent.

Deviations and decisions:

- As in the authors' code: the first blocks become LIR until their share is full; a victim of Q that is in S stays
  there; a HIR block used again in Q but not in S moves to the end of Q, enters S and stays HIR; S has no limit by
  default (the code allows a limit: the lowest HIR block leaves S first).
- The cache keeps room for at least one HIR block, as in libCacheSim; the authors' code keeps room for two.
- The authors' code skips a reference to the block referenced just before. Here such a reference counts as a use like
  any other, so it makes a HIR block LIR.
"""

from collections import OrderedDict

from misspenalty.policies._lirs import LIRS as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("hirs", 0.01, "share of the cache for HIR blocks; at least one block", 0, 1, float),
    Parameter(
        "stack_limit", None, "maximum number of blocks in S, in multiples of the cache; None = no limit", 1, 1000, float
    ),
)


@register("lirs", Kernel, PARAMETERS)
class LIRS(Reference):
    """Low inter-reference recency set: keep blocks used twice within a short time."""

    CACHED = ("lir", "q")
    GHOSTS = ("s",)

    def __init__(self, capacity, hirs=0.01, stack_limit=None):
        self.capacity = capacity
        self.lirs = capacity - max(int(hirs * capacity), 1)  # number of LIR blocks when the cache is full
        self.limit = None if stack_limit is None else int(stack_limit * capacity)
        self.lir = set()
        self.s = OrderedDict()  # bottom block first
        self.q = OrderedDict()  # HIR blocks in the cache, the next victim first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.lir or block in self.q
        if not hit and len(self.lir) + len(self.q) == self.capacity:
            self.q.popitem(last=False)
        if not hit and len(self.lir) < self.lirs:
            self.lir.add(block)
        in_s = block in self.s
        self.q.pop(block, None)
        self.s[block] = None
        self.s.move_to_end(block)
        if block not in self.lir:
            if in_s:
                self._exchange(block)
            else:
                self.q[block] = None
        self._prune()
        return hit

    def _exchange(self, block):
        """Make a HIR block found in S a LIR block, and the lowest LIR block a HIR block."""
        lowest = next(iter(self.s))
        self.lir.remove(lowest)
        del self.s[lowest]
        self.q[lowest] = None
        self.lir.add(block)

    def _prune(self):
        while self.s and next(iter(self.s)) not in self.lir:
            self.s.popitem(last=False)
        while self.limit is not None and len(self.s) > self.limit:
            del self.s[next(block for block in self.s if block not in self.lir)]
