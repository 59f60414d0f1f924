# The MQ study. A file that is made once from each of two streams has the suffix _calibrated if it is made from the
# stream behind a first level calibrated on Table 3, and no suffix if it is made from the server's capture.
plan = PLANS["mq"]


include: "inputs.smk"


# The policies of Table 4 are replayed first.
MQ_COMPARED = ["mq", "lru"]
for variant, capture in reversed(MQ_VARIANTS.items()):
    plan.stacked(f"table3{variant}", runs=f"results/mq/runs/split/{capture}.csv")
    plan.table(
        "mq.tables.table4",
        f"table4{variant}",
        part="first",
        replays=f"results/mq/runs/replay/{capture}_first.csv",
        rates=f"fig7{variant}",
        options={"cache_mb": MQ["cache_mb"]},
    )
plan.stacked(
    "table2", runs=collect("results/mq/runs/replay/{capture}.csv", capture=MQ_STREAMS)
)
plan.stacked(
    "fit", runs=collect("results/mq/runs/fit{variant}.csv", variant=MQ_VARIANTS)
)
plan.table(
    "mq.tables.write_rules",
    runs=collect("results/mq/runs/replay/{capture}.csv", capture=MQ_VARIANTS.values()),
    published="studies/mq/published/table3.csv",
    options={"cache_mb": MQ["table3_mb"]},
)
plan.table(
    "mq.first_level.claims_over_size",
    "first_level_claims",
    levels="first_level_fit",
    ledger="studies/mq/ledger.yaml",
)
plan.table("mq.tables.bounds", table4="table4", fig7="fig7", lru_curve="lru_curve")
for variant, capture in MQ_VARIANTS.items():
    plan.table(
        "mq.claims.logged",
        f"logged{variant}",
        table4=f"table4{variant}",
        fig7=f"fig7{variant}",
        fit=f"results/mq/runs/fit{variant}.csv",
        facts=capture_facts(mq_source(capture)),
        options={"raw": config["captures"][mq_source(capture)]},
    )
MQ_TABLES4 = {capture: f"table4{variant}" for variant, capture in MQ_VARIANTS.items()}
MQ_RATES = {capture: f"fig7{variant}" for variant, capture in MQ_VARIANTS.items()}
plan.figure("table2", "Table 2", "hit ratios")
plan.figure(
    "table3",
    "Table 3",
    "hits by distance",
    table="table3",
    published="studies/mq/published/table3.csv",
)
plan.figure(
    "table4",
    "Table 4",
    "hit ratios next to the published",
    part="first",
    tables=MQ_TABLES4,
    published="studies/mq/published/table4.csv",
)
plan.figure("fig2", "Figure 2", "distances, client")
plan.figure("fig3", "Figure 3", "distances, server")
plan.figure("fig4", "Figure 4", "frequencies")
plan.figure(
    "fig7",
    "Figure 7",
    "transaction rates next to the published",
    tables=MQ_RATES,
    published="studies/mq/published/fig7.csv",
    options={"fitted": mq_fitted()},
)
plan.figure("fig7_components", "Figure 7", "where the time goes", part="further")
plan.figure("fig7_sensitivity", "Figure 7", "the model's assumptions", part="further")
plan.figure("sensitivity", "Sensitivity", "MQ's parameters", part="further")
plan.figure(
    "first_level_fit",
    "First level",
    "calibrated on Table 3",
    part="further",
    table="first_level_fit",
    counts="first_level_claims",
    published="studies/mq/published/table4.csv",
)
plan.figure("first_level", "First level", "simulated first levels", part="further")
plan.outputs += [
    *collect("results/traces/{capture}.trace", capture=CAPTURES),
    *collect(
        "results/mq/{item}{variant}.csv",
        item=["fig7", "fig7_components", "fig7_objective"],
        variant=MQ_VARIANTS,
    ),
    "results/mq/first_level_fit.csv",
]
plan.read += config["captures"].values()
plan.seed = MQ["seed"]
plan.conditions = ["table4", "fig7"]


rule mq_first_level:
    input:
        trace=f"results/traces/{MQ['calibrated']['capture']}.trace",
        calibration="data/calibration.yaml",
    output:
        trace=directory(f"results/traces/{CALIBRATED}.trace"),
        table="results/mq/first_level_fit.csv",
    log:
        "results/logs/mq_first_level.log",
    benchmark:
        "results/benchmarks/mq_first_level.tsv"
    priority: SOON
    conda:
        "../../environment.yml"
    threads: min(HALF, 8)  # first levels tabulated concurrently
    params:
        threshold_mb=MQ["table3_mb"],
        cache_mb=MQ["cache_mb"],
        shown_mb=MQ["calibrated"]["shown_mb"],
        reads=MQ["calibrated"]["reads"],
        code=CODE.digest("misspenalty_studies.mq.first_level"),
    script:
        "../../workflow/scripts/mq_first_level.py"


