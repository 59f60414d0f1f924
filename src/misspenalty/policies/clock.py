"""CLOCK: second-chance FIFO; the hand clears reference bits until it meets the victim, a block whose bit is clear.

The blocks of the cache are arranged in a circle. A hit sets the block's reference bit and moves nothing. On a miss the
hand advances: it clears the bit of a block whose bit is set and moves on; it stops at the first block whose bit is
clear. The new block takes that place, and the hand moves to the next. With more bits the reference bit becomes a
counter of hits that stops at 2**bits - 1 and that the hand lowers by one.

Paper: F. J. Corbató, "A paging experiment with the Multics system", MIT Project MAC report MAC-M-384, 1968 (in "In
honor of P. M. Morse", MIT Press 1969).
Authors' code: none.

Deviations and decisions: a block is loaded with its bit cleared, as in libCacheSim. (Where hardware sets the bit, the
access that missed sets it too, and a block used once survives a turn of the hand.) Counters of several bits are the
generalisation that libCacheSim and S3-FIFO use.
"""

from misspenalty.policies._clock import Clock as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (Parameter("bits", 1, "bits of the reference counter", 1, 7),)


@register("clock", Kernel, PARAMETERS)
class Clock(Reference):
    """CLOCK: FIFO with a second chance for referenced blocks."""

    CACHED = ("references",)

    def __init__(self, capacity, bits=1):
        self.capacity = capacity
        self.most = 2**bits - 1
        self.circle = []
        self.references = {}  # counters of the blocks in the cache
        self.hand = 0

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.references:
            self.references[block] = min(self.references[block] + 1, self.most)
            return True
        if len(self.circle) < self.capacity:
            self.circle.append(block)
        else:
            self._replace(block)
        self.references[block] = 0
        return False

    def _replace(self, block):
        while self.references[self.circle[self.hand]]:
            self.references[self.circle[self.hand]] -= 1
            self._advance()
        del self.references[self.circle[self.hand]]
        self.circle[self.hand] = block
        self._advance()

    def _advance(self):
        self.hand = (self.hand + 1) % self.capacity
