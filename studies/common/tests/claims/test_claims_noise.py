"""Test the effect of noise in the tables on verdicts: ties, intervals and rounding."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty_studies.common.claims.ledger import Claim
from misspenalty_studies.common.claims.noise import RUNS, Moved, runs
from misspenalty_studies.common.claims.numbers import rounded
from misspenalty_studies.common.claims.report import judge
from misspenalty_studies.common.claims.tables import Table, cross
from misspenalty_studies.common.statistics import half_width

PLACES = tuple(range(6))
TABLES = {"t": Table(("at",), ("ms", "count"), cross(at=PLACES))}


def entry(id, kind, published, role="claim", **more):
    facts = {"study": "x", "source": "Table 1", "statement": "A statement.", "status": "stated"}
    return Claim(id=id, kind=kind, published=published, role=role, **facts, **more)


def table(values, halves, seeds=5):
    frame = pd.DataFrame({"at": PLACES[: len(values)], "ms": values, "count": 1.0, "ms_ci95": halves, "seeds": seeds})
    return frame if halves is not None else frame.drop(columns=["ms_ci95", "seeds"])


def verdict(one, record, values, halves):
    """Return the row of one claim on a table, which has intervals unless `halves` is None."""
    study = SimpleNamespace(TABLES=TABLES, claims=lambda recorder, tables: record(recorder, tables["t"].ms))
    return judge([one], {"x": study}, {"x_t": table(values, halves)}).iloc[0]


def value(recorder, ms):
    recorder.value("x.one", ms[0], neutral=0)


@pytest.mark.parametrize(
    ("obtained", "half", "expected"),
    [
        (10.0, 0.4, "reproduced"),
        (11.4, 0.2, "tie"),  # 11.5 is the edge, which the interval crosses from inside
        (11.6, 0.2, "tie"),  # the interval crosses the edge from outside
        (11.8, 0.2, "direction"),
        (11.8, 0.0, "direction"),
        (10.0, 9.0, "tie"),
        (10.5, 1.2, "tie"),  # the interval lies on both sides of the published number, and crosses one edge
        (-1.0, 0.5, "not_reproduced"),
        (0.5, 0.7, "not_reproduced"),  # above zero, but by less than the noise
    ],
)
def test_a_number_whose_interval_crosses_the_tolerance_is_a_tie(obtained, half, expected):
    row = verdict(entry("x.one", "ratio", 10), value, [obtained], [half])
    assert row["verdict"] == expected and row["seeds"] == "5"
    if half:
        assert [float(row[end]) for end in ("low", "high")] == pytest.approx([obtained - half, obtained + half])
    else:
        assert (row["low"], row["high"]) == ("", "")


def test_a_ratio_of_numbers_that_may_be_zero_is_not_certain():
    def ratio(recorder, ms):
        recorder.value("x.one", ms[0] / ms[1])

    row = verdict(entry("x.one", "ratio", 1.0), ratio, [1.0, 1.0], [1.0, 1.0])
    assert (row["verdict"], row["low"], row["high"]) == ("tie", "-inf", "inf")
    assert Moved((1.0, np.inf), seeds=True).spread([1.0], lambda form: [form]).tolist() == [np.inf]


def test_a_claim_on_tables_with_different_runs_has_the_larger_number_of_seeds():
    study = SimpleNamespace(
        TABLES=TABLES | {"u": TABLES["t"]},
        claims=lambda record, tables: record.value("x.one", tables["t"].ms[0] + tables["u"].ms[0], neutral=0),
    )
    given = {"x_t": table([4.0], [0.1], seeds=3), "x_u": table([6.0], [0.1], seeds=8)}
    row = judge([entry("x.one", "ratio", 10)], {"x": study}, given).iloc[0]
    assert (row["verdict"], row["seeds"]) == ("reproduced", "8")


def test_without_intervals_nothing_is_a_tie_and_there_is_one_run():
    row = verdict(entry("x.one", "ratio", 10), value, [11.4], None)
    assert (row["verdict"], row["low"], row["high"], row["seeds"]) == ("reproduced", "", "", "1")


@pytest.mark.parametrize(
    ("values", "expected"),
    [((1.0, 2.0), "reproduced"), ((1.0, 1.3), "tie"), ((1.3, 1.0), "tie"), ((2.0, 1.0), "not_reproduced")],
)
def test_an_order_closer_than_its_intervals_is_a_tie(values, expected):
    """The difference of two numbers with half widths of 0.3 must have a half width of 0.42."""

    def order(recorder, ms):
        recorder.order("x.one", {"a": ms[0], "b": ms[1]})

    assert verdict(entry("x.one", "ordering", [["a"], ["b"]]), order, values, [0.3, 0.3])["verdict"] == expected


def test_one_point_that_certainly_fails_outweighs_ties():
    def order(recorder, ms):
        recorder.order("x.one", {"a": ms[[0, 1]], "b": ms[[2, 3]].set_axis([0, 1])})

    one = entry("x.one", "ordering", [["a"], ["b"]])
    assert verdict(one, order, [1.0, 5.0, 1.1, 2.0], [0.2] * 4)["verdict"] == "not_reproduced"
    assert verdict(one, order, [1.0, 1.0, 1.1, 2.0], [0.2] * 4)["verdict"] == "tie"
    assert verdict(one, order, [1.0, 1.0, 1.5, 2.0], [0.2] * 4)["verdict"] == "reproduced"


@pytest.mark.parametrize(
    ("kind", "published", "record"),
    [
        ("trend", "words", lambda r, ms: r.compared("x.one", ms[[0, 1]], "<=", ms[[2, 3]])),
        ("value", [0, 1.0], lambda r, ms: r.value("x.one", ms[[0, 1]] - ms[[2, 2]].to_numpy() * [1, 0])),
        ("bound", {"op": "<=", "limit": 1}, lambda r, ms: r.bound("x.one", ms[[0, 1]])),
        ("bound", {"op": "in", "limit": [1, 1.1]}, lambda r, ms: r.bound("x.one", ms[[0, 1]])),
        ("equivalence", "words", lambda r, ms: r.equal("x.one", ms[[0, 1]] * [0, 1], ms[[2, 3]] * [0, 1])),
        ("trend", "increasing", lambda r, ms: r.rises_with("x.one", ms[[0, 1, 2]], pd.Series([1.0, 0.0, 1.0]))),
    ],
)
def test_a_point_that_holds_by_equal_numbers_does_not_outweigh_a_tie(kind, published, record):
    """At the second point, the interval of 1.2 crosses the limit; the numbers of the other points are exact."""
    row = verdict(entry("x.one", kind, published), record, [1.0, 1.2, 1.0, 1.0], [0.0, 0.3, 0.0, 0.0])
    assert row["verdict"] == "tie"


def test_equal_numbers_outweigh_a_tie_in_an_order_even_if_they_differ_in_binary():
    def below(recorder, ms):
        recorder.compared("x.one", ms[[0, 1]], "<", ms[[2, 3]])

    one = entry("x.one", "trend", "words")
    for sum_of_decimals in (0.3, 0.1 + 0.2):
        row = verdict(one, below, [0.3, 1.2, sum_of_decimals, 1.0], [0.0, 0.3, 0.0, 0.0])
        assert row["verdict"] == "not_reproduced"


@pytest.mark.parametrize(
    ("kind", "published", "record", "tie"),
    [
        ("trend", "increasing", lambda r, ms: r.trend("x.one", ms[[0, 1, 2]]), [1.0, 2.0, 2.1]),
        ("bound", {"op": ">", "limit": 1}, lambda r, ms: r.bound("x.one", ms[0]), [1.1]),
        ("equivalence", ["a", "b"], lambda r, ms: r.equal("x.one", ms[0], ms[1]), [1.0, 1.15]),
        ("trend", "words", lambda r, ms: r.compared("x.one", ms[0], "<", ms[1]), [1.0, 1.1]),
        ("value", 1, lambda r, ms: r.peak("x.one", ms.rename_axis("mb")), [1.0, 1.9, 1.0, 1.0, 2.0, 1.0]),
        ("trend", "words", lambda r, ms: r.holds("x.one", pd.Series([float(ms[0] < ms[1])])), [1.0, 1.1]),
    ],
)
def test_every_form_knows_ties(kind, published, record, tie):
    assert verdict(entry("x.one", kind, published), record, tie, [0.2] * len(tie))["verdict"] == "tie"
    assert verdict(entry("x.one", kind, published), record, tie, None)["verdict"] != "tie"


def test_a_condition_is_decided_without_noise():
    one = entry("x.one", "ratio", 10, role="given")
    assert verdict(one, value, [11.4], [0.5])["verdict"] == "reproduced"


@pytest.mark.parametrize(("clear", "expected"), [(True, "tie"), (False, "reproduced")])
def test_a_clear_order_needs_more_than_5_percent(clear, expected):
    def order(recorder, ms):
        recorder.order("x.one", {"epcm": ms[0], "hot": ms[1]})

    one = entry("x.one", "ordering", [["epcm"], ["hot"]], clear=clear)
    assert verdict(one, order, [241.0, 251.0], None)["verdict"] == expected
    assert verdict(one, order, [241.0, 260.0], None)["verdict"] == "reproduced"
    assert verdict(one, order, [260.0, 241.0], None)["verdict"] == "not_reproduced"


@pytest.mark.parametrize(
    ("obtained", "expected"),
    [(40.0, "reproduced"), (34.0, "reproduced"), (46.0, "reproduced"), (46.1, "not_reproduced"), (17.3, "direction"),
     (0.0, "not_reproduced"), (-5.0, "not_reproduced")],
)  # fmt: skip
def test_up_to_is_a_value_and_a_limit(obtained, expected):
    one = entry("x.one", "bound", {"op": "<=", "limit": 40, "reached": True}, unit="%")
    row = verdict(one, lambda recorder, ms: recorder.bound("x.one", ms[0], neutral=0), [obtained], None)
    assert row["verdict"] == expected
    assert (row["published"], row["form"], row["tolerance"]) == ("up to 40", "number", "15 %")
    assert float(row["deviation"].removesuffix(" points")) == pytest.approx(obtained - 40)


@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(0.01, 3)), min_size=1, max_size=31))
def test_the_spread_of_a_sum_is_the_root_of_the_summed_squares(cells):
    """The spread of a weighted sum must follow the closed formula if there are fewer cells than runs of the design."""
    weights, halves = np.array(cells).T
    frame, half = pd.DataFrame({"ms": np.zeros(len(cells))}), pd.DataFrame({"ms": halves})
    moved = Moved(tuple(float(weights @ run["t"]["ms"]) for run in runs({"t": frame}, {"t": half})))
    assert moved.spread([0.0], lambda total: [total])[0] == pytest.approx(
        np.sqrt(((weights * halves) ** 2).sum()), abs=1e-9
    )


def test_more_cells_than_runs_share_the_signs_in_turn():
    frame = pd.DataFrame({"ms": np.arange(1.0, 2 * RUNS + 8)})
    moved = np.array([run["t"]["ms"] for run in runs({"t": frame}, {"t": frame * 0 + 0.5})])
    signs = 2 * (moved - frame["ms"].to_numpy())
    assert signs.shape == (RUNS, 2 * RUNS + 7) and set(np.unique(signs)) == {-1, 1}
    assert not signs.sum(axis=0).any()
    for place in range(2 * RUNS + 7):
        assert (signs[:, place] == signs[:, place % (RUNS - 1)]).all()
    assert np.linalg.matrix_rank(signs) == RUNS - 1


def test_tables_without_intervals_need_no_runs():
    frame = pd.DataFrame({"ms": [1.0, 2.0]})
    assert list(runs({"t": frame}, {"t": frame * 0})) == []
    assert Moved().spread([1.0, 2.0], list).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("apart", "samples", "expected"),
    [
        (0.1, True, "reproduced"),  # b is 0.1 above a with every seed: the difference has no noise
        (0.1, False, "tie"),  # the means are the same, but only their intervals are known
        (-0.1, True, "not_reproduced"),
    ],
)
def test_an_order_is_judged_on_the_paired_differences_of_the_seeds(apart, samples, expected):
    seeds = np.array([1.0, 2.0, 3.0, 4.0])
    both = [pd.DataFrame({"at": [0, 1], "ms": [ms, ms + apart], "count": 1.0, "seed": n}) for n, ms in enumerate(seeds)]
    means = table([2.5, 2.5 + apart], [half_width(seeds.std(ddof=1), 4)] * 2, seeds=4)
    tables = {"t": Table(("at",), ("ms", "count"), cross(at=(0, 1)), by_seed=True)}
    study = SimpleNamespace(
        TABLES=tables, claims=lambda record, t: record.order("x.one", {"a": t["t"].ms[0], "b": t["t"].ms[1]})
    )
    given = {"x_t": means} | ({"x_t_by_seed": pd.concat(both)} if samples else {})
    row = judge([entry("x.one", "ordering", [["a"], ["b"]])], {"x": study}, given).iloc[0]
    assert row["verdict"] == expected


@pytest.mark.parametrize(
    ("kind", "published", "record", "more"),
    [
        ("value", 10, lambda r, ms: r.value("x.one", ms[0]), {}),
        ("equivalence", ["a", "b"], lambda r, ms: r.equal("x.one", ms[0], 10.0), {}),
        ("ordering", [["a", "b"]], lambda r, ms: r.order("x.one", {"a": ms[0], "b": ms[1]}), {"tie": True}),
    ],
)
def test_seeds_outside_both_edges_of_a_tolerance_make_a_tie(kind, published, record, more):
    """The numbers of both seeds are equally far from the middle, so their distances from it do not differ."""
    each = [pd.DataFrame({"at": [0, 1], "ms": [ms, 20 - ms], "count": 1.0, "seed": ms}) for ms in (7.0, 13.0)]
    study = SimpleNamespace(
        TABLES={"t": Table(("at",), ("ms", "count"), cross(at=(0, 1)), by_seed=True)},
        claims=lambda recorder, tables: record(recorder, tables["t"].ms),
    )
    given = {"x_t": table([10.0, 10.0], [half_width(18**0.5, 2)] * 2, seeds=2), "x_t_by_seed": pd.concat(each)}
    assert judge([entry("x.one", kind, published, **more)], {"x": study}, given).iloc[0]["verdict"] == "tie"


@pytest.mark.parametrize("seeds", [[], [7]])
def test_without_two_shared_seeds_the_intervals_of_the_means_are_used(seeds):
    """Student's t has no interval for one value; a number far from the published one must not be judged
    ``direction``."""
    each = pd.DataFrame({"at": 0, "ms": -5.0, "count": 1.0, "seed": seeds})
    study = SimpleNamespace(
        TABLES={"t": Table(("at",), ("ms", "count"), cross(at=(0,)), by_seed=True)},
        claims=lambda record, tables: value(record, tables["t"].ms),
    )
    given = {"x_t": table([-5.0], [0.5]), "x_t_by_seed": each}
    row = judge([entry("x.one", "ratio", 12)], {"x": study}, given).iloc[0]
    assert (row["verdict"], row["low"], row["high"]) == ("not_reproduced", "-5.5", "-4.5")


def test_a_table_without_rows_is_not_testable_even_if_it_counts_seeds():
    row = verdict(entry("x.one", "ratio", 10), value, [], [])
    assert row["verdict"] == "not_testable" and "x_t has no row for at 0" in row["note"]


def test_a_single_number_has_the_same_interval_from_its_seeds():
    seeds = np.array([9.0, 11.0, 13.0])
    each = pd.concat([pd.DataFrame({"at": [0], "ms": [ms], "count": 1.0, "seed": n}) for n, ms in enumerate(seeds)])
    means = table([11.0], [half_width(seeds.std(ddof=1), 3)], seeds=3)
    study = SimpleNamespace(
        TABLES={"t": Table(("at",), ("ms", "count"), cross(at=(0,)), by_seed=True)},
        claims=lambda record, tables: value(record, tables["t"].ms),
    )
    one = entry("x.one", "ratio", 10)
    found = [
        judge([one], {"x": study}, given).iloc[0] for given in ({"x_t": means}, {"x_t": means, "x_t_by_seed": each})
    ]
    assert found[0].equals(found[1])


@pytest.mark.parametrize(
    ("number", "half", "written"),
    [(7.28347, 0, "7.283"), (71355, 0, "71355"), (44.7489, 17.9, "45"), (5.34016, 0.0297, "5.34"),
     (0.0445, 0, "0.0445"), (-0.0, 0, "0"), (1098.42, 2.7, "1098.4"), (1234567.8, 0, "1235000"), (1e-7, 0, "1e-07"),
     (1e-6, 0, "0.000001"), (float("inf"), 0, "inf"), (-0.4, 18.3, "0"), (-0.6, 18.3, "-1")],
)  # fmt: skip
def test_a_number_is_rounded_to_its_known_digits(number, half, written):
    assert rounded(number, 5 if number == 1098.42 else 4, half) == written
