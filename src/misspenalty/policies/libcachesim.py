"""Define libCacheSim's versions of SLRU, W-TinyLFU and LIRS, with identical miss counts.

libCacheSim is the simulator of the S3-FIFO and SIEVE papers, so their results for these three policies come from its
versions. These differ from the policies' papers, and from our `slru`, `wtinylfu` and `lirs`, by more than a choice of
parameters. They are not registered policies, and violate the invariants of a policy: a hit may evict a block, a
small cache loads nothing, and LIRS may hold one block more than the cache has room for. `simulate` and
`hit_ratio_curve` accept them in place of a name.

SLRU: each of four segments, the lowest included, is limited to a quarter of the cache, rounded down; the remainder from
rounding is used as long as nothing is demoted. If a segment exceeds its limit, even because of a hit, its oldest block
moves to the segment below; the lowest segment evicts it.

W-TinyLFU:

- A new block enters the window, which grows until the cache is full. Only then do its oldest blocks move to the main
  region, as long as the main region has room; so the window keeps whatever the main region does not take.
- The main region is the SLRU above with two segments, of a fifth and four fifths.
- The sketch is a counting Bloom filter (ten hashes, an error of 0.1 %); counting a block increments all its counters.
  Loads, hits in the main region, and each block that leaves the window are counted; hits in the window are not.
- Counters are halved when the main region's hits reach 32 times its size. On a tie, the candidate is evicted, as in the
  paper.
- If the window or the main region's lower segment is below one block, nothing is loaded: with a window of 1 %, a cache
  of fewer than 100 blocks misses all references.

LIRS: S holds at most twice as many blocks as the cache; above that, it drops the block that was evicted first, not the
lowest. If there are as many LIR blocks as allowed, a hit on a block that is in Q but not in S moves the lowest of them
to Q although no block takes its place; the block that was hit may be the one that Q evicts for that LIR block, but
still counts as being in the cache. In a cache of two blocks, S may then be without LIR blocks, and an evicted block may
move from S to Q. libCacheSim continues to list it as evicted, which is not done here, so misses may differ in a cache
of this size.

Source: libCacheSim 0.3.5, SLRU.c, WTinyLFU.c, minimalIncrementCBF.c, LIRS.c; none of it is copied here. A block's
counters are selected by a hash of the block's number, from 1, in order of first use; libCacheSim hashes the number that
the trace gives, so its W-TinyLFU depends on how the trace numbers blocks.
"""

from collections import OrderedDict
from math import ceil, log

from misspenalty.policies import _libcachesim as kernels
from misspenalty.policies.merlin import Sketch
from misspenalty.policies.registry import Definition, Parameter, Reference

SEEDS = (0x12345678, 0x12344321)  # seeds of the two hash functions
ERROR = 0.001  # error rate of the Bloom filter
SAMPLE = 32  # number of hits in the main region, as a multiple of its size, after which counters are halved
PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)  # primes of XXH64


class Segments:
    """An SLRU with a limit on each segment; the lowest segment comes first."""

    def __init__(self, capacity, parts):
        self.capacity = capacity
        self.limits = [int(part / sum(parts) * capacity) for part in parts]
        self.segments = [OrderedDict() for _ in parts]  # the oldest block of each is first

    def __len__(self):
        return sum(map(len, self.segments))

    def hit(self, block):
        """Handle a use of a block; return whether it was in a segment."""
        k = next((k for k, segment in enumerate(self.segments) if block in segment), None)
        if k is None:
            return False
        del self.segments[k][block]
        k = min(k + 1, len(self.segments) - 1)
        self.segments[k][block] = None
        self._cool(k)
        return True

    def enter(self, block):
        """Put a block into the lowest segment with room, or into the lowest of all if none has room."""
        free = [k for k, segment in enumerate(self.segments) if len(segment) < self.limits[k]]
        while not free and len(self) >= self.capacity:
            self.evict()
        self.segments[free[0] if free else 0][block] = None

    def victim(self):
        """Return the next block to evict."""
        return next(iter(next(segment for segment in self.segments if segment)))

    def evict(self):
        """Evict the next block."""
        next(segment for segment in self.segments if segment).popitem(last=False)

    def _cool(self, k):
        while len(self.segments[k]) > self.limits[k]:
            if k == 0:
                self.evict()
            else:
                block, _ = self.segments[k].popitem(last=False)
                self.segments[k - 1][block] = None
                self._cool(k - 1)


class SLRU(Reference):
    """SLRU of libCacheSim: every segment has a limit."""

    def __init__(self, capacity):
        self.segments = Segments(capacity, (1, 1, 1, 1))

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if self.segments.hit(block):
            return True
        if self.segments.limits[0]:
            while len(self.segments) >= self.segments.capacity:
                self.segments.evict()
            self.segments.enter(block)
        return False


class Counters(Sketch):
    """Counts of blocks, by number, in a counting Bloom filter with libCacheSim's hash."""

    def __init__(self, entries):
        per_entry = -log(ERROR) / 0.480453013918201
        self.hashes = ceil(0.693147180559945 * per_entry)
        n = ceil(per_entry * entries)
        super().__init__(n if n >= self.hashes else 2 * self.hashes)

    def places(self, number):
        """Return the places of a block's counters."""
        at, step = (xxh64(number, seed) % 2**32 for seed in SEEDS)
        return [(at + k * step) % 2**32 % len(self.counters) for k in range(self.hashes)]


