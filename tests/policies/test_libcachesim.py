"""Test libCacheSim's SLRU, W-TinyLFU and LIRS: kernels against definitions, and their misses against the program's."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tests.policies.test_policy_truth as truth
from misspenalty import Trace, hit_ratio_curve, simulate
from misspenalty.policies import known_policies, libcachesim

trace_named = truth.trace_named  # fixture

DEFINITIONS = {
    "SLRU": libcachesim.SLRU_DEFINITION,
    "WTinyLFU": libcachesim.WTINYLFU_DEFINITION,
    "LIRS": libcachesim.LIRS_DEFINITION,
}
WINDOWS = {"WTinyLFU": ({"window": 0.01}, {"window": 0.1}, {"window": 0.5})}
OPTIONS = {"window": "window_size"}  # the program's names


def outcome(definition, capacity, ids, parameters):
    """Check that kernel and definition have the same hits; return the kernel, the hits and the definition's cache."""
    first_use = {block: number for number, block in enumerate(dict.fromkeys(ids))}
    ids = [first_use[block] for block in ids]  # numbered by first use, as in a compiled trace
    kernel = definition.cache(capacity, np.arange(max(ids) + 1, dtype=np.uint64), parameters)
    hit = np.full(len(ids), 7, np.uint8)
    kernel.replay(np.array(ids, np.uint32), hit)
    reference = definition.reference(capacity, **definition.check(parameters))
    assert hit.tolist() == [int(reference.access(block)) for block in ids]
    return kernel, hit, reference


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=400), st.integers(1, 60), st.sampled_from(list(DEFINITIONS)))
def test_kernel_equals_definition(ids, capacity, name):
    assert all(WINDOWS.values())
    for parameters in WINDOWS.get(name, ({},)):
        kernel, hit, reference = outcome(DEFINITIONS[name], capacity, ids, parameters)
        assert kernel.requests == len(ids) and kernel.resident <= capacity
        loads = np.count_nonzero(hit == 0) if kernel.resident else 0  # a cache that is too small loads nothing
        assert kernel.evictions == loads - kernel.resident
        if name == "LIRS":
            assert kernel.resident == reference.lir + len(reference.q)
        else:
            assert sum(block in kernel for block in range(len(set(ids)))) == kernel.resident


@pytest.mark.parametrize("name", DEFINITIONS)
def test_kernel_equals_definition_over_many_times_the_cache(name):
    """The trace has enough distinct blocks for LIRS' stack to reach its limit of twice the cache."""
    ids = np.random.default_rng(1).integers(0, 300, 6000)
    outcome(DEFINITIONS[name], 20, ids.tolist(), {})


def test_an_evicted_block_may_be_the_lowest_of_the_stack():
    """In a cache of two blocks, LIRS' stack may contain no LIR blocks; its lowest block then moves to the queue."""
    outcome(DEFINITIONS["LIRS"], 2, [0, 1, 1, 0, 1, 2, 3, 0, 4, 5, 3, 1, 2], {})
    outcome(DEFINITIONS["LIRS"], 2, (np.random.default_rng(0).random(4000) ** 2 * 9).astype(int).tolist(), {})


@pytest.mark.parametrize("capacity", [5, 20, 150])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_kernel_equals_definition_where_few_blocks_are_popular(name, capacity):
    """In LIRS, these traces reference blocks again that are in the queue but have left the stack."""
    ids = np.random.default_rng(capacity).zipf(1.2, 4000) % (3 * capacity)
    outcome(DEFINITIONS[name], capacity, ids.tolist(), {})


def test_counters_are_halved_in_a_long_run(monkeypatch):
    halve, halved = libcachesim.Counters.halve, []
    monkeypatch.setattr(libcachesim.Counters, "halve", lambda counters: halved.append(halve(counters)))
    ids = (np.random.default_rng(3).zipf(1.3, 9_000) % 120).tolist()
    outcome(DEFINITIONS["WTinyLFU"], 40, ids, {"window": 0.1})
    assert len(halved) > 3


def test_a_window_of_less_than_one_block_loads_nothing():
    trace = Trace.from_blocks(np.arange(3000) % 50)
    assert simulate(trace, DEFINITIONS["WTinyLFU"], 99).hits == 0
    assert simulate(trace, DEFINITIONS["WTinyLFU"], 100).hits == 2950


