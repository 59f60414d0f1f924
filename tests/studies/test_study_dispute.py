"""The dispute study on a small table of results made by hand."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty.claims import judge, load_ledger
from misspenalty.errors import InputError
from misspenalty.studies.dispute import claims, figures, packing, published, runs, tables

ROOT = Path(__file__).parents[2]


def results(fifo, **others):
    """Packed results of one trace per value, at every size."""
    rows = []
    for number, size in product(range(len(fifo)), map(float, packing.RATIOS)):
        row = {"dataset": "MSR", "trace": f"t{number}", "requests": 10**6, "size_ratio": size}
        row |= {"cache_objects": int(size * 10**7), "FIFO": fifo[number] * (1 - size)}
        row |= {name: others.get(name, fifo)[number] * (1 - size) for name in packing.ALGORITHMS[1:]}
        rows.append(row)
    return pd.DataFrame(rows)


def test_a_loss_is_divided_by_the_policys_own_misses(tmp_path):
    results([0.4, 0.4], S3FIFO=[0.3, 0.5]).to_csv(tmp_path / "r.csv", index=False)
    made = published.aggregate(tmp_path / "r.csv", resamples=50, seed=1)["reductions"]
    row = made[(made["policy"] == "s3fifo") & (made["size_ratio"] == 0.1) & (made["selection"] == "authors")].iloc[0]
    assert row["mean"] == pytest.approx((25 - 20) / 2)
    assert row["unbounded_mean"] == pytest.approx(0)
    assert row["worse_than_fifo_pct"] == 50
    assert len(figures.means(published.aggregate(tmp_path / "r.csv", resamples=50, seed=1)["reductions"]).axes) == 2
    assert -20 <= row["low"] <= row["mean"] <= row["high"] <= 25


def test_intervals_are_those_of_the_policy_next_to_them(tmp_path):
    results([0.4, 0.4], S3FIFO=[0.3, 0.3], ARC=[0.2, 0.2], LRB=[0.1, 0.1]).to_csv(tmp_path / "r.csv", index=False)
    made = published.aggregate(tmp_path / "r.csv", resamples=20, seed=1)
    table = made["datasets"]
    assert np.allclose(table["low"], table["mean"]) and np.allclose(table["high"], table["mean"])  # equal traces
    ranks = table[(table["selection"] == "authors") & (table["size_ratio"] == 0.1)].set_index("policy")
    assert ranks.loc[["arc", "s3fifo"], "rank"].tolist() == [1, 2]
    assert ranks.loc[["lrb", "arc", "s3fifo"], "rank_of_all"].tolist() == [1, 2, 3]
    chosen = made["reductions"][made["reductions"]["selection"] == "authors"]
    assert np.allclose(chosen["low"], chosen["mean"]) and np.allclose(chosen["high"], chosen["mean"])


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


def test_every_policy_is_replayed_at_every_size_and_none_beats_opt(replays):
    assert not replays.duplicated(["policy", "cache_blocks"]).any()
    wide = replays.pivot(index="cache_blocks", columns="policy", values="misses")
    assert set(wide.columns) == set(runs.POLICIES)
    assert (wide.min(axis=1) == wide["opt"]).all()


def test_cells_and_kinds_agree_with_the_replays(replays):
    again = pd.concat([replays, replays.assign(trace="b")])
    kinds = tables.kinds(again, 20, 1)
    assert set(kinds["kind"]) == {tables.EVERY_TRACE, "block"}
    assert np.allclose(kinds["low"], kinds["high"])  # both traces are the same
    one = tables.cells(replays).iloc[0]
    at = replays[replays["size_ratio"] == one["size_ratio"]].set_index("policy")["misses"]
    assert one["sieve_below_lru_pct"] == pytest.approx(100 * (1 - at["sieve"] / at["lru"]))


def test_without_tables_no_claim_is_decided():
    ledger = [claim for claim in load_ledger(ROOT / "data/published/claims.yaml") if claim.study == "dispute"]
    assert set(judge(ledger, {"dispute": claims}, {})["verdict"]) == {"not_testable"}
