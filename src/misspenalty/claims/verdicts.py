"""Deciding one claim: what was published, what came out, and whether the two agree."""

import itertools
from dataclasses import dataclass

from misspenalty.claims.cells import Reader
from misspenalty.claims.formula import Atom, UntestableError, Vector, align, calls, compare, evaluate
from misspenalty.claims.layout import TABLES
from misspenalty.claims.measures import (
    NEAR,
    SLACK,
    TIE,
    deviation,
    limit_of,
    neutral,
    number,
    tolerance_text,
    within,
)

VERDICTS = ("reproduced", "direction", "not_reproduced", "not_testable")


@dataclass
class Outcome:
    """Verdict on one claim, its numbers as text, and the cells that were read."""

    verdict: str
    reproduced: str = ""
    deviation: str = ""
    tolerance: str = ""
    note: str = ""
    cells: frozenset = frozenset()


def decide(claim, tables):
    """Judge one claim that has a `read`, on prepared tables.

    Returns
    -------
    Outcome
        ``not_testable`` with the reason where a table, column, row or number is missing.
    """
    reading = claim.reading
    reader = Reader(tables, claim.needs, reading.where, reading.without, swept=(reading.peak,) if reading.peak else ())
    try:
        outcome = _RULES[claim.kind](claim, reading, reader)
        outcome.note = "; ".join(filter(None, [outcome.note, *_reports(reading, reader)]))
    except UntestableError as error:
        outcome = Outcome("not_testable", tolerance=tolerance_text(claim), note=str(error))
    outcome.cells = frozenset(reader.cells)
    return outcome


def _verdict(holds, direction=False):
    return "reproduced" if holds else "direction" if direction else "not_reproduced"


def _reports(reading, reader):
    for label, tree in reading.report.items():
        try:
            yield f"{label}: {_text(evaluate(tree, reader))}"
        except UntestableError:
            yield f"{label}: not to be had"


def _point_text(keys, point, value):
    label = " ".join(number(p) for p in point if p is not None)
    return f"{label}: {number(value)}" if keys and label else number(value)


def _text(vector):
    """Values of a vector: one number, or point by point."""
    values = list(vector.data.values())
    if len({number(v) for v in values}) == 1:
        return number(values[0])
    return ", ".join(_point_text(vector.keys, p, v) for p, v in vector.data.items())


# --- value and ratio -------------------------------------------------------------------------------------------


def _same_side(claim, obtained):
    """Whether every obtained number lies on the published side of the neutral value."""
    middle = neutral(claim)
    if middle is None or compare("==", claim.published, middle):
        return False
    side = "<" if claim.published < middle else ">"
    return all(compare(side, value, middle) for value in obtained)


def _number(claim, reading, reader):
    if reading.peak:
        return _peak(claim, reading, reader)
    if len(reading.trees) > 1:
        return _setting(claim, reading, reader)
    vector = evaluate(reading.trees[0], reader)
    if isinstance(claim.published, list):
        return _listed(claim, vector)
    measure, size = limit_of(claim)
    values = list(vector.data.values())
    worst = max(values, key=lambda value: abs(deviation(measure, value, claim.published)))
    holds = all(within(measure, size, value, claim.published) for value in values)
    return Outcome(
        _verdict(holds, _same_side(claim, values)),
        _text(vector),
        number(deviation(measure, worst, claim.published)),
        tolerance_text(claim),
    )


def _listed(claim, vector):
    """A published list is compared with the distinct values in ascending order."""
    measure, size = limit_of(claim)
    values = sorted(set(vector.data.values()))
    published = claim.published
    holds = len(values) == len(published) and all(
        within(measure, size, a, b) for a, b in zip(values, published, strict=True)
    )
    gaps = [deviation(measure, a, b) for a, b in zip(values, published, strict=False)]
    worst = max(gaps, key=abs, default=0.0)
    return Outcome(_verdict(holds), ", ".join(map(number, values)), number(worst), tolerance_text(claim))


def _setting(claim, reading, reader):
    """A published setting has to be among those that were run."""
    measure, size = limit_of(claim)
    vectors = [evaluate(tree, reader) for tree in reading.trees]
    runs = [values for _, values in align(*vectors)[1]]

    def gaps(run):
        return [abs(deviation(measure, a, b)) for a, b in zip(run, claim.published, strict=True)]

    nearest = min(runs, key=lambda run: max(gaps(run)))
    holds = all(within(measure, size, a, b) for a, b in zip(nearest, claim.published, strict=True))
    return Outcome(_verdict(holds), ", ".join(map(number, nearest)), number(max(gaps(nearest))), tolerance_text(claim))


