"""Test the HAC study: the records of runs, the prices, the tables, the conditions and the calibrated variant."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from misspenalty.errors import ParameterError
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.hac import calibrated as hac_calibrated
from misspenalty_studies.hac import claims, prices
from misspenalty_studies.hac import conditions as hac_conditions
from misspenalty_studies.hac import further as hac_further
from misspenalty_studies.hac import jobs as hac_jobs
from misspenalty_studies.hac import layouts as hac_layouts
from misspenalty_studies.hac import measured as hac_measured
from misspenalty_studies.hac import projections as hac_projections
from misspenalty_studies.hac import runs as hac_runs
from misspenalty_studies.hac import tables as hac
from misspenalty_studies.hac.object_server.object_client import REPLACEMENT, load_testbed
from misspenalty_studies.hac.objects.cache import COUNTS, TIMED
from misspenalty_studies.hac.objects.traversals import BY_CALLS, STATIC
from misspenalty_studies.hac.prices import Costs, client_us, load_fitted, penalty
from misspenalty_studies.hac.seeds import BySeed, mean_over_seeds

ROOT = Path(__file__).parents[3]
MACHINE = ROOT / "studies" / "hac" / "machine.yaml"
SMALL = yaml.safe_load((ROOT / "studies" / "hac" / "small.yaml").read_text())
POINTS = SMALL["points_mb"]


@pytest.fixture(scope="module")
def data():
    return hac_runs.database(1, **SMALL["database"])


@pytest.fixture(scope="module")
def sweeps(data):
    found = {}
    for name in STATIC:
        tables = []
        for size in SMALL["sweep_mb"][name]:
            one = hac_runs.run(data, "hac", name, size, 3)
            memory = {"frames_mb": one.memory[0] / hac_runs.MB, "table_mb": one.memory[1] / hac_runs.MB}
            tables.append(one.fetches.assign(cache_mb=size, **memory))
        found[name] = pd.concat(tables, ignore_index=True)
    return found


@pytest.fixture(scope="module")
def costs(data):
    testbed = load_testbed(MACHINE).with_values(install_instructions=300, drive="hp97560")
    return Costs(testbed, len(data.pages), 1)


def fetches(sweeps, name):
    return hac.at_size(sweeps[name], POINTS[name])


# --- runs


def test_fetches_have_a_column_for_every_count(data):
    run = hac_runs.run(data, "hac", "T1", 0.24, 3)
    table = run.fetches
    assert list(table.columns) == ["iteration", "page", *COUNTS]
    assert (table.groupby("iteration")["page"].first() == 0).all()
    assert (table["fetches"] == (table["page"] > 0)).all()
    per_iteration = table.groupby("iteration")["accesses"].sum()
    assert per_iteration.nunique() == 1  # the traversal reads the same objects every time
    assert sum(run.memory) <= 1.1 * 0.24 * hac_runs.MB


def test_hot_is_the_mean_of_the_middle_iterations():
    rows = [(i, page) for i, n in enumerate([9, 4, 6, 50]) for page in [0, *range(1, n + 1)]]
    table = pd.DataFrame(rows, columns=["iteration", "page"])
    assert hac_runs.count_misses(table) == (9, 5.0)
    assert hac_runs.count_misses(table[table["iteration"] < 2]) == (9, 4.0)
    assert hac_runs.count_misses(table[table["iteration"] < 1]) == (9, None)


def test_the_best_split_of_the_dual_buffer_is_kept(data):
    one = hac_runs.sweep(data, ["gom"], "T1", [0.28], 2, shares=[0.1, 0.3])
    each = [hac_runs.sweep(data, ["gom"], "T1", [0.28], 2, shares=[share]) for share in (0.1, 0.3)]
    assert one["hot_misses"].iloc[0] == min(table["hot_misses"].iloc[0] for table in each)


def test_sizes_too_small_to_run_are_left_out(data):
    assert hac_runs.sweep(data, ["hac"], "T1", [0.03, 0.24], 2)["cache_mb"].tolist() == [0.24]
    with pytest.raises(ParameterError, match="system"):
        hac_runs.run(data, "objectstore", "T1", 1, 1)


def test_a_sweep_keeps_counts_beyond_32_bits(data, monkeypatch):
    fetches = hac_runs.run(data, "hac", "T6", 4, 2).fetches.assign(accesses=2**31)
    monkeypatch.setattr(hac_runs, "run", lambda *_, **__: hac_runs.TraversalRun(fetches, (0, 0)))
    assert (hac_runs.sweep_hac(data, "T6", [4], 2)["accesses"] == 2**31).all()


# --- penalties


@pytest.mark.parametrize("name", STATIC)
def test_the_penalty_measured_on_the_clock_is_the_sum_of_its_parts(sweeps, costs, name):
    us = penalty(fetches(sweeps, name), POINTS[name], costs).us
    assert us["total"] == pytest.approx(us["fetch"] + us["replacement"] + us["conversion"], rel=1e-3)
    assert us["fetch"] == pytest.approx(us["client"] + us["server"] + us["disk"] + us["network"])
    assert us["replacement"] == pytest.approx(sum(us[part] for part in REPLACEMENT))


def test_client_us_equals_the_clients_part_of_the_penalty(sweeps, costs):
    whole = penalty(fetches(sweeps, "T1"), POINTS["T1"], costs).us
    alone = client_us(fetches(sweeps, "T1"), POINTS["T1"], costs)
    assert alone == pytest.approx({name: whole[name] for name in alone})


def test_replacement_hides_behind_the_wait(sweeps, costs):
    found = penalty(fetches(sweeps, "T1"), POINTS["T1"], costs)
    assert found.visible_us == 0
    instant = costs._replace(testbed=costs.testbed.with_values(network_mbit_per_s=1e6, packet_us=0, server_page_us=0))
    bare = penalty(fetches(sweeps, "T1"), POINTS["T1"], instant)
    assert 0.8 * bare.us["replacement"] < bare.visible_us <= bare.us["replacement"]


def test_cold_iterations_read_the_disk_and_hot_ones_do_not(sweeps, costs):
    cold = penalty(fetches(sweeps, "T1"), POINTS["T1"], costs, cold=True)
    hot = penalty(fetches(sweeps, "T1"), POINTS["T1"], costs)
    assert cold.hit_pct < hot.hit_pct == 100
    assert cold.us["disk"] > 0 == hot.us["disk"]
    assert cold.hit_pct < hot.run_hit_pct < 100


@pytest.mark.parametrize("name", STATIC)
def test_a_shared_server_has_seen_the_cold_iteration(sweeps, costs, name):
    """If the server's cache has room for the whole database, every hot fetch must hit it, as with one client."""
    for clients in (1, 2, 8):
        found = penalty(fetches(sweeps, name), POINTS[name], costs, clients=clients)
        assert (found.hit_pct, found.us["disk"]) == (100, 0)
    cold = penalty(fetches(sweeps, name), POINTS[name], costs, clients=2, cold=True)
    assert cold.hit_pct < 100