def xxh64(key, seed):
    """Return the XXH64 hash of the eight bytes of a number.

    Examples
    --------
    >>> hex(xxh64(1, 0))
    '0x9f29cb17a2a49995'
    """
    a, b, c, d, e = PRIMES
    x = (seed + e + 8) % 2**64 ^ _rotated(key * b % 2**64, 31) * a % 2**64
    x = (_rotated(x, 27) * a + d) % 2**64
    x = (x ^ x >> 33) * b % 2**64
    x = (x ^ x >> 29) * c % 2**64
    return x ^ x >> 32


def _rotated(x, bits):
    return (x << bits | x >> (64 - bits)) % 2**64


class WTinyLFU(Reference):
    """W-TinyLFU of libCacheSim."""

    def __init__(self, capacity, window=0.01):
        self.capacity = capacity
        self.limit = int(capacity * window)
        self.window = OrderedDict()  # oldest block first
        self.main = Segments(capacity - self.limit, (1, 4))
        self.counters = Counters(self.main.capacity)
        self.hits = 0  # number of hits in the main region since counters were halved
        self.number = {}  # number of each block, from 1, in order of first use

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        number = self.number.setdefault(block, len(self.number) + 1)
        if block in self.window:
            self.window.move_to_end(block)
            return True
        if self.main.hit(block):
            self._count_hit(number)
            return True
        if self.limit and self.main.limits[0]:
            while len(self.window) + len(self.main) >= self.capacity:
                self._make_room()
            self.window[block] = None
            self.counters.increment(number)
        return False

    def _count_hit(self, number):
        self.counters.increment(number)
        self.hits += 1
        if self.hits >= SAMPLE * self.main.capacity:
            self.hits = 0
            self.counters.halve()

    def _make_room(self):
        """Move blocks from the window, which holds at least one, to the main region until a block is evicted."""
        full = False
        while not full:
            candidate, _ = self.window.popitem(last=False)
            full = len(self.main) >= self.main.capacity
            if not full or self._frequency(candidate) > self._frequency(self.main.victim()):
                if full:
                    self.main.evict()
                self.main.enter(candidate)
            self.counters.increment(self.number[candidate])

    def _frequency(self, block):
        return self.counters.frequency(self.number[block])


class LIRS(Reference):
    """LIRS of libCacheSim."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.hirs = max(1, int(0.01 * capacity))
        self.lirs = capacity - self.hirs
        self.lir = 0  # number of LIR blocks
        self.s = OrderedDict()  # bottom block first; value: "LIR", or whether the HIR block is in the cache
        self.q = OrderedDict()  # HIR blocks in the cache, the next victim first
        self.gone = OrderedDict()  # blocks of S that are not in the cache, oldest eviction first

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = self._find(block)
        if not hit and self.lirs:
            self._load(block)
        while len(self.s) > 2 * self.capacity and self.gone:
            del self.s[self.gone.popitem(last=False)[0]]
        return hit

    def _find(self, block):
        known = block in self.s
        if block in self.q:
            self.q.move_to_end(block)
        elif not known:
            return False
        if not known:
            self._make_lir_room()
            self.s[block] = True
            return True
        self.s.move_to_end(block)
        if self.s[block] == "LIR":
            self._prune()
        elif self.s[block]:
            self.q.pop(block, None)
            self._make_lir(block)
        else:
            return False
        return True

    def _load(self, block):
        if block in self.s:
            self._make_lir(block)
            self.gone.pop(block, None)
        elif self.lir < self.lirs:
            self._make_lir(block)
        else:
            if len(self.q) >= self.hirs:
                self._evict()
            self.s[block] = True
            self.q[block] = None

    def _make_lir(self, block):
        self._make_lir_room()
        self.s[block] = "LIR"
        self.lir += 1

    def _make_lir_room(self):
        while self.lir >= self.lirs:
            lowest = self._pop_lowest()
            self.lir -= 1
            while len(self.q) >= self.hirs:
                self._evict()
            self.q[lowest] = None
            self._prune()

    def _evict(self):
        block, _ = self.q.popitem(last=False)
        if block in self.s:
            self.s[block] = False
            self.gone[block] = None

    def _prune(self):
        while len(self.s) > 1 and next(iter(self.s.values())) != "LIR":
            self._pop_lowest()

    def _pop_lowest(self):
        block, _ = self.s.popitem(last=False)
        self.gone.pop(block, None)
        return block


PARAMETERS = (Parameter("window", 0.01, "size of the window, as a share of the cache", 0, 1, float),)

SLRU_DEFINITION = Definition("slru of libCacheSim", kernels.SLRU, SLRU)
WTINYLFU_DEFINITION = Definition("wtinylfu of libCacheSim", kernels.WTinyLFU, WTinyLFU, PARAMETERS)
LIRS_DEFINITION = Definition("lirs of libCacheSim", kernels.LIRS, LIRS)
