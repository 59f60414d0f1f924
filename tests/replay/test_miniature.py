"""Miniature caches on a sample come close to exact runs, LRU's equal the stack, and parameters are scaled."""

import numpy as np
import pandas as pd
import pytest

from misspenalty import ParameterError, hit_ratio_curve, open_trace, simulate
from misspenalty.policies.registry import find_policy, known_policies
from misspenalty.replay import sampling
from misspenalty.replay.sampling import PARTS, Sample, choose, estimated
from misspenalty.traces import Trace

ONLINE = [name for name, policy in known_policies().items() if not policy.offline]
SIZES = [2000, 8000]


@pytest.fixture(autouse=True)
def caches_of_any_size(monkeypatch):
    """Allow small caches on small samples, which are refused to users but exercise the same mechanisms."""
    monkeypatch.setattr(sampling, "FEWEST", 0)


def zipf(references=200_000, blocks=40_000, seed=9):
    rng = np.random.default_rng(seed)
    weights = np.cumsum(1 / np.arange(1, blocks + 1) ** 0.9)
    chosen = np.searchsorted(weights / weights[-1], rng.random(references))
    return Trace.from_blocks(rng.permutation(blocks)[chosen], write=rng.random(references) < 0.2)


@pytest.fixture(scope="module")
def trace():
    return zipf()


@pytest.mark.parametrize("policy", [*ONLINE, "opt"])
def test_every_policy_is_near_its_exact_curve(trace, policy):
    exact = hit_ratio_curve(trace, policy, SIZES)
    table = hit_ratio_curve(trace, policy, SIZES, sample=0.1, sample_seed=1)
    assert table[["policy", "cache_blocks", "requests", "cold_misses"]].equals(
        exact[["policy", "cache_blocks", "requests", "cold_misses"]]
    )
    deviation = (table["hit_ratio"] - exact["hit_ratio"]).abs()
    # Spatial policies are sampled in fewer, larger pieces; MRU holds the blocks that came first, whichever they are.
    near = 0.12 if find_policy(policy).spatial or policy == "mru" else 0.06
    assert (deviation < near).all() and (deviation < 4 * table["hit_ratio_error"]).all()
    assert (table["hits"] + table["misses"] == table["requests"]).all()
    assert np.allclose(table["evictions"], exact["evictions"], rtol=0.25)


def test_error_bars_tell_how_near(trace):
    exact = simulate(trace, "arc", 4000).hit_ratio
    tables = [hit_ratio_curve(trace, "arc", 4000, sample=0.1, sample_seed=seed) for seed in range(12)]
    deviations = [(table["hit_ratio"][0] - exact) / table["hit_ratio_error"][0] for table in tables]
    assert 0.3 < np.sqrt(np.mean(np.square(deviations))) < 2.5  # about 1 if the error bars are right


@pytest.mark.parametrize("writes, warm_up", [("count", 0), ("ignore", 1000), ("only", 50_000), ("count", 150_000)])
def test_a_small_lru_cache_gives_what_the_stack_gives(trace, writes, warm_up):
    class Recent:
        """LRU as a class, for which the stack cannot be used."""

        def __init__(self, capacity):
            self.capacity, self.blocks = capacity, {}

        def access(self, block):
            hit = self.blocks.pop(block, False)
            if not hit and len(self.blocks) == self.capacity:
                del self.blocks[next(iter(self.blocks))]
            self.blocks[block] = True
            return hit

    options = {"sample": 0.1, "sample_seed": 5, "writes": writes, "warm_up": warm_up}
    small, stack = (hit_ratio_curve(trace, policy, SIZES, **options) for policy in (Recent, "lru"))
    for column in ("requests", "hits", "misses", "hit_ratio", "cold_misses", "hit_ratio_error"):
        assert np.allclose(small[column], stack[column], rtol=1e-12), column


