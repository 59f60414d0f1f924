"""2Q: blocks used once pass through a short FIFO; those requested again after they left it enter the main LRU queue.

Full version: a new block enters A1in, a FIFO, and hits there change nothing (references close together count as one).
When A1in holds more than Kin blocks, its oldest block is the victim, and the name of that block goes to A1out, a FIFO
of Kout names; otherwise the victim is the least recently used block of Am, and its name is not kept. A block found in
A1out enters Am.

Simplified version (`simplified=1`): a new block enters A1, a FIFO, and a hit there moves it to Am. When A1 holds more
blocks than a threshold, its oldest block is the victim, otherwise the least recently used block of Am; no victim is
remembered. `kin` is then the threshold, and a `kout` other than the default or 0 is refused.

Paper: T. Johnson, D. Shasha, "2Q: a low overhead high performance buffer management replacement algorithm", VLDB
1994, section 3, "Simplified 2Q" and "2Q full version"; the authors advise Kin = 25 % of the slots and Kout = names for
50 %. The MQ paper also ran it with names for half of the cache.
Authors' code: none published.

Deviations and decisions:

- A block found in A1out leaves it before the slot is reclaimed. In the paper's order (reclaim first) a full A1out
  could drop one more name.
- Kin and Kout are rounded down to whole blocks.
- If Am is empty, the victim comes from A1in (or A1) even if that queue holds no more than Kin blocks, which is possible
  only if Kin is the whole cache.
"""

from collections import OrderedDict

from misspenalty.errors import ParameterError
from misspenalty.policies._twoq import Simplified2Q
from misspenalty.policies._twoq import TwoQ as Full2Q
from misspenalty.policies.registry import Parameter, Reference, register

KOUT = 0.5  # default
PARAMETERS = (
    Parameter("kin", 0.25, "size above which A1in (or A1) provides the victim, as a share of the cache", 0, 1, float),
    Parameter("kout", KOUT, "names A1out holds, in multiples of the cache", 0, 1000, float),
    Parameter("simplified", 0, "1 = the simplified version, with A1 in place of A1in and A1out", 0, 1),
)


def make_kernel(capacity, blocks, kin=0.25, kout=0.5, simplified=0):
    """Return the kernel of the requested version."""
    return Simplified2Q(capacity, blocks, kin) if simplified else Full2Q(capacity, blocks, kin, kout)


def check(kout, simplified, **_):
    """Refuse a `kout` for the simplified version, in which it would have no effect."""
    if simplified and kout not in (0, KOUT):
        raise ParameterError(
            f"2q: kout is {kout:g} and simplified is 1; expected only one of them, because the simplified version"
            " remembers no victim"
        )


@register("2q", make_kernel, PARAMETERS, check=check)
class TwoQ(Reference):
    """2Q: a FIFO for blocks used once, LRU for those that came back."""

    CACHED = ("a1in", "am")
    GHOSTS = ("a1out",)

    def __init__(self, capacity, kin=0.25, kout=0.5, simplified=0):
        self.capacity = capacity
        self.kin = int(kin * capacity)
        self.kout = 0 if simplified else int(kout * capacity)
        self.simplified = simplified
        self.a1in = OrderedDict()  # oldest first; A1 of the simplified version
        self.a1out = OrderedDict()  # oldest first
        self.am = OrderedDict()  # least recently used first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.am:
            self.am.move_to_end(block)
            return True
        if block in self.a1in:
            if self.simplified:
                self.am[block] = self.a1in.pop(block)
            return True
        known = self.a1out.pop(block, False)
        if len(self.a1in) + len(self.am) == self.capacity:
            self._reclaim()
        entered = self.am if known else self.a1in
        entered[block] = None
        return False

    def _reclaim(self):
        if len(self.a1in) > self.kin or not self.am:
            self.a1out[self.a1in.popitem(last=False)[0]] = True
            if len(self.a1out) > self.kout:
                self.a1out.popitem(last=False)
        else:
            self.am.popitem(last=False)
