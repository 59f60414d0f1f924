# The classics study. Its traces are registered in data/external.yaml and not shipped: where they are at hand (a mirror
# folder, or downloaded) they are replayed; elsewhere the archived results/classics/replays.csv is read as it is, and only
# what follows from it is made.
from misspenalty.io.external import open_register
from misspenalty.studies.classics.settings import FILES as CLASSICS_FILES
from misspenalty.studies.classics.settings import TRACES as CLASSICS_TRACES

try:
    EXTERNAL = open_register("data/external.yaml", mirror=config.get("mirror"))
    CLASSICS_PATHS = {
        name: EXTERNAL.find(CLASSICS_FILES[name]) for name in CLASSICS_TRACES
    }
except MissPenaltyError as error:
    raise WorkflowError(str(error)) from error
CLASSICS_ABSENT = [name for name, path in CLASSICS_PATHS.items() if path is None]
CLASSICS_FIGURES = ["oltp", "looping", "program"]

OUTPUTS += [
    *collect(
        "results/classics/{item}.csv", item=["hit_ratios", "comparison", "program"]
    ),
    *collect(
        "results/classics/{item}.{form}",
        item=CLASSICS_FIGURES,
        form=["pdf", "svg", "png"],
    ),
]
SOURCES += [
    "data/external.yaml",
    "data/published/classics_hit_ratios.csv",
    "data/published/classics_program.csv",
]

if CLASSICS_ABSENT:
    SOURCES.append("results/classics/replays.csv")
    logger.info(
        f"classics: {len(CLASSICS_ABSENT)} of {len(CLASSICS_PATHS)} traces are not here "
        f"({', '.join(CLASSICS_ABSENT)}); the archived results/classics/replays.csv is used as it is. To replay them: "
        "python -m misspenalty.io.external classics, or name a folder with copies, --config mirror=…"
    )
else:
    OUTPUTS.append("results/classics/replays.csv")

    rule classics_replays:
        input:
            trace=lambda wildcards: str(CLASSICS_PATHS[wildcards.surviving]),
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
            form=lambda wildcards: CLASSICS_FILES[wildcards.surviving].split("/")[0],
            code=source_digest("studies/classics/runs", "studies/classics/settings"),
        script:
            "../scripts/classics_replays.py"

    rule classics_stack:
        input:
            tables=collect(
                "results/classics/runs/{surviving}.csv", surviving=list(CLASSICS_TRACES)
            ),
        output:
            table="results/classics/replays.csv",
        log:
            "results/logs/classics_stack.log",
        conda:
            "../../environment.yml"
        params:
            code=source_digest("io/files"),
        script:
            "../scripts/stack_tables.py"


rule classics_tables:
    input:
        replays="results/classics/replays.csv",
        published="data/published/classics_hit_ratios.csv",
        misses="data/published/classics_program.csv",
    output:
        hit_ratios="results/classics/hit_ratios.csv",
        comparison="results/classics/comparison.csv",
        program="results/classics/program.csv",
    log:
        "results/logs/classics_tables.log",
    benchmark:
        "results/benchmarks/classics_tables.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/classics/tables"),
    script:
        "../scripts/classics_tables.py"


rule classics_figure:
    input:
        table=lambda wildcards: (
            "results/classics/program.csv"
            if wildcards.item == "program"
            else "results/classics/hit_ratios.csv"
        ),
        published="data/published/classics_hit_ratios.csv",
    output:
        pdf="results/classics/{item}.pdf",
        svg="results/classics/{item}.svg",
        png=report(
            "results/classics/{item}.png",
            caption="../report/classics.rst",
            category="Classics",
            labels={"item": "{item}", "shows": "published next to reproduced"},
        ),
    log:
        "results/logs/classics_figure/{item}.log",
    wildcard_constraints:
        item="|".join(CLASSICS_FIGURES),
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/classics/figures"),
    script:
        "../scripts/classics_figure.py"
