"""Test the kvcache study: its costs, replays, cluster, tables, figures and claims."""

from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
import yaml
from pydantic import ValidationError

from misspenalty.errors import ParameterError
from misspenalty.latency.prefill import PLACES, Server, bandwidth
from misspenalty.plotting import style
from misspenalty.traces.prompts import Prompts
from misspenalty_studies.common.claims.ledger import load_ledger
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.kvcache import claims, cluster, conditions, cost, figures, runs, tables
from misspenalty_studies.kvcache.machine import KvCacheMachine
from misspenalty_studies.kvcache.settings import KvcacheSettings

ROOT = Path(__file__).parents[3]
TRACE = ROOT / "data/raw/kvcache/conversation.jsonl.xz"
SMALL = ROOT / "tests/data/prompts_small.jsonl"
MACHINE = ROOT / "studies/kvcache/machine.yaml"
LEDGER = load_ledger(ROOT, "kvcache")
VALUES = load_machine(MACHINE, KvCacheMachine).testbed

# The columns are the size of a cache in blocks, the misses of LRU, OPT and FIFO, and LRU's hits in contiguous prefixes.
# An independent program counted these misses and hits.
TRUTH = [
    (19, 281210, 274642, 282497, 7290),
    (1953, 273163, 215609, 273574, 15337),
    (5859, 249399, 186620, 251865, 39101),
    (19531, 206227, 182790, 212448, 82273),
    (97656, 183630, 182790, 184926, 104870),
]


def settings(**changes):
    """Return the small run's settings."""
    return yaml.safe_load((ROOT / "studies/kvcache/small.yaml").read_text()) | changes


def workload(prompts, times=None, size=10):
    """Return a workload of prompts, each a list of blocks; every block is full."""
    count = np.array([len(blocks) for blocks in prompts])
    times = np.zeros(len(prompts), np.int64) if times is None else np.array(times) * 10**9
    blocks = np.array([block for one in prompts for block in one], np.uint64)
    made = Prompts(times, count * size, count, count, blocks, size)
    whole = slice(0, len(count))
    return runs.PromptTrace("mine", made, runs.Trace.from_blocks(blocks), {"all": whole, "judged": whole})


@pytest.fixture(scope="module")
def small():
    """Compute every table that the claims read, for a small trace."""
    one = runs.single(SMALL, settings(), threads=2)
    two = runs.two_levels(SMALL, MACHINE, settings(), threads=2)
    made = {"trace_parts": one["workload"], "hits": tables.hits(one["hits"]), "costs": tables.costs(MACHINE)}
    made |= {"second_level": tables.second_level(two["levels"]), "ttft": tables.ttft(two["times"])}
    made |= {"cluster": cluster.clusters(SMALL, MACHINE, settings())}
    made |= {"table2": tables.table2(made["trace_parts"]), "fig9": tables.fig9(made["hits"])}
    made |= {"table1": tables.table1(made["hits"])}
    return made | {"fig10": tables.fig10(made["cluster"])}


# --- costs


def test_the_papers_examples():
    """A prefix of 8,192 tokens must need 6 GB/s on A800 and 19 on H800; a token must take 320 KB, 3 M tokens about
    1 TB, and 128 K tokens 40 GB."""
    made = tables.costs(MACHINE).set_index("quantity")["value"]
    assert round(made["least_bandwidth_a800"]) == 6 and round(made["least_bandwidth_h800"]) == 19
    assert made["token_cache"] == 320
    assert made["cache_of_3m_tokens"] == pytest.approx(1, rel=0.02)
    assert made["cache_of_128k_tokens"] == 40


def test_loading_and_prefill_break_even_at_the_least_bandwidth():
    tokens = 8192
    at = SimpleNamespace(**vars(VALUES) | {"ssd_gb_s": cost.least_gb_s(VALUES, tokens, VALUES.a800_tflops)})
    assert cost.load_s(at, tokens, "ssd") == pytest.approx(float(cost.prefill_s(at, tokens)))


