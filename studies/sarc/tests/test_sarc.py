"""Test the SARC study: its tables, its fit, the anomaly, scale, and the messages for bad configurations."""

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml

from misspenalty import InputError, ParameterError
from misspenalty_studies.common.claims.decided import Decided
from misspenalty_studies.common.claims.ledger import load_calibration, load_ledger
from misspenalty_studies.common.machine import Parameter
from misspenalty_studies.sarc import claims, detection
from misspenalty_studies.sarc import fit as sarc_fit
from misspenalty_studies.sarc import readings as sarc_readings
from misspenalty_studies.sarc import runs as sarc_runs
from misspenalty_studies.sarc import sensitivity as sarc_inside
from misspenalty_studies.sarc import tables as sarc
from misspenalty_studies.sarc.descent import descend, moved
from misspenalty_studies.sarc.distances import distance, factors_by_seed
from misspenalty_studies.sarc.runs import FITTED, LOADS, PAPERS, Run, fitted_shark, load_shark
from misspenalty_studies.sarc.settings import SENSITIVITY, SarcSettings

ROOT = Path(__file__).parents[3]
MACHINE = ROOT / "studies" / "sarc" / "machine.yaml"
VALUES = {
    "load_factor": 0.8,
    "controller_us": 100,
    "host_slots": 3,
    "footprint_sensitive_gb": 350,
    "insertion": 0.07,
    "contention_us": 5,
    "degree": 10,
    "staging": 2,
}
SHORT = {"warm_up_minutes": 1, "phase_minutes": 3, "discarded_minutes": 1}
LEDGER = {claim.id: claim for claim in load_ledger(ROOT, "sarc")}
FITS = load_calibration(ROOT / "data" / "calibration.yaml")


@pytest.fixture(scope="module")
def shark():
    return load_shark(MACHINE, 16, VALUES | SHORT)[0]


@pytest.fixture(scope="module")
def minutes(shark):
    return pd.concat([sarc_runs.simulate(shark, "cache_sensitive", policy, 1, [2500, 25000]) for policy in PAPERS])


def test_the_load_points_are_those_of_the_ledger():
    assert LOADS == claims.LOADS


def test_a_run_counts_false_and_missed_streams_by_minute(minutes):
    assert minutes["false_pct"].between(0, 100).all() and minutes["missed_pct"].between(0, 100).all()
    assert minutes.groupby("policy")["missed_pct"].apply(lambda column: column.iloc[-1] < column.iloc[0]).all()


def test_a_run_has_a_row_for_each_minute(minutes, shark):
    one = minutes[minutes["policy"] == "sarc"]
    assert one["minute"].tolist() == list(range(1, 8))
    assert one["phase"].tolist() == [0] + 3 * [1] + 3 * [2]
    assert one["scaled_iops"].tolist() == [18750] + 3 * [2500] + 3 * [25000]
    busy = one[one["phase"] == 2].iloc[-1]
    parts = [name for name in one if name.startswith("read_") and name != "read_ms"]
    assert busy[parts].sum() == pytest.approx(busy["read_ms"])
    assert 0 < busy["seq_share"] < 1
    assert busy["response_ms"] == pytest.approx(0.394 * busy["read_ms"] + 0.606 * busy["write_ms"], rel=0.02)


def test_equal_seeds_give_equal_minutes(shark):
    one, two, other = (sarc_runs.simulate(shark, "cache_insensitive", "sarc", seed, [5682]) for seed in (7, 7, 8))
    assert one.equals(two)
    assert not one.equals(other)


def test_points_leave_the_first_minutes_out(minutes):
    table = sarc_runs.points(minutes, 2)
    last = minutes[(minutes["phase"] == 2) & (minutes["phase_minute"] == 2)].set_index("policy")
    peak = table[table["scaled_iops"] == 25000].set_index("policy")
    assert (peak["read_ms"] == last["read_ms"].loc[peak.index]).all()
    with pytest.raises(ParameterError, match="no minute of a phase is left"):
        sarc_runs.points(minutes, 3)


