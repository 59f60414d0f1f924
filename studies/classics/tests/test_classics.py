"""Test the classics study on small generated traces, and on the authors' traces if they are available."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty import Trace, simulate
from misspenalty.policies.arc import ARC
from misspenalty.policies.registry import find_policy
from misspenalty.traces import open_trace
from misspenalty_studies.classics import claims, conditions, figures, runs, settings, tables
from misspenalty_studies.classics.lirs2 import LIRS2
from misspenalty_studies.classics.settings import FILES, TRACES, Replays, Row

ROOT = Path(__file__).parents[3]
SMALL = Replays(cache_blocks=(4, 8), rows=("lru", "2q"), more_sizes=(6,), fixed_split=(8,), program=True)
ROWS = {"lru": Row("lru"), "2q": Row("2q", grid={"kin": (0.25, 0.5), "kout": (0.5, 1)})}
PUBLISHED = pd.read_csv(ROOT / "studies/classics/published/hit_ratios.csv")
PROGRAM = pd.read_csv(ROOT / "studies/classics/published/program.csv")


@pytest.fixture(scope="module")
def replays():
    addresses = np.random.default_rng(0).zipf(1.3, 3000) % 40
    return runs.replay_trace("cpp", Trace.from_blocks(addresses), SMALL, ROWS, [0, 0.5, 1], threads=2)


def test_every_combination_is_replayed_once(replays):
    as_program = dict.fromkeys(tables.AS_PROGRAM, 2)
    assert replays.groupby("policy").size().to_dict() == {"lru": 3, "2q": 8, "frc": 3} | as_program
    assert not replays.duplicated(["cache_blocks", "policy", "parameters"]).any()
    assert set(replays["references"]) == {3000}


def test_rows_equal_single_replays(replays):
    trace = Trace.from_blocks(np.random.default_rng(0).zipf(1.3, 3000) % 40)
    row = replays[
        (replays["policy"] == "2q") & (replays["parameters"] == "kin=0.5 kout=1") & (replays["cache_blocks"] == 8)
    ]
    assert row["misses"].item() == simulate(trace, "2q", 8, kin=0.5, kout=1).misses


def test_the_best_of_a_grid_is_chosen_by_our_results_alone(replays):
    best = tables.hit_ratios(replays)
    tried = replays[(replays["policy"] == "2q") & (replays["cache_blocks"] == 4)]
    chosen = best[(best["policy"] == "2q") & (best["cache_blocks"] == 4)]
    assert chosen["misses"].item() == tried["misses"].min()
    assert chosen["combinations"].item() == 4
    assert chosen["parameters"].item() in set(tried["parameters"])


def test_conditions_take_the_place_of_what_they_change(tmp_path):
    rows = [
        ("OLTP", 10, "mq", "", 60),
        ("OLTP", 10, "mq_history_0", "history=0", 71),
        ("OLTP", 10, "mq_history_1", "history=1", 70),
        ("OLTP", 10, "mq_fixed", "history=1 life_time=500", 72),
        ("OLTP", 10, "lru2_history_0", "history=0 correlated_period=50", 58),
        ("OLTP", 10, "lru2", "correlated_period=0", 55),
        ("OLTP", 10, "lru2", "correlated_period=50", 50),
        ("OLTP", 10, "lrfu", "lam=1e-07 correlated_period=0", 42),
        ("OLTP", 10, "lrfu", "lam=1e-07 correlated_period=0.5", 41),
        ("P6", 10, "frc", "target=0", 30),
        ("P6", 10, "frc", "target=0.05", 40),
        ("cs", 10, "lirs", "", 20),
        ("cs", 10, "lirs_program", "hir_blocks=2", 22),
        ("cs", 10, "arc", "", 25),
        ("cs", 10, "arc_program", "", 27),
    ]
    replays = pd.DataFrame(rows, columns=["trace", "cache_blocks", "policy", "parameters", "misses"])
    replays = replays.assign(references=100, hit_ratio_pct=100.0 - replays["misses"])
    published = pd.DataFrame({"trace": ["cs"], "cache_blocks": [10], "policy": ["lirs"], "misses": [22]})
    replays.to_csv(tmp_path / "replays.csv", index=False)
    published.to_csv(tmp_path / "published.csv", index=False)
    made = conditions.under_conditions(tmp_path / "replays.csv", tmp_path / "published.csv")
    best = made["hit_ratios"].pivot(index="policy", columns="condition", values="misses")
    base = tables.hit_ratios(replays).set_index("policy")["misses"].reindex(best.index)
    changed = {words: best.index[best[words] != base].tolist() for words in best}
    first, second = conditions.UNTUNED
    expected = {words: [policy] for words, (policy, _) in conditions.IN_PLACE.items()}
    assert changed == expected | {first: ["lru2"], second: ["lrfu"], conditions.FIXED: ["frc"]}
    mq = {words: best.loc["mq", words] for words, (policy, _) in conditions.IN_PLACE.items() if policy == "mq"}
    assert list(mq.values()) == [71, 70, 72]
    as_program = next(words for words, (policy, _) in conditions.IN_PLACE.items() if policy == "lirs")
    own = made["program"].query("reading == 'own'").set_index("condition")["misses"]
    assert own[as_program] == 22 and own[conditions.FIXED] == 20


def test_published_values_are_matched_by_trace_size_and_policy():
    ours = pd.DataFrame(
        {"trace": "OLTP", "cache_blocks": [1000, 1000], "policy": ["arc", "lfu_history"], "hit_ratio_pct": [39.0, 30.0],
         "parameters": ""}
    )  # fmt: skip
    table = tables.comparison(ours, PUBLISHED)
    assert table[["policy", "published_pct"]].values.tolist() == [["arc", 38.93], ["lfu_history", 27.98]]
    assert table["difference_points"].tolist() == pytest.approx([0.07, 2.02])


def test_immediate_repeats_are_left_out():
    trace = Trace.from_blocks([5, 5, 7, 5, 5, 5, 9])
    assert trace.address[runs.without_repeats(trace).ids].tolist() == [5, 7, 5, 9]


def test_the_programs_arc_loses_its_target_at_a_hit_in_b2():
    ours, theirs = ARC(4), runs.ProgramARC(4)
    for cache in (ours, theirs):
        cache.p = 3.0
        cache._adapt(1.75)
    assert (ours.p, theirs.p) == (4.0, 4.0)
    for cache in (ours, theirs):
        cache._adapt(-1)
    assert (ours.p, theirs.p) == (3.0, 0.0)
    theirs._adapt(1.75)
    assert theirs.p == 1.0


def test_lirs2_keeps_what_was_used_three_times_in_a_short_time():
    """Blocks 1 and 2 of six enter `stay`, and the other four enter the queue. The second use of block 3 does not move
    it to `stay`, because that takes two reuse distances. At its third use, it replaces block 1, whose second-to-last
    use is the oldest; block 1 moves to the queue."""
    cache = LIRS2(6)
    assert not any(cache.access(block) for block in (1, 2, 3, 4, 5, 6))
    assert cache.access(3) and cache.stay == {1, 2}
    assert cache.access(3) and cache.stay == {2, 3}
    assert list(cache.queue) == [4, 5, 6, 1]
    assert not cache.access(7) and list(cache.queue) == [5, 6, 1, 7]


def test_lirs2_never_holds_more_than_the_cache_or_a_stack_beyond_its_limit():
    cache = LIRS2(20)
    blocks = np.random.default_rng(3).zipf(1.2, 5000) % 300
    assert len(set(blocks.tolist())) > 20
    for block in blocks:
        cache.access(int(block))
        assert len(cache.stay) + len(cache.queue) <= 20 and not cache.stay & set(cache.queue)
        assert len(cache.stack) <= 8 * 20


@pytest.mark.parametrize("label", sorted({label for replays in TRACES.values() for label in replays.rows}))
def test_every_row_of_a_trace_has_a_policy_that_takes_its_parameters(label):
    row = settings.ROWS[label]
    combined = [dict(zip(row.grid, values, strict=True)) for values in itertools.product(*row.grid.values())]
    policy = find_policy(row.policy)
    assert [policy.check(row.parameters | values) for values in combined]


@pytest.mark.parametrize("name", claims.PROGRAM)
def test_policies_equal_the_authors_program(shared_traces, name):
    trace = open_trace(shared_traces / FILES[name])
    replays = replace(TRACES[name], rows=("lru", "opt"))
    table = tables.program(tables.hit_ratios(runs.replay_trace(name, trace, replays)), PROGRAM)
    assert set(zip(table["policy"], table["reading"], strict=True)) == {
        ("lru", "own"),
        ("opt", "own"),
        ("lirs", "program"),
        ("lirs2", "program"),
        ("arc", "program"),
    }
    assert len(table) == 5 * len(replays.cache_blocks)
    assert (table["difference"] == 0).all()


@pytest.mark.parametrize("draw", [figures.oltp, figures.looping])
def test_figures_mark_published_values(draw):
    table = pd.read_csv(ROOT / "results/classics/hit_ratios.csv")
    figure = draw(table, PUBLISHED)
    ticks = [label.get_text() for axes in figure.axes for label in axes.get_xticklabels()]
    assert not any("$" in tick for tick in ticks), "numbers are in full, because exponents are too small to read"
    marks = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "_"]
    shown = sorted(value for line in marks for value in line.get_ydata())
    expected = (
        PUBLISHED[PUBLISHED["source"] == "ARC Table 1"]
        if draw is figures.oltp
        else PUBLISHED[PUBLISHED["trace"] == "gli"]
    )
    assert shown == sorted(expected["hit_ratio_pct"])


def test_program_figure_has_a_mark_per_size():
    table = pd.read_csv(ROOT / "results/classics/program.csv")
    (axes,) = figures.program(table).axes
    assert sum(len(line.get_ydata()) for line in axes.lines) == len(table)
