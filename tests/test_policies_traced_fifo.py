"""Short sequences traced by hand: FIFO and what grew from it. h = hit, m = miss; the comments give the reasoning."""

import numpy as np
from test_policies_traced import outcome

from misspenalty.policies import find_policy

# FIFO -----------------------------------------------------------------------------------------------------------


def test_fifo_evicts_the_block_loaded_longest_ago():
    # A, B fill; the hit on A changes nothing: C evicts A; B hits; A evicts B
    assert outcome("fifo", 2, "ABACBA") == "mmhmhm"


def test_fifo_shows_beladys_anomaly():
    # the classic string: 9 misses with three blocks, 10 with four
    assert outcome("fifo", 3, "123412512345").count("m") == 9
    assert outcome("fifo", 4, "123412512345").count("m") == 10


# CLOCK ----------------------------------------------------------------------------------------------------------


def test_clock_gives_a_second_chance():
    # circle A B, A referenced: at C the hand clears A, passes on, evicts B; A hits (bit set again); at B the hand is
    # back at A, clears it, passes on to C, which has no bit and goes; A is still there
    assert outcome("clock", 2, "ABACABA") == "mmhmhmh"


def test_clock_loads_with_the_bit_cleared():
    # nothing is referenced again, so blocks leave in FIFO order: C evicts A, A evicts B, C is there
    assert outcome("clock", 2, "ABCAC") == "mmmmh"


def test_clock_is_fifo_when_all_are_referenced():
    # A, B referenced once each: at C the hand clears A, clears B, comes back and evicts A; B is there with no bit
    assert outcome("clock", 2, "ABABCB") == "mmhhmh"
    assert outcome("clock", 2, "ABABCA") == "mmhhmm"


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
    twin = find_policy("random").twin(1, seed=1234567)
    assert [twin._draw() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_random_depends_on_the_seed():
    ids = np.random.default_rng(1).integers(0, 50, 2000).astype(np.uint32)
    hits = []
    for seed in (1, 1, 2):
        hit = np.zeros(ids.size, np.uint8)
        find_policy("random").kernel(20, 50, seed=seed).replay(ids, hit)
        hits.append(hit)
    assert np.array_equal(hits[0], hits[1])
    assert not np.array_equal(hits[0], hits[2])


# SIEVE ----------------------------------------------------------------------------------------------------------


def test_sieve_keeps_survivors_in_their_place():
    # A B C, A visited. D: the hand clears A, evicts B and stands at C. E: C is not visited and goes, the hand stands
    # at D. A hits and is marked. F: D goes, hand at E. So new blocks are sifted first and A outlives them.
    assert outcome("sieve", 3, "ABCADEAFA") == "mmmhmmhmh"


def test_sieve_turns_at_the_head():
    # A B visited. C: the hand clears A and B, turns to the tail and evicts A; B is unmarked, the hand stands at it.
    # D evicts B, the hand stands at C. C hits and is marked. A: the hand clears C, evicts D, the newest, and so turns
    # to the tail, C. B: C is unmarked and goes.
    assert outcome("sieve", 2, "ABABCDCABC") == "mmhhmmhmmm"


def test_sieve_spares_what_was_visited_once():
    # B visited. D: A goes, the hand stands at B. E: the hand clears B, evicts C. B, D: both are there
    assert outcome("sieve", 3, "ABCBDEBD") == "mmmhmmhh"
