"""Test that logged values are shown next to a verdict and do not affect it."""

from ledgers import LEDGER

from misspenalty_studies.common.claims.remarks import read_logged
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.common.judge import STUDIES

MQ = [claim for claim in LEDGER if claim.study == "mq"]


def test_logged_values_become_notes(tmp_path):
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("id,note,unit\nmq.results.miss_dominates,obtained: most of it,%\n")
    two.write_text("note,id\nobtained: 3,mq.other\n")
    notes = read_logged([one, two])
    assert notes == {"mq.results.miss_dominates": "obtained: most of it", "mq.other": "obtained: 3"}
    del notes["mq.other"]
    row = judge(MQ, {"mq": STUDIES["mq"]}, {}, notes=notes).set_index("id").loc["mq.results.miss_dominates"]
    assert row["verdict"] == "not_testable" and "obtained: most of it" in row["note"]
    assert read_logged([]) == {}
