"""Test how a study's declarations become rules: paths of files, the part that makes them, and refused declarations."""

import pytest

from misspenalty.errors import ParameterError
from misspenalty_studies.common.plan import Plan
from misspenalty_studies.common.reporting.provenance import Sources


@pytest.fixture(scope="module")
def sources():
    return Sources()


@pytest.fixture
def plan(sources):
    return Plan("vlog", sources)


def simulate(plan, outputs, **options):
    plan.simulation("vlog_files", "vlog.platforms.files", inputs={"hosts": "machine.yaml"}, outputs=outputs, **options)
    return plan.simulations[-1]


def test_a_job_depends_on_the_code_of_its_function(plan, sources):
    job = simulate(plan, "runs/files").job
    assert job["function"] == "misspenalty_studies.vlog.platforms.files"
    called = (job["function"], "misspenalty_studies.common.reporting.jobs")
    assert (
        job["code"]
        == sources.digest(*called)
        != sources.digest("misspenalty_studies.vlog.conditions.judged", called[1])
    )


@pytest.mark.parametrize(
    ("output", "place"),
    [
        ("fig9", "vlog_files"),
        ("runs/{layout}/total_{traversal}.parquet", "vlog_files/{layout}/{traversal}"),
        ("fig7{variant}", "vlog_files{variant}"),
    ],
)
def test_logs_of_a_job_have_its_wildcards(plan, output, place):
    assert simulate(plan, output).place == place


def test_tables_of_a_simulation_are_named_below_the_results_of_its_study(plan):
    assert simulate(plan, "runs/files").outputs == {"table": "results/vlog/runs/files.csv"}
    assert simulate(plan, ["fig1"]).outputs == {"fig1": "results/vlog/fig1.csv"}
    assert simulate(plan, {"total": "runs/total.parquet"}).outputs == {"total": "results/vlog/runs/total.parquet"}


def test_files_belong_to_one_of_the_two_runs(plan):
    simulate(plan, ["fig9", "runs/files", "fig7{variant}"])
    simulate(plan, ["hosts"], part="further")
    plan.table("vlog.runs.table2", "table2", part="first", latencies="fig9")
    plan.stacked("summed", runs=["results/vlog/runs/a.csv"], part="further")
    plan.figure("fig9", "Figure 9", "latency", table="fig9")
    plan.figure("runs/measured", "Figure 9", "measured", function="vlog.figures.fig9", table="fig9")
    plan.conditions = ["table2"]
    assert plan.files() == [
        "results/vlog/fig9.csv",
        "results/vlog/conditions.csv",
        "results/vlog/table2.csv",
        *(f"results/vlog/fig9.{form}" for form in ("pdf", "svg", "png")),
    ]
    assert plan.files(supplement=True) == ["results/vlog/hosts.csv", "results/vlog/summed.csv"]
    assert [(part, name) for part, name, _ in plan.parts("tables")] == [
        ("first", "vlog_first_tables"),
        ("further", "vlog_further_tables"),
    ]


def test_kept_tables_are_listed_by_the_rule_that_makes_them(plan):
    simulate(plan, {"speedup": "speedup_conditions", "fig9": "runs/conditions/fig9"}, part="kept")
    plan.stacked("limits", runs=["results/vlog/runs/a.csv"], part="kept")
    plan.conditions = ["fig9"]
    assert plan.kept() == {
        "vlog_conditions": ["results/vlog/conditions.csv"],
        "vlog_kept_tables": ["results/vlog/limits.csv"],
        "vlog_files": ["results/vlog/speedup_conditions.csv"],
    }
    assert plan.files() == [path for paths in plan.kept().values() for path in paths]
    assert plan.files(supplement=True) == []


def test_files_read_are_the_inputs_that_no_run_makes_and_those_of_read(plan):
    plan.read.append("data/raw.csv")
    inputs = {"hosts": "machine.yaml", "trace": lambda wildcards: "a.trace", "runs": ["results/vlog/runs/a.csv"]}
    inputs |= {"raw": "data/raw/{capture}.parquet"}
    plan.simulation("vlog_files", "vlog.platforms.files", inputs=inputs, outputs="fig1")
    plan.table("vlog.runs.table2", latencies="fig9", published="studies/vlog/published/trends.csv")
    plan.figure("fig1", "Figure 1", "locating a sector", table="fig1", hosts="machine.yaml")
    assert plan.files_read() == ["data/raw.csv", "machine.yaml", "studies/vlog/published/trends.csv"]


def test_a_table_is_called_like_its_function_unless_it_is_named(plan):
    plan.table("vlog.runs.table2", latencies="fig9")
    plan.table("vlog.conditions.limits", "speedup_limits", latencies="fig9")
    assert [list(table["outputs"].items()) for table in plan.tables] == [
        [("table2", "results/vlog/table2.csv")],
        [("speedup_limits", "results/vlog/speedup_limits.csv")],
    ]


def test_a_figure_without_inputs_is_drawn_from_the_table_of_its_name(plan):
    plan.figure("fig9", "Figure 9", "latency")
    plan.figure("fig10", "Figure 10", "idle time", lfs="fig10", log="fig11")
    assert [figure["inputs"] for figure in plan.figures] == [
        {"table": "results/vlog/fig9.csv"},
        {"lfs": "results/vlog/fig10.csv", "log": "results/vlog/fig11.csv"},
    ]


def test_a_simulation_without_inputs_writes_no_archived_table(plan):
    plan.simulation("vlog_clock", "vlog.platforms.files", outputs="runs/clock")
    with pytest.raises(
        ParameterError, match=r"vlog_clock: has no inputs, .* results/vlog/clock\.csv .* write it to results/vlog/runs/"
    ):
        plan.simulation("vlog_clock", "vlog.platforms.files", outputs="clock")


def test_an_unknown_part_is_refused(plan):
    """An unknown part must be refused: `make reproduce` would run such a simulation, but no command would make such a
    table or figure."""
    with pytest.raises(ParameterError, match=r"vlog_files: part is 'first'; expected None or 'kept' or 'further'"):
        simulate(plan, "fig1", part="first")
    with pytest.raises(
        ParameterError, match=r"table2: part is 'furher'; expected 'first' or None or 'kept' or 'further'"
    ):
        plan.table("vlog.runs.table2", "table2", part="furher", latencies="fig9")
    with pytest.raises(ParameterError, match=r"fig9: part is 'kept'"):  # figures are drawn from the kept tables
        plan.figure("fig9", "Figure 9", "latency", part="kept", table="fig9")
