"""The rules of a verdict, each on a hand-made ledger of one entry and a hand-made table."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from misspenalty.claims import judge, load_ledger
from misspenalty.claims.measures import neutral, number, within
from misspenalty.errors import InputError

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "data" / "published" / "claims.yaml"
SCHEMA = LEDGER.with_name("claims.schema.yaml")


def entry(kind, published, read, **more):
    """One ledger entry."""
    base = {"id": "mq.one", "study": "mq", "source": "Table 4", "statement": "A statement.", "kind": kind}
    base |= {"published": published, "needs": "mq_table4", "status": "stated", "role": "result"} | more
    return base | ({"read": read} if read else {})


def ledger_of(tmp_path, *entries):
    path = tmp_path / "claims.yaml"
    path.write_text(yaml.safe_dump(list(entries), sort_keys=False))
    return load_ledger(path, SCHEMA)


def table4(**cells):
    """Table 4 from ``mq128=19.85`` and the like."""
    rows = [(int(name[-3:]), name[:-3], value) for name, value in cells.items()]
    return {"mq_table4": pd.DataFrame(rows, columns=["cache_mb", "policy", "hit_ratio_pct"])}


def sarc(read_ms, load=2500, config="cache_sensitive"):
    rows = [(config, load, policy, ms, 1.0) for policy, ms in read_ms.items()]
    return {"sarc_table2": pd.DataFrame(rows, columns=["config", "scaled_iops", "policy", "read_ms", "write_ms"])}


@pytest.fixture(scope="module")
def whole_ledger():
    return {claim.id: claim for claim in load_ledger(LEDGER)}


@pytest.fixture
def decide(tmp_path):
    """Judge one entry on tables; returns its row."""
    return lambda one, tables, **options: judge(ledger_of(tmp_path, one), tables, **options).iloc[0]


POINT = {"column": "hit_ratio_pct", "where": {"cache_mb": 128, "policy": "mq"}}
GAIN = {"column": "hit_ratio_pct", "where": {"cache_mb": 128}, "formula": "100*(mq/lru - 1)"}


@pytest.mark.parametrize(
    ("published", "obtained", "verdict"),
    [
        (20, 23.0, "reproduced"),  # exactly 15 % off, either side
        (20, 17.0, "reproduced"),
        (20, 23.0001, "not_reproduced"),
        (20, 16.9999, "not_reproduced"),
        (0.7, 0.7 * 1.15, "reproduced"),  # 0.7*1.15 and 0.7 + 0.7*0.15 differ in binary
        (0.1, 0.1 * 1.15, "reproduced"),
        (1.1, 1.1 * 0.85, "reproduced"),
        (0, 0.0, "reproduced"),
        (0, 0.1, "not_reproduced"),
        (-20, -23.0, "reproduced"),
        (-20, 20.0, "not_reproduced"),
    ],
)
def test_value_within_15_percent(decide, published, obtained, verdict):
    assert decide(entry("value", published, POINT), table4(mq128=obtained))["verdict"] == verdict


@pytest.mark.parametrize("tenths", range(1, 200, 7))
def test_the_edge_of_a_tolerance_belongs_to_it_for_any_decimal(tenths):
    value = tenths / 10
    assert within("relative", 0.15, value * 1.15, value)
    assert within("relative", 0.15, value * 0.85, value)
    assert within("absolute", 0.3, value + 0.3, value)
    assert not within("relative", 0.15, value * 1.1501, value)


@pytest.mark.parametrize(
    ("tolerance", "obtained", "verdict", "deviation", "text"),
    [
        ({"absolute": 0.03}, 20.03, "reproduced", "0.03", "absolute 0.03"),
        ({"absolute": 0.03}, 20.04, "not_reproduced", "0.04", "absolute 0.03"),
        ({"relative": 0.5}, 29, "reproduced", "0.45", "relative 0.5"),
        ({"relative": 0.01}, 20.3, "not_reproduced", "0.015", "relative 0.01"),
    ],
)
def test_own_tolerance_replaces_the_default(decide, tolerance, obtained, verdict, deviation, text):
    row = decide(entry("value", 20, POINT, tolerance=tolerance), table4(mq128=obtained))
    assert (row["verdict"], row["deviation"], row["tolerance"]) == (verdict, deviation, text)


@pytest.mark.parametrize(
    ("mq", "verdict"), [(11.2, "reproduced"), (10.5, "direction"), (13.0, "direction"), (10.0, "not_reproduced"),
                        (9.0, "not_reproduced")]
)  # fmt: skip
def test_a_gain_on_the_right_side_of_none_is_a_direction(decide, mq, verdict):
    assert decide(entry("ratio", 12, GAIN), table4(mq128=mq, lru128=10.0))["verdict"] == verdict


def test_a_loss_has_its_direction_below(decide):
    loss = entry("ratio", -12, GAIN)
    assert decide(loss, table4(mq128=7.0, lru128=10.0))["verdict"] == "direction"
    assert decide(loss, table4(mq128=10.5, lru128=10.0))["verdict"] == "not_reproduced"


@pytest.mark.parametrize(
    ("claim", "middle"),
    [
        ("mq.table4.margin.128", 0),
        ("mq.table4.rel_miss.128", 0),
        ("mq.table4.ratio.128", 1),
        ("mq.table4.mq.128", None),
        ("mq.fig7.gain.128", 0),
        ("mq.fig7.lru_256_gain", 0),
        ("mq.fig7.mq.128", 1),
        ("sarc.peak.overall.ratio.cs.lru_top", 1),
        ("sarc.peak.reduction.cs.read.lru_top", 0),
        ("sarc.fig6.peak_load_ratio", 1),
        ("sarc.peak.overall.cs.sarc", None),
        ("hac.fig9.conversion_over_fetch.t1", 100),
        ("hac.fig10.stack_scanning_share.t1", None),
        ("hac.fig11.disk_share.t1", None),
        ("hac.proj.ppro_conversion.t1", 100),
        ("hac.proj.server_hit.t1", None),
        ("epcm.fig7a.elapsed_reduction_s", 0),
        ("epcm.fig7a.elapsed_reduction_pct", 0),
        ("epcm.fig7a.io_latency_cold", None),
        ("epcm.fig7a.residual_io", None),
        ("epcm.fig7b.epcm_over_hot", 1),
        ("epcm.fig7b.read_latency_min", None),
    ],
)
def test_neutral_value_is_what_equals_give(whole_ledger, claim, middle):
    assert neutral(whole_ledger[claim]) == middle


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((1, 2, 3), "reproduced"), ((2, 1, 3), "not_reproduced"), ((1, 3, 2), "not_reproduced"),
     ((1, 1, 3), "not_reproduced"), ((3, 2, 1), "not_reproduced")],
)  # fmt: skip
def test_ordering_is_exact(decide, values, verdict):
    order = [["sarc"], ["lru_bottom"], ["lru_top"]]
    where = {"config": "cache_sensitive", "scaled_iops": 2500}
    read = {"column": "read_ms", "where": where, "by": "policy", "low_to_high": order}
    tables = sarc(dict(zip(["sarc", "lru_bottom", "lru_top"], values, strict=True)))
    assert decide(entry("ordering", order, read, needs="sarc_table2"), tables)["verdict"] == verdict


@pytest.mark.parametrize(
    ("tie", "values", "verdict"),
    [
        (True, {"sarc": 1.0, "lru_top": 1.05, "lru_bottom": 2}, "reproduced"),  # exactly 5 %
        (True, {"sarc": 1.05, "lru_top": 1.0, "lru_bottom": 2}, "reproduced"),
        (True, {"sarc": 1.0, "lru_top": 1.051, "lru_bottom": 2}, "not_reproduced"),
        (True, {"sarc": 1.0, "lru_top": 1.04, "lru_bottom": 1.02}, "not_reproduced"),  # a third comes between
        (False, {"sarc": 1.0, "lru_top": 1.5, "lru_bottom": 2}, "reproduced"),  # without `tie` a group is unranked
        (False, {"sarc": 1.5, "lru_top": 1.0, "lru_bottom": 2}, "reproduced"),
        (False, {"sarc": 1.5, "lru_top": 2.5, "lru_bottom": 2}, "not_reproduced"),
    ],
)
def test_a_published_tie_allows_5_percent(decide, tie, values, verdict):
    order = [["sarc", "lru_top"], ["lru_bottom"]]
    where = {"config": "cache_sensitive", "scaled_iops": 2500}
    read = {"column": "read_ms", "where": where, "by": "policy", "low_to_high": order, "test": "lowest group"}
    one = entry("ordering", order, read, needs="sarc_table2", **({"tie": True} if tie else {}))
    assert decide(one, sarc(values))["verdict"] == verdict


def test_lowest_group_does_not_rank_the_rest(decide):
    order = [["sarc"], ["lru_bottom"], ["lru_top"]]
    read = {"column": "read_ms", "where": {"config": "cache_sensitive", "scaled_iops": 2500}, "by": "policy"}
    tables = sarc({"sarc": 1, "lru_bottom": 3, "lru_top": 2})
    ranked = entry("ordering", order, read | {"low_to_high": order}, needs="sarc_table2")
    lowest = entry("ordering", order, read | {"low_to_high": order, "test": "lowest group"}, needs="sarc_table2")
    assert decide(ranked, tables)["verdict"] == "not_reproduced"
    assert decide(lowest, tables)["verdict"] == "reproduced"


@pytest.mark.parametrize(
    ("test", "values", "verdict"),
    [("sarc lowest", (1, 3, 2), "reproduced"), ("sarc lowest", (2, 3, 1), "not_reproduced"),
     ("sarc highest", (9, 3, 2), "reproduced"), ("sarc highest", (3, 3, 2), "not_reproduced")],
)  # fmt: skip
def test_a_member_may_be_lowest_or_highest(decide, test, values, verdict):
    order = [["sarc"], ["lru_bottom", "lru_top"]]
    where = {"config": "cache_sensitive", "scaled_iops": 2500}
    read = {"column": "read_ms", "where": where, "by": "policy", "test": test}
    tables = sarc(dict(zip(["sarc", "lru_bottom", "lru_top"], values, strict=True)))
    assert decide(entry("ordering", order, read, needs="sarc_table2"), tables)["verdict"] == verdict


def test_an_open_key_means_every_one_of_its_members(decide):
    loads = (2500, 12500, 20000, 22500, 23750, 25000)
    frame = pd.concat([sarc({"sarc": 1, "lru_top": 2}, load)["sarc_table2"] for load in loads], ignore_index=True)
    read = {"column": "read_ms", "where": {"config": "cache_sensitive"}, "by": "policy",
            "low_to_high": [["sarc"], ["lru_top"]]}  # fmt: skip
    one = entry("ordering", [["sarc"], ["lru_top"]], read, needs="sarc_table2")
    assert decide(one, {"sarc_table2": frame})["verdict"] == "reproduced"
    worse = frame.assign(
        read_ms=frame["read_ms"].where((frame["scaled_iops"] != 20000) | (frame["policy"] != "sarc"), 9)
    )
    row = decide(one, {"sarc_table2": worse})
    assert row["verdict"] == "not_reproduced"
    assert row["reproduced"] == "holds at 5 of 6 points, not at 20000"
    row = decide(one, {"sarc_table2": frame[frame["scaled_iops"] != 20000]})
    assert row["verdict"] == "not_testable"
    assert "20000" in row["note"]


PAIRS = {"column": "hit_ratio_pct", "pairs": [[{"cache_mb": 128, "policy": "mq"}, {"cache_mb": 256, "policy": "lru"}]]}


@pytest.mark.parametrize(
    ("mq", "verdict"), [(11.0, "reproduced"), (9.0, "reproduced"), (11.01, "not_reproduced"), (8.99, "not_reproduced")]
)
def test_equivalence_within_10_percent_of_the_second_side(decide, mq, verdict):
    assert decide(entry("equivalence", ["a", "b"], PAIRS), table4(mq128=mq, lru256=10.0))["verdict"] == verdict


def test_every_pair_of_an_equivalence_counts(decide):
    second = [{"cache_mb": 256, "policy": "mq"}, {"cache_mb": 512, "policy": "lru"}]
    one = entry("equivalence", ["a", "b"], PAIRS | {"pairs": [*PAIRS["pairs"], second]})
    assert decide(one, table4(mq128=10, lru256=10, mq256=20, lru512=21))["verdict"] == "reproduced"
    row = decide(one, table4(mq128=10, lru256=10, mq256=20, lru512=25))
    assert (row["verdict"], row["deviation"]) == ("not_reproduced", "-0.2")


def test_a_pair_of_an_ordering_runs_from_low_to_high(decide):
    one = entry("ordering", [["lru@256"], ["mq@128"]],
                {"column": "hit_ratio_pct", "op": "<", "pairs": [PAIRS["pairs"][0][::-1]]})  # fmt: skip
    assert decide(one, table4(mq128=10.1, lru256=10))["verdict"] == "reproduced"
    assert decide(one, table4(mq128=10.0, lru256=10))["verdict"] == "not_reproduced"


@pytest.mark.parametrize(
    ("direction", "values", "verdict"),
    [
        ("increasing", (1, 2, 3), "reproduced"),
        ("increasing", (1, 3, 3), "not_reproduced"),
        ("increasing", (1, 3, 2), "not_reproduced"),
        ("decreasing", (3, 2, 1), "reproduced"),
        ("decreasing", (1, 2, 3), "not_reproduced"),
    ],
)
def test_trend_is_strictly_monotonic(decide, direction, values, verdict):
    read = {"column": "hit_ratio_pct", "where": {"policy": "mq"}, "along": "cache_mb", "direction": direction}
    tables = table4(**{f"mq{size}": value for size, value in zip((128, 256, 512), values, strict=True)})
    assert decide(entry("trend", direction, read), tables)["verdict"] == verdict


def test_a_trend_sorts_its_points(decide):
    read = {"column": "hit_ratio_pct", "where": {"policy": "mq"}, "along": "cache_mb", "direction": "increasing"}
    assert decide(entry("trend", "increasing", read), table4(mq512=3, mq128=1, mq256=2))["verdict"] == "reproduced"


@pytest.mark.parametrize(
    ("op", "limit", "obtained", "verdict"),
    [
        ("<", 10, 9.99, "reproduced"),
        ("<", 10, 10.0, "not_reproduced"),
        ("<=", 10, 10.0, "reproduced"),
        ("<=", 0.3, 0.1 + 0.2, "reproduced"),
        ("<=", 10, 10.01, "not_reproduced"),
        (">", 10, 10.0, "not_reproduced"),
        (">", 10, 10.01, "reproduced"),
        (">=", 10, 10.0, "reproduced"),
        ("in", [8, 11], 8.0, "reproduced"),
        ("in", [8, 11], 11.0, "reproduced"),
        ("in", [8, 11], 7.99, "not_reproduced"),
        ("in", [8, 11], 11.01, "not_reproduced"),
    ],
)
def test_bound_as_stated(decide, op, limit, obtained, verdict):
    one = entry("bound", {"op": op, "limit": limit}, POINT)
    assert decide(one, table4(mq128=obtained))["verdict"] == verdict


@pytest.mark.parametrize(
    ("published", "tolerance", "obtained", "verdict"),
    [
        ({"op": "in", "limit": [8, 11]}, {"absolute": 1.1}, 6.9, "reproduced"),
        ({"op": "in", "limit": [8, 11]}, {"absolute": 1.1}, 12.1, "reproduced"),
        ({"op": "in", "limit": [8, 11]}, {"absolute": 1.1}, 12.2, "not_reproduced"),
        ({"op": "<=", "limit": 10}, {"relative": 0.1}, 11.0, "reproduced"),
        ({"op": "<=", "limit": 10}, {"relative": 0.1}, 11.1, "not_reproduced"),
        ({"op": ">=", "limit": 10}, {"absolute": 1}, 9.0, "reproduced"),
        ({"op": ">=", "limit": 10}, {"absolute": 1}, 8.9, "not_reproduced"),
    ],
)
def test_a_tolerance_moves_the_limits_outwards(decide, published, tolerance, obtained, verdict):
    one = entry("bound", published, POINT, tolerance=tolerance)
    assert decide(one, table4(mq128=obtained))["verdict"] == verdict


def test_all_members_of_a_list_have_to_be_there(decide):
    read = {"column": "hit_ratio_pct", "where": {"policy": "mq", "cache_mb": [128, 512]}}
    one = entry("bound", {"op": "<", "limit": 50}, read)
    assert decide(one, table4(mq128=1, mq512=2, mq256=99))["verdict"] == "reproduced"  # 256 MB is not in the list
    row = decide(one, table4(mq128=1, mq256=2))
    assert row["verdict"] == "not_testable"
    assert "cache_mb 512" in row["note"]


@pytest.mark.parametrize("missing", [float("nan"), float("inf"), None, "n/a"])
def test_a_missing_row_or_number_is_not_testable_and_named(decide, missing):
    row = decide(entry("ratio", 12, GAIN), table4(mq128=10))
    assert row["verdict"] == "not_testable"
    assert row["note"] == "mq_table4 has no row for cache_mb 128, policy lru"
    row = decide(entry("ratio", 12, GAIN), table4(mq128=10, lru128=missing))
    assert row["verdict"] == "not_testable"
    assert row["note"] == "mq_table4 has no number in hit_ratio_pct for cache_mb 128, policy lru"


def test_division_by_zero_is_not_testable(decide):
    row = decide(entry("ratio", 12, GAIN), table4(mq128=10, lru128=0))
    assert (row["verdict"], row["note"]) == ("not_testable", "the formula divides by zero")


def test_a_missing_table_is_named_unless_the_whole_study_is_missing(decide):
    fig7 = pd.DataFrame({"cache_mb": [128], "policy": ["mq"], "normalized_rate": [1.0]})
    one = entry("value", 20, POINT)
    assert decide(one, {})["note"] == "study not built yet"
    assert decide(one, sarc({"sarc": 1}))["note"] == "study not built yet"
    assert decide(one, {"mq_fig7": fig7})["note"] == "result table mq_table4 is not there"
    assert decide(one, {"mq_fig7": fig7}, variant=True)["note"] == "mq_table4 is not part of this variant"


def test_a_claim_that_no_table_decides_keeps_its_note(decide):
    row = decide(entry("value", 128, None, needs="none", note="log it"), table4(mq128=1))
    assert (row["verdict"], row["note"]) == ("not_testable", "log it")


def test_an_optional_column_that_is_absent_is_named(decide):
    formula = "abs(simulated - implemented)/implemented*100, every cache_mb and policy"
    one = entry("bound", {"op": "<", "limit": 10}, {"column": "hit_ratio_pct", "formula": formula})
    full = {f"{policy}{size}": 20.0 for policy in ("mq", "lru") for size in (128, 256, 512)}
    assert decide(one, table4(**full))["note"].endswith("mq_table4 has no column timed_hit_ratio_pct")
    tables = {"mq_table4": table4(**full)["mq_table4"].assign(timed_hit_ratio_pct=[20, 20, 20, 20, 20, 18.0])}
    assert decide(one, tables)["verdict"] == "not_reproduced"


def test_two_rows_with_the_same_keys_are_an_error(decide):
    frame = table4(mq128=1)["mq_table4"]
    with pytest.raises(InputError, match="mq_table4 has two rows for cache_mb 128, policy mq"):
        decide(entry("value", 20, POINT), {"mq_table4": pd.concat([frame, frame])})


def test_a_table_without_a_column_of_its_layout_is_an_error(decide):
    with pytest.raises(InputError, match="mq_table4 lacks the column 'hit_ratio_pct'"):
        decide(
            entry("value", 20, POINT),
            {"mq_table4": table4(mq128=1)["mq_table4"].rename(columns={"hit_ratio_pct": "x"})},
        )


def test_notes_and_basis(decide):
    row = decide(entry("value", 20, POINT, note="a caveat"), table4(mq128=20), basis="fitted", notes={"mq.one": "why"})
    assert (row["basis"], row["note"]) == ("fitted", "a caveat; why")
    with pytest.raises(InputError, match=r"mq\.two"):
        decide(entry("value", 20, POINT), {}, notes={"mq.two": "why"})
    with pytest.raises(InputError, match="basis 'guessed'"):
        decide(entry("value", 20, POINT), {}, basis="guessed")


def test_numbers_have_six_digits():
    assert [number(x) for x in (8, 8.0, 1 / 3, 1e-7, 123456789.0, True)] == [
        "8", "8", "0.333333", "1e-07", "1.23457e+08", "true",
    ]  # fmt: skip
