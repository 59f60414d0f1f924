"""Test the closed-loop storage server against hand-made cases, its reference and queueing theory; test its parameters
and fit, too."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from misspenalty import InputError, ParameterError, Trace, simulate
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.mq.storage_server.calibration import compatible, fit_database_cpu, sensitivity
from misspenalty_studies.mq.storage_server.server import COMPONENTS, HIT, MISS, WRITE, disks_of, outcomes, run
from misspenalty_studies.mq.storage_server.testbed import StorageServerTestbed
from studies.mq.tests.reference.storage_server import Reference

YAML = Path(__file__).parents[3] / "studies" / "mq" / "machine.yaml"
MACHINE = load_machine(YAML, kind=StorageServerTestbed)
TESTBED = replace(MACHINE.testbed, database_cpu_us=3000)
DATABASE_LINK = 10 + 70 + 81.92 + 30  # us: message, server processor, one block over the link, message and interrupt


def references(count, hits=0.3, writes=0.3, seed=1, disks=24):
    """Draw random outcomes and disks."""
    generator = np.random.default_rng(seed)
    share = [(1 - writes) * hits, (1 - writes) * (1 - hits), writes]
    return generator.choice(3, count, p=share).astype(np.uint8), generator.integers(0, disks, count).astype(np.uint8)


# -- against the reference --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"database_cpus": 2, "database_cpu_us": 20_000}, {"disk_time": "exponential"}])
def test_utilisation_equals_the_references_exact_one(changes):
    testbed = replace(TESTBED, **changes)
    outcome, disk = references(6000)
    fast = run(outcome, disk, testbed, 5.3, np.random.default_rng(3))
    slow = Reference(outcome, disk, testbed, 5.3, np.random.default_rng(3)).run()
    assert replace(fast, utilisation=None) == replace(slow, utilisation=None)
    assert fast.utilisation == pytest.approx(slow.utilisation, abs=1e-4)


# -- by hand -----------------------------------------------------------------------------------------------------------


def test_one_terminal_that_always_hits_spends_the_sum_of_its_components():
    """With one process nobody waits, so each read must take the times of message, server and link, and 3000/4 us of
    database processor time."""
    testbed = replace(TESTBED, terminals=1, warm_up_share=0)
    got = run(np.zeros(400, np.uint8), np.zeros(400, np.uint8), testbed, 4)
    assert (got.transactions, got.reads) == (100, 400)
    assert got.elapsed_ns == 400 * round(1000 * (DATABASE_LINK + 750))
    assert got.transaction_ns["database_cpu"] == 100 * 3_000_000
    assert all(got.transaction_ns[name] == 0 for name in COMPONENTS if name.endswith("queue"))


def test_one_terminal_that_always_misses_adds_a_disk_and_an_interrupt():
    testbed = replace(TESTBED, terminals=1, warm_up_share=0, think_time_us=5000)
    got = run(np.ones(400, np.uint8), np.zeros(400, np.uint8), testbed, 4)
    read_ns = round(1000 * (DATABASE_LINK + 750 + 20)) + 9_000_000 + 546_133
    assert sum(got.miss_ns.values()) == 400 * read_ns
    assert got.elapsed_ns == 400 * read_ns + 100 * 5_000_000, "think time elapses, but is not part of a latency"


def test_no_process_waits_for_writes_but_they_occupy_the_disks():
    """A read must wait for the write sent just before it, unless writes stay in memory or go to another disk."""
    testbed = replace(TESTBED, terminals=1, warm_up_share=0, server_request_us=0, database_cpu_us=0)
    outcome = np.array([MISS, WRITE] * 100 + [MISS], np.uint8)
    through = run(outcome, np.zeros(201, np.uint8), testbed, 1)
    behind = run(outcome, np.zeros(201, np.uint8), replace(testbed, write_through=False), 1)
    apart = run(outcome, np.array([0, 1] * 100 + [0], np.uint8), testbed, 1)
    assert through.writes == behind.writes == 100
    assert behind.miss_ns["disk_queue"] == apart.miss_ns["disk_queue"] == 0
    assert through.elapsed_ns > behind.elapsed_ns and through.miss_ns["disk_queue"] > 90 * 9_000_000


def test_reads_are_spread_evenly_over_transactions():
    testbed = replace(TESTBED, terminals=1, warm_up_share=0)
    got = run(np.zeros(2500, np.uint8), np.zeros(2500, np.uint8), testbed, 2.5)
    assert (got.transactions, got.reads) == (1000, 2500)


# -- against queueing theory -------------------------------------------------------------------------------------------


def demands(testbed, outcome, reads_per_transaction):
    """Return the service demands of a transaction at its busiest stations, in s: at a database processor and at one of
    the disks."""
    reads, misses, writes = np.count_nonzero(outcome != WRITE), np.sum(outcome == MISS), np.sum(outcome == WRITE)
    visits = reads_per_transaction * (misses + testbed.write_through * writes) / reads
    return testbed.database_cpu_us / 1e6 / testbed.database_cpus, visits * testbed.disk_ns / 1e9 / testbed.disks


@pytest.mark.parametrize("terminals", [1, 4, 48, 300])
@pytest.mark.parametrize("database_cpu_us", [0, 3000, 60_000])
@pytest.mark.parametrize("disk_time", ["constant", "exponential"])
def test_laws_of_queueing(terminals, database_cpu_us, disk_time):
    """The asymptotic bounds, the utilisation law, Little's law and flow balance must hold, except for the requests in
    progress at the beginning and the end of the measurement."""
    testbed = replace(TESTBED, terminals=terminals, database_cpu_us=database_cpu_us, disk_time=disk_time)
    outcome, disk = references(100_000, seed=terminals)
    got = run(outcome, disk, testbed, 7.5, np.random.default_rng(5))
    cpu, one_disk = demands(testbed, outcome, 7.5)
    seconds, rate, loose = got.elapsed_ns / 1e9, got.rate_per_s, 1.02
    least = sum(got.transaction_ns[name] for name in COMPONENTS if not name.endswith("queue")) / got.transactions / 1e9
    assert rate <= loose * min(1 / max(cpu, one_disk), terminals / least)
    assert got.utilisation["database_cpu"] == pytest.approx(rate * cpu, rel=0.02, abs=1e-4)
    assert got.utilisation["disk"] == pytest.approx(rate * one_disk, rel=0.03)
    assert all(0 <= share <= 1 for share in got.utilisation.values())
    residence = sum(got.transaction_ns.values()) / got.transactions / 1e9
    assert rate * residence == pytest.approx(terminals, abs=terminals * 3 * residence / seconds)
    timed = outcome[round(0.1 * len(outcome)) :]
    assert got.reads == pytest.approx(np.count_nonzero(timed != WRITE), abs=terminals)
    assert got.writes == pytest.approx(np.count_nonzero(timed == WRITE), abs=8)
    assert got.transactions == pytest.approx(got.reads / 7.5, abs=terminals + 1)


@pytest.mark.parametrize(("terminals", "think_us"), [(1, 0), (6, 0), (24, 0), (100, 0), (30, 20_000)])
def test_exponential_disks_follow_mean_value_analysis(terminals, think_us):
    """With disks alone the model must be a product-form network, which exact MVA solves."""
    testbed = replace(
        TESTBED, terminals=terminals, think_time_us=think_us, database_cpu_us=0, message_latency_us=0.001,
        interrupt_us=0, server_request_us=0, network_mb_per_s=1e9, disk_time="exponential",
    )  # fmt: skip
    outcome, disk = references(600_000, hits=0, writes=0)
    got = run(outcome, disk, testbed, 1, np.random.default_rng(7))
    service, stations, queue = testbed.disk_ns / 1e9, testbed.disks, 0.0
    for customers in range(1, terminals + 1):
        residence = service * (1 + queue)  # at the chosen disk; all disks are alike
        rate = customers / (think_us / 1e6 + residence)
        queue = rate * residence / stations
    assert got.rate_per_s == pytest.approx(rate, rel=0.01)


def test_bottleneck_moves_from_the_disks_to_the_database():
    """The gain of a larger cache must fall from its disk-bound value to nothing as the database computes longer."""
    (few, disk), (many, _) = references(60_000, hits=0.1), references(60_000, hits=0.2)
    gains = []
    for us in (0, 5_000, 20_000, 200_000):
        testbed = replace(TESTBED, database_cpu_us=us)
        gains.append(run(many, disk, testbed, 7).rate_per_s / run(few, disk, testbed, 7).rate_per_s)
    assert gains[0] > 1.05
    assert all(later < earlier + 0.002 for earlier, later in itertools.pairwise(gains))
    assert gains[-1] == pytest.approx(1, abs=0.002)


# -- records and inputs ------------------------------------------------------------------------------------------------


def test_equal_inputs_yield_equal_records():
    outcome, disk = references(20_000)
    testbed = replace(TESTBED, disk_time="exponential")
    first, second = (run(outcome, disk, testbed, 6.1, np.random.default_rng(9)) for _ in range(2))
    assert first == second
    assert first != run(outcome, disk, testbed, 6.1, np.random.default_rng(10))


def test_most_of_the_access_time_is_spent_in_misses():
    shares = run(*references(20_000), TESTBED, 6).access_time_shares()
    assert shares["miss"] > 0.9 and math.isclose(sum(shares.values()), 1)


def test_outcomes_and_disks_of_a_trace():
    """Blocks 0-7 must lie on disk 0, 8-15 on disk 1, …, and disk 0 must follow disk 23."""
    address = np.array([0, 7, 8, 24 * 8 - 1, 24 * 8], np.uint64)
    ids, write = np.array([0, 1, 2, 3, 4, 2], np.uint32), np.array([0, 0, 1, 0, 0, 1], bool)
    trace = Trace(ids, write, None, address, 8192, "made", "made")
    assert disks_of(trace, TESTBED).tolist() == [0, 0, 1, 23, 0, 1]
    hits = np.array([True, False, True, False, True, False])
    assert outcomes(hits, write).tolist() == [HIT, MISS, WRITE, MISS, HIT, WRITE]
    assert outcomes(hits, None).tolist() == [HIT, MISS, HIT, MISS, HIT, MISS]


def test_tables_are_spread_evenly_over_the_disks():
    """Addresses must be spread evenly; like the capture reader's, they have a relation's number above a 32-bit block
    number."""
    relation, block = np.arange(9, dtype=np.uint64), np.arange(24_000, dtype=np.uint64)
    address = (relation[:, None] << np.uint64(32) | block).ravel()
    trace = Trace(np.arange(len(address), dtype=np.uint32), None, None, address, 8192, "made", "made")
    for unit in (1, 8, 64):
        load = np.bincount(disks_of(trace, replace(TESTBED, stripe_blocks=unit)), minlength=24)
        assert load.max() / load.min() < 1.03


def test_a_larger_cache_gives_a_higher_rate():
    """All steps from a trace to a rate must work together: the replay, its outcomes and the closed loop."""
    generator = np.random.default_rng(2)
    ids = (4000 * generator.random(40_000) ** 3).astype(np.uint32)
    trace = Trace(ids, generator.random(40_000) < 0.3, None, np.arange(4000, dtype=np.uint64), 8192, "made", "made")
    rates = []
    for cache_blocks in (100, 400, 1600):
        hits = np.zeros(len(trace), bool)
        result = simulate(trace, "lru", cache_blocks, hits=hits)
        got = run(outcomes(hits, trace.write), disks_of(trace, TESTBED), replace(TESTBED, warm_up_share=0), 6)
        assert got.hits == pytest.approx(result.hits, abs=TESTBED.terminals)
        rates.append(got.rate_per_s)
    assert rates == sorted(rates) and rates[2] > 1.2 * rates[0]


@pytest.mark.parametrize(
    ("outcome", "disk", "changes", "reads", "message"),
    [
        ([0, 0], [0], {}, 1, "one value per reference"),
        ([], [], {}, 1, "one value per reference"),
        ([3], [0], {}, 1, "outcomes reach 3 .* at most 2"),
        ([0], [24], {}, 1, "disks 24; .* and 23"),
        ([0], [0], {}, 0.5, "expected 1 to"),
        ([0], [0], {}, math.nan, "expected 1 to"),
        ([0], [0], {"database_cpu_us": None}, 1, "fit it first"),
        ([0], [0], {"disk_time": "exponential"}, 1, "generator"),
        ([0], [0], {"disk_access_ms": 5000}, 1, "a disk access takes"),
        ([0], [0], {"think_time_us": 1e18}, 1, "exceed the range of the clock; .*think 1000000000000000000000 ns"),
        ([0] * 10_000, [0] * 10_000, {"network_mb_per_s": 1e-7}, 1, "10000 references of .*transfer 81920000000000 ns"),
        ([0] * 50, [0] * 50, {}, 1000, "no transaction"),
        ([2] * 50, [0] * 50, {}, 1, "no transaction"),
    ],
)
def test_impossible_inputs_are_refused(outcome, disk, changes, reads, message):
    with pytest.raises(ParameterError, match=message):
        run(outcome, disk, replace(TESTBED, **changes), reads)


# -- parameters --------------------------------------------------------------------------------------------------------


def test_every_parameter_says_where_it_comes_from():
    entries = MACHINE.entries
    assert [name for name, entry in entries.items() if entry.status == "fitted"] == ["database_cpu_us"]
    assert MACHINE.testbed.database_cpu_us is None
    assert all(entry.source != "none" for entry in entries.values() if entry.status == "stated")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda entries: entries.pop("disks"), "disks: Field required"),
        (lambda entries: entries.update(colour=entries["disks"]), "colour: Extra inputs are not permitted"),
        (
            lambda entries: entries["disks"].update(value=-1),
            "disks.value: -1; Input should be greater than or equal to 1",
        ),
        (lambda entries: entries["disks"].update(value="many"), "disks.value: 'many'; Input should be a valid integer"),
        (lambda entries: entries["disks"].update(value=None), "disks.value: None; Input should be a valid integer"),
        (lambda entries: entries["interrupt_us"].update(unit="ms"), "interrupt_us.unit: 'ms'; expected 'us'"),
        (lambda entries: entries["terminals"].update(status="guessed"), "terminals.status: Input should be 'stated'"),
        (lambda entries: entries["terminals"].update(status="secondary"), "terminals.status: 'secondary'; expected"),
        (lambda entries: entries["terminals"].pop("vary"), "terminals.vary: missing"),
        (lambda entries: entries["disk_access_ms"].update(value=float("nan")), "disk_access_ms.value: nan"),
        (lambda entries: entries["write_through"].update(value=1), "write_through.value: 1;"),
        (lambda entries: entries["terminals"].update(vary=[0]), "terminals.vary: 0; Input should be greater than"),
        (lambda entries: entries["terminals"].update(vary="8"), "terminals.vary"),
        (lambda entries: entries["database_cpu_us"].update(status="stated"), "database_cpu_us.value: null; only"),
        (lambda entries: entries["terminals"].pop("reason"), "terminals.reason: missing"),
        (lambda entries: entries["database_cpu_us"].pop("reason"), "database_cpu_us.reason: missing"),
        (lambda entries: entries["disks"].update(note="x"), "disks.note: Unexpected keyword argument"),
    ],
)
def test_a_wrong_file_is_refused(change, message, tmp_path):
    entries = yaml.safe_load(YAML.read_text())
    change(entries)
    path = tmp_path / "bed.yaml"
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(InputError, match=message) as caught:
        load_machine(path, kind=StorageServerTestbed)
    assert str(path) in str(caught.value)


def test_unreadable_files_are_refused(tmp_path):
    path = tmp_path / "bed.yaml"
    with pytest.raises(InputError, match="no such file"):
        load_machine(path, kind=StorageServerTestbed)
    path.write_text("disks: [1\nvalue: 2\n")
    with pytest.raises(InputError, match="line 2: not YAML"):
        load_machine(path, kind=StorageServerTestbed)


# -- fit and sensitivity -----------------------------------------------------------------------------------------------


@given(st.floats(1.001, 1.499), st.integers(100, 100_000))
def test_fit_inverts_an_analytic_ratio(target, scale):
    """The fit must invert a ratio that falls from 1.5 to 1 as 1 + 0.5 / (1 + us / scale)."""
    fit = fit_database_cpu(lambda us: 1 + 0.5 / (1 + us / scale), target, 0, 100_000_000)
    assert not fit.at_bound and abs(fit.value_us - scale * (0.5 / (target - 1) - 1)) <= 1


@pytest.mark.parametrize(("target", "value", "side"), [(1.6, 0, "above"), (1.01, 1000, "below")])
def test_fit_says_when_the_target_is_out_of_reach(target, value, side):
    fit = fit_database_cpu(lambda us: 1.5 - us * 0.0004, target, 0, 1000)
    assert (fit.value_us, fit.at_bound) == (value, True)
    assert fit.reached == (fit.highest if side == "above" else fit.lowest)


def test_fit_refuses_an_empty_range():
    with pytest.raises(ParameterError, match="0 <= low < high"):
        fit_database_cpu(lambda us: 1.0, 1.0, 5, 5)


def test_fit_to_a_ratio_of_the_model_finds_the_time_behind_it():
    (few, disk), (many, _) = references(30_000, hits=0.1, writes=0), references(30_000, hits=0.3, writes=0)

    def ratio(us):
        testbed = replace(TESTBED, database_cpu_us=us, terminals=8)
        return run(many, disk, testbed, 7).rate_per_s / run(few, disk, testbed, 7).rate_per_s

    fit = fit_database_cpu(ratio, ratio(12_000), 0, 200_000)
    assert not fit.at_bound and fit.value_us == pytest.approx(12_000, rel=0.05)


def sensitivity_of(**options):
    generator = np.random.default_rng(4)
    address = generator.integers(0, 1 << 30, 500).astype(np.uint64)
    trace = Trace(generator.integers(0, 500, 6000).astype(np.uint32), None, None, address, 8192, "made", "made")
    points = {(128, "lru"): references(6000, hits=0.1)[0], (128, "mq"): references(6000, hits=0.5)[0]}
    return sensitivity(MACHINE, TESTBED, trace, points, 5, (128, "lru"), 1, **options)


def test_sensitivity_is_tidy_and_complete():
    table = sensitivity_of(threads=1)
    base = table[table["policy"] == "lru"]
    assert (base["normalized_rate"] == 1).all()
    assert base["parameter"].iloc[0] == "none"
    varied = base[["parameter", "value"]].iloc[1:].to_records(index=False).tolist()
    assert len(set(varied)) == len(varied) == len(MACHINE.variations(TESTBED))
    assert {("terminals", "192"), ("database_cpu_us", "1500"), ("write_through", "false")} < set(varied)
    assert table[table["policy"] == "mq"]["normalized_rate"].between(0.98, 2.5).all()


def test_sensitivity_does_not_depend_on_threads():
    assert sensitivity_of(threads=1).equals(sensitivity_of(threads=2))


def test_sensitivity_needs_its_baseline():
    with pytest.raises(ParameterError, match="baseline"):
        sensitivity(MACHINE, TESTBED, None, {}, 5, (128, "lru"), 1)


@pytest.mark.parametrize(
    "target, half", [(1.3, 0.05), (1.08, 0.005), (1.5, 0.05), (1.7, 0.05), (1.05, 0.005), (1.12, 0.005)]
)
def test_the_range_of_times_whose_ratio_rounds_to_the_target_is_found(target, half):
    # A ratio printed with one decimal is known to within 0.05, with two decimals to within 0.005.
    found = compatible(lambda us: 1.5 - us * 0.0004, target, 0, 1000)
    within = [us for us in range(1001) if abs(1.5 - us * 0.0004 - target) <= half]
    assert (found is None) == (not within)
    if within:
        assert found == pytest.approx((within[0], within[-1]), abs=1)
