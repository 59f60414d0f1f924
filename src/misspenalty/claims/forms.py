"""What a study records for a claim, and how the judge compares it with the ledger.

A form holds obtained numbers and defines how they are compared. Published values, orders, directions, limits and
tolerances reach it only in `decide`, which the judge calls after the study's function has returned.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from misspenalty.errors import InputError

VERDICTS = ("reproduced", "direction", "not_reproduced", "not_testable")
TOLERANCES = {"value": 0.15, "ratio": 0.15, "equivalence": 0.10}  # relative
TIE = 0.05
NEAR = 0.10  # "almost ten" is nine to ten
SLACK = 1e-9  # numbers that agree to nine digits are equal: sums of printed decimals are not exact in binary


@dataclass
class Outcome:
    """Verdict on one claim, and its numbers as text."""

    verdict: str
    reproduced: str = ""
    deviation: str = ""
    note: str = ""


def series(values):
    """Obtained numbers as a Series whose index names the points."""
    if isinstance(values, xr.DataArray):
        values = values.to_series() if values.ndim else values.item()
    return values if isinstance(values, pd.Series) else pd.Series(np.ravel(values))


def close(a, b, digits_of=0.0):
    """Whether two numbers agree to nine digits, of the greater one or of `digits_of`."""
    return abs(a - b) <= SLACK * max(abs(a), abs(b), abs(digits_of))


def compare(op, a, b, digits_of=0.0):
    """Compare two numbers; those that agree to nine digits are equal."""
    if close(a, b, digits_of):
        return op in ("<=", ">=", "==")
    return op != "==" and (a < b) == (op in ("<", "<="))


def below(low, high):
    """Where `low` is below `high`: 1 or 0, NaN if either is missing; numbers that agree to nine digits are equal."""
    low, high = xr.broadcast(*(side if isinstance(side, xr.DataArray) else xr.DataArray(side) for side in (low, high)))
    truth = (low < high) & (abs(low - high) > SLACK * np.maximum(abs(low), abs(high)))
    return truth.astype(float).where(low.notnull() & high.notnull())


def number(value):
    """A number as text: at most six significant digits, the same on every machine."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    return f"{value:.6g}" if isinstance(value, int | float | np.number) else str(value)


def label(point):
    """The name of a point of a Series."""
    return " ".join(map(number, point if isinstance(point, tuple) else (point,)))


def text(values):
    """Numbers as text: a single one if all print the same, otherwise point by point."""
    if len({number(value) for value in values}) == 1:
        return number(values.iloc[0])
    return ", ".join(f"{label(point)}: {number(value)}" for point, value in values.items())


def limit_of(claim):
    """Tolerance of a claim: ("relative" | "absolute", size)."""
    return next(iter(claim.tolerance.items())) if claim.tolerance else ("relative", TOLERANCES[claim.kind])


def deviation(measure, obtained, reference):
    """Signed distance of `obtained` from `reference`: a share of it (relative) or a difference (absolute)."""
    difference = 0.0 if close(obtained, reference) else obtained - reference
    if measure == "absolute" or not difference:
        return difference
    return difference / abs(reference) if reference else math.copysign(math.inf, difference)


def within(measure, size, obtained, reference):
    """Whether `obtained` lies within the tolerance, inclusive."""
    room = size * (abs(reference) if measure == "relative" else 1)
    return abs(obtained - reference) <= room + SLACK * max(abs(obtained), abs(reference))


def _outcome(holds, shown, worst=None, direction=False, note=""):
    verdict = "reproduced" if holds else "direction" if direction else "not_reproduced"
    return Outcome(verdict, shown, "" if worst is None else number(worst), note)


def _points(holds):
    """How many points hold, and which do not, from a Series of booleans."""
    if len(holds) == 1:
        return "holds" if holds.all() else "does not hold"
    where = "" if holds.all() else ", not at " + ", ".join(map(label, holds.index[~holds]))
    return f"holds at {int(holds.sum())} of {len(holds)} points{where}"


def _pairs(a, b):
    """Two Series as pairs, and the points; a single number goes with every point of the other."""
    wide = a if len(a) >= len(b) else b
    sides = (side if len(side) > 1 else [side.iloc[0]] * len(wide) for side in (a, b))
    return list(zip(*sides, strict=True)), wide.index


