"""Test reading the site's inputs: each kind of damage is refused with the file's name and a remedy."""

import json
from pathlib import Path

import pytest

from misspenalty.errors import InputError
from misspenalty_studies.common.plan import paths_of
from misspenalty_studies.common.site import inputs
from misspenalty_studies.common.site.links import dead_links

ROOT = Path(__file__).parents[4]
FIGURE = {
    "function": "misspenalty_studies.vlog.figures.fig9", "inputs": {"table": "results/vlog/fig9.csv"},
    "item": "Figure 9", "options": {}, "output": "results/vlog/fig9", "shows": "latency", "study": "vlog",
}  # fmt: skip
INDEX = {
    "titles": {"vlog": "Virtual log"},
    "reproduced": ["tables"],
    "made": {"results/vlog/fig9.csv": {"function": None, "inputs": ["data/a.yaml"], "rule": "tables"}},
    "figures": [FIGURE],
}
MADE = INDEX["made"]["results/vlog/fig9.csv"]
ROW = dict.fromkeys(inputs.COLUMNS, "x") | {"id": "vlog.fig9.a", "study": "vlog", "verdict": "tie"}


def table(*rows):
    return "\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n"


def test_the_index_is_returned_as_it_is_written(tmp_path):
    path = tmp_path / "index.json"
    path.write_text(json.dumps(INDEX))
    assert inputs.read_index(path) == INDEX


def test_the_archived_index_is_read_and_names_files_of_this_checkout():
    index = inputs.read_index(ROOT / "results" / "index.json")
    assert len(index["figures"]) > 20
    named = {path for figure in index["figures"] for path in paths_of(figure["inputs"])}
    published = {path for path in named if path.startswith("studies/")}
    assert published and [path for path in published if not (ROOT / path).is_file()] == []


@pytest.mark.parametrize(
    "changed",
    [
        [],
        {"titles": {}},
        {"titles": {"../x": "a"}},
        {"titles": {"vlog": 1}},
        {"made": {"results/../../etc/passwd": MADE}},
        {"made": {"/etc/passwd": MADE}},
        {"made": {"results/a.csv": {}}},
        {"figures": [FIGURE | {"function": "os.system"}]},
        {"figures": [FIGURE | {"inputs": {"table": "/etc/passwd"}}]},
        {"figures": [FIGURE | {"inputs": {"table": "data/../../x.csv"}}]},
        {"figures": [FIGURE | {"output": "results/../x"}]},
        {"figures": [FIGURE | {"study": "mq"}]},
        {"figures": [{**FIGURE, "more": 1}]},
        {"figures": {}},
        {"more": 1},
    ],
    ids=str,
)
def test_a_damaged_index_is_refused(tmp_path, changed):
    path = tmp_path / "index.json"
    path.write_text(json.dumps({**INDEX, **changed} if isinstance(changed, dict) else changed))
    with pytest.raises(InputError, match=r"index.json: is not the index of the results.*make reproduce"):
        inputs.read_index(path)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff", b"[" * 100_000, b"9" * 5000], ids=lambda content: content[:5])
def test_what_is_not_json_is_refused(tmp_path, content):
    path = tmp_path / "index.json"
    path.write_bytes(content)
    for read in (inputs.read_index, lambda path: inputs.read_readings(path, "vlog"), inputs.title_of):
        with pytest.raises(InputError, match=r"index.json: is not"):
            read(path)


def test_a_table_of_verdicts_is_read_as_text(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text(table(ROW | {"obtained": "1.50"}, ROW | {"id": "vlog.fig9.b", "note": ""}))
    found = inputs.read_claims(path, INDEX["titles"])
    assert found["obtained"].tolist() == ["1.50", "x"] and found["note"].tolist() == ["x", ""]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{name: value for name, value in ROW.items() if name != "verdict"}], "no column verdict"),
        ([ROW, ROW], "'vlog.fig9.a' is not the name of one claim"),
        ([ROW | {"id": "../vlog.x"}], "is not the name"),
        ([ROW | {"note": '"a'}], "unexpected end of data"),
        ([ROW | {"id": "vlog"}], "is not the name"),
        ([ROW | {"study": "mq"}], "belongs to the study 'mq', which has no title"),
        ([ROW | {"verdict": "true"}], "'true' is not a verdict; expected reproduced, tie"),
        ([ROW, {"id": "vlog.b", "study": "vlog"}], "line 3 has 2 fields, but the header has 20"),
        ([ROW, ROW | {"note": "a,b"}], "line 3 has 21 fields"),
        ([ROW | {"note": "a,b"}], "line 2 has 21 fields"),
    ],
)
def test_damaged_verdicts_are_refused(tmp_path, rows, said):
    path = tmp_path / "claims.csv"
    path.write_text(table(*rows))
    with pytest.raises(InputError, match=rf"claims.csv: is not the table of verdicts .*{said}"):
        inputs.read_claims(path, INDEX["titles"])


