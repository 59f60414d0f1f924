"""MQ: several LRU queues ranked by the logarithm of the access count, with expiry and a history of evicted blocks.

The f-th access to a block puts it into queue floor(log2 f). At each access the oldest block of each queue above the
lowest moves one queue down if it has been neither used nor moved for lifeTime accesses. The victim is the oldest block
of the lowest queue that holds any; its count stays in the history Qout and is resumed when the block returns. A miss in
a full cache first evicts a block, then adds it to Qout, which may drop its oldest entry, and then looks up the missed
block in Qout: this is the order in the paper's text. With `recall_first`, the missed block is looked up in Qout, and
removed from it, before another is evicted.

Paper: Y. Zhou, J. F. Philbin, K. Li, "The Multi-Queue replacement algorithm for second level buffer caches", USENIX
ATC 2001, "MQ Algorithm" and "Simulation set-up": 8 queues, Qout of four times the cache, lifeTime from the statistics
of temporal distances.
Authors' code: none published.

Deviations and decisions where the paper is silent:

- The steps of the expiry (one check of each queue's head per access, one queue down, a new lifeTime) follow two public
  implementations.
- lifeTime is the peak temporal distance: re-accesses whose distance exceeds the cache size, if the block is still in
  the cache or in Qout, are counted in power-of-two bins over the whole run so far, and every `capacity` accesses
  lifeTime becomes the centre of the fullest bin. It starts as the cache size. Both values are multiplied by
  `life_time_factor`.
- A count that reaches 2**queues leaves the block in the highest queue.
"""

from collections import OrderedDict

from misspenalty.errors import ParameterError
from misspenalty.policies._mq import MQ as Kernel
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("queues", 8, "number of LRU queues", 1, 32),
    Parameter("history", 4.0, "entries of Qout, in multiples of the cache", 0, 1000, float),
    Parameter(
        "life_time",
        None,
        "accesses before an unused block moves down; None = the peak temporal distance",
        1,
        2**40,
        accesses=1,
    ),
    Parameter("life_time_factor", 1.0, "multiplies the estimated lifeTime, for sensitivity runs", 0, 1000, float),
    Parameter(
        "recall_first", 0, "1 = a miss looks its block up in Qout before it evicts; 0 = after, as in the paper", 0, 1
    ),
)


def check(life_time, life_time_factor, **_):
    """Refuse a factor if `life_time` is given, because the factor would have no effect."""
    if life_time is not None and life_time_factor != 1:
        raise ParameterError(
            f"mq: life_time_factor is {life_time_factor:g} and life_time is {life_time}; expected only one of them,"
            " because the factor multiplies the lifeTime that is estimated without life_time"
        )


@register("mq", Kernel, PARAMETERS, check=check)
class MQ(Reference):
    """Multi-Queue: LRU queues by log2 of the access count, with expiry and a history."""

    GHOSTS = ("history",)

    def __init__(self, capacity, queues=8, history=4.0, life_time=None, life_time_factor=1.0, recall_first=0):
        self.capacity = capacity
        self.queues = [OrderedDict() for _ in range(queues)]  # expiry by block, in the order of entry
        self.history = OrderedDict()  # Qout: blocks as keys, oldest eviction first
        self.room = int(history * capacity)
        self.count, self.last = {}, {}  # count and last access of resident and remembered blocks
        self.now = 0
        self.adaptive = life_time is None
        self.factor = life_time_factor
        self.recall_first = recall_first
        self.life_time = int(capacity * life_time_factor) if life_time is None else life_time
        self.distances = {}  # numbers of re-accesses by floor(log2(distance))

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        home = next((queue for queue in self.queues if block in queue), None)
        full = home is None and sum(map(len, self.queues)) == self.capacity
        if full and not self.recall_first:
            self._evict()
        if block in self.count:
            self._note_distance(self.now - self.last[block])
        self.history.pop(block, None)
        if home is not None:
            del home[block]
        if full and self.recall_first:
            self._evict()
        self.count[block] = self.count.get(block, 0) + 1
        self.last[block] = self.now
        self._enqueue(block, min(self.count[block].bit_length() - 1, len(self.queues) - 1))
        self._adjust()
        return home is not None

    def cached_blocks(self):
        """Return the blocks in the cache."""
        return {block for queue in self.queues for block in queue}

    def _enqueue(self, block, k):
        self.queues[k][block] = self.now + self.life_time

    def _evict(self):
        victim, _ = next(queue for queue in self.queues if queue).popitem(last=False)
        self.history[victim] = None
        if len(self.history) > self.room:
            forgotten, _ = self.history.popitem(last=False)
            del self.count[forgotten], self.last[forgotten]

    def _adjust(self):
        self.now += 1
        for k in range(1, len(self.queues)):
            block, expire = next(iter(self.queues[k].items()), (None, None))
            if block is not None and expire < self.now:
                del self.queues[k][block]
                self._enqueue(block, k - 1)
        if self.adaptive and self.now % self.capacity == 0:
            self._estimate_life_time()

    def _note_distance(self, distance):
        if distance > self.capacity:
            k = distance.bit_length() - 1
            self.distances[k] = self.distances.get(k, 0) + 1

    def _estimate_life_time(self):
        if self.distances:
            peak = min(self.distances, key=lambda k: (-self.distances[k], k))
            self.life_time = int(1.5 * 2**peak * self.factor)
