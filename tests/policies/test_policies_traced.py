"""Test short sequences traced by hand, for kernel and reference. h = hit, m = miss; the comments give the reasoning.

The conformance vectors test most policies with their default parameters, so these sequences test mostly other ones.
"""

import numpy as np
import pytest

from misspenalty.policies import find_policy


def outcome(name, capacity, sequence, **parameters):
    """Return the hits and misses of kernel and reference, which have to agree, as a string of h and m."""
    definition = find_policy(name)
    letters = sorted(set(sequence))
    ids = np.array([letters.index(letter) for letter in sequence], np.uint32)
    hit = np.zeros(ids.size, np.uint8)
    definition.kernel(capacity, len(letters), **definition.check(parameters)).replay(ids, hit)
    future = [sequence] if definition.offline else []
    reference = definition.reference(capacity, *future, **definition.check(parameters))
    assert [reference.access(letter) for letter in sequence] == hit.astype(bool).tolist()
    return "".join("mh"[found] for found in hit)


# LRU ------------------------------------------------------------------------------------------------------------


def test_lru_on_the_textbook_string():
    # 12 faults with three frames
    assert outcome("lru", 3, "70120304230321201701").count("m") == 12


# LFU ------------------------------------------------------------------------------------------------------------


def test_lfu_with_history_takes_up_the_count():
    # B (count 1), evicted by C, is remembered; it returns with count 2 and evicts C (1); C returns with 2 and evicts A
    # (2, older than B): B is there at the end. In-cache LFU counts from 1 again, and A keeps its place.
    assert outcome("lfu", 2, "AABCBCB", history=1) == "mhmmmmh"
    assert outcome("lfu", 2, "AABCBCB") == "mhmmmmm"


# LRU-2 ----------------------------------------------------------------------------------------------------------


def test_lru2_evicts_blocks_used_once_first():
    # A used twice, B once: C evicts B though A was used before it
    assert outcome("lru2", 2, "AABCA") == "mhmmh"


def test_lru2_goes_by_the_second_to_last_use():
    # accesses are numbered from 1. A 1, B 2; C 3 evicts A; A 4 returns, second-to-last use 1, evicts B (used once,
    # older than C); D 5 evicts C (once); B 6 returns with 2, evicts D (once); A 7 hits, its second-to-last is now 4;
    # C 8 returns with 3 and evicts B (2 < 4); A 9 hits
    assert outcome("lru2", 2, "ABCADBACA", history=1) == "mmmmmmhmh"


def test_lru2_correlated_uses_count_as_one():
    # period 2: A's second use is 1 access after its first, so A counts as used once. At C (access 4) no block is out
    # of its period (4 - 2 and 4 - 3 are not above 2), so the older of the two goes: A. With no period A would have
    # been kept.
    assert outcome("lru2", 2, "AABCA", correlated_period=2) == "mhmmm"
    assert outcome("lru2", 2, "AABCA", correlated_period=0) == "mhmmh"


def test_lru2_spares_blocks_within_their_period():
    # period 2. B's uses at 2, 3, 5, 6 are each within 2 of the one before: used once. A's at 1 and 4 are not: used
    # twice. At C (7) B would be the lower, but 7 - 6 is within the period, so A goes. B (8) hits, correlated. At A
    # (9) B and C are both spared, so the older of the two goes: C.
    assert outcome("lru2", 2, "ABBABBCBAB", correlated_period=2) == "mmhhhhmhmh"


def test_lru3_goes_by_the_third_to_last_use():
    # A three times, B twice: at C, B's third-to-last use is not known, so B goes. LRU-2: A's second-to-last, 2, is
    # older than B's, 4: A goes.
    assert outcome("lru2", 2, "AAABBCA", k=3) == "mhhmhmh"
    assert outcome("lru2", 2, "AAABBCA", k=2) == "mhhmhmm"


def test_lru3_takes_out_the_time_a_use_lasted():
    # accesses are numbered from 1; period 2. P's uses at 1 and 3 count as one that lasted 2. At 6 it moves to 3, so
    # P's third-to-last use at 9 is 3. Q's uses at 2, 5, 8 are uncorrelated: its third-to-last is 2. R's at 4, 7, 10
    # are uncorrelated, too; 11 and 12 keep R within its period. S (13) evicts Q, not P, whose third-to-last use would
    # be 1 without the move.
    assert outcome("lru2", 3, "PQPRQPRQPRRRSPQ", k=3, correlated_period=2) == "mmhmhhhhhhhhmhm"