def test_a_client_does_the_work_after_the_last_fetch_before_it_starts_again():
    """By hand, the work before the fetches of pages 7, 8 and 9 is 1, 2 and 4, and the work after the last fetch is
    8."""
    used = pd.DataFrame({"page": [0, 7, 0, 8, 9, 0]})
    times = pd.DataFrame({"hit": [1, 0, 2, 4, 0, 8], "conversion": 0, "replacement": 0})
    first, second = prices._shifted(used, times, 0, 2)
    assert (first.page.tolist(), second.page.tolist()) == ([7, 8, 9], [8, 9, 7])
    assert (first.before.tolist(), second.before.tolist()) == ([1, 2, 4, 0], [2, 4, 1 + 8, 0])


def test_penalty_refuses_a_run_without_fetches(data, costs):
    idle = hac_runs.run(data, "hac", "T6", 4, 3).fetches
    with pytest.raises(ParameterError, match="no page is fetched in these iterations with 4 MB"):
        penalty(idle, 4, costs)
    assert not hac.enough(idle, 0)


def test_the_fit_meets_its_target_and_nothing_else_moves(sweeps, costs):
    unfitted = costs._replace(testbed=costs.testbed.with_values(install_instructions=None))
    runs = [(sweeps["T1"], unfitted)]
    row = hac.fit(runs, POINTS["T1"], 10, 0, 5000).iloc[0]
    assert row["reached"] == pytest.approx(10, abs=1e-6)
    assert not row["at_bound"]
    bound = hac.fit(runs, POINTS["T1"], 99, 0, 50).iloc[0]
    assert (bound["value"], bound["at_bound"]) == (50, True)
    fitted = costs._replace(testbed=costs.testbed.with_values(install_instructions=row["value"]))
    before, after = (penalty(fetches(sweeps, "T1-"), POINTS["T1-"], one).us for one in (costs, fitted))
    assert before["replacement"] == after["replacement"]
    assert before["conversion"] != after["conversion"]


