"""Read and check the data dictionary, which describes every column of the result tables.

A study declares its tables in ``tables.yaml`` next to its code; ``studies/common/tables.yaml`` declares the tables of
claims and the tables that several studies have. A table is checked against its declaration when it is written, and
``results/README.md`` is made from the declarations.

A column is declared as ``name: [kind, unit, meaning]``. A column `<column>_ci95` needs no entry of its own: it is half
the width of the 95 % confidence interval of `<column>`.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from misspenalty.errors import InputError
from misspenalty.io.documents import read_yaml
from misspenalty_studies.common.statistics import HALF_WIDTH
from misspenalty_studies.common.validated import validated

STUDIES = Path(__file__).parents[2]
KINDS = {
    "text": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "True or False",
    "any": "a number or text",
}
COMMON = ("conditions", "logged")  # tables that every study may have
VARIANT = "_calibrated"
NOT_TABLES = ("traces", "bench", "conformance")  # folders of results/ that hold no tables of a study


@dataclass(frozen=True)
class Column:
    """A column of a result table: its kind (one of `KINDS`), its unit (empty for none) and its meaning."""

    kind: str
    unit: str
    meaning: str

    def accepts(self, values):
        """Tell whether all values of a Series are of this kind; missing values are accepted.

        >>> Column("integer", "", "").accepts(pd.Series([1.0, None]))
        True
        >>> Column("text", "", "").accepts(pd.Series([1, 2]))
        False
        """
        values = values.astype(object).where(values.notna(), "")
        values = values[values.map(lambda value: not (isinstance(value, str) and value == ""))].infer_objects()
        truths = values.map(lambda value: isinstance(value, bool) or str(value) in ("True", "False"))
        if self.kind in ("any", "boolean") or not len(values):
            return self.kind != "boolean" or bool(truths.all())
        numbers = pd.to_numeric(values, errors="coerce").where(~truths)
        if self.kind == "text":
            return not pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
        return bool(numbers.notna().all()) and (self.kind == "number" or bool((numbers % 1 == 0).all()))


@dataclass(frozen=True)
class Table:
    """A result table: what it holds, and its columns by name, in order."""

    holds: str
    columns: dict


Name = Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
Meaning = Annotated[str, Field(min_length=3, pattern="^[^|]*[^|.]$")]
Described = dict[Name, tuple[Literal[tuple(KINDS)], str, Meaning]]


class DeclaredTable(BaseModel):
    """An entry of ``tables``: what the table holds, its columns in order, and its own column descriptions."""

    model_config = ConfigDict(extra="forbid")

    holds: str = Field(min_length=3, pattern="[^.]$")
    columns: list[str] = Field(min_length=1)
    own: Described = {}


class Declarations(BaseModel):
    """The content of a ``tables.yaml``: columns that mean the same in every table that has them, and the tables."""

    model_config = ConfigDict(extra="forbid")

    columns: Described
    tables: dict[Name, DeclaredTable]


def declaring():
    """Return the studies that declare tables, preceded by an empty name for the tables that the studies share."""
    return ["", *sorted({path.parent.name for path in STUDIES.glob("*/tables.yaml")} - {"common"})]


def _declarations(study):
    """Return the path of a study's table declarations or, with an empty name, of the shared declarations."""
    return STUDIES / (study or "common") / "tables.yaml"


@functools.cache
def load(study):
    """Return the declared tables of a study.

    Parameters
    ----------
    study : str
        Name of a study, or an empty string for the tables in ``results/`` itself.

    Returns
    -------
    dict of str to Table
        By name of the file without its suffix.

    Raises
    ------
    InputError
        The study declares no tables, the file does not match its schema, or a column is not described.
    """
    common = _read(_declarations(""))
    if not study:
        return {name: table for name, table in common.items() if name not in COMMON}
    return _read(_declarations(study)) | {name: common[name] for name in COMMON}


def _read(path):
    remedy = "docs/how-to/table-figure-claim.md shows how a table is declared"
    declared = validated(Declarations, read_yaml(path), path, remedy)
    known = {name: Column(*entry) for name, entry in declared.columns.items()}
    found = {}
    for name, table in declared.tables.items():
        if len(set(table.columns)) < len(table.columns):
            raise InputError(f"tables.{name}: a column is named twice", path=path, remedy=remedy)
        own = {column: Column(*entry) for column, entry in table.own.items()}
        columns = {column: _column(column, known | own, f"tables.{name}", path) for column in table.columns}
        found[name] = Table(table.holds, columns)
    return found


def _column(name, known, place, path):
    base = name.removesuffix(HALF_WIDTH)
    if name not in known and base != name and base in known:
        return Column("number", known[base].unit, f"half the width of the 95 % confidence interval of `{base}`")
    if name not in known:
        raise InputError(
            f"{place}: the column {name!r} is not described", path=path, remedy="add it under `columns` or `own`"
        )
    return known[name]


