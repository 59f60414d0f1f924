"""Test kernels against others' results: published hit ratios, a recomputation, and the simulator libCacheSim.

The traces are read in place (fixture `shared_traces`). libCacheSim (GPL) is a test dependency; the package
never imports it.

Why MQ, LRU-2 and LFU differ from the table of Megiddo & Modha (IEEE Computer 2004) on OLTP
------------------------------------------------------------------------------------------
Their MQ, LRU-2, FBR, 2Q and LRFU were tuned for each cache size with values that the paper does not print. We
vary MQ's parameters (points above the published value at 1000, 2000, 5000, 10000, 15000 blocks):

====================================  ======================================
MQ as its own paper has it            +3.13  +1.39  +0.65  +1.03  +2.14
… history 1                           +2.25  +2.58  +1.81  +2.18  +1.76
… no history                          +0.70  +1.26  +0.59  +1.11  +1.16
… history 20                          -0.10  -0.65  -0.96  +0.39  +1.84
… history 1, lifeTime 500             +0.19  -0.10  -0.27  -0.15  -0.08
… history 1, lifeTime 1000            +1.35  +0.67  +0.06  -0.00  -0.00
… history 4, lifeTime 500             +1.31  +0.55  -0.00  -0.03  -0.07
… history 4, lifeTime 10000           -1.04  -0.01  +1.70  +2.29  +1.44
… history 1, lifeTime 1000, 4 queues  +1.11  +0.45  -0.08  -0.06  -0.05
====================================  ======================================

lifeTime is the cause. A short one, about the same for all sizes, yields the published column within 0.3 points; varying
the history or the number of queues does not. On OLTP the temporal distances peak at 1024 to 2047 whatever the cache
(11.6 % of the re-accesses), as in a first-level trace. The MQ paper's rule looks only at distances above the cache
size, which makes lifeTime longer for larger caches, and hit ratios higher on this trace. We keep the MQ paper's rule.
With a lifeTime of the same value our MQ and libCacheSim's have equal miss counts (tested below), so the steps of the
algorithm are not in question.

LRU-2 has no correlated reference period by default and then loses 5 points, because OLTP has bursts. With 500 accesses
for all sizes it is within 1.3 points of the published column. The published LFU (marked "definition unclear") is 14 to
18 points above LFU that forgets on eviction, and 1.5 to 2.4 below LFU with a history of four times the cache.
"""

import csv
import lzma

import numpy as np
import pytest

from misspenalty import Trace, hit_ratio_curve, open_trace, simulate
from misspenalty.traces._distance import previous_use

libcachesim = pytest.importorskip("libcachesim")  # in the group `test` of pyproject.toml

OURS = {"LRU": "lru", "MIN": "opt", "MQ": "mq", "2Q": "2q", "LRU-2": "lru2", "FBR": "fbr", "LFU": "lfu", "MRU": "mru"}
SIZES = [1000, 2000, 5000, 10000, 15000]
FILES = {name: f"lirs/{name}.trace.gz" for name in ("2_pools", "cpp", "cs", "gli", "loop", "multi2", "sprite")} | {
    name: f"arc/{name}.lis.zst" for name in ("OLTP", "P3", "P6")
}
VSCSI = np.dtype("<u4, <u4, <u4, <u2, <u2, <u8, <u8")  # the sixth field is the first sector


@pytest.fixture(scope="session")
def trace_named(shared_traces):
    """Return a shared trace by its name, such as ``OLTP``, compiled once per session."""
    known = {}

    def find(name):
        if name not in known:
            known[name] = load(name)
        return known[name]

    def load(name):
        if name == "orm-busy":
            raw = lzma.decompress((shared_traces / "objects/orm-busy.trace.xz").read_bytes())
            return Trace.from_blocks(np.frombuffer(raw, ">u4").astype(np.uint64), name=name)
        if name == "cloudPhysicsIO":
            return Trace.from_blocks(np.fromfile(shared_traces / "vscsi/cloudPhysicsIO.vscsi", VSCSI)["f5"], name=name)
        return open_trace(shared_traces / FILES[name])

    return find