plan.simulation(
    "mq_under_conditions",
    "mq.conditions.under_conditions",
    inputs=dict(
        replays=f"results/mq/runs/replay/{MQ['server']}.csv",
        first_levels="results/mq/first_level_fit.csv",
        long=f"results/traces/{MQ['calibrated']['capture']}.trace",
        shorter=mq_shorter(),
        sensitivity="results/mq/sensitivity.csv",
        rates="results/mq/fig7_sensitivity.csv",
        table4=f"results/mq/table4{VARIANT}.csv",
        fig7=f"results/mq/fig7{VARIANT}.csv",
    ),
    outputs={item: f"runs/conditions/{item}" for item in plan.conditions},
    params=dict(cache_mb=MQ["cache_mb"], threshold_mb=MQ["table3_mb"]),
    threads=4,  # cache sizes replayed concurrently behind each first level
)


plan.simulation(
    "mq_first_replay",
    "mq.runs.replay_policies",
    inputs=dict(trace="results/traces/{capture}.trace"),
    outputs="runs/replay/{capture}_first",
    params=dict(
        policies={name: MQ["policies"][name] for name in MQ_COMPARED},
        cache_mb=MQ["table2_mb"],
        writes=mq_writes,
        warm_up=MQ["warm_up"],
    ),
    threads=min(HALF, 6),  # policies and treatments of writes, replayed concurrently
    priority=mq_first_priority,
)


plan.simulation(
    "mq_replay",
    "mq.runs.replay_policies",
    inputs=dict(
        trace="results/traces/{capture}.trace",
        known="results/mq/runs/replay/{capture}_first.csv",
    ),
    outputs="runs/replay/{capture}",
    params=dict(
        policies=MQ["policies"],
        cache_mb=MQ["table2_mb"],
        writes=mq_writes,
        warm_up=MQ["warm_up"],
    ),
    threads=16,  # combinations of policy, parameters and treatment of writes, replayed concurrently
    priority=1,  # long jobs first, so that none is left alone at the end
)


plan.simulation(
    "mq_split",
    "mq.runs.split_policies",
    inputs=dict(
        trace="results/traces/{capture}.trace",
        replays="results/mq/runs/replay/{capture}.csv",
    ),
    outputs="runs/split/{capture}",
    params=dict(policies=MQ["policies"], cache_mb=MQ["table3_mb"]),
)


plan.simulation(
    "mq_streams",
    "mq.runs.stream_tables",
    inputs=dict(traces=collect("results/traces/{capture}.trace", capture=MQ_CAPTURES)),
    outputs=["fig2", "fig3", "fig4", "lru_curve", "sensitivity", "first_level"],
    params=dict(
        server=MQ["server"],
        client=MQ["client"],
        cache_mb=MQ["cache_mb"],
        lru_curve_mb=MQ["lru_curve_mb"],
        variations=MQ["sensitivity"],
        first_level_of=MQ["first_level"],
        warm_up=MQ["warm_up"],
    ),
)


plan.simulation(
    "mq_fig7",
    "mq.rates.fig7",
    inputs=dict(
        trace=mq_trace,
        facts=mq_facts,
        machine="studies/mq/machine.yaml",
        calibration="data/calibration.yaml",
    ),
    outputs=dict(
        rates="fig7{variant}",
        components="fig7_components{variant}",
        objective="fig7_objective{variant}",
        fit="runs/fit{variant}",
    ),
    params=dict(
        capture=mq_capture,
        raw=mq_raw,
        cache_mb=MQ["cache_mb"],
        seed=MQ["seed"],
    ),
    threads=min(HALF, 2),
    priority=SOON,
)


plan.simulation(
    "mq_fig7_sensitivity",
    "mq.rates.fig7_sensitivity",
    inputs=dict(
        trace=f"results/traces/{MQ['server']}.trace",
        facts=capture_facts(MQ["server"]),
        machine="studies/mq/machine.yaml",
        fit="results/mq/runs/fit.csv",
    ),
    outputs="fig7_sensitivity",
    part="further",
    params=dict(
        raw=config["captures"][MQ["server"]],
        cache_mb=MQ["cache_mb"],
        seed=MQ["seed"],
    ),
    threads=16,
    priority=2,
)
