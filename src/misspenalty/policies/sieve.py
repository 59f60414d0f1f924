"""SIEVE: a FIFO whose hand sieves out blocks not visited since it last passed; survivors keep their place.

New blocks join the queue at its head. A hit marks the block as visited and moves nothing. On a miss in a full cache
the hand goes from where it stopped towards the head: it clears the marks it meets and evicts the first unmarked block;
beyond the head it continues at the tail. Unlike in CLOCK, survivors are not mixed with new blocks.

Paper: Y. Zhang, J. Yang, Y. Yue, Y. Vigfusson, K. V. Rashmi, "SIEVE is simpler than LRU: an efficient turn-key eviction
algorithm for web caches", NSDI 2024, section 3 and algorithm 1.
Authors' code: cacheMon/NSDI24-SIEVE (0861f82); the policy is maintained in libCacheSim, whose misses equal ours.
Deviations: none.
"""

from misspenalty.policies._sieve import SIEVE as Kernel
from misspenalty.policies.registry import Reference, register


@register("sieve", Kernel)
class SIEVE(Reference):
    """SIEVE: FIFO order, and a hand that evicts blocks that were not visited."""

    CACHED = ("visited",)

    def __init__(self, capacity):
        self.capacity = capacity
        self.queue = []  # tail (oldest) first
        self.visited = {}  # whether each block in the cache was visited
        self.hand = 0  # position in the queue

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.visited
        if not hit:
            if len(self.queue) == self.capacity:
                self._evict()
            self.queue.append(block)
        self.visited[block] = hit
        return hit

    def _evict(self):
        while self.visited[self.queue[self.hand]]:
            self.visited[self.queue[self.hand]] = False
            self.hand = (self.hand + 1) % len(self.queue)
        del self.visited[self.queue.pop(self.hand)]
        if self.hand == len(self.queue):
            self.hand = 0
