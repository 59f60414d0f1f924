"""LHD: evict the block with the least hit density, its expected hits per unit of time in the cache.

The age of a block is the time since its last reference. From the ages at which blocks were hit and evicted so far, LHD
estimates for each age the hit density: the probability of another hit divided by the expected time until a hit or an
eviction. Blocks are divided into classes by the logarithm of the sum of the ages at their last two hits. The victim is
the block with the lowest density among `candidates` blocks drawn at random and the last eight blocks that, when they
were loaded, had a density below the mean density of recent victims.

Paper: N. Beckmann, H. Chen, A. Cidon, "LHD: improving cache hit rate by maximizing hit density", NSDI 2018.
Authors' code: CMU-CORGI/LHD, which libCacheSim contains (LHD/lhd.cpp) and from which most of the following is taken.
With `initial` 17 our hit ratios agree with libCacheSim's within half a percentage point.

Deviations and decisions:

- Densities are estimated again every `period` references, from counts that decay by a tenth each time. Until the first
  estimate, a block's density is its class, numbered from `initial`, divided by its age, counted from 1; on a trace of
  fewer than `period` references LHD learns nothing. The authors' code numbers the classes of all applications together;
  libCacheSim makes its only application the second one, so its 16 classes have numbers 17 to 32, and ours have 1 to 16.
- Ages are counted in units of 2**`shift` references, up to 20,000 units; older blocks are the first to leave. At the
  sixth and the 26th estimate the unit is set so that a hundredth of this range covers at least as many references as
  the cache has blocks.
- Eight blocks are drawn for each eviction of the first 51 periods, `candidates` after that. To learn the densities of
  blocks that would otherwise not be kept, one loaded or hit block in 32 becomes an explorer in the first 50 periods, at
  most a hundredth of the cache at a time: its density is raised by 1 until its next hit. A cache with at most as many
  blocks as are drawn compares all of them, once each.
- Of blocks with the same density the one drawn first leaves; if all are compared, the least recently used.
- All objects have the same size and belong to one application, so whatever in the classes and densities depends on
  size or application is left out.
- Draws are SplitMix64's, and numbers have double precision. A new block takes the place of the evicted one.
"""

import numpy as np

from misspenalty.policies._lhd import LHD as Kernel
from misspenalty.policies.draws import Draws
from misspenalty.policies.registry import Parameter, Reference, register

PARAMETERS = (
    Parameter("candidates", 32, "blocks compared for each eviction, once there are 51 estimates", 1, 4096),
    Parameter("period", 2**20, "accesses between two estimates", 256, 2**31, accesses=1),
    Parameter("shift", 10, "binary logarithm of the initial unit of ages, in accesses", 0, 31),
    Parameter(
        "initial", 1, "initial density of the lowest class at age 1; it is 1 more for each higher class", 0, 1000
    ),
    Parameter("seed", 42, "start of the random number generator", 0, 2**63 - 1),
)
AGES = 20_000  # number of ages, in units, that are distinguished
CLASSES = 16
ADMITTED = 8  # number of loaded blocks that are remembered as likely victims
EARLY_SAMPLE, EARLY = 8, 50  # number of blocks drawn as long as there are at most `EARLY` estimates
EXPLORER = 32  # a loaded or hit block is drawn as an explorer with a probability of 1 / EXPLORER
EXPLORERS = 0.01  # maximum number of explorers, as a share of the cache
DECAY = 0.9  # factor by which the counts decay at each estimate, and the victims' mean density at each eviction
SPREAD = 0.01  # part of the range of ages that covers as many references as the cache has blocks
COARSENING = (5, 25)  # numbers of the estimates that set the unit, counted from 0
LEAST = -(2 - 2.0**-23) * 2.0**127  # the lowest 32-bit float: density of a block at the last age or beyond


