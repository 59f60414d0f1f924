"""Judging a whole ledger, and the tables that come of it."""

from pathlib import Path

import pandas as pd

from misspenalty.claims.cells import prepare
from misspenalty.claims.layout import TABLES
from misspenalty.claims.ledger import STUDIES, load_calibration, load_ledger
from misspenalty.claims.measures import number, tolerance_text
from misspenalty.claims.remarks import load_reasons, with_reasons
from misspenalty.claims.verdicts import VERDICTS, Outcome, decide
from misspenalty.errors import InputError
from misspenalty.io.files import write_csv

COLUMNS = [
    "id", "study", "kind", "published", "reproduced", "deviation", "tolerance", "verdict", "basis", "note",
]  # fmt: skip


def judge(ledger, tables, *, basis="predicted", notes=None, calibration=(), variant=False):
    """Judge every claim of a ledger on result tables.

    Parameters
    ----------
    ledger : list of Claim
        From `load_ledger`.
    tables : mapping of str to DataFrame
        Result tables by ledger name (``mq_table4``); what is absent has not been made.
    basis : {"predicted", "fitted"}
        Basis of a verdict. ``predicted`` turns into ``fitted`` where the verdict reads a cell that `calibration`
        names as a fitting target, even beside predicted cells; ``fitted`` holds for all.
    notes : mapping of str to str, optional
        Remarks by claim id, such as a value that a run logged.
    calibration : iterable of Fit
        From `load_calibration`.
    variant : bool
        Whether `tables` are those of a variant, so that an absent one is not part of it.

    Returns
    -------
    DataFrame
        One row a claim, in the order of the ledger, all text: ``id, study, kind, published, reproduced, deviation,
        tolerance, verdict, basis, note``. `deviation` is signed and in the measure of `tolerance` (a share of the
        published value where relative); of a bound it is the excess over the limit, negative where there is room.

    Raises
    ------
    InputError
        A table lacks a column or holds two rows with the same keys, or `notes` names a claim that does not exist.

    Notes
    -----
    Verdicts: ``reproduced`` if a value or ratio lies within its tolerance (15 % relative unless the ledger says
    otherwise), an equivalence within 10 %, an ordering, trend or bound holds as stated. A published tie allows 5 %.
    Where the filter leaves keys open, the statement has to hold at every point. ``direction``: the number is outside
    its tolerance but on the published side of the value it would have if the two things compared were equal (0 for a
    difference or gain, 1 for a quotient, 100 for a percentage of something, 1 for a rate over a baseline). A plain
    value compares nothing, so it has no direction: it is reproduced or not. A bound with ``near`` ("almost ten")
    that holds, but not within 10 % of the limit, is ``direction``. Orderings and trends have no number beside them
    and are never ``direction``. ``not_testable``: the table, row, column or number is not there, or the entry is not
    decided by a table.
    """
    if basis not in ("predicted", "fitted"):
        raise InputError(f"basis {basis!r}", expected="predicted or fitted")
    notes = dict(notes or {})
    unknown = set(notes) - {claim.id for claim in ledger}
    if unknown:
        raise InputError(f"note for the claim {min(unknown)!r}, which the ledger does not have")
    prepared = {name: prepare(name, frame) for name, frame in tables.items() if name in TABLES}
    built = {name.partition("_")[0] for name in prepared}
    rows = []
    for claim in ledger:
        outcome = _judge_one(claim, prepared, built, variant)
        fits = [fit for fit in calibration if any(fit.reads(cell) for cell in outcome.cells)]
        follows = [fit for fit in calibration if any(fit.decides(cell) for cell in outcome.cells) and fit not in fits]
        remark = [outcome.note, notes.get(claim.id, "")]
        remark += [f"reads a value that {fit.parameter} was fitted to" for fit in fits]
        remark += [f"reads a value that follows from {fit.parameter}, which was fitted" for fit in follows]
        rows.append(
            {
                "id": claim.id,
                "study": claim.study,
                "kind": claim.kind,
                "published": published_text(claim),
                "reproduced": outcome.reproduced,
                "deviation": outcome.deviation,
                "tolerance": outcome.tolerance,
                "verdict": outcome.verdict,
                "basis": "fitted" if fits or follows else basis,
                "note": "; ".join(filter(None, remark)),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


def _judge_one(claim, prepared, built, variant):
    if claim.reading is None:
        note = claim.note or "a condition of the experiment, not in a result table"
        return Outcome("not_testable", tolerance=tolerance_text(claim), note=note)
    if claim.needs not in prepared:
        if variant:
            note = f"{claim.needs} is not part of this variant"
        elif claim.study not in built:
            note = "study not built yet"
        else:
            note = f"result table {claim.needs} is not there"
        return Outcome("not_testable", tolerance=tolerance_text(claim), note=note)
    outcome = decide(claim, prepared)
    outcome.note = "; ".join(filter(None, [outcome.note, claim.note]))
    return outcome


def published_text(claim):
    """The published side of a claim in one line."""
    published = claim.published
    if claim.kind == "ordering" and claim.reading and claim.reading.groups:
        published = list(claim.reading.groups)
    match published:
        case {"op": "in", "limit": [low, high]}:
            return f"{number(low)} to {number(high)}"
        case {"op": op, "limit": limit}:
            return f"{op} {number(limit)}"
        case dict():
            return ", ".join(f"{key} {number(value)}" for key, value in published.items())
        case [list() | tuple(), *_]:
            joint = " = " if claim.tie else ", "
            return " < ".join((joint if i == 0 else ", ").join(map(number, group)) for i, group in enumerate(published))
        case list():
            return ", ".join(map(number, published))
    return number(published)


def read_tables(paths):
    """Result tables by ledger name.

    Parameters
    ----------
    paths : mapping of str to path-like
        Ledger name (``mq_table4``) to the CSV file that holds the table; what is left out has not been made.

    Raises
    ------
    InputError
        No statement reads a table of this name, or the file is no CSV table.
    """
    unknown = set(paths) - set(TABLES)
    if unknown:
        raise InputError(f"no statement reads a table {min(unknown)!r}", expected=", ".join(TABLES))
    tables = {}
    for name, path in paths.items():
        try:
            tables[name] = pd.read_csv(path)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, OSError) as error:
            raise InputError(f"not a CSV table: {error}", path=path, remedy="delete it and rerun") from error
    return tables


def write_claims(
    paths,
    ledger_path,
    out_path,
    *,
    calibration_path=None,
    reasons_path=None,
    basis="predicted",
    notes=None,
    variant=False,
):
    """Judge the ledger on result tables and write the table of verdicts; returns it.

    Parameters are those of `judge`, `read_tables`, `load_calibration` and `load_reasons`.
    """
    ledger = load_ledger(ledger_path)
    frame = judge(
        ledger,
        read_tables(paths),
        basis=basis,
        notes=notes,
        calibration=load_calibration(calibration_path) if calibration_path else (),
        variant=variant,
    )
    if reasons_path:
        frame = with_reasons(frame, load_reasons(reasons_path, Path(out_path).stem, ledger))
    write_csv(frame, out_path)
    return frame


def summary(frame):
    """Counts of the verdicts by study, with a last row ``all``.

    Returns
    -------
    DataFrame
        ``study, claims, reproduced, direction, not_reproduced, not_testable``; the studies in the order of the ledger.
    """
    counts = pd.crosstab(frame["study"], frame["verdict"]).reindex(columns=list(VERDICTS), fill_value=0)
    counts = counts.reindex([study for study in STUDIES if study in counts.index])
    counts.loc["all"] = counts.sum()
    counts.insert(0, "claims", counts.sum(axis=1))
    return counts.rename_axis("study", axis=0).rename_axis(None, axis=1).reset_index()


def format_summary(frame):
    """The summary of a table of verdicts as a Markdown table; columns of text, right-aligned numbers."""
    table = summary(frame)
    heads = [str(column).replace("_", " ") for column in table.columns]
    rows = [[str(cell) for cell in row] for row in table.itertuples(index=False)]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]

    def line(cells):
        aligned = [c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return f"| {' | '.join(aligned)} |"

    rule = "|".join("-" * (w + 2) if i == 0 else "-" * (w + 1) + ":" for i, w in enumerate(widths))
    return "\n".join([line(heads), f"|{rule}|", *map(line, rows)])
