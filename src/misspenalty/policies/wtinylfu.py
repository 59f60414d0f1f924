"""W-TinyLFU: a small LRU window; blocks that leave it are kept or evicted by a sketch of recent access counts.

New blocks enter the window, an LRU list for a share `window` of the cache. A block that overflows the window is the
candidate for the main region, an SLRU. It is admitted while there is room; after that, its count is compared with that
of the main region's victim, the oldest block of probation, and the block with the lower count is evicted, the candidate
on a tie. Counts are kept for all blocks ever seen, approximately, in a count-min sketch of four-bit counters; all
counters are halved after `sample_size` increments per block of the cache.

Paper: G. Einziger, R. Friedman, B. Manes, "TinyLFU: a highly efficient cache admission policy", ACM Transactions on
Storage 13(4), 2017: the sections on TinyLFU (sketch, reset) and W-TinyLFU (window 1 %, SLRU with 80 % protected).
Authors' code: ben-manes/caffeine, WindowTinyLfuPolicy (0263e98) and FrequencySketch (00b1503); the steps and the
sketch's layout and reset are theirs.

Deviations and decisions:

- The sketch hashes a block's number in order of first use, so that the outcome does not depend on blocks' addresses:
  the hash of the nth block is the nth draw of SplitMix64 from seed 0. Caffeine hashes the key, so its counts differ.
- As in Caffeine, all counters of a block lie in one line of 64 bytes: 4 rows of 32. The lines hold 16 counters for
  each block of the cache, whose size is rounded up to a power of two.
- As in Caffeine, there is no doorkeeper, an increment that finds all four counters full does not count towards the
  sample, and the reset subtracts what halving odd counters lost.
- Left out: the random admission of a few losing candidates, which newer versions of Caffeine use against attacks on the
  hash.
- The window holds at least one block, so that every block is loaded. (A cache that may refuse to load can have fewer
  misses than OPT, which always loads.)
- If the cache is full and no block is in probation, which requires a `protected` of (almost) 1, the candidate is
  evicted.

Other programs' versions have different miss counts. Caffeine's simulator (3.1.8) halves its counters after ten
increments per word of counters, and has as many words as the next power of two above the cache size. A `sample_size` of
10 times that power divided by the cache size comes close; the remaining difference is due to the hash. libCacheSim's
rules differ; see `libcachesim`.
"""

from collections import OrderedDict

from misspenalty.policies._wtinylfu import WTinyLFU as Kernel
from misspenalty.policies.draws import draw_of
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("window", 0.01, "size of the window, as a share of the cache", 0, 1, float),
    Parameter("protected", 0.8, "limit of the protected segment, as a share of the main region", 0, 1, float),
    Parameter("sample_size", 10.0, "increments until counters are halved, in multiples of the cache", 1, 1000, float),
)
ROWS, COLUMNS, MAX_COUNT = 4, 32, 15  # rows and columns of a line of the sketch; a counter's highest value


class Sketch:
    """Approximate access counts of blocks, by number, with ageing."""

    def __init__(self, capacity, sample_size):
        lines = max(1 << (capacity - 1).bit_length(), 8) // 8
        self.lines = [[[0] * COLUMNS for _ in range(ROWS)] for _ in range(lines)]
        self.sample = int(sample_size * capacity)
        self.size = 0

    def _counters(self, number):
        """Return the block's counter in each row of its line, as (row, column)."""
        draw = draw_of(number)
        line = self.lines[draw % len(self.lines)]
        return [(row, draw >> (44 + 5 * k) & 31) for k, row in enumerate(line)]

    def frequency(self, number):
        """Return the count of a block, or more if other blocks share all four of its counters."""
        return min(row[column] for row, column in self._counters(number))

    def increment(self, number):
        """Count one access to a block."""
        low = [(row, column) for row, column in self._counters(number) if row[column] < MAX_COUNT]
        for row, column in low:
            row[column] += 1
        self.size += bool(low)
        if self.size >= self.sample:
            self._halve()

    def _halve(self):
        rows = [row for line in self.lines for row in line]
        odd = sum(counter & 1 for row in rows for counter in row)
        for row in rows:
            row[:] = [counter >> 1 for counter in row]
        self.size = (self.size - odd // ROWS) // 2


@register("wtinylfu", Kernel, PARAMETERS)
class WTinyLFU(Reference):
    """W-TinyLFU: an LRU window, and an SLRU behind admission by frequency."""

    CACHED = ("window", "probation", "protected")

    def __init__(self, capacity, window=0.01, protected=0.8, sample_size=10.0):
        self.capacity = capacity
        self.window_limit = max(capacity - int(capacity * (1 - window)), 1)
        self.protected_limit = int((capacity - self.window_limit) * protected)
        self.window, self.probation, self.protected = OrderedDict(), OrderedDict(), OrderedDict()  # oldest first
        self.sketch = Sketch(capacity, sample_size)
        self.number = {}  # number of each block, in order of first use

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        self.sketch.increment(self.number.setdefault(block, len(self.number)))
        if block in self.window:
            self.window.move_to_end(block)
        elif block in self.protected:
            self.protected.move_to_end(block)
        elif block in self.probation:
            self._promote(block)
        else:
            self.window[block] = None
            if len(self.window) > self.window_limit:
                self._admit(self.window.popitem(last=False)[0])
            return False
        return True

    def _promote(self, block):
        del self.probation[block]
        self.protected[block] = None
        if len(self.protected) > self.protected_limit:
            demoted, _ = self.protected.popitem(last=False)
            self.probation[demoted] = None

    def _admit(self, candidate):
        if len(self.window) + len(self.probation) + len(self.protected) == self.capacity:
            if not self.probation:
                return
            victim = next(iter(self.probation))
            if self._frequency(candidate) <= self._frequency(victim):
                return
            del self.probation[victim]
        self.probation[candidate] = None

    def _frequency(self, block):
        return self.sketch.frequency(self.number[block])
