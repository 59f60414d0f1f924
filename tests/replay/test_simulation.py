"""simulate and hit_ratio_curve count as documented, in any number of threads."""

import os
import threading
import time

import numpy as np
import pytest

import misspenalty
from misspenalty import ParameterError, hit_ratio_curve, simulate
from misspenalty.io import threads
from misspenalty.policies.registry import find_policy, known_policies
from misspenalty.replay import simulation
from misspenalty.traces import Trace


@pytest.fixture
def mixed():
    """Return a trace for an LRU cache of two blocks: 0 read, 1 written, 1 read, 0 written, 2 read, 0 read."""
    return Trace.from_blocks([0, 1, 1, 0, 2, 0], [False, True, False, True, False, False])


def test_writes_update_the_cache_but_only_reads_count(mixed):
    # 0 misses, the write loads 1, 1 hits, the write hits 0, 2 misses and evicts 1, and 0 hits.
    result = simulate(mixed, "lru", 2)
    assert (result.requests, result.hits, result.misses, result.evictions) == (4, 2, 2, 1)
    assert result.hit_ratio == 0.5


def test_writes_ignored(mixed):
    # 0 misses, 1 misses, 2 misses and evicts 0, and 0 misses and evicts 1.
    result = simulate(mixed, "lru", 2, writes="ignore")
    assert (result.requests, result.hits, result.evictions) == (4, 0, 2)


def test_writes_that_refresh_load_nothing(mixed):
    # 0 misses, the write of 1 loads nothing, 1 misses, the write refreshes 0, 2 misses and evicts 1, and 0 hits.
    result = simulate(mixed, "lru", 2, writes="refresh")
    assert (result.requests, result.hits, result.evictions) == (4, 1, 1)


@pytest.mark.parametrize("policy", [name for name in known_policies() if not find_policy(name).offline])
def test_refreshing_is_leaving_out_writes_of_blocks_that_are_not_there(monkeypatch, policy):
    monkeypatch.setattr(simulation, "SLICE", 97)
    rng = np.random.default_rng(5)
    trace = Trace.from_blocks(rng.zipf(1.3, 3000) % 60, rng.random(3000) < 0.4)
    hits = np.zeros(3000, bool)
    result = simulate(trace, policy, 16, writes="refresh", hits=hits)
    kernel = find_policy(policy).cache(16, trace.address, {})
    hit = np.zeros(1, np.uint8)
    for number, (block, write) in enumerate(zip(trace.ids, trace.write, strict=True)):
        expected = (not write or block in kernel) and kernel.replay(np.array([block], np.uint32), hit) == 1
        assert hits[number] == expected, number
    assert result.hits == np.count_nonzero(hits & ~trace.write)


def test_no_single_pass_gives_all_sizes_of_writes_that_refresh(mixed):
    with pytest.raises(ParameterError, match="one pass cannot give all sizes"):
        hit_ratio_curve(mixed, "lru", None, writes="refresh")
    several = hit_ratio_curve(mixed, "lru", list(range(1, 20)), writes="refresh")
    assert several["hits"].tolist() == [simulate(mixed, "lru", size, writes="refresh").hits for size in range(1, 20)]
    assert simulate(mixed, "opt", 2, writes="refresh").hits == simulate(mixed, "opt", 2, writes="ignore").hits


def test_writes_only(mixed):
    # The read loads 0, the write of 1 misses, 1 is read, and the write of 0 hits, because the read loaded it.
    assert (simulate(mixed, "lru", 2, writes="only").requests, simulate(mixed, "lru", 2, writes="only").hits) == (2, 1)


def test_a_trace_of_reads_has_no_writes_to_replay():
    assert simulate(Trace.from_blocks([0, 0]), "lru", 1, writes="only").requests == 0
    assert np.isnan(simulate(Trace.from_blocks([0, 0]), "lru", 1, writes="only").hit_ratio)


@pytest.mark.parametrize("writes", ["count", "ignore", "refresh", "only"])
@pytest.mark.parametrize("slice_", [1, 2, 3, 1 << 18])
def test_slices_warm_up_and_recorded_hits_agree(monkeypatch, mixed, writes, slice_):
    rng = np.random.default_rng(3)
    trace = Trace.from_blocks(rng.integers(0, 40, 500), rng.random(500) < 0.4)
    monkeypatch.setattr(simulation, "SLICE", slice_)
    for warm_up in (0, 1, 123, 499):
        hits = np.zeros(500, bool)
        result = simulate(trace, "mq", 7, writes=writes, warm_up=warm_up, hits=hits)
        counted = (trace.write if writes == "only" else ~trace.write) & (np.arange(500) >= warm_up)
        assert result.requests == np.count_nonzero(counted)
        assert result.hits == np.count_nonzero(hits & counted)