BASED = {"path": "misspenalty/studies/vlog/claims.py", "line": 3, "rows": {"fig9": [0, 2]}}


def test_readings_name_their_tables_by_path(tmp_path):
    path = tmp_path / "readings.json"
    path.write_text(json.dumps({"vlog.fig9.a": BASED}))
    assert inputs.read_readings(path, "vlog")["vlog.fig9.a"].rows == {"vlog/fig9.csv": [0, 2]}


@pytest.mark.parametrize(
    "changed",
    [{"path": "../x.py"}, {"path": "/etc/a.py"}, {"line": "3"}, {"rows": {"../x": [1]}}, {"rows": {"a": 1}}],
    ids=str,
)
def test_damaged_readings_are_refused(tmp_path, changed):
    path = tmp_path / "readings.json"
    path.write_text(json.dumps({"vlog.fig9.a": BASED | changed}))
    with pytest.raises(InputError, match=r"readings.json: is not a record of what claims are based on.*snakemake"):
        inputs.read_readings(path, "vlog")


def test_rows_and_lines_have_to_exist(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    assert inputs.rows_of(path, [1])[1].to_numpy().tolist() == [["3", "4"]]
    assert inputs.rows_of(path, [0])[1].to_numpy().tolist() == [["1", "2"]]
    assert inputs.rows_of(path, [])[1].empty
    assert inputs.lines_of(path, 1) == ["x,y", "1,2", "3,4"]
    assert inputs.lines_of(path, 3) == ["x,y", "1,2", "3,4"]
    for number in (2, -1):
        with pytest.raises(InputError, match="it has 2 rows"):
            inputs.rows_of(path, [0, number])
    for number in (0, 4):
        with pytest.raises(InputError, match=f"it has 3 lines, but line {number} is named"):
            inputs.lines_of(path, number)


def test_conditions_have_known_verdicts(tmp_path):
    path = tmp_path / "conditions.csv"
    path.write_text("claim,condition,value,verdict\na,x,1,tie\nb,x,1,direction\na,y,2,tie\n")
    assert [row["condition"] for row in inputs.read_conditions(path)["a"]] == ["x", "y"]
    path.write_text("claim,condition,value,verdict\na,x,1,\n")
    with pytest.raises(InputError, match=r"conditions.csv: is not a table of conditions .*'' is not a verdict"):
        inputs.read_conditions(path)


@pytest.mark.parametrize("cells", [[], [{}], [{"source": []}], [{"source": 1}], "", None], ids=str)
def test_a_notebook_begins_with_a_heading(tmp_path, cells):
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [{"source": ["## One\n", "two"]}]}))
    assert inputs.title_of(path) == "One"
    path.write_text(json.dumps({"cells": cells}))
    with pytest.raises(InputError, match=r"a.ipynb: is not a notebook"):
        inputs.title_of(path)


@pytest.mark.parametrize("link", ["http://[", "a" * 300, "%00", "no.html", "#no", "../outside.html", "/etc/passwd"])
def test_a_link_that_is_not_an_address_or_leaves_the_site_is_dead(tmp_path, link):
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "outside.html").touch()
    page = '<p id="top"><a href="{}">a</a> <a href="#top">b</a>'
    page += ' <a href="//a.org">c</a> <a href="data:,d">d</a></p>'
    (site / "index.html").write_text(page.format(link))
    assert dead_links(site) == [("index.html", link)]
