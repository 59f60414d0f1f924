# The traces of the classics study are registered in data/external.yaml and not shipped. If all are available (in a
# mirror folder, or downloaded), they are replayed; otherwise the archived results/classics/replays.csv is read, and
# only the tables and figures that follow from it are made.
plan = PLANS["classics"]


include: "inputs.smk"


CLASSICS_PATHS = external({name: CLASSICS_FILES[name] for name in CLASSICS_TRACES})
CLASSICS_ABSENT = absent_traces(plan, CLASSICS_PATHS)

if not CLASSICS_ABSENT:
    plan.stacked(
        "replays",
        runs=collect(
            "results/classics/runs/{surviving}.csv", surviving=list(CLASSICS_TRACES)
        ),
    )

    plan.simulation(
        "classics_replays",
        "classics.runs.replay_file",
        inputs=dict(trace=classics_trace),
        outputs="runs/{surviving}",
        threads=2,
    )

plan.table("classics.tables.hit_ratios", replays="replays")
plan.table(
    "classics.tables.comparison",
    hit_ratios="hit_ratios",
    published="studies/classics/published/hit_ratios.csv",
)
plan.table(
    "classics.tables.program",
    hit_ratios="hit_ratios",
    published="studies/classics/published/program.csv",
)
plan.figure(
    "oltp",
    "Table 1",
    "hit ratios on OLTP",
    table="hit_ratios",
    published="studies/classics/published/hit_ratios.csv",
)
plan.figure(
    "looping",
    "LIRS, CLOCK-Pro",
    "hit ratios on four traces",
    table="hit_ratios",
    published="studies/classics/published/hit_ratios.csv",
)
plan.figure("program", "Authors' program", "differences from it")
plan.read.append("data/external.yaml")
plan.conditions = ["hit_ratios", "program"]


plan.simulation(
    "classics_under_conditions",
    "classics.conditions.under_conditions",
    inputs=dict(
        replays="results/classics/replays.csv",
        published="studies/classics/published/program.csv",
    ),
    outputs={item: f"runs/conditions/{item}" for item in plan.conditions},
)


plan.archived = [CLASSICS_FILES[name] for name in CLASSICS_ABSENT]