def test_a_prefill_in_two_steps_takes_as_long_as_in_one():
    assert cost.prefill_s(VALUES, 900) == pytest.approx(
        cost.prefill_s(VALUES, 900, 400) + cost.prefill_s(VALUES, 400, 0)
    )
    assert cost.load_gb_s(VALUES, "dram") == 128 and cost.load_gb_s(VALUES, "remote") == 100


def test_weights_that_fill_the_memory_of_the_gpus_are_refused():
    full = SimpleNamespace(**vars(VALUES) | {"weights_gb": VALUES.gpus * VALUES.gpu_memory_gb})
    with pytest.raises(ParameterError, match="weights of 640 GB leave no room in 640 GB of GPU memory"):
        cost.gpu_cache_tokens(full)


# --- replays


def test_penalty_of_prompts_has_these_costs_by_default():
    tokens, reused = np.array([100, 8192, 120_000]), np.array([0, 512, 60_000])
    assert Server().prefill_s(tokens, reused) == pytest.approx(cost.prefill_s(VALUES, tokens, reused))
    assert Server().token_bytes == cost.token_bytes(VALUES)
    assert set(PLACES) == set(cost.KINDS)
    for place in PLACES:
        assert Server().load_s(tokens, bandwidth(place)) == pytest.approx(cost.load_s(VALUES, tokens, place))


@pytest.mark.parametrize(("blocks", "lru", "opt", "fifo", "prefix"), TRUTH)
def test_misses_equal_those_of_an_independent_program(blocks, lru, opt, fifo, prefix):
    made = runs.load_workload(TRACE, KvcacheSettings())
    for policy, misses in (("lru", lru), ("opt", opt), ("fifo", fifo)):
        hits = runs.replay(made, policy, blocks * 512)
        assert len(hits) - np.count_nonzero(hits) == misses
        if policy == "lru":
            assert made.prefix_blocks(hits).sum() == prefix


def test_a_prefix_ends_at_the_first_miss():
    made = workload([[1, 2, 3], [4], [5, 6]])
    hits = np.array([True, False, True, True, False, True])
    assert made.prefix_blocks(hits).tolist() == [1, 1, 0]
    assert made.prefix_tokens(hits).tolist() == [10, 10, 0]


def test_a_partial_block_counts_the_tokens_it_has():
    made = workload([[1, 2]])
    short = runs.PromptTrace("x", Prompts(*vars(made.prompts).values()), made.trace, made.parts)
    short.prompts.input_tokens[:] = 13
    assert short.prefix_tokens(np.array([True, True])).tolist() == [13]


def test_backwards_is_the_reversed_prompts_replayed():
    prompts = [[1, 2, 3], [1, 4], [1, 2, 5, 6]]
    made, reversed_ = workload(prompts), workload([one[::-1] for one in prompts])
    for tokens in (10, 20, 30, 60):
        expected = runs.replay(reversed_, "lru", tokens)
        order = [2, 1, 0, 4, 3, 8, 7, 6, 5]
        assert runs.replay(made, "lru", tokens, backwards=True).tolist() == expected[order].tolist()


def test_a_second_level_by_hand():
    """With one block in the first level and three in the second, the second receives the references 1 2 3 1 2. The last
    two must be hits, which are loaded for the third prompt."""
    made = workload([[1, 2], [3], [1, 2]])
    table = runs.behind(made, VALUES, [10], ["lru"], [30])
    levels = table["levels"].set_index("part").loc["all"]
    assert (levels["references"], levels["hit_blocks"]) == (5, 2)
    assert (levels["first_prefix_tokens"], levels["prefix_tokens"]) == (0, 20)
    times = table["times"].query("part == 'all'").set_index("kind")
    whole = cost.prefill_s(VALUES, [20, 10, 20])
    assert times.loc["none", "ttft_s"] == pytest.approx(whole.mean())
    assert times.loc["ssd", "prefill_s"] == pytest.approx(whole[:2].sum() / 3)
    assert times.loc["ssd", "load_s"] == pytest.approx(20 * 327_680 / 6.5e9 / 3)
    assert (times.loc["ssd", "loading"], times.loc["ssd", "slower"]) == (1, 1)
    assert times.loc["dram", "slower"] == int(whole[2] <= 20 * 327_680 / 128e9)


