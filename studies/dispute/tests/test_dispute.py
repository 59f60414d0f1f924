"""Test the dispute study on a small table of made-up results and on replays of one capture."""

from itertools import combinations, product
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

from misspenalty.errors import InputError
from misspenalty.plotting import style
from misspenalty_studies.common.claims.ledger import load_ledger
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.dispute import claims, conditions, figures, packing, published, runs, tables

ROOT = Path(__file__).parents[3]


def results(fifo, **others):
    """Return packed results at every size, with one trace for each value in `fifo`."""
    rows = []
    for number, size in product(range(len(fifo)), map(float, packing.RATIOS)):
        row = {"dataset": "MSR", "trace": f"t{number}", "requests": 10**6, "size_ratio": size}
        row |= {"cache_objects": int(size * 10**7), "FIFO": fifo[number] * (1 - size)}
        row |= {name: others.get(name, fifo)[number] * (1 - size) for name in list(published.POLICIES)[1:]}
        rows.append(row)
    return pd.DataFrame(rows)


def test_a_loss_is_divided_by_the_policys_own_misses(tmp_path):
    results([0.4] * 10, S3FIFO=[0.3, 0.5] * 5).to_csv(tmp_path / "r.csv", index=False)
    made = published.aggregate(tmp_path / "r.csv")["reductions"]
    row = made[(made["policy"] == "s3fifo") & (made["size_ratio"] == 0.1) & (made["selection"] == "authors")].iloc[0]
    assert row["mean"] == pytest.approx((25 - 20) / 2)
    assert row["unbounded_mean"] == pytest.approx(0)
    assert row["worse_than_fifo_pct"] == 50 and made["worse_than_fifo_pct"].dtype == float  # not rounded
    stated = pd.read_csv(ROOT / "studies/dispute/published/stated.csv")
    assert len(figures.means(made, stated).axes) == 2
    assert -20 <= row["ci95_low"] <= row["mean"] <= row["ci95_high"] <= 25


def test_intervals_are_those_of_the_policy_next_to_them(tmp_path):
    results([0.4] * 5, S3FIFO=[0.3] * 5, ARC=[0.2] * 5, LRB=[0.1] * 5).to_csv(tmp_path / "r.csv", index=False)
    made = published.aggregate(tmp_path / "r.csv")
    table = made["datasets"]
    assert np.allclose(table["ci95_low"], table["mean"]) and np.allclose(
        table["ci95_high"], table["mean"]
    )  # equal traces
    ranks = table[(table["selection"] == "authors") & (table["size_ratio"] == 0.1)].set_index("policy")
    assert ranks.loc[["arc", "s3fifo"], "rank"].tolist() == [1, 2]
    assert ranks.loc[["lrb", "arc", "s3fifo"], "rank_of_all"].tolist() == [1, 2, 3]
    chosen = made["reductions"][made["reductions"]["selection"] == "authors"]
    assert np.allclose(chosen["ci95_low"], chosen["mean"]) and np.allclose(chosen["ci95_high"], chosen["mean"])


def coverage(low, high):
    """Return the share of the intervals that contain 0."""
    return ((low <= 0) & (high >= 0)).mean()


@pytest.mark.parametrize("number", [5, 10, 20])
def test_intervals_over_few_traces_hold_the_mean_in_95_percent_of_the_cases(number):
    values = pd.DataFrame(np.random.default_rng(1).normal(size=(number, 4000)))
    assert 0.94 < coverage(*published.over_traces(values)) < 0.96


@pytest.mark.parametrize("rows", [[5] * 14, [120, 40, 20, 8, 6, 3, 1, 1, 1, 1, 1, 1, 1, 1]])
def test_intervals_over_data_sets_of_any_size_hold_the_mean(rows):
    """The largest data set of the second case has 59 % of the rows, as in the authors' selection."""
    means = np.random.default_rng(1).normal(size=(len(rows), 4000))
    dataset = np.repeat(np.arange(len(rows)), rows)
    found = coverage(*published.over_datasets(pd.DataFrame(means[dataset]), pd.Series(dataset)))
    assert 0.94 < found < (0.96 if len(set(rows)) == 1 else 0.99)


def test_fewer_than_five_values_have_no_interval():
    values = pd.DataFrame({"five": [1.0, 2, 3, 4, 6], "four": [1.0, 2, 3, 4, np.nan]})
    for low, high in (published.over_traces(values), published.over_datasets(values, pd.Series(list("abcde")))):
        assert low["five"] < 3.2 < high["five"]
        assert np.isnan([low["four"], high["four"]]).all()


