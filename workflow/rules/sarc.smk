# The SARC study: the fit, the runs, and the tables that are made from them.

SARC_TABLES = [
    "table2",
    "fig6",
    "peaks",
    "minutes",
    "internals",
    "components",
    "beyond",
    "fit",
    "fit_grid",
    "scale",
    "sensitivity",
    "orderings",
    "anomaly",
    "logged",
]
SARC_FIGURES = [
    "table2",
    "fig6",
    "lists",
    "anomaly",
    "components",
    "beyond",
    "sensitivity",
    "scale",
]
SARC_CONFIGS = ["cache_sensitive", "cache_insensitive"]
SARC_PAPERS = ["lru_top", "lru_bottom", "sarc"]
SHARK = "data/machines/shark.yaml"
SHARK_DRIVES = machine_drives(SHARK)
SARC_MODEL = {key: SARC[key] for key in ("divisor", "values")}
SARC_SHORT = SARC_MODEL | {"short": SARC["short"], "seed": SARC["seeds"][0]}

OUTPUTS += [
    *collect("results/sarc/{item}.csv", item=SARC_TABLES),
    *collect(
        "results/sarc/{item}.{form}", item=SARC_FIGURES, form=["pdf", "svg", "png"]
    ),
]
SOURCES += [
    SHARK,
    *SHARK_DRIVES,
    "data/published/sarc_table2.csv",
    "data/published/sarc_peak.csv",
]
LOGGED.append("results/sarc/logged.csv")
SEEDS["sarc"] = SARC["seeds"]


wildcard_constraints:
    config="|".join(SARC_CONFIGS),
    sarc_policy="|".join([*SARC_PAPERS, *SARC["beyond"]]),
    seed="[0-9]+",
    divisor="[0-9]+",
    parameter="[a-z_]+",


rule sarc_fit_load:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
    output:
        table="results/sarc/runs/fit/load/{config}/{sarc_policy}.csv",
    log:
        "results/logs/sarc_fit_load/{config}/{sarc_policy}.log",
    benchmark:
        "results/benchmarks/sarc_fit_load/{config}/{sarc_policy}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=SARC_SHORT,
        grid=SARC["fit"],
        step="load",
        code=source_digest("studies/sarc/fit"),
    script:
        "../scripts/sarc_fit_try.py"


rule sarc_fit_load_choose:
    input:
        tables=["results/sarc/runs/fit/load/cache_insensitive/lru_top.csv"],
        calibration="data/calibration.yaml",
    output:
        table="results/sarc/runs/fit/load.csv",
    log:
        "results/logs/sarc_fit_load_choose.log",
    benchmark:
        "results/benchmarks/sarc_fit_load_choose.tsv"
    conda:
        "../../environment.yml"
    params:
        step="load",
        code=source_digest("claims", "studies/sarc/fit"),
    script:
        "../scripts/sarc_fit_choose.py"


use rule sarc_fit_load as sarc_fit_space with:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        chosen="results/sarc/runs/fit/load.csv",
    output:
        table="results/sarc/runs/fit/space/{config}/{sarc_policy}.csv",
    log:
        "results/logs/sarc_fit_space/{config}/{sarc_policy}.log",
    benchmark:
        "results/benchmarks/sarc_fit_space/{config}/{sarc_policy}.tsv"
    params:
        settings=SARC_SHORT,
        grid=SARC["fit"],
        step="space",
        code=source_digest("studies/sarc/fit"),


use rule sarc_fit_load_choose as sarc_fit_space_choose with:
    input:
        tables=collect(
            "results/sarc/runs/fit/space/{group}.csv",
            group=[
                "cache_sensitive/lru_top",
                "cache_sensitive/lru_bottom",
                "cache_insensitive/lru_bottom",
            ],
        ),
        calibration="data/calibration.yaml",
    output:
        table="results/sarc/runs/fit/space.csv",
    log:
        "results/logs/sarc_fit_space_choose.log",
    benchmark:
        "results/benchmarks/sarc_fit_space_choose.tsv"
    params:
        step="space",
        code=source_digest("claims", "studies/sarc/fit"),


rule sarc_fit:
    input:
        load="results/sarc/runs/fit/load.csv",
        space="results/sarc/runs/fit/space.csv",
    output:
        table="results/sarc/fit.csv",
        grid="results/sarc/fit_grid.csv",
        values="results/sarc/runs/fit/values.csv",
    log:
        "results/logs/sarc_fit.log",
    benchmark:
        "results/benchmarks/sarc_fit.tsv"
    conda:
        "../../environment.yml"
    params:
        ranges=SARC["fit"],
        code=source_digest("studies/sarc/fit"),
    script:
        "../scripts/sarc_fit.py"


