"""Define the forms that compare obtained numbers with each other: orders, trends, equivalences."""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.forms import (
    TIE,
    Form,
    borders,
    counted,
    deviation,
    in_unit,
    limit_of,
    outcome_of,
    paired,
    signed,
    within,
)
from misspenalty_studies.common.claims.numbers import DIGITS, SLACK, close, compare, label, number, rounded


def _where(holds):
    """Return a text that says at how many points of a Series of booleans a claim holds, and at which it does not."""
    if len(holds) == 1:
        return "holds" if holds.all() else "does not hold"
    where = "" if holds.all() else ", not at " + ", ".join(map(label, holds.index[~holds]))
    return f"holds at {int(holds.sum())} of {len(holds)} points{where}"


@dataclass
class Order(Form):
    """Numbers by member; the ledger states the order of the members."""

    members: dict  # member -> Series over the same points
    kinds = ("ordering",)

    def compare(self, claim, moved, write):
        rows, index = self._rows(claim)
        holds = pd.Series([all(fine for fine, *_ in _ranked(claim, row)) for row in rows], index=index)
        if len(holds) > 1:
            return outcome_of(holds.all(), _where(holds), **counted(holds))
        ranked = sorted(rows[0].items(), key=lambda item: item[1])
        half = {m: moved.spread(s, lambda form, m=m: form.members[m])[0] for m, s in self.members.items()}
        told = [f"{number(m)} {write(x) if write else _distinct(x, half[m], rows[0])}" for m, x in ranked]
        return outcome_of(holds.all(), " <= ".join(told), **counted(holds))

    def _rows(self, claim):
        listed = list(itertools.chain.from_iterable(groups_of(claim)))
        if set(listed) != set(self.members):
            ranked, recorded = (", ".join(sorted(map(str, names))) for names in (listed, self.members))
            raise InputError(f"claim {claim.id} ranks {ranked}, but {recorded} were recorded")
        rows = [dict(zip(listed, row, strict=True)) for row in zip(*(self.members[m] for m in listed), strict=True)]
        return rows, self.members[listed[0]].index

    def margins(self, claim):
        found = [(margin, fine) for row in self._rows(claim)[0] for fine, margin, _ in _ranked(claim, row)]
        return signed(found)

    def blur(self, claim):
        if not claim.clear:
            return 0.0
        return np.array([TIE * scale for row in self._rows(claim)[0] for *_, scale in _ranked(claim, row)])


def groups_of(claim):
    """Return the published groups of members from low to high."""
    return claim.published["low_to_high"] if isinstance(claim.published, dict) else claim.published


def _distinct(value, half, row):
    """Return a number as text, with enough digits to distinguish the members."""
    for digits in range(DIGITS, 10):
        if len({rounded(x, digits) for x in row.values()}) == len(set(row.values())):
            break
    return rounded(value, digits, 0 if digits > DIGITS else half)


def _ranked(claim, values):
    """Return the comparisons of an order at one point, each as a tuple: whether it holds, its margin, and the smaller
    magnitude of the two numbers (0 for a published tie)."""
    groups = groups_of(claim)
    rest = list(itertools.chain.from_iterable(groups[1:]))
    steps = [(groups[0], rest)] if isinstance(claim.published, dict) else itertools.pairwise(groups)
    found = []
    if claim.tie:
        first = [values[member] for member in groups[0]]
        allowed, slack = TIE * abs(min(first)), SLACK * max(map(abs, first))
        found += [(b - a <= allowed + slack, allowed - (b - a), 0.0) for a, b in itertools.permutations(first, 2)]
    for low, high in steps:
        for a, b in itertools.product((values[m] for m in low), (values[m] for m in high)):
            found.append((compare("<", a, b), b - a, min(abs(a), abs(b))))
    return found


