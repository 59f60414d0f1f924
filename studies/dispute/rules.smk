# The dispute study. The published results and most traces are registered in data/external.yaml and not shipped: if all are
# available (in a mirror folder, or downloaded), everything is made from them; otherwise the archived tables are read as they are.
from misspenalty.io.external import open_register
from misspenalty_studies.dispute.published import AGGREGATED

DISPUTE = config["dispute"]
DISPUTE_RESULTS = "dispute/miss_ratios.csv"
DISPUTE_STATED = "studies/dispute/published/stated.csv"

try:
    EXTERNAL = open_register("data/external.yaml", mirror=config.get("mirror"))
    DISPUTE_PATHS = {
        name: (
            EXTERNAL.find(what["file"])
            if what["file"] in EXTERNAL.files
            else what["file"]
        )
        for name, what in DISPUTE["traces"].items()
    }
    DISPUTE_TABLE = EXTERNAL.find(DISPUTE_RESULTS)
except MissPenaltyError as error:
    raise WorkflowError(str(error)) from error
DISPUTE_ABSENT = [name for name, path in DISPUTE_PATHS.items() if path is None]

TABLES["dispute"] = [
    table(
        "dispute.tables.replayed_reductions",
        "replayed_reductions",
        replays="replays",
        options={"resamples": DISPUTE["resamples"], "seed": DISPUTE["seed"]},
    ),
    table("dispute.tables.trace_comparisons", "trace_comparisons", replays="replays"),
    table(
        "dispute.tables.program",
        "program",
        replays="replays",
        published="studies/dispute/published/program.csv",
    ),
]
FIGURES["dispute"] = [
    figure(
        "dispute.figures.means",
        "means",
        "SOSP 2023, Figure 6",
        "mean reduction from FIFO",
        table="reductions",
        published=DISPUTE_STATED,
    ),
    figure(
        "dispute.figures.worse",
        "worse",
        "Worse than FIFO",
        "share of the traces",
        table="reductions",
        published=DISPUTE_STATED,
    ),
    figure(
        "dispute.figures.datasets",
        "datasets",
        "SOSP 2023, Figure 7",
        "mean reduction per data set",
        table="datasets",
    ),
    figure(
        "dispute.figures.sieve",
        "sieve",
        "NSDI 2024, Figure 1",
        "SIEVE, on published results and replays",
        table="reductions",
        cells="trace_comparisons",
        published=DISPUTE_STATED,
    ),
]
CONDITIONS["dispute"] = [
    "reductions",
    "datasets",
    "selection",
    "replayed_reductions",
    "program",
    "examples",
]
SOURCES += [
    "data/external.yaml",
    "studies/dispute/published/program.csv",
    DISPUTE_STATED,
]
SEEDS["dispute"] = DISPUTE["seed"]


rule dispute_varied:
    input:
        reductions="results/dispute/reductions.csv",
        datasets="results/dispute/datasets.csv",
        selection="results/dispute/selection.csv",
        replayed_reductions="results/dispute/replayed_reductions.csv",
        program="results/dispute/program.csv",
        examples="results/dispute/examples.csv",
    output:
        reductions="results/dispute/runs/conditions/reductions.csv",
        datasets="results/dispute/runs/conditions/datasets.csv",
        selection="results/dispute/runs/conditions/selection.csv",
        replayed_reductions="results/dispute/runs/conditions/replayed_reductions.csv",
        program="results/dispute/runs/conditions/program.csv",
        examples="results/dispute/runs/conditions/examples.csv",
    log:
        "results/logs/dispute_varied.log",
    benchmark:
        "results/benchmarks/dispute_varied.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("dispute.variants.conditions"),
    script:
        "../../workflow/scripts/simulate.py"


ARCHIVED["dispute"] = [
    *([DISPUTE_RESULTS] if DISPUTE_TABLE is None else []),
    *(DISPUTE["traces"][name]["file"] for name in DISPUTE_ABSENT),
]
if DISPUTE_TABLE is None:
    SOURCES += [f"results/dispute/{item}.csv" for item in AGGREGATED]
    logger.info(
        f"dispute: {DISPUTE_RESULTS} is not here; the archived tables made of it are used as they are. To make them: "
        "python -m misspenalty.io.external dispute, or name a folder with copies, --config mirror=…"
    )
else:
    OUTPUTS += [f"results/dispute/{item}.csv" for item in AGGREGATED]

    rule dispute_aggregate:
        input:
            table=str(DISPUTE_TABLE),
        output:
            **{item: f"results/dispute/{item}.csv" for item in AGGREGATED},
        log:
            "results/logs/dispute_aggregate.log",
        benchmark:
            "results/benchmarks/dispute_aggregate.tsv"
        conda:
            "../../environment.yml"
        params:
            resamples=DISPUTE["resamples"],
            seed=DISPUTE["seed"],
            job=job("dispute.published.aggregate"),
        script:
            "../../workflow/scripts/simulate.py"


if DISPUTE_ABSENT:
    SOURCES.append("results/dispute/replays.csv")
    logger.info(
        f"dispute: {len(DISPUTE_ABSENT)} of {len(DISPUTE_PATHS)} traces are not here ({', '.join(DISPUTE_ABSENT)}); "
        "the archived results/dispute/replays.csv is used as it is."
    )
else:
    TABLES["dispute"].insert(
        0,
        stacked(
            "dispute",
            "replays",
            runs=collect(
                "results/dispute/runs/{replayed}.csv", replayed=list(DISPUTE_PATHS)
            ),
        ),
    )

    rule dispute_replays:
        input:
            trace=lambda wildcards: str(DISPUTE_PATHS[wildcards.replayed]),
        output:
            table="results/dispute/runs/{replayed}.csv",
        log:
            "results/logs/dispute_replays/{replayed}.log",
        benchmark:
            "results/benchmarks/dispute_replays/{replayed}.tsv"
        wildcard_constraints:
            replayed="|".join(DISPUTE_PATHS),
        conda:
            "../../environment.yml"
        threads: 2
        params:
            traces=DISPUTE["traces"],
            size_ratios=DISPUTE["size_ratios"],
            job=job("dispute.runs.replay_file"),
        script:
            "../../workflow/scripts/simulate.py"