def test_costs_are_loaded_with_the_fit(tmp_path):
    pd.DataFrame([{"value": 123.5}]).to_csv(tmp_path / "fit.csv")
    assert load_fitted(MACHINE, tmp_path / "fit.csv")["install_instructions"] == 123.5


# --- tables


def test_figures_9_to_11_agree_with_one_another(sweeps, costs):
    tables = [hac.fig9(name, sweeps[name], costs, 0) for name in STATIC]
    nine = pd.concat(tables)
    points = hac.points(sweeps, POINTS, costs)
    ten, eleven = hac.fig10(points, POINTS), hac.fig11(points, POINTS)
    at_point = nine[np.isclose(nine["cache_mb"], nine["traversal"].map(POINTS))]
    nine = at_point.pivot(index="traversal", columns="component", values="us")
    assert ten.groupby("traversal")["us"].sum().to_dict() == pytest.approx(nine["replacement"].to_dict())
    assert eleven.groupby("traversal")["us"].sum().to_dict() == pytest.approx(nine["fetch"].to_dict())
    axes = {"frames and table": tables[2].assign(us_ci95=0.5), "frames": tables[2].assign(us_ci95=0.5)}
    lower = tables[2].assign(us=tables[2]["us"] - tables[2]["cache_mb"] * 1e6)
    peaks = hac.peaks(axes, {axis: [tables[2], lower] for axis in axes}, {"T1": 1.0})
    assert peaks["axis"].tolist() == ["frames and table", "frames"]
    assert (peaks["lowest_mb"] == min(SMALL["sweep_mb"]["T1"])).all() and (peaks["us_ci95"] == 0.5).all()
    assert (peaks["highest_mb"] == peaks["peak_mb"]).all()
    assert set(peaks["peak_mb"]) <= set(SMALL["sweep_mb"]["T1"])
    assert hac.misses("T1", sweeps["T1"])["hot_misses"].tolist() == sorted(
        hac.misses("T1", sweeps["T1"])["hot_misses"], reverse=True
    )
    with pytest.raises(ParameterError, match="no run with 99 MB"):
        hac.at_size(sweeps["T1"], 99)


def test_projections_have_every_case(data, sweeps, costs):
    runs = hac.runs_at(sweeps, POINTS)
    table = hac_projections.projections(runs, costs, hac_projections.other_runs(data, POINTS, 3, costs.testbed))
    assert not table.duplicated(["case", "traversal", "quantity"]).any()
    assert table["value"].notna().all()
    assert set(table["case"]) == {
        "fig9_point", "busy_processor", "quickstore_mapped", "quickstore_unmapped", "iterative_traversal",
        "server_hit_23", "slower_network", "faster_network", "faster_network_and_offsets", "shared_server",
        "pentium_pro", "pentium_pro_larger_l2",
    }  # fmt: skip
    value = table.set_index(["case", "traversal", "quantity"])["value"]
    assert value["pentium_pro", "T1", "conversion_over_alpha_pct"] < 100
    ratio = "replacement_plus_conversion_over_fetch_pct"
    slow, own, fast = (value[c, "T1", ratio] for c in ("slower_network", "fig9_point", "faster_network"))
    assert slow < own < fast
    deep = hac.points(sweeps, POINTS, costs)["T1"].us["stack_scanning"]
    assert value["iterative_traversal", "T1", "stack_scanning_us"] < deep


