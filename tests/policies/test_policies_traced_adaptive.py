"""Test short sequences traced by hand for the adaptive policies and the LIRS family. h = hit, m = miss.

`outcome` runs the kernel and the reference, which must agree.
"""

from math import log2, nextafter

import numpy as np
import pytest

from misspenalty.policies import find_policy
from tests.policies.test_policies_traced import outcome


def replayed(name, capacity, sequence, **parameters):
    """Return the kernel and the reference after a replay of `sequence`."""
    definition = find_policy(name)
    letters = sorted(set(sequence))
    kernel = definition.kernel(capacity, len(letters), **definition.check(parameters))
    kernel.replay(np.array([letters.index(x) for x in sequence], np.uint32), np.zeros(len(sequence), np.uint8))
    reference = definition.reference(capacity, **definition.check(parameters))
    for letter in sequence:
        reference.access(letter)
    return kernel, reference


# ARC ------------------------------------------------------------------------------------------------------------


def test_arc_ghost_hits_move_the_target():
    # The cache has two blocks, and p = 0. A is in T2. B, C and D pass through T1, after which B1 holds C (B was
    # dropped, because |L1| = 2). C is found in B1, so p = 1; T1 (D) is no longer above p, so A moves from T2 to B2, and
    # T2 = C. A is found in B2, so p = 0, and D moves to B1. C hits. D is found in B1, so p = 1; T1 is empty, so A
    # (older than C in T2) is evicted. C hits, and A misses.
    assert outcome("arc", 2, "AABCADCACDCA") == "mhmmhmmmhmhm"


def test_arc_target_is_real():
    # The cache has five blocks. A to E, then F and G are used twice, so T2 = C D E F G and B2 = A B. H sends C to B2, I
    # sends H to B1, and J sends I to B1. H is found in B1, so p = |B2| / |B1| = 3 / 2; T1 (J) is not above it, so D
    # moves to B2. A is found in B2, so p = 1.5 - 1.
    for sequence, p in (("AABBCCDDEEFFGGHIJH", 1.5), ("AABBCCDDEEFFGGHIJHA", 0.5)):
        kernel, reference = replayed("arc", 5, sequence)
        assert kernel.p == reference.p == p


def test_arc_target_can_be_held_fixed():
    # The cache has two blocks, and p stays 0. Up to D, all is as in the test of ghost hits above. Then C, found in B1,
    # evicts D (T1 is above p), so A and C hit. D, found in B1, evicts A, the older block of T2. C hits. A, found in B2,
    # evicts D.
    assert outcome("arc", 2, "AABCADCACDCA", target=0.0) == "mhmmhmmhhmhm"


# CAR ------------------------------------------------------------------------------------------------------------


def test_car_hands_move_used_blocks_to_t2():
    # The cache has two blocks, and p = 0. A's hit sets its bit. C turns T1's hand, so A moves to T2 and B to B1. A
    # hits. D sends C to B1, where |T1| + |B1| = 2 causes B to be dropped. C is found in B1: D moves to B1, p = 1, and C
    # enters T2 behind A. A hits (its bit was already set). D is found in B1: T1 is empty, so T2's hand spares A and
    # sends C to B2, and p = 2. C is found in B2: A moves to B2, and p = 1. A misses.
    sequence = "AABCADCADCA"
    assert outcome("car", 2, sequence) == "mhmmhmmhmmm"
    kernel, reference = replayed("car", 2, sequence[:-1])
    assert kernel.p == reference.p == 1
    assert kernel.ghost_hits == 3


# LIRS -----------------------------------------------------------------------------------------------------------
# The caches have three blocks: two LIR blocks and one HIR block.


def test_lirs_stack_limit():
    # D makes S = A B C D. If S is limited to three blocks, it drops C, the lowest HIR block, so C is new and A stays
    # LIR. Without a limit, C becomes LIR and A becomes HIR, and E evicts A from Q.
    assert outcome("lirs", 3, "ABCDCEA", stack_limit=1) == "mmmmmmh"
    assert outcome("lirs", 3, "ABCDCEA") == "mmmmmmm"


def test_lirs_without_lir_blocks_is_lru():
    sequence = "".join(np.random.default_rng(3).choice(list("ABCDEFGH"), 400, p=np.arange(8, 0, -1) / 36))
    for capacity in (1, 2, 3, 5):
        assert outcome("lirs", capacity, sequence, hirs=1) == outcome("lru", capacity, sequence)


# CLOCK-Pro ------------------------------------------------------------------------------------------------------
# The caches have three blocks, one of which is cold at first. In the lists, oldest first, hot pages are in upper case,
# cold pages in lower case, and evicted pages in brackets.


def test_clockpro_makes_hot_what_returns_in_its_test():
    # The list is A B c. D evicts c: A B (c) d. C evicts d and returns in its test period, so m_c = 2 and only one page
    # may be hot. HAND_hot makes A and then B cold, and C becomes hot: (d) a b C. On its way to C, the hand ends the
    # test of d, so m_c = 1. A hits. For E, HAND_cold finds that a was used and that its test is over, so a moves to the
    # head, where a new test begins. The hand then evicts b, which leaves the list because its test is over: C a e. B is
    # new and evicts a: C (a) e b. A evicts e and returns in its test period, so m_c = 2. HAND_hot makes C cold, and A
    # becomes hot: (e) b c A. The tests of e and b end, so m_c = 1. C and B hit.
    sequence = "ABCDCAEBACB"
    assert outcome("clockpro", 3, sequence) == "mmmmmhmmmhh"
    kernel, reference = replayed("clockpro", 3, sequence)
    assert kernel.cold_target == reference.cold_target == 1
    assert kernel.hot == reference.hot == 1
    assert kernel.ghost_hits == 2