def test_lru1_is_lru():
    sequence = "".join(np.random.default_rng(3).choice(list("ABCDEFGH"), 400, p=np.arange(8, 0, -1) / 36))
    for capacity in (1, 2, 3, 5):
        assert outcome("lru2", capacity, sequence, k=1) == outcome("lru", capacity, sequence)


# LFRU -----------------------------------------------------------------------------------------------------------


def test_lfru_weighs_frequency_by_age():
    # lam 0.1: before C (access 5) A's CRF is (1 + 0.933 + 0.871) * 0.871 = 2.44, B's 0.933: B goes, A hits at 6.
    # lam 1: A has (1 + 0.5 + 0.25) / 4 = 0.4375, B 0.5: A goes.
    assert outcome("lfru", 2, "AAABCA", lam=0.1) == "mhhmmh"
    assert outcome("lfru", 2, "AAABCA", lam=1) == "mhhmmm"


def test_lfru_history_keeps_the_crf():
    # lam 0.1. C (4) evicts B (0.93 < 1.68), whose CRF of 1 at access 3 is remembered. B (5) returns with 1 + 2**-0.2 =
    # 1.87 and evicts C. At D (6) A has 1.93 * 2**-0.4 = 1.46, B 1.75: A goes. Without history B has 0.93 and goes.
    assert outcome("lfru", 2, "AABCBDA", lam=0.1, history=1) == "mhmmmmm"
    assert outcome("lfru", 2, "AABCBDA", lam=0.1, history=0) == "mhmmmmh"


def test_lfru_spans_from_lfu_to_lru():
    sequence = "".join(np.random.default_rng(2).choice(list("ABCDEFGH"), 400, p=np.arange(8, 0, -1) / 36))
    for capacity in (1, 2, 3, 5):
        assert outcome("lfru", capacity, sequence, lam=0, history=0) == outcome("lfu", capacity, sequence)
        assert outcome("lfru", capacity, sequence, lam=0, history=2) == outcome("lfu", capacity, sequence, history=2)
        assert outcome("lfru", capacity, sequence, lam=1, history=0) == outcome("lru", capacity, sequence)


# FBR ------------------------------------------------------------------------------------------------------------


def test_fbr_counts_outside_the_new_section_only():
    # four blocks: new 1, middle 1, old 2. Stack, newest first, after ABCD: D | C | B A, counts 1. A hits in old:
    # count 2, A | D | C B. A hits in new: still 2. E evicts B (1, older than C): E | A | D C. C hits in old: count 2,
    # C | E | A D. F evicts D (1): F | C | E A. G evicts E (1) although A (2) is older: G | F | C A. A hits, E misses.
    assert outcome("fbr", 4, "ABCDAAECFGAE", f_new=0.25, f_old=0.5) == "mmmmhhmhmmhm"


def test_fbr_is_lru_within_a_count():
    # all counts 1: the oldest goes, as in LRU
    assert outcome("fbr", 3, "ABCDABC", f_new=0.34, f_old=0.66) == "mmmmmmm"


def test_fbr_halves_the_counts():
    # no new section, so each hit counts. With a_max 2, A's third use makes the average 3, and A's count is halved to 2;
    # the fourth use does the same. B: 1, 2, then 3, which with A's 2 averages 2.5: A 1, B 2. C evicts A. With a_max 100
    # A has 4, B 3: C evicts B, A hits.
    assert outcome("fbr", 2, "AAAABBBCA", f_new=0, f_old=1, a_max=2) == "mhhhmhhmm"
    assert outcome("fbr", 2, "AAAABBBCA", f_new=0, f_old=1, a_max=100) == "mhhhmhhmh"


def test_fbr_takes_the_oldest_where_all_counts_are_above_c_max():
    # A has count 3 and is older than B, with count 2. With c_max 1 neither is ranked: C evicts A. With c_max 2 B is
    # ranked: C evicts B.
    assert outcome("fbr", 2, "AAABBCA", f_new=0, f_old=1, c_max=1) == "mhhmhmm"
    assert outcome("fbr", 2, "AAABBCA", f_new=0, f_old=1, c_max=2) == "mhhmhmh"
    # By default counts up to 256 are ranked: B's is ranked if it is 256, but not if it is 257.
    by_default = {"f_new": 0, "f_old": 1, "a_max": 10_000}
    assert outcome("fbr", 2, "A" * 258 + "B" * 256 + "CA", **by_default)[-1] == "h"
    assert outcome("fbr", 2, "A" * 258 + "B" * 257 + "CA", **by_default)[-1] == "m"