def _peak(claim, reading, reader):
    """Where the column is greatest: the published member or its neighbour in the sweep."""
    vector = evaluate(("atom", Atom(claim.needs, TABLES[claim.needs].values[0])), reader)
    place = vector.keys.index(reading.peak)
    sweep = sorted(vector.data.items(), key=lambda item: item[0][place])
    sizes = [point[place] for point, _ in sweep]
    near = [s for s in sizes if compare("==", s, claim.published)]
    below = [s for s in sizes if compare("<", s, claim.published)][-1:]
    above = [s for s in sizes if compare(">", s, claim.published)][:1]
    if len(near + below + above) == len(sizes):
        raise UntestableError(f"the sweep over {reading.peak} is too short: every size would count as a hit")
    found = sizes[max(range(len(sweep)), key=lambda i: sweep[i][1])]
    return Outcome(
        _verdict(found in near + below + above),
        number(found),
        number(deviation("relative", found, claim.published)),
        tolerance_text(claim),
    )


# --- ordering --------------------------------------------------------------------------------------------------


def _ordering(claim, reading, reader):
    if reading.test and reading.test[0] == "tree":
        return _comparison(claim, reading.test[1], reader)
    if reading.pairs:
        return _paired_order(claim, reading, reader)
    if not reading.by:
        return _comparison(claim, reading.trees[0], reader)
    members = list(itertools.chain.from_iterable(reading.groups))
    vectors = {member: evaluate(reading.trees[0], reader.fixing(**{reading.by: member})) for member in members}
    keys, rows = align(*vectors.values())
    order = [dict(zip(members, values, strict=True)) for _, values in rows]
    failed = [point for (point, _), values in zip(rows, order, strict=True) if not _ordered(claim, reading, values)]
    return Outcome(_verdict(not failed), _order_text(keys, rows, order, failed), "", tolerance_text(claim))


def _ordered(claim, reading, values):
    """Whether the values of the members, at one point, stand in the published order."""
    groups = [list(group) for group in reading.groups]
    everyone = set(values)
    if reading.test and reading.test[0] in ("lowest", "highest"):
        place, member = reading.test
        op = "<" if place == "lowest" else ">"
        return all(compare(op, values[member], values[other]) for other in everyone - {member})
    others = list(itertools.chain.from_iterable(groups[1:]))
    steps = [(groups[0], others)] if reading.test else list(itertools.pairwise(groups))
    ranked = all(compare("<", values[a], values[b]) for low, high in steps for a in low for b in high)
    return ranked and (not claim.tie or _tied([values[m] for m in groups[0]]))


def _tied(values):
    low, high = min(values), max(values)
    return high - low <= TIE * abs(low) + SLACK * max(abs(low), abs(high))


def _order_text(keys, rows, order, failed):
    if len(rows) == 1:
        ranked = sorted(order[0].items(), key=lambda item: item[1])
        return " <= ".join(f"{number(m)} {number(v)}" for m, v in ranked)
    return _count_text(len(rows), failed)


def _count_text(total, failed):
    if total == 1:
        return "does not hold" if failed else "holds"
    where = ", not at " + ", ".join(" ".join(number(p) for p in point if p is not None) for point in failed)
    return f"holds at {total - len(failed)} of {total} points{where if failed else ''}"


def _comparison(claim, tree, reader):
    """A formula that compares has to hold at every point."""
    vector = evaluate(tree, reader)
    failed = [point for point, holds in vector.data.items() if not holds]
    if tree[0] == "compare" and len(vector.data) == 1:
        text = " against ".join(_text(evaluate(side, reader)) for side in tree[2:])
    else:
        text = _count_text(len(vector.data), failed)
    return Outcome(_verdict(not failed), text, "", tolerance_text(claim))


def _pair_values(reading, reader):
    for pair in reading.pairs:
        sides = [(evaluate(reading.trees[0], reader.fixing(**side))) for side in pair]
        yield from (values for _, values in align(*sides)[1])


def _paired_order(claim, reading, reader):
    values = list(_pair_values(reading, reader))
    holds = all(compare("<", low, high) for low, high in values)
    text = ", ".join(f"{number(low)} against {number(high)}" for low, high in values)
    return Outcome(_verdict(holds), text, "", tolerance_text(claim))


# --- equivalence, trend, bound ---------------------------------------------------------------------------------


def _equivalence(claim, reading, reader):
    if reading.pairs:
        values = list(_pair_values(reading, reader))
    else:
        left, right = (evaluate(side, reader) for side in reading.trees[0][2:])
        values = [pair for _, pair in align(left, right)[1]]
    measure, size = limit_of(claim)
    holds = all(within(measure, size, a, b) for a, b in values)
    worst = max((deviation(measure, a, b) for a, b in values), key=abs)
    text = ", ".join(dict.fromkeys(f"{number(a)} against {number(b)}" for a, b in values))
    return Outcome(_verdict(holds), text, number(worst), tolerance_text(claim))


