"""Test the vectors against other programs and against derivations by hand."""

import functools
import json
from pathlib import Path

import pytest

from misspenalty import conformance
from misspenalty.conformance.readings import AuthorsLIRS
from misspenalty.conformance.suite import folder, hits_digest
from misspenalty.policies.merlin import HASHES, Merlin, Sketch

DATA = Path(__file__).parents[1] / "data"
AUTHORS = json.loads((DATA / "lirs_authors.json").read_text())
CAPACITY = {"s3fifo": 20, "clock2qplus": 20, "2q": 4}  # smallest that libCacheSim runs as it runs large ones
SAME = {
    "lru": "LRU",
    "fifo": "FIFO",
    "clock": "Clock",
    "sieve": "Sieve",
    "arc": "ARC",
    "lfu": "LFU",
    "s3fifo": "S3FIFO",
    "clock2qplus": "Clock2QPlus",
    "2q": "TwoQ",
}


@pytest.mark.parametrize("policy", SAME)
def test_libcachesim_has_the_outcomes(policy):
    """S3-FIFO, SIEVE and Clock2Q+ are maintained there by their authors."""
    libcachesim = pytest.importorskip("libcachesim")  # the lock has it wherever it is published

    def run(capacity, trace, parameters, details):
        if parameters or capacity < CAPACITY.get(policy, 1):
            return None
        cache, hits = getattr(libcachesim, SAME[policy])(cache_size=capacity), []
        for block in trace:
            request = libcachesim.Request()
            request.obj_id, request.obj_size = block, 1
            hits.append("1" if cache.get(request) else "0")
        return conformance.Answer("".join(hits))

    verdict = conformance.check_run(conformance.load_suite(policy), run)
    assert verdict.conforms and verdict.reading == "definition"
    assert verdict.count("passed") >= 8


def test_lirs_has_the_outcomes_of_its_authors_program():
    """Recorded hits of LIRS in the LIRS2 authors' program; they decide the reading named after them."""
    assert len(AUTHORS["runs"]) >= 18
    for run in AUTHORS["runs"]:
        answer = conformance.answer_reference(AuthorsLIRS, run["capacity"], run["trace"], {}, False)
        assert answer.hits == run["hits"], run
    recorded = {(run["capacity"], tuple(run["trace"])): run["hits"] for run in AUTHORS["runs"]}
    vectors = [v for v in conformance.load_suite("lirs").vectors if (v.capacity, tuple(v.trace)) in recorded]
    assert len(vectors) >= 8
    for vector in vectors:
        hits = recorded[vector.capacity, tuple(vector.trace)]
        assert any(hits == outcome.hits and "authors' program" in outcome.readings for outcome in vector.outcomes)


class HashedAsMerlinsAuthors(Merlin):
    """The sketch's hash is of the block itself: XXH64 with two seeds, the counters in equal steps."""

    def __init__(self, capacity, **parameters):
        super().__init__(capacity, **parameters)
        self.number = Itself()
        self.sketch = KeySketch(len(self.sketch.counters))


class Itself(dict):
    def setdefault(self, block, number):
        return super().setdefault(block, block)


class KeySketch(Sketch):
    def places(self, number):
        first, step = (xxh64(number, seed) % 2**32 for seed in (0x12345678, 0x12344321))
        return [(first + k * step) % 2**32 % len(self.counters) for k in range(HASHES)]


@functools.cache
def xxh64(key, seed):
    """Return XXH64 of a whole number of eight bytes (github.com/Cyan4973/xxHash, doc/xxhash_spec.md)."""
    prime = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
    word = rotated(key * prime[1] % 2**64, 31) * prime[0] % 2**64
    acc = rotated((seed + prime[4] + 8) % 2**64 ^ word, 27) * prime[0] + prime[3]
    acc = (acc % 2**64 ^ acc % 2**64 >> 33) * prime[1] % 2**64
    acc = (acc ^ acc >> 29) * prime[2] % 2**64
    return acc ^ acc >> 32


def rotated(word, by):
    return (word << by | word >> (64 - by)) % 2**64


@pytest.mark.parametrize("run", json.loads((DATA / "merlin_authors.json").read_text()), ids=str)
def test_merlin_has_the_outcomes_of_its_authors_program(run):
    trace = [int(line) for line in (folder() / run["trace"]).read_text().split()]
    hits = conformance.answer_reference(HashedAsMerlinsAuthors, run["capacity"], trace, {}, False).hits
    assert (hits.count("1"), hits_digest(hits)) == (run["hits"], run["sha256"])


