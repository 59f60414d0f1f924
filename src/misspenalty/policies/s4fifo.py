"""S4-FIFO: S3-FIFO with a part of the small queue in which hits are ignored, and a ghost queue that counts returns.

The newest blocks of S, `skip` times as many as its share of the cache (rounded down), are on probation: a hit on one
adds nothing to the block's counter. A name in G keeps the count that its block had when it left S. A missed block whose
name has a count of at least `return_hits` leaves G for M. Any other missed block enters S; if G has its name, the name
stays there, and its count grows by one.

Paper: H. Xia, W. Nixon, B. D. Marthen, P. Bhandari, J. Yang, "Learning-augmented heuristics: simple, yet smart, robust
and interpretable cache eviction", OSDI 2026: a model trained on thousands of traces chooses the five parameters of this
policy from its observations of a trace.
Authors' code: S4FIFO.c of cacheMon/osdi26-s4-fifo (000095f) and of libCacheSim (pull request 336). Our defaults are
those of that code; with them the policy is S3-FIFO.

Deviations and decisions:

- The model is left out, since the trained version that the paper used is not published. Vary the parameters instead.
- As in that code, a block that returns to S keeps its name in G. If S evicts it again, the name keeps its place and
  takes the new count. A hit in M also looks the name up, which adds one to its count or removes the name.
- A name is in G only once, and its count there has no bound; the counts of blocks in the cache stop at three.
- As in s3fifo.py, S has a share of at least one block, and M provides the victim if S is empty. Until the first
  eviction, a new block enters M if S has reached its share.
"""

from misspenalty.policies._s4fifo import S4FIFO as Kernel
from misspenalty.policies.clock2qplus import Windowed
from misspenalty.policies.registry import Parameter, register
from misspenalty.policies.s3fifo import MAX_COUNT

PARAMETERS = (
    Parameter("small", 0.1, "share of the cache used for S", 0, 1, float),
    Parameter("ghost", 0.9, "names G holds, in multiples of the cache", 0, 1000, float),
    Parameter("threshold", 2, "hits in S that a block needs to move to M", 0, 3),
    Parameter("skip", 0, "share of S in which hits are ignored", 0, 1, float),
    Parameter("return_hits", 0, "count that a name in G needs for its block to enter M", 0, 255),
)


@register("s4fifo", Kernel, PARAMETERS)
class S4FIFO(Windowed):
    """S4-FIFO: S3-FIFO with probation in S and counts in G."""

    def __init__(self, capacity, small=0.1, ghost=0.9, threshold=2, skip=0, return_hits=0):
        super().__init__(capacity, small, ghost, threshold, window=skip)
        self.window = int(self.window)
        self.return_hits = return_hits

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block not in self.count:
            return super().access(block)
        if block not in self.small:
            self._recall(block)
        if self.counts_hit(block):
            self.count[block] = min(self.count[block] + 1, MAX_COUNT)
        return True

    def _recall(self, block):
        """Return whether a block's name in G lets it enter M; if so, remove the name, otherwise raise its count."""
        if self.ghost.get(block, -1) >= self.return_hits:
            del self.ghost[block]
            return True
        if block in self.ghost:
            self.ghost[block] += 1
        return False
