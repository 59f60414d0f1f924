"""Test FIFO and its descendants against libCacheSim; misses must be equal wherever the definitions agree.

The definitions differ as follows: libCacheSim's SLRU limits its lowest segment, so only multiples of four are compared;
its S3-FIFO and Clock2Q+ hold nothing if the share of S is below two blocks; its W-TinyLFU does not count the same
accesses as the paper's (libcachesim.py says which it counts, and has its misses); its Random draws other numbers.
"""

import pytest

import tests.policies.test_policy_truth as truth
from misspenalty import simulate

trace_named = truth.trace_named  # fixture

SAME = {
    "FIFO": ("fifo", {}),
    "Sieve": ("sieve", {}),
    "Clock": ("clock", {}),
    "SLRU": ("slru", {"segments": 4, "protected": 0.75, "fill_up": 1}),
    "S3FIFO": ("s3fifo", {}),
    "Clock2QPlus": ("clock2qplus", {}),
}
SHARES = (5, 10, 20, 50, 100, 200, 400, 800)  # cache sizes in thousandths of the footprint


def sizes_of(trace):
    """Return up to eight sizes at which libCacheSim's SLRU and S3-FIFO agree with ours: multiples of 4 from 20 on."""
    return sorted({max(trace.blocks * share // 4000 * 4, 20) for share in SHARES})


def differing(trace, path, sizes, same):
    """Return our miss counts and libCacheSim's where they differ."""
    found = {}
    for size in sizes:
        for policy, options, ours, parameters in same:
            expected = truth.libcachesim_misses(path, policy, size, len(trace), **options)
            misses = simulate(trace, ours, size, **parameters).misses
            if misses != expected:
                found[policy, size] = (misses, expected)
    return found


DEFAULTS = [(policy, {}, *ours) for policy, ours in SAME.items()]
OTHERS = [
    ("Clock", {"n_bit_counter": 2}, "clock", {"bits": 2}),
    ("Clock", {"n_bit_counter": 3}, "clock", {"bits": 3}),
    ("S3FIFO", {"move_to_main_threshold": 1}, "s3fifo", {"threshold": 1}),
    ("S3FIFO", {"small_size_ratio": 0.25, "ghost_size_ratio": 0.5}, "s3fifo", {"small": 0.25, "ghost": 0.5}),
    ("Clock2QPlus", {"corr_window_ratio": 0.3}, "clock2qplus", {"window": 0.3}),
    ("Clock2QPlus", {"fifo_size_ratio": 0.3, "corr_window_ratio": 1}, "clock2qplus", {"small": 0.3, "window": 1.0}),
    ("Clock2QPlus", {"ghost_size_ratio": 0.4, "corr_window_ratio": 0}, "clock2qplus", {"ghost": 0.4, "window": 0.0}),
    ("S3FIFO", {"ghost_size_ratio": 0, "move_to_main_threshold": 3}, "s3fifo", {"ghost": 0, "threshold": 3}),
]


def test_recorded_libcachesim_counts(shared_traces, trace_named):
    rows = [row for row in truth.rows_of(shared_traces, "libcachesim_misses.csv") if row["policy"] in SAME]
    rows = [row for row in rows if row["policy"] != "SLRU" or int(row["cache_blocks"]) % 4 == 0]
    assert len(rows) >= 35
    found = {}
    for row in rows:
        policy, parameters = SAME[row["policy"]]
        misses = simulate(trace_named(row["trace"]), policy, int(row["cache_blocks"]), **parameters).misses
        if misses != int(row["misses"]):
            found[row["trace"], row["policy"]] = (misses, int(row["misses"]))
    assert found == {}


@pytest.mark.parametrize("name", ["OLTP", "2_pools", "cpp", "cs", "gli", "loop", "multi2", "sprite", "cloudPhysicsIO"])
def test_miss_counts_equal_libcachesim_on_real_traces(trace_named, tmp_path, name):
    trace = trace_named(name)
    path = truth.oracle_general(trace, tmp_path / "trace.oracleGeneral")
    assert differing(trace, path, sizes_of(trace), DEFAULTS) == {}


def test_miss_counts_equal_libcachesim_on_zipf(tmp_path):
    trace = truth.zipf()
    path = truth.oracle_general(trace, tmp_path / "zipf.oracleGeneral")
    assert differing(trace, path, sizes_of(trace), DEFAULTS + OTHERS) == {}


@pytest.mark.parametrize("name", ["2_pools", "cpp", "multi2"])
def test_other_parameters_equal_libcachesim(trace_named, tmp_path, name):
    trace = trace_named(name)
    path = truth.oracle_general(trace, tmp_path / "trace.oracleGeneral")
    assert differing(trace, path, sizes_of(trace)[3:], OTHERS) == {}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_hits_as_fifo_does_on_independent_references(seed):
    """Hit ratios must be equal (Gelenbe 1973), here within the noise of a finite run."""
    trace = truth.zipf(1_000_000)
    for size in (100, 1000, 5000):
        fifo = simulate(trace, "fifo", size).hit_ratio
        assert simulate(trace, "random", size, seed=seed).hit_ratio == pytest.approx(fifo, abs=0.002)


@pytest.mark.parametrize("name", ["2_pools", "cpp", "multi2", "OLTP"])
def test_random_is_near_libcachesim(trace_named, tmp_path, name):
    trace = trace_named(name)
    path = truth.oracle_general(trace, tmp_path / "trace.oracleGeneral")
    size = trace.blocks // 10
    theirs = truth.libcachesim_misses(path, "Random", size, len(trace)) / len(trace)
    assert simulate(trace, "random", size).misses / len(trace) == pytest.approx(theirs, abs=0.015)


def test_wtinylfu_is_near_libcachesim_on_zipf(tmp_path):
    """With independent references, it matters little which accesses the sketch counts."""
    trace = truth.zipf()
    path = truth.oracle_general(trace, tmp_path / "zipf.oracleGeneral")
    for size in (1000, 5000):
        theirs = truth.libcachesim_misses(path, "WTinyLFU", size, len(trace)) / len(trace)
        assert simulate(trace, "wtinylfu", size).misses / len(trace) == pytest.approx(theirs, abs=0.01)