def test_shares_of_compaction_are_missing_where_nothing_was_compacted(sweeps, costs):
    point = hac.runs_at(sweeps, POINTS)["T1"]
    counts = ["frames_compacted", "whole_evictions", "page_objects", "page_survivors"]
    point.fetches = point.fetches.assign(**dict.fromkeys(counts, 0))
    found = hac_projections._counted(point.penalty(costs))
    missing = {name for name, value in found.items() if np.isnan(value)}
    assert missing == {"surviving_fraction_of_page", "whole_page_evictions_pct"}


def test_every_run_has_the_testbeds_activation_records(data, sweeps, costs):
    """The base row of a testbed with longer activation records must equal the row in which only their length is
    varied."""
    longer = costs._replace(testbed=costs.testbed.with_values(activation_words=32))
    table = hac_further.algorithm_sensitivity(data, "T1", 0.24, costs, 3, {"activation_words": [32]})
    own = hac_further.algorithm_sensitivity(data, "T1", 0.24, longer, 3, {})
    measured = ["misses", "replacement_pct", "conversion_pct", "stack_pct"]
    assert own.loc[0, measured].tolist() == table.loc[1, measured].tolist() != table.loc[0, measured].tolist()
    databases = {"b": {"seed": 1, **SMALL["database"]}}
    layouts = hac_further.layout_sensitivity("T1", 0.24, longer, 3, databases)
    assert layouts.loc[0, measured].tolist() == own.loc[0, measured].tolist()
    scanned = [
        hac_projections.other_runs(data, POINTS, 3, one.testbed).iterative.fetches["stack_words"].sum()
        for one in (costs, longer)
    ]
    assert scanned[1] == 2 * scanned[0] > 0
    spent = [
        hac_further.elapsed(data, sweeps, POINTS, one, 3).set_index(["traversal", "run", "system"])["replacement_s"]
        for one in (costs, longer)
    ]
    assert (spent[1] > spent[0]).xs("fpc", level="system").all()
    assert (spent[1] == spent[0]).xs("hac-fg", level="system").all(), "HAC's sweeps are those of one testbed"


def test_a_point_prices_each_case_once_and_equals_penalty(sweeps, costs):
    point, processor = hac.runs_at(sweeps, POINTS)["T1"], costs.testbed.processor("ppro")
    for change in ({}, {"hit_share": 0.3}, {"processor": processor}, {"cold": True}, {"rate": 155}):
        for server in ({"server_cache_mb": 0.25}, {"server_cache_mb": 30, "page_order": "shuffled"}):
            own = costs._replace(testbed=costs.testbed.with_values(**server))
            found = point.penalty(own, **change)
            assert found == penalty(point.fetches, POINTS["T1"], own, **change)
            assert point.penalty(own, **change) is found


def test_elapsed_times_add_up_and_keep_their_order(data, sweeps, costs):
    table = hac_further.elapsed(data, sweeps, POINTS, costs, 3)
    parts = table[["hit_s", "fetch_s", "replacement_s", "conversion_s"]].sum(axis=1)
    assert table["elapsed_s"].to_numpy() == pytest.approx(parts.to_numpy())
    wide = table.pivot(index=["traversal", "run"], columns="system", values="elapsed_s")
    assert (wide["hac"] <= wide["hac-fg"]).all()
    assert (wide["fpc-no"] <= wide["fpc"]).all()


def test_updates_modify_what_the_benchmark_says(data, costs):
    table = hac_further.updates(data, SMALL["updates_mb"], costs).set_index("traversal")
    assert table.loc["T1", "modified_objects"] == 0
    assert table.loc["T2b", "modified_objects"] == 20 * table.loc["T2a", "modified_objects"]
    assert table.loc["T2b", "shipped_mb"] == pytest.approx(table.loc["T2b", "modified_objects"] * 40 / 2**20)
    assert table.loc["T1", "over_t1"] == 1
    assert table.loc["T2b", "over_t1"] > 1


def test_hit_time_needs_a_cache_that_holds_everything(data, costs):
    table = hac_further.hit_time(data, 4, costs)
    assert set(table["traversal"]) == {"T1", "T6"}
    with pytest.raises(ParameterError, match="choose a larger cache"):
        hac_further.hit_time(data, 0.24, costs)


