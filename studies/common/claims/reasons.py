"""Explain why entries are not reproduced: only another condition reproduces them, a measurement excludes the published
value, or the cause is unknown."""

import re
import string
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, model_validator

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.conditions import MISSED
from misspenalty_studies.common.claims.missing import REMEDY
from misspenalty_studies.common.claims.numbers import SLACK, last_place, rounded
from misspenalty_studies.common.validated import read_entries

DIGITS = 3  # significant digits of the numbers in an explanation
NUMBER = r"(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"
COLUMNS = ["id", "study", "role", "verdict", "reason", "explanation", "conditions", "reproducing"]


class Cell(BaseModel):
    """A number of a result table that a reason rests on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: str
    column: str
    where: dict[str, str | int | float | bool] = {}
    take: Literal["only", "max", "min"] = "only"


class Reason(BaseModel):
    """The reason why some entries are not reproduced; it is used if no condition reproduces them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claims: tuple[str, ...] = Field(min_length=1)
    kind: Literal["measured", "unknown"]
    reason: str
    values: dict[str, Cell] = {}

    @model_validator(mode="after")
    def check_values(self):
        """Refuse a reason with a name in braces that `values` lacks."""
        named = {name for _, name, _, _ in string.Formatter().parse(self.reason) if name is not None}
        if odd := sorted(named - self.values.keys()):
            raise ValueError(f"reason: has {{{odd[0]}}}, but `values` has no such key")
        return self


def load_reasons(paths):
    """Read ``studies/<study>/reasons.yaml`` of every study that has one.

    Parameters
    ----------
    paths : list of path-like

    Returns
    -------
    list of Reason

    Raises
    ------
    InputError
        A file is missing, is not YAML or is not a list, or an entry does not match its model.
    """
    return [reason for path in paths for reason in read_entries(Reason, path, REMEDY)]


def tables_of(paths):
    """Return the paths, within the results folder, of the tables that the reasons rest on.

    >>> tables_of([])
    []
    """
    cells = [cell for reason in load_reasons(paths) for cell in reason.values.values()]
    return sorted({f"{cell.table}.csv" for cell in cells})


def reasons_table(claims, conditions, reasons, tables, results="results"):
    """Read the tables of a run and pass them to `why_missed` (a workflow job).

    Parameters
    ----------
    claims : path-like
        ``results/claims.csv``.
    conditions : list of path-like
        ``conditions.csv`` of every study that has one.
    reasons : list of path-like
        ``reasons.yaml`` of every study that has one.
    tables : list of path-like
        Files of the tables that the reasons name.
    results : path-like
        Folder of the tables.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        See `load_reasons` and `why_missed`.
    """
    read = {Path(path).relative_to(results).with_suffix("").as_posix(): pd.read_csv(path) for path in tables}
    tried = pd.concat([pd.read_csv(path, dtype=str) for path in conditions])
    return why_missed(pd.read_csv(claims, dtype=str, keep_default_na=False), tried, load_reasons(reasons), read)


