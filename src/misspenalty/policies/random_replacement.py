"""Random: evict any block of the cache, each with equal probability.

Paper: L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966,
where it is one of the algorithms simulated. E. Gelenbe, "A unified approach to the evaluation of a class of replacement
algorithms", IEEE Transactions on Computers C-22(6), 1973, proves that Random and FIFO have the same hit ratio under
independent references.
Authors' code: none.

Deviations and decisions: the draws come from SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014), started at `seed`, with one draw per eviction. The upper 32 bits r of a
draw choose place floor(r * capacity / 2**32), which favours no place by more than capacity / 2**32. The new block takes
the place of the victim.
"""

from misspenalty.policies._random_replacement import Random as Kernel
from misspenalty.policies.draws import Draws
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (Parameter("seed", 42, "start of the random number generator", 0, 2**63 - 1),)


@register("random", Kernel, PARAMETERS)
class Random(Reference):
    """Random replacement, from a seeded generator."""

    CACHED = ("cached",)

    def __init__(self, capacity, seed=42):
        self.capacity = capacity
        self.draws = Draws(seed)
        self.places = []
        self.cached = set()

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.cached:
            return True
        if len(self.places) < self.capacity:
            self.places.append(block)
        else:
            place = self.draws.below(self.capacity)
            self.cached.remove(self.places[place])
            self.places[place] = block
        self.cached.add(block)
        return False
