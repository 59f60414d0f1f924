"""Implement the kernel of LHD; the definition is in lhd.py."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from misspenalty.policies._policy cimport AHEAD, Policy, block_t, prefetch
from misspenalty.traces._splitmix cimport GOLDEN, mix

cdef enum:
    AGES = 20000
    CLASSES = 16
    ADMITTED = 8
    EARLY_SAMPLE = 8
    EARLY = 50
    EXPLORER = 32               # a loaded or hit block is drawn as an explorer with a probability of 1 / EXPLORER
    FIRST_COARSENING = 5
    SECOND_COARSENING = 25
    NOBODY = 0xFFFFFFFF

cdef double DECAY = 0.9
cdef double SPREAD = 0.01
cdef double LEAST = -3.4028234663852886e38


cdef struct Entry:
    block_t block
    uint32_t last               # time of the last reference
    uint32_t hit_age            # age at the last hit, in units; 0 before the first hit
    uint32_t before             # age at the hit before the last one, in units; AGES before the first hit
    uint32_t explores           # whether the block is an explorer


cdef struct Counts:
    double hits[AGES]
    double evictions[AGES]
    double density[AGES]


cdef class LHD(Policy):
    cdef uint32_t* places       # place of a block in the cache, from 1; 0 = not in it; one per block
    cdef Entry* entries         # entries of the blocks in the cache, by place
    cdef Counts* classes
    cdef block_t[ADMITTED] admitted
    cdef uint32_t admissions
    cdef uint64_t room          # number of blocks that the cache can hold
    cdef uint64_t state         # state of SplitMix64
    cdef uint32_t candidates    # number of blocks compared for each eviction, once there are more than EARLY estimates
    cdef uint32_t period        # number of references between two estimates
    cdef uint32_t shift         # binary logarithm of the unit of ages, in references
    cdef uint32_t now           # number of references so far
    cdef uint32_t estimates     # number of estimates so far
    cdef Py_ssize_t explorers   # number of further explorers that may be kept
    cdef double victims         # mean density of recent victims
    cdef double objects         # decaying sum, over the estimates, of the number of cached blocks
    cdef double mass            # decaying number of estimates

    def __cinit__(self, capacity, blocks, candidates, period, shift, initial, seed):
        cdef uint32_t age, k
        cdef double first = initial
        self.candidates, self.period, self.shift, self.state = candidates, period, shift, seed
        self.room = self.max_resident()
        self.explorers = int(capacity * 0.01)
        self.places = <uint32_t*>self.allocate(blocks, sizeof(uint32_t))
        self.entries = <Entry*>self.allocate(self.room + 1, sizeof(Entry))
        self.classes = <Counts*>self.allocate(CLASSES, sizeof(Counts))
        for k in range(CLASSES):
            for age in range(AGES):
                self.classes[k].density[age] = (first + k) / (age + 1.0)
        for k in range(ADMITTED):
            self.admitted[k] = NOBODY

    cdef bint holds(self, block_t block) noexcept nogil:
        return self.places[block] != 0

    cdef inline uint64_t draw(self) noexcept nogil:
        self.state += <uint64_t>GOLDEN
        return mix(self.state) >> 32

    cdef inline uint32_t age_of(self, const Entry* entry) noexcept nogil:
        return min((self.now - entry.last) >> self.shift, <uint32_t>(AGES - 1))

    cdef inline uint32_t class_of(self, const Entry* entry) noexcept nogil:
        cdef uint32_t age = entry.hit_age + entry.before, doublings = 0
        if age == 0:
            return CLASSES - 1
        while age < AGES and doublings < CLASSES - 1:
            age *= 2
            doublings += 1
        return doublings

    cdef inline double density_of(self, const Entry* entry) noexcept nogil:
        cdef uint32_t age = self.age_of(entry)
        if age == AGES - 1:
            return LEAST
        return self.classes[self.class_of(entry)].density[age] + entry.explores

    cdef void run(self, const block_t* ids, Py_ssize_t n, uint8_t* hit) noexcept nogil:
        cdef uint32_t* places = self.places
        cdef Entry* entry
        cdef uint32_t place, age
        cdef bint found, explore
        cdef Py_ssize_t i, evictions = 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch(&places[ids[i + AHEAD]])
            place = places[ids[i]]
            found = place != 0
            hit[i] = found
            if not found:
                if <uint64_t>self.resident < self.room:
                    self.resident += 1
                    place = <uint32_t>self.resident
                else:
                    place = self.victim()
                    entry = &self.entries[place]
                    self.classes[self.class_of(entry)].evictions[self.age_of(entry)] += 1
                    self.explorers += entry.explores
                    places[entry.block] = 0
                    evictions += 1
                places[ids[i]] = place
            entry = &self.entries[place]
            if found:
                age = self.age_of(entry)
                self.classes[self.class_of(entry)].hits[age] += 1
                self.explorers += entry.explores
                entry.before = entry.hit_age
                entry.hit_age = age
            else:
                entry.block = ids[i]
                entry.hit_age = 0
                entry.before = AGES
            entry.last = self.now
            explore = self.draw() * EXPLORER >> 32 == 0
            entry.explores = explore and self.explorers > 0 and self.estimates < EARLY
            self.explorers -= entry.explores
            if not found and not explore and self.density_of(entry) < self.victims:
                self.admitted[self.admissions % ADMITTED] = ids[i]
                self.admissions += 1
            self.now += 1
            if self.now % self.period == 0:
                self.estimate()
        self.evictions += evictions

    cdef uint32_t victim(self) noexcept nogil:
        """Return the place of the block to evict, and include its density in the mean of recent victims."""
        cdef uint32_t drawn = self.candidates if self.estimates > EARLY else EARLY_SAMPLE
        cdef uint32_t k, place, found = 0
        cdef double density, lowest = 0
        if self.room <= drawn:
            for place in range(1, <uint32_t>self.room + 1):
                density = self.density_of(&self.entries[place])
                if not found or density < lowest or (
                    density == lowest and self.entries[place].last < self.entries[found].last
                ):
                    found, lowest = place, density
            self.victims = DECAY * self.victims + (1 - DECAY) * lowest
            return found
        for k in range(drawn + ADMITTED):
            if k < drawn:
                place = 1 + <uint32_t>(self.draw() * self.room >> 32)
            elif self.admitted[k - drawn] == NOBODY or not self.places[self.admitted[k - drawn]]:
                continue
            else:
                place = self.places[self.admitted[k - drawn]]
            density = self.density_of(&self.entries[place])
            if not found or density < lowest:
                found, lowest = place, density
        self.victims = DECAY * self.victims + (1 - DECAY) * lowest
        return found

    cdef void estimate(self) noexcept nogil:
        """Let the counts decay, and estimate the densities from them."""
        cdef Counts* counts
        cdef uint32_t k, back, age
        cdef double hits, events, times
        self.objects = self.objects * DECAY + self.resident
        self.mass = self.mass * DECAY + 1
        for k in range(CLASSES):
            counts = &self.classes[k]
            for age in range(AGES):
                counts.hits[age] *= DECAY
                counts.evictions[age] *= DECAY
        if self.estimates == FIRST_COARSENING or self.estimates == SECOND_COARSENING:
            self.set_unit(self.objects / self.mass)
        for k in range(CLASSES):
            counts = &self.classes[k]
            hits = events = times = 0
            for back in range(AGES):
                age = AGES - 1 - back
                hits += counts.hits[age]
                events += counts.hits[age] + counts.evictions[age]
                times += events
                if back:
                    counts.density[age] = hits / times if events > 1e-5 else 0
        self.estimates += 1

    cdef void set_unit(self, double objects) noexcept nogil:
        """Choose the unit of ages, and convert the counts to it."""
        cdef uint32_t shift = 1, k, finer = 0, coarser = 0
        while <double>(<uint64_t>1 << shift) < objects / (SPREAD * AGES):
            shift += 1
        if shift < self.shift:
            finer = self.shift - shift
        else:
            coarser = shift - self.shift
        self.shift = shift
        self.objects *= 8
        self.mass *= 8
        for k in range(CLASSES):
            if finer:
                stretch(self.classes[k].hits, finer)
                stretch(self.classes[k].evictions, finer)
            elif coarser:
                compress(self.classes[k].hits, coarser)
                compress(self.classes[k].evictions, coarser)


cdef void stretch(double* counts, uint32_t by) noexcept nogil:
    """Spread the count of each age over 2**by finer ages; counts beyond the range go to the last age."""
    cdef uint32_t age, back
    for age in range(<uint32_t>AGES >> by, AGES - 1):
        counts[AGES - 1] += counts[age]
    for back in range(1, AGES):
        age = AGES - 1 - back
        counts[age] = counts[age >> by] / <double>(<uint64_t>1 << by)


cdef void compress(double* counts, uint32_t by) noexcept nogil:
    """Merge every 2**by ages into one age by adding their counts."""
    cdef uint32_t age, part, inside = <uint32_t>AGES >> by
    cdef double total
    for age in range(inside):
        total = counts[age << by]
        for part in range(1, <uint32_t>1 << by):
            total += counts[(age << by) + part]
        counts[age] = total
    for age in range(inside, AGES - 1):
        counts[age] = 0
