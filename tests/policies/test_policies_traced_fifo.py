"""Test short sequences traced by hand: FIFO and its descendants. h = hit, m = miss; the comments give the reasoning."""

import numpy as np

from misspenalty.policies import find_policy
from misspenalty.policies.draws import Draws
from misspenalty.policies.wtinylfu import Sketch
from tests.policies.test_policies_traced import outcome

# CLOCK ----------------------------------------------------------------------------------------------------------


def test_clock_counts_with_more_bits():
    # A is used three more times. With one bit, the hand clears A's bit at C and evicts B; at D no bit is set, so A is
    # evicted. With two bits, A's counter is 3; the hand lowers it to 2 at C, to 1 at D (which evicts C) and to 0 at E
    # (which evicts D), so A hits at the end.
    assert outcome("clock", 2, "ABAAACDEA") == "mmhhhmmmm"
    assert outcome("clock", 2, "ABAAACDEA", bits=2) == "mmhhhmmmh"


# Random ---------------------------------------------------------------------------------------------------------


def test_random_evicts_by_the_draws_of_splitmix64():
    # With seed 0, SplitMix64's first draws are e220a839…, 6e789e6a… and 06c45d18…; for two places, their upper halves
    # choose 1, 0 and 0. A and B fill places 0 and 1. C takes B's place, and B takes A's. C hits. A takes B's place. C
    # hits.
    assert outcome("random", 2, "ABCBCAC", seed=0) == "mmmmhmh"