def test_tables_have_the_ledgers_columns(minutes):
    points = sarc_runs.points(minutes, 1)
    table2, fig6 = sarc.table2(points), sarc.fig6(points)
    assert list(table2)[:5] == ["config", "scaled_iops", "policy", "read_ms", "write_ms"]
    assert list(fig6)[:6] == ["config", "scaled_iops", "policy", "response_ms", "power", "stage_rate"]
    assert fig6["power"].to_numpy() == pytest.approx(fig6["scaled_iops"] / fig6["response_ms"])
    assert table2["read_ms_ci95"].isna().all(), "one seed has no interval"
    peaks = sarc.peaks(fig6, table2).set_index(["policy", "quantity"])["value"]
    at = table2[table2["scaled_iops"] == 25000].set_index("policy")["read_ms"]
    expected = 100 * (1 - at["sarc"] / at["lru_top"])
    assert peaks["lru_top", "read_response_reduction"] == pytest.approx(expected)
    parts = sarc.components(points)
    whole = parts[parts["request"] == "write"].groupby(["scaled_iops", "policy"])["ms"].sum()
    assert whole[25000, "sarc"] == pytest.approx(
        table2.set_index(["scaled_iops", "policy"]).loc[(25000, "sarc"), "write_ms"]
    )


def test_a_run_without_further_policies_compares_the_papers_own(minutes, tmp_path):
    """`config/full.yaml` names no policies other than the paper's, so the table must compare exactly these."""
    fitted, beyond = tmp_path / "fitted.csv", tmp_path / "beyond.csv"
    pd.Series(VALUES, name="value").rename_axis("parameter").to_csv(fitted)
    sarc_runs.schedules(MACHINE, fitted, [], [1], {"divisor": 16, "values": {}}, 1).to_csv(beyond, index=False)
    runs = pd.concat([minutes, minutes.assign(config="cache_insensitive")])
    table = sarc.other_policies(runs, pd.read_csv(beyond), 1, MACHINE, {"discarded_minutes": 1})
    assert set(table["policy"]) == set(PAPERS) and len(table) == 2 * 2 * len(PAPERS)


def test_confidence_intervals_are_students():
    rows = [{"config": "c", "scaled_iops": 1, "policy": "p", "seed": seed, "x": x} for seed, x in enumerate([1, 2, 6])]
    row = sarc.over_seeds(pd.DataFrame(rows), ["x"]).iloc[0]
    assert row["x"] == 3
    assert row["x_ci95"] == pytest.approx(4.302652730 * np.std([1, 2, 6], ddof=1) / np.sqrt(3))
    assert row["seeds"] == 3


def test_lists_and_ratio_are_as_the_paper_explains_them(minutes):
    """At the peak (Figures 7 and 8), SEQ must be largest, and the ratio lowest, under LRU Top."""
    peak = sarc_runs.points(minutes, 1).query("scaled_iops == 25000").set_index("policy")
    assert peak["seq_share"].idxmax() == "lru_top"
    assert peak["ratio"].idxmin() == "lru_top"


def test_scale_changes_little(shark):
    """A model of half the size must have the same hit ratio and, scaled up, the same rate of staged tracks, each within
    5 %, and nearly the same utilisation of the drives.

    The larger model has two arrays, which cut streams into more parts.
    """
    warm = replace(shark, warm_up_minutes=5)
    small, large = (
        sarc_inside.scale(replace(warm, divisor=divisor), "cache_sensitive", "sarc", 1, [1]).iloc[0]
        for divisor in (16, 8)
    )
    assert small["hit_ratio"] == pytest.approx(large["hit_ratio"], rel=0.05)
    assert small["utilisation"] == pytest.approx(large["utilisation"], rel=0.08)
    assert small["stage_rate"] == pytest.approx(large["stage_rate"], rel=0.05)


# --- the anomaly ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def misses():
    table = sarc_inside.anomaly(20, 400, [4, 8], [80, 120, 160, 200, 240, 320, 640, 1600], 1)
    return table.set_index(["degree", "strategy", "cache_tracks"])["misses_pct"].sort_index()


@pytest.mark.parametrize("degree", [4, 8])
def test_synchronous_prefetching_leaves_one_miss_in_a_group(misses, degree):
    assert misses[degree, "synchronous", 1600] == pytest.approx(100 / (degree + 1), rel=0.03)
    assert misses[degree, "synchronous", 640] == pytest.approx(misses[degree, "synchronous", 1600], rel=0.03)


@pytest.mark.parametrize("degree", [4, 8])
def test_asynchronous_prefetching_leaves_none_where_the_list_is_long_enough(misses, degree):
    assert misses[degree, "asynchronous_remedy", 1600] == 0
    assert misses[degree, "asynchronous", 1600] < 0.1


def test_without_the_remedy_asynchronous_prefetching_can_be_worse_than_none(misses):
    assert misses[8, "asynchronous", 200] > 1.1 * misses[8, "synchronous", 200]
    for degree in (4, 8):
        remedied = misses[degree, "asynchronous_remedy"]
        assert (remedied <= misses[degree, "asynchronous"] + 1e-9).all()
        steps = remedied.loc[160:].diff().dropna()
        assert len(steps) > 3
        assert (steps <= 0).all(), "with groups of 4 and 8 tracks, no larger cache has more misses under the remedy"


