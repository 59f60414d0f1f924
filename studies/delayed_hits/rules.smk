# The delayed-hits study compares the step model with the authors' programs, and response times with hit ratios.
plan = PLANS["delayed_hits"]
from misspenalty_studies.delayed_hits.workloads import SEEDS as DELAYED_SEEDS

plan.stacked("runs", runs="results/delayed_hits/runs/steps.csv")
plan.stacked("times", runs="results/delayed_hits/runs/times.csv")
plan.table("delayed_hits.tables.gains", runs="runs")
plan.table(
    "delayed_hits.tables.authors_program",
    runs="runs",
    published="data/raw/delayed_hits/authors_runs.csv",
)
plan.table("delayed_hits.tables.winners", times="times")
plan.table("delayed_hits.tables.disagreement", winners="winners")
plan.figure("gains", "Gains", "ranking by aggregate delay")
plan.figure("disagreement", "Disagreement", "most hits or fastest", table="winners")
plan.seed = DELAYED_SEEDS
plan.conditions = ["runs"]


plan.simulation(
    "delayed_hits_steps",
    "delayed_hits.runs.step_runs",
    inputs=dict(sample="data/raw/delayed_hits/sample.csv"),
    outputs="runs/steps",
)


plan.simulation(
    "delayed_hits_under_conditions",
    "delayed_hits.runs.under_conditions",
    inputs=dict(sample="data/raw/delayed_hits/sample.csv"),
    outputs={item: f"runs/conditions/{item}" for item in plan.conditions},
)


plan.simulation(
    "delayed_hits_times",
    "delayed_hits.runs.response_times",
    inputs=dict(
        files=list(dict.fromkeys(config["captures"].values())),
        drives=drive_files("dc_p3700", "cheetah9lp"),
    ),
    outputs="runs/times",
    params=dict(captures=config["captures"]),
)
