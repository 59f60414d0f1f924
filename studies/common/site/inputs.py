"""Read and check the site's inputs: the index of the results, verdicts, readings, tables, questions, notebooks.

Every fault raises an `InputError` that names the file, and no site is made.
"""

import contextlib
import csv
import json
import re
from collections import Counter
from typing import Annotated, Any

import pandas as pd
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, TypeAdapter, ValidationError

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.report import COLUMNS
from misspenalty_studies.common.site.readings import Reading

REMADE = "make the results again with `make reproduce`"
RESTORED = "restore it with `git checkout`"
VERDICTS = {
    "reproduced": "reproduced",
    "tie": "tie or within noise",
    "direction": "right direction",
    "not_reproduced": "not reproduced",
    "not_testable": "not testable",
}
FAULTS = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, csv.Error)
CLAIM = re.compile(r"\w[\w+-]*(\.[\w+-]+)+")
RESULT = re.compile(r"results(/[\w+-][\w.+-]*)+")
SOURCE = re.compile(r"(results|data|studies)(/[\w+-][\w.+-]*)+")
QUESTION = re.compile(r"^\*Question\.\*\s+(.*?)\n\s*\n", re.MULTILINE | re.DOTALL)
CITED = re.compile(r"\s@([\w-]+)")


def _path(form):
    def check(path):
        if not form.fullmatch(path):
            raise ValueError(f"{path!r:.80} is not the path of a result, of data or of a study")
        return path

    return Annotated[str, AfterValidator(check)]


Name = Annotated[str, StringConstraints(pattern=r"^\w+$")]
Function = Annotated[str, StringConstraints(pattern=r"^misspenalty(_studies)?(\.\w+)+$")]
Source = _path(SOURCE)


class Made(BaseModel):
    """How a file was made."""

    model_config = ConfigDict(strict=True, extra="forbid")
    function: str | None
    inputs: list[str]
    rule: str


class Figure(BaseModel):
    """A figure, and the call that draws it."""

    model_config = ConfigDict(strict=True, extra="forbid")
    function: Function
    inputs: dict[str, Source | list[Source] | dict[str, Source]]
    item: str
    options: dict[str, Any]
    output: _path(RESULT)
    shows: str
    study: Name


class Index(BaseModel):
    """The index of the results."""

    model_config = ConfigDict(strict=True, extra="forbid")
    titles: dict[Name, str]
    made: dict[_path(RESULT), Made]
    figures: list[Figure]
    reproduced: list[str]


@contextlib.contextmanager
def called(path, what, remedy=REMADE):
    """Replace an error that a file or its content causes by an `InputError` that names the file and a remedy.

    Parameters
    ----------
    path : path-like
    what, remedy : str
        The message: ``PATH: is not WHAT (the error); REMEDY``.
    """
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy=remedy) from error
    except ValidationError as error:
        worst = error.errors()[0]
        said = f"{'.'.join(map(str, worst['loc'])):.80}: {worst['msg']}"
        raise InputError(f"is not {what} ({said})", path=path, remedy=remedy) from error
    except FAULTS as error:
        raise InputError(f"is not {what} ({type(error).__name__}: {error!s:.120})", path=path, remedy=remedy) from error


def read_index(path):
    """Return the index of the results, which `Index` describes, as a dict."""
    with called(path, "the index of the results"):
        index = Index.model_validate(json.loads(path.read_text(encoding="utf-8")))
        if strange := [one.output for one in index.figures if one.study not in index.titles]:
            raise ValueError(f"figure {strange[0]} belongs to a study that has no title")
        return index.model_dump()


def read_table(path, columns, what):
    """Read a table as text, and check that it has at least these columns."""
    with called(path, what):
        with open(path, newline="", encoding="utf-8") as stream:
            reader = csv.reader(stream, strict=True)
            header = next(reader, [])
            rows = [_as_long(row, header, reader.line_num) for row in reader if row]
        if missing := [name for name in columns if name not in header]:
            raise ValueError(f"no column {missing[0]}")
        return pd.DataFrame(rows, columns=header, dtype=str)


def _as_long(row, header, line):
    if len(row) != len(header):
        raise ValueError(f"line {line} has {len(row)} fields, but the header has {len(header)}")
    return row


def read_claims(path, titles):
    """Read the table of verdicts, and check that the studies of all claims have titles."""
    frame = read_table(path, COLUMNS, "the table of verdicts")
    with called(path, "the table of verdicts"):
        count = Counter(frame["id"])
        for row in frame.to_dict("records"):
            if not CLAIM.fullmatch(row["id"]) or count[row["id"]] > 1:
                raise ValueError(f"{row['id']!r:.80} is not the name of one claim")
            if row["study"] not in titles:
                raise ValueError(f"claim {row['id']} belongs to the study {row['study']!r:.80}, which has no title")
            _check_verdict(row)
    return frame


def _check_verdict(row):
    if row["verdict"] not in VERDICTS:
        raise ValueError(f"{row['verdict']!r:.80} is not a verdict; expected {', '.join(VERDICTS)}")


def read_readings(path, study):
    """Return the code and the rows that each claim of a study is based on; rows are listed under their table's path."""
    with called(path, "a record of what claims are based on", "make it with `.venv/bin/snakemake -c all readings`"):
        found = TypeAdapter(dict[str, Reading]).validate_python(json.loads(path.read_text(encoding="utf-8")))
        for one in found.values():
            one.rows = {f"{study}/{item}.csv": rows for item, rows in one.rows.items()}
        return found


def read_conditions(path):
    """Return the rows of a study's table of conditions by claim."""
    frame = read_table(path, ("claim", "condition", "value", "verdict"), "a table of conditions")
    rows = {claim: tried.to_dict("records") for claim, tried in frame.groupby("claim")}
    with called(path, "a table of conditions"):
        for row in frame.to_dict("records"):
            _check_verdict(row)
    return rows


def rows_of(path, numbers):
    """Return a table as text, and its rows with the given `numbers`."""
    frame = read_table(path, (), "a table")
    with called(path, "the table that a claim reads"):
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(frame):
            raise ValueError(f"it has {len(frame)} rows, but the claim reads row {max(numbers)}")
        return frame, frame.iloc[numbers]


def lines_of(path, line):
    """Return the lines of a source, and check that line number `line` exists."""
    with called(
        path, "the source that decides a claim", "make the readings with `.venv/bin/snakemake -c all readings`"
    ):
        lines = path.read_text(encoding="utf-8").splitlines()
        if not 1 <= line <= len(lines):
            raise ValueError(f"it has {len(lines)} lines, but line {line} is named")
        return lines


def title_of(path):
    """Return the first heading of a notebook."""
    with called(path, "a notebook that begins with a heading", RESTORED):
        source = json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"]
        return "".join(source).lstrip("# ").splitlines()[0]


def read_question(path):
    """Return the question of the study whose section is in a file; see `question_of`."""
    with called(path, "a section that begins with its question", RESTORED):
        return question_of(path.read_text(encoding="utf-8"))


def question_of(section):
    """Return the first paragraph of a section in two parts: the sentences before the question, and the rest.

    Examples
    --------
    >>> question_of("*Question.* SARC @sarc moves a border. Is it faster?\\n\\n*What was rebuilt.* It.\\n")
    ('SARC moves a border.', 'Is it faster?')
    """
    text = " ".join(QUESTION.search(section)[1].split())
    sentences = re.split(r"(?<=[.?])\s+(?=[A-Z])", CITED.sub("", text))
    first = next((place for place, sentence in enumerate(sentences) if sentence.endswith("?")), 0)
    return " ".join(sentences[:first]), " ".join(sentences[first:])