# --- the fit ----------------------------------------------------------------------------------------------------------


def test_only_the_two_lru_variants_are_fitted_to():
    mine = [fit for fit in FITS if fit.study == "sarc"]
    assert sorted(fit.parameter for fit in mine) == sorted(FITTED)
    policies = {cell["where"]["policy"] for fit in mine for cell in fit.published}
    assert policies == {"lru_top", "lru_bottom"}
    load, front, space, *again = (sarc_fit.targets_of(FITS, step) for step in sarc_fit.STEPS)
    assert (len(load), len(front), len(space)) == (12, 8, 36)
    assert not load.keys() & space.keys()
    assert front.keys() < load.keys() | space.keys() and {column for *_, column in front} == {"write_ms"}
    assert again == [load, space]


def test_targets_are_the_published_values():
    published = pd.read_csv(ROOT / "studies" / "sarc" / "published" / "table2.csv").set_index(
        ["config", "scaled_iops", "policy"]
    )
    assert sarc_fit.STEPS
    for step in sarc_fit.STEPS:
        targets = sarc_fit.targets_of(FITS, step)
        assert targets
        for (*where, column), ms in targets.items():
            assert published.loc[tuple(where), column] == ms


def test_a_target_outside_the_steps_rows_is_named():
    insertion = next(fit for fit in FITS if fit.parameter == "insertion")
    stray = insertion.model_copy(update={"parameter": "load_factor"})
    with pytest.raises(ParameterError, match=r"load_factor is fitted to .*lru_top.*expected rows"):
        sarc_fit.targets_of([stray], "load")


def test_a_factor_is_a_mean_over_targets_for_each_seed():
    flat = pd.DataFrame({"config": "c", "scaled_iops": [1, 2], "policy": "p", "read_ms": 20.0, "write_ms": 2.0})
    tried = pd.concat([flat.assign(seed=1), flat.assign(seed=2, read_ms=10.0, write_ms=1.0)])
    targets = {("c", 1, "p", "read_ms"): 5.0, ("c", 2, "p", "write_ms"): 2.0}
    assert factors_by_seed(tried, targets) == pytest.approx([2.0, 2.0])
    assert factors_by_seed(tried[tried["seed"] == 1], {("c", 1, "p", "read_ms"): 5.0}) == pytest.approx([4.0])
    with pytest.raises(ParameterError, match="was not run at two loads"):
        factors_by_seed(tried, {("d", 1, "p", "read_ms"): 1.0})
    with pytest.raises(ParameterError, match="no target to fit to"):
        factors_by_seed(tried, {})


def test_a_distance_is_that_of_responses_where_the_line_is_flat_and_of_loads_where_it_is_steep():
    loads, line = [100, 200, 201], [1.0, 1.0, 1000.0]
    assert distance(loads, line, 100, 1.5) == pytest.approx(np.log(1.5))
    assert distance(loads, line, 210, 30.0) == pytest.approx(np.log(210 / 200.5), abs=0.001)
    assert distance(loads, line, 201, 30.0) < 0.005, "the load is off by less than half a per cent"
    beyond = np.exp(np.log(1000) + 2 * np.log(1000))  # the last piece, extended with the same slope by twice its length
    assert distance(loads, line, 201 * (201 / 200) ** 2, beyond) == pytest.approx(0, abs=1e-9)
    assert distance(loads, line, 50, 1.0) == pytest.approx(np.log(2)), "the line is not extended at its beginning"


def test_a_search_keeps_to_the_ranges_and_ends_where_no_neighbour_is_better():
    seen = []

    def bowl(points):
        seen.extend(points)
        return [(x - 7.3) ** 2 + (y - 0.2) ** 2 for x, y in points]

    found = descend(bowl, (1.0, 1.0), (4, 0.4), (0.5, 0.1), ((0, 7), (0.25, 2)))
    assert found == pytest.approx((7.0, 0.3))
    assert all(0 <= x <= 7 and 0.25 <= y <= 2 for x, y in seen)
    ways = [(0, -0.5, (0, 7)), (0, 0.5, (0, 7)), (1, -0.1, (0.25, 2)), (1, 0.1, (0.25, 2))]
    finest = [near for place, way, bounds in ways if (near := moved(found, place, way, bounds)) is not None]
    assert len(finest) == 2, "7 and 0.3 are next to the ends of their ranges"
    assert bowl([found])[0] < min(bowl(finest))