def test_curve_equals_single_runs_whatever_the_threads():
    trace = Trace.from_blocks(np.random.default_rng(5).zipf(1.3, 20_000) % 3000)
    sizes = [1, 10, 100, 1000, 3000]
    one, two = (hit_ratio_curve(trace, "mq", cache_blocks=sizes, threads=n) for n in (1, 2))
    assert one.equals(two)
    assert one["hits"].tolist() == [simulate(trace, "mq", size).hits for size in sizes]
    assert list(one.columns[:6]) == ["policy", "cache_blocks", "requests", "hits", "misses", "hit_ratio"]
    assert hit_ratio_curve(trace, "lru", 10)["cache_blocks"].tolist() == [10]


@pytest.mark.parametrize(
    "change, message",
    [
        ({"policy": "fastest"}, "unknown policy 'fastest'; known policies: .*lru.*mq"),
        ({"cache_blocks": 0}, "cache size is 0 blocks; expected a whole number from 1"),
        ({"cache_blocks": 2.5}, "cache size is 2.5"),
        ({"cache_blocks": True}, "cache size is True"),
        ({"writes": "maybe"}, "writes is 'maybe'; expected one of count, ignore, refresh, only"),
        ({"warm_up": 6}, "warm_up is 6; expected a whole number from 0 to 5"),
        ({"warm_up": -1}, "warm_up is -1"),
        ({"warm_up": 1.5}, "warm_up is 1.5; expected a whole number from 0 to 5"),
        ({"sise": 3}, "lru has no parameter 'sise'; it has none"),
        ({"policy": "mq", "queues": 0}, "mq: queues is 0; expected a whole number from 1 to 32"),
        ({"policy": "mq", "history": float("nan")}, "mq: history is nan"),
    ],
)
@pytest.mark.parametrize("replay", [simulate, hit_ratio_curve])
def test_impossible_requests_name_what_and_what_was_expected(mixed, replay, change, message):
    with pytest.raises(ParameterError, match=message):
        replay(**({"trace": mixed, "policy": "lru", "cache_blocks": 2} | change))


def test_curve_needs_sizes_and_threads(mixed):
    with pytest.raises(ParameterError, match="no cache size"):
        hit_ratio_curve(mixed, "lru", [])
    with pytest.raises(ParameterError, match="threads is 0"):
        hit_ratio_curve(mixed, "lru", [1], threads=0)


def test_threads_are_by_default_as_many_as_processors(monkeypatch):
    if hasattr(os, "sched_getaffinity"):
        assert threads.processors() == len(os.sched_getaffinity(0))  # the machine may have more processors
        monkeypatch.delattr(os, "sched_getaffinity")
    for told, expected in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda told=told: told)
        assert threads.processors() == expected


@pytest.mark.parametrize("caches", [2, 3])
def test_as_many_caches_are_replayed_at_once_as_there_are_threads(caches):
    """The caches must run in parallel: at the first block, each waits for all the others."""
    meeting = threading.Barrier(caches, timeout=10)

    class Waits:
        def __init__(self, capacity):
            pass

        def access(self, block):
            meeting.wait()
            return False

    table = hit_ratio_curve([4], Waits, range(1, caches + 1), threads=caches)
    assert table["misses"].tolist() == [1] * caches


def test_an_error_in_one_of_the_threads_ends_the_others_at_their_next_slice(monkeypatch):
    monkeypatch.setattr(simulation, "SLICE", 10)
    begun, seen = threading.Event(), []

    class Fails:
        def __init__(self, capacity):
            pass

        def access(self, block):
            assert begun.wait(10)
            raise RuntimeError("broken")

    class Sleeps(Fails):
        def access(self, block):
            begun.set()
            seen.append(block)
            time.sleep(0.002)
            return False

    with pytest.raises(ParameterError, match=r"policy Fails: access\(0\) raised RuntimeError: broken"):
        hit_ratio_curve(list(range(500)), [Fails, Sleeps], [5], threads=2)
    assert 0 < len(seen) < 500 and len(seen) % 10 == 0


def test_policies_is_a_package_and_a_call():
    assert {"lru", "mq"} <= set(misspenalty.policies())
    assert misspenalty.policies.find_policy("mq").name == "mq"