def test_measured_lines_are_those_of_the_published_table(data):
    published = pd.read_csv(ROOT / "studies/hac/published/hit_time.csv")
    table = hac_measured.hit_time(data, 4, repeats=2)
    assert list(table["traversal"].unique()) == ["T1", "T6"]
    for name, part in table.groupby("traversal"):
        part = part.set_index("line")
        assert set(part.index) == {*published.loc[published["traversal"] == name, "line"], "cache"}
        assert part.loc["traversal", "seconds"] > 0 and part["seconds"].drop("cache").sum() > 0
        assert (part["low"] <= part["high"]).all() and part["accesses"].nunique() == 1
    with pytest.raises(ParameterError, match="still misses"):
        hac_measured.hit_time(data, 0.24)


def test_every_operation_of_a_fetch_is_measured(data):
    table = hac_measured.penalty(data, POINTS)
    assert set(table["traversal"]) == set(STATIC)
    assert set(table["operation"]) == set(TIMED) and (table["us"] > 0).all()


def test_published_hit_times_add_up_to_the_printed_totals():
    published = pd.read_csv(ROOT / "studies/hac/published/hit_time.csv")
    totals = published.groupby("traversal")["seconds"].sum()
    assert totals["T1"] == pytest.approx(7.77) and totals["T6"] == pytest.approx(8.93e-3)


def test_server_table_and_sensitivities(data, sweeps, costs):
    server = hac_further.server(sweeps, POINTS, costs, [0.25, 30])
    small = server[(server["server_cache_mb"] == 0.25) & (server["traversal"] == "T1+")].set_index("page_order")
    assert small.loc["contiguous", "read_ms"] < small.loc["scattered", "read_ms"]
    assert (server[server["server_cache_mb"] == 30]["hit_pct"] == 100).all()
    row = pd.DataFrame([{"reached": 10.0, "target": 10, "value": 300.0}])
    assert claims.logged(server, row)["id"].is_unique
    table = hac_further.algorithm_sensitivity(data, "T1", 0.24, costs, 3, {"scan": [1, 10]})
    assert table["parameter"].tolist() == ["none", "scan", "scan"]
    others = {"b": SMALL["database"], "too deep": SMALL["database"] | {"parts": 2000, "composites": 3}}
    others = {name: {"seed": 1, **sizes} for name, sizes in others.items()}
    table = hac_further.layout_sensitivity("T1", 0.24, costs, 3, others)
    assert table["value"].tolist() == ["b"]
    own = penalty(fetches(sweeps, "T1"), POINTS["T1"], costs)
    assert table["misses"].iloc[0] == own.fetches
    costs_table = hac_further.cost_sensitivity(sweeps, POINTS, costs)
    assert set(costs_table["traversal"]) == set(STATIC)
    assert costs_table.groupby("traversal")["parameter"].nunique().nunique() == 1


def test_sensitivity_runs_make_as_many_iterations_as_the_study(tmp_path, data):
    pd.DataFrame([{"value": 300}]).to_csv(tmp_path / "fit.csv")
    costs = Costs(load_fitted(MACHINE, tmp_path / "fit.csv"), len(data.pages), 1)
    few, many = (
        hac_jobs.sensitivity(
            MACHINE, tmp_path / "fit.csv", "T1", POINTS, {}, {"same": {}}, SMALL["database"], [1], iterations
        )
        for iterations in (2, 5)
    )
    expected = hac_further.algorithm_sensitivity(data, "T1", POINTS["T1"], costs, 5, {})["misses"].tolist()
    assert many["misses"].tolist() == 2 * expected != few["misses"].tolist()


# --- seeds


def test_means_have_students_intervals_and_rows_that_every_seed_has():
    """By hand, three values have mean 2 and deviation 1, and t of 2 degrees of freedom is 4.302653."""
    tables = [pd.DataFrame({"size": [1, 2], "us": [us, 0.0], "n": [4, 1]}) for us in (1.0, 2.0, 3.0)]
    tables[2] = tables[2][:1]
    table = mean_over_seeds(tables, ["size"])
    assert table["size"].tolist() == [1]
    assert table.loc[0, ["us", "us_ci95", "n", "n_ci95"]].tolist() == pytest.approx([2, 4.302653 / 3**0.5, 4, 0])
    assert mean_over_seeds(tables[:1], ["size"])["us_ci95"].isna().all()


