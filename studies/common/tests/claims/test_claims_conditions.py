"""Test how claims are judged on tables under other conditions."""

from pathlib import Path

import pandas as pd
import pytest

from misspenalty import InputError
from misspenalty_studies.common.claims.conditions import MISSED, under_conditions
from misspenalty_studies.common.claims.ledger import load_ledger
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.common.judge import STUDIES, write_conditions

ROOT = Path(__file__).parents[4]
# Published hit ratios of LRU and MQ in %, by cache size in MB.
PUBLISHED = {128: (8.85, 19.85), 256: (17.66, 31.42), 512: (31.69, 44.34)}
POINTS = {f"mq.table4.{policy}.{size}" for policy in ("lru", "mq") for size in PUBLISHED}


@pytest.fixture(scope="module")
def ledger():
    return load_ledger(ROOT, "mq")


def table4(lru=1.0, mq=1.0, condition=None):
    """Return Table 4 with the published hit ratios of each policy multiplied by a factor."""
    rows = [(mb, "lru", a * lru) for mb, (a, _) in PUBLISHED.items()]
    rows += [(mb, "mq", b * mq) for mb, (_, b) in PUBLISHED.items()]
    frame = pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"])
    return frame if condition is None else frame.assign(condition=condition)


def verdicts(frame):
    return frame[frame["role"] != "given"].set_index("id")["verdict"].to_dict()


def missed(frame):
    return {id for id, verdict in verdicts(frame).items() if verdict in MISSED}


def test_each_missed_claim_is_judged_under_each_condition_that_decides_it(ledger):
    base = judge(ledger, {"mq": STUDIES["mq"]}, {"mq_table4": table4(lru=0.5)})
    varied = {"table4": pd.concat([table4(0.6, condition="half"), table4(condition="first level of 64 MB")])}
    frame = under_conditions(ledger, "mq", STUDIES["mq"], verdicts(base), varied)
    lost = frame[frame["judged"] == "reproduced"]
    assert "mq.table4.mq.128" not in set(lost["claim"]) and lost["verdict"].isin(MISSED).all()
    frame = frame[frame["judged"] != "reproduced"]
    assert set(frame["claim"]) == missed(base) and POINTS & missed(base) == {f"mq.table4.lru.{mb}" for mb in PUBLISHED}
    assert frame["condition"].tolist() == ["half", "first level of 64 MB"] * frame["claim"].nunique()
    under = frame.set_index(["claim", "condition"])["verdict"]
    assert under["mq.table4.lru.128", "half"] in MISSED
    assert under["mq.table4.lru.128", "first level of 64 MB"] == "reproduced"
    value = frame.set_index(["claim", "condition"])["value"]["mq.table4.lru.128", "first level of 64 MB"]
    assert value == str(PUBLISHED[128][0])


def test_what_a_condition_loses_is_listed(ledger):
    base = judge(ledger, {"mq": STUDIES["mq"]}, {"mq_table4": table4()})
    varied = {"table4": pd.concat([table4(mq=0.5, condition="half"), table4(condition="the same")])}
    frame = under_conditions(ledger, "mq", STUDIES["mq"], verdicts(base), varied)
    points = frame[frame["claim"].isin(POINTS)]
    assert points[["claim", "condition"]].to_numpy().tolist() == [[f"mq.table4.mq.{mb}", "half"] for mb in PUBLISHED]
    assert set(points["judged"]) == {"reproduced"} and points["verdict"].isin(MISSED).all()


def test_a_claim_that_reads_another_table_is_not_judged(ledger):
    every = {claim.id: "direction" for claim in ledger}
    frame = under_conditions(ledger, "mq", STUDIES["mq"], every, {"table4": table4(condition="all as published")})
    assert set(frame["claim"]) >= POINTS and not frame["claim"].str.startswith("mq.fig7.").any()


def test_files_of_a_study_become_its_conditions(tmp_path):
    folder = tmp_path / "mq" / "runs" / "conditions"
    folder.mkdir(parents=True)
    table4(lru=0.5).to_csv(tmp_path / "mq" / "table4.csv", index=False)
    table4(condition="a, with a comma").to_csv(folder / "table4.csv", index=False)
    frame = write_conditions("mq", tmp_path, root=ROOT)
    written = pd.read_csv(tmp_path / "mq" / "conditions.csv", dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(frame, written)
    assert {"mq.table4.lru.512", "mq.table4.ratio.512"} <= set(frame["claim"])  # a claim and a derived entry


@pytest.mark.parametrize(
    "tables, message",
    [
        ({"tabel4": table4(condition="x")}, "tabel4 under conditions: no claim reads it"),
        ({"table4": table4()}, "a row has no value in the column condition"),
        ({"table4": pd.concat([table4(condition="x"), table4()])}, "a row has no value in the column condition"),
    ],
)
def test_tables_that_do_not_fit_are_refused(ledger, tables, message):
    with pytest.raises(InputError, match=message):
        under_conditions(ledger, "mq", STUDIES["mq"], dict.fromkeys(POINTS, "direction"), tables)