def declared(path):
    """Return the declaration of a result table by its path; None for the path of any other file.

    Raises
    ------
    InputError
        The study in the path does not declare the table, or its declarations are invalid, see `load`.

    Examples
    --------
    >>> list(declared("results/mq/table4.csv").columns)[:3]
    ['cache_mb', 'policy', 'hit_ratio_pct']
    >>> declared("results/mq/runs/fit.csv") is None
    True
    """
    path = Path(path)
    *_, above, folder, _ = ("", "", *path.parts)
    if path.suffix != ".csv" or "results" not in (above, folder) or folder in NOT_TABLES:
        return None
    study = "" if folder == "results" else folder
    tables = load(study)
    item = path.stem.removesuffix(VARIANT)
    if item not in tables:
        raise InputError(
            f"the table {item} is not declared",
            path=path,
            expected=", ".join(sorted(tables)),
            remedy=f"declare it in studies/{study or 'common'}/tables.yaml",
        )
    return tables[item]


def check(table, path):
    """Check a table against the declaration of the file that it is written to.

    Parameters
    ----------
    table : DataFrame
    path : path-like
        Only files ``results/<study>/<item>.csv`` and ``results/<item>.csv`` are checked.

    Raises
    ------
    InputError
        The table is not declared, lacks a declared column, has an undeclared one, or holds a value of another kind.

    Examples
    --------
    >>> tried = pd.DataFrame({"cpu_us": [0], "ratio": [1.05], "target": [1.08]})
    >>> check(tried, "results/mq/fig7_objective.csv")
    >>> try:
    ...     check(tried[["cpu_us", "ratio"]], "results/mq/fig7_objective.csv")
    ... except InputError as error:
    ...     print(error.what)
    lacks the column 'target'; expected cpu_us, ratio, target
    """
    expected = declared(path)
    if expected is None:
        return
    remedy = "declare the columns that the table has in the study's tables.yaml"
    names = ", ".join(expected.columns)
    for name in expected.columns:
        if name not in table:
            raise InputError(f"lacks the column {name!r}", path=path, expected=names, remedy=remedy)
    for name in table:
        if name not in expected.columns:
            raise InputError(f"has the undeclared column {name!r}", path=path, expected=names, remedy=remedy)
    for name, column in expected.columns.items():
        if not column.accepts(table[name]):
            shown = next((value for value in table[name] if not column.accepts(pd.Series([value]))), None)
            raise InputError(
                f"the column {name!r} holds {shown!r}", path=path, expected=KINDS[column.kind], remedy=remedy
            )


def dictionary_text(results="results"):
    """Return the data dictionary as a Markdown page: every declared table of a folder, in the order of the
    declarations.

    Parameters
    ----------
    results : path-like
        Folder of the result tables; declared tables that are not in it are left out.

    Returns
    -------
    str
    """
    lines = [HEAD]
    for study in declaring():
        sections = [
            section
            for item, table in load(study).items()
            for suffix in ("", VARIANT)
            if (Path(results) / study / f"{item}{suffix}.csv").is_file()
            for section in ("", *_section(study, item, suffix, table))
        ]
        lines += ["", f"## {study or 'Claims'}", *sections] if sections else []
    return "\n".join(lines) + "\n"


HEAD = """\
# The result tables

<!-- Made by workflow/scripts/refresh_readme.py from studies/*/tables.yaml: change the text there. -->

Each table is a CSV file with one header line; `<study>/<item>.csv` is a table of the study. An empty cell has no value.
Numbers have at most ten significant digits. KB, MB and GB are powers of 1,024 bytes unless the meaning says otherwise.

All confidence intervals are at 95 %. `<column>_ci95` is half the width of the interval of a mean over seeds or runs
(Student's t): the interval is `<column>` ± `<column>_ci95`. Where the interval is over traces or data sets,
`ci95_low` and `ci95_high` are its ends.

A file whose name ends in `_calibrated` belongs to a calibrated variant: Multi-Queue behind its calibrated first
level, or HAC with the other database and the fitted size of its server's cache.

Kinds: `integer` is a whole number, `boolean` is True or False, `any` is a number or text. Tables are checked against
these declarations when they are written."""


def _section(study, item, suffix, table):
    name = f"{study}/{item}".removeprefix("/")
    lines = [f"### `{name}{suffix}.csv`", ""]
    if suffix:
        return [*lines, f"`{name}.csv` in the calibrated variant; the same columns."]
    rows = [f"| `{column}` | {one.kind} | {one.unit} | {one.meaning} |" for column, one in table.columns.items()]
    head = ["| column | kind | unit | meaning |", "| --- | --- | --- | --- |"]
    return [*lines, f"{table.holds[0].upper()}{table.holds[1:]}.", "", *head, *rows]
