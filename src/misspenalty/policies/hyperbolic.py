"""Hyperbolic caching: draw a few blocks at random, and evict the one used least per unit of time in the cache.

The priority of a block is n / t, where n is the number of references to it, including the one that loaded it, and t is
the number of references to any block since it was loaded. Each priority falls with time at its own rate, so no list or
heap can hold the order of all blocks. Therefore the victim is the block with the lowest priority among `candidates`
blocks drawn at random.

Paper: A. Blankstein, S. Sen, M. J. Freedman, "Hyperbolic caching: flexible caching for web applications", USENIX ATC
2017, whose abstract names the two parts: random sampling and a priority that is evaluated when a victim is sought.
Authors' code: not available to us. libCacheSim has the policy (Hyperbolic.c); its hits equal ours where all blocks are
compared and no two priorities are the same. Elsewhere its hit ratios agree with ours only within one percentage
point, because libCacheSim draws buckets of a hash table and considers one block of each.

Deviations and decisions:

- A cache of at most `candidates` blocks compares all of them, once each. A larger one draws `candidates` times, each
  time from all of its blocks, so that a block may be drawn twice; the draws are SplitMix64's.
- Of two blocks with the same priority the one that was loaded first leaves.
- The new block is not among those compared; t is at least 1.
- The cost of a miss, classes of cost, expiry and windows, which the paper adds to the priority, are left out.
"""

from misspenalty.policies._hyperbolic import Hyperbolic as Kernel
from misspenalty.policies.draws import Draws
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("candidates", 64, "blocks compared for each eviction", 1, 4096),
    Parameter("seed", 42, "start of the random number generator", 0, 2**63 - 1),
)


@register("hyperbolic", Kernel, PARAMETERS)
class Hyperbolic(Reference):
    """Hyperbolic caching: evict the least used per time of a sample."""

    CACHED = ("entries",)

    def __init__(self, capacity, candidates=64, seed=42):
        self.capacity = capacity
        self.candidates = candidates
        self.draws = Draws(seed)
        self.now = 0
        self.places = []  # blocks; a new one takes the place of the evicted one
        self.entries = {}  # number of references and time of loading of each block in the cache

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.now += 1
        if block in self.entries:
            references, loaded = self.entries[block]
            self.entries[block] = references + 1, loaded
            return True
        if len(self.places) < self.capacity:
            self.places.append(block)
        else:
            place = self._victim()
            del self.entries[self.places[place]]
            self.places[place] = block
        self.entries[block] = 1, self.now
        return False

    def _victim(self):
        """Return the place of the block with the lowest priority among those compared."""
        if self.capacity <= self.candidates:
            compared = range(self.capacity)
        else:
            compared = [self.draws.below(self.capacity) for _ in range(self.candidates)]
        lowest = compared[0]
        for place in compared[1:]:
            if self._below(self.entries[self.places[place]], self.entries[self.places[lowest]]):
                lowest = place
        return lowest

    def _below(self, one, other):
        """Return whether the first priority is lower (without rounding) or, on a tie, its block was loaded first."""
        left, right = one[0] * (self.now - other[1]), other[0] * (self.now - one[1])
        return left < right or (left == right and one[1] < other[1])
