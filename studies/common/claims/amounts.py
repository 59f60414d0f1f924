"""Define the forms that compare numbers with a printed number, list, range or limit."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from misspenalty_studies.common.claims.forms import (
    NEAR,
    Form,
    Outcome,
    borders,
    counted,
    deviation,
    in_unit,
    limit_of,
    outcome_of,
    paired,
    room,
    signed,
    within,
)
from misspenalty_studies.common.claims.numbers import DIGITS, close, compare, number, rounded, series, significant, text

LIMIT_OBTAINED = "limit obtained: "  # start of the note on an entry that is compared with an obtained limit


@dataclass
class Amount(Form):
    """Numbers to compare with a published number or list, or with a limit: the obtained limit in `limits`, otherwise
    the published one."""

    obtained: pd.Series
    neutral: float | None = None
    limits: tuple = ()
    digits_of: float = 0.0
    kinds = ("value", "ratio", "bound")

    def compare(self, claim, moved, write):
        half = pd.Series(moved.spread(self.obtained, lambda form: form.obtained), self.obtained.index)
        outcome = (self._bound if claim.kind == "bound" else self._number)(claim, half)
        listed, digits = isinstance(claim.published, list), max(DIGITS, *map(significant, _printed(claim)))

        def shown(values):
            told = [write(x) if write else rounded(x, digits, h) for x, h in zip(values, half, strict=True)]
            return ", ".join(told) if listed else text(pd.Series(told, values.index), str)

        outcome.obtained = shown(self.obtained)
        if (half > 0).any():
            outcome.low, outcome.high = shown(self.obtained - half), shown(self.obtained + half)
        return outcome

    def margins(self, claim):
        if claim.kind != "bound":
            measure, size = limit_of(claim)
            found = [side for pair in self._wanted(claim) for side in borders(measure, size, *pair)]
        else:
            found = [part for value, ends in self._ends(claim) for part in self._inside(claim, value, ends)]
            if (aim := self._aim(claim)) is not None:
                *limit, goal = aim
                found += [side for x in self.obtained for side in borders(*limit, x, goal)]
        return signed(found)

    def _wanted(self, claim):
        published = claim.published if isinstance(claim.published, list) else [claim.published] * len(self.obtained)
        pairs = list(zip(self.obtained, published, strict=False))
        return [(100 - a, 100 - b) for a, b in pairs] if claim.complement else pairs

    def _number(self, claim, half):
        (measure, size), pairs = limit_of(claim), self._wanted(claim)
        listed = isinstance(claim.published, list)
        fine = [within(measure, size, *pair) for pair in pairs]
        holds = all(fine) and (not listed or len(claim.published) == len(self.obtained))
        worst = max((deviation(measure, *pair) for pair in pairs), key=abs)
        told = in_unit(measure, worst, claim.unit)
        return outcome_of(holds, "", told, not listed and self._on_side(claim.published, half), **counted(fine))

    def _on_side(self, published, half):
        """Tell whether every number, with its interval, is on the published side of the neutral value; False if there
        is no neutral value, or if the published value equals it."""
        if self.neutral is None or close(published, self.neutral):
            return False
        op, sign = ("<", 1) if published < self.neutral else (">", -1)
        return all(compare(op, value + sign * h, self.neutral) for value, h in zip(self.obtained, half, strict=True))

    def _ends(self, claim):
        """Pair each obtained number with the limits that apply to it."""
        limit = claim.published["limit"]
        limits = self.limits or tuple(map(series, limit if isinstance(limit, list) else [limit]))
        rows = zip(*([end for end, _ in paired(end, self.obtained)[0]] for end in limits), strict=True)
        return list(zip(self.obtained, rows, strict=True))

    def _aim(self, claim):
        """Return the tolerance (measure, size) and the target, if the statement says that a number is reached or nearly
        reached; otherwise None."""
        if "near" in claim.published:
            return "relative", NEAR, claim.published["near"]
        return (*limit_of(claim), claim.published["limit"]) if claim.published.get("reached") else None

    def _bound(self, claim, half):
        aim, excess = self._aim(claim), []
        for value, ends in self._ends(claim):
            low, high = self._limits(claim, ends)
            fine = all(holds for _, holds in self._inside(claim, value, ends))
            far = max(low - value, value - high)
            met = any(math.isfinite(end) and close(value, end, self.digits_of) for end in (low, high))
            excess.append((fine, 0.0 if met else far))
        fine = [one for one, _ in excess]
        holds, direction = all(fine), False
        if aim is not None and holds:
            holds, direction = all(within(*aim[:2], x, aim[2]) for x in self.obtained), self._on_side(aim[2], half)
        note = LIMIT_OBTAINED + "; ".join(text(limit, rounded) for limit in self.limits) if self.limits else ""
        if claim.published.get("reached"):  # the limit has to be reached, so report the distance from it
            beyond = max((value - claim.published["limit"] for value in self.obtained), key=abs)
        else:
            beyond = max(far for _, far in excess)
        return outcome_of(holds, "", in_unit("absolute", beyond, claim.unit), direction, note=note, **counted(fine))

    def _limits(self, claim, ends):
        """Return the lower and upper limit, moved outwards by the tolerance."""
        op = claim.published["op"]
        low, high = (-math.inf, ends[0]) if op in ("<", "<=") else (ends[0], math.inf) if op in (">", ">=") else ends
        measure, size = limit_of(claim)
        sides = ((low, -1), (high, 1))
        return tuple(end + sign * room(measure, size, end) if math.isfinite(end) else end for end, sign in sides)

    def _inside(self, claim, value, ends):
        """Return the distance of a number from each finite limit, and whether the number is within the limit."""
        op, (low, high) = claim.published["op"], self._limits(claim, ends)
        sides = ((value - low, ">=", low), (high - value, "<=", high))
        return [
            (far, compare(side if op == "in" else op, value, end, self.digits_of))
            for far, side, end in sides
            if math.isfinite(end)
        ]


def _printed(claim):
    """Return 0 and the published value or limit as one flat list."""
    published = claim.published["limit"] if isinstance(claim.published, dict) else claim.published
    return [0, *(published if isinstance(published, list) else [published])]


@dataclass
class Setting(Form):
    """Settings that were run, one per row; the claim holds if one of them is within the tolerance of the published
    setting."""

    runs: pd.DataFrame
    kinds = ("value",)

    def compare(self, claim, moved, write):
        measure, size = limit_of(claim)
        rows = [list(zip(run, claim.published, strict=True)) for run in self.runs.to_numpy().tolist()]
        gaps = [max(abs(deviation(measure, *pair)) for pair in row) for row in rows]
        nearest = rows[gaps.index(min(gaps))]
        holds = all(within(measure, size, *pair) for pair in nearest)
        return outcome_of(
            holds, ", ".join(number(obtained) for obtained, _ in nearest), in_unit(measure, min(gaps), "")
        )

    def margins(self, claim):
        return np.array([])


@dataclass
class Peak(Form):
    """A sweep; the claim holds if the position of its maximum is within the tolerance of the published position. If
    several positions have the maximum, the one farthest from the published position counts."""

    sweep: pd.Series
    kinds = ("value",)

    def compare(self, claim, moved, write):
        near, place = self._near(claim), claim.published
        if len(near) in (0, len(self.sweep)):
            what = (
                "every size would count as a hit" if near else "no size lies within the tolerance of the published one"
            )
            note = f"the sweep over {self.sweep.index.name} is too short or too coarse: {what}"
            return Outcome("not_testable", note=note)
        highest = [at for at, value in self.sweep.sort_index().items() if close(value, self.sweep.max())]
        found = max(highest, key=lambda at: abs(at - place))
        far = in_unit("relative", deviation("relative", found, place), "")
        return outcome_of(found in near, number(found), far)

    def _near(self, claim):
        measure, size = limit_of(claim)
        return [place for place in sorted(self.sweep.index) if within(measure, size, place, claim.published)]

    def margins(self, claim):
        near = self._near(claim)
        rest = self.sweep[[size for size in self.sweep.index if size not in near]]
        return np.array([self.sweep[near].max() - rest.max()] if len(rest) else [])
