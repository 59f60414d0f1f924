"""Test the conversion of result tables to LaTeX."""

import re
from pathlib import Path

import pandas as pd
import pytest

from misspenalty.errors import InputError
from misspenalty_studies.common.reporting.latex import LONGEST, cell, latex_table, write_latex

ROOT = Path(__file__).parents[4]


def body(text):
    """Return the cells of a LaTeX table by row, the header first."""
    head, rows = re.search(
        r"\\endfirsthead\n\\toprule\n(.*?)\n\\midrule\\endhead\n\\bottomrule\\endfoot\n(.*)\\end", text, re.DOTALL
    ).groups()
    return [re.split(r"(?<!\\) & ", row.removesuffix(r" \\")) for row in [head, *rows.splitlines()]]


def test_every_archived_table_has_as_many_cells_as_columns(tmp_path):
    paths = sorted((ROOT / "results").glob("*/*.csv"))
    written = write_latex(paths, tmp_path / "latex")
    assert len(written) > 60
    for name in written:
        text = (tmp_path / "latex" / f"{name}.tex").read_text()
        columns = len(re.search(r"\\begin\{longtable\}\{([lr]+)\}", text)[1])
        assert {len(row) for row in body(text)} == {columns}, name
        assert not re.search(r"(?<!\\)[%#$](?!\\)(?!\w+\$)", re.sub(r"\$\\[lg]e\$", "", text)), name
    document = (tmp_path / "latex" / "tables.tex").read_text()
    assert document.count(r"\input{") == len(written) and document.count("too long to print") == len(paths) - len(
        written
    )


def test_values_are_those_of_the_table(tmp_path):
    rows = body(latex_table(ROOT / "results" / "mq" / "table4.csv", "mq-table4"))
    table = pd.read_csv(ROOT / "results" / "mq" / "table4.csv")
    place = list(table.columns).index("hit_ratio_pct")
    assert [float(row[place]) for row in rows[1:]] == pytest.approx(table["hit_ratio_pct"].tolist(), rel=1e-5)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("0.123456789", "0.123457"), ("12345678", "12345678"), ("", "--"), ("a_b & 50 %", r"a\_b \& 50 \%"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"), ("<= 3", r"\textless{}= 3"), ("1e-9", "1e-09"), ("nan", "nan"),
    ],
)  # fmt: skip
def test_cells(text, made):
    assert cell(text) == made


def test_long_tables_are_named_and_missing_ones_refused(tmp_path):
    (tmp_path / "mq").mkdir()
    path = tmp_path / "mq" / "long.csv"
    path.write_text("a\n" + "1\n" * (LONGEST + 1))
    assert write_latex([path], tmp_path / "latex") == []
    assert f"has {LONGEST + 1} rows" in (tmp_path / "latex" / "tables.tex").read_text()
    with pytest.raises(InputError, match="make reproduce"):
        write_latex([tmp_path / "mq" / "none.csv"], tmp_path / "other")
    assert not (tmp_path / "other").exists()