def test_a_search_doubles_what_has_strides_of_doublings():
    def bowl(points):
        return [abs(x - 3) + abs(np.log2(kb / 300)) for x, kb in points]

    found = descend(bowl, (1, 64), (1, 1), (1, 1), ((0, 5), (16, 1024)), (False, True))
    assert found == (3, 256)
    assert moved((0.08,), 0, -0.5, (0, 1), doubled=True) == (0.0566,), "strides are rounded to three digits"


def made_up_responses(published, seen):
    """Return parameter values, and a simulation whose responses fit best at these; only the first seed prefers another
    degree."""
    best = {"load_factor": 0.93, "host_slots": 4, "controller_us": 140, "contention_us": 7.5}
    best |= {"footprint_sensitive_gb": 240, "insertion": 0.16, "degree": 16, "staging": 0}
    scale = {"host_slots": 10, "controller_us": 1000, "contention_us": 100, "footprint_sensitive_gb": 1000}

    def made_up(shark, config, policy, seed, loads):
        seen.append((config, policy, seed, len(loads)))
        off, own = 1.0, sarc_runs.FITTED if (config, policy) in sarc_fit.SPACE else sarc_runs.FITTED[:4]
        for name in own:
            if name != "load_factor" and sarc_runs.touches(name, config, policy):
                aim = 8 if (name, seed) == ("degree", 1) else best[name]
                value = getattr(shark, name)
                far = np.log2(value / aim) if name in sarc_fit.DOUBLED else (value - aim) / scale.get(name, 1)
                off += abs(far) * (0.01 if (name, seed) == ("degree", 1) else 0.2)
        rows = [
            {"config": config, "scaled_iops": load, "policy": policy, "phase": 1, "phase_minute": 9, "seed": seed}
            | {"divisor": 16, "backlog": 0}
            | dict.fromkeys(sarc_runs.MEASURES, 1.0)
            for load in loads
        ]
        rates, all_loads = np.log(loads) + np.log(shark.load_factor / best["load_factor"]), LOADS[config]
        for side in sarc_fit.SIDES:
            ms = np.log([published[config, load, policy, side] for load in all_loads])
            for row, found in zip(rows, off * np.exp(np.interp(rates, np.log(all_loads), ms)), strict=True):
                row[side] = found
        return pd.DataFrame(rows)

    return best, made_up


def test_the_fit_starts_from_several_points_and_chooses_over_several_seeds(tmp_path, monkeypatch):
    cells, seen = pd.read_csv(ROOT / "studies" / "sarc" / "published" / "table2.csv"), []
    published = {
        (row.config, row.scaled_iops, row.policy, column): getattr(row, column)
        for row in cells.itertuples()
        for column in ("read_ms", "write_ms")
    }
    best, made_up = made_up_responses(published, seen)
    monkeypatch.setattr(sarc_fit, "simulate", made_up)
    settings = SarcSettings().plain()
    begin, starts = settings["fit"], settings["fit_starts"]
    calibration, short = ROOT / "data" / "calibration.yaml", {"phase_minutes": 5, "discarded_minutes": 1}
    machine, paths = {"divisor": 16, "values": {}}, {step: tmp_path / f"{step}.csv" for step in sarc_fit.STEPS}
    for place, step in enumerate(sarc_fit.STEPS):
        before = list(paths.values())[:place]
        given = (MACHINE, calibration, step, machine, begin, starts, 2, short, [1, 2, 3])
        table = sarc_fit.search(*given, 1, before)
        assert table.equals(sarc_fit.search(*given, 3, before)), "the number of threads changes nothing"
        table.to_csv(paths[step], index=False)
    made = sarc_fit.gather(calibration, paths.values())
    assert made["fitted"].set_index("parameter")["value"].to_dict() == pytest.approx(best)
    fit = made["fit"].set_index("parameter")
    assert fit["step"].to_dict() == {
        name: step for step, (names, _) in sarc_fit.STEPS.items() for name in names if step not in ("load", "space")
    }
    assert (fit["lowest_factor"] <= fit["mean_factor"]).all() and (fit["mean_factor"] <= fit["highest_factor"]).all()
    assert fit["at_bound"].to_dict() == {name: name == "staging" for name in fit.index}
    grid = made["fit_grid"].set_index("step")
    assert grid["seeds"].groupby("step").unique().map(list).to_dict() == {
        step: [1 if step in ("load", "space") else 3] for step in sarc_fit.STEPS
    }
    assert grid.loc["space", "start"].nunique() == len(starts) + 1
    assert grid.loc["space"].iloc[0]["degree"] == 8, "the first seed alone is misled"
    assert {(config, loads) for config, *_, loads in seen} == {(config, n) for config in LOADS for n in (2, 6)}


