"""Judge a whole ledger and return the table of verdicts."""

import numpy as np
import pandas as pd

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.comparisons import groups_of
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.forms import TIE, Outcome, in_unit, limit_of
from misspenalty_studies.common.claims.noise import Moved
from misspenalty_studies.common.claims.numbers import number, rounded, text

COLUMNS = [
    "id", "study", "role", "form", "group", "kind", "source", "statement", "status", "published", "obtained", "unit",
    "low", "high", "seeds", "deviation", "tolerance", "verdict", "basis", "note",
]  # fmt: skip
READS = (  # remarks (singular, plural) on entries that read a fit's targets, or cells that follow from the parameter
    ("reads a value that {} was fitted to", "reads values that {} were fitted to"),
    ("reads a value that follows from {}, which was fitted", "reads values that follow from {}, which were fitted"),
)
BASES = ("free", "calibrated", "fitted")


def judge(ledger, studies, tables, *, notes=None, calibration=(), variant=""):
    """Judge every entry of a ledger on result tables.

    Parameters
    ----------
    ledger : list of Claim
        From `load_ledger`.
    studies : mapping of str to module
        By name, the `claims` module of each study: ``TABLES`` (item to `Table`) and ``claims(record, tables)``.
    tables : mapping of str to DataFrame
        Result tables by study and item (``mq_table4``); absent ones have not been made.
    notes : mapping of str to str, optional
        Remarks by claim id, such as a value that a run logged.
    calibration : iterable of Fit
        From `load_calibration`.
    variant : str
        Suffix of the tables of a variant, such as ``_calibrated``; tables that are absent are then not part of it.

    Returns
    -------
    DataFrame
        One row per entry, in the order of the ledger: `COLUMNS`, all text, and ``agreeing`` and ``points``: how many of
        the entry's numbers or comparisons hold, and how many there are. `low` and `high` are the ends of the 95 %
        interval of a number that is compared with a value or a limit, empty if the number has no interval; `seeds` is
        the number of runs averaged, empty if it is unknown or the entry is not testable. `deviation` is empty for
        orders and trends, and where the statement itself says which of two numbers is greater. For a bound it is in the
        entry's own unit: the distance beyond the limit (negative within the limit) or, for "up to", the difference
        from the limit. For other entries it is relative if `tolerance` is. `basis` is ``fitted`` if the entry reads a
        cell that `calibration` names as a target of a fit or as following from the parameter, ``calibrated`` if it
        reads a table that a fitted parameter drives, ``free`` otherwise, and empty if the entry is not testable.

    Raises
    ------
    InputError
        No study decides an entry of the ledger; an entry is decided twice; an entry that is decided or has a note is
        not in the ledger; the form recorded for an entry does not suit its kind, or ranks members other than the
        ledger's; a fitted cell, or a table or column that a parameter drives, does not exist; a table lacks a key
        column or has two rows for a key.

    Notes
    -----
    The rules of a verdict are in ``studies/README.md``.
    """
    notes, known = dict(notes or {}), {claim.id for claim in ledger}
    studied = {name: Decided(name, module, tables, bool(variant)) for name, module in studies.items()}
    decided = {id for study in studied.values() for id in study.forms}
    for found, problem in (
        (set(notes) - known, "has a note, but is not in the ledger"),
        (decided - known, "is decided by a study, but is not in the ledger"),
        (known - decided, "is in the ledger, but no study decides it"),
    ):
        if found:
            raise InputError(f"claim {min(found)} {problem}", remedy="compare the ledger with the studies' claims.py")
    remarks, calibrated = _influences(known, studied, calibration, variant)
    rows = []
    for claim in ledger:
        study = studied[claim.study]
        outcome = _decide(claim, study)
        basis = "fitted" if remarks[claim.id] else "calibrated" if claim.id in calibrated else "free"
        tested = outcome.verdict != "not_testable"
        seeds = study.seeds_of(claim.id) if tested else None
        rows.append(
            vars(claim)
            | vars(outcome)
            | {
                "form": claim.form,
                "group": claim.group,
                "published": published_text(claim),
                "seeds": "" if seeds is None else str(seeds),
                "tolerance": tolerance_text(claim),
                "basis": basis if tested else "",
                "note": "; ".join(filter(None, [outcome.note, notes.get(claim.id, ""), *remarks[claim.id]])),
            }
        )
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "agreeing", "points"])
    return frame.astype(dict.fromkeys(COLUMNS, str))


