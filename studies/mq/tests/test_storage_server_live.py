"""Test the live storage server: with one process its hits equal those of the untimed replay; with several, the timing
matters."""

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from misspenalty import ParameterError, Trace, simulate
from misspenalty.policies import known_policies
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.mq.storage_server import server as storage_server
from misspenalty_studies.mq.storage_server.server import ClosedLoopResult, disks_of, outcomes, run, run_live
from misspenalty_studies.mq.storage_server.testbed import StorageServerTestbed

MACHINE = load_machine(Path(__file__).parents[3] / "studies" / "mq" / "machine.yaml", kind=StorageServerTestbed)
TESTBED = replace(MACHINE.testbed, database_cpu_us=3000)
ALONE = replace(TESTBED, terminals=1)
ONLINE = [name for name, definition in known_policies().items() if not definition.offline]


def trace_of(ids, write=None):
    return Trace.from_blocks(ids, write, block_bytes=8192)


def skewed(references=20_000, writes=0.3, seed=2):
    """Draw references to 2000 blocks, some of which are referenced far more often than others."""
    generator = np.random.default_rng(seed)
    ids = (2000 * generator.random(references) ** 3).astype(np.uint32)
    return trace_of(ids, generator.random(references) < writes)


def replayed(trace, policy, cache_blocks):
    """Return the untimed replay's result, and whether each read hit."""
    hits = np.zeros(len(trace), bool)
    result = simulate(trace, policy, cache_blocks, hits=hits)
    return result, hits if trace.write is None else hits & ~trace.write


# -- one terminal ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ONLINE)
@pytest.mark.parametrize("changes", [{}, {"disk_time": "exponential", "network_mb_per_s": 1, "think_time_us": 500}])
def test_with_one_terminal_the_cache_sees_the_order_of_the_trace(policy, changes):
    """A write must count as an access before the read that follows it, however slow the link is, so each outcome must
    equal the replay's."""
    trace, hits = skewed(), np.zeros(20_000, bool)
    got = run_live(trace, policy, 150, replace(ALONE, **changes), 6.3, np.random.default_rng(1), hits=hits)
    expected, hit = replayed(trace, policy, 150)
    assert (got.trace_reads, got.trace_hits) == (expected.requests, expected.hits)
    assert got.hit_ratio == expected.hit_ratio
    assert np.array_equal(hits, hit)


def test_one_terminal_without_writes_gives_the_priced_result():
    trace = skewed(writes=0)
    live = run_live(trace, "mq", 150, ALONE, 6.3)
    priced = run(outcomes(replayed(trace, "mq", 150)[1], None), disks_of(trace, ALONE), ALONE, 6.3)
    assert {field.name: getattr(live, field.name) for field in fields(ClosedLoopResult)} == vars(priced)


def test_a_request_follows_the_writes_before_it():
    """Two written blocks go over the link first, 81.92 us each; if they go to disk, the read must wait there."""
    trace = trace_of([0, 1, 2] * 100, [True, True, False] * 100)
    got = run_live(trace, "lru", 1, replace(ALONE, warm_up_share=0, write_through=False), 1)
    assert (got.misses, got.trace_reads, got.writes) == (100, 100, 198)
    assert got.miss_ns["network_queue"] == 100 * 2 * 81_920
    assert got.miss_ns["disk_queue"] == 0
    through = run_live(trace, "lru", 1, replace(ALONE, warm_up_share=0), 1)
    assert through.miss_ns["disk_queue"] > 90 * 2 * 9_000_000


# -- many terminals ----------------------------------------------------------------------------------------------------


def test_timing_changes_the_hits_but_not_the_references():
    trace = skewed()
    for policy in ("lru", "mq"):
        hits = np.zeros(len(trace), bool)
        got, (expected, hit) = run_live(trace, policy, 150, TESTBED, 6.3, hits=hits), replayed(trace, policy, 150)
        assert got.trace_reads == expected.requests
        assert got.trace_hits == np.count_nonzero(hits)
        assert np.count_nonzero(hits != hit) > 100
        assert not hits[trace.write].any()
        assert got.hit_ratio == pytest.approx(expected.hit_ratio, rel=0.1)


@pytest.mark.parametrize("terminals", [1, 7, 48])
@pytest.mark.parametrize("reads_per_transaction", [1, 6.3, 60])
def test_every_reference_reaches_the_cache_once(terminals, reads_per_transaction, monkeypatch):
    """All blocks differ, so if n look-ups miss and leave n blocks in the cache, each reference was looked up once."""
    caches, make = [], storage_server.make_kernel
    monkeypatch.setattr(storage_server, "make_kernel", lambda *given: caches.append(make(*given)) or caches[0])
    write = np.random.default_rng(terminals).random(5000) < 0.4
    write[-3:] = True
    bed = replace(TESTBED, terminals=terminals, warm_up_share=0)
    got = run_live(trace_of(np.arange(5000), write), "lru", 5000, bed, reads_per_transaction)
    assert (caches[0].requests, caches[0].resident, caches[0].evictions) == (5000, 5000, 0)
    assert (got.trace_reads, got.trace_hits) == (np.count_nonzero(~write), 0)
    assert got.hits == 0 and got.misses <= got.trace_reads and got.writes <= 5000 - got.trace_reads