# --- detection --------------------------------------------------------------------------------------------------------


def test_the_threshold_is_the_one_with_the_fewest_tracks_misjudged():
    archived = pd.read_csv(ROOT / "results" / "sarc" / "detection.csv")
    errors = (archived["false_pct"] + archived["missed_pct"]) / 2
    mean = errors.groupby([archived["threshold"], archived["config"]]).mean().groupby("threshold").mean()
    assert load_shark(MACHINE)[0].threshold == mean.idxmin()
    assert archived.loc[archived["lowest_error"], "threshold"].unique().tolist() == [mean.idxmin()]


def test_detection_is_the_same_without_drives(shark):
    """Requests must be looked up in the cache in order of arrival, whatever the drives do with them."""
    states = []
    for drives in (True, False):
        run = Run(shark, "cache_sensitive", "lru_top", 1, drives=drives)
        run.load(2500)
        states.append(run.minute().state)
    one, two = ({name: state[name] for name in detection.COUNTS} for state in states)
    assert one == two
    assert one["stream_tracks"] > 0


@pytest.mark.parametrize("discarded", [0, 1])
def test_detection_is_measured_in_the_minutes_that_are_not_discarded(shark, monkeypatch, discarded):
    made = []

    class Counted:
        """A run whose counts grow by 16, 32, 48 and so on, minute by minute."""

        def __init__(self, *_, **__):
            made.append(0)

        def load(self, _):
            pass

        def minute(self):
            made.append(made[-1] + 16 * len(made))
            return SimpleNamespace(state=dict.fromkeys(detection.COUNTS, made[-1]))

    monkeypatch.setattr(detection, "Run", Counted)
    phases = {"warm_up_minutes": 2, "phase_minutes": discarded + 1, "discarded_minutes": discarded}
    found = detection.detect(shark.with_values(phases), "cache_sensitive", 1)
    assert found["random_tracks"] == 16 * (3 + discarded), "only the last minute counts"
    assert found["sequential_misses_per_s"] == pytest.approx(16 * found["random_tracks"] / 60)
    half = detection.detect(shark.with_values(phases | {"footprint_sensitive_gb": 0.5}), "cache_sensitive", 1)
    assert half["footprint_gb"] == 0.5


def test_hits_gained_are_divided_by_the_cache_that_random_data_gain():
    """Random data gain half of the cache; read hits gain 20 (or 5) points in one configuration, 10 in the other."""
    keys = ["config", "scaled_iops", "policy"]
    verdicts = {}
    for gain in (0.2, 0.05):
        rows = [
            (config, load, policy, hit + (policy != "lru_top") * more, 0.1 + 0.5 * (policy == "lru_top"))
            for config, hit, more in (("cache_sensitive", 0.4, gain), ("cache_insensitive", 0.3, 0.1))
            for load in LOADS[config]
            for policy in PAPERS
        ]
        frame = pd.DataFrame(rows, columns=[*keys, "hit_ratio", "seq_share"])
        study = Decided("sarc", claims, {"sarc_internals": frame}, variant=True)
        form = study.forms["sarc.fig6.random_utility"]
        assert form.complete()
        verdicts[gain] = form.decide(LEDGER["sarc.fig6.random_utility"]).verdict
    assert verdicts[0.2] == "reproduced"
    assert verdicts[0.05] != "reproduced"


def test_a_lower_threshold_misjudges_more_random_tracks_and_misses_fewer_of_a_stream():
    short = {"warm_up_minutes": 3, "phase_minutes": 4, "discarded_minutes": 1}
    table = detection.by_threshold(MACHINE, [3, 12], {"divisor": 16, "values": short}, VALUES, [350], 1, threads=2)
    assert table[["config", "threshold"]].to_numpy().tolist() == [[c, t] for c in LOADS for t in (3, 12)]
    low, high = (part.reset_index() for _, part in table.groupby("threshold"))
    assert (low["false_pct"] > high["false_pct"]).any() and (low["false_pct"] >= high["false_pct"]).all()
    assert (low["missed_pct"] < high["missed_pct"]).any() and (low["missed_pct"] <= high["missed_pct"]).all()
    assert table["footprint_gb"].unique().tolist() == [350, 6500]
    assert table["lowest_error"].sum() == 2


