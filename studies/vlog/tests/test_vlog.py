"""Test the virtual-log study: tables have the columns that the ledger reads, orders hold, and conditions matter."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty import ParameterError, disks
from misspenalty_studies.vlog import checks as vlog_checks
from misspenalty_studies.vlog import claims, platforms
from misspenalty_studies.vlog import conditions as vlog_conditions
from misspenalty_studies.vlog import figures as vlog_figures
from misspenalty_studies.vlog import file_system_runs as vlog_files
from misspenalty_studies.vlog import locate as vlog_locate
from misspenalty_studies.vlog import runs as vlog
from misspenalty_studies.vlog import what_if as vlog_what_if
from misspenalty_studies.vlog.file_systems.hosts import load_hosts

MACHINE = Path(__file__).parents[3] / "studies" / "vlog" / "machine.yaml"
HOSTS = load_hosts(MACHINE)
PLATFORMS = vlog.make_platforms(
    {
        "sparc10_hp": {"host": "sparc10", "drive": "hp97560", "cylinders": 36},
        "sparc10_seagate": {"host": "sparc10", "drive": "st19101", "cylinders": 11},
        "ultra170_seagate": {"host": "ultra170", "drive": "st19101", "cylinders": 11},
    },
    HOSTS,
)
WORKLOAD = vlog.Updates(updates=2000)
SEAGATE = PLATFORMS["ultra170_seagate"]


@pytest.fixture(scope="module")
def latencies():
    return vlog.fig9(PLATFORMS, WORKLOAD)


def test_components_add_up_to_the_clock(latencies):
    assert len(latencies)
    for _, part in latencies.groupby(["platform", "system"]):
        ms = part.set_index("component")["ms"]
        assert ms[["scsi_overhead", "transfer", "locate", "other"]].sum() == pytest.approx(ms["total"], rel=1e-9)


def test_speedups_are_quotients_of_the_totals(latencies):
    table = vlog.table2(latencies)
    assert table["platform"].tolist() == list(PLATFORMS)
    assert np.allclose(table["speedup"], table["update_in_place_ms"] / table["virtual_log_ms"])
    assert (table["speedup"] > 1).all()


def test_equal_seeds_give_equal_tables(latencies):
    assert vlog.fig9(PLATFORMS, WORKLOAD).equals(latencies)


def test_runs_under_the_same_changes_share_one_slice():
    """Runs must share a slice, because cutting one takes longer than a short run and hundreds of runs use the same
    two."""
    shorter = SEAGATE.changed(head_switch_ms=0.195)
    assert SEAGATE.changed(head_switch_ms=0.195, host_factor=0).kind is shorter.kind is not SEAGATE.kind
    assert shorter.kind.data["mechanics"]["head_switch_ms"] == 0.195


def test_host_time_is_what_is_counted(latencies):
    ms = latencies.set_index(["platform", "system", "component"])["ms"]
    assert PLATFORMS
    for label, platform in PLATFORMS.items():
        plain = (platform.host.write_ns(4096) + platform.host.request_ns(4096)) / 1e6
        assert ms[label, "update_in_place", "other"] == pytest.approx(plain)
        assert ms[label, "virtual_log", "other"] > plain


def test_the_inode_doubles_the_requests():
    plain = vlog.random_updates(SEAGATE, "update_in_place", WORKLOAD)
    both = vlog.random_updates(SEAGATE, "update_in_place", replace(WORKLOAD, inode=True))
    assert both["scsi_overhead"] == pytest.approx(2 * plain["scsi_overhead"])
    assert both["transfer"] == pytest.approx(2 * plain["transfer"], rel=0.01)


def test_more_free_space_is_found_sooner():
    found = [
        vlog.random_updates(SEAGATE, "virtual_log", replace(WORKLOAD, utilisation=used))["locate"]
        for used in (0.3, 0.6, 0.9)
    ]
    assert found == sorted(found)


def test_every_condition_acts_in_its_direction(monkeypatch):
    whole = ("no_map_sector", "short_head_switch", "contiguous_file", "host_free", "unaligned_blocks")
    emptied = ("no_map_sector", "short_head_switch", "emptied_tracks", "host_free")
    every = vlog_conditions.explored()
    some = [(), *((name,) for name in vlog_conditions.CONDITIONS), whole[:-1], whole, emptied]
    assert len({*every}) == len(every) and {*some} < {*every}
    monkeypatch.setattr(vlog_conditions, "explored", lambda: some)
    old, new = (vlog.random_updates(SEAGATE, system, WORKLOAD)["total"] for system in vlog.SYSTEMS)
    base = old / new
    table = vlog_conditions.gap(SEAGATE, WORKLOAD).set_index("conditions")["speedup"]
    assert table["none"] == pytest.approx(base)
    for condition in (
        "emptied_tracks", "contiguous_file", "no_map_sector", "short_head_switch", "host_half", "host_quarter",
        "host_free", "unaligned_blocks",
    ):  # fmt: skip
        assert table[condition] > base
    assert table["updates_8kb"] < table["none"]
    other = replace(SEAGATE, label="sparc10_seagate")
    assert vlog_conditions.apply(("updates_8kb",), other, WORKLOAD) == (
        other,
        WORKLOAD,
    )  # only the UltraSPARC-170 has such blocks
    assert table["host_half"] < table["host_quarter"] < table["host_free"]
    assert table["+".join(whole)] > table["+".join(whole[:-1])]
    assert table["+".join(emptied)] > table[list(vlog_conditions.CONDITIONS)].max()


def test_a_set_of_conditions_decides_if_no_smaller_one_has_the_same_outcome():
    rows = [
        ("none", False, True), ("fresh", True, True), ("8kb", False, True), ("fresh+8kb", True, True),
        ("no_map+8kb", True, False), ("no_map+fresh+8kb", True, False),
    ]  # fmt: skip
    outcomes = pd.DataFrame(rows, columns=["conditions", "near_ten", "balanced"])
    assert vlog_conditions.deciding(outcomes) == ["fresh", "no_map+8kb"]


def test_three_measures_agree_on_the_extremes_of_balance():
    found = vlog_conditions.balance(np.array([[0.25] * 4, [0.7, 0.1, 0.1, 0.1], [1, 0, 0, 0]]))
    assert found["share"].tolist() == [0.25, 0.7, 1] and found["entropy"][0] == pytest.approx(np.log(4))
    assert (np.diff(found["variance"]) > 0).all() and (np.diff(found["entropy"]) < 0).all()


def test_the_judge_is_given_whole_tables_under_single_and_deciding_conditions():
    platforms = [replace(SEAGATE, label=label) for label in vlog_conditions.PLATFORMS]
    load = replace(WORKLOAD, updates=200, warm_up=0)
    table = pd.concat([vlog_conditions.gap(platform, load) for platform in platforms], ignore_index=True)
    tables = vlog_conditions.conditions(table)
    deciding = vlog_conditions.deciding(vlog_conditions.judged(table))
    count = len({*vlog_conditions.CONDITIONS, *deciding})
    assert tables["table2"]["condition"].nunique() == tables["fig9"]["condition"].nunique() == count
    for item, wanted in claims.TABLES.items():
        keys = [*wanted.keys, "condition"]
        assert not tables[item].duplicated(keys).any()
        for row in wanted.rows:
            found = tables[item][(tables[item][list(row)] == pd.Series(row)).all(axis=1)]
            assert len(found) == count, row
    first = table[(table["conditions"] == "no_map_sector") & (table["platform"] == vlog_conditions.PLATFORMS[0])].iloc[
        0
    ]
    judged = tables["fig9"].query("condition == 'no map sector written' and platform == 'sparc10_hp'")
    judged = judged.set_index(["system", "component"])["ms"]
    assert judged["virtual_log", "total"] == first["virtual_log_ms"]
    assert judged["update_in_place", "locate"] == first["in_place_locate_ms"]
    for system in ("update_in_place", "virtual_log"):
        parts = judged[system].drop("total")
        assert parts.sum() == pytest.approx(judged[system, "total"])


def test_the_ceiling_leaves_what_the_other_parts_do_not_take():
    parts = {"scsi_overhead": 0.1, "transfer": 0.2, "locate": 1.0, "other": 0.3}
    rows = [
        {"platform": "one", "system": system, "component": name, "ms": factor * ms}
        for system, factor in (("update_in_place", 5), ("virtual_log", 1))
        for name, ms in [*parts.items(), ("total", sum(parts.values()))]
    ]
    table = vlog_conditions.limits(pd.DataFrame(rows)).set_index("speedup")
    assert table.loc[5, "write_ms"] == pytest.approx(1.6) and table.loc[5, "left_ms"] == pytest.approx(1.0)
    assert table.loc[10, "left_ms"] == pytest.approx(0.2)


def test_readings_say_what_the_conditions_would_change():
    rows = [
        {"platform": label, "conditions": "none", "conditions_changed": 0, "speedup": speedup, "virtual_log_ms": 1.0,
         "scsi_overhead_ms": overhead, "transfer_ms": 0.1, "locate_ms": locate, "other_ms": 0.9 - overhead - locate}
        for label, speedup, overhead, locate in [
            ("sparc10_hp", 2.0, 0.5, 0.3), ("sparc10_seagate", 4.0, 0.1, 0.2), ("ultra170_seagate", 9.5, 0.2, 0.4)]
    ]  # fmt: skip
    row = vlog_conditions.judged(pd.DataFrame(rows)).iloc[0]
    assert row[["widening", "near_ten", "overheads", "host_limited", "balanced"]].all()
    assert row["balanced_entropy"] and row["balanced_variance"]
    rows[1]["speedup"], rows[2]["speedup"] = 1.5, 10.5
    rows[2]["locate_ms"], rows[2]["other_ms"] = 0.7, 0.0
    row = vlog_conditions.judged(pd.DataFrame(rows)).iloc[0]
    assert not row[["widening", "near_ten", "balanced"]].any() and row["host_limited"]


def test_the_host_range_has_its_ends():
    table = vlog_conditions.host_range({"one": SEAGATE}, WORKLOAD, [0, 1, 100])
    assert table["other_ms"].iloc[0] == 0 and table["largest"].iloc[2] == "other"
    assert table["speedup"].is_monotonic_decreasing
    assert 0.8 < table["speedup"].iloc[2] < 1  # only the algorithm's own time makes a difference


def test_sensitivity_varies_hosts_and_drives():
    table = vlog_conditions.sensitivity(PLATFORMS, replace(WORKLOAD, updates=300, warm_up=1), HOSTS)
    assert {"none", "file_system", "search", "head_switch_ms", "seek_factor", "utilisation"} <= set(table["parameter"])
    assert not table.duplicated(["parameter", "value", "platform"]).any()
    speedup = table.set_index(["platform", "parameter", "value"])["speedup"]
    for name in PLATFORMS:
        assert speedup[name, "write_behind", 1] < speedup[name, "none", 0]  # a drive's buffer hides its seeks


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_alternative_of_a_drive_is_varied(name):
    platform = PLATFORMS[name]
    listed = {key: entry["vary"] for key, entry in platform.kind.data["sources"].items() if "vary" in entry}
    assert listed.pop("cache.almost_hits") == [False]  # affects reads only
    varied = list(vlog_conditions.drive_variations(platform))
    assert len(varied) == sum(map(len, listed.values())) + 2  # plus half and twice the seek times
    assert len({change for change, _ in varied}) == len(listed) + 1


def test_models_and_simulation_agree_on_the_time_to_locate():
    table = vlog_locate.fig1("drive", SEAGATE.kind, [0.5, 0.8], 1500, 1)
    assert np.allclose(table["cylinder_model_us"], table["simulated_us"], rtol=0.08)
    assert (table["block_simulated_us"] > table["simulated_us"]).all()
    table = vlog_locate.fig2("drive", SEAGATE.kind, [0, 0.25, 0.7, 0.95], 20, 1)
    assert table["simulated_us"].idxmin() == 2


def test_patterns_without_a_free_block_are_left_out_of_the_mean():
    """If hardly any block is free, the mean wait for a free block must exceed the mean wait for one of the many free
    sectors."""
    kind = vlog.make_platforms({"two": {"host": "sparc10", "drive": "hp97560", "cylinders": 2}}, HOSTS)["two"].kind
    blocks = vlog.physical_blocks(kind)
    row = vlog_locate.fig1("drive", kind, [1 - 0.3 / blocks], 100, 1).iloc[0]
    assert row["block_simulated_us"] > row["simulated_us"] > 0
    assert np.isnan(vlog_locate.fig1("drive", kind, [1 - 1e-9], 100, 1)["simulated_us"].item())


def test_a_file_is_timed_by_its_whole_blocks():
    whole, more = (vlog_files.fig7(SEAGATE, size, 1) for size in (64 * 4096, 65 * 4096 - 1))
    assert whole.equals(more)


def test_platforms_with_one_disk_share_the_rows_of_its_figures_1_and_2():
    entries = {
        label: {"host": platform.host.label, "drive": platform.drive, "cylinders": platform.cylinders}
        for label, platform in PLATFORMS.items()
    }
    tables = platforms.files(
        MACHINE, entries, {"updates": 5, "warm_up": 0}, ["sparc10_seagate", "ultra170_seagate"], ["sparc10_seagate"],
        [0.5, 0.9], [0.2, 0.7], 100, 10, 0.25, [0.3], [128], [0, 100], 5, threads=1,
    )  # fmt: skip
    assert len(tables["fig1"]) == len(tables["fig2"]) == 2
    assert tables["fig6"]["platform"].nunique() == 2


@pytest.fixture(scope="module")
def figures():
    load = replace(WORKLOAD, updates=600, warm_up=2)
    return {
        "fig1": vlog_locate.fig1("drive", SEAGATE.kind, [0.5, 0.95], 400, 1),
        "fig2": vlog_locate.fig2("drive", SEAGATE.kind, [0, 0.7, 0.95], 10, 1),
        "fig6": vlog_files.fig6(SEAGATE, 60),
        "fig7": vlog_files.fig7(SEAGATE, 400 * 4096, 1),
        "fig8": vlog_files.fig8(SEAGATE, [0.3, 0.7, 0.99], load),
        "bursts": pd.concat(
            vlog_files.bursts(SEAGATE, system, [128, 504], [0, 300, 2000], load) for system in ("ufs", "lfs")
        ),
    }


def test_figures_of_file_systems_have_a_row_for_whatever_fits(figures):
    assert len(figures["fig6"]) == 4 * 3 and len(figures["fig7"]) == 4 * 5
    assert (figures["fig6"]["files_per_s"] > 0).all() and (figures["fig7"]["mb_per_s"] > 0).all()
    fitting = figures["fig8"].groupby("utilisation_pct").size()
    assert fitting[30] == 3 and 99.0 not in fitting.index
    log = (
        figures["bursts"].query("file_system == 'ufs'").pivot(index="idle_ms", columns="burst_kb", values="latency_ms")
    )
    assert (log.loc[2000] < log.loc[0]).all()


def test_only_what_does_not_fit_is_left_out():
    load = replace(WORKLOAD, updates=10, warm_up=0)
    with pytest.raises(ParameterError, match="reserve is 99"):
        vlog_files.fig8(SEAGATE, [0.5], replace(load, reserve=99))
    fits = set()
    for used in np.linspace(0.9, 0.999, 30):
        load = replace(load, utilisation=used)
        for system in vlog.SYSTEMS:
            try:
                vlog.random_updates(SEAGATE, system, load)
                fits.add((system, True))
            except ParameterError:
                fits.add((system, False))
                assert vlog_files._total(SEAGATE, system, load) is None
            else:
                assert vlog_files._total(SEAGATE, system, load) > 0
    assert len(fits) == 4


def test_statements_are_compared_with_the_tables(figures):
    table = vlog_checks.checks(**figures)
    assert set(table["figure"]) == {f"Figure {n}" for n in (1, 2, 6, 7, 8, 10, 11)}
    assert table["holds"].map(lambda value: value in (True, False)).all()
    assert table["obtained"].str.len().gt(0).all()


def test_claims_that_no_table_decides_have_notes(latencies):
    table = claims.logged(latencies, PLATFORMS, WORKLOAD.utilisation)
    assert table["id"].tolist() == ["vlog.setup.utilisation", "vlog.fig9.simulator_share"]
    assert "80 %" in table["note"].iloc[0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: vlog.Updates(utilisation=1.0),
        lambda: vlog.Updates(updates=0),
        lambda: vlog.random_updates(SEAGATE, "virtual_log", replace(WORKLOAD, utilisation=0.999)),
        lambda: vlog.random_updates(SEAGATE, "update_in_place", replace(WORKLOAD, utilisation=1e-9)),
    ],
)
def test_impossible_parameters_are_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_a_drive_without_a_second_head_switch_time_is_refused_before_the_run():
    """The condition short_head_switch takes its time from the drive's description, and fails early if there is none."""
    assert (
        vlog_conditions.short_switch_ms(disks.load("hp97560"))
        < disks.load("hp97560").data["mechanics"]["head_switch_ms"]
    )
    with pytest.raises(ParameterError, match=r"cheetah9lp.*give one as `vary`"):
        vlog_conditions.short_switch_ms(disks.load("cheetah9lp"))