def test_no_requests_have_no_hit_ratio_and_no_error():
    writes = Trace.from_blocks(np.arange(5000) % 500, write=np.ones(5000, bool))
    table = hit_ratio_curve(writes, ["lru", "arc"], 100, sample=0.5)
    table = pd.concat([table, hit_ratio_curve(writes, "lru", [100, 200, 300], sample=0.5)])
    assert table["requests"].tolist() == table["hits"].tolist() == [0] * 5
    assert table[["hit_ratio", "hit_ratio_error"]].isna().all(axis=None)


def test_a_refreshing_cache_can_be_sampled(trace):
    exact = simulate(trace, "lru", 4000, writes="refresh").hit_ratio
    table = hit_ratio_curve(trace, "lru", 4000, sample=0.2, writes="refresh")
    assert table["hit_ratio"][0] == pytest.approx(exact, abs=0.05)


def test_threads_and_order_change_nothing(trace):
    one = hit_ratio_curve(trace, ["arc", "lru", "sarc"], SIZES, sample=0.1, threads=1)
    two = hit_ratio_curve(trace, ["arc", "lru", "sarc"], SIZES, sample=0.1, threads=2)
    assert one.equals(two) and one["policy"].tolist() == ["arc", "arc", "lru", "lru", "sarc", "sarc"]


def test_parts_are_the_sample(trace):
    sample = Sample.of(trace, choose(trace.address, 0.1, 3), warm_up=7000)
    whole = sample.whole
    assert len(whole.trace) == sum(len(part.trace) for part in sample.parts)
    assert whole.warm_up == sum(part.warm_up for part in sample.parts)
    assert whole.trace.blocks == sum(part.trace.blocks for part in sample.parts)
    assert len(sample.parts) == PARTS and sample.parts[0].rate == 0.1 / PARTS
    chosen = np.isin(trace.address[trace.ids], whole.trace.address)
    assert np.array_equal(trace.address[trace.ids[chosen]], whole.trace.address[whole.trace.ids])
    assert np.array_equal(trace.write[chosen], whole.trace.write)
    assert whole.warm_up == np.count_nonzero(chosen[:7000])


def test_neighbours_stay_together_where_a_policy_looks_at_them():
    address = np.arange(1 << 14, dtype=np.uint64)
    taken = choose(address, 0.2, 1, together=5).numbers.reshape(-1, 32) > 0
    assert (taken.all(axis=1) | ~taken.any(axis=1)).all() and 0.1 < taken.mean() < 0.3


@pytest.mark.parametrize(
    "policy, given, expected",
    [
        ("mq", {"life_time": 5000}, {"life_time": 50, "queues": 8, "history": 4.0}),
        ("mq", {}, {"life_time": None}),
        ("lru2", {"correlated_period": 300}, {"correlated_period": 3, "k": 2}),
        ("lrfu", {"lam": 0.002}, {"lam": 0.2, "correlated_period": 0}),
        ("lfru", {"lam": 0.5}, {"lam": 1.0}),
        ("random", {"seed": 7}, {"seed": 7}),
    ],
)
def test_parameters_that_count_accesses_are_scaled(policy, given, expected):
    found = find_policy(policy).in_sample(given, 0.01)
    assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("misses", "rate", "requests", "expected"),
    [(1, 0.5, 1, -1.0), (1, 0.5, 4, 0.5), (3, 0.5, 4, -0.5), (0, 0.5, 4, 1.0), (0, 0.5, 0, 1.0)],
)
def test_misses_of_a_sample_stand_for_those_of_the_whole(misses, rate, requests, expected):
    assert estimated(misses, rate, requests) == expected


@pytest.mark.parametrize("sample", [0.0, 1.0, 1.5, -0.5, 1, "0.5", float("nan")])
def test_a_sample_is_a_share_between_0_and_1(sample):
    with pytest.raises(ParameterError, match=r"expected a share of the blocks above 0 and below 1, such as 0\.01"):
        hit_ratio_curve(Trace.from_blocks(list(range(30)) * 3), "arc", [10], sample=sample)