def why_missed(claims, conditions, reasons, tables):
    """State a reason for every missed entry, that is, for every entry whose verdict is in `MISSED`.

    Parameters
    ----------
    claims : DataFrame
        Verdicts with ``id``, ``study``, ``role``, ``form``, ``verdict``, ``obtained``, ``low``, ``high`` and ``seeds``.
    conditions : DataFrame
        ``claim, condition, value, verdict`` of all studies.
    reasons : list of Reason
        Reasons for entries that no condition explains.
    tables : mapping of str to DataFrame
        The tables that the reasons name, such as ``epcm/limits``.

    Returns
    -------
    DataFrame
        ``id, study, role, verdict, reason, explanation, conditions, reproducing``: `reason` is ``condition`` if a
        measured condition reproduces the entry (`explanation` then names the first such condition), ``measured`` if
        another measurement excludes the published value, and ``unknown`` otherwise. `conditions` is the number of
        conditions under which the obtained value differs, `reproducing` the number of conditions that reproduce the
        entry.

    Raises
    ------
    InputError
        A reason names an entry that does not exist, an entry of another reason or a column that its table lacks, or it
        needs one number where several values of a table match.

    Examples
    --------
    >>> claims = pd.DataFrame({"id": ["mq.a", "mq.b"], "study": "mq", "role": "claim", "verdict": "not_reproduced"})
    >>> claims = claims.assign(form="number", obtained="4", low="", high="", seeds="1")
    >>> tried = pd.DataFrame({"claim": ["mq.a", "mq.b"], "condition": "no writes", "value": ["5", "6"]})
    >>> tried["verdict"] = ["reproduced", "not_reproduced"]
    >>> found = why_missed(claims, tried, [], {})
    >>> found[["id", "reason", "explanation"]].values.tolist()
    [['mq.a', 'condition', 'no writes'], ['mq.b', 'unknown', 'not reproduced under any condition that changes it']]
    """
    known = {}
    for reason in reasons:
        for id in reason.claims:
            if id in known:
                raise InputError(f"reasons.yaml names {id} twice", remedy="give each entry a single reason")
            known[id] = reason
    if gone := sorted(known.keys() - set(claims["id"])):
        raise InputError(
            f"reasons.yaml names {', '.join(gone)}, which no ledger has",
            expected="ids of the ledgers",
            remedy="correct reasons.yaml",
        )
    by_claim = dict(list(conditions.groupby("claim")))
    rows = []
    for entry in claims[claims["verdict"].isin(MISSED)].itertuples():
        tried = by_claim.get(entry.id, conditions.iloc[:0])
        holding = tried.loc[tried["verdict"] == "reproduced", "condition"]
        changing = sum(not _same(value, entry) for value in tried["value"])
        if len(holding):
            word, explanation = "condition", holding.iloc[0]
        elif entry.id in known:
            word, explanation = _explained(known[entry.id], tables)
        elif changing:
            word, explanation = "unknown", "not reproduced under any condition that changes it"
        else:
            word, explanation = "unknown", "no condition that was run changes it"
        rows.append((entry.id, entry.study, entry.role, entry.verdict, word, explanation, changing, len(holding)))
    return pd.DataFrame(rows, columns=COLUMNS)


def _same(value, entry):
    """Tell whether a value under a condition rounds to the obtained value of an entry; both are texts that may contain
    several numbers.

    The value has up to six digits. An obtained number may have fewer, and its trailing zeros are not written: 7 may be
    7.000. If it was rounded to its interval, its last place is that of the interval's ends. The intervals of a
    comparison over several seeds are not known here, so the last place written is taken as its last place.
    """
    texts = (str(value), entry.obtained, entry.low, entry.high)
    numbers, others, *ends = (re.split(NUMBER, text) for text in texts)  # every second part is a number
    ends = [end[1::2] for end in ends if len(end) == len(others)]
    uncertain = entry.low or (entry.form == "comparison" and entry.seeds not in ("", "1"))

    def unit(*written):
        decimals = max(len(number.partition(".")[2]) for number in written)
        return 10.0 ** -(decimals if uncertain else last_place(written[0]))

    return numbers[::2] == others[::2] and all(
        abs(float(a) - float(b)) <= (0.5 + SLACK) * unit(b, *around)
        for a, b, *around in zip(numbers[1::2], others[1::2], *ends, strict=True)
    )


def _explained(reason, tables):
    """Return a reason's kind and explanation; the kind is ``unknown`` if the run did not make a number that the reason
    needs."""
    try:
        numbers = {name: _number(cell, tables) for name, cell in reason.values.items()}
    except LookupError as error:
        return "unknown", f"this run has no {error.args[0]}"
    return reason.kind, reason.reason.format(**numbers)


def _number(cell, tables):
    """Return a number of a table as text, rounded to `DIGITS` significant digits."""
    frame = tables[cell.table]
    if gone := sorted({cell.column, *cell.where} - set(frame)):
        raise InputError(
            f"a reason rests on column {', '.join(gone)} of {cell.table}.csv, which the table lacks",
            expected=", ".join(frame),
            remedy="correct reasons.yaml",
        )
    for column, value in cell.where.items():
        frame = frame[frame[column] == value]
    values = frame[cell.column].dropna()
    if values.empty:
        rows = " and ".join(f"{column} is {value}" for column, value in cell.where.items())
        raise LookupError(f"{cell.column} of {cell.table}.csv" + (f" where {rows}" if rows else ""))
    if cell.take == "only" and values.nunique() > 1:
        raise InputError(
            f"{values.nunique()} values of {cell.column} in {cell.table}.csv match {cell.where}; a reason needs one",
            expected="one number, or `take`",
            remedy="correct reasons.yaml",
        )
    return rounded(values.max() if cell.take == "max" else values.min(), DIGITS)