BY_HAND = {  # policy, capacity, trace: hits, and evicted blocks by reference; above it the steps that the paper gives
    # T1={1}; hit: T2={1}; T1={2}; |T1|=1 > p=0: 2 goes to B1, T1={3}; hit in T2
    ("arc", 2, (1, 1, 2, 3, 1)): ("01001", {3: [2]}),
    # as before, but 2 is in B1: p=1, |T1|=p and not from B2, so 1 goes from T2 to B2
    ("arc", 2, (1, 1, 2, 3, 2)): ("01000", {3: [2], 4: [1]}),
    # 1's bit is set; at 3 T1's hand moves 1 to T2 and clears the bit, then |T1|=1 >= 1: 2, whose bit is clear, goes
    ("car", 2, (1, 1, 2, 3, 1)): ("01001", {3: [2]}),
    # 3 takes place 0, the hand is at 1; 1 takes place 1, the hand is at 0; 2 takes the place of 3
    ("clock", 2, (1, 2, 3, 1, 2)): ("00000", {2: [1], 3: [2], 4: [3]}),
    # the hand, at the tail, clears 1's mark, moves on to 2, which is not visited
    ("sieve", 2, (1, 2, 1, 3, 1)): ("00101", {3: [2]}),
    # LIR={1,2,3}, 4 is HIR in Q, 5 replaces it; 1 is LIR
    ("lirs", 4, (1, 2, 3, 4, 5, 1)): ("000001", {4: [4]}),
    # the second 4 finds 4 in S: 4 becomes LIR, 1, the lowest LIR block, HIR at the end of Q; 5 replaces it
    ("lirs", 4, (1, 2, 3, 4, 4, 5, 4)): ("0000101", {5: [1]}),
    # all four in A1in, in order of loading; hits there do nothing; |A1in|=4 > Kin=1, so 1 goes
    ("2q", 4, (1, 2, 3, 4, 2, 1, 4, 5, 3)): ("000011101", {7: [1]}),
    # one hit in S is not above one: 1 leaves S for G; 2 is in M (or in S, if all enter S)
    ("s3fifo", 3, (1, 2, 1, 3, 4, 2)): ("001001", {4: [1]}),
    # 1 is hit in the window, so it leaves S for G; 2 and 3 are in M
    ("clock2qplus", 3, (1, 1, 2, 3, 4, 2)): ("010001", {4: [1]}),
    # ranks 1: 2, 2: 1; 2 leaves, the clock is 1
    ("gdsf", 2, (1, 1, 2, 3, 1)): ("01001", {3: [2]}),
    # at the fifth reference 1 has 2 uses in 4, 2 has 2 in 3
    ("hyperbolic", 2, (1, 2, 2, 1, 3, 1)): ("001100", {4: [1], 5: [2]}),
    # LRU has all the weight and no regret: 3 is the least recently used, then 2
    ("lecar", 3, (1, 1, 2, 2, 3, 1, 4, 2, 1)): ("010101001", {6: [2], 7: [3]}),
    # 1 was hit, so that its density is 16; 2 and 3, at 1, were not, and 2 was used first
    ("lhd", 3, (1, 1, 2, 3, 4, 1)): ("010001", {4: [2]}),
    # one hit in S is not enough: 1 leaves it; 2 is in M
    ("s4fifo", 3, (1, 1, 2, 3, 4, 1)): ("010000", {4: [1], 5: [4]}),
    # the core {1,2,3} is above its share, 1: 1 and 2 go to staging, 1 leaves; 4 is the filter, no better known than 2
    ("merlin", 3, (1, 2, 3, 4, 1)): ("00000", {3: [1], 4: [4]}),
    # the hit protects 1; 2 is the oldest in probation
    ("slru", 3, (1, 1, 2, 3, 4, 1)): ("010001", {4: [2]}),
    # window {4}, candidate 3 against the main region's victim 1, both used once: the candidate goes
    ("wtinylfu", 3, (1, 2, 3, 4, 1)): ("00001", {3: [3]}),
    # 3 and LRU's victim, 1, are both used once: 3 is refused; used twice it replaces 1, and 2 stays
    ("tinylfu+lru", 2, (1, 2, 3, 3, 2)): ("00001", {3: [1]}),
    # T1={2}, T2={1}, p=0: REPLACE names 2, used once; 3 is refused, then replaces it
    ("tinylfu+arc", 2, (1, 1, 2, 3, 3, 3)): ("010001", {4: [2]}),
    # 1 has two known uses, 2 only one and so an infinite distance
    ("lru2", 2, (1, 1, 2, 3, 1)): ("01001", {3: [2]}),
}


@pytest.mark.parametrize("policy, capacity, trace", BY_HAND)
def test_short_vectors_derived_by_hand(policy, capacity, trace):
    hits, evicted = BY_HAND[policy, capacity, trace]
    vector = next(
        v for v in conformance.load_suite(policy).vectors if (v.capacity, tuple(v.trace)) == (capacity, trace)
    )
    assert all(outcome.hits == hits for outcome in vector.outcomes)
    assert vector.outcomes[0].evicted == evicted