def test_random_draws_the_published_numbers():
    # These numbers are a test vector of SplitMix64 for seed 1234567.
    draws = Draws(1234567)
    assert [draws.next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_random_depends_on_the_seed():
    ids = np.random.default_rng(1).integers(0, 50, 2000).astype(np.uint32)
    hits = []
    for seed in (1, 1, 2):
        hit = np.zeros(ids.size, np.uint8)
        find_policy("random").kernel(20, 50, seed=seed).replay(ids, hit)
        hits.append(hit)
    assert np.array_equal(hits[0], hits[1])
    assert not np.array_equal(hits[0], hits[2])


# SLRU -----------------------------------------------------------------------------------------------------------


def test_a_hit_moves_a_block_of_slru_up_by_one_segment():
    # There are four segments, and the upper three hold one block each. A, hit twice, is in the third, and B, hit once,
    # is in the second. C and D fill the lowest, E evicts C, and F evicts D, so A and B hit. With one upper segment, B
    # would send A down, and E would evict A.
    assert outcome("slru", 4, "AAABBCDEFAB", segments=4, protected=0.75) == "mhhmhmmmmhh"
    assert outcome("slru", 4, "AAABBCDEFAB", protected=0.25) == "mhhmhmmmmmh"


def test_slru_filled_upwards_protects_the_first_blocks():
    # The protected segment holds 2 blocks. A and B fill probation, and C and D go to the protected segment. E, F and G
    # evict A, B and E. Without this rule, all four start in probation, and G evicts C.
    assert outcome("slru", 4, "ABCDEFGCD", protected=0.5, fill_up=1) == "mmmmmmmhh"
    assert outcome("slru", 4, "ABCDEFGCD", protected=0.5) == "mmmmmmmmm"


# S3-FIFO --------------------------------------------------------------------------------------------------------

HALF = {"small": 0.5, "ghost": 0.9}  # with 4 blocks: S 2, M 2, G 3 names


def test_s3fifo_moves_blocks_hit_twice_to_main():
    # S holds A(2) B, and M holds C D. At E, A moves to M, and B is evicted. At F, M holds 3, so C is evicted. G and H
    # evict E and F from S. A is in M. With threshold 3, E evicts A, whose name is pushed out of G when H evicts F.
    assert outcome("s3fifo", 4, "AAABCDEFGHA", **HALF) == "mhhmmmmmmmh"
    assert outcome("s3fifo", 4, "AAABCDEFGHA", threshold=3, **HALF) == "mhhmmmmmmmm"


def test_s3fifo_one_hit_in_small_is_not_enough():
    # S holds A(1) B, and M holds C D, so E evicts A.
    assert outcome("s3fifo", 4, "AABCDEA", **HALF) == "mhmmmmm"
    assert outcome("s3fifo", 4, "AABCDEA", threshold=1, **HALF) == "mhmmmmh"


def test_s3fifo_as_in_the_paper_fills_small():
    # All four blocks are in S, so E, F, G and H evict A, B, C and D. If the cache is filled as in the authors' code, C
    # and D start in M and stay.
    assert outcome("s3fifo", 4, "ABCDEFGHCD", fill_main=0, **HALF) == "mmmmmmmmmm"
    assert outcome("s3fifo", 4, "ABCDEFGHCD", **HALF) == "mmmmmmmmhh"


# Clock2Q+ -------------------------------------------------------------------------------------------------------


def test_clock2qplus_ignores_hits_in_the_window():
    # S (2 blocks) holds A B, and M holds C D. With a window of 1, a hit on the newest block of S does not count. If A
    # is hit while B is behind it, A moves to M at E, which evicts B. If A is hit while it is the newest block, E evicts
    # it; if B is hit while it is the newest block, F evicts it. With a window of 0, each hit counts.
    assert outcome("clock2qplus", 4, "ABACDEAB", **HALF) == "mmhmmmhm"
    assert outcome("clock2qplus", 4, "AABCDEA", **HALF) == "mhmmmmm"
    assert outcome("clock2qplus", 4, "ABBCDEFB", **HALF) == "mmhmmmmm"
    assert outcome("clock2qplus", 4, "AABCDEA", window=0.0, **HALF) == "mhmmmmh"


def test_clock2qplus_main_is_a_clock_with_one_bit():
    # S holds A B, and M holds C(1) D. E evicts A. A, a ghost, evicts B and enters M. At F, M holds 3: C, hit three
    # times, loses its bit and is reinserted, and D is evicted. B (a ghost) evicts E. At G, M holds 3, so A is evicted.
    # H evicts F, F (a ghost) evicts G, and I evicts C.
    assert outcome("clock2qplus", 4, "ABCDCCCEAFBGHFIC", **HALF) == "mmmmhhhmmmmmmmmm"
    assert outcome("s3fifo", 4, "ABCDCCCEAFBGHFIC", threshold=1, **HALF) == "mmmmhhhmmmmmmmmh"


# S4-FIFO --------------------------------------------------------------------------------------------------------


def test_s4fifo_rounds_the_probation_down():
    # Half of S's share of 3 is rounded down to 1, so the hit on A counts, because B entered after A. Until the first
    # eviction, D, E and F enter M. G finds the cache full: A moves to M, and B is evicted. A hits, and B misses.
    assert outcome("s4fifo", 6, "ABACDEFGAB", small=0.5, skip=0.5, threshold=1) == "mmhmmmmmhm"


# W-TinyLFU ------------------------------------------------------------------------------------------------------

# Of 4 blocks, the window holds 1 and the main region 3, one of them protected.
QUARTER = {"window": 0.25, "protected": 0.5}


def test_wtinylfu_admits_by_frequency():
    # A is used twice. B, C and D push A, B and C into probation. At E, D (1) competes with A (2), and D is evicted. At
    # F, E (1) competes with A and is evicted. A hits and becomes protected. At D, F (1) ties with B (1), and F is
    # evicted. At G, D (2) competes with B (1), and B is evicted. D hits, and B misses.
    assert outcome("wtinylfu", 4, "AABCDEFADGDB", **QUARTER) == "mhmmmmmhmmhm"


def test_wtinylfu_protected_overflows_into_probation():
    # Probation is A B C, and the window holds D. A hits and becomes protected; B hits and becomes protected, and A
    # moves behind C. D and E are used twice each in the window. D (2) competes with C (1), and C is evicted. E (2) ties
    # with A (2), and E is evicted. A hits, and C misses.
    assert outcome("wtinylfu", 4, "ABCDABDEEFAC", **QUARTER) == "mmmmhhhmhmhm"


def test_wtinylfu_sketch_saturates_and_ages():
    sketch = Sketch(capacity=8, sample_size=10)  # counters are halved after 80 counted accesses
    for _ in range(20):
        sketch.increment(3)
    assert (sketch.frequency(3), sketch.size) == (15, 15)  # full counters don't count towards the sample
    for number in range(100, 165):
        sketch.increment(number)
    # The 80th counted access halves all counters, so 15 becomes 7. Before the size is halved, a quarter of the number
    # of odd counters is subtracted from it.
    assert 7 <= sketch.frequency(3) <= 15
    assert sketch.size < 40


def test_wtinylfu_sketch_never_counts_too_little():
    rng = np.random.default_rng(3)
    sketch, counts = Sketch(capacity=64, sample_size=1000), np.zeros(200, int)
    for number in rng.zipf(1.3, 3000) % 200:
        sketch.increment(int(number))
        counts[number] += 1
    estimates = np.array([sketch.frequency(number) for number in range(200)])
    assert np.all(estimates >= np.minimum(counts, 15))
    assert np.mean(estimates == np.minimum(counts, 15)) > 0.5


def test_wtinylfu_does_not_depend_on_names():
    rng = np.random.default_rng(4)
    ids = (rng.zipf(1.2, 5000) % 400).astype(np.uint32)
    hits = []
    for names in (np.arange(400), rng.permutation(400)):
        hit = np.zeros(ids.size, np.uint8)
        find_policy("wtinylfu").kernel(30, 400, **find_policy("wtinylfu").check({})).replay(
            names[ids].astype(np.uint32), hit
        )
        hits.append(hit)
    assert np.array_equal(*hits)