def _influences(known, studied, calibration, variant):
    """Return remarks, by id, on the claims that read fitted cells, and the ids of all claims that read tables made with
    fitted parameters."""
    read, calibrated = {id: {words: [] for words in READS} for id in known}, set()
    for fit in (fit for fit in calibration if fit.study in studied):
        study = studied[fit.study]
        calibrated |= study.driven(fit, variant)
        if fit.basis != "fitted":
            continue
        for words, cells in zip(READS, (fit.published, fit.follows), strict=True):
            for id in study.reading(fit, cells, variant):
                if not any(fit.parameter in parameters for parameters in read[id].values()):
                    read[id][words].append(fit.parameter)
    return {id: _remarks(each) for id, each in read.items()}, calibrated


def _remarks(read):
    """Return remarks on the fitted values that an entry reads; `read` maps a pair of `READS` to parameter names."""
    found = []
    for (one, several), parameters in read.items():
        if len(parameters) > 1:
            found.append(several.format(f"{', '.join(parameters[:-1])} and {parameters[-1]}"))
        elif parameters:
            found.append(one.format(parameters[0]))
    return found


def _decide(claim, study):
    form = study.forms[claim.id]
    if form is None:
        return Outcome("not_testable", note=claim.note or "a setting of the experiment, not in a result table")
    if claim.kind not in form.kinds:
        kind = type(form).__name__.lower()
        raise InputError(
            f"claim {claim.id} has the kind {claim.kind}, but its study recorded"
            f" {'an' if kind[0] in 'aeo' else 'a'} {kind}",
            expected=f"{' or '.join(form.kinds)}",
        )
    if not form.complete():
        return Outcome("not_testable", note=study.reasons[claim.id])
    moved = Moved() if claim.role == "given" else study.moved(claim.id)  # given statements are decided without noise
    with np.errstate(all="ignore"):  # a deviation may be infinite
        outcome = form.decide(claim, moved)
    reports = [f"{name}: {text(values, rounded)}" for name, values in study.reports[claim.id].items()]
    stated = f"stated on {claim.stated_on}" if claim.stated_on else ""
    outcome.note = "; ".join(filter(None, [outcome.note, *reports, stated, claim.note]))
    return outcome


def tolerance_text(claim):
    """Return the tolerance of a claim as printed in the table of verdicts."""
    if claim.tolerance or claim.kind in ("value", "ratio", "equivalence"):
        return in_unit(*limit_of(claim), claim.unit) + (" of (100 - value)" if claim.complement else "")
    if claim.kind == "bound":
        return in_unit(*limit_of(claim), claim.unit) if claim.published.get("reached") else "as stated"
    return f"tie within {TIE:.0%}".replace("%", " %") if claim.tie or claim.clear else "exact"


def published_text(claim):
    """Return the published side of a claim in one line."""
    match claim.published:
        case {"op": "in", "limit": [low, high]}:
            return f"{number(low)} to {number(high)}"
        case {"limit": limit, "reached": True}:
            return f"up to {number(limit)}"
        case {"op": op, "limit": limit}:
            return f"{op} {number(limit)}"
        case {"low_to_high": _} | [list(), *_]:
            groups = [list(map(number, group)) for group in groups_of(claim)]
            joints = [" = " if claim.tie and i == 0 else ", " for i in range(len(groups))]
            return " < ".join(joint.join(group) for joint, group in zip(joints, groups, strict=True))
        case dict() as values:
            return ", ".join(f"{key} {number(value)}" for key, value in values.items())
        case list() as values:
            return ", ".join(map(_whole, values))
    return _whole(claim.published)


def _whole(value):
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else number(value)
