"""Test the rows and the line of code that decide each claim, in a made-up study and on the archived tables of MQ."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.site.readings import readings, write_readings

SOURCE = """
from misspenalty_studies.common.claims.tables import Table

TABLES = {"ratios": Table(("policy",), ("ratio",), ({"policy": "lru"}, {"policy": "mq"}, {"policy": "opt"}))}


def claims(record, tables):
    ratio = tables["ratios"].ratio
    record.value("made.lru", ratio.loc["lru"])
    record.value("made.gain", ratio.loc["mq"] / ratio.loc["lru"])
    record.no_table("made.setup")
"""


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make a `claims` module in a package folder of its own."""
    path = tmp_path / "misspenalty" / "made_claims.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    module = ModuleType("made_claims")
    module.__file__ = str(path)
    exec(compile(SOURCE, str(path), "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "made_claims", module)
    return module


def test_a_claim_reads_the_rows_without_which_it_is_undecided(made):
    found = readings(made, {"ratios": pd.DataFrame({"policy": ["opt", "mq", "lru"], "ratio": [3.0, 2.0, 1.0]})})
    assert found["made.lru"].rows == {"ratios": [2]}
    assert found["made.gain"].rows == {"ratios": [1, 2]}
    assert found["made.setup"].rows == {}


def test_the_line_is_the_one_that_records_the_claim(made):
    found = readings(made, {"ratios": pd.DataFrame({"policy": ["opt", "mq", "lru"], "ratio": [3.0, 2.0, 1.0]})})
    lines = SOURCE.splitlines()
    for claim in ("made.lru", "made.gain", "made.setup"):
        assert f'"{claim}"' in lines[found[claim].line - 1]
        assert found[claim].path == made.__file__


def test_a_missing_table_yields_lines_without_rows(made):
    found = readings(made, {})
    assert found and not any(one.rows for one in found.values())


def test_readings_of_an_archived_study_name_its_rows_and_lines(tmp_path):
    results = Path(__file__).parents[4] / "results" / "mq"
    tables = {item: str(results / f"{item}.csv") for item in STUDIES["mq"].TABLES}
    write_readings("mq", tables, tmp_path / "readings.json", threads=2)
    found = json.loads((tmp_path / "readings.json").read_text())
    table4 = pd.read_csv(tables["table4"])
    for size in (128, 256, 512):
        (row,) = found[f"mq.table4.lru.{size}"]["rows"]["table4"]
        assert tuple(table4.loc[row, ["cache_mb", "policy"]]) == (size, "lru")
        assert len(found[f"mq.table4.order.{size}"]["rows"]["table4"]) == 2