def test_an_interval_leaves_out_seeds_without_a_value():
    """By hand, two values have mean 2 and deviation 2 ** 0.5, and t of 1 degree of freedom is 12.7062."""
    tables = [pd.DataFrame({"size": [1], "us": [us]}) for us in (1.0, None, 3.0)]
    assert mean_over_seeds(tables, ["size"])[["us", "us_ci95"]].loc[0].tolist() == pytest.approx([2, 12.7062])


def test_equal_seeds_give_equal_databases_and_other_seeds_differ(tmp_path):
    given = {"total_mb": {"T6": [0.05]}, "frames_mb": {"T6": [0.05]}, "others_mb": {"T6": [0.08]}, "shares": [0.4, 0.2]}
    made = hac_runs.sweeps(MACHINE, "T6", [1, 2], SMALL["database"], 2, **given)
    again = hac_runs.sweeps(MACHINE, "T6", [2], SMALL["database"], 2, **given)
    swept = BySeed({"T6": made["total"]})
    assert list(swept) == [1, 2]
    own = BySeed({"T6": again["total"]})[2]["T6"].reset_index(drop=True)
    pd.testing.assert_frame_equal(swept[2]["T6"].reset_index(drop=True), own)
    assert not swept[1]["T6"].reset_index(drop=True).equals(own)
    made["total"].to_parquet(tmp_path / "total.parquet")
    stored = BySeed({"T6": tmp_path / "total.parquet"})
    assert list(stored) == [1, 2]
    pd.testing.assert_frame_equal(stored[2]["T6"].reset_index(drop=True), own)
    splits = (table["others"].query("system == 'gom'")["share"].tolist() for table in (made, again))
    assert [*splits] == [[0.2, 0.2], [0.4]]  # the first of two seeds decides; seed 2 alone gives another split
    for name, table in hac_runs.sweeps(MACHINE, "T6", [1, 2], SMALL["database"], 2, threads=2, **given).items():
        pd.testing.assert_frame_equal(table, made[name])


# --- conditions


def test_used_shares_of_pages_are_those_of_the_objects_read(data):
    table = hac_layouts.used(data, "between").set_index("traversal")
    cache = hac_runs.make_cache(data, "fpc", 4)
    hac_layouts.Program(cache, data).run("T1-")
    inside = {thing.oref for frame in cache.contents() for thing, _, installed, _ in frame["things"] if installed}
    assert cache.installed().tolist() == sorted(inside)
    rows = {oref >> 9 for oref in inside}
    counts = data.pages.view(np.uint16).reshape(len(data.pages), -1)[:, 2]
    assert table.loc["T1-", "pages"] == len(rows)
    there = sum(int(counts[row - 1]) for row in rows)
    assert table.loc["T1-", "used_objects_pct"] == pytest.approx(100 * len(inside) / there)
    assert table.loc[list(STATIC), "used_bytes_pct"].is_monotonic_increasing
    assert table["used_bytes_pct"].between(0, 100).all()


def test_layouts_are_compared_as_the_calibration_declares():
    calibration = ROOT / "data" / "calibration.yaml"
    table = hac_layouts.layouts(calibration, [1], SMALL["database"]).set_index(["documents", "traversal"])
    (declared,) = [fit for fit in load_calibration(calibration) if fit.basis == "recollected"]
    for target in declared.published:
        assert f"hac_{Path(declared.sensitivity).stem}" == target["table"]
        row = table.loc[(target["where"]["documents"], target["where"]["traversal"])]
        assert row[target["column"]] > 0 and row[f"recollected_{target['column']}"] == target["value"]
    assert table.loc["between", "recollected_used_bytes_pct"].isna().all()
    pages = table["pages"].unstack("traversal")
    assert pages.loc["between", "T6"] > pages.loc["apart", "T6"]


