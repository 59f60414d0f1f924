"""Judging a whole ledger, and the resulting tables."""

from functools import cached_property

import numpy as np
import pandas as pd

from misspenalty.claims.forms import TIE, TOLERANCES, VERDICTS, Outcome, groups_of, limit_of, number, text
from misspenalty.claims.recorder import Recorder
from misspenalty.claims.tables import blanked, filled
from misspenalty.errors import InputError

COLUMNS = [
    "id", "study", "kind", "statement", "published", "reproduced", "deviation", "tolerance", "verdict", "basis", "note",
]  # fmt: skip
BASES = ("predicted", "calibrated", "fitted", "condition")


def judge(ledger, studies, tables, *, basis="predicted", notes=None, calibration=(), variant=False):
    """Judge every claim of a ledger on result tables.

    Parameters
    ----------
    ledger : list of Claim
        From `load_ledger`.
    studies : mapping of str to module
        By name, the `claims` module of each study: ``TABLES`` (item to `Table`) and ``claims(record, tables)``.
    tables : mapping of str to DataFrame
        Result tables by study and item (``mq_table4``); absent ones have not been made.
    basis : {"predicted", "calibrated", "fitted"}
        Basis of the verdicts: ``calibrated`` if the tables were made with a setting chosen by published values that no
        claim reads, ``fitted`` if chosen by values that claims read. A verdict is ``fitted`` in any case if it reads a
        cell that `calibration` names as a fitting target, even next to predicted cells, and a ``condition`` if its
        study says that it holds for any numbers. Instead of ``predicted`` it is ``calibrated`` if it reads a cell that
        follows from a choice based on recollected values.
    notes : mapping of str to str, optional
        Remarks by claim id, such as a value that a run logged.
    calibration : iterable of Fit
        From `load_calibration`.
    variant : bool
        Whether `tables` are those of a variant, so that absent ones are not part of it.

    Returns
    -------
    DataFrame
        One row per claim, in the order of the ledger, all text: ``id, study, kind, statement, published, reproduced,
        deviation, tolerance, verdict, basis, note``. `deviation` is signed and in the measure of `tolerance` (a share
        of the published value if relative); for a bound it is the excess over the limit, negative if there is room.

    Raises
    ------
    InputError
        A claim of the ledger is decided by no study, or a claim is decided twice or is not in the ledger; a note is for
        such a claim; a fitted cell is in no table; a table lacks a key column or has two rows for a key.

    Notes
    -----
    The rules of a verdict are in ``data/published/README.md``.
    """
    if basis not in BASES[:-1]:
        raise InputError(f"basis {basis!r}", expected=", ".join(BASES[:-1]))
    notes, known = dict(notes or {}), {claim.id for claim in ledger}
    studied = {name: Study(name, module, tables, variant) for name, module in studies.items()}
    decided = {id for study in studied.values() for id in (*study.forms, *study.conditions)}
    for found, problem in (
        (set(notes) - known, "has a note, but is not in the ledger"),
        (decided - known, "is decided by a study, but is not in the ledger"),
        (known - decided, "of the ledger is decided by no study"),
    ):
        if found:
            raise InputError(f"claim {min(found)} {problem}", remedy="compare the ledger with the studies' claims.py")
    remarks = {id: [] for id in known}
    for word, cells in (("reads a value that {} was fitted to", "published"),
                        ("reads a value that follows from {}, which was fitted", "follows")):  # fmt: skip
        for fit in (fit for fit in calibration if fit.study in studied and fit.basis == "fitted"):
            for id in studied[fit.study].reading(fit, getattr(fit, cells)):
                if not any(fit.parameter in remark for remark in remarks[id]):
                    remarks[id].append(word.format(fit.parameter))
    chosen = {
        id
        for fit in calibration
        if fit.study in studied and fit.basis == "recollected"
        for id in studied[fit.study].reading(fit, fit.follows)
    }
    rows = []
    for claim in ledger:
        study = studied[claim.study]
        own = "calibrated" if basis == "predicted" and claim.id in chosen else basis
        outcome, form = _decide(claim, study), study.forms[claim.id]
        rows.append(
            {
                "id": claim.id,
                "study": claim.study,
                "kind": claim.kind,
                "statement": claim.statement,
                "published": published_text(claim),
                "reproduced": outcome.reproduced,
                "deviation": outcome.deviation,
                "tolerance": getattr(form, "tolerance", "") or tolerance_text(claim),
                "verdict": outcome.verdict,
                "basis": "condition" if claim.id in study.conditions else "fitted" if remarks[claim.id] else own,
                "note": "; ".join(filter(None, [outcome.note, notes.get(claim.id, ""), *remarks[claim.id]])),
            }
        )
    return pd.DataFrame(rows, columns=COLUMNS, dtype=str)


