"""Suspected reasons and logged values: shown next to a verdict, never part of it."""

from pathlib import Path

import pandas as pd
import pytest

from misspenalty import InputError
from misspenalty.claims import judge, load_ledger, load_reasons, read_logged, with_reasons
from misspenalty.studies.claims import STUDIES, write_claims

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "data/published/claims.yaml"


@pytest.fixture(scope="module")
def ledger():
    return load_ledger(LEDGER)


def reasons_file(folder, text):
    (folder / "suspected_reasons.yaml").write_text(text)
    schema = (ROOT / "data/suspected_reasons.schema.yaml").read_text()
    (folder / "suspected_reasons.schema.yaml").write_text(schema)
    return folder / "suspected_reasons.yaml"


def results(mq):
    """A Table 4 with the published LRU column and an MQ column of `mq`."""
    rows = [(mb, "lru", ratio) for mb, ratio in ((128, 8.85), (256, 17.66), (512, 31.69))]
    rows += [(mb, "mq", mq) for mb in (128, 256, 512)]
    return {"mq_table4": pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"])}


def test_a_reason_is_given_only_for_a_claim_that_missed(tmp_path, ledger):
    reasons = reasons_file(tmp_path, '- {results: claims, claims: ["mq.table4.*"], reason: because}\n')
    plain = judge(ledger, STUDIES, results(44.34))
    said = with_reasons(plain, load_reasons(reasons, "claims", ledger))
    pd.testing.assert_frame_equal(plain.drop(columns="note"), said.drop(columns="note"))  # nothing else moves
    missed = said["verdict"].isin(["direction", "not_reproduced"])
    in_table4 = said["id"].str.startswith("mq.table4.")
    assert said["note"].str.contains("because").equals(missed & in_table4)
    assert (missed & in_table4).any() and (~missed & in_table4).any()


def test_the_first_reason_that_matches_is_taken_and_only_for_its_results(tmp_path, ledger):
    path = reasons_file(
        tmp_path,
        '- {results: claims_64mb, claims: ["mq.*"], reason: other}\n'
        '- {results: claims, claims: ["mq.table4.mq.128"], reason: first}\n'
        '- {results: claims, claims: ["mq.table4.mq.*"], reason: second}\n',
    )
    reasons = load_reasons(path, "claims", ledger)
    assert reasons["mq.table4.mq.128"] == "first" and reasons["mq.table4.mq.256"] == "second"
    assert "mq.fig7.range" not in reasons


@pytest.mark.parametrize(
    "text, message",
    [
        ('- {results: claims, claims: ["mq.tabel4.*"], reason: x}\n', r"no claim matches 'mq\.tabel4\.\*'"),
        ('- {results: claims, claims: ["mq.*"], raeson: x}\n', "raeson"),
        ("- {results: claims\n", "not YAML"),
    ],
)
def test_reasons_that_do_not_fit_are_refused(tmp_path, ledger, text, message):
    with pytest.raises(InputError, match=message):
        load_reasons(reasons_file(tmp_path, text), "claims", ledger)


def test_the_projects_own_reasons_fit_the_ledger(ledger):
    for name in ("claims", "claims_64mb"):
        assert load_reasons(ROOT / "data/suspected_reasons.yaml", name, ledger)


def test_logged_values_become_notes(tmp_path):
    (tmp_path / "mq").mkdir()
    logged = tmp_path / "mq" / "logged.csv"
    logged.write_text("id,note\nmq.results.miss_dominates,obtained: most of it\n")
    row = write_claims(tmp_path, data=ROOT / "data").set_index("id").loc["mq.results.miss_dominates"]
    assert row["verdict"] == "not_testable" and "obtained: most of it" in row["note"]
    assert read_logged([]) == {}