def test_clockpro_keeps_its_hot_pages_in_a_loop():
    # The list is A B (c) d, and A and B hit. C evicts d and is in its test period. HAND_hot spares A and B, which were
    # used, and reaches c itself, so c does not become hot: A B c. D is new (the hand ended its test): A B (c) d. The
    # same steps repeat.
    assert outcome("clockpro", 3, "ABCDABCDABCD") == "mmmmhhmmhhmm"


def test_clockpro_makes_hot_what_the_hand_passes_after_making_a_hot_page_cold():
    # m_c stays 1, and the list is A B c. A and C hit. For D, HAND_cold finds that c was used in its test period.
    # HAND_hot spares A, which was used, makes B cold and passes c on its way to A: c A b. C becomes hot nevertheless,
    # and b is evicted: A C d. E evicts d, the only cold page, and C hits.
    assert outcome("clockpro", 3, "ABCACDEC", min_cold=0.1, max_cold=0.5, history=0.5) == "mmmhhmmh"


def test_clockpro_history_bounds_the_evicted_pages():
    # D evicts c. Without a history, the test of c ends at once, so C is new and evicts d, and A stays hot. With a
    # history, m_c grows, C becomes hot, A and B become cold, and E evicts a.
    assert outcome("clockpro", 3, "ABCDCEA", history=0) == "mmmmmmh"
    assert outcome("clockpro", 3, "ABCDCEA", history=1) == "mmmmmmm"


def test_clockpro_may_end_the_test_of_the_page_that_returns():
    # The history has room for one page, which is c when C returns. Before C enters, the eviction of d ends the oldest
    # test, which is that of c.
    assert outcome("clockpro", 3, "ABCDCEA", history=0.34) == outcome("clockpro", 3, "ABCDCEA", history=0)


def test_clockpro_cold_share_can_be_fixed():
    # m_c stays 1, so C becomes hot and only A becomes cold: B (d) a C. The next victim is a, and B stays.
    assert outcome("clockpro", 3, "ABCDCEB", max_cold=0) == "mmmmmmh"
    assert outcome("clockpro", 3, "ABCDCEAB") == "mmmmmmmm"


# LRFU -----------------------------------------------------------------------------------------------------------


def test_lrfu_weighs_frequency_by_age():
    # With lam 0.1, A's CRF before C (access 5) is (1 + 0.933 + 0.871) * 0.871 = 2.44 and B's is 0.933, so C evicts B,
    # and A (6) hits. With lam 1, A has (1 + 0.5 + 0.25) / 4 = 0.4375 and B has 0.5, so C evicts A.
    assert outcome("lrfu", 2, "AAABCA", lam=0.1) == "mhhmmh"
    assert outcome("lrfu", 2, "AAABCA", lam=1) == "mhhmmm"


def test_lrfu_counts_a_burst_as_its_last_use():
    # The trace is as above, but the correlated period is 1. Of A's uses, only the one at access 3 counts, so A has
    # 0.871 at C; B has 0.933, so A is evicted. In AABACA, the use at 4 comes 2 accesses after the previous one and adds
    # to it, so A has 1.871 * 0.933; B has 0.871 and is evicted.
    assert outcome("lrfu", 2, "AAABCA", lam=0.1, correlated_period=1) == "mhhmmm"
    assert outcome("lrfu", 2, "AABACA", lam=0.1, correlated_period=1) == "mhmhmh"


def test_lrfu_forgets_what_it_evicts():
    # With lam 0.1, C (4) evicts B (0.93 < 1.68). B returns with 1 and evicts C. D (6) evicts B (0.93), because A has
    # 1.46.
    assert outcome("lrfu", 2, "AABCBDA", lam=0.1) == "mhmmmmh"


def test_lrfu_spans_from_lfu_to_lru():
    sequence = "".join(np.random.default_rng(2).choice(list("ABCDEFGH"), 400, p=np.arange(8, 0, -1) / 36))
    for capacity in (1, 2, 3, 5):
        assert outcome("lrfu", capacity, sequence, lam=0) == outcome("lfu", capacity, sequence)
        assert outcome("lrfu", capacity, sequence, lam=1) == outcome("lru", capacity, sequence)
        assert outcome("lrfu", capacity, sequence) == outcome("lfru", capacity, sequence, history=0)


@pytest.mark.parametrize("name, parameters", [("lrfu", {}), ("lfru", {"history": 0})])
def test_kernel_and_definition_agree_to_the_bit_where_only_rounding_decides(name, parameters):
    # If 2**lam is the golden ratio, then 1 + 2**-lam = 2**lam, so a block used at 1 and 2 weighs as much as one used at
    # 3.
    ratio = (1 + 5**0.5) / 2
    assert 1 + 1 / ratio == pytest.approx(ratio, rel=1e-15)
    for seed in range(150):
        sequence = "".join(np.random.default_rng(seed).choice(list("ABCDE"), 40))
        for lam in (log2(ratio), nextafter(log2(ratio), 0)):
            outcome(name, 2, sequence, lam=lam, **parameters)
