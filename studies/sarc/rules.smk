# The SARC study: the fit, the runs, and what the results depend on.


include: "inputs.smk"


SHARK = "studies/sarc/machine.yaml"
SHARK_DRIVES = machine_drives(SHARK)
SARC_MODEL = {key: SARC[key] for key in ("divisor", "values")}
SARC_ANOMALY = SARC["anomaly"]

TABLES["sarc"] = [
    table(
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
    ),
    table(
        "sarc.tables.other_policies",
        "other_policies",
        part="further",
        runs=collect("results/sarc/runs/{group}.csv", group=PAPERS),
        beyond=collect("results/sarc/runs/{group}.csv", group=["beyond"]),
        machine=SHARK,
        options={"seed": SARC["seeds"][0], "values": SARC["values"]},
    ),
    table(
        "sarc.readings.effects",
        "readings",
        ledger="studies/sarc/ledger.yaml",
        table2="results/sarc/runs/conditions/table2.csv",
        fig6="results/sarc/runs/conditions/fig6.csv",
        internals="results/sarc/runs/conditions/internals.csv",
        refits="results/sarc/runs/conditions/refits.csv",
    ),
    table(
        "sarc.sensitivity.anomaly",
        "anomaly",
        options={
            "streams": SARC_ANOMALY["streams"],
            "length": SARC_ANOMALY["length"],
            "degrees": SARC_ANOMALY["degrees"],
            "cache_tracks": [
                round(SARC_ANOMALY["streams"] * size)
                for size in SARC_ANOMALY["tracks_a_stream"]
            ],
            "seed": SARC["seeds"][0],
        },
    ),
    table(
        "sarc.claims.logged",
        "logged",
        fit="fit",
        ledger="studies/sarc/ledger.yaml",
        calibration="data/calibration.yaml",
    ),
]
FIGURES["sarc"] = [
    figure(
        "sarc.figures.table2",
        "table2",
        "Table II",
        "response times next to the published",
        table="table2",
        published="studies/sarc/published/table2.csv",
    ),
    figure(
        "sarc.figures.fig6",
        "fig6",
        "Figure 6",
        "response, power, tracks staged",
        table="fig6",
        minutes="by_minute",
        published="studies/sarc/published/table2.csv",
    ),
    figure(
        "sarc.figures.lists",
        "lists",
        "Figures 7 and 8",
        "size of SEQ and the ratio over time",
        minutes="by_minute",
    ),
    figure(
        "sarc.figures.anomaly",
        "anomaly",
        "Figures 1 and 3",
        "sequential misses by strategy",
        table="anomaly",
    ),
    figure(
        "sarc.figures.detection",
        "detection",
        "Detection",
        "errors of sequential detection by threshold",
        part="further",
        table="detection",
    ),
    figure(
        "sarc.figures_fit.fit_grid",
        "fit_grid",
        "The fit",
        "points that were tried",
        part="further",
        table="fit_grid",
    ),
    figure(
        "sarc.figures_fit.load_axis",
        "load_axis",
        "Near saturation",
        "published points on the axis of the load",
        part="further",
        table="load_axis",
    ),
    figure(
        "sarc.figures.disk_operations",
        "disk_operations",
        "Operations",
        "what the drives do per request",
        part="further",
        table="disk_operations",
    ),
    figure(
        "sarc.figures.other_policies",
        "other_policies",
        "Beyond the paper",
        "other policies on the same load",
        part="further",
        table="other_policies",
    ),
    figure(
        "sarc.figures_prefetchers.prefetchers",
        "prefetchers",
        "AMP",
        "prefetchers on the same load and on streams",
        part="further",
        table="prefetchers",
    ),
    figure(
        "sarc.figures.sensitivity",
        "sensitivity",
        "Sensitivity",
        "what the results depend on",
        part="further",
        table="sensitivity",
        orderings="orderings",
    ),
    figure(
        "sarc.figures.scale",
        "scale",
        "Scale",
        "the model at several scales",
        part="further",
        table="scale",
    ),
]
OUTPUTS += collect("results/sarc/{item}.csv", item=["fit", "fit_grid"])
FURTHER += collect(
    "results/sarc/{item}.csv",
    item=["detection", "scale", "sensitivity", "orderings", "prefetchers"],
)
SOURCES += [
    SHARK,
    *SHARK_DRIVES,
    "studies/sarc/published/table2.csv",
    "studies/sarc/published/peak.csv",
]
SEEDS["sarc"] = SARC["seeds"]
CONDITIONS["sarc"] = ["table2", "fig6", "internals"]