@pytest.mark.parametrize(("threshold", "parts"), [(4, [0, 1, 2, 3]), (12, [0, 1, 2, 3, 4, 5, 6, 7, 7])])
def test_the_least_samples_have_parts_too(threshold, parts, monkeypatch):
    """An eighth of the hashes below 4 is less than one hash; an eighth of those below 12 is rounded down to one."""
    monkeypatch.setattr(sampling, "_hashed", lambda address, seed: address)
    chosen = choose(np.arange(100, dtype=np.uint64), threshold / 2**64, 1)
    assert chosen.part_of.tolist()[: len(parts)] == parts and len(chosen.part_of) == threshold


def test_few_blocks_still_give_a_number():
    table = hit_ratio_curve(Trace.from_blocks(list(range(30)) * 3), "arc", [10], sample=0.2)
    assert 0 <= table["hit_ratio"][0] <= 1 and np.isfinite(table["hit_ratio_error"][0])


@pytest.mark.parametrize("share", [0.98, 1.02])
@pytest.mark.parametrize("policy", ["lfu", "lru", "arc"])
def test_error_bars_reach_across_the_cliff_of_a_loop(policy, share):
    """A sample with a few blocks too many or too few is on the wrong side of the cliff, and all its parts may be, too.

    Without the replay in a cache scaled by the sample's actual share, up to 6 of the 30 errors exceeded two bars.
    """
    blocks = 20_000
    trace = Trace.from_blocks(np.tile(np.arange(blocks), 5))
    truth = 0 if share < 1 else 0.8
    tables = [
        hit_ratio_curve(trace, policy, int(share * blocks), sample=0.05, sample_seed=seed, threads=1)
        for seed in range(30)
    ]
    errors = np.array([table["hit_ratio"][0] - truth for table in tables])
    bars = np.array([table["hit_ratio_error"][0] for table in tables])
    assert (abs(errors) > 0.5).sum() >= 3  # some samples are on the wrong side
    assert (abs(errors) > 2 * bars + 1e-9).sum() <= 2


@pytest.mark.parametrize("policy", ["lru", "arc", "fifo"])
def test_a_sample_of_too_few_blocks_is_compared_with_itself(policy):
    """Of 1000 blocks, 85 are in the sample. They fit into a cache of 960 scaled by 0.1 (97), but not by 0.085 (83)."""
    trace = Trace.from_blocks(np.tile(np.arange(1000), 4))
    sample = Sample.of(trace, choose(trace.address, 0.1, 1))
    assert sample.own_rate == 0.085
    row = hit_ratio_curve(trace, policy, 960, sample=0.1, sample_seed=1).iloc[0]
    assert row["hit_ratio"] == pytest.approx(1 - 85 / 0.1 / 4000)
    assert row["hit_ratio_error"] > 0.5


@pytest.mark.parametrize("policy", ["lru", "arc", "2q"])
def test_a_part_without_references_has_no_misses(policy):
    """One block, in one part, misses once: it counts as 1 / rate misses of the whole, and as 8 / rate of its part."""
    table = hit_ratio_curve(Trace.from_blocks([7] * 1000), policy, [5], sample=0.5, sample_seed=1)
    assert table["hit_ratio"][0] == pytest.approx(1 - 1 / 0.5 / 1000)
    ratios = [1 - 8 / 0.5 / 1000, *[1] * 7]
    assert table["hit_ratio_error"][0] == pytest.approx(np.std(ratios, ddof=1) / 8**0.5)


