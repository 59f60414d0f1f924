"""Define alternative readings of what papers leave open; a policy's first reading is Miss Penalty's definition."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from misspenalty.policies import find_policy
from misspenalty.policies.arc import ARC
from misspenalty.policies.car import CAR
from misspenalty.policies.clock import Clock
from misspenalty.policies.gdsf import GDSF
from misspenalty.policies.lfu import LFU
from misspenalty.policies.lirs import LIRS
from misspenalty.policies.registry import Reference
from misspenalty.policies.s3fifo import S3FIFO
from misspenalty.policies.sized import ranked
from misspenalty.policies.twoq import TwoQ


class WholeTargetARC(ARC):
    """ARC whose target changes by whole numbers: the ratio of the lengths of the ghost lists is rounded down."""

    def _adapt(self, step):
        super()._adapt(int(step))


class WholeTargetCAR(CAR):
    """CAR whose target changes by whole numbers: the ratio of the lengths of the ghost lists is rounded down."""

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        before = self.p
        hit = super().access(block)
        self.p = before + int(self.p - before)
        return hit


class SetAtLoadClock(Clock):
    """CLOCK in which the reference that loads a block also sets its bit, as hardware does."""

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = super().access(block)
        self.references[block] = max(self.references[block], 1)
        return hit


class OldestOnTieLFU(LFU):
    """LFU that, on a tie, evicts the block that was loaded first."""

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        order = list(self.count)
        hit = super().access(block)
        if hit:
            for each in order:
                self.count.move_to_end(each)
        return hit


class RefusingGDSF(GDSF):
    """GDSF that ranks a new block before an eviction, and does not load the new block if it ranks lowest."""

    def __init__(self, capacity):
        super().__init__(capacity)
        self.cache = ranked.GDSF(capacity, bypass=1)


class OldestOnTieGDSF(GDSF):
    """GDSF that, on a tie, evicts the block that was loaded first."""

    def __init__(self, capacity):
        super().__init__(capacity)
        self.cache.order = self.cache.rank.get


class ReclaimFirst2Q(TwoQ):
    """2Q that reclaims a slot before it looks up a missed block in A1out; a full A1out may then drop that block."""

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.am or block in self.a1in:
            return super().access(block)
        if len(self.a1in) + len(self.am) == self.capacity:
            self._reclaim()
        known = self.a1out.pop(block, False)
        (self.am if known else self.a1in)[block] = None
        return False


class AuthorsLIRS(LIRS):
    """LIRS as in the authors' program: it has room for at least two HIR blocks, and ignores immediate repetitions."""

    def __init__(self, capacity, hirs=0.01, stack_limit=None):
        super().__init__(capacity, hirs, stack_limit)
        self.lirs = capacity - max(int(hirs * capacity), 2)
        self.last = None

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        repeated, self.last = block == self.last, block
        return True if repeated else super().access(block)


class AlgorithmS3FIFO(S3FIFO):
    """S3-FIFO exactly as in algorithm 1.

    A miss evicts before it searches G; a block of S that enters a full M makes M evict a block at once, possibly the
    block that has just entered.
    """

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        if block in self.count:
            return super().access(block)
        while len(self.count) >= self.capacity:
            if len(self.small) >= self.share or not self.main:
                self._evict_small()
            else:
                self._evict_main()
        (self.main if self._recall(block) else self.small).append(block)
        self.count[block] = 0
        return False

    def _promote(self, block):
        """Move a block from S to M; if M was full, evict a block from it."""
        super()._promote(block)
        if len(self.main) > self.capacity - self.share:
            self._evict_main()


def with_exact_counts(policy):
    """Return a function ``make(capacity, **parameters)`` that makes the policy with exact counts instead of a sketch.

    No hash affects the outcomes of that policy.
    """
    counts = UnboundedCounts if policy == "merlin" else ExactCounts

    def make(capacity, **parameters):
        made = find_policy(policy).reference(capacity, **parameters)
        made.sketch = counts(made.sketch)
        return made

    return make


class UnboundedCounts:
    """Exact counts per block; they have no upper limit, and are halved on demand."""

    def __init__(self, sketch):
        self.counts = {}

    def frequency(self, number):
        """Return the count of a block."""
        return self.counts.get(number, 0)

    def increment(self, number):
        """Count one access."""
        self.counts[number] = self.frequency(number) + 1

    def halve(self):
        """Halve all counts."""
        self.counts = {number: count >> 1 for number, count in self.counts.items()}


class ExactCounts(UnboundedCounts):
    """Exact counts of up to 15 per block; all are halved whenever their sum reaches `sample`."""

    def __init__(self, sketch):
        super().__init__(sketch)
        self.sample, self.size = sketch.sample, 0

    def increment(self, number):
        """Count one access."""
        if self.frequency(number) < 15:
            super().increment(number)
            self.size += 1
        if self.size >= self.sample:
            self.size = (self.size - sum(count & 1 for count in self.counts.values())) // 2
            self.halve()


