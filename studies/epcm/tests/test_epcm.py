"""Test the EPCM study on a small made-up build: fits, tables, readings."""

import itertools
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from misspenalty import ParameterError
from misspenalty.plotting import style
from misspenalty_studies.epcm import builds as epcm_builds
from misspenalty_studies.epcm import conditions as epcm_conditions
from misspenalty_studies.epcm import curves as epcm_curves
from misspenalty_studies.epcm import figures as epcm_figures
from misspenalty_studies.epcm import recordings as epcm_recordings
from misspenalty_studies.epcm import runs as epcm
from misspenalty_studies.epcm import sensitivity as epcm_sensitivity
from misspenalty_studies.epcm import setup as epcm_setup
from misspenalty_studies.epcm import tables as epcm_tables
from misspenalty_studies.epcm.file_client.client import CALL
from misspenalty_studies.epcm.file_client.workload import make_workload
from misspenalty_studies.epcm.runs import Setting, Study
from studies.epcm.tests.test_file_client import LINUX, PAGE, call, opened

PUBLISHED = Path(__file__).parents[1] / "published"
TOLD = ("baselines", "reductions")
SETTINGS = {
    "captures": {"andrew": "data/raw/builds/andrew.parquet"},
    "partition_sizes": [16, 64],
    "pcm_orders": [2],
    "epcm_shares": [0.7, 0.8],
    "threshold": 0.75,
    "temporaries": "inode",
    "resident": "mapped",
    "training_runs": 3,
    "measured_runs": 2,
    "fig8": {"partition_size": 64, "model_order": 45},
    "seed": 1,
    "sensitivity": {"machine": ["andrew"]},
}


def build_run():
    """Return the calls of a build that reads twelve sources one after the other, writes an object after each, and reads
    the objects at the end."""
    calls = []
    for number in range(12):
        calls += [opened(number, 3 * PAGE, gap=60_000_000), call("read", number, length=3 * PAGE)]
        calls += [call("create", 12 + number, seen=True), call("write", 12 + number, length=2 * PAGE)]
    for number in range(12, 24):
        calls += [opened(number, 2 * PAGE), call("read", number, length=2 * PAGE)]
    return np.array(calls, CALL)


@pytest.fixture(scope="module")
def study():
    workload = make_workload(
        [f"s/{number}.c" for number in range(12)] + [f"s/{number}.o" for number in range(12)],
        [3 * PAGE] * 12 + [-1] * 12,
        [build_run()] * 6,
        sectors=2_000_000,
        block_kb=1,
        generator=np.random.default_rng(4),
    )
    return Study("andrew", workload, LINUX, None, (0, 1, 2), (3, 4, 5), 1.0, 7)


@pytest.fixture(scope="module")
def runs(study):
    settings = epcm_setup.bars(SETTINGS)
    both = [study, study._replace(machine=replace(LINUX, separate_buffers=False))]
    return pd.concat([epcm.simulate(one, settings) for one in both], ignore_index=True)


def test_bars_of_figure_7():
    bars = [(bar.model, bar.partition_size, bar.model_order) for bar in epcm_setup.bars(SETTINGS)]
    assert bars == [
        ("cold", None, None), ("hot", None, None), ("last_successor", None, None), ("pcm", 16, 2), ("pcm", 64, 2),
        ("epcm", 16, 11), ("epcm", 16, 13), ("epcm", 64, 45), ("epcm", 64, 51),
    ]  # fmt: skip


def test_shares_that_give_the_same_order_are_one_bar():
    """A bar must not be replayed twice, because it would count twice as many runs, and its interval would be too
    narrow."""
    bars = [bar for bar in epcm.settings_of([4, 64], [2], [0.7, 0.8], 0.75) if bar.model == "epcm"]
    assert [(bar.partition_size, bar.model_order) for bar in bars] == [(4, 3), (64, 45), (64, 51)]