class Form:
    """Obtained numbers (Series), to be compared with a claim of one of the `kinds` by ``decide(claim)``."""

    kinds, tolerance = (), ""

    def complete(self):
        """Whether no number is missing."""
        return all(len(part) and np.isfinite(part.to_numpy(float)).all() for part in _parts(vars(self)))


def _parts(value):
    if isinstance(value, pd.Series | pd.DataFrame):
        yield value
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)


@dataclass
class Amount(Form):
    """Numbers against a published number or list, or within a limit (the published one unless `limits` are given)."""

    obtained: pd.Series
    neutral: float | None = None
    limits: tuple = ()
    digits_of: float = 0.0
    kinds = ("value", "ratio", "bound")

    def decide(self, claim):
        if claim.kind == "bound":
            return self._bound(claim)
        (measure, size), published, listed = limit_of(claim), claim.published, isinstance(claim.published, list)
        wanted = published if listed else [published] * len(self.obtained)
        pairs = list(zip(self.obtained, wanted, strict=False))
        holds = len(wanted) == len(self.obtained) and all(within(measure, size, *pair) for pair in pairs)
        worst = max((deviation(measure, *pair) for pair in pairs), key=abs)
        shown = ", ".join(map(number, self.obtained)) if listed else text(self.obtained)
        return _outcome(holds, shown, worst, not listed and self._on_side(published))

    def _on_side(self, published):
        """Whether every number lies on the published side of the neutral value."""
        if self.neutral is None or close(published, self.neutral):
            return False
        return all(compare("<" if published < self.neutral else ">", value, self.neutral) for value in self.obtained)

    def _bound(self, claim):
        op, limit, near = (claim.published.get(key) for key in ("op", "limit", "near"))
        limits = self.limits or tuple(map(series, limit if isinstance(limit, list) else [limit]))
        measure, size = next(iter(claim.tolerance.items())) if claim.tolerance else ("absolute", 0)
        rows = zip(*([end for end, _ in _pairs(end, self.obtained)[0]] for end in limits), strict=True)
        excess = [self._excess(op, value, ends, measure, size) for value, ends in zip(self.obtained, rows, strict=True)]
        holds, direction = all(fine for fine, _ in excess), False
        if near is not None and holds:
            holds, direction = all(within("relative", NEAR, x, near) for x in self.obtained), self._on_side(near)
        note = "limit obtained: " + "; ".join(map(text, limits)) if self.limits else ""
        return _outcome(holds, text(self.obtained), max(beyond for _, beyond in excess), direction, note)

    def _excess(self, op, value, ends, measure, size):
        """Whether a bound holds, and by how much its limit is exceeded (negative: room left)."""
        low, high = (-math.inf, ends[0]) if op in ("<", "<=") else (ends[0], math.inf) if op in (">", ">=") else ends
        low, high = (
            end + sign * size * (abs(end) if measure == "relative" else 1) for end, sign in ((low, -1), (high, 1))
        )
        below_high, above_low = ("<=", ">=") if op == "in" else (op, op)
        holds = (high == math.inf or compare(below_high, value, high, self.digits_of)) and (
            low == -math.inf or compare(above_low, value, low, self.digits_of)
        )
        return holds, max(low - value, value - high)


@dataclass
class Setting(Form):
    """Settings that were run, one per row; the published one has to be among them."""

    runs: pd.DataFrame
    kinds = ("value",)

    def decide(self, claim):
        measure, size = limit_of(claim)
        rows = [list(zip(run, claim.published, strict=True)) for run in self.runs.to_numpy().tolist()]
        gaps = [max(abs(deviation(measure, *pair)) for pair in row) for row in rows]
        nearest = rows[gaps.index(min(gaps))]
        holds = all(within(measure, size, *pair) for pair in nearest)
        return _outcome(holds, ", ".join(number(obtained) for obtained, _ in nearest), min(gaps))


@dataclass
class Peak(Form):
    """Where a sweep is greatest: at the published place or a neighbour of it."""

    sweep: pd.Series
    kinds, tolerance = ("value",), "next size of the sweep"

    def decide(self, claim):
        sizes, place, found = sorted(self.sweep.index), claim.published, self.sweep.idxmax()
        at, under, over = ([size for size in sizes if compare(op, size, place)] for op in ("==", "<", ">"))
        near = at + under[-1:] + over[:1]
        if len(near) == len(sizes):
            note = f"the sweep over {self.sweep.index.name} is too short: every size would count as a hit"
            return Outcome("not_testable", note=note)
        return _outcome(found in near, number(found), deviation("relative", found, place))


