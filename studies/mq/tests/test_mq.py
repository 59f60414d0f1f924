"""Test the MQ study's tables against counts made by hand and against single replays."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import misspenalty
from misspenalty import InputError, ParameterError
from misspenalty.replay.simulation import simulate
from misspenalty.traces import Trace
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.mq import claims
from misspenalty_studies.mq import rates as mq_rates
from misspenalty_studies.mq import runs as mq
from misspenalty_studies.mq import tables as mq_tables
from misspenalty_studies.mq.storage_server.server import COMPONENTS
from misspenalty_studies.mq.storage_server.testbed import StorageServerTestbed

BLOCK = 1 << 20  # a cache of n MB holds n blocks
ROOT = Path(__file__).parents[3]


def trace_of(ids, write=None):
    return Trace.from_blocks(ids, write, block_bytes=BLOCK)


@pytest.fixture
def busy():
    rng = np.random.default_rng(11)
    return trace_of(rng.zipf(1.2, 5000) % 300, rng.random(5000) < 0.3)


def test_replay_has_one_row_per_size_and_write_mode(busy):
    table = mq.replay(busy, "lru", [4, 16], writes=("count", "ignore"))
    assert table[["cache_mb", "policy", "writes"]].to_numpy().tolist() == [
        [4, "lru", "count"], [16, "lru", "count"], [4, "lru", "ignore"], [16, "lru", "ignore"]]  # fmt: skip
    assert table["requests"].eq(busy.reads).all()
    assert table["hits"].tolist() == [
        simulate(busy, "lru", mb, writes=w).hits for w in ("count", "ignore") for mb in (4, 16)
    ]
    assert np.allclose(table["hit_ratio_pct"], 100 * table["hits"] / table["requests"])


def test_a_grid_keeps_the_best_setting_of_each_size(busy, monkeypatch):
    monkeypatch.setattr(misspenalty, "open_trace", lambda trace: trace)
    grid = {"life_time": [1, 50, 5000], "queues": [2, 8]}
    policies = {"mine": {"policy": "mq", "grid": grid}}
    table = mq.replay_policies(busy, "made", policies, [4, 16, 64], ["count"], warm_up=0, threads=1)
    assert table["policy"].tolist() == ["mine"] * 3
    for row in table.itertuples():
        tried = [
            simulate(busy, "mq", row.cache_mb, life_time=t, queues=q).hits
            for t in grid["life_time"]
            for q in grid["queues"]
        ]
        assert row.hits == max(tried)
        chosen = dict(pair.split("=") for pair in row.parameters.split())
        assert simulate(busy, "mq", row.cache_mb, **{k: float(v) for k, v in chosen.items()}).hits == row.hits


def test_settings_keep_their_digits(busy):
    """Parameters must be written with all digits, because the split by distance runs the policy with them."""
    table = mq.replay(busy, "mq", [4], writes=["count"], parameters={"life_time": 1_234_567, "history": 0.25})
    assert table["parameters"].tolist() == ["life_time=1234567 history=0.25"]


def test_a_cache_is_never_smaller_than_a_block():
    assert mq.blocks_of(trace_of([0]), 0.1) == 1


def test_distance_split_by_hand():
    # In A B A C A B, LRU with 2 blocks hits A twice at distance 2 (which is not below 2) and misses B at distance 4.
    row = mq.distance_split(trace_of([0, 1, 0, 2, 0, 1]), "lru", 2).iloc[0]
    assert (row.hits_short, row.misses_short, row.hits_long, row.misses_long, row.first_reads) == (0, 0, 2, 1, 3)
    assert row.hit_ratio_pct == pytest.approx(100 * 2 / 6)


@pytest.mark.parametrize("writes", ["count", "ignore"])
def test_distance_split_adds_up_to_the_replay(busy, writes):
    for policy in ("lru", "mq"):
        row = mq.distance_split(busy, policy, 32, writes=writes).iloc[0]
        parts = row[["hits_short", "misses_short", "hits_long", "misses_long", "first_reads"]]
        assert parts.sum() == busy.reads
        assert row.hits_short + row.hits_long == simulate(busy, policy, 32, writes=writes).hits
        if policy == "lru":
            assert row.misses_short == 0  # LRU with C blocks does not evict a block after fewer than C accesses


@pytest.mark.parametrize("writes", ["count", "ignore", "refresh"])
def test_a_capture_of_writes_alone_has_no_hit_ratio(writes):
    trace = trace_of([0, 1, 0], np.ones(3, bool))
    row = mq.distance_split(trace, "lru", 2, writes=writes).iloc[0]
    assert row[["hits_short", "misses_short", "hits_long", "misses_long", "first_reads"]].eq(0).all()
    assert np.isnan(row["hit_ratio_pct"])
    assert mq.replay(trace, "lru", [2], writes=[writes])["hit_ratio_pct"].isna().all()


def test_distance_histogram_bins_by_powers_of_two():
    # The bins are 1, 2-3, 4-7 and 8-15.
    table = mq.distance_histogram(trace_of([0, 0, 1, 0, 2, 1, 3, 4, 5, 3, 5, 0]))
    # The distances are 1 for 0-0, 2 for 0-1-0 and 5-3-5, 3 for 1..1 and 3..3, and 8 for 0..0.
    assert table["accesses"].tolist() == [1, 4, 0, 1]
    assert table["distance_low"].tolist() == [1, 2, 4, 8] and table["distance_high"].tolist() == [1, 3, 7, 15]
    assert table["cumulative_pct"].iloc[-1] == pytest.approx(100)


def test_frequency_curve_by_hand():
    # A is accessed five times, B twice and C once.
    table = mq.frequency_curve(trace_of([0, 0, 1, 0, 0, 2, 1, 0]))
    assert table["min_accesses"].tolist() == [1, 2, 4]
    assert table["blocks_pct"].tolist() == pytest.approx([100, 200 / 3, 100 / 3])
    assert table["accesses_pct"].tolist() == pytest.approx([100, 100 * 7 / 8, 100 * 5 / 8])


def test_a_first_level_passes_its_read_misses_and_evicted_dirty_blocks(busy):
    hits = np.zeros(len(busy), bool)
    simulate(busy, "lru", 8, hits=hits)
    passed = mq.behind(busy, 8)
    expected = busy.address[busy.ids[~hits & ~busy.write]]
    assert np.array_equal(passed.address[passed.ids[~passed.write]], expected)
    assert 0 < np.count_nonzero(passed.write) < np.count_nonzero(busy.write), "two writes can share one write-back"
    assert passed.ids[0] == 0 and passed.ids.max() == passed.blocks - 1


def test_a_first_level_always_lets_first_references_through():
    assert len(mq.behind(trace_of([0, 1, 0]), 8)) == 2


def test_sensitivity_varies_one_parameter_at_a_time(busy):
    table = mq.sensitivity(busy, [8, 32], {"queues": [1, 8], "history": [0, 4]})
    assert len(table) == 8
    one = table.query("parameter == 'history' and value == 0 and cache_mb == 32")["hit_ratio_pct"].item()
    assert one == pytest.approx(100 * simulate(busy, "mq", 32, history=0).hit_ratio)


def test_bounds_follow_the_papers_arithmetic():
    table4 = pd.DataFrame({"cache_mb": [512, 512], "policy": ["mq", "lru"], "hit_ratio_pct": [44.34, 31.69]})
    fig7 = pd.DataFrame({"cache_mb": [512, 512], "policy": ["mq", "lru"], "normalized_rate": [1.1, 1.0]})
    curve = pd.DataFrame({"cache_mb": [512, 1024], "hit_ratio_pct": [31.69, 56.99]})
    row = mq_tables.bounds(table4, fig7, curve).iloc[0]
    assert row.relative_miss_difference_pct == pytest.approx(18.5, abs=0.05)  # 12.65 / (100 - 31.69)
    assert row.rate_bound_pct == pytest.approx(22.7, abs=0.05)
    assert row.rate_gain_pct == pytest.approx(10)
    assert row.equal_lru_mb == pytest.approx(768) and row.equal_lru_factor == pytest.approx(1.5)
    assert mq_tables.bounds(table4, fig7, curve.iloc[:1])["equal_lru_mb"].isna().all()  # no value beyond the curve


def test_the_fitted_time_reaches_its_target_and_the_objective_is_shown_beyond(busy):
    machine = load_machine(ROOT / "studies/mq/machine.yaml", kind=StorageServerTestbed)
    found, span = mq_rates.points(busy, [8, 32], threads=1), (1000, 20_000)
    rates, _, fit, objective = mq_rates.transaction_rates(
        busy, machine, found, 5.0, fitted_mb=32, target=1.1, span=span, seed=1, threads=1
    )
    row = fit.iloc[0]
    assert row["reached"] == pytest.approx(1.1, rel=0.005) and not row["at_bound"]
    assert row["within_low_us"] < row["value_us"] < row["within_high_us"]
    assert set(range(1000, 41_001, 5000)) < set(objective["cpu_us"])
    lru = rates.query("policy == 'lru'").set_index("cache_mb")["normalized_rate"]
    assert lru[8] == 1 and lru[32] == pytest.approx(row["reached"])


def test_rates_are_relative_to_the_baseline():
    def outcome(rate, hits):
        methods = {"access_time_shares": lambda: {"miss": hits / 200}, "row": lambda: {"reads": 50}}
        spent = {"transaction_ns": dict.fromkeys(COMPONENTS, 1000 * rate), "transactions": 10}
        return SimpleNamespace(rate_per_s=rate, hits=hits, reads=50, **spent, **methods)

    timed = {(8, "lru"): outcome(20.0, 10), (8, "mq"): outcome(25.0, 20)}
    live = {point: SimpleNamespace(rate_per_s=10.0 + i, hit_ratio=0.25 + i / 4) for i, point in enumerate(timed)}
    assert mq_rates._rates(timed, live, (8, "lru")).set_index("policy").T.to_dict() == {
        "lru": {"cache_mb": 8, "normalized_rate": 1, "hit_ratio_pct": 20, "timed_hit_ratio_pct": 25,
                "timed_normalized_rate": 1, "miss_time_share_pct": 5, "reads": 50},
        "mq": {"cache_mb": 8, "normalized_rate": 1.25, "hit_ratio_pct": 40, "timed_hit_ratio_pct": 50,
               "timed_normalized_rate": 1.1, "miss_time_share_pct": 10, "reads": 50},
    }  # fmt: skip
    parts = mq_rates._components(timed)
    assert parts.to_numpy().tolist() == [
        [8, policy, component, us] for policy, us in (("lru", 2.0), ("mq", 2.5)) for component in COMPONENTS
    ]
    assert list(parts) == ["cache_mb", "policy", "component", "us"]


def test_outcomes_do_not_depend_on_the_number_of_threads(busy):
    one, two = (mq_rates.points(busy, [8, 32], threads=n) for n in (1, 2))
    assert list(one) == [(8, "mq"), (8, "lru"), (32, "mq"), (32, "lru")]
    for point in one:
        assert np.array_equal(one[point], two[point])
        assert np.count_nonzero(one[point] == 0) == simulate(busy, point[1], point[0]).hits
        assert np.array_equal(one[point] == 2, busy.write)


def test_replay_refuses_an_unknown_policy(busy):
    with pytest.raises(ParameterError, match="unknown policy"):
        mq.replay(busy, "best", [8], writes=["count"])


def test_logged_values_name_their_claims(tmp_path):
    points = pd.DataFrame({"cache_mb": [128, 128], "policy": ["mq", "lru"]})
    fig7 = points.assign(miss_time_share_pct=[99.5, 98.25], timed_hit_ratio_pct=[10.0, 20.5])
    table4 = points[::-1].assign(hit_ratio_pct=[20.5, 10.25])
    facts = tmp_path / "captures.yaml"
    facts.write_text("mine.parquet: {shared_buffers: 128MB}\n")
    fit = pd.DataFrame([{"at_bound": True, "reached": 1.04791, "target": 1.08, "value_us": 0}])
    notes = claims.logged(table4, fig7, fit, facts, "raw/mine.parquet").set_index("id")["note"]
    assert notes["mq.fig7.lru.256"] == "fit ends at its bound: 1.0479 for 1.08 at 0 us"
    assert "no hit ratio by more than 0.25 points" in notes["mq.results.timing"]
    assert "98.25 to 99.50 %" in notes["mq.results.miss_dominates"]
    assert "128MB" in notes["mq.setup.oracle_buffer"]


def test_a_filtered_stream_has_fewer_reads_per_transaction(tmp_path, busy):
    facts = tmp_path / "captures.yaml"
    facts.write_text("mine.parquet: {reads: 5000, duration_s: 10.0, transactions: {all: 50}}\n")
    filtered = mq.behind(busy, 16)
    assert mq_rates.recorded_reads(busy, facts, "raw/mine.parquet") == busy.reads / 50
    assert mq_rates.recorded_reads(filtered, facts, "raw/mine.parquet") == filtered.reads / 50 < busy.reads / 50


def test_the_head_of_a_capture_has_its_share_of_the_transactions(tmp_path, busy):
    facts = tmp_path / "captures.yaml"
    facts.write_text("mine.parquet: {reads: 5000, duration_s: 10.0, transactions: {all: 50}}\n")
    for seconds, transactions in ((10, 50), (9.995, 50), (4, 20)):
        time = np.linspace(0, seconds * 1e9, len(busy)).astype(np.int64)
        timed = Trace(busy.ids, busy.write, time, busy.address, busy.block_bytes, "mine", busy.format)
        assert mq_rates.recorded_reads(timed, facts, "raw/mine.parquet") == pytest.approx(busy.reads / transactions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "other.parquet: {}",
            r"captures\.yaml: lacks transactions\.all of mine\.parquet; expected \{mine\.parq",
        ),
        ("mine.parquet: {transactions: 50}", r"lacks transactions\.all of mine\.parquet"),
        ("mine.parquet: {transactions: {all: 0}}", r"mine\.parquet: transactions\.all is 0; expected a number above 0"),
        ("mine.parquet: {transactions: {all: 50}}", r"lacks duration_s of mine\.parquet; .*config/README\.md"),
    ],
)
def test_a_capture_without_its_facts_is_refused(tmp_path, busy, text, message):
    (facts := tmp_path / "captures.yaml").write_text(text)
    time = np.arange(len(busy), dtype=np.int64)
    timed = Trace(busy.ids, busy.write, time, busy.address, busy.block_bytes, "mine", busy.format)
    with pytest.raises(InputError, match=message):
        mq_rates.recorded_reads(timed, facts, "raw/mine.parquet")


def test_a_trace_without_times_is_taken_to_be_the_whole_capture(tmp_path, busy):
    (facts := tmp_path / "captures.yaml").write_text("mine.spc: {transactions: {all: 50}}")
    assert mq_rates.recorded_reads(busy, facts, "raw/mine.spc") == busy.reads / 50


def test_more_than_half_of_the_re_accesses_are_as_near_as_the_caption_of_figure_2_says():
    nearer = pd.read_csv(ROOT / "results/mq/fig2.csv").set_index(["capture", "distance_high"])["cumulative_pct"]
    assert nearer["2mb", 16_383] > 50