@register("lhd", Kernel, PARAMETERS)
class LHD(Reference):
    """LHD: evict by least hit density, learnt from ages at hits and evictions."""

    CACHED = ("place",)

    def __init__(self, capacity, candidates=32, period=2**20, shift=10, initial=1, seed=42):
        self.capacity, self.candidates, self.period, self.shift = capacity, candidates, period, shift
        self.draws = Draws(seed)
        self.now = self.estimates = 0
        self.places, self.place = [], {}  # blocks by place, and the place of each
        # Times of the last references, ages at the last two hits, and explorers.
        self.last, self.ages, self.explores = {}, {}, set()
        self.explorers = int(capacity * EXPLORERS)  # number of further explorers that may be kept
        self.admitted, self.admissions = [None] * ADMITTED, 0
        self.victims = 0.0  # mean density of recent victims
        self.objects = self.mass = 0.0  # decaying sum of the numbers of cached blocks; decaying number of estimates
        self.hit_ages, self.eviction_ages = np.zeros((CLASSES, AGES)), np.zeros((CLASSES, AGES))
        self.density = (initial + np.arange(CLASSES))[:, None] / np.arange(1.0, AGES + 1)

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.place
        if hit:
            age = self._age(block)
            self.hit_ages[self._class(block), age] += 1
            self.explorers += block in self.explores
            self.ages[block] = age, self.ages[block][0]
        else:
            if len(self.places) == self.capacity:
                place = self._victim()
                self._drop(self.places[place])
                self.places[place] = block
            else:
                place = len(self.places)
                self.places.append(block)
            self.place[block] = place
            self.ages[block] = 0, AGES
        self.last[block] = self.now
        explore = self.draws.below(EXPLORER) == 0
        self.explores.discard(block)
        if explore and self.explorers > 0 and self.estimates < EARLY:
            self.explores.add(block)
            self.explorers -= 1
        if not hit and not explore and self._density(block) < self.victims:
            self.admitted[self.admissions % ADMITTED] = block
            self.admissions += 1
        self.now += 1
        if self.now % self.period == 0:
            self._estimate()
        return hit

    def _age(self, block):
        return min((self.now - self.last[block]) >> self.shift, AGES - 1)

    def _class(self, block):
        """Return the class of a block: higher for lower ages at its last two hits, and the highest if both are 0."""
        age, doublings = sum(self.ages[block]), 0
        if age == 0:
            return CLASSES - 1
        while age < AGES and doublings < CLASSES - 1:
            age, doublings = 2 * age, doublings + 1
        return doublings

    def _density(self, block):
        age = self._age(block)
        return LEAST if age == AGES - 1 else float(self.density[self._class(block), age]) + (block in self.explores)

    def _victim(self):
        """Return the place of the block to evict, and include its density in the mean of recent victims."""
        drawn = self.candidates if self.estimates > EARLY else EARLY_SAMPLE
        if self.capacity <= drawn:
            compared = sorted(range(self.capacity), key=lambda place: self.last[self.places[place]])
        else:
            compared = [self.draws.below(self.capacity) for _ in range(drawn)]
            compared += [self.place[block] for block in self.admitted if block in self.place]
        victim = min(compared, key=lambda place: self._density(self.places[place]))  # the first such block on a tie
        self.victims = DECAY * self.victims + (1 - DECAY) * self._density(self.places[victim])
        return victim

    def _drop(self, block):
        self.eviction_ages[self._class(block), self._age(block)] += 1
        self.explorers += block in self.explores
        self.explores.discard(block)
        del self.place[block], self.last[block], self.ages[block]

    def _estimate(self):
        """Let the counts decay, and estimate the densities from them."""
        self.hit_ages *= DECAY
        self.eviction_ages *= DECAY
        self.objects = self.objects * DECAY + len(self.place)
        self.mass = self.mass * DECAY + 1
        if self.estimates in COARSENING:
            self._set_unit(self.objects / self.mass)
        later = (slice(None), slice(None, None, -1))  # reverse the ages, from the last to the first
        hits = np.cumsum(self.hit_ages[later], axis=1)
        events = np.cumsum((self.hit_ages + self.eviction_ages)[later], axis=1)
        times = np.cumsum(events, axis=1)
        estimate = np.divide(hits, times, out=np.zeros_like(hits), where=events > 1e-5)
        self.density[:, :-1] = estimate[later][:, :-1]
        self.estimates += 1

    def _set_unit(self, objects):
        """Choose the unit of ages, and convert the counts to it."""
        shift = 1
        while 2**shift < objects / (SPREAD * AGES):
            shift += 1
        finer, coarser = max(self.shift - shift, 0), max(shift - self.shift, 0)
        self.shift = shift
        self.objects *= 8
        self.mass *= 8
        for counts in (self.hit_ages, self.eviction_ages):
            if finer:
                inside = AGES >> finer
                for age in range(inside, AGES - 1):
                    counts[:, -1] += counts[:, age]
                counts[:, :-1] = counts[:, np.arange(AGES - 1) >> finer] / 2**finer
            if coarser:
                inside = AGES >> coarser
                grouped = counts[:, : inside << coarser].reshape(CLASSES, inside, 2**coarser)
                counts[:, :inside] = np.cumsum(grouped, axis=2)[:, :, -1]
                counts[:, inside:-1] = 0