# --- machine ----------------------------------------------------------------------------------------------------------


def test_the_trigger_is_a_share_of_the_group(shark):
    for degree, trigger in ((4, 2), (32, 16), (5, 2)):
        assert shark.with_values({"degree": degree}).prefetch()["trigger"] == trigger
    assert shark.with_values({"trigger": 0.125, "degree": 8}).prefetch()["trigger"] == 1
    none = [shark.with_values(values).prefetch()["trigger"] for values in ({"trigger": -1}, {"degree": 0})]
    assert none == [-1, -1], "nothing is read ahead, or there is no group at all"


def test_a_setting_decides_whether_the_lru_variants_have_the_remedy(shark):
    policies = (*PAPERS, "arc")
    assert [shark.prefetch(policy)["remedy"] for policy in policies] == [0, 0, 1, 1]
    other = shark.with_values({"remedy": False, "remedy_lru": True})
    assert [other.prefetch(policy)["remedy"] for policy in policies] == [1, 1, 0, 0]


def test_a_cost_proportional_to_the_rate_shows_in_writes_at_half_the_load(shark):
    """In Table II, writes at half the highest load take 0.2 ms more than at rest, although no write waits for the
    drives."""
    runs = [
        sarc_runs.points(sarc_runs.simulate(one, "cache_sensitive", "lru_top", 1, [12500]), 1)["write_ms"].iloc[0]
        for one in (shark.with_values({"contention_us": us}) for us in (0, 10))
    ]
    least = 10 * 12.5 * shark.load_factor / 1000  # ms; a few requests also wait for the slots that others hold longer
    assert least <= runs[1] - runs[0] <= 1.2 * least


def test_orders_count_near_responses_as_equal():
    rows = [
        (parameter, "x", "cache_sensitive", policy, ms)
        for parameter, times in (("none", (30, 10.4, 10)), ("delta", (30, 10, 10.4)), ("climb", (30, 10.6, 10)))
        for policy, ms in zip(PAPERS, times, strict=True)
    ]
    table = sarc_inside.orderings(
        pd.DataFrame(rows, columns=["parameter", "value", "config", "policy", "response_ms"])
    ).set_index("parameter")
    assert table["order"].tolist() == ["lru_bottom = sarc < lru_top"] * 2 + ["sarc < lru_bottom < lru_top"]
    assert table["changed"].tolist() == [False, False, True]
    assert table.loc["climb", "sarc_over_better"] == pytest.approx(10 / 10.6)


def test_a_machine_without_fitted_values_says_so():
    shark, _ = load_shark(MACHINE, 16)
    with pytest.raises(ParameterError, match="fit first"):
        Run(replace(shark, host_slots=3), "cache_sensitive", "sarc", 1)


def test_fitted_values_come_from_the_table_and_configured_ones_take_precedence(tmp_path):
    path = tmp_path / "values.csv"
    pd.DataFrame({"parameter": VALUES.keys(), "value": VALUES.values()}).to_csv(path, index=False)
    shark, _ = fitted_shark(MACHINE, path, {"divisor": 16, "values": {"insertion": 0.2}}, SHORT)
    assert (shark.host_slots, shark.load_factor, shark.insertion, shark.phase_minutes) == (3, 0.8, 0.2, 3)
    slots = Parameter(None, "requests", "fitted", "none", vary_factors=(0.5, 2))
    assert sarc_inside.variations(shark, {"host_slots": slots}) == {"host_slots": [2, 6]}
    share = Parameter(None, "share", "fitted", "none", vary_factors=(2, 4, 8))
    assert sarc_inside.variations(shark, {"insertion": share}) == {"insertion": [0.4, 0.8]}


def test_an_integer_parameter_takes_whole_numbers_only(shark):
    assert type(shark.with_values({"degree": np.float64(16)}).degree) is int
    for value in (4.5, float("inf"), float("nan")):
        with pytest.raises(ParameterError, match=f"degree is {value}; expected a whole number"):
            shark.with_values({"degree": value})


def test_a_malformed_machine_is_named(tmp_path):
    path = tmp_path / "machine.yaml"
    entries = yaml.safe_load(MACHINE.read_text())
    entries["delta"]["value"] = 2
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(InputError, match=r"delta\.value"):
        load_shark(path)


# --- readings ---------------------------------------------------------------------------------------------------------


def test_readings_name_parameters_of_the_machine_and_change_it(shark):
    assert sarc_readings.READINGS and sarc_readings.JOINT
    for name, reading in sarc_readings.READINGS.items():
        turned = shark.with_values(reading.values)
        assert turned != shark, name
        turned.model().check()
    for parts in sarc_readings.JOINT.values():
        assert set(parts) <= set(sarc_readings.READINGS)