def _trend(claim, reading, reader):
    if not (reading.along or reading.scatter):
        return _comparison(claim, reading.trees[0], reader)
    vector = evaluate(reading.trees[0], reader)
    if reading.scatter:
        return _scatter(claim, reading, reader, vector)
    if reading.along not in vector.keys:
        raise UntestableError(f"{claim.needs} has a single {reading.along}")
    place = vector.keys.index(reading.along)
    series = {}
    for point, value in vector.data.items():
        if reading.order and point[place] not in reading.order:
            continue
        series.setdefault(point[:place] + point[place + 1 :], []).append((point[place], value))
    failed, texts = [], []
    for rest, pairs in series.items():
        pairs.sort(key=lambda pair: reading.order.index(pair[0]) if reading.order else pair[0])
        if len(pairs) < max(2, len(reading.order)):
            expected = ", ".join(map(number, reading.order)) or "two at least"
            raise UntestableError(f"{claim.needs} lacks a {reading.along}; needed are {expected}")
        op = "<" if reading.direction == "increasing" else ">"
        if not all(compare(op, a, b) for (_, a), (_, b) in itertools.pairwise(pairs)):
            failed.append(rest)
        texts.append(", ".join(f"{number(x)}: {number(y)}" for x, y in pairs))
    if not series:
        raise UntestableError(f"{claim.needs} has none of {', '.join(map(number, reading.order))}")
    text = texts[0] if len(texts) == 1 else _count_text(len(texts), failed)
    return Outcome(_verdict(not failed), text, "", tolerance_text(claim))


def _scatter(claim, reading, reader, vector):
    """A trend along a result: no pair of points may go against it, and one has to go with it."""
    tree, within_keys = reading.scatter
    keys, rows = align(vector, (evaluate(tree, reader)))
    groups = {}
    for point, (y, x) in rows:
        place = tuple(p for key, p in zip(keys, point, strict=True) if key in within_keys)
        groups.setdefault(place, []).append((x, y))
    sign = 1 if reading.direction == "increasing" else -1
    failed, total, agreeing = 0, 0, 0
    for points in groups.values():
        for (x1, y1), (x2, y2) in itertools.combinations(points, 2):
            side = (compare(">", x2, x1) - compare("<", x2, x1)) * (compare(">", y2, y1) - compare("<", y2, y1))
            total += 1
            failed += side * sign < 0
            agreeing += side * sign > 0
    text = f"{agreeing} of {total} pairs of points agree, {failed} go against it"
    return Outcome(_verdict(agreeing > 0 and not failed), text, "", tolerance_text(claim))


def _bound(claim, reading, reader):
    trees = reading.trees
    if trees[0][0] in ("and", "or") or (trees[0][0] == "compare" and not _is_amount(trees[0])):
        return _comparison(claim, trees[0], reader)
    op = claim.published["op"]
    if trees[0][0] == "compare":
        left, limits = evaluate(trees[0][2], reader), [evaluate(trees[0][3], reader)]
        op = trees[0][1]
    else:
        left = evaluate(trees[0], reader)
        for tree in trees[1:]:
            left = _added(left, evaluate(tree, reader))
        limits = [evaluate(tree, reader) for tree in reading.limits]
    rows = [values for _, values in align(left, *limits)[1]]
    measure, size = next(iter(claim.tolerance.items())) if claim.tolerance else ("absolute", 0)
    excess = [_excess(op, value, ends, measure, size) for value, *ends in rows]
    holds = all(fine for fine, _ in excess)
    worst = max(beyond for _, beyond in excess)
    direction = False
    if "near" in claim.published and holds:
        near = claim.published["near"]
        holds = all(within("relative", NEAR, value, near) for value, *_ in rows)
        middle = TABLES[claim.needs].neutral.get(reading.columns[0])
        direction = middle is not None and all((value > middle) == (near > middle) for value, *_ in rows)
    own = all(tree[0] == "number" for tree in reading.limits) and trees[0][0] != "compare"
    note = "" if own else "limit obtained: " + "; ".join(_text(limit) for limit in limits)
    return Outcome(_verdict(holds, direction), _text(left), number(worst), tolerance_text(claim), note)


def _is_amount(tree):
    """Whether the left side of a comparison is a quantity of its own rather than a share of true answers."""
    return not calls(tree, "fraction", "all")


def _added(left, right):
    _, rows = align(left, right)
    return Vector(left.keys, {point: sum(values) for point, values in rows}, left.own, left.inner)


def _excess(op, value, ends, measure, size):
    """Whether a bound holds, and by how much its limit is exceeded (negative: room left)."""

    def room(end):
        return size * (abs(end) if measure == "relative" else 1)

    if op == "in":
        low, high = ends[0] - room(ends[0]), ends[1] + room(ends[1])
        return compare(">=", value, low) and compare("<=", value, high), max(low - value, value - high)
    end = ends[0] + room(ends[0]) * (1 if op in ("<", "<=") else -1)
    return compare(op, value, end), value - end if op in ("<", "<=") else end - value


_RULES = {
    "value": _number,
    "ratio": _number,
    "ordering": _ordering,
    "equivalence": _equivalence,
    "trend": _trend,
    "bound": _bound,
}