def test_each_rule_of_the_selection_leaves_out_what_it_names(tmp_path):
    table = results([0.4, 0.5, 0.6])
    flat = table["trace"].eq("t1") & table["size_ratio"].isin([0.1, 0.2])
    table.loc[flat, "FIFO"] = 0.3
    table = table[~(table["trace"].eq("t2") & table["size_ratio"].eq(0.001))]
    table.to_csv(tmp_path / "r.csv", index=False)
    left = published.steps(published.read(tmp_path / "r.csv"), 0.1, published.FIGURE_6)
    assert [len(rows) for rows in left.values()] == [3, 2, 1, 1, 1, 1, 1]


def test_results_are_packed_as_printed(tmp_path):
    (tmp_path / "MSR").mkdir()
    line = "x {} cache size {:8d}, 500 req, miss ratio {}, byte miss ratio 0.1000\n"
    text = line.format("FIFO", 20, "0.5000") + line.format("FIFO", 40, "0.2500") + line.format("LRU", 40, "0.2000")
    (tmp_path / "MSR" / "a.txt").write_text(text)
    packing.pack(tmp_path, tmp_path / "out.csv")
    table = pd.read_csv(tmp_path / "out.csv")
    assert table[["size_ratio", "FIFO"]].to_numpy().tolist() == [[0.4, 0.5], [0.8, 0.25]]
    assert table["LRU"].dropna().tolist() == [0.2]


def test_a_file_without_fifo_is_refused(tmp_path):
    (tmp_path / "MSR").mkdir()
    (tmp_path / "MSR" / "a.txt").write_text("nothing\n")
    with pytest.raises(InputError, match="0 cache sizes"):
        packing.pack(tmp_path, tmp_path / "out.csv")


@pytest.fixture
def replays():
    capture = ROOT / "data/raw/builds/andrew.parquet"
    what = {"a": {"kind": "block"}}
    return runs.replay_file(capture, "a", what, [0.01, 0.1], threads=1)


def test_a_cache_of_a_share_of_the_blocks_is_rounded_down_exactly(tmp_path):
    (path := tmp_path / "n.trace").write_text("".join(f"{block}\n" for block in range(100)))
    made = runs.replay_file(path, "n", {"n": {"kind": "block", "format": "lirs"}}, [0.29, 0.581], threads=1)
    assert made["cache_blocks"].unique().tolist() == [29, 58]


def test_every_policy_is_replayed_at_every_size_and_none_beats_opt(replays):
    assert not replays.duplicated(["policy", "cache_blocks"]).any()
    wide = replays.pivot(index="cache_blocks", columns="policy", values="misses")
    assert set(wide.columns) == set(runs.POLICIES)
    assert (wide.min(axis=1) == wide["opt"]).all()


def test_cells_and_kinds_agree_with_the_replays(replays):
    again = pd.concat([replays.assign(trace=name) for name in "abcde"])
    kinds = tables.replayed_reductions(again)
    assert set(kinds["kind"]) == {tables.EVERY_TRACE, "block"}
    alone = tables.replayed_reductions(replays)
    assert alone.empty and list(alone) == list(kinds), "sizes of only one trace are left out"
    assert np.allclose(kinds["ci95_low"], kinds["ci95_high"])  # all traces are the same
    one = tables.trace_comparisons(replays).iloc[0]
    at = replays[replays["size_ratio"] == one["size_ratio"]].set_index("policy")["misses"]
    assert one["sieve_below_lru_pct"] == pytest.approx(100 * (1 - at["sieve"] / at["lru"]))


def test_without_tables_no_claim_is_decided():
    ledger = load_ledger(ROOT, "dispute")
    assert set(judge(ledger, {"dispute": claims}, {})["verdict"]) == {"not_testable"}


@pytest.fixture
def aggregated(tmp_path):
    table = pd.concat(
        [
            results([0.4, 0.5, 0.6], S3FIFO=[0.3, 0.4, 0.5], ARC=[0.35, 0.45, 0.55]).assign(dataset=name)
            for name in ("MSR", "Wiki")
        ]
    )
    table.to_csv(tmp_path / "r.csv", index=False)
    return published.aggregate(tmp_path / "r.csv")


def test_tables_made_from_the_published_results_are_listed_for_the_workflow(aggregated):
    assert tuple(aggregated) == published.AGGREGATED


