# The delayed-hits study: the step model next to the authors' programs, and response times next to hit ratios.
from misspenalty_studies.delayed_hits.workloads import SEEDS as DELAYED_SEEDS

TABLES["delayed_hits"] = [
    stacked("delayed_hits", "runs", runs="results/delayed_hits/runs/steps.csv"),
    stacked("delayed_hits", "times", runs="results/delayed_hits/runs/times.csv"),
    table("delayed_hits.tables.gains", "gains", runs="runs"),
    table(
        "delayed_hits.tables.authors_program",
        "authors_program",
        runs="runs",
        published="data/raw/delayed_hits/authors_runs.csv",
    ),
    table("delayed_hits.tables.winners", "winners", times="times"),
    table("delayed_hits.tables.disagreement", "disagreement", winners="winners"),
]
FIGURES["delayed_hits"] = [
    figure(
        "delayed_hits.figures.gains",
        "gains",
        "Gains",
        "ranking by aggregate delay",
        table="gains",
    ),
    figure(
        "delayed_hits.figures.disagreement",
        "disagreement",
        "Disagreement",
        "most hits or fastest",
        table="winners",
    ),
]
SOURCES += [
    "data/raw/delayed_hits/sample.csv",
    "data/raw/delayed_hits/authors_runs.csv",
    *drive_files("dc_p3700", "cheetah9lp"),
]
SEEDS["delayed_hits"] = DELAYED_SEEDS
CONDITIONS["delayed_hits"] = ["runs"]


rule delayed_hits_steps:
    input:
        sample="data/raw/delayed_hits/sample.csv",
    output:
        table="results/delayed_hits/runs/steps.csv",
    log:
        "results/logs/delayed_hits_steps.log",
    benchmark:
        "results/benchmarks/delayed_hits_steps.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("delayed_hits.runs.step_runs"),
    script:
        "../../workflow/scripts/simulate.py"


rule delayed_hits_under_conditions:
    input:
        sample="data/raw/delayed_hits/sample.csv",
    output:
        runs="results/delayed_hits/runs/conditions/runs.csv",
    log:
        "results/logs/delayed_hits_under_conditions.log",
    benchmark:
        "results/benchmarks/delayed_hits_under_conditions.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("delayed_hits.runs.under_conditions"),
    script:
        "../../workflow/scripts/simulate.py"


rule delayed_hits_times:
    input:
        files=list(dict.fromkeys(config["captures"].values())),
        drives=drive_files("dc_p3700", "cheetah9lp"),
    output:
        table="results/delayed_hits/runs/times.csv",
    log:
        "results/logs/delayed_hits_times.log",
    benchmark:
        "results/benchmarks/delayed_hits_times.tsv"
    conda:
        "../../environment.yml"
    params:
        captures=config["captures"],
        job=job("delayed_hits.runs.response_times"),
    script:
        "../../workflow/scripts/simulate.py"