def test_tables_under_conditions_hold_every_row_that_claims_read(tmp_path, monkeypatch):
    every = sarc_readings.READINGS
    named = {
        name: every[name]
        for name in ("no striping by the host", "SARC's adaptation counts writes", "host adapter of 100 MB/s")
    }
    monkeypatch.setattr(sarc_readings, "READINGS", named)
    monkeypatch.setattr(
        sarc_readings, "JOINT", {"two": ("SARC's adaptation counts writes", "host adapter of 100 MB/s")}
    )
    fitted = tmp_path / "fitted.csv"
    pd.Series(VALUES, name="value").rename_axis("parameter").to_csv(fitted)
    short = {"warm_up_minutes": 0, "phase_minutes": 1, "discarded_minutes": 0}
    settings = {"divisor": 16, "values": {}}
    calibration = ROOT / "data" / "calibration.yaml"
    made = sarc_readings.under_conditions(MACHINE, fitted, calibration, settings, short, 1, threads=1)
    assert set(made) == {*claims.TABLES, "refits"}
    parts = {name: part for name, part in made["fig6"].groupby("condition")}
    assert list(parts) == sorted([sarc_readings.AS_READ, sarc_readings.REFITTED, *named, "two"])
    refits = made["refits"].set_index("condition")["load_factor"]
    assert sorted(refits.index) == sorted(
        [sarc_readings.REFITTED, "no striping by the host", "host adapter of 100 MB/s", "two"]
    )
    assert refits.between(0.88 * VALUES["load_factor"], 1.1 * VALUES["load_factor"]).all()
    for item, table in made.items():
        if item == "refits":
            continue
        for words in parts:
            own = table[table["condition"] == words].drop(columns="condition")
            assert not claims.TABLES[item].read(item, own)[1]
    response = {name: part.set_index("policy")["response_ms"] for name, part in parts.items()}
    as_read, counts = response[sarc_readings.AS_READ], response["SARC's adaptation counts writes"]
    assert (as_read[["lru_top", "lru_bottom"]] == counts[["lru_top", "lru_bottom"]]).all(), "it affects SARC alone"
    assert (as_read["sarc"] != counts["sarc"]).any()
    assert (as_read["lru_top"] != response["no striping by the host"]["lru_top"]).any()
    effects = sarc_readings.effects(ROOT / "studies" / "sarc" / "ledger.yaml", **made)
    assert effects["change"].tolist() == [sarc_readings.AS_READ, sarc_readings.REFITTED, *named, "two"]
    assert effects["claims_gained"].iloc[:2].tolist() == [0, 0]
    again = effects["load_factor"].notna()
    base = effects["claims_reproduced"] - effects["claims_gained"]
    assert set(base[again]) == {effects["claims_reproduced"][1]} and set(base[~again]) == {
        effects["claims_reproduced"][0]
    }
    assert effects["reading_kind"].tolist() == ["joint", "joint", "printed", "open", "open", "joint"]


def test_a_refit_finds_the_load_factor_that_the_model_was_run_with(shark, monkeypatch):
    """Targets are the model's own responses at 1.04 times its load factor."""
    ((config, policy),) = sarc_fit.LOAD

    def answers(loads):
        return np.exp(np.array(loads) / 8000)

    def made_up(shark, config, policy, seed, loads):
        rows = [{"config": config, "policy": policy, "phase": 1, "phase_minute": 9, "seed": seed} for _ in loads]
        table = pd.DataFrame(rows).assign(
            scaled_iops=loads, divisor=16, backlog=0, **dict.fromkeys(sarc_runs.MEASURES, 1.0)
        )
        return table.assign(read_ms=answers(loads), write_ms=answers(loads) / 3)

    monkeypatch.setattr(sarc_readings, "simulate", made_up)
    told = dict(zip(LOADS[config], answers(np.array(LOADS[config]) * 1.04), strict=True))
    targets = {
        (config, load, policy, side): ms / (1 + 2 * (side == "write_ms"))
        for load, ms in told.items()
        for side in sarc_fit.SIDES
    }
    assert sarc_readings.refit(shark, targets, 1) == pytest.approx(1.04 * VALUES["load_factor"], rel=0.006)