def test_fits_reach_their_targets(study):
    ranges = {"copy_us_per_kb": (1, 100), "buffer_copy_us_per_kb": (1, 100)}
    values = epcm.fit_copy(study, 300, ranges)
    assert epcm.hot_read_us(study, values) == pytest.approx(300, abs=0.3)
    assert epcm.fit_copy(study, 1e6, ranges) == {"copy_us_per_kb": 100, "buffer_copy_us_per_kb": 100}
    scale = epcm.fit_scale(study, 2.0, 0.01, 100)
    assert epcm.cold_compute_s(study._replace(scale=scale)) == pytest.approx(2.0, abs=1e-4)
    with pytest.raises(ParameterError, match="cannot be scaled"):
        epcm.fit_scale(study, 1e-6, 0.01, 100)
    with pytest.raises(ParameterError, match="expected 0 <= low < high"):
        epcm.fit_copy(study, 300, {"copy_us_per_kb": (5, 5)})


def test_figure_7_adds_up(runs):
    table = epcm_tables.fig7(runs)
    assert np.allclose(table["elapsed_s"], table["compute_s"] + table["io_wait_s"])
    cold = table[table["model"] == "cold"].set_index("buffer_copy")
    for _, row in table.iterrows():
        base = cold.loc[row["buffer_copy"]]
        assert row["elapsed_reduction_s"] == pytest.approx(base["elapsed_s"] - row["elapsed_s"])
        assert row["io_reduction_pct"] == pytest.approx(100 * (1 - row["io_wait_s"] / base["io_wait_s"]))
    hot = table[(table["model"] == "hot")]
    assert (hot["io_reduction_pct"] == 100).all(), "everything fits into memory"
    assert (
        hot.set_index("buffer_copy")["read_latency_us"][True] > hot.set_index("buffer_copy")["read_latency_us"][False]
    )
    assert (table["runs"] == 3).all()


def test_figure_8_counts_every_read_call_once(runs):
    table = epcm_tables.fig8(runs, "andrew", 64, 45)
    assert table.groupby("run")["events"].sum().tolist() == [24, 24]
    assert epcm.histogram(np.array([1, 1000, 1001, 2000, 2001, 17_000, 256_000])) == [
        2,
        2,
        1,
        0,
        0,
        1,
        0,
        0,
        1,
        *[0] * 13,
    ]
    assert ((table["bucket_high_us"] >= table["bucket_low_us"]) & (table["events"] >= 0)).all()


def test_components_and_classes(runs):
    parts = epcm_tables.components(runs).groupby(epcm.KEYS, dropna=False)["s"].sum()
    table = epcm_tables.fig7(runs).set_index(epcm.KEYS)["elapsed_s"]
    assert np.allclose(parts.sort_index(), table.sort_index())
    classes = epcm_tables.classes(runs)
    assert (classes[["hit", "partial", "miss"]].sum(axis=1) == classes["read_calls"]).all()
    lead = epcm_tables.leads(runs)
    assert set(lead["model"]) == {"last_successor", "pcm", "epcm"}
    assert (lead["used"] <= lead["prefetches"]).all()


def test_accuracy_counts_the_measured_runs_only(study):
    table = epcm_tables.accuracy("andrew", study.workload, study.training, study.measured, epcm_setup.bars(SETTINGS))
    assert (table["events"] == 3 * 36).all()
    right = table.groupby("model")["first_predicted_pct"].min()
    assert right["epcm"] > right["last_successor"], "an object's successor depends on what came before it"


