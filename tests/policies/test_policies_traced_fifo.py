"""Test short sequences traced by hand: FIFO and its descendants. h = hit, m = miss; the comments give the reasoning."""

import numpy as np

from misspenalty.policies import find_policy
from misspenalty.policies.draws import Draws
from misspenalty.policies.wtinylfu import Sketch
from tests.policies.test_policies_traced import outcome

# CLOCK ----------------------------------------------------------------------------------------------------------


def test_clock_counts_with_more_bits():
    # A used three times more. One bit: at C the hand clears A and evicts B, at D it clears nothing more: A goes.
    # Two bits: A holds 3, the hand lowers it to 2 at C, 1 at D (which evicts C), 0 at E (evicts D); A is there.
    assert outcome("clock", 2, "ABAAACDEA") == "mmhhhmmmm"
    assert outcome("clock", 2, "ABAAACDEA", bits=2) == "mmhhhmmmh"


# Random ---------------------------------------------------------------------------------------------------------


def test_random_evicts_by_the_draws_of_splitmix64():
    # seed 0: SplitMix64's first draws are e220a839…, 6e789e6a…, 06c45d18…; of two places their upper halves choose
    # 1, 0, 0. A B fill places 0, 1; C takes B's place; B takes A's; C hits; A takes B's place; C hits
    assert outcome("random", 2, "ABCBCAC", seed=0) == "mmmmhmh"


def test_random_draws_the_published_numbers():
    # test vector of SplitMix64 for seed 1234567
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
    # four segments, the upper three of one block each. A hit twice is in the third, B hit once in the second; C D fill
    # the lowest, E evicts C, F evicts D; A, B are there. With one upper segment B would have sent A down and E evicted
    # it.
    assert outcome("slru", 4, "AAABBCDEFAB", segments=4, protected=0.75) == "mhhmhmmmmhh"
    assert outcome("slru", 4, "AAABBCDEFAB", protected=0.25) == "mhhmhmmmmmh"


def test_slru_filled_upwards_protects_the_first_blocks():
    # protected holds 2: A B fill probation, C D go to protected. E, F, G evict A, B, E. Without the rule all four
    # start in probation and G evicts C.
    assert outcome("slru", 4, "ABCDEFGCD", protected=0.5, fill_up=1) == "mmmmmmmhh"
    assert outcome("slru", 4, "ABCDEFGCD", protected=0.5) == "mmmmmmmmm"


# S3-FIFO --------------------------------------------------------------------------------------------------------

HALF = {"small": 0.5, "ghost": 0.9}  # with 4 blocks: S 2, M 2, G 3 names


def test_s3fifo_moves_blocks_hit_twice_to_main():
    # S A(2) B, M C D. E: A moves to M, B is evicted. F: M holds 3, so C goes. G, H evict E, F from S. A is in M.
    # With threshold 3, E evicts A; its name is pushed out of G when H evicts F.
    assert outcome("s3fifo", 4, "AAABCDEFGHA", **HALF) == "mhhmmmmmmmh"
    assert outcome("s3fifo", 4, "AAABCDEFGHA", threshold=3, **HALF) == "mhhmmmmmmmm"


def test_s3fifo_one_hit_in_small_is_not_enough():
    # S A(1) B, M C D: E evicts A
    assert outcome("s3fifo", 4, "AABCDEA", **HALF) == "mhmmmmm"
    assert outcome("s3fifo", 4, "AABCDEA", threshold=1, **HALF) == "mhmmmmh"


def test_s3fifo_as_in_the_paper_fills_small():
    # all four in S: E, F, G, H evict A, B, C, D. Filled as the authors' code does, C and D start in M and stay.
    assert outcome("s3fifo", 4, "ABCDEFGHCD", fill_main=0, **HALF) == "mmmmmmmmmm"
    assert outcome("s3fifo", 4, "ABCDEFGHCD", **HALF) == "mmmmmmmmhh"


# Clock2Q+ -------------------------------------------------------------------------------------------------------


def test_clock2qplus_ignores_hits_in_the_window():
    # S (2 blocks) A B, M C D. With a window of 1 a hit on the newest block of S does not count: A is hit while B is
    # behind it and moves to M at E, which evicts B. If A is hit while it is the newest, it leaves at E; if B is hit
    # while it is the newest, it leaves at F. With a window of 0 each hit counts.
    assert outcome("clock2qplus", 4, "ABACDEAB", **HALF) == "mmhmmmhm"
    assert outcome("clock2qplus", 4, "AABCDEA", **HALF) == "mhmmmmm"
    assert outcome("clock2qplus", 4, "ABBCDEFB", **HALF) == "mmhmmmmm"
    assert outcome("clock2qplus", 4, "AABCDEA", window=0.0, **HALF) == "mhmmmmh"


def test_clock2qplus_main_is_a_clock_with_one_bit():
    # S A B, M C(1) D. E evicts A; A, a ghost, evicts B and enters M. F: M holds 3; C, hit three times, loses its bit
    # and is reinserted, D goes. B (ghost) evicts E; G: M holds 3, A goes; H evicts F; F (ghost) evicts G; I evicts C.
    assert outcome("clock2qplus", 4, "ABCDCCCEAFBGHFIC", **HALF) == "mmmmhhhmmmmmmmmm"
    assert outcome("s3fifo", 4, "ABCDCCCEAFBGHFIC", threshold=1, **HALF) == "mmmmhhhmmmmmmmmh"


# S4-FIFO --------------------------------------------------------------------------------------------------------


def test_s4fifo_rounds_the_probation_down():
    # half of S's share of 3 is rounded down to 1: the hit on A counts, since B entered after A. Until the first
    # eviction, D, E and F enter M. G finds the cache full: A moves to M, and B is evicted. A hits, B doesn't.
    assert outcome("s4fifo", 6, "ABACDEFGAB", small=0.5, skip=0.5, threshold=1) == "mmhmmmmmhm"


# W-TinyLFU ------------------------------------------------------------------------------------------------------

QUARTER = {"window": 0.25, "protected": 0.5}  # with 4 blocks: window 1, main region 3, of which protected 1


def test_wtinylfu_admits_by_frequency():
    # A twice. B, C, D push A, B, C into probation. E: D (1) against A (2): D is out. F: E (1) against A: out. A hits,
    # protected. D: F (1) against B (1): a tie, F is out. G: D (2) against B (1): B is out. D hits, B doesn't.
    assert outcome("wtinylfu", 4, "AABCDEFADGDB", **QUARTER) == "mhmmmmmhmmhm"


def test_wtinylfu_protected_overflows_into_probation():
    # probation A B C, window D. A hits, protected; B hits, protected, and A goes behind C. D and E are used twice each
    # in the window: D (2) against C (1): C is out; E (2) against A (2): a tie, E is out. A hits, C doesn't.
    assert outcome("wtinylfu", 4, "ABCDABDEEFAC", **QUARTER) == "mmmmhhhmhmhm"


def test_wtinylfu_sketch_saturates_and_ages():
    sketch = Sketch(capacity=8, sample_size=10)  # halves after 80
    for _ in range(20):
        sketch.increment(3)
    assert (sketch.frequency(3), sketch.size) == (15, 15)  # full counters don't count towards the sample
    for number in range(100, 165):
        sketch.increment(number)
    # The 80th counted access halves all counters, so 15 becomes 7. A quarter of the number of odd counters is
    # subtracted from the size before that is halved.
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
