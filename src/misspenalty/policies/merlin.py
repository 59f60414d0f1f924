"""Merlin: three FIFO queues and a history; all blocks' counts decide how popular a block must be to enter the core.

A new block enters `filter`. A block whose name the history remembers enters `core` if its count reaches the guard, else
`staging`. A hit adds one to the block's three-bit count and moves nothing. The guard is the count that is reached by
about as many blocks and names as `core` holds blocks; it is adjusted whenever room is made.

If the filter has reached its share, it makes room: its oldest blocks whose count reaches the guard move to the core,
with their count cleared, and the first one with a lower count is evicted and its name remembered. But if staging's
oldest block has no hit, and a lower count in the sketch than that block of the filter, then staging's block is evicted
in its place, and the filter's block moves to staging. The sketch counts exits from the filter, returns to staging, and
promotions. If the filter is below its share, staging makes room: the oldest blocks of a core above its share move to
staging, the oldest of staging with hits are promoted to the core, with their count lowered by one, and the first one
without hits is evicted; then, too, the filter's oldest block moves to staging if its count in the sketch is higher than
that of the evicted block.

Paper: "Merlin: an efficient adaptive cache eviction algorithm via fine-grained characterization", OSDI 2026. The
paper's text was not available; the definition follows the authors' code.
Authors' code: merlin.cpp and minimalIncrementCBF.c of TELOS-syslab/MerlinOSDI26AE (10907044), for objects of size 1.
With that code's hash, our policy has the same outcome as the code at every reference of the traces compared, in caches
of 50 blocks and more; in smaller ones the decisions below matter.

Deviations and decisions:

- The sketch hashes a block's number in order of first use, as in wtinylfu.py; the authors' code hashes the key.
- As in that code, the sketch is a counting Bloom filter for as many blocks as the cache holds, at an error of 0.001.
  Counting a block raises all its ten counters. All counters are halved after `epoch` rounds of making room (most of
  which evict a block) per block of the cache.
- As in that code, a count above `epoch` in the sketch is taken for an error and never wins; as long as filter and
  staging are both empty, all blocks enter the core, which the first eviction then shrinks to its share; a hot block
  enters the core even if the eviction for it made the history forget its name.
- The guard is at most one above the highest count; at that value, that code reads beyond the end of its table.
- If a remembered block enters the core because the other queues are empty, nothing else follows; in that code the next
  block is then treated as remembered.
- The core's share is at least zero; in that code it wraps around for a cache of one block.
"""

import math
from collections import OrderedDict, deque

from misspenalty.policies._merlin import Merlin as Kernel
from misspenalty.policies.draws import draw_of
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("filter", 0.1, "share of the cache used for new blocks", 0, 1, float),
    Parameter("staging", 0.05, "share of the cache used for blocks that may enter the core", 0, 1, float),
    Parameter("ghost", 1.0, "names the history holds, in multiples of the cache", 0, 1000, float),
    Parameter("epoch", 32, "rounds of making room until the sketch is halved, in multiples of the cache", 1, 1_000_000),
    Parameter("sketch", 1.0, "blocks the sketch is made for, in multiples of the cache", 0, 1000, float),
)
MAX_COUNT = 7  # highest value of the three-bit counter
ERROR = 0.001  # error rate of the sketch
HASHES = math.ceil(-math.log2(ERROR))


def counters(capacity, sketch):
    """Return how many counters the sketch of a cache has.

    Examples
    --------
    >>> counters(1, 1.0), counters(100, 1.0)
    (15, 1438)
    """
    number = math.ceil(-math.log(ERROR) / math.log(2) ** 2 * int(capacity * sketch))
    return min(number, 2**31 - 1) if number >= HASHES else 2 * HASHES


class Sketch:
    """Approximate counts of blocks, by number, in a counting Bloom filter."""

    def __init__(self, counters):
        self.counters = [0] * counters

    def places(self, number):
        """Return the places of a block's counters, some of which may be the same."""
        draw = draw_of(number)
        first, step = draw % 2**32, draw >> 32
        return [(first + k * step) % 2**32 % len(self.counters) for k in range(HASHES)]

    def frequency(self, number):
        """Return the count of a block, or a higher number if other blocks share all its counters."""
        return min(self.counters[place] for place in self.places(number))

    def increment(self, number):
        """Add one to all counters of a block."""
        for place in self.places(number):
            self.counters[place] += 1

    def halve(self):
        """Halve all counters."""
        self.counters = [counter >> 1 for counter in self.counters]


