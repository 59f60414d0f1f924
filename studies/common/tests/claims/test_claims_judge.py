"""Test judging a ledger: the input of a study, the claims that it decides, missing numbers, and fitted cells."""

import copy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from ledgers import LEDGER

from misspenalty.errors import InputError
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.ledger import Claim, Fit
from misspenalty_studies.common.claims.recorder import Recorder
from misspenalty_studies.common.claims.report import judge, published_text
from misspenalty_studies.common.claims.tables import Table, cross
from misspenalty_studies.common.judge import STUDIES, table_files

ROOT = Path(__file__).parents[4]
ARCHIVED = {name: pd.read_csv(ROOT / "results" / path) for name, path in table_files().items()}

TABLES = {
    "rates": Table(("mb", "policy"), ("rate",), cross(mb=(1, 2), policy=("mq", "lru"))),
    "hits": Table(("mb",), ("hits", "timed"), cross(mb=(1, 2))),
}


def claims(record, tables):
    """Record four claims on two tables."""
    rate, hits = tables["rates"].rate, tables["hits"]
    record.value("x.one", rate[1, "mq"] / rate[1, "lru"], neutral=1)
    record.order("x.order", {"mq": rate[2, "mq"], "lru": rate[2, "lru"]})
    record.bound("x.both", hits.hits / rate.xs("mq", level="policy"))
    record.no_table("x.words")


STUDY = SimpleNamespace(TABLES=TABLES, claims=claims)


def entry(id, kind, published, **more):
    facts = {"study": "x", "source": "Table 4", "statement": "A statement.", "status": "stated", "role": "claim"}
    return Claim(id=id, kind=kind, published=published, **facts | more)


SMALL = [
    entry("x.one", "ratio", 2.0, note="a caveat"),
    entry("x.order", "ordering", [["lru"], ["mq"]]),
    entry("x.both", "bound", {"op": "<", "limit": 100}),
    entry("x.words", "value", "in words"),
]


def rates(**changes):
    cells = {"mq1": 2.0, "lru1": 1.0, "mq2": 3.0, "lru2": 2.0} | changes
    rows = [(int(name[-1]), name[:-1], value) for name, value in cells.items() if value is not ...]
    return pd.DataFrame(rows, columns=["mb", "policy", "rate"])


def hits():
    return pd.DataFrame({"mb": [1, 2], "hits": [5.0, 6.0], "timed": [5.0, 6.0]})


def small(rates=None, hits=None, ledger=SMALL, study=STUDY, **options):
    tables = {"x_rates": rates, "x_hits": hits}
    made = {name: table for name, table in tables.items() if table is not None}
    return judge(ledger, {"x": study}, made, **options).set_index("id")


def equal(a, b):
    """Return whether two recorders hold the same numbers."""
    return repr(sorted(vars(a).items())) == repr(sorted(vars(b).items()))


def test_a_study_is_never_given_anything_published():
    """Changing all published values, tolerances and orders must not change what the studies receive and record."""
    seen = {}

    def spied(module, calls):
        def claims(record, tables):
            assert type(record) is Recorder and set(tables) == set(module.TABLES)
            module.claims(record, tables)
            calls.append((copy.deepcopy(tables), record))

        return SimpleNamespace(TABLES=module.TABLES, claims=claims)

    scrambled = [
        Claim(**vars(claim) | {"published": _scrambled(claim), "tolerance": {"absolute": 1e6}}) for claim in LEDGER
    ]
    frames = {}
    for label, ledger in (("own", LEDGER), ("scrambled", scrambled)):
        seen[label] = {name: [] for name in STUDIES}
        spies = {name: spied(module, seen[label][name]) for name, module in STUDIES.items()}
        frames[label] = judge(ledger, spies, ARCHIVED)
    assert not frames["own"]["verdict"].equals(frames["scrambled"]["verdict"])
    for name in STUDIES:
        own, other = seen["own"][name], seen["scrambled"][name]
        assert len(own) == len(other) > 0
        for (tables, record), (other_tables, other_record) in zip(own, other, strict=True):
            assert all(table.equals(other_tables[item]) for item, table in tables.items())
            assert equal(record, other_record)


def _scrambled(claim):
    """Return another published value of the same form."""
    match claim.published:
        case {"low_to_high": groups}:
            return {"best": groups[-1], "low_to_high": groups[::-1]}
        case {"op": op, "limit": [_, _]}:
            return {"op": op, "limit": [-7, -6]}
        case {"op": op, "limit": _}:
            return {"op": op, "limit": -7 if op in ("<", "<=") else 7e9}
        case "increasing" | "decreasing":
            return "decreasing" if claim.published == "increasing" else "increasing"
        case [[*_], *_]:
            return claim.published[::-1]
        case [int() | float(), *_]:
            return [-3.0 * value for value in claim.published]
        case int() | float():
            return -3.0 * claim.published - 1
    return claim.published


