# The SARC study consists of the fit, the runs, and the conditions on which the results depend.
plan = PLANS["sarc"]


include: "inputs.smk"


SHARK = "studies/sarc/machine.yaml"
SHARK_DRIVES = machine_drives(SHARK)
SARC_FITTED = dict(
    machine=SHARK, drives=SHARK_DRIVES, fitted="results/sarc/runs/fitted.csv"
)
SARC_MODEL = {key: SARC[key] for key in ("divisor", "values")}
SARC_SHORT = dict(settings=SARC_MODEL, short=SARC["short"], seed=SARC["seeds"][0])
SARC_ANOMALY = SARC["anomaly"]

plan.table(
    "sarc.tables.from_runs",
    "table2",
    "fig6",
    "table2_by_seed",
    "fig6_by_seed",
    "load_axis",
    "peaks",
    "by_minute",
    "internals",
    "disk_operations",
    "components",
    runs=collect("results/sarc/runs/{group}.csv", group=PAPERS),
    machine=SHARK,
    published="studies/sarc/published/table2.csv",
    fit="fit",
    options={"seed": SARC["seeds"][0], "values": SARC["values"]},
)
plan.table(
    "sarc.tables.other_policies",
    part="further",
    runs=collect("results/sarc/runs/{group}.csv", group=PAPERS),
    beyond=collect("results/sarc/runs/{group}.csv", group=["beyond"]),
    machine=SHARK,
    options={"seed": SARC["seeds"][0], "values": SARC["values"]},
)
plan.table(
    "sarc.readings.effects",
    "readings",
    part="further",
    ledger="studies/sarc/ledger.yaml",
    table2="results/sarc/runs/conditions/table2.csv",
    fig6="results/sarc/runs/conditions/fig6.csv",
    internals="results/sarc/runs/conditions/internals.csv",
    refits="results/sarc/runs/conditions/refits.csv",
)
plan.table(
    "sarc.sensitivity.anomaly",
    options={
        **{key: SARC_ANOMALY[key] for key in ("streams", "length", "degrees")},
        "cache_tracks": [
            round(SARC_ANOMALY["streams"] * size)
            for size in SARC_ANOMALY["tracks_a_stream"]
        ],
        "seed": SARC["seeds"][0],
    },
)
plan.table(
    "sarc.claims.logged",
    fit="fit",
    ledger="studies/sarc/ledger.yaml",
    calibration="data/calibration.yaml",
)
plan.figure(
    "table2",
    "Table II",
    "response times next to the published",
    table="table2",
    published="studies/sarc/published/table2.csv",
)
plan.figure(
    "fig6",
    "Figure 6",
    "response, power, tracks staged",
    table="fig6",
    minutes="by_minute",
    published="studies/sarc/published/table2.csv",
)
plan.figure(
    "lists",
    "Figures 7 and 8",
    "size of SEQ and the ratio over time",
    minutes="by_minute",
)
plan.figure("anomaly", "Figures 1 and 3", "sequential misses by strategy")
plan.figure(
    "detection",
    "Detection",
    "errors of sequential detection by threshold",
    part="further",
)
plan.figure(
    "fit_grid",
    "The fit",
    "points that were tried",
    function="sarc.figures_fit.fit_grid",
    part="further",
)
plan.figure(
    "load_axis",
    "Near saturation",
    "published points on the axis of the load",
    function="sarc.figures_fit.load_axis",
    part="further",
)
plan.figure(
    "disk_operations", "Operations", "what the drives do per request", part="further"
)
plan.figure(
    "other_policies",
    "Beyond the paper",
    "other policies on the same load",
    part="further",
)
plan.figure(
    "prefetchers",
    "AMP",
    "prefetchers on the same load and on streams",
    function="sarc.figures_prefetchers.prefetchers",
    part="further",
)
plan.figure(
    "sensitivity",
    "Sensitivity",
    "what the results depend on",
    part="further",
    table="sensitivity",
    orderings="orderings",
)
plan.figure("scale", "Scale", "the model at several scales", part="further")
plan.read.append("studies/sarc/published/peak.csv")
plan.seed = SARC["seeds"]
plan.conditions = ["table2", "fig6", "internals"]


plan.simulation(
    "sarc_fit_step",
    "sarc.fit.search",
    inputs=dict(
        before=sarc_fit_before,
        machine=SHARK,
        drives=SHARK_DRIVES,
        calibration="data/calibration.yaml",
    ),
    outputs="runs/fit/{step}",
    params=dict(
        settings=SARC_MODEL,
        begin=SARC["fit"],
        starts=SARC["fit_starts"],
        finalists=SARC["finalists"],
        short=SARC["short"],
        seeds=SARC["fit_seeds"],
    ),
    threads=18,  # three starts x two neighbours of a point x three groups of rows
    priority=2,  # the study's runs wait for this job
)


plan.simulation(
    "sarc_fit",
    "sarc.fit.gather",
    inputs=dict(
        calibration="data/calibration.yaml",
        steps=collect("results/sarc/runs/fit/{step}.csv", step=STEPS),
    ),
    outputs=dict(fit="fit", fit_grid="fit_grid", fitted="runs/fitted"),
    priority=2,
)


plan.simulation(
    "sarc_detection",
    "sarc.detection.by_threshold",
    inputs=dict(machine=SHARK, drives=SHARK_DRIVES),
    outputs="detection",
    params=dict(
        thresholds=SARC["thresholds"],
        settings=SARC_MODEL,
        values={name: start["value"] for name, start in SARC["fit"].items()},
        spaces=SARC["detection_gb"],
        seed=SARC["seeds"][0],
    ),
    part="further",
    threads=16,
    priority=1,
)


plan.simulation(
    "sarc_under_conditions",
    "sarc.readings.under_conditions",
    inputs=dict(**SARC_FITTED, calibration="data/calibration.yaml"),
    outputs={i: f"runs/conditions/{i}" for i in [*plan.conditions, "refits"]},
    params=SARC_SHORT,
    threads=32,
)


plan.simulation(
    "sarc_run",
    "sarc.runs.schedules",
    inputs=SARC_FITTED,
    outputs="runs/{group}",
    params=dict(policies=sarc_policies, seeds=sarc_seeds, settings=SARC_MODEL),
    threads=10,  # one per configuration and seed of a policy
    priority=1,
)


plan.simulation(
    "sarc_sensitivity",
    "sarc.sensitivity.vary_all",
    inputs=SARC_FITTED,
    outputs=["sensitivity", "orderings"],
    params=dict(
        **SARC_SHORT,
        parameters=SARC["sensitivity"],
        load=SARC["sensitivity_load"],
    ),
    part="further",
    threads=32,
    priority=1,
)


plan.simulation(
    "sarc_prefetchers",
    "sarc.prefetchers.compare",
    inputs=SARC_FITTED,
    outputs="prefetchers",
    params=dict(settings=SARC_MODEL, **SARC["prefetchers"]),
    part="further",
    threads=2,
)


plan.simulation(
    "sarc_scale",
    "sarc.sensitivity.scales",
    inputs=SARC_FITTED,
    outputs="scale",
    params=dict(
        **SARC_SHORT,
        divisors=SARC["scale_divisors"],
        loads=SARC["scale_loads"],
    ),
    part="further",
    threads=12,
)