@dataclass
class Comparison(Form):
    """Two quantities that must satisfy the claimed relation at every point; booleans are compared with ``== 1``."""

    left: pd.Series
    op: str
    right: pd.Series
    kinds = ("ordering", "trend", "bound")

    def compare(self, claim, moved, write):
        pairs, points = paired(self.left, self.right)
        holds = pd.Series([compare(self.op, *pair) for pair in pairs], index=points)
        single = len(pairs) == 1 and self.op != "=="
        shown = " against ".join(map(write or rounded, pairs[0])) if single else _where(holds)
        return outcome_of(holds.all(), shown, **counted(holds))

    def margins(self, claim):
        pairs, _ = paired(self.left, self.right)
        if self.op == "==":
            return np.array([0.5 if close(*pair) else -0.5 for pair in pairs])
        sign = 1 if self.op in ("<", "<=") else -1
        return signed([(sign * (b - a), compare(self.op, a, b)) for a, b in pairs])


@dataclass
class Equality(Form):
    """Two quantities that are claimed to be equal at every point; a relative tolerance is a share of `right`."""

    left: pd.Series
    right: pd.Series
    kinds = ("equivalence",)

    def compare(self, claim, moved, write):
        measure, size = limit_of(claim)
        pairs, _ = paired(self.left, self.right)
        write = write or rounded
        shown = ", ".join(dict.fromkeys(f"{write(a)} against {write(b)}" for a, b in pairs))
        worst = max((deviation(measure, *pair) for pair in pairs), key=abs)
        fine = [within(measure, size, *pair) for pair in pairs]
        return outcome_of(all(fine), shown, in_unit(measure, worst, claim.unit), **counted(fine))

    def margins(self, claim):
        measure, size = limit_of(claim)
        pairs, _ = paired(self.left, self.right)
        return signed([side for pair in pairs for side in borders(measure, size, *pair)])


@dataclass
class Trend(Form):
    """Numbers along a key; every step must have the published direction."""

    steps: pd.Series
    kinds = ("trend",)

    def complete(self):
        """Tell whether every number is present and finite, and there are at least two to compare."""
        return len(self.steps) > 1 and super().complete()

    def compare(self, claim, moved, write):
        half = moved.spread(self.steps, lambda form: form.steps)
        told = [write(y) if write else rounded(y, half=h) for y, h in zip(self.steps, half, strict=True)]
        shown = ", ".join(f"{label(x)}: {y}" for x, y in zip(self.steps.index, told, strict=True))
        holds = [holds for _, holds in self._moves(claim)]
        return outcome_of(all(holds), shown, **counted(holds))

    def _moves(self, claim):
        """Return the size of each step in the published direction, and whether the step has this direction."""
        op = {"increasing": "<", "decreasing": ">"}[claim.published]
        return [((b - a) * _direction(claim), compare(op, a, b)) for a, b in itertools.pairwise(self.steps)]

    def margins(self, claim):
        return signed(self._moves(claim))


@dataclass
class Scatter(Form):
    """Results (x, y) by group; points of the same group are paired; at least one pair must have the published
    direction, and none the opposite one."""

    groups: list  # pairs (x, y) of Series
    kinds = ("trend",)

    def complete(self):
        """Tell whether every number is present and finite, and there are at least two points to compare."""
        return bool(self._couples()) and super().complete()

    def _couples(self):
        return [pair for x, y in self.groups for pair in itertools.combinations(zip(x, y, strict=True), 2)]

    def compare(self, claim, moved, write):
        sides = [_side(claim, *couple) for couple in self._couples()]
        shown = f"{sides.count(1)} of {len(sides)} pairs of points agree, {sides.count(-1)} go against it"
        return outcome_of(1 in sides and -1 not in sides, shown, agreeing=sides.count(1), points=len(sides))

    def margins(self, claim):
        found = [((b[0] - a[0]) * (b[1] - a[1]), _side(claim, a, b) >= 0) for a, b in self._couples()]
        return signed([(margin * _direction(claim), holds) for margin, holds in found])


def _direction(claim):
    return 1 if claim.published == "increasing" else -1


def _side(claim, a, b):
    """Return 1 if two points have the published direction, -1 if they have the opposite one, otherwise 0."""
    return _sign(a[0], b[0]) * _sign(a[1], b[1]) * _direction(claim)


def _sign(a, b):
    return compare("<", a, b) - compare(">", a, b)