def test_workload_facts_count_each_page_and_file_once(study):
    capture = SimpleNamespace(
        files=pd.DataFrame({"path": [f"s/{number}.c" for number in range(12)] + [f"s/{n}.o" for n in range(12)]}),
        processes=pd.DataFrame({"run": np.repeat(range(1, 7), 5)}),
        runs=list(range(1, 7)),
    )
    published = pd.DataFrame({"benchmark": ["andrew", "ld"], "quantity": "reads", "value": [919, 7], "unit": "calls"})
    table = epcm_tables.workload_facts(study, capture, capture.runs, published)
    facts = table.set_index("quantity")
    assert (table["benchmark"] == "andrew").all()
    expected = {
        "reads": 24,
        "opens": 24,
        "creates": 12,
        "writes": 12,
        "processes": 5,
        "files_used": 24,
        "sources_read": 12,
    }
    expected |= {"footprint_mb": 12 * 5 * PAGE / 2**20, "source_kb_read": 12 * 3 * PAGE / 1024, "objects_read": 12}
    expected |= {"object_bytes_read": 24 * PAGE, "runs_measured": 3, "recorded_compute_s": 0.72}
    for quantity, value in expected.items():
        assert facts.loc[quantity, "value"] == pytest.approx(value), quantity
    assert facts["published"].dropna().to_dict() == {"reads": 919}
    early = [facts.loc[f"wait_early_{share}_pct", "value"] for share in (5, 10, 50)]
    assert early[0] == 0, "a twelfth of the compute time passes before the first source"
    assert 0 < early[1] < 50 < early[2] < 80, "first the directories and a source are read, then half of the sources"
    assert epcm.waited_early(study, [1]) == [1]


def test_processes_are_those_of_the_measured_runs_where_the_recording_has_others_before_them(study):
    paths = [f"s/{number}.c" for number in range(12)] + [f"s/{number}.o" for number in range(12)]
    capture = SimpleNamespace(
        files=pd.DataFrame({"path": paths}),
        processes=pd.DataFrame({"run": np.repeat(range(1, 10), [1] * 6 + [4, 5, 6])}),
        runs=list(range(1, 10)),
    )
    published = pd.DataFrame({"benchmark": [], "quantity": [], "value": []}).astype({"benchmark": str, "quantity": str})
    table = epcm_tables.workload_facts(study, capture, [1, 2, 3, 7, 8, 9], published)
    assert table.set_index("quantity").loc["processes", "value"] == 5


def test_readings_vary_one_choice_at_a_time(study):
    choices = {
        "model": {"threshold": [0.5]},
        "protocol": {"training": [1, 9], "resident": ["mapped", "names", "programs"], "head_start": [0.5]},
    }
    variations = epcm_sensitivity.variations_of(choices)
    few = epcm_sensitivity.variations_of(choices | {"everywhere": {"memory_mb": [64]}})
    assert few == [*variations, epcm_sensitivity.Variation("machine", "memory_mb", 64)]
    settings = [Setting("cold"), Setting("last_successor"), Setting("epcm", 64, 45), Setting("foresight", None, 8)]
    capture = SimpleNamespace(files=pd.DataFrame({"path": ["/bin/sh"] + [f"s/{number}" for number in range(23)]}))
    table = epcm_sensitivity.sensitivity(study, capture, settings, variations, {}, 1)
    told = table.groupby(["parameter", "value"], sort=False)["model"].agg(list)
    assert told["none", ""] == ["cold", "last_successor", "epcm", "foresight"]
    assert told["threshold", "0.5"] == ["cold", "epcm"]
    assert {("training", "1"), ("training", "9")} <= set(told.index)
    own = table[table["parameter"] == "none"].set_index("model")["io_wait_s"]
    assert own["foresight"] <= own["last_successor"] + 1e-9
    resident = table[table["parameter"] == "resident"].set_index(["value", "model"])["io_wait_s"]
    assert resident["names", "cold"] < own["cold"], "the walk to a file takes no disk time then"
    assert resident["mapped", "cold"] < resident["names", "cold"], "one file of the twelve is in memory too"
    led = table[table["parameter"] == "head_start"].set_index("model")
    assert led.loc["cold", "io_wait_s"] == pytest.approx(own["cold"], rel=0.05), "a head start alone gains nothing"
    assert led.loc["foresight", "io_wait_s"] < own["foresight"]
    with pytest.raises(ParameterError):
        wrong = epcm_sensitivity.Variation("protocol", "training", -1)
        epcm_sensitivity.sensitivity(study, capture, settings, [wrong], {}, 1)


