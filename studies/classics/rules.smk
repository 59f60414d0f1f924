# The classics study. Its traces are registered in data/external.yaml and not shipped: if they are available (in a mirror
# folder, or downloaded), they are replayed; otherwise the archived results/classics/replays.csv is read as it is, and only
# what follows from it is made.


include: "inputs.smk"


try:
    EXTERNAL = open_register("data/external.yaml", mirror=config.get("mirror"))
    CLASSICS_PATHS = {
        name: EXTERNAL.find(CLASSICS_FILES[name]) for name in CLASSICS_TRACES
    }
except MissPenaltyError as error:
    raise WorkflowError(str(error)) from error
CLASSICS_ABSENT = [name for name, path in CLASSICS_PATHS.items() if path is None]

TABLES["classics"] = [
    table("classics.tables.hit_ratios", "hit_ratios", replays="replays"),
    table(
        "classics.tables.comparison",
        "comparison",
        hit_ratios="hit_ratios",
        published="studies/classics/published/hit_ratios.csv",
    ),
    table(
        "classics.tables.program",
        "program",
        hit_ratios="hit_ratios",
        published="studies/classics/published/program.csv",
    ),
]
FIGURES["classics"] = [
    figure(
        "classics.figures.oltp",
        "oltp",
        "Table 1",
        "hit ratios on OLTP",
        table="hit_ratios",
        published="studies/classics/published/hit_ratios.csv",
    ),
    figure(
        "classics.figures.looping",
        "looping",
        "LIRS, CLOCK-Pro",
        "hit ratios on looping traces",
        table="hit_ratios",
        published="studies/classics/published/hit_ratios.csv",
    ),
    figure(
        "classics.figures.program",
        "program",
        "Authors' program",
        "differences from it",
        table="program",
    ),
]
SOURCES += [
    "data/external.yaml",
    "studies/classics/published/hit_ratios.csv",
    "studies/classics/published/program.csv",
]

CONDITIONS["classics"] = ["hit_ratios", "program"]


rule classics_under_conditions:
    input:
        replays="results/classics/replays.csv",
        published="studies/classics/published/program.csv",
    output:
        hit_ratios="results/classics/runs/conditions/hit_ratios.csv",
        program="results/classics/runs/conditions/program.csv",
    log:
        "results/logs/classics_under_conditions.log",
    benchmark:
        "results/benchmarks/classics_under_conditions.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("classics.conditions.under_conditions"),
    script:
        "../../workflow/scripts/simulate.py"


ARCHIVED["classics"] = [CLASSICS_FILES[name] for name in CLASSICS_ABSENT]
if CLASSICS_ABSENT:
    SOURCES.append("results/classics/replays.csv")
    logger.info(
        f"classics: {len(CLASSICS_ABSENT)} of {len(CLASSICS_PATHS)} traces are not here "
        f"({', '.join(CLASSICS_ABSENT)}); the archived results/classics/replays.csv is used as it is. To replay them: "
        "python -m misspenalty.io.external classics, or name a folder with copies, --config mirror=…"
    )
else:
    TABLES["classics"].insert(
        0,
        stacked(
            "classics",
            "replays",
            runs=collect(
                "results/classics/runs/{surviving}.csv", surviving=list(CLASSICS_TRACES)
            ),
        ),
    )

    rule classics_replays:
        input:
            trace=classics_trace,
        output:
            table="results/classics/runs/{surviving}.csv",
        log:
            "results/logs/classics_replays/{surviving}.log",
        benchmark:
            "results/benchmarks/classics_replays/{surviving}.tsv"
        wildcard_constraints:
            surviving="|".join(CLASSICS_TRACES),
        conda:
            "../../environment.yml"
        threads: 2
        params:
            job=job("classics.runs.replay_file"),
        script:
            "../../workflow/scripts/simulate.py"