class Study:
    """The claims of a study as decided by its tables."""

    def __init__(self, name, module, tables, variant):
        self.name, self.module, self.frames = name, module, {}
        absent = [item for item in module.TABLES if f"{name}_{item}" not in tables]
        gone, holes = [], []
        for item, table in module.TABLES.items():
            self.frames[item], missing = table.read(f"{name}_{item}", tables.get(f"{name}_{item}"))
            holes += [(item, *hole) for hole in missing if item not in absent]
            if item in absent:
                reason = (
                    f"{name}_{item} is not part of this variant"
                    if variant
                    else f"result table {name}_{item} is not there"
                )
                built = variant or len(absent) < len(module.TABLES)
                rows, columns = range(len(self.frames[item])), list(table.values)
                gone.append((item, list(rows), columns, reason if built else "study not built yet"))
        self.holes = gone + holes
        recorder = self.run(self.frames)
        self.forms, self.reports, self.conditions = recorder.forms, recorder.reports, recorder.conditions

    @cached_property
    def full(self):
        """The tables with all holes filled, and the ids of the claims that then have every number."""
        frames = {item: filled(frame) for item, frame in self.frames.items()}
        return frames, complete(self.run(frames).forms)

    def run(self, frames):
        """What the study records on these tables."""
        recorder = Recorder()
        with np.errstate(all="ignore"):
            self.module.claims(recorder, dict(frames))
        return recorder

    def losing(self, cells):
        """Ids of the claims that lose a number when `cells`, tuples of item, rows and columns, are blanked."""
        frames, readable = self.full
        less = dict(frames)
        for item, rows, columns in cells:
            less[item] = blanked(less[item], rows, columns)
        return readable - complete(self.run(less).forms)

    def reading(self, fit, targets):
        """Ids of the decided claims that read one of the fitted cells."""
        cells = []
        for target in targets:
            item = target["table"].removeprefix(f"{self.name}_")
            table = self.module.TABLES.get(item)
            found = table and table.cells(self.frames[item], target["where"], target["column"])
            if not found:
                raise InputError(
                    f"parameter {fit.parameter}: there is no cell {target['table']}, {target['column']}",
                    expected="a result table that claims read, one of its value columns, and members of its keys",
                )
            cells.append((item, *found))
        return complete(self.forms) & self.losing(cells) if cells else set()

    @cached_property
    def reasons(self):
        """Why claims have no number: id -> the first missing item, in words."""
        ids = {id for id, form in self.forms.items() if form} - complete(self.forms)
        here = ids & self.losing([hole[:3] for hole in self.holes]) if ids else ids
        return dict.fromkeys(ids, "a row is missing, or the claim divides by zero") | self._first(here, self.holes)

    def _first(self, ids, holes):
        """The first of `holes` that each claim reads, found by halving."""
        if len(holes) < 2 or not ids:
            return dict.fromkeys(ids, holes[0][-1]) if ids else {}
        half = len(holes) // 2
        here = ids & self.losing([hole[:3] for hole in holes[:half]])
        return self._first(here, holes[:half]) | self._first(ids - here, holes[half:])


def complete(forms):
    """Ids of the claims that have every number."""
    return {id for id, form in forms.items() if form and form.complete()}


def _decide(claim, study):
    form = study.forms[claim.id]
    if form is None:
        return Outcome("not_testable", note=claim.note or "a condition of the experiment, not in a result table")
    if claim.kind not in form.kinds:
        raise InputError(f"claim {claim.id} is a {claim.kind}, but {type(form).__name__.lower()} was recorded")
    if not form.complete():
        return Outcome("not_testable", note=study.reasons[claim.id])
    with np.errstate(all="ignore"):  # a deviation may be infinite
        outcome = form.decide(claim)
    reports = [f"{name}: {text(values)}" for name, values in study.reports[claim.id].items()]
    condition = f"a condition: {study.conditions[claim.id]}" if claim.id in study.conditions else ""
    stated = f"stated on {claim.stated_on}" if claim.stated_on else ""
    outcome.note = "; ".join(filter(None, [outcome.note, *reports, stated, claim.note, condition]))
    return outcome


def tolerance_text(claim):
    """Tolerance of a claim as printed in the table of verdicts."""
    if claim.tolerance or claim.kind in TOLERANCES:
        return " ".join(map(number, limit_of(claim)))
    return f"tie within relative {TIE}" if claim.tie else "as stated" if claim.kind == "bound" else "exact"


def published_text(claim):
    """The published side of a claim in one line."""
    match claim.published:
        case {"op": "in", "limit": [low, high]}:
            return f"{number(low)} to {number(high)}"
        case {"op": op, "limit": limit}:
            return f"{op} {number(limit)}"
        case {"low_to_high": _} | [list(), *_]:
            groups = [list(map(number, group)) for group in groups_of(claim)]
            joints = [" = " if claim.tie and i == 0 else ", " for i in range(len(groups))]
            return " < ".join(joint.join(group) for joint, group in zip(joints, groups, strict=True))
        case dict() as values:
            return ", ".join(f"{key} {number(value)}" for key, value in values.items())
        case list() as values:
            return ", ".join(map(number, values))
    return number(claim.published)


def summary(frame):
    """Counts of the verdicts by study, with a last row ``all``.

    Returns
    -------
    DataFrame
        ``study, claims``, then how they divide up: ``conditions``, which hold for any numbers, and of the others
        ``predicted``, ``calibrated`` and ``fitted`` (all three reproduced, by their basis; ``calibrated`` only if there
        is one), ``direction, not_reproduced, not_testable``; the studies in the order of the ledger.
    """
    kind = frame["verdict"].where(frame["verdict"] != "reproduced", frame["basis"])
    kind = kind.where(frame["basis"] != "condition", "conditions")
    bases = [basis for basis in BASES[:-1] if basis != "calibrated" or (kind == basis).any()]
    counts = pd.crosstab(frame["study"], kind).reindex(columns=["conditions", *bases, *VERDICTS[1:]], fill_value=0)
    counts = counts.reindex(frame["study"].unique())
    counts.loc["all"] = counts.sum()
    counts.insert(0, "claims", counts.sum(axis=1))
    return counts.rename_axis("study", axis=0).rename_axis(None, axis=1).reset_index()


def format_summary(frame):
    """The summary of a table of verdicts as a Markdown table; columns of text, right-aligned numbers."""
    table = summary(frame)
    heads = [f"reproduced, {name}" if name in BASES else name.replace("_", " ") for name in table.columns]
    rows = [heads, *(list(map(str, row)) for row in table.itertuples(index=False))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    aligned = [
        [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))] for row in rows
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in aligned)