def test_what_the_first_level_holds_is_not_loaded():
    """The first level holds block 1, so only block 2 must be loaded from the second."""
    made = workload([[2], [1], [1, 2]])
    times = runs.behind(made, VALUES, [10], ["lru"], [30])["times"].query("kind == 'dram' and part == 'all'")
    assert times["load_s"].item() == pytest.approx(10 * 327_680 / 128e9 / 3)


def test_loading_a_block_before_those_of_the_first_level_saves_the_prefill_of_all():
    """Block 2 is in the first level but is useless without block 1, which is in the second. Loading block 1 takes
    longer than its own prefill, but not as long as the prefill of both blocks."""
    made = workload([[1], [3], [2], [1, 2]])
    seconds = 1.5 * float(cost.prefill_s(VALUES, 10))
    drive = SimpleNamespace(**vars(VALUES) | {"ssd_gb_s": 10 * cost.token_bytes(VALUES) / seconds / 1e9})
    times = runs.behind(made, drive, [20], ["lru"], [30])["times"].query("kind == 'ssd' and part == 'all'")
    assert times["load_s"].item() == pytest.approx(seconds / 4)
    assert times[["loading", "slower"]].to_numpy().tolist() == [[1, 0]]


def test_invariants_of_every_policy(small):
    hits = small["hits"]
    assert (hits["prefix_block_pct"] <= hits["block_hit_pct"] + 1e-9).all()
    assert (hits["block_hit_pct"] <= hits["possible_block_pct"] + 1e-9).all()
    wide = hits[hits["part"] == "all"].pivot(index="cache_tokens", columns="policy", values="block_hit_pct")
    assert (wide.drop(columns="opt").max(axis=1) <= wide["opt"] + 1e-9).all()
    largest = hits[hits["cache_tokens"] == 100_000]
    assert np.allclose(largest["share_of_possible_pct"], 100)
    assert (small["ttft"]["saved_pct"] < 100).all()


def test_parts_add_up():
    both = runs.single(SMALL, settings(stated_share=0.25))["hits"].set_index(["policy", "cache_tokens", "part"])
    counts = both[["references", "hit_blocks", "prefix_tokens", "input_tokens"]].unstack("part").swaplevel(axis=1)
    assert (counts["stated"] + counts["judged"] == counts["all"]).all(axis=None)
    assert "stated" not in set(runs.single(SMALL, settings())["hits"]["part"])


def test_another_trace_is_read_with_its_unit_and_blocks():
    made = runs.load_workload(SMALL, KvcacheSettings(**settings()))
    guessed = runs.load_workload(SMALL, KvcacheSettings(**settings(block_tokens=None)))
    assert made.name == "prompts_small" and made.prompts.block_tokens == guessed.prompts.block_tokens == 16
    assert 60 < made.prompts.time[-1] / 1e9 < 300


# --- cluster


@pytest.mark.parametrize("routing", cluster.ROUTINGS)
def test_one_server_without_reuse_is_a_queue(routing):
    made = workload([[1] * 1, [1, 2, 3], [4]], times=[0, 0, 50])
    one = SimpleNamespace(**vars(VALUES) | {"nodes": 1, "a800_tflops": 1e-3})
    served = cluster.serve(made, one, "none", routing)
    work = cost.prefill_s(one, [10, 30, 10])
    free, times = 0.0, []
    for now, seconds in zip([0, 0, 50], work, strict=True):
        free = max(free, now) + seconds
        times.append(free - now)
    assert served["ttft_s"].tolist() == pytest.approx(times)
    assert served["prefix_blocks"].tolist() == [0, 0, 0]