@pytest.mark.parametrize("capacity", [1, 3, 6, 20])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_evictions_of_the_warm_up_and_of_the_rest_add_up(name, capacity):
    """Evictions do not follow from misses: a hit may evict a block, and a cache that is too small evicts nothing."""
    blocks = np.random.default_rng(capacity).zipf(1.3, 900) % 40
    parameters = {"window": 0.3} if name == "WTinyLFU" else {}
    whole, first, rest = (
        simulate(Trace.from_blocks(given), DEFINITIONS[name], capacity, warm_up=warm_up, **parameters).evictions
        for given, warm_up in ((blocks, 0), (blocks[:300], 0), (blocks, 300))
    )
    assert rest == whole - first


def test_libcachesims_definitions_are_not_among_the_policies():
    assert not {definition.name for definition in DEFINITIONS.values()} & set(known_policies())


def differing(trace, path, sizes):
    """Return our miss counts and the program's where they differ."""
    found = {}
    for name, definition in DEFINITIONS.items():
        for parameters in WINDOWS.get(name, ({},)):
            options = {OPTIONS[key]: value for key, value in parameters.items()}
            misses = hit_ratio_curve(trace, definition, sizes, **parameters)["misses"]
            for size, ours in zip(sizes, misses, strict=True):
                theirs = truth.libcachesim_misses(path, name, size, len(trace), **options)
                if ours != theirs:
                    found[name, size, *parameters.values()] = (ours, theirs)
    return found


@pytest.mark.parametrize("name", ["2_pools", "cpp", "cs", "gli", "multi2", "sprite"])
def test_misses_equal_the_programs_on_real_traces(trace_named, tmp_path, name):
    trace = trace_named(name)
    path = truth.oracle_general(trace, tmp_path / "trace.oracleGeneral")
    assert differing(trace, path, [20, 50, 101, trace.blocks // 10, trace.blocks // 2 + 1]) == {}


def test_the_numbers_of_blocks_are_why_the_recorded_misses_of_two_traces_differ(shared_traces, trace_named, tmp_path):
    """The program must have as many misses as we have on blocks numbered by first use. With the numbers in the file of
    2_pools, our definition must have the recorded misses."""
    for name, size in (("2_pools", 993), ("orm-busy", 7634)):
        trace = trace_named(name)
        path = truth.oracle_general(trace, tmp_path / f"{name}.oracleGeneral")
        ours = simulate(trace, DEFINITIONS["WTinyLFU"], size).misses
        assert truth.libcachesim_misses(path, "WTinyLFU", size, len(trace), window_size=0.01) == ours
    lines = gzip.decompress((shared_traces / truth.FILES["2_pools"]).read_bytes()).split()
    given = [int(line) for line in lines if line.isdigit()]
    cache = libcachesim.WTinyLFU(993)
    cache.number = {block: block for block in given}
    (recorded,) = (
        int(row["misses"])
        for row in truth.rows_of(shared_traces, "libcachesim_misses.csv")
        if (row["trace"], row["policy"], row["cache_blocks"]) == ("2_pools", "WTinyLFU", "993")
    )
    assert sum(not cache.access(block) for block in given) == recorded


def test_misses_equal_the_programs_on_zipf(tmp_path):
    trace = truth.zipf(60_000, 5_000)
    path = truth.oracle_general(trace, tmp_path / "zipf.oracleGeneral")
    assert differing(trace, path, [20, 99, 100, 730, 2501]) == {}


def test_recorded_counts(shared_traces, trace_named):
    """W-TinyLFU's misses depend on the block numbers, which are not in order of first use in three traces."""
    renamed = {("2_pools", "WTinyLFU"), ("orm-busy", "WTinyLFU"), ("cloudPhysicsIO", "WTinyLFU")}
    found = {}
    for row in truth.rows_of(shared_traces, "libcachesim_misses.csv"):
        key = row["trace"], row["policy"]
        if row["policy"] in DEFINITIONS and key not in renamed:
            misses = simulate(trace_named(row["trace"]), DEFINITIONS[row["policy"]], int(row["cache_blocks"])).misses
            if misses != int(row["misses"]):
                found[key] = (misses, int(row["misses"]))
    assert found == {}