def test_a_variation_of_the_drive_may_be_the_device_without_a_description(study):
    def with_drive(one, name):
        return epcm_sensitivity.changed(one, None, epcm_sensitivity.Variation("machine", "drive", name), {"seed": 4})

    described = with_drive(study, "hp97560")
    assert described.kind.name == "hp97560"
    again = with_drive(described, "none")
    assert (again.kind, again.machine) == (None, study.machine)


def test_conditions_have_every_row_of_the_tables_they_change(study, runs, monkeypatch):
    wanted = {words: changes for words, changes in epcm_conditions.conditions().items() if "program" not in words}
    wanted = {
        words: wanted[words]
        for words in (
            "60 training runs",
            "clock started 0.5 s after the preceding command",
            "copying from buffer to page twice as slow",
            "files prefetched from a likelihood of 0.5",
            list(wanted)[-1],
        )
    }
    bars = epcm_setup.bars(SETTINGS)
    monkeypatch.setattr(epcm_conditions, "conditions", lambda: wanted)
    found = epcm_conditions.under_conditions(study, None, bars, {}, 64, 45)
    judged = epcm_tables.fig7(runs)[[*epcm.KEYS]]
    judged = judged[judged["buffer_copy"] | judged["model"].isin(["cold", "hot", "epcm"])]
    for words in wanted:
        own = found["fig7"][found["fig7"]["condition"] == words]
        assert (
            own[[*epcm.KEYS]]
            .astype(str)
            .reset_index(drop=True)
            .equals(judged[[*epcm.KEYS]].astype(str).reset_index(drop=True))
        )
    assert (found["fig7"]["runs"] == len(study.measured)).all(), "each bar has as many runs as are judged"
    hot = found["fig7"][(found["fig7"]["model"] == "hot") & found["fig7"]["buffer_copy"]].set_index("condition")
    twice = (
        hot.loc["copying from buffer to page twice as slow", "read_latency_us"]
        - hot.loc["clock started 0.5 s after the preceding command", "read_latency_us"]
    )
    assert twice == pytest.approx(4 * 13), "half of the reads copy 8 blocks of 1 KB"


def test_predictors_that_learn_from_the_training_runs_alone_do_the_same_in_every_order(study):
    bar = epcm.Setting("epcm", 64, 45, {"threshold": 0.75})
    apart = study._replace(apart=True)
    reversed_ = apart._replace(measured=apart.measured[::-1])
    wait = [
        {r: run.io_wait_s for r, run in zip(s.measured, epcm.play(s, bar), strict=True)} for s in (apart, reversed_)
    ]
    assert wait[0] == wait[1] and len(wait[0]) > 1
    first = study._replace(measured=study.measured[:1])
    assert epcm.play(first, bar)[0].io_wait_s == wait[0][study.measured[0]], "the first has nothing else to learn from"


def test_conditions_of_another_workload_change_figure_7_without_its_hot_runs(study, monkeypatch):
    monkeypatch.setattr(epcm_conditions, "OTHERS", {"x": ("models learn from the training runs alone",)})
    monkeypatch.setattr(epcm_conditions, "JOINT", {})
    bars = epcm_setup.bars(SETTINGS)
    table = epcm_conditions.other_workload(study._replace(benchmark="x"), None, bars, {})
    assert set(table["condition"]) == {"models learn from the training runs alone"}
    assert set(table["model"]) == {bar.model for bar in bars} - {"hot"}
    assert epcm_conditions.other_workload(study._replace(benchmark="none"), None, bars, {}).empty


