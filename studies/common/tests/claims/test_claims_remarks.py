"""Test logged values: they are shown next to a verdict and never part of it."""

from pathlib import Path

from misspenalty_studies.common.claims import read_logged
from misspenalty_studies.common.judge import write_claims

ROOT = Path(__file__).parents[4]


def test_logged_values_become_notes(tmp_path):
    (tmp_path / "mq").mkdir()
    logged = tmp_path / "mq" / "logged.csv"
    logged.write_text("id,note\nmq.results.miss_dominates,obtained: most of it\n")
    row = write_claims(tmp_path, root=ROOT).set_index("id").loc["mq.results.miss_dominates"]
    assert row["verdict"] == "not_testable" and "obtained: most of it" in row["note"]
    assert read_logged([]) == {}
