"""Tolerances, deviations and the neutral value: the arithmetic of a verdict."""

import math

from misspenalty.claims.cells import neutral_lookup
from misspenalty.claims.formula import UntestableError, atoms, calls, evaluate, is_close
from misspenalty.claims.layout import TABLES

TOLERANCES = {"value": 0.15, "ratio": 0.15, "equivalence": 0.10}  # relative
TIE = 0.05
NEAR = 0.10  # "almost ten" is nine to ten
SLACK = 1e-9  # a deviation of exactly the tolerance counts as within it, whatever binary arithmetic makes of it


def number(value):
    """A number as text: at most six significant digits, the same on every machine."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def limit_of(claim):
    """Tolerance of a claim: ("relative" | "absolute", size)."""
    if claim.tolerance:
        return next(iter(claim.tolerance.items()))
    return ("relative", TOLERANCES[claim.kind])


def tolerance_text(claim):
    """Tolerance of a claim as the table of verdicts prints it."""
    if claim.reading is not None and claim.reading.peak:
        return "next size of the sweep"
    if claim.tolerance or claim.kind in TOLERANCES:
        return " ".join((limit_of(claim)[0], number(limit_of(claim)[1])))
    if claim.tie:
        return f"tie within relative {number(TIE)}"
    return "as stated" if claim.kind == "bound" else "exact"


def deviation(measure, obtained, reference):
    """Signed distance of `obtained` from `reference`: a share of it (relative) or a difference (absolute)."""
    difference = obtained - reference
    if is_close(obtained, reference):
        return 0.0
    if measure == "absolute":
        return difference
    return difference / abs(reference) if reference else math.copysign(math.inf, difference)


def within(measure, size, obtained, reference):
    """Whether `obtained` lies within the tolerance; its edge belongs to it."""
    room = size * (abs(reference) if measure == "relative" else 1)
    return abs(obtained - reference) <= room + SLACK * max(abs(obtained), abs(reference))


def neutral(claim):
    """Value that a claim's number takes when the two sides it compares are equal, or None if it compares none.

    A ratio of two members of its column is evaluated with equal members; a column that is a comparison already
    (a normalised rate, a speed-up, a reduction) brings its neutral value along.
    """
    reading = claim.reading
    tree, column = reading.trees[0], reading.columns[0]
    used = sorted(set(atoms(tree)), key=repr)
    if claim.kind == "ratio" and _compares_members(tree, used):
        try:
            found = {evaluate(tree, neutral_lookup(dict.fromkeys(used, x))).data[()] for x in (1.0, 2.0)}
        except UntestableError:
            return None
        return found.pop() if len(found) == 1 else None
    base = TABLES[claim.needs].neutral
    own = base.get(reading.where.get("quantity") if column == "value" else column)
    if own is None or (claim.kind == "value" and len(used) > 1):
        return None
    values = {atom: own if atom.column == column else 1.0 for atom in used}
    return evaluate(tree, neutral_lookup(values)).data[()]


def _compares_members(tree, used):
    """Whether a formula sets two members of one column against each other, such as ``mq/lru``."""
    members = [atom for atom in used if atom.members]
    same = len({atom.column for atom in used}) == 1
    return len(used) == len(members) == 2 and same and not calls(tree, "sum", "count", "fraction")
