"""The step model of delayed hits agrees with the authors' runs, hand-computed cases, and the reference."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.delayed_hits import run as reference

import misspenalty
from misspenalty.errors import ParameterError
from misspenalty.latency._steps import run
from misspenalty.latency.steps import POLICIES, _dense
from misspenalty_studies.delayed_hits.workloads import bursts, read_steps, zipf

DATA = Path(__file__).parents[2] / "data/raw/delayed_hits"
NAMES = {"belady": "opt", "lru_aggdelay": "lru_mad", "arc_aggdelay": "arc_mad", "belady_aggdelay": "opt_mad"}
PLAIN = ("lru", "arc", "opt")


def counts(outcome):
    return outcome.hits, outcome.delayed_hits, outcome.misses, outcome.total_latency


@pytest.fixture(scope="module")
def traces():
    return {"sample": read_steps(DATA / "sample.csv"), "syn_zipf": zipf(), "syn_bursts": bursts()}


def authors_runs(policy):
    with open(DATA / "authors_runs.csv") as rows:
        return [row for row in csv.DictReader(rows) if NAMES.get(row["policy"], row["policy"]) == policy]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_authors_programs(policy, traces):
    """Plain policies must equal the authors'; variants may differ slightly, as the authors' hash table breaks ties."""
    runs, exact = authors_runs(policy), 0
    for row in runs:
        size, z = int(row["cache_entries"]), int(row["z"])
        got = counts(misspenalty.delayed_hits(traces[row["trace"]], policy, size, z))
        published = tuple(int(row[column]) for column in ("hits", "delayed_hits", "misses", "total_latency"))
        exact += got == published
        assert got[3] == pytest.approx(published[3], rel=0.005), row
        assert abs(got[0] - published[0]) <= 0.005 * int(row["requests"]), row
    assert len(runs) == (59 if policy == "arc_mad" else 60)
    assert exact == {"arc_mad": 47, "lru_mad": 57, "opt_mad": 58}.get(policy, 60)


requests = st.lists(st.integers(-1, 7), max_size=120)


@pytest.mark.parametrize("policy", POLICIES)
@given(requests, st.integers(1, 6), st.one_of(st.integers(1, 12), st.integers(95, 110)))
def test_the_reference(policy, steps, size, z):
    got = misspenalty.delayed_hits(np.array(steps, np.int64), policy, size, z)
    assert counts(got) == reference(_by_first_use(steps), policy, size, z)


def _by_first_use(steps):
    number = {}
    return [-1 if name < 0 else number.setdefault(name, len(number)) for name in steps]


@given(requests, st.integers(1, 6), st.integers(1, 40), st.sampled_from(POLICIES))
def test_invariants(steps, size, z, policy):
    got = misspenalty.delayed_hits(np.array(steps, np.int64), policy, size, z)
    assert got.requests == sum(name >= 0 for name in steps)
    assert z * got.misses + got.delayed_hits <= got.total_latency <= z * got.misses + (z - 1) * got.delayed_hits
    if z == 1:
        assert got.delayed_hits == 0
        assert got.misses >= misspenalty.delayed_hits(np.array(steps, np.int64), "opt", size, 1).misses


def test_a_policy_is_found_in_upper_case():
    assert misspenalty.delayed_hits([1, 1], "LRU_MAD", 1, 2) == misspenalty.delayed_hits([1, 1], "lru_mad", 1, 2)


def test_the_longest_fetch_is_counted():
    assert counts(misspenalty.delayed_hits([3, -1, 3], "lru", 1, 2**31 - 1)) == (0, 1, 1, 2 * (2**31 - 1) - 2)


def test_a_request_waits_for_the_rest_of_the_fetch():
    """By hand: 5 is fetched in steps 0 to 3; requests in steps 1 and 3 wait 3 and 1 steps; in step 4 it hits."""
    got = misspenalty.delayed_hits([5, 5, -1, 5, 5], "lru", 1, 4)
    assert counts(got) == (1, 2, 1, 4 + 3 + 1)


def test_an_object_enters_when_its_fetch_is_done():
    """By hand: 2 arrives at the end of step 2 and takes the only place from 1, which came at the end of step 1."""
    assert counts(misspenalty.delayed_hits([1, 2, 1, 2, 1], "lru", 1, 2)) == (2, 0, 3, 6)


def test_any_number_names_an_object():
    names = np.array([2**64 - 1, 3, 2**64 - 1], np.uint64)
    assert counts(misspenalty.delayed_hits(names, "lru", 2, 1)) == (1, 0, 2, 2)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_requests(policy):
    assert counts(misspenalty.delayed_hits([], policy, 1, 1)) == (0, 0, 0, 0)
    assert counts(misspenalty.delayed_hits([-1, -1], policy, 1, 1)) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (([1], "mru", 1, 1), "unknown policy 'mru' of the step model; known: lru"),
        (([1], "lru", 0, 1), "cache_blocks is 0; expected a whole number from 1"),
        (([1], "lru", 1, 2.5), r"fetch_steps is 2\.5"),
        (([1], "lru", 1, 2**31), r"fetch_steps is 2147483648; expected a whole number from 1 to 2147483647"),
        (([1], "lru", 2**31, 1), r"cache_blocks is 2147483648; expected a whole number from 1 to 2147483647"),
        (([1.5], "lru", 1, 1), "type float64; expected a one-dimensional array of whole numbers"),
        (([[1]], "lru", 1, 1), r"shape \(1, 1\)"),
        (([1, -2], "lru", 1, 1), r"requests\[1\] is -2; expected an object number of at least 0, or -1"),
    ],
)
def test_impossible_arguments(asked, message):
    with pytest.raises(ParameterError, match=message):
        misspenalty.delayed_hits(*asked)


def test_objects_are_numbered_in_order_of_their_first_request():
    objects, steps = _dense([7, -1, 3, 7])
    assert (objects, steps.tolist(), steps.dtype) == (2, [0, -1, 1, 0], np.int32)


def test_the_kernel_refuses_objects_that_would_leave_its_arrays():
    assert run("lru", np.array([0, 1], np.int32), 2, 1, 1) == (0, 0, 2, 2)
    with pytest.raises(IndexError, match="the steps request object 2; expected objects below 2"):
        run("lru", np.array([0, 2], np.int32), 2, 1, 1)
