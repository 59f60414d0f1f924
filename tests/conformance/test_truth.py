"""Test the vectors against other programs and against derivations by hand."""

import functools
import json
from collections import Counter
from pathlib import Path

import pytest

from misspenalty import conformance
from misspenalty.conformance.readings import AuthorsLIRS
from misspenalty.conformance.suite import folder, hits_digest
from misspenalty.io.documents import read_yaml
from misspenalty.policies.merlin import HASHES, Merlin, Sketch

DATA = Path(__file__).parents[1] / "data"
AUTHORS = json.loads((DATA / "lirs_authors.json").read_text())
CAPACITY = {"s3fifo": 20, "clock2qplus": 20, "2q": 4}  # the smallest capacities that libCacheSim treats like large ones
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
    """libCacheSim must pass the vectors that it can run; the authors of S3-FIFO, SIEVE and Clock2Q+ maintain their
    policies in it."""
    libcachesim = pytest.importorskip("libcachesim")  # the lock file has it wherever it has a wheel

    def run(capacity, trace, parameters, details):
        if parameters or capacity < CAPACITY.get(policy, 1):
            return None
        cache, hits = getattr(libcachesim, SAME[policy])(cache_size=capacity, hashpower=16), []
        for block in trace:
            request = libcachesim.Request()
            request.obj_id, request.obj_size = block, 1
            hits.append("1" if cache.get(request) else "0")
        return conformance.Answer("".join(hits))

    verdict = conformance.check_run(conformance.load_suite(policy), run)
    assert verdict.conforms and verdict.reading == "definition"
    assert verdict.count("passed") >= 8


def test_lirs_has_the_outcomes_of_its_authors_program():
    """The hits recorded from the LIRS2 authors' program must be those of the reading that is named after it."""
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
    """Merlin with the authors' hashes: XXH64 of the block with two seeds yields the first counter and the step."""

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


BY_HAND = [
    pytest.param(policy, entry, id=f"{policy}-{entry['capacity']}-{'.'.join(map(str, entry['trace']))}")
    for policy, entries in read_yaml(DATA / "derived_by_hand.yaml").items()
    for entry in entries
]


@pytest.mark.parametrize("policy, entry", BY_HAND)
def test_short_vectors_derived_by_hand(policy, entry):
    asked = (entry["capacity"], entry["trace"], entry.get("parameters", {}), [])
    vector = next(
        each
        for each in conformance.load_suite(policy).vectors
        if (each.capacity, list(each.trace), each.parameters, each.writes) == asked
    )
    outcome = vector.outcomes[0]  # the outcome that the definition gives
    assert outcome.hits == entry["hits"] and "definition" in outcome.readings
    if outcome.evicted is None:  # any block that is never used again may be evicted
        assert policy in ("opt", "opt_bypass")
    else:
        assert outcome.evicted == entry["evicted"]


def test_ten_vectors_of_each_policy_are_derived_by_hand():
    count = Counter(param.values[0] for param in BY_HAND)
    few = {policy: count[policy] for policy in conformance.policies() if count[policy] < 10}
    assert few == {"random": 0, "lecar": 6}  # random draws decide most of their outcomes