def with_hash(policy):
    """Return a function ``make(capacity, seed, **parameters)`` that makes the policy with a hash seeded by `seed`."""

    def make(capacity, seed, **parameters):
        made = find_policy(policy).reference(capacity, **parameters)
        made.number = Numbers(seed * 1_000_003)
        return made

    return make


class Numbers(dict):
    """Numbers of blocks in order of first use, starting with `first`."""

    def __init__(self, first):
        super().__init__()
        self.first = first

    def setdefault(self, block, number):
        """Return the block's number, after assigning one if it has none."""
        return super().setdefault(block, self.first + number)


class DrawnVictim(Reference):
    """A policy that draws each victim at random from those that a reading allows."""

    CACHED = ("counts",)

    def __init__(self, capacity, victims, seed):
        self.capacity, self.victims, self.draw = capacity, victims, random.Random(seed)
        self.counts = {}  # references since the block was loaded

    def access(self, block):
        """Reference `block` and return whether it was in the cache."""
        hit = block in self.counts
        if not hit and len(self.counts) == self.capacity:
            del self.counts[self.draw.choice(self.victims(self.counts))]
        self.counts[block] = self.counts.get(block, 0) + 1
        return hit


@dataclass(frozen=True)
class DefinedReading:
    """A reading of a policy's paper, and the definition of the policy that follows it.

    Attributes
    ----------
    make : callable
        ``make(capacity, **parameters)``, or for an offline policy ``make(capacity, future, **parameters)``.
    parameters : dict
        Parameters that are passed to `make` unless a vector sets them.
    victims : callable or None
        Set if a reading allows several victims: ``victims(counts)`` lists them, where `counts` maps each cached block
        to the number of references to it since it was loaded, including the one that loaded it.
    by_seed : callable or None
        Set if the outcome of a long trace depends on chance: ``by_seed(capacity, seed)`` makes the policy.
    """

    name: str
    says: str
    make: Callable[..., Any] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    victims: Callable[[dict[int, int]], list[int]] | None = None
    by_seed: Callable[[int, int], Any] | None = None


def least_used(counts):
    """Return the blocks with the lowest count."""
    lowest = min(counts.values())
    return [block for block, count in counts.items() if count == lowest]


def all_outcomes(reading, capacity, trace, most):
    """Return every sequence of hits that is possible if each victim can be any block that `reading.victims` lists.

    Returns
    -------
    list of str or None
        Sorted; None if there are more than `most`.
    """
    states = {("", ())}
    for block in trace:
        following = set()
        for hits, cached in states:
            counts = dict(cached)
            if block in counts:
                counts[block] += 1
                following.add((hits + "1", tuple(sorted(counts.items()))))
                continue
            victims = reading.victims(counts) if len(counts) == capacity else [None]
            for victim in victims:
                left = {each: count for each, count in counts.items() if each != victim} | {block: 1}
                following.add((hits + "0", tuple(sorted(left.items()))))
        states = following
        if len({hits for hits, _ in states}) > most:
            return None
    return sorted({hits for hits, _ in states})


OPEN = {  # further readings by policy; the first reading is the registered definition
    "clock": [
        DefinedReading(
            "bit set at load",
            "Hardware sets the reference bit at the access that loads a block; the report describes a hardware bit.",
            SetAtLoadClock,
        )
    ],
    "random": [DefinedReading("any block", "Any block may be the victim.", victims=list)],
    "slru": [
        DefinedReading(
            "half protected",
            "The limit of the protected segment is a tuning parameter of the paper; here it is half of the cache.",
            parameters={"protected": 0.5},
        ),
        DefinedReading(
            "fills up",
            "Until the cache is full, a new block enters the protected segment if the lower one is full.",
            parameters={"fill_up": 1},
        ),
    ],
    "lfu": [
        DefinedReading(
            "oldest on a tie", "The definition does not decide ties; the first loaded goes.", OldestOnTieLFU
        ),
        DefinedReading(
            "any on a tie",
            "The definition does not decide ties; any of the least used blocks may go.",
            victims=least_used,
        ),
    ],
    "gdsf": [
        DefinedReading(
            "may refuse",
            "A new block is ranked before another leaves for it, and is not loaded if every other ranks higher.",
            RefusingGDSF,
        ),
        DefinedReading("oldest on a tie", "The report does not decide ties; the first loaded goes.", OldestOnTieGDSF),
    ],
    "2q": [
        DefinedReading(
            "reclaims first",
            "The paper's procedure reclaims a slot before it uses the entry found in A1out.",
            ReclaimFirst2Q,
        ),
        DefinedReading(
            "simplified",
            "The paper's simplified version has A1 in place of A1in and A1out; a hit in A1 moves the block to Am.",
            parameters={"simplified": 1},
        ),
    ],
    "lirs": [
        DefinedReading(
            "authors' program",
            "At least two blocks are reserved for HIR blocks; immediate repeats of a reference are skipped.",
            AuthorsLIRS,
        )
    ],
    "arc": [
        DefinedReading(
            "whole target",
            "The figure adds a ratio to the target without saying whether it is rounded; here it is rounded down.",
            WholeTargetARC,
        )
    ],
    "car": [
        DefinedReading(
            "whole target",
            "The figure adds a ratio to the target without saying whether it is rounded; here it is rounded down.",
            WholeTargetCAR,
        )
    ],
    "mq": [
        DefinedReading(
            "recalls first",
            "A miss looks its block up in Qout before it evicts, so that a full Qout cannot drop that very entry.",
            parameters={"recall_first": 1},
        )
    ],
    "s3fifo": [
        DefinedReading(
            "all enter S",
            "As in algorithm 1, every new block enters S, even while the cache fills; the rest is the authors' code.",
            parameters={"fill_main": 0},
        ),
        DefinedReading(
            "algorithm 1",
            "Algorithm 1 to the letter: a miss evicts, then looks in G; a full M takes a block of S, then evicts.",
            AlgorithmS3FIFO,
        ),
    ],
    "lecar": [
        DefinedReading(
            "counts restart",
            "LFU counts a block that returns from a history as used once; the paper leaves this open.",
            parameters={"recall": 0},
        )
    ],
    "lhd": [
        DefinedReading(
            "second application",
            "Classes are numbered across applications, and libCacheSim takes its only application for the second one.",
            parameters={"initial": 17},
        )
    ],
    "lru2": [
        DefinedReading(
            "remembers all",
            "The paper keeps the history of an evicted block for a time; here it is kept for ever.",
            parameters={"history": 1000.0},
        )
    ],
}