def test_on_flash_the_map_only_adds_work():
    entry = {"host": "server_2015", "drive": "dc_s3700", "blocks": 16}
    platforms = vlog_what_if.make_platforms({"safe": entry, "flash": entry | {"write_units": 0}}, HOSTS)
    table = vlog_what_if.what_if(platforms, vlog.Updates(utilisation=0.1, updates=400, warm_up=0))
    parts = [f"{name}_us" for name in vlog_what_if.COMPONENTS]
    assert np.allclose(table[parts].sum(axis=1), table["total_us"]) and not table["locate_us"].any()
    table = table.set_index(["platform", "system"])
    for label in platforms:
        old, new = table.loc[(label, "update_in_place")], table.loc[(label, "virtual_log")]
        extra = HOSTS["server_2015"].record_ns / 1000
        assert new["other_us"] - old["other_us"] == pytest.approx(extra) and new["overhead_us"] == old["overhead_us"]
        assert new["written_kb"] == pytest.approx(2 * old["written_kb"], rel=0.05)
        # Without a buffer, each write takes a page of 16 KB; with one, a page is filled with blocks first.
        assert old["written_kb"] == pytest.approx({"safe": 4, "flash": 16}[label], rel=0.02)
    # Without a buffer, the map sector waits for a read and a program of its own, each with a copy over the channel.
    slower = table.loc[("flash", "virtual_log"), "transfer_us"] - table.loc[("flash", "update_in_place"), "transfer_us"]
    assert slower == pytest.approx(100 + 2 * 20.48 + 1300)
    assert table.loc[("safe", "virtual_log"), "transfer_us"] == table.loc[("safe", "update_in_place"), "transfer_us"]


