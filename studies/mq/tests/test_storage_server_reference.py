"""Check that the storage server's kernel equals its reference to the nanosecond, with given outcomes and in live
runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from misspenalty import ParameterError, Trace
from misspenalty.policies import find_policy
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.mq.storage_server.server import HIT, MISS, WRITE, disks_of, outcomes, run, run_live
from misspenalty_studies.mq.storage_server.testbed import StorageServerTestbed
from studies.mq.tests.reference.storage_server import Reference

TESTBED = load_machine(Path(__file__).parents[3] / "studies" / "mq" / "machine.yaml", kind=StorageServerTestbed).testbed
MICROSECONDS = st.integers(1, 12)  # few values, so that events tie
READS_PER_TRANSACTION = st.integers(64, 224).map(lambda reads: reads / 64)


@st.composite
def small_testbeds(draw):
    """Draw testbeds with few terminals, processors, servers and disks, and with mean times of some 40 us at most."""
    return replace(
        TESTBED,
        terminals=draw(st.integers(1, 8)),
        think_time_us=draw(st.integers(0, 20)),
        database_cpus=draw(st.integers(1, 3)),
        database_cpu_us=draw(st.integers(0, 30)),
        message_latency_us=draw(MICROSECONDS),
        interrupt_us=draw(MICROSECONDS),
        network_mb_per_s=8192 / draw(MICROSECONDS),
        storage_servers=draw(st.integers(1, 3)),
        server_request_us=draw(MICROSECONDS),
        disks=draw(st.integers(1, 6)),
        disk_access_ms=draw(st.integers(1, 40)) / 1000,
        disk_mb_per_s=8192,
        disk_time=draw(st.sampled_from(["constant", "exponential"])),
        write_through=draw(st.booleans()),
        warm_up_share=draw(st.sampled_from([0, 0.1, 0.5])),
    )


@settings(max_examples=150, deadline=None)
@given(
    small_testbeds(),
    st.lists(st.tuples(st.sampled_from([HIT, MISS, WRITE]), st.integers(0, 255)), min_size=30, max_size=120),
    READS_PER_TRANSACTION,
)
def test_priced_kernel_equals_the_reference_to_the_nanosecond(testbed, drawn, reads_per_transaction):
    outcome = np.array([kind for kind, _ in drawn], np.uint8)
    disk = np.array([number % testbed.disks for _, number in drawn], np.uint8)
    slow = Reference(outcome, disk, testbed, reads_per_transaction, np.random.default_rng(3))
    assume((outcome != WRITE).any())
    try:
        fast = run(outcome, disk, testbed, reads_per_transaction, np.random.default_rng(3))
    except ParameterError:
        assume(False)
    expected = slow.run()
    assert replace(fast, utilisation=None) == replace(expected, utilisation=None)
    assert sum(fast.transaction_ns.values()) == slow.clock_ns, "the components add up to the elapsed time"


BLOCKS = 12


@settings(max_examples=200, deadline=None)
@given(
    small_testbeds(),
    st.lists(st.tuples(st.booleans(), st.integers(0, BLOCKS - 1)), min_size=30, max_size=120),
    READS_PER_TRANSACTION,
    st.sampled_from(["lru", "mq"]),
    st.integers(1, BLOCKS),
)
def test_live_kernel_equals_the_reference_to_the_nanosecond_and_the_hit(testbed, drawn, reads, policy, cache_blocks):
    testbed = replace(testbed, stripe_blocks=1)
    write, ids = np.array([kind for kind, _ in drawn]), np.array([block for _, block in drawn], np.uint32)
    trace = Trace(ids, write, None, np.arange(BLOCKS, dtype=np.uint64), 8192, "made", "made")
    hits = np.zeros(len(trace), bool)
    try:
        fast = run_live(trace, policy, cache_blocks, testbed, reads, np.random.default_rng(3), hits=hits)
    except ParameterError:
        assume(False)
    kinds, cache = outcomes(np.ones(len(trace), bool), write), find_policy(policy).reference(cache_blocks)
    disk = disks_of(trace, testbed)
    slow = Reference(kinds, disk, testbed, reads, np.random.default_rng(3), cache, ids.tolist())
    expected = slow.run()
    assert replace(fast, utilisation=None) == replace(expected, utilisation=None)
    assert hits.tolist() == [outcome == HIT for outcome in slow.outcome]
    assert sum(fast.transaction_ns.values()) == slow.clock_ns, "the components add up to the elapsed time"
    assert sorted(slow.served) == list(range(len(trace))), "each reference is served once"
    if testbed.terminals == 1:
        assert slow.served == list(range(len(trace))), "one terminal follows the trace's order"
