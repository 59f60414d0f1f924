"""CAR: ARC with two clocks in place of its two LRU lists, so that a hit only sets a bit.

T1 and T2 are clocks, and B1 and B2 are LRU lists of names; |T1| + |B1| <= c, and all four together hold at most 2c. A
miss that finds the cache full turns the hands until a block leaves: if T1 holds at least its target p (and at least one
block), the block at T1's hand leaves for B1 if its bit is clear, else it moves to the tail of T2 with the bit cleared;
otherwise T2's hand does the same with B2, and a block whose bit is set goes to T2's tail. A block found in B1 or B2
moves p as in ARC and enters T2; a new block enters T1.

Paper: S. Bansal, D. S. Modha, "CAR: Clock with Adaptive Replacement", FAST 2004, figure 2.
Authors' code: none published.

Deviations and decisions: the figure is followed exactly. p is a real number, as in our ARC. The first reference to a
block leaves its bit clear, as in the figure. CART, the paper's second policy, is not included.
"""

from collections import OrderedDict, deque

from misspenalty.policies._car import CAR as Kernel
from misspenalty.policies.registry import Reference, register


@register("car", Kernel)
class CAR(Reference):
    """Clock with adaptive replacement: ARC's lists as clocks."""

    CACHED = ("bit",)
    GHOSTS = ("b1", "b2")

    def __init__(self, capacity):
        self.capacity = capacity
        self.p = 0.0  # target size of T1
        self.t1, self.t2 = deque(), deque()  # each clock's hand is at its left end
        self.bit = {}  # reference bits of the blocks in the cache
        self.b1, self.b2 = OrderedDict(), OrderedDict()  # oldest name first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.bit:
            self.bit[block] = True
            return True
        known = block in self.b1 or block in self.b2
        if len(self.bit) == self.capacity:
            self._replace()
            ghosts = len(self.b1) + len(self.b2)
            if not known and len(self.t1) + len(self.b1) == self.capacity:
                self.b1.popitem(last=False)
            elif not known and len(self.bit) + ghosts == 2 * self.capacity:
                self.b2.popitem(last=False)
        if block in self.b1:
            self.p = min(self.p + max(1, len(self.b2) / len(self.b1)), self.capacity)
            del self.b1[block]
        elif block in self.b2:
            self.p = max(self.p - max(1, len(self.b1) / len(self.b2)), 0)
            del self.b2[block]
        (self.t2 if known else self.t1).append(block)
        self.bit[block] = False
        return False

    def _replace(self):
        while True:
            from_t1 = len(self.t1) >= max(1, self.p)
            clock, ghosts = (self.t1, self.b1) if from_t1 else (self.t2, self.b2)
            block = clock.popleft()
            if not self.bit[block]:
                del self.bit[block]
                ghosts[block] = True
                return
            self.bit[block] = False
            self.t2.append(block)