def test_a_server_loads_the_tokens_of_a_partial_block_only():
    """The second prompt of 13 tokens repeats the first, whose second block holds 3 tokens."""
    made = workload([[1, 2], [1, 2]], times=[0, 1000])
    made.prompts.input_tokens[:] = 13
    served = cluster.serve(made, SimpleNamespace(**vars(VALUES)), "shared", "aware")
    assert served["prefix_tokens"].tolist() == [0, 13]
    assert served["load_s"].tolist() == pytest.approx([0, cost.load_s(VALUES, 13, "remote")])


def test_aware_routing_goes_where_the_prefix_is():
    """The second prompt repeats the first: aware routing must choose the same server, balanced routing the other."""
    made = workload([[1, 2, 3], [1, 2, 3]], times=[0, 1000])
    two = SimpleNamespace(**vars(VALUES) | {"nodes": 2, "node_tokens": 100})
    assert cluster.serve(made, two, "local", "aware")["prefix_blocks"].tolist() == [0, 3]
    assert cluster.serve(made, two, "local", "balanced")["prefix_blocks"].tolist() == [0, 0]
    assert cluster.serve(made, two, "shared", "balanced")["prefix_blocks"].tolist() == [0, 3]


def test_a_cluster_of_one_hits_as_a_single_cache():
    made = runs.load_workload(SMALL, KvcacheSettings(**settings()))
    one = SimpleNamespace(**vars(VALUES) | {"nodes": 1, "node_tokens": 4000})
    served = cluster.serve(made, one, "local", "aware")
    assert served["prefix_blocks"].tolist() == made.prefix_blocks(runs.replay(made, "lru", 4000)).tolist()


def test_conditions_change_what_they_name(small):
    made = conditions.conditions(SMALL, MACHINE, settings())
    base = small["fig10"].set_index(["cache", "routing"])["ttft_s"]
    queue = made["fig10"].query("condition == @conditions.QUEUE").set_index(["cache", "routing"])["ttft_s"]
    assert queue[("local", "aware")] == base[("local", "balanced")]
    assert queue[("shared", "aware")] == base[("shared", "aware")]
    assert set(made["fig10"].groupby("condition").size()) == {12}
    half = made["fig10"].query("condition == 'GPU utilisation of 0.5'").set_index(["cache", "routing"])["prefill_s"]
    assert half[("none", "random")] == pytest.approx(
        2 * small["fig10"].set_index(["cache", "routing"])["prefill_s"].iloc[2]
    )
    assert set(made["table1"]["policy"]) == {"lfu", "lru"}
    rates = made["fig9"].query("condition == @conditions.BLOCKS")["hit_pct"].tolist()
    blocks = small["hits"].query("policy == 'lru' and part == 'all'")["prefix_block_pct"].tolist()
    assert rates == blocks


def test_every_parameter_of_a_cluster_that_is_varied_is_a_condition(tmp_path):
    entries = yaml.safe_load(MACHINE.read_text())
    entries["nodes"]["vary"] = [2]
    (path := tmp_path / "machine.yaml").write_text(yaml.safe_dump(entries))
    made = conditions.conditions(SMALL, path, settings(policies=["lru"], cache_tokens=[1000]))["fig10"]
    assert {"GPU utilisation of 0.5", "nodes of 2"} < set(made["condition"])
    assert not made["condition"].str.startswith("ssd").any()


def test_other_parts_take_the_place_of_the_judged_one(small, tmp_path):
    paths = {name: tmp_path / f"{name}.csv" for name in ("hits", "second_level", "ttft")}
    for name, path in paths.items():
        small[name].to_csv(path, index=False)
    made = conditions.on_parts(**paths)
    assert made.keys() == paths.keys()
    for name, table in made.items():
        assert set(table["part"]) == {"judged"} and set(table["condition"]) == {conditions.PARTS["all"]}
        assert len(table) == (small[name]["part"] == "all").sum()