@dataclass
class Order(Form):
    """Numbers by member; the ledger says which members are to be below which."""

    members: dict  # member -> Series over the same points
    kinds = ("ordering",)

    def decide(self, claim):
        groups = groups_of(claim)
        listed = list(itertools.chain.from_iterable(groups))
        if set(listed) != set(self.members):
            ranked, recorded = (", ".join(sorted(map(str, names))) for names in (listed, self.members))
            raise InputError(f"claim {claim.id} ranks {ranked}, but {recorded} were recorded")
        rows = [dict(zip(listed, row, strict=True)) for row in zip(*(self.members[m] for m in listed), strict=True)]
        holds = pd.Series([_ranked(claim, groups, row) for row in rows], index=self.members[listed[0]].index)
        if len(holds) > 1:
            return _outcome(holds.all(), _points(holds))
        ranked = sorted(rows[0].items(), key=lambda item: item[1])
        return _outcome(holds.all(), " <= ".join(f"{number(m)} {number(x)}" for m, x in ranked))


def groups_of(claim):
    """Published groups of members from low to high."""
    return claim.published["low_to_high"] if isinstance(claim.published, dict) else claim.published


def _ranked(claim, groups, values):
    """Whether the members, at one point, are in the published order; or have the published best."""
    rest = list(itertools.chain.from_iterable(groups[1:]))
    steps = [(groups[0], rest)] if isinstance(claim.published, dict) else itertools.pairwise(groups)
    first = [values[member] for member in groups[0]]
    tied = not claim.tie or max(first) - min(first) <= TIE * abs(min(first)) + SLACK * max(map(abs, first))
    return tied and all(compare("<", values[a], values[b]) for low, high in steps for a in low for b in high)


@dataclass
class Comparison(Form):
    """Two quantities between which the statement claims a relation, at every point; or booleans, ``== 1``."""

    left: pd.Series
    op: str
    right: pd.Series
    kinds = ("ordering", "trend", "bound")

    def decide(self, claim):
        pairs, points = _pairs(self.left, self.right)
        holds = pd.Series([compare(self.op, *pair) for pair in pairs], index=points)
        single = len(pairs) == 1 and self.op != "=="
        return _outcome(holds.all(), " against ".join(map(number, pairs[0])) if single else _points(holds))


@dataclass
class Equality(Form):
    """Two quantities that are claimed to be equal, at every point; differences are shares of the second."""

    left: pd.Series
    right: pd.Series
    kinds = ("equivalence",)

    def decide(self, claim):
        measure, size = limit_of(claim)
        pairs, _ = _pairs(self.left, self.right)
        shown = ", ".join(dict.fromkeys(f"{number(a)} against {number(b)}" for a, b in pairs))
        worst = max((deviation(measure, *pair) for pair in pairs), key=abs)
        return _outcome(all(within(measure, size, *pair) for pair in pairs), shown, worst)


@dataclass
class Trend(Form):
    """Numbers along a key, each step in the published direction."""

    steps: pd.Series
    kinds = ("trend",)

    def decide(self, claim):
        op = {"increasing": "<", "decreasing": ">"}[claim.published]
        shown = ", ".join(f"{label(x)}: {number(y)}" for x, y in self.steps.items())
        return _outcome(all(compare(op, a, b) for a, b in itertools.pairwise(self.steps)), shown)


@dataclass
class Scatter(Form):
    """Two results: within each group no two points go against the published direction, and some go with it."""

    groups: list  # of (x, y), two Series
    kinds = ("trend",)

    def decide(self, claim):
        pairs = [pair for x, y in self.groups for pair in itertools.combinations(zip(x, y, strict=True), 2)]
        sides = [
            _sign(a[0], b[0]) * _sign(a[1], b[1]) * (1 if claim.published == "increasing" else -1) for a, b in pairs
        ]
        shown = f"{sides.count(1)} of {len(sides)} pairs of points agree, {sides.count(-1)} go against it"
        return _outcome(1 in sides and -1 not in sides, shown)


def _sign(a, b):
    return compare("<", a, b) - compare(">", a, b)
