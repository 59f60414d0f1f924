"""ARC: two LRU lists, of blocks seen once and of blocks seen again, share the cache; ghost hits shift the shares.

L1 = T1 + B1 holds blocks seen once recently, and L2 = T2 + B2 those seen at least twice; T1 and T2 are in the cache,
while B1 and B2 hold only names; |L1| <= c and |L1| + |L2| <= 2c. A hit moves the block to T2. The target p of |T1|
grows when a missed block is found in B1 and shrinks when it is found in B2, by the ratio of the ghost lists' lengths
but at least by 1. The victim is the oldest of T1 if |T1| exceeds p (or equals p and the missed block is in B2),
otherwise the oldest of T2; its name becomes the newest of B1 or B2. But if T1 fills the cache and the missed block is
new, the victim is the oldest of T1, and its name is forgotten. With `target`, p is fixed; this is the paper's fixed
replacement cache, FRC(p).

Paper: N. Megiddo, D. S. Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4. The same
algorithm is in "Outperforming LRU with an adaptive replacement cache algorithm", IEEE Computer 37(4), 2004, whose hit
ratios the tests compare with ours.
Authors' code: none published.

Deviations and decisions: the figure is followed exactly. The paper leaves open whether p is rounded. Here it is a real
number, which reproduces the published hit ratios within 0.02 points; if the ratio of the ghost lists' lengths is
rounded down, the hit ratios differ by up to 0.18 points (OLTP).
"""

from collections import OrderedDict

from misspenalty.policies._arc import ARC as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("target", None, "fixed size of T1, as a share of the cache; None = adapted to ghost hits", 0, 1, float),
)


@register("arc", Kernel, PARAMETERS)
class ARC(Reference):
    """Adaptive replacement cache: recency and frequency balanced by ghost hits."""

    CACHED = ("t1", "t2")
    GHOSTS = ("b1", "b2")

    def __init__(self, capacity, target=None):
        self.capacity = capacity
        self.adapts = target is None
        self.p = 0.0 if target is None else target * capacity  # target size of T1
        self.t1, self.t2, self.b1, self.b2 = (OrderedDict() for _ in range(4))  # least recently used block first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.t1 or block in self.t2:
            self.t1.pop(block, None)
            self.t2[block] = None
            self.t2.move_to_end(block)
            return True
        if block in self.b1:
            self._adapt(max(len(self.b2) / len(self.b1), 1))
            self._replace(in_b2=False)
            del self.b1[block]
            self.t2[block] = None
        elif block in self.b2:
            self._adapt(-max(len(self.b1) / len(self.b2), 1))
            self._replace(in_b2=True)
            del self.b2[block]
            self.t2[block] = None
        else:
            self._make_room()
            self.t1[block] = None
        return False

    def _adapt(self, step):
        if self.adapts:
            self.p = min(max(self.p + step, 0), self.capacity)

    def _make_room(self):
        """Do case IV of the figure: make room for a block that is in none of the four lists."""
        l1, l2 = len(self.t1) + len(self.b1), len(self.t2) + len(self.b2)
        if l1 == self.capacity:
            if self.b1:
                self.b1.popitem(last=False)
                self._replace(in_b2=False)
            else:
                self.t1.popitem(last=False)
        elif l1 + l2 >= self.capacity:
            if l1 + l2 == 2 * self.capacity:
                self.b2.popitem(last=False)
            self._replace(in_b2=False)

    def _replace(self, in_b2):
        if self.t1 and (len(self.t1) > self.p or (in_b2 and len(self.t1) == self.p)):
            self.b1[self.t1.popitem(last=False)[0]] = None
        else:
            self.b2[self.t2.popitem(last=False)[0]] = None