def test_every_claim_of_the_ledger_is_decided_exactly_once():
    decided = [id for name, module in STUDIES.items() for id in Decided(name, module, {}, variant=False).forms]
    assert sorted(decided) == sorted(claim.id for claim in LEDGER)
    for name, module in STUDIES.items():
        assert all(id.startswith(f"{name}.") for id in Decided(name, module, {}, variant=False).forms)


def test_the_small_ledger_is_decided():
    frame = small(rates(), hits())
    assert frame["verdict"].to_dict() == {
        "x.one": "reproduced", "x.order": "reproduced", "x.both": "reproduced", "x.words": "not_testable",
    }  # fmt: skip
    assert frame.loc["x.one", "note"] == "a caveat"
    assert frame.loc["x.words", "note"] == "a setting of the experiment, not in a result table"
    assert frame.loc["x.order", "published"] == "lru < mq"


@pytest.mark.parametrize(
    ("ledger", "study", "message"),
    [
        (SMALL[:3], STUDY, r"claim x\.words is decided by a study, but is not in the ledger"),
        ([*SMALL, entry("x.new", "value", 1)], STUDY, r"claim x\.new is in the ledger, but no study decides it"),
        (
            SMALL,
            SimpleNamespace(TABLES=TABLES, claims=lambda r, t: (claims(r, t), r.value("x.one", 1))),
            r"claim x\.one is decided twice",
        ),
        (
            [entry("x.one", "trend", "increasing"), *SMALL[1:]],
            STUDY,
            r"claim x\.one has the kind trend, but its study recorded an amount; expected value or ratio or bound",
        ),
    ],
)
def test_a_claim_that_is_forgotten_unknown_doubled_or_of_another_kind_is_named(ledger, study, message):
    with pytest.raises(InputError, match=message):
        small(rates(), hits(), ledger=ledger, study=study)


def test_a_note_for_an_unknown_claim_is_an_error():
    assert small(rates(), hits(), notes={"x.one": "why"}).loc["x.one", "note"] == "a caveat; why"
    with pytest.raises(InputError, match=r"claim x\.two has a note"):
        small(rates(), hits(), notes={"x.two": "why"})


@pytest.mark.parametrize("missing", [float("nan"), float("inf"), None, "n/a"])
def test_a_missing_row_or_number_is_not_testable_and_named(missing):
    frame = small(rates(lru1=...), hits())
    assert frame.loc["x.one", ["verdict", "note"]].tolist() == [
        "not_testable", "x_rates has no row for mb 1, policy lru",
    ]  # fmt: skip
    frame = small(rates(lru1=missing), hits())
    assert frame.loc["x.one", "note"] == "x_rates has no number in rate for mb 1, policy lru"
    assert frame.loc[["x.order", "x.both"], "verdict"].tolist() == ["reproduced", "reproduced"]


def test_the_first_thing_that_a_claim_lacks_is_named():
    frame = small(rates(mq1=..., lru2=...), hits().drop(columns="hits"))
    assert frame["note"].to_dict() == {
        "x.one": "x_rates has no row for mb 1, policy mq",
        "x.order": "x_rates has no row for mb 2, policy lru",
        "x.both": "x_rates has no row for mb 1, policy mq",
        "x.words": "a setting of the experiment, not in a result table",
    }
    frame = small(rates(), hits().drop(columns=["hits"]))
    assert frame.loc["x.both", "note"] == "x_hits has no column hits"
    assert frame.loc["x.one", "verdict"] == "reproduced"
    frame = small(rates(), hits().drop(columns=["timed"]))  # a missing column that no claim reads
    assert frame.loc["x.both", "verdict"] == "reproduced"


def test_division_by_zero_is_not_testable():
    row = small(rates(lru1=0), hits()).loc["x.one"]
    assert (row["verdict"], row["note"]) == ("not_testable", "a row is missing, or the claim divides by zero")


def test_a_missing_table_is_named_unless_the_whole_study_is_missing():
    assert set(small()["note"][:3]) == {"study not built yet"}
    frame = small(rates=rates())
    assert frame.loc["x.both", "note"] == "result table x_hits does not exist"
    assert frame.loc["x.one", "verdict"] == "reproduced"
    assert small(rates=rates(), variant="_other").loc["x.both", "note"] == "x_hits is not part of this variant"
    assert small(variant="_other").loc["x.both", "note"] == "x_rates is not part of this variant"


def test_two_rows_with_the_same_keys_or_no_key_are_an_error():
    with pytest.raises(InputError, match="x_rates has two rows for mb 1, policy mq"):
        small(pd.concat([rates(), rates()]), hits())
    with pytest.raises(InputError, match="x_rates lacks the column 'policy'"):
        small(rates().drop(columns="policy"), hits())


def fit(**targets):
    lists = {"published": (), "follows": (), "drives": ()} | targets
    return Fit.model_construct(parameter="p", study="x", range=(), unit="us", sensitivity="", reason="", **lists)


