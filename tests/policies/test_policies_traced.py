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
    # LRU has 12 faults with three frames.
    assert outcome("lru", 3, "70120304230321201701").count("m") == 12


# LFU ------------------------------------------------------------------------------------------------------------


def test_lfu_with_history_takes_up_the_count():
    # C evicts B (count 1), which is remembered. B returns with count 2 and evicts C (1). C returns with count 2 and
    # evicts A (2, older than B), so B hits at the end. In-cache LFU counts from 1 again, so A is never evicted.
    assert outcome("lfu", 2, "AABCBCB", history=1) == "mhmmmmh"
    assert outcome("lfu", 2, "AABCBCB") == "mhmmmmm"


# LRU-2 ----------------------------------------------------------------------------------------------------------


def test_lru2_evicts_blocks_used_once_first():
    # A is used twice and B once, so C evicts B although A was used earlier.
    assert outcome("lru2", 2, "AABCA") == "mhmmh"


def test_lru2_goes_by_the_second_to_last_use():
    # Accesses are numbered from 1. C (3) evicts A. A (4) returns with second-to-last use 1 and evicts B (used once,
    # older than C). D (5) evicts C (used once). B (6) returns with second-to-last use 2 and evicts D (used once). A (7)
    # hits, so its second-to-last use is 4. C (8) returns with second-to-last use 3 and evicts B (2 < 4). A (9) hits.
    assert outcome("lru2", 2, "ABCADBACA", history=1) == "mmmmmmhmh"


def test_lru2_correlated_uses_count_as_one():
    # With period 2, A's second use is 1 access after its first, so A counts as used once. At C (access 4), both blocks
    # are within their period (4 - 2 and 4 - 3 are not above 2), so the older one, A, is evicted. Without a period, A
    # would be kept.
    assert outcome("lru2", 2, "AABCA", correlated_period=2) == "mhmmm"
    assert outcome("lru2", 2, "AABCA", correlated_period=0) == "mhmmh"


def test_lru2_spares_blocks_within_their_period():
    # With period 2, B's uses at 2, 3, 5 and 6 are each within 2 accesses of the previous use, so B counts as used once.
    # A's uses at 1 and 4 are not, so A counts as used twice. At C (7), B would be the victim, but 7 - 6 is within its
    # period, so A is evicted. B (8) is a correlated hit. At A (9), both B and C are spared, so the older one, C, is
    # evicted.
    assert outcome("lru2", 2, "ABBABBCBAB", correlated_period=2) == "mmhhhhmhmh"


def test_lru3_goes_by_the_third_to_last_use():
    # A is used three times and B twice. At C, B has no third-to-last use, so B is evicted. Under LRU-2, A's
    # second-to-last use (2) is older than B's (4), so A is evicted.
    assert outcome("lru2", 2, "AAABBCA", k=3) == "mhhmhmh"
    assert outcome("lru2", 2, "AAABBCA", k=2) == "mhhmhmm"


def test_lru3_takes_out_the_time_a_use_lasted():
    # Accesses are numbered from 1, and the period is 2. P's uses at 1 and 3 count as one use that lasted 2. At 6, that
    # use is moved to 3, so P's third-to-last use at 9 is 3. Q's uses at 2, 5 and 8 are uncorrelated, so its
    # third-to-last use is 2. R's uses at 4, 7 and 10 are uncorrelated, too; those at 11 and 12 keep R within its
    # period. S (13) evicts Q. Without the move, P's third-to-last use would be 1, and S would evict P.
    assert outcome("lru2", 3, "PQPRQPRQPRRRSPQ", k=3, correlated_period=2) == "mmhmhhhhhhhhmhm"


def test_lru1_is_lru():
    sequence = "".join(np.random.default_rng(3).choice(list("ABCDEFGH"), 400, p=np.arange(8, 0, -1) / 36))
    for capacity in (1, 2, 3, 5):
        assert outcome("lru2", capacity, sequence, k=1) == outcome("lru", capacity, sequence)


# LFRU -----------------------------------------------------------------------------------------------------------


