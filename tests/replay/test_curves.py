"""Curves in one pass equal single runs, sampled ones come close, and the stack equals its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import misspenalty
from misspenalty import ParameterError, hit_ratio_curve, open_trace, simulate, stack_distances
from misspenalty.replay import curves, sampling
from misspenalty.traces import Trace
from misspenalty.traces._stack import StackDistances

KEEP = ["cache_blocks", "requests", "hits", "misses", "hit_ratio", "cold_misses", "evictions", "ghost_hits"]


@pytest.fixture(autouse=True)
def caches_of_any_size(monkeypatch):
    """Allow small caches on small samples, which are refused to users but exercise the same mechanisms."""
    monkeypatch.setattr(sampling, "FEWEST", 0)


def by_definition(ids):
    stack, distances = [], []
    for block in ids:
        distances.append(len(stack) - stack.index(block) if block in stack else 0)
        if block in stack:
            stack.remove(block)
        stack.append(block)
    return distances


def test_distances_traced_by_hand():
    # In A B C D B A X, the second B finds D and C above B in the stack, so its distance is 3; the second A finds B, D
    # and C above A, so its distance is 4.
    assert stack_distances(Trace.from_blocks([0])).tolist() == [0]
    assert stack_distances(Trace.from_blocks([0, 1, 2, 3, 1, 0, 4])).tolist() == [0, 0, 0, 0, 3, 4, 0]
    mixed = Trace.from_blocks([0, 0, 1, 0], [False, True, True, False])
    assert stack_distances(mixed, writes="only").tolist() == [0, 1, 0, 2]


@given(st.lists(st.integers(0, 200), min_size=1, max_size=400))
def test_distances_are_the_definition(ids):
    assert stack_distances(Trace.from_blocks(ids)).tolist() == by_definition(ids)


@pytest.mark.parametrize("blocks, references", [(1, 9000), (63, 9000), (64, 9000), (65, 9000), (1100, 12_000)])
def test_positions_that_run_out_are_closed_up(blocks, references):
    ids = np.random.default_rng(blocks).integers(0, blocks, references).astype(np.uint32)
    distances = np.empty(references, np.uint32)
    stack = StackDistances(blocks)
    stack.feed(ids[: references // 3], distances[: references // 3])
    stack.feed(ids[references // 3 :], distances[references // 3 :])
    assert distances.tolist() == by_definition(ids.tolist())
    assert stack.live == np.unique(ids).size


def test_memory_of_the_stack_is_bounded_by_the_blocks():
    assert 4 < StackDistances(1 << 20).memory / (1 << 20) < 5


@pytest.mark.parametrize("writes", ["count", "ignore", "only"])
@pytest.mark.parametrize("warm_up", [0, 1, 700, 1999])
@pytest.mark.parametrize("slice_", [7, 1 << 20])
def test_every_size_equals_a_single_run(monkeypatch, writes, warm_up, slice_):
    monkeypatch.setattr(curves, "SLICE", slice_)
    rng = np.random.default_rng(warm_up)
    trace = Trace.from_blocks(rng.zipf(1.4, 2000) % 300, rng.random(2000) < 0.3)
    table = hit_ratio_curve(trace, "lru", writes=writes, warm_up=warm_up)
    assert table["cache_blocks"].tolist() == list(range(1, len(table) + 1))
    for size in (1, 2, 17, len(table) - 1, len(table)):
        single = simulate(trace, "lru", size, writes=writes, warm_up=warm_up)
        assert table.loc[size - 1, KEEP].to_dict() == pytest.approx(
            {key: value for key, value in single.row().items() if key in KEEP}, abs=0, nan_ok=True
        )


def test_given_sizes_in_one_pass_and_one_by_one_are_the_same_table(monkeypatch):
    trace = Trace.from_blocks(np.random.default_rng(4).zipf(1.2, 5000) % 700)
    sizes = [5000, 3, 64, 3]
    one_pass = hit_ratio_curve(trace, "lru", sizes)
    monkeypatch.setattr(misspenalty.replay.simulation, "ONE_PASS", 99)
    assert one_pass.equals(hit_ratio_curve(trace, "lru", sizes))
    assert one_pass["hits"].is_monotonic_increasing is False  # the rows are in the order given


def test_real_trace_at_eight_sizes(shared_traces):
    trace = open_trace(shared_traces / "lirs" / "sprite.trace.gz")
    table = hit_ratio_curve(trace, "lru").set_index("cache_blocks")
    for size in (1, 10, 100, 500, 1000, 2000, 5000, trace.blocks):
        assert table.loc[size, "hits"] == simulate(trace, "lru", size).hits
    assert len(table) == trace.blocks
    assert table.loc[trace.blocks, "misses"] == trace.blocks == table["cold_misses"].iloc[0]


# --- cold misses -----------------------------------------------------------------------------------------------------


def test_a_curve_of_lru_takes_what_simulate_takes(tmp_path):
    blocks = [1, 2, 1, 2]
    Trace.from_blocks(blocks).save(tmp_path / "saved")
    for trace in (blocks, np.array(blocks), {"block": blocks}, tmp_path / "saved"):
        for sizes, hits in ((None, [0, 2]), (2, [2]), (np.array([2]), [2])):
            assert curves.lru_curve(trace, sizes)["hits"].tolist() == hits


def test_cold_misses_are_first_references_that_count():
    # The trace reads 0, writes 1, reads 1, writes 0 and reads 2; the read of 1 finds the block that the write loaded.
    trace = Trace.from_blocks([0, 1, 1, 0, 2], [False, True, False, True, False])
    assert simulate(trace, "lru", 9).cold_misses == 2
    assert simulate(trace, "lru", 9, writes="ignore").cold_misses == 3
    assert simulate(trace, "lru", 9, writes="only").cold_misses == 1
    assert simulate(trace, "lru", 9, warm_up=1).cold_misses == 1
    assert simulate(trace, "lru", 9, writes="ignore", warm_up=1).cold_misses == 2


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=2), st.sampled_from(["count", "ignore", "only"]))
def test_cold_misses_are_the_misses_of_a_cache_that_holds_all(references, writes):
    trace = Trace.from_blocks(*zip(*references, strict=True))
    for policy in ("lru", "opt", "mq"):
        result = simulate(trace, policy, 31, writes=writes, warm_up=1)
        assert result.cold_misses == result.misses


# --- SHARDS ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def zipf():
    rng = np.random.default_rng(9)
    weights = np.cumsum(1 / np.arange(1, 40_001) ** 0.9)
    return Trace.from_blocks(rng.permutation(40_000)[np.searchsorted(weights / weights[-1], rng.random(300_000))])


def test_sample_is_near_and_its_error_bar_tells_how_near(zipf):
    sizes = [2000, 4000, 8000, 16_000]  # at least 100 blocks in the sampled cache
    exact = hit_ratio_curve(zipf, "lru", sizes)
    deviations = []
    for seed in range(12):
        table = hit_ratio_curve(zipf, "lru", sizes, sample=0.05, sample_seed=seed)
        assert table["requests"].equals(exact["requests"]) and table["cold_misses"].equals(exact["cold_misses"])
        error = (table["hit_ratio"] - exact["hit_ratio"]).to_numpy()
        assert np.all(np.abs(error) < 0.05)
        deviations.append(error / table["hit_ratio_error"].to_numpy())
    spread = np.sqrt(np.mean(np.square(deviations)))
    assert 0.3 < spread < 2.5  # about 1 if the error bars are right


def test_sample_of_all_but_a_few_is_the_exact_curve(zipf):
    sizes = [10, 1000, 20_000]
    table = hit_ratio_curve(zipf, "lru", sizes, sample=0.999)
    exact = hit_ratio_curve(zipf, "lru", sizes)
    assert np.allclose(table["hit_ratio"], exact["hit_ratio"], atol=0.002)
    assert np.allclose(table["evictions"], exact["evictions"], rtol=0.01)


def test_sample_is_repeatable_and_tells_sizes_of_its_own(zipf):
    one, two = (hit_ratio_curve(zipf, "lru", sample=0.01, sample_seed=3) for _ in range(2))
    assert one.equals(two) and not one.equals(hit_ratio_curve(zipf, "lru", sample=0.01, sample_seed=4))
    assert one["cache_blocks"].iloc[0] == 1 and one["cache_blocks"].iloc[-1] == pytest.approx(zipf.blocks, rel=0.3)
    assert one["hit_ratio"].is_monotonic_increasing


@pytest.mark.parametrize("sample", [0.009, 0.036, 0.616])
def test_a_sample_of_any_share_has_a_curve_over_its_own_sizes(zipf, sample, monkeypatch):
    """The smallest size that a user may name, 20 blocks of the sample, is rounded down for these shares."""
    monkeypatch.setattr(sampling, "FEWEST", 20)
    assert sampling.FEWEST / sample * sample < sampling.FEWEST
    assert hit_ratio_curve(zipf, "lru", sample=sample)["cache_blocks"].iloc[0] == 1


@pytest.mark.parametrize(
    "options, message",
    [
        ({"sample": 0.0}, "sample is 0.0; expected a share"),
        ({"sample": 1}, "sample is 1"),
        ({"sample": 0.5, "sample_seed": -1}, "sample_seed is -1"),
        ({"sample": 1e-9}, "contains none of [0-9]+ blocks; choose a larger share"),
        ({"policy": "mq"}, "all sizes at once are possible only for lru, not for mq"),
        (
            {"policy": "mq", "cache_blocks": [5], "sample": 0.1, "prefetch": "sequential"},
            "leave out sample or prefetch",
        ),
        ({"cache_blocks": [5, 0, 7]}, "cache size is 0 blocks"),
        ({"cache_blocks": [5, 6, 7], "queues": 3}, "lru has no parameter 'queues'"),
        ({"writes": "maybe"}, "writes is 'maybe'"),
    ],
)
def test_impossible_curves(zipf, options, message):
    with pytest.raises(ParameterError, match=message):
        hit_ratio_curve(**({"trace": zipf, "policy": "lru"} | options))
