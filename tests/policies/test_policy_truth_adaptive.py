"""Test the adaptive policies and the LIRS family against others' results: published hit ratios and libCacheSim."""

import numpy as np
import pytest

import tests.policies.test_policy_truth as truth
from misspenalty import simulate

trace_named = truth.trace_named  # a fixture


def rows(folder, file, policy):
    """Return (trace, cache size, value) for each row of a policy in a file."""
    value = "misses" if file == "libcachesim_misses.csv" else "hit_ratio_pct"
    return [
        (row["trace"], int(row["cache_blocks"]), float(row[value]))
        for row in truth.rows_of(folder, file)
        if row["policy"] == policy
    ]


def differences(trace_named, expected, policy, within):
    """Return the rows whose hit ratio in percent differs by more than `within` points."""
    sizes = {name: sorted({size for n, size, _ in expected if n == name}) for name, _, _ in expected}
    obtained = {
        (name, size): value
        for name in sizes
        for size, value in zip(sizes[name], truth.percent(trace_named(name), policy, sizes[name]), strict=True)
    }
    return {
        (name, size): obtained[name, size] - value
        for name, size, value in expected
        if abs(obtained[name, size] - value) > within
    }


# ARC ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file, least", [("published_hit_ratios.csv", 7), ("recomputed_hit_ratios.csv", 90)])
def test_arc_equals_the_literature(shared_traces, trace_named, file, least):
    """ARC must be within 0.02 points of Megiddo & Modha 2004, Tables 1 and 4, and of an independent program.

    The tables have OLTP, P3 and P6; the program has a real-valued p.
    """
    expected = rows(shared_traces, file, "ARC")
    assert len(expected) >= least
    assert differences(trace_named, expected, "arc", within=0.02) == {}


# CAR ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["OLTP", "P3", "2_pools", "multi2", "sprite"])
def test_car_is_close_to_arc(trace_named, name):
    """The paper claims in section V that CAR's hit ratios are close to ARC's (its authors published no program)."""
    trace = trace_named(name)
    sizes = [trace.blocks * share // 100 for share in (1, 5, 20, 50)]
    difference = truth.percent(trace, "car", sizes) - truth.percent(trace, "arc", sizes)
    assert np.all(np.abs(difference) < 1)


# LIRS -----------------------------------------------------------------------------------------------------------
#
# We match Table 1 of Megiddo & Modha within 0.01 points at four of five sizes. At 5000 blocks it prints 47.14 between
# 42.51 (2000) and 60.35 (10000), below LRU's 53.65; we and another simulator obtain 52.80, so this is a misprint.
#
# libCacheSim's LIRS differs (misspenalty.policies.libcachesim says how, and has its counts). It limits S to twice the
# cache, an option that is off by default in the authors' code and here; with the same limit our counts are close.


def test_lirs_equals_the_published_hit_ratios(shared_traces, trace_named):
    expected = [row for row in rows(shared_traces, "published_hit_ratios.csv", "LIRS") if row[1] != 5000]
    assert len(expected) == 4
    assert differences(trace_named, expected, "lirs", within=0.01) == {}
    assert differences(trace_named, [("OLTP", 5000, 52.80)], "lirs", within=0.01) == {}


def test_lirs_equals_recorded_libcachesim_counts_where_the_definition_agrees(shared_traces, trace_named):
    expected = rows(shared_traces, "libcachesim_misses.csv", "LIRS")
    limited = {n: simulate(trace_named(n), "lirs", size, stack_limit=2).misses - m for n, size, m in expected}
    assert {name for name, more in limited.items() if more == 0} >= {"cs", "loop", "multi2"}
    assert all(abs(limited[name]) <= 5 for name in ("2_pools", "cpp", "gli", "sprite"))


# CLOCK-Pro ------------------------------------------------------------------------------------------------------
#
# The CLOCK-Pro of libCacheSim, which the tests can run, is worse than random replacement on Zipf and cannot be trusted,
# so we check the paper's claims: CLOCK-Pro performs like LIRS where LRU fails, and adapts, where LIRS does not, to
# workloads that suit LRU.


@pytest.mark.parametrize("name", ["cs", "gli", "loop"])
def test_clockpro_is_close_to_lirs_on_loops(trace_named, name):
    trace = trace_named(name)
    sizes = [trace.blocks * share // 100 for share in (5, 10, 20, 50, 80)]
    obtained = truth.percent(trace, "clockpro", sizes)
    assert np.all(np.abs(obtained - truth.percent(trace, "lirs", sizes)) < 2)
    assert np.all(obtained >= truth.percent(trace, "lru", sizes) + 0.5)


@pytest.mark.parametrize("name", ["OLTP", "sprite"])
def test_clockpro_adapts_to_recency(trace_named, name):
    trace = trace_named(name)
    sizes = [trace.blocks * share // 100 for share in (1, 5, 10, 20, 50, 80)]
    obtained = truth.percent(trace, "clockpro", sizes)
    assert np.all(obtained > truth.percent(trace, "lru", sizes) - 0.5)
    assert np.all(obtained > truth.percent(trace, "lirs", sizes))


# LRFU -----------------------------------------------------------------------------------------------------------
#
# Table 1 of Megiddo & Modha has LRFU with a lambda and a period that were tuned for each size but not printed, so we
# test a band. OLTP has bursts; with lambda 1e-4, LRFU loses 0.1 to 7.4 points more without a correlated period than
# with one of 500. Points above the published value at 1000, 2000, 5000, 10000, 15000 blocks:
#
# lam 1e-4, period 500     -0.67  -0.35  -1.77  -2.18  -2.10
# lam 3e-5, period 500     -2.27  -1.09  -2.26  -0.91  -1.06
# lam 1e-5, period 5000    -7.69  -3.64  -1.20  -0.34  -0.41
# lam 1e-4, no period      -8.08  -1.14  -2.29  -2.26  -2.22


def test_lrfu_is_in_the_published_band(shared_traces, trace_named):
    """At each size, the best of a few parameter sets must be within 1.3 points of the value that the authors tuned."""
    tried = [{"lam": 1e-4, "correlated_period": 500}, {"lam": 3e-5, "correlated_period": 500}]
    tried.append({"lam": 1e-5, "correlated_period": 5000})
    obtained = [truth.percent(trace_named("OLTP"), "lrfu", truth.SIZES, **parameters) for parameters in tried]
    difference = np.max(obtained, axis=0) - truth.published(shared_traces, "LRFU")
    assert np.all(np.abs(difference) < 1.3)