def test_lfru_weighs_frequency_by_age():
    # With lam 0.1, A's CRF before C (access 5) is (1 + 0.933 + 0.871) * 0.871 = 2.44 and B's is 0.933, so C evicts B,
    # and A (6) hits. With lam 1, A has (1 + 0.5 + 0.25) / 4 = 0.4375 and B has 0.5, so C evicts A.
    assert outcome("lfru", 2, "AAABCA", lam=0.1) == "mhhmmh"
    assert outcome("lfru", 2, "AAABCA", lam=1) == "mhhmmm"


def test_lfru_history_keeps_the_crf():
    # With lam 0.1, C (4) evicts B (0.93 < 1.68), whose CRF of 1 at access 3 is remembered. B (5) returns with 1 +
    # 2**-0.2 = 1.87 and evicts C. At D (6), A has 1.93 * 2**-0.4 = 1.46 and B has 1.75, so A is evicted. Without a
    # history, B has 0.93 and is evicted.
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
    # The four blocks are one new, one middle and two old. After ABCD, the stack, newest first, is D | C | B A, and all
    # counts are 1. A hits in old and has count 2: A | D | C B. A hits in new and keeps count 2. E evicts B (1, older
    # than C): E | A | D C. C hits in old and has count 2: C | E | A D. F evicts D (1): F | C | E A. G evicts E (1)
    # although A (2) is older: G | F | C A. A hits, and E misses.
    assert outcome("fbr", 4, "ABCDAAECFGAE", f_new=0.25, f_old=0.5) == "mmmmhhmhmmhm"


def test_fbr_is_lru_within_a_count():
    # All counts are 1, so the oldest block is evicted, as in LRU.
    assert outcome("fbr", 3, "ABCDABC", f_new=0.34, f_old=0.66) == "mmmmmmm"


def test_fbr_halves_the_counts():
    # There is no new section, so each hit counts. With a_max 2, A's third use raises the average to 3, and A's count is
    # halved to 2; the fourth use has the same effect. B's count rises to 3, and the average with A's 2 is 2.5, so the
    # counts are halved to A 1 and B 2. C evicts A. With a_max 100, A has 4 and B has 3, so C evicts B, and A hits.
    assert outcome("fbr", 2, "AAAABBBCA", f_new=0, f_old=1, a_max=2) == "mhhhmhhmm"
    assert outcome("fbr", 2, "AAAABBBCA", f_new=0, f_old=1, a_max=100) == "mhhhmhhmh"


def test_fbr_takes_the_oldest_where_all_counts_are_above_c_max():
    # A has count 3 and is older than B, which has count 2. With c_max 1, neither block is ranked, so C evicts A. With
    # c_max 2, B is ranked, so C evicts B.
    assert outcome("fbr", 2, "AAABBCA", f_new=0, f_old=1, c_max=1) == "mhhmhmm"
    assert outcome("fbr", 2, "AAABBCA", f_new=0, f_old=1, c_max=2) == "mhhmhmh"
    # By default, counts up to 256 are ranked, so B is ranked if its count is 256 but not if it is 257.
    by_default = {"f_new": 0, "f_old": 1, "a_max": 10_000}
    assert outcome("fbr", 2, "A" * 258 + "B" * 256 + "CA", **by_default)[-1] == "h"
    assert outcome("fbr", 2, "A" * 258 + "B" * 257 + "CA", **by_default)[-1] == "m"


# 2Q -------------------------------------------------------------------------------------------------------------


def test_simplified_2q_promotes_what_is_hit_in_a1():
    # The threshold is 1. ABCD fill A1, and A's hit moves it to Am. E evicts B; B returns and evicts C, so A1 is D E B.
    # D and E are hit and move to Am. A1 then holds only B, which is not above the threshold, so F evicts A, the least
    # recently used block of Am. A evicts B, and D hits. In the full version, A's hit changes nothing, and E evicts A.
    assert outcome("2q", 4, "ABCDAEBDEFAD", kin=0.25, simplified=1) == "mmmmhmmhhmmh"
    assert outcome("2q", 4, "ABCDAEBDEFAD", kin=0.25, kout=0) == "mmmmhmhhhmmh"