def test_conditions_put_other_values_where_the_claims_read(aggregated, replays, tmp_path):
    counts = pd.DataFrame({"trace": "a", "cache_blocks": replays["cache_blocks"].min(), "policy": ["slru", "lru"],
                           "misses": 1, "definition": "unique"})  # fmt: skip
    made = aggregated | {
        "replayed_reductions": tables.replayed_reductions(pd.concat([replays, replays.assign(trace="b")])),
        "program": tables.program(replays, counts),
    }
    assert made["program"].value_counts(["policy", "reading"]).to_dict() == {
        ("lru", "own"): 1,
        ("slru", "own"): 1,
        ("slru", "program"): 1,
    }
    names = ("reductions", "datasets", "selection", "replayed_reductions", "program", "examples")
    for name in names:
        made[name].to_csv(tmp_path / f"{name}.csv", index=False)
    under = conditions.conditions(*(tmp_path / f"{name}.csv" for name in names))
    assert all(set(under[name].columns) == {*made[name].columns, "condition"} for name in names)
    keys = {"selection": "authors", "size_ratio": 0.1, "policy": "s3fifo"}
    base = made["reductions"].set_index(list(keys)).loc[tuple(keys.values())]
    rows = under["reductions"].set_index(["condition", *keys])
    assert rows.loc[(conditions.MEDIANS, *keys.values()), "mean"] == base["median"]
    assert not np.isnan(base["behind_ci95_low"])
    assert np.isnan(rows.loc[(conditions.MEDIANS, *keys.values()), "behind_ci95_low"])
    other = made["reductions"].set_index(list(keys)).loc[("authors", 0.4, "s3fifo")]
    for size in (0.1, 0.001):
        found = rows.loc[(conditions.OTHER_SIZES[0.4], "authors", size, "s3fifo"), "mean"]
        assert found == pytest.approx(other["mean"])
    web = made["reductions"].set_index(list(keys)).loc[("sieve", 0.1, "arc")]
    assert rows.loc[(conditions.OF_TRACES, "sieve", 0.1, "arc"), "mean_of_datasets"] == pytest.approx(web["mean"])
    judged = under["program"].set_index("policy")["misses"]
    by_program = made["program"].set_index(["policy", "reading"])["misses"]
    assert judged.to_dict() == {"slru": by_program["slru", "program"], "lru": by_program["lru", "own"]}
    ranks = under["datasets"][under["datasets"]["condition"] == conditions.MEDIANS]
    first = ranks[(ranks["rank"] == 1) & (ranks["selection"] == "authors")]
    assert set(first["policy"]) == {"s3fifo"}


def test_figures_have_the_published_values_as_marks(aggregated, replays):
    stated = pd.read_csv(ROOT / "studies/dispute/published/stated.csv")
    reductions = aggregated["reductions"]
    left, right = figures.worse(reductions, stated).axes
    marks = [
        line.get_xdata().tolist() for axis in (left, right) for line in axis.lines if line.get_label() == "published"
    ]
    assert marks == [[20], [50]]
    assert len(figures.datasets(aggregated["datasets"]).axes) == 2
    cells = tables.trace_comparisons(pd.concat([replays, replays.assign(trace="b")]))
    left, right = figures.sieve(reductions, cells, stated).axes
    found = {line.get_label(): line.get_ydata().tolist() for line in left.lines}
    assert found["published"] == [0, 1, 2, 3, 4] and found["mean over traces"] == [0, 1, 2, 3, 4]
    assert [label.get_text() for label in right.get_yticklabels()] == ["a", "b"]
    six = pd.concat(cells.head(2).assign(size_ratio=tenths / 10) for tenths in range(1, 7))
    legend = figures.sieve(reductions, six, stated).axes[1].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [f"{tenths}0 %" for tenths in range(1, 7)]


def test_no_mark_of_a_legend_is_inside_the_axes():
    archived = {name: pd.read_csv(ROOT / f"results/dispute/{name}.csv") for name in ("reductions", "trace_comparisons")}
    stated = pd.read_csv(ROOT / "studies/dispute/published/stated.csv")
    for figure in (
        figures.worse(archived["reductions"], stated),
        figures.sieve(archived["reductions"], archived["trace_comparisons"], stated),
    ):
        with matplotlib.rc_context(style.STYLE):
            figure.draw_without_rendering()
        legends = [*figure.legends, *filter(None, (axis.get_legend() for axis in figure.axes))]
        assert legends
        extents = [legend.get_window_extent() for legend in legends]
        assert not any(one.overlaps(axis.get_window_extent()) for one in extents for axis in figure.axes)
        assert not any(one.overlaps(other) for one, other in combinations(extents, 2))


@pytest.mark.parametrize("item", ["reductions", "datasets"])
def test_archived_intervals_hold_the_means(item):
    table = pd.read_csv(ROOT / f"results/dispute/{item}.csv").dropna(subset=["ci95_low", "ci95_high"])
    inside = (table["ci95_low"] <= table["mean"] + 1e-9) & (table["mean"] <= table["ci95_high"] + 1e-9)
    assert inside.all()
