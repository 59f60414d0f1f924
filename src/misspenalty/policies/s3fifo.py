"""S3-FIFO: a small FIFO filters out blocks used once, a main FIFO reinserts used ones, and a ghost FIFO keeps names.

A new block enters the small queue S, or the main queue M if the ghost queue G remembers it. A hit adds one to the
block's two-bit counter and moves nothing. While M is within its share, the victim comes from S: the oldest blocks of S
with a counter of at least `threshold` move to M with the counter cleared; the first one with a lower counter is
evicted, and its name goes to G. Otherwise the victim comes from M: the oldest blocks of M with a counter above zero are
reinserted with the counter lowered by one; the first one with a counter of zero is evicted.

Paper: J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, "FIFO queues are all you need for cache eviction", SOSP 2023,
section 4 and algorithm 1.
Authors' code: Thesys-lab/sosp23-s3fifo (6bc49d9); the policy is maintained in libCacheSim (S3FIFO.c, 035d832). With the
default parameters our misses equal its misses.

Deviations and decisions:

- `fill_main=1`, as in the authors' current version in libCacheSim: until the first eviction, a new block enters M if S
  has reached its share. `fill_main=0` is the paper's algorithm 1: all new blocks enter S.
- A missed block is looked up in G, and removed from it if found, before another block is evicted, as in the authors'
  code; algorithm 1 evicts first.
- Blocks that move from S to M do not make M evict at once (algorithm 1: "if M is full, evictM"): as in the authors'
  code, eviction goes on until there is room, and the queue that gives up a block is chosen again each time.
- S has a share of at least one block, and M provides the victim if S is empty, even when M is within its share.
  libCacheSim cannot hold any block if the share of S is below two blocks.
"""

from collections import OrderedDict, deque

from misspenalty.policies._s3fifo import S3FIFO as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("small", 0.1, "share of the cache used for S", 0, 1, float),
    Parameter("ghost", 0.9, "names G holds, in multiples of the cache", 0, 1000, float),
    Parameter("threshold", 2, "hits in S that a block needs to move to M", 0, 3),
    Parameter("fill_main", 1, "1 = before the first eviction, blocks beyond the share of S enter M", 0, 1),
)
MAX_COUNT = 3  # highest value of the two-bit counter


@register("s3fifo", Kernel, PARAMETERS)
class S3FIFO(Reference):
    """S3-FIFO: small, main and ghost FIFO queues."""

    CACHED = ("count",)
    GHOSTS = ("ghost",)

    def __init__(self, capacity, small=0.1, ghost=0.9, threshold=2, fill_main=1):
        self.capacity = capacity
        self.share = max(int(capacity * small), 1)
        self.room = int(capacity * ghost)
        self.threshold = threshold
        self.filling = bool(fill_main)
        self.small, self.main = deque(), deque()  # oldest first
        self.ghost = OrderedDict()  # hits in S of each name, oldest name first
        self.count = {}  # counter of each block in the cache

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.count:
            self.count[block] = min(self.count[block] + 1, MAX_COUNT)
            return True
        known = self._recall(block)
        while len(self.count) == self.capacity:
            self.filling = False
            if len(self.main) > self.capacity - self.share or not self.small:
                self._evict_main()
            else:
                self._evict_small()
        overflow = self.filling and len(self.small) >= self.share
        (self.main if known or overflow else self.small).append(block)
        self.count[block] = 0
        return False

    def _evict_small(self):
        """Evict a block of S, or none if all of them move to M."""
        while self.small:
            block = self.small.popleft()
            if self.count[block] < self.threshold:
                self._remember(block, self.count.pop(block))
                return
            self._promote(block)

    def _recall(self, block):
        """Return whether G has the name of a missed block; if so, remove the name, because the block will enter M."""
        return self.ghost.pop(block, None) is not None

    def _remember(self, block, hits):
        """Add to G a block that S evicted after `hits` hits."""
        self.ghost[block] = hits
        if len(self.ghost) > self.room:
            self.ghost.popitem(last=False)

    def _promote(self, block):
        """Add to M a block that has left S."""
        self.main.append(block)
        self.count[block] = 0

    def _evict_main(self):
        while self.count[self.main[0]]:
            self.count[self.main[0]] -= 1
            self.main.rotate(-1)
        del self.count[self.main.popleft()]
