"""GDSF: greedy dual size frequency, for objects of different sizes; for blocks, LFU with dynamic ageing.

`misspenalty.policies.sized.ranked` has the definition, the paper and the decisions. A trace with sizes is replayed in a
cache of bytes, where GDSF prefers small objects. In a cache of blocks or objects each counts the same: the victim has
the lowest sum of its number of uses and the value that this sum had for the block evicted last, when it was last used.
"""

from misspenalty.policies.registry import Parameter, Reference, register
from misspenalty.policies.sized import ranked
from misspenalty.policies.sized._ranked import GDSF as Kernel

PARAMETERS = (
    Parameter(
        "bypass",
        None,
        "1 = a new object that ranks below what it would replace is not loaded; None = 1 in bytes, 0 in blocks",
        0,
        1,
    ),
)


@register("gdsf", Kernel, PARAMETERS)
class GDSF(Reference):
    """Greedy dual size frequency: evict what was used least per byte, with ageing."""

    def __init__(self, capacity, bypass=None):
        self.cache = ranked.GDSF(capacity, bypass=bypass)

    def access(self, block):
        """Reference `block`; returns whether it was in the cache."""
        return self.cache.access(block, 1)
