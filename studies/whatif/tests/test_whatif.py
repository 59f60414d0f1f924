"""Test the what-if: its machines, the closed network, priced counts, crossovers, tables and figures."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from misspenalty.errors import InputError
from misspenalty_studies.whatif import epcm, figures, hac, machines, mq, runs, sarc, tables, vlog
from misspenalty_studies.whatif.machines import Device

ROOT = Path(__file__).parents[3]
FILE = ROOT / "studies/whatif/machine.yaml"


@pytest.fixture(scope="module")
def found():
    return machines.load(FILE)


def table(name):
    return pd.read_csv(ROOT / "results" / name)


@pytest.fixture(scope="module")
def traversals():
    return hac.Conclusion(table("hac/elapsed.csv"), table("hac/fig11.csv"))


@pytest.fixture(scope="module")
def rates():
    return mq.Conclusion({"calibrated": table("mq/fig7_calibrated.csv")})


def test_every_year_has_machines_and_devices(found):
    assert list(found.eras) == [1997, 2001, 2005, 2015, 2025]
    assert all("disk" in devices and machines.REMOTE in devices for devices in found.devices.values())
    assert [era.speed for era in found.eras.values()] == sorted(era.speed for era in found.eras.values())
    # 8 KB in six packets over 10 Mb/s: (8192 + 6 x 78) bytes, and one packet's work at each end; likewise for 64 bytes
    wire = ((8192 + 6 * 78) + (64 + 78)) * 8 / 10
    assert found.eras[1997].fetch_us == pytest.approx(wire + 4 * 60, abs=0.01)


def test_a_disk_is_as_described(found):
    """A random request of 8 KB on a 7200 rpm disk must take about half a revolution (4.2 ms), a mean seek of 8.5 ms,
    and little else."""
    assert 12_000 < found.devices[2015]["disk"].read_us < 13_500


def test_variations_change_one_parameter(found):
    names = [name for name, _ in found.variations("mq", 2015, "nvme")]
    assert len(names) == 2 * (1 + 3 + 3) and len(set(names)) == len(names)
    _, other = next(iter(found.variations("mq", 2015, "nvme")))
    assert other.testbeds["mq"] == 1.1 and other.testbeds["hac"] == found.testbeds["hac"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data["machines"]["1997"].pop("speed"), r"machines\.1997\.speed: Field required"),
        (lambda data: data["devices"]["2015"]["nvme"].update(drive="st19101"), "either `drive` alone or"),
        (lambda data: data["testbeds"]["mq"].pop("vary"), r"testbeds\.mq\.vary: missing"),
        (lambda data: data["testbeds"]["mq"].update(vary=[1.6, 1.1]), r"mq\.vary: \[1\.6, 1\.1\]; .* 1\.33 between"),
        (lambda data: data["testbeds"]["mq"].update(vary=[1.4, 1.6]), r"mq\.vary: \[1\.4, 1\.6\]; .* 1\.33 between"),
        (lambda data: data["testbeds"]["mq"].update(vary=[1.1]), r"mq\.vary: \[1\.1\]; expected the lowest and"),
        (lambda data: data["devices"]["2015"]["nvme"]["parallel"].update(vary=[0.5, 64]), "greater than or equal to 1"),
        (lambda data: data["devices"].update({"1980": {"disk": {"drive": "st19101"}}}), "devices are listed for 1980"),
        (lambda data: data["devices"]["2015"].update(optane=data["devices"]["2015"]["nvme"]), r"2015\.optane"),
        (lambda data: data["devices"]["2015"].update(remote_memory={"drive": "st19101"}), r"2015\.remote_memory"),
        (lambda data: data["devices"]["2015"].pop("disk"), "2015 has no disk with a `drive`"),
        (lambda data: data["devices"]["1997"].update(disk={"drive": "nix"}), "nix"),
    ],
)
def test_impossible_machines_are_refused(tmp_path, change, message):
    data = yaml.safe_load(FILE.read_text())
    change(data)
    (tmp_path / "machine.yaml").write_text(yaml.safe_dump(data))
    with pytest.raises(InputError, match=message):
        machines.load(tmp_path / "machine.yaml")


def test_the_network_of_queues_against_closed_formulas():
    """The throughput must be N / (D (N + M - 1)) for balanced exponential stations, N / Z for a delay alone, and 1 / D
    at saturation."""
    for stations, terminals in ((1, 5), (3, 7), (24, 48)):
        assert mq.rate([(2.0, stations)], 0.0, terminals) == pytest.approx(terminals / (2 * (terminals + stations - 1)))
    assert mq.rate([(0.0, 1)], 4.0, 8) == pytest.approx(2)
    assert mq.rate([(3.0, 1), (1.0, 1)], 0.0, 200) == pytest.approx(1 / 3, rel=1e-3)
    assert mq.rate([(3.0, 2)], 0.0, 4, constant=(0,)) > mq.rate([(3.0, 2)], 0.0, 4)


def test_waits():
    """One server must have the wait of M/M/1, several servers a shorter wait, and a saturated server a wait of NaN."""
    assert sarc.wait(0.8, 1) == pytest.approx(4)
    assert 0 < sarc.wait(0.8, 16) < 0.3
    assert math.isnan(sarc.wait(1.0, 1)) and math.isnan(sarc.wait(sarc.SATURATED, 1))


def test_the_testbeds_are_those_of_the_studies():
    """Values that the what-if repeats from MQ's and SARC's machines must stay equal to those in their files."""
    testbed, shark = (yaml.safe_load((ROOT / f"studies/{study}/machine.yaml").read_text()) for study in ("mq", "sarc"))
    repeated = {
        "terminals": mq.TERMINALS,
        "storage_servers": mq.SERVERS,
        "disks": mq.DEVICES,
        "network_mb_per_s": mq.OWN_MBIT_PER_S / 8,
        "disk_access_ms": mq.OWN_ACCESS_MS,
        "disk_mb_per_s": mq.OWN_MB_PER_S,
        "block_bytes": mq.BYTES,
        "think_time_us": 0,
        "database_cpus": 1,
    }
    assert {name: testbed[name]["value"] for name in repeated} == repeated
    assert shark["drive"]["value"] == sarc.OWN_DRIVE


def test_mq_is_priced_as_it_was_simulated(rates):
    checks = list(rates.checks())
    assert checks
    for what, simulated, priced in checks:
        assert priced == pytest.approx(simulated, rel=0.02 if "over" in what else 0.07), what


def test_mq_gains_by_devices_and_by_the_work_of_a_miss_alone(rates, found):
    era, case = found.eras[2025], rates.cases[0]
    instant, slow = (Device("any", us, us) for us in (1e-6, 1e5))
    calibrated = table("mq/fig7_calibrated.csv")
    row = {row.policy: row for row in calibrated.itertuples() if row.cache_mb == 128}
    # If the device takes no time, fewer misses save only work of the servers' processors.
    work = {p: row[p].utilisation_server_cpu / row[p].rate_per_s for p in ("mq", "lru")}
    assert 0 < rates.measures(found, era, instant, case)["gain_pct"] < 100 * (work["lru"] / work["mq"] - 1)
    # Even that saving makes no difference if every transaction keeps the database busy for 20 ms.
    busy = mq.Conclusion({"calibrated": calibrated.assign(utilisation_database_cpu=0.02 * calibrated["rate_per_s"])})
    assert busy.measures(found, era, instant, case)["gain_pct"] == pytest.approx(0, abs=0.01)
    requests = {p: (row[p].misses + row[p].writes) / row[p].transactions for p in ("mq", "lru")}
    gain = rates.measures(found, era, slow, case)["gain_pct"]
    assert gain == pytest.approx(100 * (requests["lru"] / requests["mq"] - 1), rel=1e-3)  # the devices dominate


def test_hac_pays_for_its_overhead(traversals, found):
    era = found.eras[1997]
    near, far = (traversals.measures(found, era, Device("any", us, us), "T1") for us in (0.0, 1e7))
    assert far["overhead_us"] == near["overhead_us"] and far["overhead_share"] < near["overhead_share"]
    row = table("hac/elapsed.csv").query("run == 'hot' and traversal == 'T1'").set_index("system").fetches
    assert far["gain_pct"] == pytest.approx(100 * (1 - row["hac-fg"] / row["fpc"]), rel=1e-3)  # fetches dominate
    assert (hac.overheads(traversals, found)["device_us"] >= 0).all()


class Step:
    """A made-up conclusion that gains 10 % in 1997 and at device times from 100 us on, and loses 1 % below 100 us."""

    study, threshold_pct, cases = "mq", 1.0, ("one",)

    def measures(self, _machines, era, device, _case):
        return {"gain_pct": 10.0 if device.read_us >= 100 * (era.year != 1997) else -1.0, "year": era.year}

    def checks(self):
        return [("it", 2.0, 3.0)]


def test_crossovers_are_found(found):
    made = runs.tried(Step(), found)
    cross = made["mq_crossovers"].query("gain_pct == 1").set_index("year")
    assert cross.pays.to_dict() == {1997: "always"} | dict.fromkeys((2001, 2005, 2015, 2025), "above")
    assert cross.device_us.dropna().to_numpy() == pytest.approx(100, rel=0.01)
    cells = made["mq_cells"]
    assert cells.query("device == 'nvme' and year == 2025").holds.tolist() == [False]
    assert cells.query("device == 'nvme' and year == 2015")[["lowest_pct", "highest_pct"]].to_numpy().tolist() == [
        [-1, 10]
    ]
    assert made["mq_checks"].off_pct.tolist() == [50]


def test_summary(found):
    cells = runs.tried(Step(), found)["mq_cells"]
    summary = tables.summary({"mq": cells}).set_index(["year", "device"])
    assert summary.loc[(2015, "disk"), "verdict"] == "holds" and summary.loc[(2025, "nvme"), "verdict"] == "reversed"
    assert not summary.loc[(2015, "nvme"), "robust"] and summary.loc[(2025, "nvme"), "robust"]
    assert len(figures.verdicts(summary.reset_index()).axes) == 1


class Busy(Step):
    """Two cases of `Step`; in the second, devices slower than 1 ms are saturated if the testbed is faster than 0.9."""

    cases = ("one", "two")

    def measures(self, machines, era, device, case):
        full = case == "two" and device.read_us > 1000 and machines.testbeds["mq"] > 0.9
        return super().measures(machines, era, device, case) | ({"gain_pct": math.nan} if full else {})


def test_a_saturated_device_has_no_gain(found):
    """A saturated device must be counted and shown as saturated, but must not affect the verdict."""
    cells = runs.tried(Busy(), found)["mq_cells"]
    full = cells[cells["gain_pct"].isna()]
    assert set(full["case"]) == {"two"} and full["device_us"].min() > 1000 and not full["holds"].any()
    assert full[["lowest_pct", "highest_pct"]].isna().all(axis=None)
    summary = tables.summary({"mq": cells, "sarc": cells[cells["case"] == "two"]}).set_index(["conclusion", "year"])
    both, alone = (summary.loc[(study, 2015)].set_index("device") for study in ("mq", "sarc"))
    assert both.loc["disk", ["cases", "cases_holding", "cases_saturated", "verdict"]].tolist() == [2, 1, 1, "holds"]
    assert alone.loc["disk", ["cases", "cases_saturated", "verdict"]].tolist() == [1, 1, "saturated"]
    assert not both.loc["nvme", "cases_saturated"] and np.isnan(alone.loc["disk", "gain_low_pct"])
    (axis,) = figures.verdicts(summary.reset_index()).axes
    assert {"10; 1 saturated", "saturated"} <= {text.get_text() for text in axis.texts}


def test_sarc_stays_as_it_was_on_its_own_back_end(found):
    points = {"a": {"config": "cache_sensitive", "iops": 20000, "load": sarc.SAME}}
    files = [ROOT / f"results/sarc/{name}.csv" for name in ("components", "internals", "fig6")]
    conclusion = sarc.conclusion_of(*files, points)
    era = machines.Era(2002, found.testbeds["sarc"], 1000, 10)
    own = machines.disk(sarc.OWN_DRIVE)
    measured = conclusion.measures(found, era, own, conclusion.cases[0])
    archived = table("sarc/fig6.csv").query("config == 'cache_sensitive' and scaled_iops == 20000")
    archived = archived.set_index("policy")["response_ms"]
    assert measured["sarc_ms"] == pytest.approx(archived["sarc"], rel=1e-9)
    assert measured["lru_ms"] == pytest.approx(archived[["lru_top", "lru_bottom"]].min(), rel=1e-9)
    # The study's own drives are busy for only part of the time; slower ones must saturate at `SATURATED`.
    for factor in (1.01 * sarc.SATURATED / measured["utilisation"], 10):
        slow = Device("any", factor * own.read_us, own.write_us)
        full = conclusion.measures(found, era, slow, conclusion.cases[0])
        assert math.isnan(full["gain_pct"]) and full["utilisation"] >= sarc.SATURATED


def test_the_virtual_log_gains_on_disks_only(found):
    tables_ = (table("vlog/what_if.csv"), table("vlog/table2.csv"))
    conclusion = vlog.Conclusion(ROOT / "studies/vlog/machine.yaml", *tables_, 0.68, 300, 1)
    (case,) = conclusion.cases
    era = found.eras[2025]
    on = {name: conclusion.measures(found, era, device, case) for name, device in found.devices[2025].items()}
    assert on["disk"]["speedup"] > 2
    assert all(on[name]["gain_pct"] < 0 for name in ("sata_ssd", "nvme", machines.REMOTE))
    assert on["nvme"]["written_ratio"] == pytest.approx(14.6384 / 6.9568)
    gains = [conclusion.measures(found, era, runs.any_device(us), case)["gain_pct"] for us in (1, 100, 10_000)]
    assert gains == sorted(gains) and gains[0] < 0 < gains[-1]


def test_a_device_that_is_known_by_its_time_reads_8_kb_in_that_time(found):
    """However fast the device is, its transfer must not take longer than its access time."""
    study = ROOT / "studies" / "epcm"
    settings = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())["epcm"]
    files = study / "machine.yaml", study / "machine_today.yaml"
    conclusion = epcm.Conclusion({}, *files, table("epcm/fit.csv"), table("epcm/today.csv"), settings, 1)
    assert len(runs.DEVICE_US) > 3
    for us in runs.DEVICE_US:
        machine = conclusion.machine(found, found.eras[2025], runs.any_device(us))
        assert machine.device_access_us + 8192 / machine.device_mb_per_s == pytest.approx(us)
        assert machine.device_mb_per_s >= epcm.MB_PER_S["disk"]


def test_figures_draw_archived_tables():
    curves = table("whatif/curves.csv")
    for study in ("hac", "mq", "epcm", "sarc"):
        draw = getattr(figures, f"{study}_gain")
        assert draw(curves[curves["conclusion"] == study], table(f"whatif/{study}.csv")).axes
    rotation = table("whatif/rotation.csv")
    assert len(figures.vlog_gain(curves[curves["conclusion"] == "vlog"], table("whatif/vlog.csv"), rotation).axes) == 2


def test_archived_tables_agree_with_each_other():
    summary, parameters = table("whatif/summary.csv"), tables.parameters(FILE)
    assert len(summary) == 5 * 14 and set(summary["verdict"]) <= {"holds", "partly", "reversed", "saturated"}
    assert summary[["gain_low_pct", "gain_high_pct"]].abs().max(axis=None) < 100
    assert np.isfinite(parameters["lowest"]).all() and (parameters["lowest"] < parameters["highest"]).all()
    assert ((parameters["value"] >= parameters["lowest"]) & (parameters["value"] <= parameters["highest"])).all()
    checks = table("whatif/checks.csv").query("conclusion == 'vlog'")
    assert checks.off_pct.abs().max() < 1e-3