def test_every_condition_is_one_that_can_be_changed():
    named = [
        words for benchmark in ("andrew", *epcm_conditions.OTHERS) for words in epcm_conditions.conditions(benchmark)
    ]
    assert len(named) > len(epcm_conditions.CHANGES)
    parts = {part for words in named for part in words.split("; ")}
    assert parts == set(epcm_conditions.CHANGES), "each change is tried somewhere"


def test_the_surface_begins_with_the_criterion(study):
    settings = [Setting("last_successor"), Setting("epcm", 64, 45), Setting("foresight", None, 64)]
    table = epcm_conditions.surface(study, settings, [0, 1, 3, 6], [0, 0.5], 3)
    own = epcm_tables.fig7(epcm.simulate(study, [Setting("cold"), *settings])).set_index("model")
    same = table[(table["training"] == 3) & (table["head_start_s"] == 0)].set_index("model")
    for model in ("last_successor", "epcm", "foresight"):
        assert same.loc[model, "io_wait_s"] == own.loc[model, "io_wait_s"]
    removed = table.set_index(["model", "training", "head_start_s"])["io_reduction_pct"]
    assert removed["foresight", 3, 0.5] > removed["foresight", 3, 0]
    assert removed["epcm", 6, 0.5] >= removed["epcm", 0, 0.5]
    assert epcm_curves.surface(table).axes


def test_a_surface_needs_runs_before_the_measured_ones(study):
    first = study._replace(measured=(0,), training=())
    with pytest.raises(ParameterError, match=r"3 training runs requested, but 0 runs precede the measured ones"):
        epcm_conditions.surface(first, [Setting("last_successor")], [3], [0], 1)


def test_the_learning_curve_plays_each_run_after_those_before_it(study):
    bars = [Setting("hot"), Setting("last_successor"), Setting("epcm", 64, 45), Setting("pcm", 64, 2)]
    table = epcm_conditions.learning(study, bars)
    assert table.groupby("model", sort=False)["training"].agg(list).to_dict() == {
        model: [0, 1, 2, 3, 4, 5] for model in ("last_successor", "epcm", "pcm")
    }
    removed = table.set_index(["model", "training"])["io_reduction_pct"]
    own = epcm_tables.fig7(epcm.simulate(study._replace(measured=(3,)), [Setting("cold"), *bars])).set_index("model")
    for model in ("last_successor", "epcm", "pcm"):
        assert removed[model, 3] == pytest.approx(own.loc[model, "io_reduction_pct"]), "it follows the same three runs"
    assert removed["epcm", 5] > removed["epcm", 0]
    assert (table["never_used"] <= table["prefetches"]).all()
    assert epcm_curves.learning(table).axes


def test_recordings_are_compared_by_what_the_paper_prints(study):
    told = epcm_recordings.published(*(pd.read_csv(PUBLISHED / f"{name}.csv") for name in TOLD))
    assert told["read_calls"] == 919
    assert told["cold_misses"] == 47
    assert told["cold_wait_s"] == pytest.approx(1.21)
    facts = epcm_recordings.facts("made up", study, epcm_setup.bars(SETTINGS), told).set_index("quantity")
    assert list(facts.index) == list(told)
    assert facts.loc["read_calls", "value"] == 24
    assert facts.loc["cold_misses", "value"] == 12, "objects are in buffers when they are read"
    assert facts.loc["compute_s", "value"] == pytest.approx(epcm.cold_compute_s(study))
    assert facts.loc["right_lead_ms", "value"] > 0
    assert facts["published"].tolist() == list(told.values())


