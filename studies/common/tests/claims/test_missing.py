"""Test the count of claims per missing fact on five hand-made claims and on the archived conditions."""

from pathlib import Path

import pandas as pd
import pytest

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.missing import NONE, MissingFact, missing_facts, missing_facts_table
from misspenalty_studies.common.study import studies

ROOT = Path(__file__).parents[4]
FACTS = [
    MissingFact(study="mq", fact="first level", kind="stream", conditions=("level of *",)),
    MissingFact(study="mq", fact="writes", kind="definition", conditions=("writes *",)),
    MissingFact(study="mq", fact="our phases", kind="control", conditions=("short phases",)),
    MissingFact(study="mq", fact="our seeds", kind="baseline", conditions=("one seed",)),
]


def claims(**changes):
    ids = ["mq.a", "mq.b", "mq.c", "mq.d", "mq.e"]
    frame = pd.DataFrame({"id": ids, "study": "mq", "role": "claim", "verdict": "not_reproduced"}).set_index("id")
    for (id, column), value in changes.get("cells", {}).items():
        frame.loc[id, column] = value
    return frame.reset_index()


def tried(*rows):
    return pd.DataFrame(rows, columns=["claim", "condition", "verdict"]).assign(value="1")


def count(claims, conditions):
    return {row.fact: (row.alone, row.together) for row in missing_facts(claims, conditions, FACTS).itertuples()}


def test_a_claim_counts_once_per_fact_and_alone_before_together():
    conditions = tried(
        ("mq.a", "level of 8 MB", "reproduced"),  # two sizes of one fact: counted once
        ("mq.a", "level of 9 MB", "reproduced"),
        # One fact alone reproduces mq.a, so this pair of facts does not count.
        ("mq.a", "level of 8 MB; writes bypass", "reproduced"),
        ("mq.b", "level of 8 MB; writes bypass", "reproduced"),
        ("mq.b", "writes bypass", "not_reproduced"),
        ("mq.c", "writes bypass", "direction"),  # only the direction is right: not reproduced
        ("mq.d", "short phases; writes bypass", "reproduced"),  # a control is not a fact, so the writes alone suffice
        ("mq.e", "level of 8 MB", "not_testable"),
    )
    assert count(claims(), conditions) == {"first level": (1, 1), "writes": (1, 1), NONE: (2, 0)}


def test_a_claim_that_the_baseline_reproduces_counts_for_no_fact():
    """Every condition is run with one seed, so a claim that one seed alone reproduces must not be attributed to any
    fact."""
    conditions = tried(
        ("mq.a", "one seed", "reproduced"),
        ("mq.a", "level of 8 MB", "reproduced"),
        ("mq.b", "one seed", "not_reproduced"),
        ("mq.b", "level of 8 MB", "reproduced"),
    )
    assert count(claims(), conditions) == {"first level": (1, 0), "writes": (0, 0), NONE: (4, 0)}


def test_only_missed_claims_count():
    conditions = tried(
        *((f"mq.{name}", "level of 8 MB", "reproduced") for name in "abcde"), ("mq.a", "writes *", "direction")
    )
    cells = {
        ("mq.a", "verdict"): "reproduced",
        ("mq.b", "verdict"): "tie",
        ("mq.c", "verdict"): "direction",
        ("mq.d", "role"): "derived",
    }
    assert count(claims(cells=cells), conditions)["first level"] == (2, 0)  # claims c and e


def test_a_condition_that_no_fact_names_is_a_fact_of_its_own():
    conditions = tried(("mq.a", "level of 8 MB; phase of the moon", "reproduced"), ("mq.b", "new moon", "reproduced"))
    found = count(claims(), conditions)
    assert (found["phase of the moon"], found["new moon"], found["first level"]) == ((0, 1), (1, 0), (0, 1))


def test_a_condition_that_two_facts_name_is_refused():
    twice = [*FACTS, MissingFact(study="mq", fact="again", kind="machine", conditions=("level *",))]
    with pytest.raises(InputError, match="changes first level and again"):
        missing_facts(claims(), tried(("mq.a", "level of 8 MB", "reproduced")), twice)


def test_a_list_of_the_wrong_form_is_refused(tmp_path):
    (tmp_path / "facts.yaml").write_text("- {fact: x, kind: weather, conditions: [a]}\n")
    with pytest.raises(InputError, match=r"facts\.yaml: entry\.1\.kind: Input should be 'stream'.*README.md explains"):
        missing_facts_table(ROOT / "results/claims.csv", [], [tmp_path / "facts.yaml"])
    (tmp_path / "facts.yaml").write_text("- {study: sarc, fact: x, kind: state, conditions: [a]}\n")
    with pytest.raises(InputError, match=r"facts\.yaml: entry\.1\.study: follows from the path of the file"):
        missing_facts_table(ROOT / "results/claims.csv", [], [tmp_path / "facts.yaml"])
    (tmp_path / "facts.yaml").write_text("- a fact\n")
    with pytest.raises(InputError, match=r"facts\.yaml: entry\.1: Input should be a valid dictionary"):
        missing_facts_table(ROOT / "results/claims.csv", [], [tmp_path / "facts.yaml"])


def test_the_archived_table_is_made_from_the_archived_conditions():
    conditions = sorted((ROOT / "results").glob("*/conditions.csv"))
    facts = [study.folder / "missing_facts.yaml" for study in studies().values() if study.judged]
    made = missing_facts_table(ROOT / "results/claims.csv", conditions, facts)
    archived = pd.read_csv(ROOT / "results/missing_facts.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(made, archived)
    assert (made["conditions"] > 0).all(), "the patterns of a fact match no condition"
    assert "unlisted" not in set(made["kind"]), "no missing_facts.yaml names a condition"
    claims = pd.read_csv(ROOT / "results/claims.csv", dtype=str)
    missed = claims[(claims["role"] == "claim") & claims["verdict"].isin(["direction", "not_reproduced"])]
    assert (made["alone"] + made["together"] <= made["study"].map(missed.groupby("study").size())).all()