@register("merlin", Kernel, PARAMETERS)
class Merlin(Reference):
    """Merlin: filter, staging and core FIFO queues, with a guard that follows from all counts."""

    CACHED = ("count",)
    GHOSTS = ("ghost",)

    def __init__(self, capacity, filter=0.1, staging=0.05, ghost=1.0, epoch=32, sketch=1.0):
        self.capacity = capacity
        self.filter_share = max(int(filter * capacity), 1)
        self.core_share = max(capacity - self.filter_share - max(int(staging * capacity), 1), 0)
        self.room, self.epoch = int(capacity * ghost), epoch
        self.filter, self.staging, self.core = deque(), deque(), deque()  # oldest first
        self.count = {}  # counts of the blocks in the cache
        self.ghost = OrderedDict()  # counts of names, oldest first
        self.also_named = set()  # blocks that have entered staging with their name in the history
        self.reaching = [0] * (MAX_COUNT + 2)  # number of blocks and names with at least each count
        self.guard = 2
        self.rounds = 0  # number of calls of _make_room since the sketch was halved
        self.sketch = Sketch(counters(capacity, sketch))
        self.number = {}  # number of each block, in order of first use

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.number.setdefault(block, len(self.number))
        if block in self.count:
            self._count_hit(self.count, block)
            return True
        if block in self.ghost:
            self._count_hit(self.ghost, block)
        known = self.ghost.get(block)
        hot = known is not None and known >= self.guard
        while len(self.count) == self.capacity:
            self._make_room()
        if not self.filter and not self.staging:
            self._load(self.core, block)
        elif hot:
            self.ghost.pop(block, None)
            self.core.append(block)
            self.count[block] = known  # the block replaces the name in `reaching`
        elif known is not None:
            self.sketch.increment(self.number[block])
            self.also_named.add(block)
            self._load(self.staging, block)
        else:
            self._load(self.filter, block)
        return False

    def _load(self, queue, block):
        """Add a block to a queue, with a count of 0."""
        queue.append(block)
        self.count[block] = 0
        self.reaching[0] += 1

    def _count_hit(self, counts, block):
        if counts[block] < MAX_COUNT:
            counts[block] += 1
            self.reaching[counts[block]] += 1

    def _discount(self, above, to=-1):
        """Subtract one block or name from `reaching`, for each count from `to` + 1 to `above`."""
        for count in range(to + 1, above + 1):
            self.reaching[count] -= 1

    def _make_room(self):
        """Evict a block, or only move blocks of the filter to the core."""
        self.rounds += 1
        if self.rounds == self.epoch * self.capacity:
            self.rounds = 0
            self.sketch.halve()
        self._adjust_guard()
        if len(self.filter) >= self.filter_share:
            self._shrink_filter()
        else:
            self._settle()
            self._compare()
            self._evict_staging()
        while len(self.ghost) > self.room:
            self._discount(self.ghost.popitem(last=False)[1])

    def _adjust_guard(self):
        """Set the guard to the count that is reached by about as many blocks and names as the core has blocks."""
        if self.reaching[self.guard] > len(self.core):
            while self.reaching[self.guard] > len(self.core):
                self.guard += 1
        else:
            while self.guard > 1 and self.reaching[self.guard - 1] < len(self.core):
                self.guard -= 1

    def _shrink_filter(self):
        while self.filter:
            block = self.filter[0]
            if self.count[block] < self.guard:
                if self._compare():
                    self._evict_staging()
                else:
                    self.filter.popleft()
                    self.ghost[block] = self.count.pop(block)
                    self.sketch.increment(self.number[block])
                return
            self.core.append(self.filter.popleft())
            self._discount(self.count[block], to=0)
            self.count[block] = 0
            self.sketch.increment(self.number[block])

    def _compare(self):
        """Move the filter's oldest block to staging if the sketch prefers it to staging's; return whether it moved."""
        if not self.filter or not self.staging or self.count[self.staging[0]] > 0:
            return False
        block = self.filter[0]
        value = self.sketch.frequency(self.number[block])
        if not self.sketch.frequency(self.number[self.staging[0]]) < value <= self.epoch:
            return False
        self.sketch.increment(self.number[block])
        self.ghost[block] = self.count[block]
        self.also_named.add(block)
        self._load(self.staging, self.filter.popleft())
        return True

    def _settle(self):
        """Move the core's excess to staging, and staging's oldest blocks to the core while these have hits."""
        while True:
            while len(self.core) > self.core_share:
                self.staging.append(self.core.popleft())
            while self.staging:
                if self.count[self.staging[0]] == 0:
                    return
                self._promote(self.staging.popleft())

    def _promote(self, block):
        """Add to the core a block that was just removed from staging."""
        if block in self.also_named:
            self.also_named.remove(block)
            if block in self.ghost:
                self._discount(self.ghost.pop(block))
        self.sketch.increment(self.number[block])
        self._discount(self.count[block], to=self.count[block] - 1)
        self.count[block] -= 1
        self.core.append(block)

    def _evict_staging(self):
        block = self.staging.popleft()
        self.also_named.discard(block)
        self._discount(self.count.pop(block))