@pytest.mark.parametrize("mb_per_s", [100, 0.1])
def test_no_read_overtakes_a_write_of_its_stretch(mb_per_s):
    """Each transaction writes its own block and reads it: the cache must always have it, even behind a slow link."""
    ids, write = np.repeat(np.arange(2000), 2), np.tile([True, False], 2000)
    got = run_live(trace_of(ids, write), "lru", 2000, replace(TESTBED, network_mb_per_s=mb_per_s), 1)
    assert (got.trace_hits, got.trace_reads) == (2000, 2000)


def test_a_terminal_works_through_a_stretch_of_its_own():
    """Both terminals, with four reads each, must request their first block before either requests its second."""
    trace, hits = trace_of([0, 1, 2, 3, 1, 0, 4, 5]), np.zeros(8, bool)
    bed = replace(TESTBED, terminals=2, warm_up_share=0, disks=6, stripe_blocks=1, storage_servers=6)
    got = run_live(trace, "lru", 8, bed, 4, hits=hits)
    assert hits.nonzero()[0].tolist() == [1, 5], "each finds the other's first block"
    assert got.trace_hits == 2 and got.trace_reads == 8


def test_a_block_on_its_way_from_the_disk_is_found():
    hits = np.zeros(40, bool)
    run_live(trace_of([0] * 40), "lru", 1, replace(TESTBED, terminals=20, warm_up_share=0), 1, hits=hits)
    assert hits.tolist() == [False] + [True] * 39


def test_measured_counts_are_those_of_the_trace_after_the_warm_up():
    trace = skewed(60_000)
    got = run_live(trace, "lru", 150, TESTBED, 6)
    reads = np.count_nonzero(~trace.write)
    under_way = TESTBED.terminals * 6
    assert got.reads == pytest.approx(0.9 * reads, abs=2 * under_way)
    assert got.writes == pytest.approx(0.9 * (len(trace) - reads), abs=2 * under_way)
    assert got.transactions == pytest.approx(got.reads / 6, abs=TESTBED.terminals + 1)
    assert got.hits <= got.trace_hits < got.trace_reads == reads
    assert got.hit_ratio == got.trace_hits / reads
    assert all(0 <= share <= 1 for share in got.utilisation.values())


def test_a_larger_cache_hits_more_and_is_faster():
    got = [run_live(skewed(40_000), "lru", blocks, replace(TESTBED, warm_up_share=0), 6) for blocks in (50, 200, 800)]
    assert got[0].hit_ratio < got[1].hit_ratio < got[2].hit_ratio
    assert got[0].rate_per_s < got[1].rate_per_s < got[2].rate_per_s


def test_equal_inputs_yield_equal_records():
    trace, testbed = skewed(), replace(TESTBED, disk_time="exponential")
    first, second = (run_live(trace, "mq", 150, testbed, 6.1, np.random.default_rng(9)) for _ in range(2))
    assert first == second
    assert first != run_live(trace, "mq", 150, testbed, 6.1, np.random.default_rng(10))


def test_policy_parameters_reach_the_policy():
    trace = skewed()
    assert run_live(trace, "mq", 150, TESTBED, 6, queues=1, history=0) != run_live(trace, "mq", 150, TESTBED, 6)


def test_hit_ratio_of_no_reads_is_not_a_number():
    assert math.isnan(replace(run_live(skewed(2000), "lru", 9, TESTBED, 2), trace_reads=0).hit_ratio)


@pytest.mark.parametrize(
    ("policy", "blocks", "changes", "reads", "message"),
    [
        ("opt", 10, {}, 6, "opt looks into the future"),
        ("fifo2", 10, {}, 6, "unknown policy"),
        ("lru", 0, {}, 6, "cache size is 0"),
        ("lru", 10, {}, 0.5, "expected 1 to"),
        ("lru", 10, {}, 5000, "no transaction"),
        ("lru", 10, {"database_cpu_us": None}, 6, "fit it first"),
        ("lru", 10, {"disk_time": "exponential"}, 6, "generator"),
    ],
)
def test_impossible_inputs_are_refused(policy, blocks, changes, reads, message):
    with pytest.raises(ParameterError, match=message):
        run_live(skewed(2000), policy, blocks, replace(TESTBED, **changes), reads)


def test_a_trace_of_writes_completes_no_transaction():
    with pytest.raises(ParameterError, match="no transaction"):
        run_live(trace_of([0, 1], [True, True]), "lru", 1, TESTBED, 1)