def test_tables_under_conditions(tmp_path, sweeps):
    fit = tmp_path / "fit.csv"
    sweeps = {name: table.assign(seed=1) for name, table in sweeps.items()}
    for axis in ("total", "frames"):
        for name in STATIC:
            sweeps[name].to_parquet(tmp_path / f"{axis}_{name}.parquet")
    pd.DataFrame({"parameter": ["install_instructions"], "value": [250.0]}).to_csv(fit, index=False)
    layouts = {"the same": {}, "fewer connections": {"connections": 2}}
    stored = {axis: [tmp_path / f"{axis}_{name}.parquet" for name in STATIC] for axis in ("total", "frames")}
    others = {axis: [] for axis in stored}
    for layout, changed in layouts.items():
        for name in STATIC:
            sizes, swept = SMALL["database"] | changed, (SMALL["sweep_mb"], SMALL["sweep_mb"])
            for axis, table in hac_runs.sweeps(MACHINE, name, [1], sizes, 3, *swept).items():
                others[axis].append(tmp_path / f"{axis}_{name}_{layout}.parquet")
                table.to_parquet(others[axis][-1])
    calls = [tmp_path / f"calls_{number}.parquet" for number in range(1 + len(layouts))]
    for path, changed in zip(calls, ({}, *layouts.values()), strict=True):
        sizes, swept = SMALL["database"] | changed, {BY_CALLS: SMALL["sweep_mb"]["T1-"]}
        made = hac_runs.sweeps(MACHINE, BY_CALLS, [1], sizes, 3, swept)
        assert list(made) == ["total"]
        made["total"].to_parquet(path)
    made = hac_conditions.under_conditions(
        *stored.values(),
        *others.values(),
        calls,
        MACHINE,
        fit,
        POINTS,
        4,
        0,
        3,
        layouts,
        SMALL["database"],
    )
    assert set(made) == {"fig9", "fig10", "fig11", "projections", "hit_time"} == set(claims.TABLES)
    lines = made["hit_time"].set_index(["condition", "traversal", "line"])["seconds"]
    few, many = (lines[f"{count} instructions per object for exception code"] for count in (5, 20))
    assert many["T1", "exception"] == pytest.approx(4 * few["T1", "exception"])
    one, six = many, lines["12 instructions per object for usage statistics"]  # method calls per object
    assert six["T1", "usage"] == pytest.approx(6 * one["T1", "usage"])
    assert many.drop("exception", level="line").equals(few.drop("exception", level="line"))
    alone, other = hac_conditions.FRAMES_ALONE, "fewer connections"
    tried = {"; ".join(chosen) for name in ("the same", other) for chosen in hac_conditions.explored([name]) if chosen}
    unit_costs = {
        hac_conditions.DECIDING[name].format(value)
        for name, value in load_testbed(MACHINE).with_values(install_instructions=250.0).variations()
        if name in hac_conditions.DECIDING
    }
    stack = {words for words in unit_costs if words.startswith("activation records")}
    assert len(unit_costs) > 12 and stack == {"activation records of 8 words", "activation records of 32 words"}
    share = made["fig10"].query("component == 'stack_scanning' and traversal == 'T1'").set_index("condition")["us"]
    assert share["activation records of 32 words"] > 2 * share["activation records of 8 words"]
    assert share["12 instructions per word of the stack"] > 2 * share["3 instructions per word of the stack"]
    conversion = made["fig9"].query("component == 'conversion'").set_index(["condition", "traversal"])["us"]
    cheap, dear = (conversion[f"{number} instructions to install an object"] for number in (125, 500))
    assert (cheap < dear).all()
    made = {item: table[~table["condition"].isin(unit_costs)] for item, table in made.items()}
    # With frames alone, the other database has no hot misses.
    assert set(made["fig9"]["condition"]) - tried == {alone, f"{alone}; the same"}
    words = list(made["projections"]["condition"].unique())
    assert set(words) == tried and [text.count("; ") for text in words] == sorted(text.count("; ") for text in words)
    keys = ["traversal", "cache_mb", "component"]
    fig9 = {name: part.set_index(keys)["us"] for name, part in made["fig9"].groupby("condition")}
    points = [(name, POINTS[name], part) for name in STATIC for part in hac.PENALTY]
    assert fig9["the same"].loc[points].to_dict() == pytest.approx(fig9[alone].loc[points].to_dict())
    assert fig9["the same"].loc[points].to_dict() != fig9[other].loc[points].to_dict()
    both = fig9["server cache of 24 MB; pages in the order of their creation"]
    for name in STATIC:  # the server does not change what the client does
        curve, same = (table.xs((name, "replacement"), level=keys[::2]) for table in (both, fig9["the same"]))
        assert curve.to_dict() == pytest.approx(same.to_dict())
    assert fig9[hac_conditions.CALLS]["T1-"].to_dict() != fig9["the same"]["T1-"].to_dict()
    shares = made["projections"].query("case == 'fig9_point' and quantity == 'server_cache_hit_pct'")
    assert shares.groupby("condition").size().to_dict() == dict.fromkeys(words, 4)
    slower = made["projections"].query("case == 'slower_network'")["condition"]
    assert set(slower) == {text for text in words if "; " not in text}


