"""Test the reasons why entries are not reproduced, on four hand-made entries and on the archived tables."""

from pathlib import Path

import pandas as pd
import pytest
import yaml
from pydantic import ValidationError

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.conditions import MISSED
from misspenalty_studies.common.claims.reasons import Reason, load_reasons, reasons_table, tables_of, why_missed
from misspenalty_studies.common.study import studies

ROOT = Path(__file__).parents[4]
LISTS = sorted(
    study.folder / "reasons.yaml" for study in studies().values() if (study.folder / "reasons.yaml").is_file()
)
CLAIMS = pd.DataFrame(
    {
        "id": ["mq.a", "mq.b", "mq.c", "mq.d"],
        "study": "mq",
        "role": "claim",
        "form": "number",
        "verdict": ["not_reproduced", "direction", "not_reproduced", "reproduced"],
        "obtained": ["4.5", "a 1.5 <= b 2", "7", "8"],
        "low": "",
        "high": "",
        "seeds": "1",
    }
)
CELL = {"table": "mq/t", "column": "x", "where": {"k": 1}}


def reason(kind="measured", text="at most {most}", **cell):
    return Reason(claims=("mq.c",), kind=kind, reason=text, values={"most": CELL | cell})


def found(reasons=(), tables=None, tried=()):
    rows = pd.DataFrame(tried, columns=["claim", "condition", "value", "verdict"])
    return why_missed(CLAIMS, rows, list(reasons), tables or {}).set_index("id")


def test_a_reason_that_was_read_does_not_change():
    given = reason()
    with pytest.raises(ValidationError, match="frozen"):
        given.reason = "at least {most}"
    with pytest.raises(ValidationError, match="frozen"):
        given.values["most"].take = "max"


def test_a_condition_that_reproduces_an_entry_is_its_reason_whatever_else_is_known():
    tried = [
        ("mq.c", "one", "7", "not_reproduced"),
        ("mq.c", "two", "5", "reproduced"),
        ("mq.c", "3", "5", "reproduced"),
    ]
    row = found([reason("unknown")], {"mq/t": pd.DataFrame({"k": [1], "x": [2.0]})}, tried).loc["mq.c"]
    assert (row.reason, row.explanation, row.conditions, row.reproducing) == ("condition", "two", 2, 2)


def test_only_conditions_that_change_the_value_are_counted():
    tried = [
        ("mq.a", "same", "4.50034", "not_reproduced"),
        ("mq.a", "other", "4.65", "not_reproduced"),
        ("mq.b", "same", "a 1.49999 <= b 2.00012", "direction"),
        ("mq.b", "other order", "b 1.49999 <= a 2", "direction"),
    ]
    table = found(tried=tried)
    assert table["conditions"].to_dict() == {"mq.a": 1, "mq.b": 1, "mq.c": 0}
    assert set(table["reason"]) == {"unknown"} and "mq.d" not in table.index
    assert table.loc["mq.c", "explanation"] == "no condition that was run changes it"


@pytest.mark.parametrize(
    "changed, obtained, value",
    [
        (False, {"obtained": "7"}, "7.0004"),
        (True, {"obtained": "7"}, "7.4"),  # it would be written as 7.4
        (False, {"obtained": "12, 120345"}, "12, 120345"),
        (True, {"obtained": "12, 120345"}, "12, 120346"),
        (True, {"obtained": "0"}, "0.04"),
        (False, {"obtained": "1.17", "low": "0.9", "high": "1.44"}, "1.16709"),
        (True, {"obtained": "2.5", "low": "2.37", "high": "2.64"}, "2.54"),  # it would be written as 2.54
        (False, {"obtained": "a: 2.5, b: 7", "low": "a: 2.37, b: 6", "high": "a: 2.63, b: 8"}, "a: 2.504, b: 7.4"),
        (False, {"obtained": "a 6.1 <= b 346", "form": "comparison", "seeds": "20"}, "a 6.1 <= b 345.8"),
        (True, {"obtained": "a 6.1 <= b 346", "form": "comparison"}, "a 6.1 <= b 345.8"),
    ],
)
def test_a_value_is_unchanged_if_it_rounds_to_the_obtained_one(changed, obtained, value):
    tried = pd.DataFrame([("mq.a", "c", value, "direction")], columns=["claim", "condition", "value", "verdict"])
    assert why_missed(CLAIMS[:1].assign(**obtained), tried, [], {})["conditions"].item() == changed