def test_simplified_2q_without_threshold_keeps_am_alone():
    # With kin 0, A1 provides the victim whenever it holds a block, so A stays in the cache once it is promoted.
    assert outcome("2q", 2, "AABCDEA", kin=0, simplified=1) == "mhmmmmh"


def test_simplified_2q_takes_from_a1_where_am_is_empty():
    # With kin 1, A1 is never too large, but Am is empty, so the cache is a FIFO.
    assert outcome("2q", 2, "ABCABC", kin=1, simplified=1) == "mmmmmm"


# OPT ------------------------------------------------------------------------------------------------------------


def test_opt_on_the_textbook_string():
    # OPT has 9 faults with three frames.
    assert outcome("opt", 3, "70120304230321201701").count("m") == 9


# MQ -------------------------------------------------------------------------------------------------------------


def test_mq_eighth_access_moves_a_block_to_the_next_queue():
    # After seven uses A is in Q2, as is B after four; A is older there, so C evicts A. After eight uses A is in Q3, so
    # C evicts B.
    assert outcome("mq", 2, "AAAAAAA" + "BBBB" + "CA", life_time=100).endswith("mm")
    assert outcome("mq", 2, "AAAAAAAA" + "BBBB" + "CA", life_time=100).endswith("mh")


def test_mq_remembers_counts_in_its_history():
    # A (count 3) and B (2) are in Q1, so C evicts A, the older one. A returns with count 3 + 1 = 4, enters Q2 and
    # evicts C (Q0). B then has count 3 and is in Q1, so D evicts B from the lower queue, and A hits. If A had returned
    # with count 3, it would be the older block in Q1 and would be evicted.
    assert outcome("mq", 2, "AAABBCABDA", history=1, life_time=100) == "mhhmhmmhmh"


def test_mq_forgets_without_history():
    # The sequence is the same, but A returns with count 1 (Q0) and evicts C, and D evicts A.
    assert outcome("mq", 2, "AAABBCABDA", history=0, life_time=100) == "mhhmhmmhmm"


def test_mq_demotes_what_expired():
    # A has count 4 (Q2) and B count 2 (Q1), so C evicts B. With lifeTime 1, A expires when B is loaded and moves to the
    # tail of Q1. B's hit puts B behind A, so C evicts A.
    assert outcome("mq", 2, "AAAABBCA", life_time=100) == "mhhhmhmh"
    assert outcome("mq", 2, "AAAABBCA", life_time=1) == "mhhhmhmm"


def test_mq_evicts_from_the_lowest_queue():
    # A is used twice (Q1) and B once (Q0), so C evicts B although A is older. The next miss evicts C.
    assert outcome("mq", 2, "AABCBA", history=0, life_time=100) == "mhmmmh"


@pytest.mark.parametrize("sequence, expected", [("ABCDBAX", 3), ("ABCDEFABCBCBCB", 6), ("ABABAB", 2)])
def test_mq_life_time_is_the_peak_temporal_distance(sequence, expected):
    # The cache has two blocks, so only distances above 2 count; lifeTime is the centre of the fullest bin. ABCDBAX has
    # distances 3 (bin 2-3) and 5 (bin 4-7); the shorter distance wins the tie, so lifeTime is 3. ABCDEFABCBCBCB has
    # distance 6 three times (bin 4-7), so lifeTime is 6. ABABAB has no distance above 2, so lifeTime keeps its initial
    # value, the cache size.
    definition = find_policy("mq")
    letters = sorted(set(sequence))
    kernel = definition.kernel(2, len(letters), **definition.check({}))
    kernel.replay(np.array([letters.index(x) for x in sequence], np.uint32), np.zeros(len(sequence), np.uint8))
    reference = definition.reference(2)
    for letter in sequence:
        reference.access(letter)
    assert kernel.life_time == reference.life_time == expected
