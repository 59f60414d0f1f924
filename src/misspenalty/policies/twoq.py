"""2Q: blocks used once pass through a short FIFO; those asked for again after they left it enter the main LRU queue.

A new block enters A1in, a FIFO, and hits there change nothing (references close together count as one). When A1in
holds more than Kin blocks its oldest is the victim and its name goes to A1out, a FIFO of Kout names; otherwise the
victim is the least recently used of Am and is forgotten. A block found in A1out enters Am.

Paper: T. Johnson, D. Shasha, "2Q: a low overhead high performance buffer management replacement algorithm", VLDB
1994, section 3, "2Q full version"; the authors advise Kin = 25 % of the slots and Kout = names for 50 %. The MQ paper
also ran it with half.
Authors' code: none published.

Deviations and decisions:

- A block found in A1out leaves it before the slot is reclaimed. In the paper's order (reclaim first) a full A1out
  could drop one more name.
- Kin and Kout are rounded down to whole blocks.
- Where Am is empty the victim comes from A1in though it holds no more than Kin (possible when Kin is the whole
  cache).
"""

from collections import OrderedDict, deque

from misspenalty.policies._twoq import TwoQ as Kernel
from misspenalty.policies.registry import Parameter, Twin, register

PARAMETERS = (
    Parameter("kin", 0.25, "size from which A1in gives the victim, as a share of the cache", 0, 1, float),
    Parameter("kout", 0.5, "names A1out holds, in multiples of the cache", 0, 1000, float),
)


@register("2q", Kernel, PARAMETERS)
class TwoQ(Twin):
    """2Q: a FIFO for blocks used once, LRU for those that came back."""

    def __init__(self, capacity, kin=0.25, kout=0.5):
        self.capacity = capacity
        self.kin = int(kin * capacity)
        self.kout = int(kout * capacity)
        self.a1in = deque()  # oldest first
        self.a1out = OrderedDict()  # oldest first
        self.am = OrderedDict()  # least recently used first

    def access(self, block):
        """Reference `block`; whether it was in the cache."""
        if block in self.am:
            self.am.move_to_end(block)
            return True
        if block in self.a1in:
            return True
        known = block in self.a1out
        self.a1out.pop(block, None)
        if len(self.a1in) + len(self.am) == self.capacity:
            self._reclaim()
        if known:
            self.am[block] = True
        else:
            self.a1in.append(block)
        return False

    def _reclaim(self):
        if len(self.a1in) > self.kin or not self.am:
            self.a1out[self.a1in.popleft()] = True
            if len(self.a1out) > self.kout:
                self.a1out.popitem(last=False)
        else:
            self.am.popitem(last=False)
