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


def simulate(plan, **outputs):
    plan.simulation("vlog_files", "vlog.platforms.files", inputs={"hosts": "machine.yaml"}, outputs=outputs)
    return plan.simulations[-1]


def test_a_job_depends_on_the_code_of_its_function(plan, sources):
    job = simulate(plan, table="results/vlog/runs/files.csv").job
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
        ("results/vlog/fig9.csv", "vlog_files"),
        ("results/vlog/runs/{layout}/total_{traversal}.parquet", "vlog_files/{layout}/{traversal}"),
        ("results/vlog/fig7{variant}.csv", "vlog_files{variant}"),
    ],
)
def test_logs_of_a_job_have_its_wildcards(plan, output, place):
    assert simulate(plan, table=output).place == place


def test_files_belong_to_one_of_the_two_runs(plan):
    plan.outputs += ["results/vlog/fig9.csv"]
    plan.further += ["results/vlog/hosts.csv"]
    plan.table("vlog.runs.table2", "table2", part="first", latencies="fig9")
    plan.stacked("summed", runs=["results/vlog/runs/a.csv"], part="further")
    plan.figure("vlog.figures.fig9", "fig9", "Figure 9", "latency", table="fig9")
    plan.figure("vlog.figures.fig9", "runs/measured", "Figure 9", "measured", table="fig9")
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


def test_a_simulation_without_inputs_writes_no_archived_table(plan):
    plan.simulation("vlog_clock", "vlog.platforms.files", outputs={"table": "results/vlog/runs/clock.csv"})
    with pytest.raises(
        ParameterError, match=r"vlog_clock: has no inputs, .* results/vlog/clock\.csv .* write it to results/vlog/runs/"
    ):
        plan.simulation("vlog_clock", "vlog.platforms.files", outputs={"table": "results/vlog/clock.csv"})