def rows_of(folder, file):
    with open(folder / file, newline="") as stream:
        return list(csv.DictReader(stream))


def percent(trace, policy, sizes, **parameters):
    return 100 * hit_ratio_curve(trace, policy, sizes, threads=1, **parameters)["hit_ratio"].to_numpy()


def published(folder, policy):
    """Return OLTP's column of Table 1 of Megiddo & Modha 2004, at `SIZES`."""
    rows = [
        r for r in rows_of(folder, "published_hit_ratios.csv") if "Table 1" in r["source"] and r["policy"] == policy
    ]
    assert [int(r["cache_blocks"]) for r in rows] == SIZES
    return np.array([float(r["hit_ratio_pct"]) for r in rows])


@pytest.mark.parametrize("file, within", [("published_hit_ratios.csv", 0.01), ("recomputed_hit_ratios.csv", 0.005)])
def test_lru_and_min_equal_the_literature(shared_traces, trace_named, file, within):
    """Hit ratios must agree to two decimals; the published MIN of 15000 blocks on OLTP is 0.008 off."""
    rows = [row for row in rows_of(shared_traces, file) if row["policy"] in ("LRU", "MIN")]
    assert len(rows) > 25
    for trace, policy in sorted({(row["trace"], row["policy"]) for row in rows}):
        mine = [row for row in rows if (row["trace"], row["policy"]) == (trace, policy)]
        sizes = [int(row["cache_blocks"]) for row in mine]
        expected = np.array([float(row["hit_ratio_pct"]) for row in mine])
        assert percent(trace_named(trace), OURS[policy], sizes) == pytest.approx(expected, abs=within), (trace, policy)


@pytest.mark.parametrize(
    "policy, parameters, within",
    [
        ("2Q", {}, 0.11),
        ("FBR", {}, 1.01),
        ("LRU-2", {"correlated_period": 500}, 1.3),
        ("MQ", {"history": 1, "life_time": 500}, 0.3),
        ("MQ", {"history": 0}, 1.3),
    ],
)
def test_oltp_is_as_published(shared_traces, trace_named, policy, parameters, within):
    """With the given parameters, or our defaults if there are none, hit ratios must be close to those published."""
    obtained = percent(trace_named("OLTP"), OURS[policy], SIZES, **parameters)
    assert obtained == pytest.approx(published(shared_traces, policy), abs=within)


def test_mq_by_its_own_rule_is_above_the_published_column(shared_traces, trace_named):
    obtained = percent(trace_named("OLTP"), "mq", SIZES)
    assert np.all(obtained - published(shared_traces, "MQ") > 0.6)
    assert np.all(obtained - published(shared_traces, "MQ") < 3.2)


def test_distances_on_oltp_peak_below_two_thousand(trace_named):
    """The peak of the temporal distances, on which the explanation above rests, must be at 1024 to 2047."""
    distance = previous_use(trace_named("OLTP").ids, trace_named("OLTP").blocks)
    bins = np.bincount(np.log2(distance[distance > 0]).astype(int))
    assert bins.argmax() == 10
    assert bins[10] / bins.sum() == pytest.approx(0.116, abs=0.001)


def test_published_lfu_lies_between_lfu_without_and_with_history(shared_traces, trace_named):
    column = published(shared_traces, "LFU")
    assert np.all(percent(trace_named("OLTP"), "lfu", SIZES) < column - 14)
    above = percent(trace_named("OLTP"), "lfu", SIZES, history=4) - column
    assert np.all((above > 0) & (above < 2.4))


# These policies of libCacheSim have the same definition as ours with these parameters, which match its defaults.
SAME = {
    "LRU": ("lru", {}),
    "LFU": ("lfu", {}),
    "Belady": ("opt", {}),
    "TwoQ": ("2q", {"kin": 0.25, "kout": 0.5}),
    "LRUK": ("lru2", {"history": 0}),
    "MQ": ("mq", {"queues": 8, "history": 4, "life_time": 10_000, "recall_first": 1}),
    "ARC": ("arc", {}),
}