@pytest.mark.parametrize("policy", ["lru", "arc", "2q"])
def test_a_sample_without_counted_references_is_refused(policy):
    """Block 7 is in the sample, 8 is not; without counted references to 7, every hit ratio would be 1."""
    blocks, first = [7] * 10 + [8] * 90, np.arange(100) < 10
    options = {"sample": 0.5, "sample_seed": 1}
    for trace, warm_up in [(Trace.from_blocks(blocks), 10), (Trace.from_blocks(blocks, write=first), 0)]:
        with pytest.raises(ParameterError, match=r"sample 0\.5 has none of the 90 references that are counted; choose"):
            hit_ratio_curve(trace, policy, [5], writes="ignore", warm_up=warm_up, **options)
    row = hit_ratio_curve(Trace.from_blocks(blocks), policy, [5], warm_up=9, **options).iloc[0]
    assert row[["requests", "hits", "evictions", "ghost_hits", "hit_ratio_error"]].tolist() == [91, 91, 0, 0, 0]
    # With no counted references, the hit ratio is unknown.
    options |= {"writes": "ignore", "totals": True}
    row = hit_ratio_curve(Trace.from_blocks(blocks, write=~first), policy, [5], warm_up=10, **options)
    assert row[["requests", "hits", "evictions", "ghost_hits", "total_evictions"]].iloc[0].tolist() == [0] * 5
    assert np.isnan(row["hit_ratio"][0])


@pytest.mark.parametrize("policy", ["arc", "lirs", "2q", "s3fifo", "wtinylfu", "clockpro", "lru2", "sieve"])
def test_real_traces(policy, shared_traces):
    trace = open_trace(shared_traces / "arc" / "OLTP.lis.zst", "arc")
    size = trace.blocks // 10
    table = hit_ratio_curve(trace, policy, size, sample=0.2, sample_seed=2)
    deviation = abs(table["hit_ratio"][0] - simulate(trace, policy, size).hit_ratio)
    assert deviation < max(3 * table["hit_ratio_error"][0], 0.01)


def test_a_bias_is_not_in_the_error_bar(shared_traces):
    """MQ's lifeTime comes from a power-of-two bin, which a sample may change; on OLTP this costs 3 points."""
    trace = open_trace(shared_traces / "arc" / "OLTP.lis.zst", "arc")
    table = hit_ratio_curve(trace, "mq", trace.blocks // 10, sample=0.2)
    assert abs(table["hit_ratio"][0] - simulate(trace, "mq", trace.blocks // 10).hit_ratio) < 0.04


def workloads():
    """Make loops, whose references may all hit or all miss, random references, and mixtures of both."""
    rng, n = np.random.default_rng(1), 60_000
    zipf = rng.zipf(1.2, n) % 20_000
    return {
        "loop": np.arange(n) % 2000,
        "loops": np.where(np.arange(n) // 5000 % 2, np.arange(n) % 1500, 5000 + np.arange(n) % 3000),
        "zipf": zipf,
        "mixed": np.where(rng.random(n) < 0.5, zipf, 50_000 + np.arange(n) % 3000),
        "uniform": rng.integers(0, 5000, n),
        # Half of the references go to 300 blocks, the others to blocks that are used once or twice.
        "scanned": np.where(rng.random(n) < 0.5, rng.integers(0, 300, n), 1000 + np.arange(n) % 25_000),
    }


@pytest.mark.parametrize("kind", workloads())
@pytest.mark.parametrize("policy", ["lfu", "lru", "arc"])
def test_error_bars_are_as_long_as_the_errors(policy, kind):
    """Rms errors of 30 seeds may be at most 1.3 times the rms bars; clipped estimates would halve the bars on loops."""
    trace = Trace.from_blocks(workloads()[kind])
    sizes = [max(trace.blocks * share // 100, 1) for share in (20, 50, 80)]
    truth = hit_ratio_curve(trace, policy, sizes)["hit_ratio"].to_numpy()
    tables = [hit_ratio_curve(trace, policy, sizes, sample=0.1, sample_seed=seed) for seed in range(30)]
    errors = np.array([table["hit_ratio"] - truth for table in tables])
    bars = np.array([table["hit_ratio_error"] for table in tables])
    assert (np.sqrt((errors**2).mean(axis=0)) <= 1.3 * np.sqrt((bars**2).mean(axis=0))).all()
    assert np.mean(abs(errors) > 2 * bars + 1e-9) <= 0.25