rule sarc_fit_step:
    input:
        unpack(sarc_fit_before),
        machine=SHARK,
        drives=SHARK_DRIVES,
        calibration="data/calibration.yaml",
    output:
        table="results/sarc/runs/fit/{step}.csv",
    log:
        "results/logs/sarc_fit_step/{step}.log",
    benchmark:
        "results/benchmarks/sarc_fit_step/{step}.tsv"
    priority: 2  # every other job of the study waits for it
    conda:
        "../../environment.yml"
    threads: 18  # three starts, two neighbours of a point, three groups of rows
    params:
        settings=SARC_MODEL,
        begin=SARC["fit"],
        starts=SARC["fit_starts"],
        finalists=SARC["finalists"],
        short=SARC["short"],
        seeds=SARC["fit_seeds"],
        job=job("sarc.fit.search"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_fit:
    input:
        calibration="data/calibration.yaml",
        steps=collect("results/sarc/runs/fit/{step}.csv", step=STEPS),
    output:
        fit="results/sarc/fit.csv",
        fit_grid="results/sarc/fit_grid.csv",
        fitted="results/sarc/runs/fitted.csv",
    log:
        "results/logs/sarc_fit.log",
    benchmark:
        "results/benchmarks/sarc_fit.tsv"
    priority: 2
    conda:
        "../../environment.yml"
    params:
        job=job("sarc.fit.gather"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_detection:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
    output:
        table="results/sarc/detection.csv",
    log:
        "results/logs/sarc_detection.log",
    benchmark:
        "results/benchmarks/sarc_detection.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 16
    params:
        thresholds=SARC["thresholds"],
        settings=SARC_MODEL,
        values={name: start["value"] for name, start in SARC["fit"].items()},
        spaces=SARC["detection_gb"],
        seed=SARC["seeds"][0],
        job=job("sarc.detection.by_threshold"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_under_conditions:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        fitted="results/sarc/runs/fitted.csv",
        calibration="data/calibration.yaml",
    output:
        table2="results/sarc/runs/conditions/table2.csv",
        fig6="results/sarc/runs/conditions/fig6.csv",
        internals="results/sarc/runs/conditions/internals.csv",
        refits="results/sarc/runs/conditions/refits.csv",
    log:
        "results/logs/sarc_under_conditions.log",
    benchmark:
        "results/benchmarks/sarc_under_conditions.tsv"
    conda:
        "../../environment.yml"
    threads: 32
    params:
        settings=SARC_MODEL,
        short=SARC["short"],
        seed=SARC["seeds"][0],
        job=job("sarc.readings.under_conditions"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_run:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        fitted="results/sarc/runs/fitted.csv",
    output:
        table="results/sarc/runs/{group}.csv",
    log:
        "results/logs/sarc_run/{group}.log",
    benchmark:
        "results/benchmarks/sarc_run/{group}.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 10  # configurations and seeds of a policy
    params:
        policies=sarc_policies,
        seeds=sarc_seeds,
        settings=SARC_MODEL,
        job=job("sarc.runs.schedules"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_sensitivity:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        fitted="results/sarc/runs/fitted.csv",
    output:
        sensitivity="results/sarc/sensitivity.csv",
        orderings="results/sarc/orderings.csv",
    log:
        "results/logs/sarc_sensitivity.log",
    benchmark:
        "results/benchmarks/sarc_sensitivity.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 32
    params:
        settings=SARC_MODEL,
        short=SARC["short"],
        seed=SARC["seeds"][0],
        parameters=SARC["sensitivity"],
        load=SARC["sensitivity_load"],
        job=job("sarc.sensitivity.vary_all"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_prefetchers:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        fitted="results/sarc/runs/fitted.csv",
    output:
        table="results/sarc/prefetchers.csv",
    log:
        "results/logs/sarc_prefetchers.log",
    benchmark:
        "results/benchmarks/sarc_prefetchers.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        settings=SARC_MODEL,
        seeds=SARC["prefetchers"]["seeds"],
        phases=SARC["prefetchers"]["phases"],
        loads=SARC["prefetchers"]["loads"],
        streams=SARC["prefetchers"]["streams"],
        job=job("sarc.prefetchers.compare"),
    script:
        "../../workflow/scripts/simulate.py"


rule sarc_scale:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        fitted="results/sarc/runs/fitted.csv",
    output:
        table="results/sarc/scale.csv",
    log:
        "results/logs/sarc_scale.log",
    benchmark:
        "results/benchmarks/sarc_scale.tsv"
    conda:
        "../../environment.yml"
    threads: 12
    params:
        settings=SARC_MODEL,
        short=SARC["short"],
        seed=SARC["seeds"][0],
        divisors=SARC["scale_divisors"],
        loads=SARC["scale_loads"],
        job=job("sarc.sensitivity.scales"),
    script:
        "../../workflow/scripts/simulate.py"
