# The published results and most traces of the dispute study are registered in data/external.yaml and not shipped. If
# all traces are available (in a mirror folder, or downloaded), they are replayed; otherwise archived replays are read.
# If the published results are available, they are aggregated; otherwise the archived tables made from them are read.
plan = PLANS["dispute"]
from misspenalty_studies.dispute.published import AGGREGATED

DISPUTE = config["dispute"]
DISPUTE_RESULTS = "dispute/miss_ratios.csv"
DISPUTE_STATED = "studies/dispute/published/stated.csv"


wildcard_constraints:
    replayed="|".join(DISPUTE["traces"]),


def dispute_trace(wildcards):
    """Return the file of a replayed trace, which may be registered or not."""
    return str(DISPUTE_PATHS[wildcards.replayed])


def dispute_table(wildcards):
    """Return the file of the published results, which was found in a mirror or among the downloads."""
    return str(DISPUTE_TABLE)


DISPUTE_PATHS = external(
    {name: what["file"] for name, what in DISPUTE["traces"].items()}, own=True
)
DISPUTE_ABSENT = absent_traces(plan, DISPUTE_PATHS)
DISPUTE_TABLE = external({"results": DISPUTE_RESULTS})["results"]

if not DISPUTE_ABSENT:
    plan.stacked(
        "replays",
        runs=collect(
            "results/dispute/runs/{replayed}.csv", replayed=list(DISPUTE_PATHS)
        ),
    )

    plan.simulation(
        "dispute_replays",
        "dispute.runs.replay_file",
        inputs=dict(trace=dispute_trace),
        outputs="runs/{replayed}",
        params=dict(traces=DISPUTE["traces"], size_ratios=DISPUTE["size_ratios"]),
        threads=2,
    )

    # Captures of this repository are not registered, so no register has their digests.
    plan.read += [
        what["file"]
        for name, what in DISPUTE["traces"].items()
        if DISPUTE_PATHS[name] == what["file"]
    ]

plan.table("dispute.tables.replayed_reductions", replays="replays")
plan.table("dispute.tables.trace_comparisons", replays="replays")
plan.table(
    "dispute.tables.program",
    replays="replays",
    published="studies/dispute/published/program.csv",
)
plan.figure(
    "means",
    "SOSP 2023, Figure 6",
    "mean reduction from FIFO",
    table="reductions",
    published=DISPUTE_STATED,
)
plan.figure(
    "worse",
    "Worse than FIFO",
    "share of the traces",
    table="reductions",
    published=DISPUTE_STATED,
)
plan.figure("datasets", "SOSP 2023, Figure 7", "mean reduction per data set")
plan.figure(
    "sieve",
    "NSDI 2024, Figure 1",
    "SIEVE, on published results and replays",
    table="reductions",
    cells="trace_comparisons",
    published=DISPUTE_STATED,
)
plan.conditions = [
    "reductions",
    "datasets",
    "selection",
    "replayed_reductions",
    "program",
    "examples",
]
plan.read.append("data/external.yaml")


plan.simulation(
    "dispute_varied",
    "dispute.conditions.conditions",
    inputs={item: f"results/dispute/{item}.csv" for item in plan.conditions},
    outputs={item: f"runs/conditions/{item}" for item in plan.conditions},
)


plan.archived = [
    *([DISPUTE_RESULTS] if DISPUTE_TABLE is None else []),
    *(DISPUTE["traces"][name]["file"] for name in DISPUTE_ABSENT),
]
if DISPUTE_TABLE is None:
    plan.read += [f"results/dispute/{item}.csv" for item in AGGREGATED]
    logger.info(
        f"dispute: {DISPUTE_RESULTS} is missing; the archived tables made from it are used as they are. To make them: "
        "python -m misspenalty.io.external dispute, or name a folder with copies, --config mirror=…"
    )
else:
    plan.simulation(
        "dispute_aggregate",
        "dispute.published.aggregate",
        inputs=dict(table=dispute_table),
        outputs=AGGREGATED,
    )