def test_recorded_libcachesim_counts(shared_traces, trace_named):
    rows = [row for row in rows_of(shared_traces, "libcachesim_misses.csv") if row["policy"] in SAME]
    assert len(rows) >= 45
    differing = {}
    for row in rows:
        policy, parameters = SAME[row["policy"]]
        trace = trace_named(row["trace"])
        assert (len(trace), trace.blocks) == (int(row["requests"]), int(row["distinct"]))
        misses = simulate(trace, policy, int(row["cache_blocks"]), **parameters).misses
        if misses != int(row["misses"]):
            differing[row["trace"], row["policy"]] = misses - int(row["misses"])
    assert differing == {}


def oracle_general(trace, path):
    """Write the trace in records of 24 bytes for libCacheSim (time, id, size, next access or -1); return the path."""
    record = np.zeros(len(trace), np.dtype("<u4, <u8, <u4, <i8"))
    record["f1"] = trace.ids.astype(np.uint64) + 1
    record["f2"] = 1
    order = np.argsort(trace.ids, kind="stable")
    same = trace.ids[order[1:]] == trace.ids[order[:-1]]
    record["f3"] = -1
    record["f3"][order[:-1][same]] = order[1:][same]
    record.tofile(path)
    return path


def libcachesim_misses(path, policy, size, n, **options):
    reader = libcachesim.TraceReader(
        str(path), libcachesim.TraceType.ORACLE_GENERAL_TRACE, libcachesim.ReaderInitParam(ignore_obj_size=True)
    )
    cache = getattr(libcachesim, policy)(int(size), hashpower=18, **options)  # a float would be a share of the blocks
    return round(cache.process_trace(reader)[0] * n)


@pytest.mark.parametrize("name", ["OLTP", "2_pools", "cpp", "cs", "gli", "loop", "multi2", "sprite"])
def test_miss_counts_equal_libcachesim_on_real_traces(trace_named, tmp_path, name):
    trace = trace_named(name)
    path = oracle_general(trace, tmp_path / "trace.oracleGeneral")
    assert SAME
    for size in {max(trace.blocks * share // 1000, 4) for share in (5, 10, 20, 50, 100, 200, 400, 1000)}:
        for policy, (ours, parameters) in SAME.items():
            expected = libcachesim_misses(path, policy, size, len(trace))
            assert simulate(trace, ours, size, **parameters).misses == expected, (policy, size)


@pytest.mark.parametrize("queues, history, life_time", [(8, 4, 50), (8, 1, 10**9), (3, 0.5, 500), (1, 1, 500)])
def test_mq_equals_libcachesim_with_other_parameters(trace_named, tmp_path, queues, history, life_time):
    trace = trace_named("2_pools")
    path = oracle_general(trace, tmp_path / "trace.oracleGeneral")
    for size in (100, 1000):
        options = {"n_queue": queues, "qout_size_ratio": history, "lifetime": life_time}
        expected = libcachesim_misses(path, "MQ", size, len(trace), **options)
        ours = simulate(trace, "mq", size, queues=queues, history=history, life_time=life_time, recall_first=1)
        assert ours.misses == expected


def zipf(requests=200_000, objects=50_000):
    """Draw references to objects that are used in inverse proportion to their rank."""
    weights = np.cumsum(1 / np.arange(1, objects + 1))
    drawn = np.random.default_rng(20).random(requests)
    return Trace.from_blocks(np.searchsorted(weights / weights[-1], drawn))


def test_miss_counts_equal_libcachesim_on_zipf(tmp_path):
    trace = zipf()
    path = oracle_general(trace, tmp_path / "zipf.oracleGeneral")
    assert SAME
    for size in (10, 100, 1000, 5000, 20_000):
        for policy, (ours, parameters) in SAME.items():
            expected = libcachesim_misses(path, policy, size, len(trace))
            assert simulate(trace, ours, size, **parameters).misses == expected, (policy, size)