def test_sensitivity_varies_one_parameter_at_a_time():
    table = conditions.sensitivity(SMALL, MACHINE, settings())
    assert set(table["parameter"]) == {"none", "utilisation", "ssd_gb_s"}
    wide = table[table["policy"] == "mq"].pivot(index=["parameter", "value"], columns="kind", values="ttft_s")
    assert wide.loc[("ssd_gb_s", 26), "dram"] == wide["dram"].xs("none").item()
    assert wide.loc[("ssd_gb_s", 26), "ssd"] < wide.loc[("ssd_gb_s", 3.2), "ssd"]


# --- claims and figures


def test_claims_of_the_paper_are_not_judged_on_another_trace(small):
    found = judge(LEDGER, {"kvcache": claims}, {f"kvcache_{name}": small[name] for name in claims.TABLES})
    verdicts = found.set_index("id")["verdict"]
    about_the_trace = [name for name in verdicts.index if name.split(".")[1] in ("table2", "fig9", "fig10", "s523")]
    assert (verdicts[about_the_trace] == "not_testable").all()
    assert verdicts["kvcache.s22.bandwidth.a800"] == "reproduced"


def test_own_statements_are_at_least_twenty_and_read_only_the_judged_part():
    own = [claim for claim in LEDGER if claim.status == "own"]
    assert len(own) >= 20 and all(claim.id.startswith("kvcache.own.") for claim in own)
    for name in ("trace_parts", "hits", "second_level", "ttft", "cluster"):
        assert {row["part"] for row in claims.TABLES[name].rows} == {"judged"}


def test_winners_differ_counts_points_and_allows_ties():
    import xarray as xr

    def cells(rows):
        return xr.DataArray(rows, dims=("policy", "size"), coords={"policy": ["a", "b"], "size": [1, 2]})

    first, second = cells([[2.0, 2], [1, 2]]), cells([[1.0, 1], [2, 5]])
    assert claims.winners_differ(first, second) == 1
    assert np.isnan(claims.winners_differ(first, second.where(second < 5)))


def test_figures_mark_published_values_of_the_same_trace_only(small):
    published = pd.read_csv(ROOT / "studies/kvcache/published/fig9.csv")

    def marks(table):
        lines = figures.capacity(table, published).axes[0].lines
        return [value for line in lines if line.get_marker() == "_" for value in line.get_ydata()]

    assert not marks(small["hits"])
    ours = small["hits"].assign(workload="conversation")
    assert marks(ours) == published.query("workload == 'conversation' and cache_tokens <= 100000")["hit_pct"].tolist()


def test_no_data_lie_under_the_legends_of_the_archived_figure():
    table = pd.read_csv(ROOT / "results/kvcache/hits.csv")
    figure = figures.capacity(table, pd.read_csv(ROOT / "studies/kvcache/published/fig9.csv"))
    with matplotlib.rc_context(style.STYLE):
        figure.draw_without_rendering()
    assert len(figure.axes) == 2
    for axes in figure.axes:
        frame = axes.get_legend().get_frame().get_window_extent()
        points = [axes.transData.transform(np.column_stack(line.get_data())) for line in axes.lines]
        assert not [point for line in points for point in line if frame.contains(*point)]


def test_figures_are_drawn_for_any_sizes(small):
    assert len(figures.second_level(small["second_level"]).axes) == 2
    assert len(figures.prefixes(small["hits"]).axes) == 2
    (axes,) = figures.ttft(small["ttft"]).axes
    assert {text.get_text() for text in axes.get_yticklabels()} == {"OPT", "MQ", "LIRS", "ARC", "W-TinyLFU", "LRU"}


# --- settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"policies": ["mq"]}, "lru is missing"),
        ({"policies": ["lru", "nothing"]}, "nothing"),
        ({"timestamps": "us"}, "ms"),
        ({"stated_share": 1.0}, "less than 1"),
        ({"block_tokens": 0}, "greater than or equal to 1"),
    ],
)
def test_impossible_settings_are_refused(change, message):
    with pytest.raises(ValidationError, match=message):
        KvcacheSettings(**change)
