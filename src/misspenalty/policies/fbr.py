"""FBR: count a block's uses except those close together; evict the block with the lowest count in the old section.

The blocks form an LRU stack of three sections. A hit moves a block to the top, and adds one to its count unless the
block was in the new section, the top of the stack; this factors locality out. The victim is the block of the old
section, the bottom of the stack, with the lowest count, the least recently used on a tie. When the average count
exceeds A_max, all counts are halved (rounded up).

Paper: J. T. Robinson, M. V. Devarakonda, "Data cache management using frequency-based replacement", SIGMETRICS 1990.
Authors' code: none published.

Deviations and decisions (the paper's tables were not available; the defaults are recalled from the paper and its
successors, so vary them):

- f_new = 0.25, f_old = 0.6 and a_max = 100; sections are rounded down to whole blocks, but the old one holds at least
  one.
- Counts above c_max are not compared: if all blocks of the old section have such counts, the least recently used of
  them is evicted. The default is usually high enough to have no effect: the victim then has the lowest count.
- While the cache fills, the sections fill from the top.
- `history` (none in the original, four times the cache in the MQ paper) keeps the counts of evicted blocks in FIFO
  order; a returning block resumes its count plus one. Halving does not change the history.
"""

from collections import OrderedDict

from misspenalty.errors import ParameterError
from misspenalty.policies._fbr import FBR as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("f_new", 0.25, "size of the new section, as a share of the cache", 0, 1, float),
    Parameter("f_old", 0.6, "size of the old section, as a share of the cache", 0, 1, float),
    Parameter("c_max", 256, "highest count by which blocks are ordered", 1, 65536),
    Parameter("a_max", 100.0, "average count above which all counts are halved", 2, 2**32, float),
    Parameter("history", 0.0, "counts of evicted blocks kept, in multiples of the cache", 0, 1000, float),
)


def check(f_new, f_old, **_):
    """Check that the sections fit into the cache."""
    if f_new + f_old > 1:
        raise ParameterError(f"fbr: f_new + f_old is {f_new + f_old:g}; expected at most 1 (shares of the cache)")


@register("fbr", Kernel, PARAMETERS, check=check)
class FBR(Reference):
    """FBR: lowest count among blocks unused for long, with locality factored out."""

    CACHED = ("count",)
    GHOSTS = ("history",)

    def __init__(self, capacity, f_new=0.25, f_old=0.6, c_max=256, a_max=100.0, history=0.0):
        self.capacity = capacity
        self.old = max(int(f_old * capacity), 1)
        self.new = min(int(f_new * capacity), capacity - self.old)
        self.c_max, self.a_max = c_max, a_max
        self.room = int(history * capacity)
        self.stack = []  # blocks, most recently used first
        self.count = {}  # counts of the blocks in the stack
        self.history = OrderedDict()  # counts of evicted blocks, oldest eviction first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.count
        if hit:
            depth = self.stack.index(block)
            del self.stack[depth]
            self.count[block] += depth >= self.new
        else:
            known = self.history.pop(block, 0)
            if len(self.stack) == self.capacity:
                self._evict()
            self.count[block] = known + 1
        self.stack.insert(0, block)
        if sum(self.count.values()) > self.a_max * len(self.stack):
            self.count = {block: (count + 1) // 2 for block, count in self.count.items()}
        return hit

    def _evict(self):
        old = self.stack[: -self.old - 1 : -1]  # old section, least recently used block first
        victim = min(old, key=self.count.get)  # the first such block on a tie
        if self.count[victim] > self.c_max:
            victim = old[0]
        self.stack.remove(victim)
        self.history[victim] = self.count.pop(victim)
        if len(self.history) > self.room:
            self.history.popitem(last=False)
