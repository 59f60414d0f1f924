"""Test the traces, tables and figures of the delayed-hits study."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import misspenalty
from misspenalty.errors import InputError
from misspenalty.latency.steps import POLICIES
from misspenalty_studies.common.claims.ledger import load_ledger
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.delayed_hits import claims, figures, runs, tables
from misspenalty_studies.delayed_hits.workloads import bursts, read_steps

DATA = Path(__file__).parents[3] / "data/raw/delayed_hits"


@pytest.fixture(scope="module")
def steps():
    return runs.step_runs(DATA / "sample.csv")


def test_the_traces_are_those_of_the_published_runs():
    """The published sizes are shares of the maximum number of objects active at once, which must be 242 and 65."""
    assert runs.most_active(read_steps(DATA / "sample.csv")) == 242
    assert runs.most_active(bursts()) == 65


@pytest.mark.parametrize("name", [str(2**63), "9" * 20, "9" * 5000])
def test_an_object_beyond_64_bits_is_refused(tmp_path, name):
    (path := tmp_path / "steps.csv").write_text(f"0;7\n\n2;{2**63 - 1}\n")
    assert read_steps(path).tolist() == [7, -1, 2**63 - 1]
    path.write_text(f"0;7\n1;{name}\n")
    with pytest.raises(InputError, match=r"steps\.csv, line 2: object [0-9]{19,80} is out of range; expected a number"):
        read_steps(path)


@pytest.mark.parametrize("line", ["2", ";", "2;x", "2;-4", "2,4", "1;4", "5;4"])
def test_a_wrong_line_is_refused(tmp_path, line):
    """Each line must have the number of its step: a gap would shorten the time between two requests."""
    (path := tmp_path / "steps.csv").write_text(f"0;7\n\n{line}\n")
    with pytest.raises(InputError, match=rf"steps\.csv, line 3: '{line}'; expected 2;object"):
        read_steps(path)


def test_step_runs_equal_the_authors_runs(steps):
    assert len(steps) == 3 * 4 * 5 * len(POLICIES)
    table = tables.authors_program(steps, pd.read_csv(DATA / "authors_runs.csv"))
    assert len(table) == 359
    assert table.loc[table["policy"].isin(["lru", "arc", "opt"]), "equal"].all()
    assert (table["difference_pct"].abs() < 0.5).all()


def test_gains(steps):
    table = tables.gains(steps)
    best = table.groupby("policy")["gain_pct"].max()
    assert best.round(1).to_dict() == {"arc": 9.2, "lru": 17.3, "opt": 8.0}
    row = table.query("policy == 'lru' and trace == 'sample' and cache_entries == 12 and fetch_steps == 20").iloc[0]
    assert row["total_latency"] == 71355
    assert row["gain_pct"] == 100 * (1 - row["total_latency_mad"] / 71355)
    axes = figures.gains(table).axes
    ticks = [label.get_text() for axis in axes for label in axis.get_xticklabels()]
    assert len(axes) == table.groupby(["trace", "policy"]).ngroups == 9 and {"1", "10", "100"} <= set(ticks)


def test_claims(steps):
    """All claims that a table decides must hold, except the one about a maximum that was found on other traces.

    The authors' counts are read from the ledger, not typed here.
    """
    ledger = load_ledger(DATA.parents[2], "delayed_hits")
    verdicts = judge(ledger, {"delayed_hits": claims}, {"delayed_hits_runs": steps}).set_index("id")["verdict"]
    undecided = {"delayed_hits.abstract.offline", "delayed_hits.abstract.cdn"}
    assert set(verdicts.index[verdicts == "not_testable"]) == undecided
    assert verdicts["delayed_hits.abstract.online"] == "direction"
    assert (verdicts.drop([*undecided, "delayed_hits.abstract.online"]) == "reproduced").all(), verdicts
    wrong = steps.assign(total_latency=steps["total_latency"] + 700)
    verdicts = judge(ledger, {"delayed_hits": claims}, {"delayed_hits_runs": wrong}).set_index("id")["verdict"]
    assert verdicts["delayed_hits.simulator.sample_lru_12_z20"] != "reproduced"
    assert verdicts["delayed_hits.definition.misses"] != "reproduced"


def times():
    """Return times of two policies on two devices: `a` has more hits, but `b` is faster on the second device."""
    rows = [("a", 0.6, "1ms", 400.0, 1000.0), ("b", 0.5, "1ms", 500.0, 1000.0)]
    rows += [("a", 0.6, "d", 440.0, 900.0), ("b", 0.5, "d", 400.0, 800.0)]
    frame = pd.DataFrame(rows, columns=["policy", "hit_ratio", "device", "mean_us", "p99_us"])
    return frame.assign(trace="t", cache_pct=5, cache_blocks=10, load="open")


def test_winners_and_disagreement():
    table = tables.winners(times())
    assert table["best_hit_ratio"].tolist() == ["a", "a"]
    assert table["best_mean"].tolist() == ["a", "b"]
    assert table["mean_differs"].tolist() == table["p99_differs"].tolist() == [False, True]
    assert table["slower_pct"].tolist() == pytest.approx([0, 10])
    share = tables.disagreement(table).set_index(["grouped_by", "group"])
    assert share.loc[("all", "all"), "mean_differs_pct"] == 50
    assert share.loc[("device", "d"), "slower_max_pct"] == pytest.approx(10)
    assert figures.disagreement(table).axes


def test_a_tie_is_not_a_disagreement():
    """If two policies tie for the most hits and one of them is the fastest, the winners must not count as different."""
    tied = times().assign(hit_ratio=0.5)
    assert not tables.winners(tied)["mean_differs"].any()


def test_response_times(tmp_path):
    """A small capture must run with every policy on every device, and its first part must be usable as a separate
    trace."""
    random = np.random.default_rng(2)
    lines = [f"0,{8 * block},4096,R,{i / 1000:.3f}" for i, block in enumerate(random.integers(0, 300, 2000))]
    path = tmp_path / "x.spc"
    path.write_text("\n".join(lines) + "\n")
    part = runs.head(misspenalty.open_trace(path), 500)
    assert len(part) == 500 and part.blocks == int(part.ids.max()) + 1
    table = runs.response_times({"x": path}, references=1000, sizes_pct=(10,), spc1_bsus=(2,))
    assert len(table) == 2 * len(runs.ONLINE) * len(runs.DEVICES)
    assert (table["requests"] > 0).all()
    assert set(table["load"]) == {"open", "closed"}
    assert len(tables.winners(table)) == 2 * len(runs.DEVICES)