def test_only_runs_that_are_played_are_prepared(tmp_path):
    calls = pd.DataFrame({"run": np.repeat(np.arange(1, 10), 2)})
    calls = calls.assign(kind="open", file=0, offset=0, length=100, asked=0, other=0, error=0, gap_ns=10, system_us=1)
    files = pd.DataFrame({"path": ["a"], "normal_path": ["a"], "temporary": False, "folder": False, "size": [100]})
    capture = SimpleNamespace(events=calls, files=files, runs=list(range(1, 10)))
    options = {"temporaries": "inode", "resident": "none", "seed": 1, "training": 3, "measured": 2}
    machine = replace(LINUX, drive="none")
    few, _ = epcm_setup.set_up("andrew", capture, machine, **options)
    whole, placement = epcm_setup.set_up("andrew", capture, machine, **options, between=True)
    assert (len(few.workload.records), few.training, few.measured) == (5, (0, 1, 2), (3, 4))
    assert (len(whole.workload.records), whole.training, whole.measured) == (9, (0, 1, 2), (7, 8))
    assert placement["runs"] == list(range(1, 10))
    with pytest.raises(ParameterError, match="leave at least one to measure"):
        epcm_setup.set_up("andrew", capture, machine, **options | {"training": 9})


def test_limits_are_drawn_for_the_workloads_there_are(study, runs):
    told = [Setting("foresight", None, ahead) for ahead in (1, 8)]
    tables = [
        epcm_conditions.surface(queued, told, [0], [0, 0.5], 2).assign(demand_first=first)
        for first, queued in epcm_builds.both_queues(study).items()
    ]
    table = pd.concat(tables, ignore_index=True)
    assert len(table) == 8
    reductions = pd.read_csv(PUBLISHED / "reductions.csv")
    assert len(epcm_curves.limits(table, epcm_tables.fig7(runs), reductions).axes) == 1
    more = pd.concat([table[table["head_start_s"] == 0].assign(head_start_s=start) for start in range(8)])
    (axis,) = epcm_curves.limits(more, epcm_tables.fig7(runs), reductions).axes
    assert len(axis.get_lines()) >= 2 * 8


def test_names_of_bars_are_apart_by_half_a_line():
    """The gaps are measured on the figure of the archived table, which has the largest number of bars in a panel."""
    table = pd.read_csv(PUBLISHED.parents[2] / "results" / "epcm" / "fig7.csv")
    figure = epcm_figures.fig7(table, *(pd.read_csv(PUBLISHED / f"{name}.csv") for name in TOLD))
    with matplotlib.rc_context(style.STYLE):
        figure.draw_without_rendering()
    assert figure.axes
    for axis in figure.axes:
        edges = [label.get_window_extent() for label in axis.get_xticklabels()]
        assert len(edges) > 10
        gaps = [other.x0 - one.x1 for one, other in itertools.pairwise(edges)]
        assert min(gaps) > min(one.width for one in edges) / 2, axis.get_title()


def test_numbers_over_bars_are_apart():
    """Numbers must not overlap, even if two bars of nearly the same height have four digits each."""
    table = pd.read_csv(PUBLISHED.parents[2] / "results" / "epcm" / "fig8.csv")
    table.loc[table["bucket_high_us"] == table["bucket_high_us"].min(), "events"] = [1173, 1177]
    figure = epcm_figures.fig8(table)
    with matplotlib.rc_context(style.STYLE):
        figure.draw_without_rendering()
    edges = [word.get_window_extent() for word in figure.axes[0].texts if word.get_text()]
    assert len(edges) > 10
    assert not any(one.overlaps(other) for one, other in itertools.combinations(edges, 2))


def test_every_varied_parameter_is_described_in_words():
    table = pd.read_csv(PUBLISHED.parents[2] / "results" / "epcm" / "sensitivity.csv")
    assert set(table["parameter"]) - {"none"} <= set(epcm_figures.READINGS)
    assert epcm_figures._reading("workload", "order", "opened") == "order of files on disk: opened"


def test_no_grid_lies_on_the_maps_of_the_surface():
    table = pd.read_csv(PUBLISHED.parents[2] / "results" / "epcm" / "surface.csv")
    maps = [axis for axis in epcm_curves.surface(table).axes if axis.images]
    assert len(maps) == 2
    lines = [line for axis in maps for ruled in (axis.xaxis, axis.yaxis) for line in ruled.get_gridlines()]
    assert not any(line.get_visible() for line in lines)