# --- the calibrated variant


@pytest.fixture(scope="module")
def stored(tmp_path_factory, sweeps):
    folder = tmp_path_factory.mktemp("variant")
    for name in STATIC:
        pd.concat([sweeps[name].assign(seed=seed) for seed in (1, 2)]).to_parquet(folder / f"{name}.parquet")
    return [folder / f"{name}.parquet" for name in STATIC]


def test_the_variant_has_the_size_whose_hit_rate_is_nearest():
    rates = pd.DataFrame({"server_cache_mb": [20, 21, 22], "hit_pct": [60.0, 70.0, 90.0], "hit_pct_ci95": 1.0})
    for target, chosen in ((64, [True, False, False]), (79, [False, True, False]), (90, [False, False, True])):
        table = hac_calibrated.sized(rates, target)
        assert table["chosen"].tolist() == chosen and (table["target_pct"] == target).all()
        assert table[rates.columns].equals(rates)
    with pytest.raises(
        ParameterError, match=r"20 to 22 MB, 60.0 to 90.0 % .* published rate is 59 %; change the range of serv"
    ):
        hac_calibrated.sized(rates, 59)


def test_the_variant_has_the_tables_that_claims_read_and_counts_what_changes(tmp_path, stored):
    text = (ROOT / "data" / "calibration.yaml").read_text().replace("value: 86\n", "value: 100\n")
    (tmp_path / "calibration.yaml").write_text(text)  # the small database fits in the server's cache: all fetches hit
    calibration = tmp_path / "calibration.yaml"
    made = hac_calibrated.calibrated(stored, MACHINE, calibration, POINTS, 0, 2, 4, SMALL["database"])
    by_seed = {f"{item}_by_seed" for item, table in claims.TABLES.items() if table.by_seed}
    assert set(made) == {"server_fit", "fit", *claims.TABLES, *by_seed}
    assert set(made["fig9_by_seed"]["seed"]) == {1, 2} and made["fit"]["target"].tolist() == [10]
    hits = made["projections"].set_index(["case", "traversal", "quantity"])["value"]
    chosen = made["server_fit"].query("chosen").iloc[0]
    assert hits["fig9_point", "T1", "server_cache_hit_pct"] == pytest.approx(chosen["hit_pct"])
    for name in ("server_fit", "hit_time"):
        made[name].to_csv(tmp_path / f"{name}.csv", index=False)
    judged = pd.read_csv(ROOT / "results" / "claims.csv", keep_default_na=False).query("study == 'hac'")
    counts = {}
    for verdict in ("reproduced", "not_reproduced"):
        judged.assign(verdict=verdict).to_csv(tmp_path / "claims.csv", index=False)
        counts[verdict] = hac_calibrated.claims_over_size(
            stored, MACHINE, calibration, tmp_path / "server_fit.csv", tmp_path / "hit_time.csv",
            tmp_path / "claims.csv", ROOT / "studies" / "hac" / "ledger.yaml", POINTS, 0, 2, [20], SMALL["database"],
        )  # fmt: skip
    all_, none = counts["reproduced"], counts["not_reproduced"]
    assert (all_["gained"] == 0).all() and (all_["net"] == -all_["lost"]).all()
    assert (none["lost"] == 0).all() and (none["gained"] == none["reproduced"]).all()
    assert (all_["lost"] + all_["reproduced"]).nunique() == 1 and none["server_cache_mb"].tolist() == [20]