def test_a_verdict_that_reads_a_fitted_cell_is_fitted():
    cell = {"table": "x_rates", "where": {"mb": 1, "policy": "lru"}, "column": "rate"}
    frame = small(rates(), hits(), calibration=[fit(published=(cell,))])
    assert frame["basis"].to_dict() == {"x.one": "fitted", "x.order": "free", "x.both": "free", "x.words": ""}
    assert frame.loc["x.one", "note"] == "a caveat; reads a value that p was fitted to"
    whole = {"table": "x_rates", "where": {}, "column": "rate"}
    frame = small(rates(), hits(), calibration=[fit(published=(cell,), follows=(whole,))])
    assert frame["basis"].tolist() == ["fitted", "fitted", "fitted", ""]
    assert frame.loc["x.both", "note"] == "reads a value that follows from p, which was fitted"
    assert frame.loc["x.one", "note"] == "a caveat; reads a value that p was fitted to"
    frame = small(rates(lru1=...), hits(), calibration=[fit(published=(cell,))])
    assert frame.loc["x.one", "basis"] == ""  # a claim that lacks a number reads no cell
    for wrong in ({"table": "x_none"}, {"column": "mb"}, {"where": {"size": 1}}):
        with pytest.raises(InputError, match="parameter p: there is no cell"):
            small(rates(), hits(), calibration=[fit(published=(cell | wrong,))])


def test_a_verdict_that_reads_a_table_which_a_fitted_parameter_drives_is_calibrated():
    cell = {"table": "x_rates", "where": {"mb": 1, "policy": "lru"}, "column": "rate"}
    frame = small(rates(), hits(), calibration=[fit(published=(cell,), drives=({"table": "x_rates"},))])
    assert frame["basis"].tolist() == ["fitted", "calibrated", "calibrated", ""]
    frame = small(rates(), hits(), calibration=[fit(drives=({"table": "x_hits"},))])
    assert frame["basis"].tolist() == ["free", "free", "calibrated", ""]
    unread = fit(drives=({"table": "x_hits", "columns": ["timed"]},))
    assert small(rates(), hits(), calibration=[unread])["basis"].tolist() == ["free", "free", "free", ""]
    for wrong in ({"table": "x_none"}, {"table": "x_hits", "columns": ["late"]}):
        with pytest.raises(InputError, match="parameter p: no claim reads the table x_"):
            small(rates(), hits(), calibration=[fit(drives=(wrong,))])


def test_asking_again_who_reads_the_same_cells_runs_no_claims_again():
    runs = []

    def counted(record, tables):
        runs.append(record)
        claims(record, tables)

    def count(*calibration):
        runs.clear()
        small(rates(), hits(), study=SimpleNamespace(TABLES=TABLES, claims=counted), calibration=calibration)
        return len(runs)

    cell = {"table": "x_rates", "where": {"mb": 1, "policy": "lru"}, "column": "rate"}
    once = count(fit(published=(cell,), drives=({"table": "x_rates"},)))
    columns = {"table": "x_rates", "columns": ["rate"]}  # the table has no other columns
    assert count(*(fit(published=(cell,), drives=({"table": "x_rates"}, columns)) for _ in range(2))) == once > 1


def test_a_parameter_drives_the_tables_of_the_variant_that_it_names():
    drives = ({"table": "x_rates_other"},)
    assert set(small(rates(), hits(), calibration=[fit(drives=drives)])["basis"]) == {"free", ""}
    frame = small(rates(), hits(), calibration=[fit(drives=drives)], variant="_other")
    assert frame["basis"].tolist() == ["calibrated", "calibrated", "calibrated", ""]


def test_a_variant_of_a_table_is_not_one_of_a_table_with_a_shorter_name():
    study = SimpleNamespace(
        TABLES={"hits": TABLES["hits"], "hits_long": TABLES["hits"]},
        claims=lambda record, tables: record.bound("x.both", tables["hits_long"].hits),
    )
    tables, drives = {"x_hits": hits(), "x_hits_long": hits()}, ({"table": "x_hits_long_other"},)
    frame = judge([SMALL[2]], {"x": study}, tables, calibration=[fit(drives=drives)], variant="_other")
    assert frame["basis"].tolist() == ["calibrated"]


def test_reading_a_table_does_not_change_it():
    frame = rates(lru1=np.nan)
    before = frame.copy()
    small(frame, hits())
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    ("kind", "published", "tie", "text"),
    [
        ("value", 5, False, "5"),
        ("value", 71355.0, False, "71355"),
        ("value", [1, 2.5], False, "1, 2.5"),
        ("value", {"small": 2, "large": 7}, False, "small 2, large 7"),
        ("ordering", [["a", "b"], ["c"]], False, "a, b < c"),
        ("ordering", [["a", "b"], ["c"]], True, "a = b < c"),
        ("bound", {"op": ">=", "limit": 95}, False, ">= 95"),
        ("bound", {"op": "in", "limit": [3, 4]}, False, "3 to 4"),
    ],
)
def test_published_values_are_written_plainly(kind, published, tie, text):
    assert published_text(entry("x.one", kind, published, tie=tie)) == text