def test_a_measured_reason_has_its_numbers_from_a_table():
    table = pd.DataFrame({"k": [1, 1, 2], "x": [28.6789, 3.0, 99.0]})
    row = found([reason(take="max")], {"mq/t": table}).loc["mq.c"]
    assert (row.reason, row.explanation) == ("measured", "at most 28.7")


def test_a_number_that_a_run_did_not_make_leaves_the_reason_unknown():
    row = found([reason(take="max")], {"mq/t": pd.DataFrame({"k": [2], "x": [1.0]})}).loc["mq.c"]
    assert row.reason == "unknown" and row.explanation.startswith("this run has no x of mq/t.csv")


@pytest.mark.parametrize(
    "reasons, message",
    [
        ([Reason(claims=("mq.z",), kind="unknown", reason="unknown")], "reasons.yaml names mq.z, which no ledger has"),
        ([reason(), reason("unknown")], "reasons.yaml names mq.c twice"),
        ([reason()], "2 values of x in mq/t.csv match .*; a reason needs one"),
        ([reason(column="y")], "column y of mq/t.csv"),
    ],
)
def test_reasons_without_an_entry_or_number_are_refused(reasons, message):
    with pytest.raises(InputError, match=message):
        found(reasons, {"mq/t": pd.DataFrame({"k": [1, 1], "x": [1.0, 2.0]})})


def test_a_list_of_the_wrong_form_is_refused(tmp_path):
    (tmp_path / "reasons.yaml").write_text("- {claims: [a], kind: guessed, reason: x}\n")
    with pytest.raises(
        InputError, match=r"reasons\.yaml: entry\.1\.kind: Input should be 'measured'.*README.md explains"
    ):
        load_reasons([tmp_path / "reasons.yaml"])
    for text, told in (("at least {least}", r"has \{least\}, but"), ("at most {}", r"has \{\}, but"), ("{", ".*'{'")):
        entry = {"claims": ["a"], "kind": "unknown", "reason": text, "values": {"most": CELL}}
        (tmp_path / "reasons.yaml").write_text(yaml.safe_dump([entry]))
        with pytest.raises(InputError, match=rf"reasons\.yaml: entry\.1[:.].*{told}"):
            load_reasons([tmp_path / "reasons.yaml"])
    for text in ("", "claims: [a]\n"):
        (tmp_path / "reasons.yaml").write_text(text)
        with pytest.raises(InputError, match=r"reasons\.yaml: contains no list of entries; .*README.md explains"):
            load_reasons([tmp_path / "reasons.yaml"])


def test_every_archived_entry_that_is_not_reproduced_has_a_reason_or_is_said_to_be_unknown():
    conditions = sorted((ROOT / "results").glob("*/conditions.csv"))
    tables = [ROOT / "results" / name for name in tables_of(LISTS)]
    made = reasons_table(ROOT / "results/claims.csv", conditions, LISTS, tables, results=ROOT / "results")
    archived = pd.read_csv(ROOT / "results/reasons.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(made, archived, check_dtype=False)
    claims = pd.read_csv(ROOT / "results/claims.csv", dtype=str)
    assert set(archived["id"]) == set(claims.loc[claims["verdict"].isin(MISSED), "id"])
    unnamed = archived[archived["explanation"].isin(["no condition that was run changes it"])]
    assert unnamed.empty, "neither varied nor explained: name them in studies/<study>/reasons.yaml"
    assert not archived["explanation"].str.startswith("this run has no").any()