def test_a_varied_parameter_is_run_only_where_it_affects_responses(shark, monkeypatch):
    short, ran = replace(shark, warm_up_minutes=0, phase_minutes=1, discarded_minutes=0), []
    simulate = sarc_inside.simulate

    def counted(shark, config, policy, *rest):
        ran.append((config, policy))
        return simulate(shark, config, policy, *rest)

    monkeypatch.setattr(sarc_inside, "simulate", counted)
    unvaried = sarc_inside.vary(short, "none", ["none"], 1)
    assert len(ran) == 6
    for name, value in (("insertion", 0.2), ("delta", 0.1), ("footprint_sensitive_gb", 500)):
        whole = sarc_inside.vary(short, name, [value], 1)
        ran.clear()
        assert sarc_inside.vary(short, name, [value], 1, unvaried=unvaried).equals(whole), "nothing is lost"
        assert set(ran) == {run for run in itertools.product(LOADS, PAPERS) if sarc_runs.TOUCHED[name] in run}
    named = {name for name, entry in load_shark(MACHINE)[1].items() if entry.vary or entry.vary_factors}
    assert named == set(SENSITIVITY)


def test_a_parameter_that_has_its_only_other_value_is_not_varied(tmp_path, monkeypatch):
    fitted = tmp_path / "fitted.csv"
    pd.DataFrame({"parameter": VALUES.keys(), "value": VALUES.values()}).to_csv(fitted, index=False)
    asked = []

    def noted(shark, parameter, values, *_):
        asked.append((parameter, values))
        rows = [(parameter, "", config, policy, 1.0) for config in LOADS for policy in PAPERS]
        return pd.DataFrame(rows, columns=["parameter", "value", "config", "policy", "response_ms"])

    monkeypatch.setattr(sarc_inside, "vary", noted)
    settings = {"divisor": 16, "values": {"climb": 0.56}}
    sarc_inside.vary_all(MACHINE, fitted, settings, SHORT, 1, ["climb", "large_ratio"], 4, threads=1)
    assert asked == [("none", ["none"]), ("large_ratio", [10]), ("large_ratio", [50])]


# --- near saturation --------------------------------------------------------------------------------------------------


def test_a_published_point_is_moved_along_the_load_to_the_models_line():
    rows = [("c", load, "p", ms, 0.1) for load, ms in ((100, 1.0), (200, 2.0), (400, 8.0))]
    fig6 = pd.DataFrame(rows, columns=["config", "scaled_iops", "policy", "response_ms", "response_ms_ci95"])
    said = fig6[["config", "scaled_iops", "policy"]].assign(read_ms=[1.0, 4.0, 16.0], write_ms=[1.0, 4.0, 16.0])
    fit = pd.DataFrame([{"parameter": "load_factor", "value": 1.0, "within_low": 0.9, "within_high": 1.5}])
    table = sarc.load_axis(fig6, said, fit)
    assert table["load_shift_pct"].tolist() == pytest.approx([0, 100 * (2**0.5 - 1), 100 * (2**0.5 - 1)])
    assert table["within"].tolist() == [True, True, True]
    assert table["low_ms"].tolist() == pytest.approx([0.9, 2 * 0.9, 8 * 0.9**2])
    assert table["high_ms"].tolist() == pytest.approx([1.5, 2 * 1.5**2, 8 * 1.5**2])
    narrow = sarc.load_axis(fig6, said, fit.assign(within_high=1.1))
    assert narrow["within"].tolist() == [True, False, False]


# --- budget -----------------------------------------------------------------------------------------------------------


def test_a_budget_reads_the_needed_operations_off_the_policys_own_curve():
    keys = {"config": "c", "policy": "p"}
    inside = pd.DataFrame(
        [
            keys
            | {"scaled_iops": load, "operations_per_request": 1.0, "destages_per_request": 0.1}
            | {f"{name}_per_request": 0.25 for name in sarc_runs.OPERATIONS}
            for load in (100, 200, 400)
        ]
    )
    fig6 = pd.DataFrame(
        [keys | {"scaled_iops": load, "response_ms": ms} for load, ms in ((100, 1), (200, 2), (400, 8))]
    )
    said = pd.DataFrame(
        [keys | {"scaled_iops": load, "read_ms": ms, "write_ms": ms} for load, ms in ((100, 1), (200, 4), (400, 9))]
    )
    table = sarc.budget(inside, fig6, said).set_index("scaled_iops")
    assert table.loc[100, "needed_operations"] == pytest.approx(1)
    assert table.loc[200, "needed_operations"] == pytest.approx(300 / 200), "4 ms is half way between 2 and 8"
    assert np.isnan(table.loc[400, "needed_operations"]), "the model is never so slow"