rule sarc_run:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        values="results/sarc/runs/fit/values.csv",
    output:
        table="results/sarc/runs/minutes/{config}/{sarc_policy}/{seed}.csv",
    log:
        "results/logs/sarc_run/{config}/{sarc_policy}/{seed}.log",
    benchmark:
        "results/benchmarks/sarc_run/{config}/{sarc_policy}/{seed}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=SARC_MODEL,
        code=source_digest("studies/sarc/tables"),
    script:
        "../scripts/sarc_run.py"


rule sarc_tables:
    input:
        runs=collect(
            "results/sarc/runs/minutes/{config}/{policy}/{seed}.csv",
            config=SARC_CONFIGS,
            policy=SARC_PAPERS,
            seed=SARC["seeds"],
        ),
        beyond=collect(
            "results/sarc/runs/minutes/{config}/{policy}/{seed}.csv",
            config=SARC_CONFIGS,
            policy=SARC["beyond"],
            seed=SARC["seeds"][0],
        ),
        machine=SHARK,
        drives=SHARK_DRIVES,
    output:
        table2="results/sarc/table2.csv",
        fig6="results/sarc/fig6.csv",
        peaks="results/sarc/peaks.csv",
        minutes="results/sarc/minutes.csv",
        internals="results/sarc/internals.csv",
        components="results/sarc/components.csv",
        beyond="results/sarc/beyond.csv",
    log:
        "results/logs/sarc_tables.log",
    benchmark:
        "results/benchmarks/sarc_tables.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=SARC_MODEL,
        seed=SARC["seeds"][0],
        code=source_digest("studies/sarc/tables"),
    script:
        "../scripts/sarc_tables.py"


rule sarc_scale_run:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        values="results/sarc/runs/fit/values.csv",
    output:
        table="results/sarc/runs/scale/{divisor}/{config}.csv",
    log:
        "results/logs/sarc_scale_run/{divisor}/{config}.log",
    benchmark:
        "results/benchmarks/sarc_scale_run/{divisor}/{config}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=SARC_SHORT,
        loads=SARC["scale_loads"],
        code=source_digest("studies/sarc/sensitivity"),
    script:
        "../scripts/sarc_scale.py"


rule sarc_scale:
    input:
        tables=collect(
            "results/sarc/runs/scale/{divisor}/{config}.csv",
            divisor=SARC["scale_divisors"],
            config=SARC_CONFIGS,
        ),
    output:
        table="results/sarc/scale.csv",
    log:
        "results/logs/sarc_scale.log",
    benchmark:
        "results/benchmarks/sarc_scale.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule sarc_vary:
    input:
        machine=SHARK,
        drives=SHARK_DRIVES,
        values="results/sarc/runs/fit/values.csv",
    output:
        table="results/sarc/runs/sensitivity/{parameter}.csv",
    log:
        "results/logs/sarc_vary/{parameter}.log",
    benchmark:
        "results/benchmarks/sarc_vary/{parameter}.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=SARC_SHORT,
        load=SARC["sensitivity_load"],
        code=source_digest("studies/sarc/sensitivity"),
    script:
        "../scripts/sarc_vary.py"


rule sarc_sensitivity:
    input:
        tables=collect(
            "results/sarc/runs/sensitivity/{parameter}.csv",
            parameter=["none", *SARC["sensitivity"]],
        ),
    output:
        table="results/sarc/sensitivity.csv",
        orderings="results/sarc/orderings.csv",
    log:
        "results/logs/sarc_sensitivity.log",
    benchmark:
        "results/benchmarks/sarc_sensitivity.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/sarc/sensitivity"),
    script:
        "../scripts/sarc_sensitivity.py"


rule sarc_anomaly_run:
    output:
        table="results/sarc/runs/anomaly.csv",
    log:
        "results/logs/sarc_anomaly_run.log",
    benchmark:
        "results/benchmarks/sarc_anomaly_run.tsv"
    conda:
        "../../environment.yml"
    params:
        anomaly=SARC["anomaly"],
        seed=SARC["seeds"][0],
        code=source_digest("studies/sarc/sensitivity"),
    script:
        "../scripts/sarc_anomaly.py"


rule sarc_anomaly:
    input:
        tables=["results/sarc/runs/anomaly.csv"],
    output:
        table="results/sarc/anomaly.csv",
    log:
        "results/logs/sarc_anomaly.log",
    benchmark:
        "results/benchmarks/sarc_anomaly.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule sarc_logged:
    input:
        fit="results/sarc/fit.csv",
        table2="results/sarc/table2.csv",
        calibration="data/calibration.yaml",
        ledger="data/published/claims.yaml",
    output:
        table="results/sarc/logged.csv",
    log:
        "results/logs/sarc_logged.log",
    benchmark:
        "results/benchmarks/sarc_logged.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("claims", "studies/sarc/claims"),
    script:
        "../scripts/sarc_logged.py"
