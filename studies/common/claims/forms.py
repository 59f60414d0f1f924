"""Define the forms in which a study records numbers for a claim, and how the judge compares them with the ledger.

A form holds obtained numbers and defines how they are compared. It receives published values, orders, directions,
limits and tolerances only in `Form.decide`, which is called after the study's function has returned.
"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from misspenalty_studies.common.claims.noise import Moved
from misspenalty_studies.common.claims.numbers import SLACK, close, rounded

VERDICTS = ("reproduced", "tie", "direction", "not_reproduced", "not_testable")
TOLERANCES = {"value": 0.15, "ratio": 0.15, "equivalence": 0.10}  # relative tolerances by kind of claim
TIE = 0.05
CERTAIN = Moved()
NEAR = 0.10  # "almost ten" means nine to ten
REACHED = 0.15  # "up to 40 %" counts as reached from 34 % on


@dataclass
class Outcome:
    """Verdict on one claim, and its numbers as text; the claim holds at `agreeing` of `points` points."""

    verdict: str
    obtained: str = ""
    low: str = ""
    high: str = ""
    deviation: str = ""
    note: str = ""
    agreeing: int = 0
    points: int = 0


def limit_of(claim):
    """Return the tolerance of a claim: ("relative" | "absolute", size). A bound has tolerance 0, unless its entry sets
    a tolerance or says that the limit is reached."""
    if claim.tolerance:
        return next(iter(claim.tolerance.items()))
    if claim.kind == "bound":
        return ("relative", REACHED) if claim.published.get("reached") else ("absolute", 0)
    return "relative", TOLERANCES[claim.kind]


def deviation(measure, obtained, reference):
    """Return the signed deviation of `obtained` from `reference`: as a share of `reference` (relative) or as a
    difference (absolute)."""
    difference = 0.0 if close(obtained, reference) else obtained - reference
    if measure == "absolute" or not difference:
        return difference
    return difference / abs(reference) if reference else math.copysign(math.inf, difference)


def in_unit(measure, value, unit):
    """Return a deviation or tolerance with its unit: % if relative, points if the claim is in %, else the claim's unit.

    >>> in_unit("relative", -0.633, "ms"), in_unit("absolute", 0.5, "%"), in_unit("absolute", 2, "")
    ('-63.3 %', '0.5 points', '2')
    """
    if measure == "relative":
        return f"{rounded(100 * value, 3) if abs(value) >= 5e-5 else 0} %"
    return " ".join(filter(None, [rounded(value, 3), "points" if unit == "%" else unit]))


def room(measure, size, reference):
    """Return the largest distance from `reference` that is within the tolerance."""
    return size * (abs(reference) if measure == "relative" else 1)


def borders(measure, size, obtained, reference):
    """Return the distance of `obtained` from each border of the tolerance, the upper first, and whether it is inside.

    Both are needed to tell whether an interval crosses a border: the distance from the nearer border alone hardly
    changes if the numbers lie on both sides of the reference.

    >>> borders("absolute", 15, 95, 100)
    [(20, True), (10, True)]
    """
    far, slack = room(measure, size, reference), SLACK * max(abs(obtained), abs(reference))
    return [(far - beyond, beyond <= far + slack) for beyond in (obtained - reference, reference - obtained)]


def within(measure, size, obtained, reference):
    """Tell whether `obtained` is within the tolerance of `reference`, inclusive."""
    return all(kept for _, kept in borders(measure, size, obtained, reference))


def signed(found):
    """Return the margins of pairs (margin, whether the comparison holds); their signs tell which comparisons hold, even
    if equal numbers make the margin 0.

    >>> signed([(0.0, True), (0.0, False), (1.5, True)]).tolist()
    [0.0, -0.0, 1.5]
    """
    margins, holds = np.array(found, float).reshape(-1, 2).T
    return np.copysign(margins, np.where(holds, 1.0, -1.0))


def paired(a, b):
    """Return pairs of the numbers of two Series, and the points; a single number is repeated to match the others."""
    wide = a if len(a) >= len(b) else b
    sides = (side if len(side) > 1 else [side.iloc[0]] * len(wide) for side in (a, b))
    return list(zip(*sides, strict=True)), wide.index


class Form:
    """Obtained numbers (Series), to be compared with a claim of one of the `kinds`."""

    kinds = ()

    def complete(self):
        """Tell whether every number is present and finite."""
        return all(len(part) and np.isfinite(part.to_numpy(float)).all() for part in _parts(vars(self)))

    def decide(self, claim, moved=CERTAIN, write=None):
        """Compare the numbers with a claim.

        Parameters
        ----------
        claim : Claim
        moved : Moved
            The same numbers from other tables, from which their intervals are computed; if it has no forms, the numbers
            have no intervals.
        write : callable, optional
            Formats a number; the default rounds it to its known digits.

        Returns
        -------
        Outcome
        """
        margins = self.margins(claim)
        blur = np.maximum(moved.spread(margins, lambda form: form.margins(claim)), self.blur(claim))
        outcome = self.compare(claim, moved, write)
        if outcome.verdict == "not_testable":
            return outcome
        undecided = (blur > 0) & (abs(margins) <= blur)
        lost = outcome.verdict != "reproduced" and (np.signbit(margins) & ~undecided).any()
        if undecided.any() and not lost:
            outcome.verdict = "tie"
        return outcome

    def blur(self, claim):
        """Return the margin up to which a comparison is undecided even if the numbers have no intervals."""
        return 0.0


def _parts(value):
    if isinstance(value, pd.Series | pd.DataFrame):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)


def outcome_of(holds, shown, deviation="", direction=False, **more):
    verdict = "reproduced" if holds else "direction" if direction else "not_reproduced"
    return Outcome(verdict, shown, deviation=deviation, **more)


def counted(holds):
    return {"agreeing": int(np.sum(holds)), "points": len(holds)}
