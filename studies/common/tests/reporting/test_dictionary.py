"""Test the data dictionary: every archived table matches its declaration, and a result table that does not match its
declaration is not written."""

import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml
from misspenalty_studies.common.reporting import dictionary
from misspenalty_studies.common.reporting.jobs import write_table

ROOT = Path(__file__).parents[4]
TRACKED = subprocess.run(
    ["git", "ls-files", "results"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.splitlines()
TABLES = [path for path in TRACKED if path.endswith(".csv") and Path(path).parent.name not in dictionary.NOT_TABLES]
STUDIES = dictionary.declaring()
GOOD = pd.DataFrame({"cpu_us": [0, 5000], "ratio": [1.05, 1.04], "target": [1.08, 1.08]})
PATH = "results/mq/fig7_objective.csv"


def test_the_page_matches_the_declarations():
    made = dictionary.dictionary_text(ROOT / "results")
    assert (ROOT / "results/README.md").read_text(encoding="utf-8") == made, "run workflow/scripts/refresh_readme.py"


def test_the_page_describes_every_archived_table():
    described = set(re.findall(r"^### `(.+)`$", (ROOT / "results/README.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert described == {path.removeprefix("results/") for path in TABLES} and len(described) > 100


@pytest.mark.parametrize("path", TABLES)
def test_an_archived_table_is_as_declared(path):
    table = pd.read_csv(ROOT / path, low_memory=False)
    dictionary.check(table, path)
    assert list(table.columns) == list(dictionary.declared(path).columns)


@pytest.mark.parametrize("study", STUDIES)
def test_every_declared_table_and_column_is_used(study):
    archived = {Path(path).stem for path in TABLES if Path(path).parent == Path("results") / study}
    assert set(dictionary.load(study)) - set(dictionary.COMMON) <= archived
    document = read_yaml(dictionary._declarations(study))
    tables = document["tables"].values()
    used = {name for table in tables for name in table["columns"] if name not in table.get("own", {})}
    bases = {name.removesuffix(dictionary.HALF_WIDTH) for name in used}
    assert set(document["columns"]) <= used | bases
    assert all(set(table.get("own", {})) <= set(table["columns"]) for table in tables)


def test_intervals_have_one_name_and_one_level():
    """Names of half widths must end in _ci95, and names of the ends of other intervals in ci95_low or ci95_high;
    no other column may be an interval."""
    assert len(STUDIES) > 5
    for study in STUDIES:
        assert dictionary.load(study)
        for item, table in dictionary.load(study).items():
            for name, column in table.columns.items():
                marked = "ci95" in name
                assert marked == ("confidence interval" in column.meaning or "95 %" in column.meaning), (item, name)
                assert not re.search(r"_(half|ci|ci90|err|std)(_|$)", name), (item, name)
                base = name.removesuffix("_ci95")
                assert base in table.columns or name.endswith(("ci95_low", "ci95_high")), (item, name)


def test_a_half_width_has_the_unit_of_its_column():
    column = dictionary.declared("results/hac/fig9.csv").columns["us_ci95"]
    assert (column.kind, column.unit) == ("number", "us")
    assert column.meaning == "half the width of the 95 % confidence interval of `us`"


@pytest.mark.parametrize(
    ("table", "path", "message"),
    [
        (GOOD.drop(columns="ratio"), PATH, r"fig7_objective\.csv: lacks the column 'ratio'.*expected cpu_us, ratio"),
        (GOOD.assign(extra=1), PATH, "undeclared column 'extra'"),
        (GOOD.assign(ratio=["1.0", "fast"]), PATH, "'ratio' holds 'fast'.*a number"),
        (GOOD.assign(ratio=[True, False]), PATH, "'ratio' holds True.*a number"),
        (GOOD, "results/mq/objective.csv", "objective is not declared.*fig7_objective.*studies/mq/tables"),
        (GOOD, "results/nobody/fig1.csv", r"nobody/tables\.yaml: no such file"),
        (pd.DataFrame({"id": ["a"], "note": [1.5]}), "results/mq/logged_calibrated.csv", "'note' holds 1.5.*text"),
        (pd.DataFrame({"id": ["a"], "said": ["b"]}), "results/hac/logged.csv", "lacks the column 'note'"),
    ],
)
def test_a_table_that_is_not_as_declared_is_not_written(table, path, message, tmp_path):
    out = tmp_path / path
    out.parent.mkdir(parents=True)
    with pytest.raises(InputError, match=re.compile(message, re.DOTALL)):
        write_table(table, out)
    assert list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    "path", [PATH, "results/mq/fig7_objective_calibrated.csv", "results/mq/runs/any.csv", "any.csv"]
)
def test_a_table_as_declared_and_any_other_file_is_written(path, tmp_path):
    out = tmp_path / path
    out.parent.mkdir(parents=True, exist_ok=True)
    write_table(GOOD.astype({"target": object}), out)
    assert pd.read_csv(out).equals(GOOD)


@pytest.mark.parametrize(
    ("kind", "values", "accepted"),
    [
        ("integer", [1, 2], True),
        ("integer", [1.0, None], True),
        ("integer", pd.array([1, None], "Int64"), True),
        ("integer", [1.5], False),
        ("integer", ["1", "2"], True),
        ("number", [1, float("nan")], True),
        ("number", [float("inf")], True),
        ("number", ["x"], False),
        ("number", [None, None], True),
        ("boolean", [True, None], True),
        ("boolean", ["True", "", "False"], True),
        ("boolean", [0, 1], False),
        ("text", ["a", None], True),
        ("text", ["a", 1], True),
        ("text", [1, 2], False),
        ("text", [True], False),
        ("any", ["a", 1, True], True),
    ],
)
def test_kinds(kind, values, accepted):
    assert dictionary.Column(kind, "", "").accepts(pd.Series(values)) == accepted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("columns: {}\ntables: {t: {holds: things, columns: [x]}}", r"tables\.t: the column 'x' is not described"),
        ("columns: {x: [real, '', a thing]}\ntables: {}", r"columns\.x\.0: Input should be 'text'"),
        ("columns: {x: [text, '', a | b]}\ntables: {}", r"columns\.x\.2: String should match"),
        ("columns: {}\ntables: {t: {holds: things, columns: [x, x]}}", r"tables\.t: a column is named twice"),
    ],
)
def test_wrong_declarations_are_refused(text, message, tmp_path):
    (tmp_path / "tables.yaml").write_text(text)
    with pytest.raises(InputError, match=message):
        dictionary._read(tmp_path / "tables.yaml")