def test_the_what_if_runs_the_study_itself_on_a_disk():
    entry = {"host": "server_2015", "drive": "st19101", "cylinders": 11}
    platform = vlog_what_if.make_platforms({"disk": entry}, HOSTS)["disk"]
    parts = vlog_what_if.disk_updates(platform, "virtual_log", replace(WORKLOAD, updates=300, warm_up=1))
    ms = vlog.random_updates(platform, "virtual_log", replace(WORKLOAD, updates=300, warm_up=1))
    assert (
        parts["total"] == 1000 * ms["total"] and parts["locate"] == 1000 * ms["locate"] and parts["written_kb"] == 4.5
    )


@pytest.mark.parametrize("wrong", [{"blocks": 8, "drive": "st19101"}, {"cylinders": 8}, {"cylinders": 8, "blocks": 8}])
def test_what_if_refuses_slices_that_a_drive_lacks(wrong):
    with pytest.raises(ParameterError, match="here"):
        vlog_what_if.make_platforms({"here": {"host": "server_2015", "drive": "dc_s3700"} | wrong}, HOSTS)


def test_best_combinations_are_shown_with_the_hosts_time_and_with_less():
    table = pd.read_csv(Path(__file__).parents[3] / "results" / "vlog" / "speedup_conditions.csv")
    figure = vlog_figures.speedup_conditions(table)
    (axes, *_), single = figure.axes, (table["conditions_changed"] <= 1) & (table["platform"] == "sparc10_hp")
    combined = [label.get_text() for label in axes.get_yticklabels()][int(single.sum()) :]
    numbers = [len(label.split(", ")) for label in combined]
    faster = ["host" in label for label in combined]
    first = faster.index(True)
    assert not any(faster[:first]) and all(faster[first:])
    assert numbers[:first] == sorted(set(numbers[:first])) and numbers[first:] == sorted(set(numbers[first:]))


def test_every_condition_has_a_name_in_figures():
    assert list(vlog_figures.CONDITIONS) == ["none", *vlog_conditions.CONDITIONS]
    assert {condition for group in vlog_conditions.JOINT for condition in group} <= set(vlog_figures._SHORT)