FIRST = {  # what the first reading of each policy defines
    "clock": "bit clear at load: a block that was only loaded is evicted at the hand's first visit.",
    "random": "Miss Penalty's seeded generator draws the victims.",
    "slru": "There are two segments; the protected one has up to 80 % of the cache.",
    "lfu": "Of the least used blocks, the least recently used goes; an eviction loses the count.",
    "gdsf": "A new block is always loaded, and is ranked after the eviction; on a tie, the least recently used goes.",
    "clock2qplus": "As in the authors' code, blocks beyond the share of S enter M until the first eviction.",
    "2q": "The full version, Kin 25 % and Kout 50 %; a block found in A1out leaves it before a slot is reclaimed.",
    "lirs": "At least one block is reserved for HIR blocks, and every reference counts.",
    "arc": "The target is a real number.",
    "car": "The target is a real number.",
    "mq": "A miss evicts, then looks its block up in Qout.",
    "s3fifo": "As in the authors' code, blocks beyond the share of S enter M until the first eviction.",
    "lru2": "Histories are kept of four times as many evicted blocks as the cache holds.",
    "wtinylfu": "The window is 1 %, at least a block; of the rest, 80 % are protected; no outcome depends on a hash.",
    "tinylfu+lru": "A tie refuses the missed block; no outcome of a short vector depends on the sketch's hash.",
    "tinylfu+arc": "A tie refuses the missed block; ARC's target is a real number; no outcome depends on the hash.",
    "merlin": "The definition follows the authors' code; no outcome of a short vector depends on the sketch's hash.",
    "hyperbolic": "A cache of up to 64 blocks compares all of them; on a tie, the block loaded first goes.",
    "lhd": "There is one application; a cache of up to 8 blocks compares all; on a tie, the least recently used goes.",
    "lecar": "The definition follows the authors' code, but on a tie, LFU chooses the least recently used block.",
    "clockpro": "As in the authors' code, the first pages are hot, and HAND_hot keeps the shares; the paper is silent.",
    "sarc": "An eviction chooses by SEQ's desired size, at first 0, then moves that size; from 0, it becomes |SEQ|.",
    "s4fifo": "The definition follows the authors' code, but without the model: the parameters stay as they are.",
    "opt": "It is open which of the blocks that are never used again goes; this changes no hit.",
}


HASHED = ("wtinylfu", "tinylfu+lru", "tinylfu+arc", "merlin")  # policies with a sketch of counts
BY_SEED = {  # ``make(capacity, seed, **parameters)`` of policies that draw or hash
    **{policy: with_hash(policy) for policy in HASHED},
    **dict.fromkeys(("hyperbolic", "lecar", "lhd"), None),  # their definitions have an argument `seed`
}


def readings_of(policy):
    """Return all readings of a policy as `DefinedReading`, the registered definition first."""
    reference = find_policy(policy).reference
    by_seed = (BY_SEED[policy] or reference) if policy in BY_SEED else None
    says = FIRST.get(policy, "The paper decides every outcome.")
    return [
        _completed(DefinedReading("definition", says), reference, by_seed),
        *(_completed(reading, reference, by_seed) for reading in OPEN.get(policy, [])),
    ]


def _completed(reading, reference, by_seed):
    if reading.victims:
        return replace(reading, by_seed=lambda capacity, seed: DrawnVictim(capacity, reading.victims, seed))
    if by_seed:
        reading = replace(reading, by_seed=lambda capacity, seed: by_seed(capacity, seed=seed, **reading.parameters))
    return reading if reading.make else replace(reading, make=reference)