# 2Q -------------------------------------------------------------------------------------------------------------


def test_simplified_2q_promotes_what_is_hit_in_a1():
    # threshold 1. ABCD fill A1; A's hit moves it to Am. E evicts B, B returns and evicts C: A1 is D E B. D and E are
    # hit and move to Am: A1 holds B alone, no more than the threshold, so F evicts A, the least recently used of Am. A
    # evicts B. D hits. In the full version A's hit changes nothing: E evicts A.
    assert outcome("2q", 4, "ABCDAEBDEFAD", kin=0.25, simplified=1) == "mmmmhmmhhmmh"
    assert outcome("2q", 4, "ABCDAEBDEFAD", kin=0.25, kout=0) == "mmmmhmhhhmmh"


def test_simplified_2q_without_threshold_keeps_am_alone():
    # kin 0: A1 provides the victim whenever it holds a block, so A, once promoted, stays for good
    assert outcome("2q", 2, "AABCDEA", kin=0, simplified=1) == "mhmmmmh"


def test_simplified_2q_takes_from_a1_where_am_is_empty():
    # kin 1: A1 is never too large, but nothing is in Am: FIFO
    assert outcome("2q", 2, "ABCABC", kin=1, simplified=1) == "mmmmmm"


# OPT ------------------------------------------------------------------------------------------------------------


def test_opt_on_the_textbook_string():
    # 9 faults with three frames
    assert outcome("opt", 3, "70120304230321201701").count("m") == 9


# MQ -------------------------------------------------------------------------------------------------------------


def test_mq_eighth_access_moves_a_block_to_the_next_queue():
    # After seven uses A is in Q2, as is B after four; A is older there and C evicts it. With eight, A is in Q3: B goes.
    assert outcome("mq", 2, "AAAAAAA" + "BBBB" + "CA", life_time=100).endswith("mm")
    assert outcome("mq", 2, "AAAAAAAA" + "BBBB" + "CA", life_time=100).endswith("mh")


def test_mq_remembers_counts_in_its_history():
    # A 3 (Q1), B 2 (Q1): C evicts A, the older. A returns with 3 + 1 = 4, so in Q2, and evicts C (Q0). B 3 (Q1, newer
    # than A). D evicts B from the lower queue and A hits; had A come back with 3, it would be the older in Q1 and go.
    assert outcome("mq", 2, "AAABBCABDA", history=1, life_time=100) == "mhhmhmmhmh"


def test_mq_forgets_without_history():
    # the same, but A returns with count 1 (Q0), evicts C, and goes at D
    assert outcome("mq", 2, "AAABBCABDA", history=0, life_time=100) == "mhhmhmmhmm"


def test_mq_demotes_what_expired():
    # A 4 (Q2), B 2 (Q1): C evicts B. With lifeTime 1, A expires when B is loaded and moves to the tail of Q1; B's hit
    # puts B behind it: C evicts A.
    assert outcome("mq", 2, "AAAABBCA", life_time=100) == "mhhhmhmh"
    assert outcome("mq", 2, "AAAABBCA", life_time=1) == "mhhhmhmm"


def test_mq_evicts_from_the_lowest_queue():
    # A twice (Q1), B once (Q0): C evicts B although A is older; the next miss evicts C
    assert outcome("mq", 2, "AABCBA", history=0, life_time=100) == "mhmmmh"


@pytest.mark.parametrize("sequence, expected", [("ABCDBAX", 3), ("ABCDEFABCBCBCB", 6), ("ABABAB", 2)])
def test_mq_life_time_is_the_peak_temporal_distance(sequence, expected):
    # The cache has two blocks, so only distances above 2 count; lifeTime is the centre of the fullest bin. ABCDBAX has
    # 3 (bin 2-3) and 5 (bin 4-7); the shorter wins the tie, so it is 3. ABCDEFABCBCBCB has 6 three times (bin 4-7), so
    # it is 6. ABABAB has none, so lifeTime keeps its initial value, the cache size.
    definition = find_policy("mq")
    letters = sorted(set(sequence))
    kernel = definition.kernel(2, len(letters), **definition.check({}))
    kernel.replay(np.array([letters.index(x) for x in sequence], np.uint32), np.zeros(len(sequence), np.uint8))
    reference = definition.reference(2)
    for letter in sequence:
        reference.access(letter)
    assert kernel.life_time == reference.life_time == expected
