# The EPCM study: recorded builds replayed on a file client, then the paper's figures in their order.

EPCM_TABLES = [
    "fig7",
    "fig8",
    "classes",
    "components",
    "leads",
    "accuracy",
    "workloads",
    "sensitivity",
    "today",
    "fit",
    "logged",
]
EPCM_FIGURES = ["fig7", "fig8", "components", "sensitivity", "today"]
EPCM_MACHINE = [
    "data/machines/epcm_client.yaml",
    "data/machines/epcm_client.schema.yaml",
    "data/machines/epcm_today.yaml",
]
EPCM_MACHINE += machine_drives(EPCM_MACHINE[0])

OUTPUTS += [
    *collect("results/epcm/{item}.csv", item=EPCM_TABLES),
    *collect(
        "results/epcm/{item}.{form}", item=EPCM_FIGURES, form=["pdf", "svg", "png"]
    ),
]
SOURCES += [
    *builds_files(),
    *EPCM_MACHINE,
    "data/published/epcm_andrew.csv",
    "data/published/epcm_baselines.csv",
    "data/published/epcm_reductions.csv",
    "data/published/epcm_workloads.csv",
]
LOGGED.append("results/epcm/logged.csv")
SEEDS["epcm"] = EPCM["seed"]


rule epcm_copy_fit:
    input:
        capture=build_files("andrew"),
        machine=EPCM_MACHINE,
        calibration="data/calibration.yaml",
    output:
        table="results/epcm/runs/copy.csv",
    log:
        "results/logs/epcm_copy_fit.log",
    benchmark:
        "results/benchmarks/epcm_copy_fit.tsv"
    conda:
        "../../environment.yml"
    params:
        build="andrew",
        settings=EPCM,
        code=source_digest(
            "claims", "studies/epcm/setup", "machine", "traces/builds"
        ),
    script:
        "../scripts/epcm_copy_fit.py"


rule epcm_scale_fit:
    input:
        capture=build_of,
        machine=EPCM_MACHINE,
        calibration="data/calibration.yaml",
        copying="results/epcm/runs/copy.csv",
    output:
        table="results/epcm/runs/scale_{build}.csv",
    log:
        "results/logs/epcm_scale_fit/{build}.log",
    benchmark:
        "results/benchmarks/epcm_scale_fit/{build}.tsv"
    conda:
        "../../environment.yml"
    params:
        build="{build}",
        settings=EPCM,
        code=source_digest(
            "claims", "studies/epcm/setup", "machine", "traces/builds"
        ),
    script:
        "../scripts/epcm_scale_fit.py"


rule epcm_runs:
    input:
        capture=build_of,
        machine=EPCM_MACHINE,
        copying="results/epcm/runs/copy.csv",
        scale="results/epcm/runs/scale_{build}.csv",
    output:
        table="results/epcm/runs/{build}_{kernel}.csv",
    log:
        "results/logs/epcm_runs/{build}_{kernel}.log",
    benchmark:
        "results/benchmarks/epcm_runs/{build}_{kernel}.tsv"
    priority: 1  # the long jobs
    conda:
        "../../environment.yml"
    params:
        build="{build}",
        kernel="{kernel}",
        settings=EPCM,
        code=source_digest(
            "io/files", "studies/epcm/setup", "machine", "traces/builds"
        ),
    script:
        "../scripts/epcm_runs.py"


rule epcm_facts:
    input:
        capture=build_of,
        machine=EPCM_MACHINE,
        copying="results/epcm/runs/copy.csv",
        scale="results/epcm/runs/scale_{build}.csv",
        published="data/published/epcm_workloads.csv",
    output:
        accuracy="results/epcm/runs/accuracy_{build}.csv",
        workload="results/epcm/runs/workload_{build}.csv",
    log:
        "results/logs/epcm_facts/{build}.log",
    benchmark:
        "results/benchmarks/epcm_facts/{build}.tsv"
    conda:
        "../../environment.yml"
    params:
        build="{build}",
        settings=EPCM,
        code=source_digest(
            "io/files",
            "studies/epcm/setup",
            "studies/epcm/tables",
            "machine",
            "traces/builds",
        ),
    script:
        "../scripts/epcm_facts.py"


rule epcm_today:
    input:
        capture=build_of,
        machine=EPCM_MACHINE,
    output:
        table="results/epcm/runs/today_{build}.csv",
    log:
        "results/logs/epcm_today/{build}.log",
    benchmark:
        "results/benchmarks/epcm_today/{build}.tsv"
    conda:
        "../../environment.yml"
    params:
        build="{build}",
        settings=EPCM,
        code=source_digest(
            "io/files",
            "studies/epcm/setup",
            "studies/epcm/tables",
            "machine",
            "traces/builds",
        ),
    script:
        "../scripts/epcm_today.py"


rule epcm_sensitivity_of:
    input:
        capture=build_of,
        machine=EPCM_MACHINE,
        copying="results/epcm/runs/copy.csv",
        scale="results/epcm/runs/scale_{build}.csv",
    output:
        table="results/epcm/runs/sensitivity_{build}.csv",
    log:
        "results/logs/epcm_sensitivity/{build}.log",
    benchmark:
        "results/benchmarks/epcm_sensitivity/{build}.tsv"
    priority: 1  # the long jobs
    conda:
        "../../environment.yml"
    params:
        build="{build}",
        settings=EPCM,
        code=source_digest(
            "io/files", "studies/epcm/sensitivity", "machine", "traces/builds"
        ),
    script:
        "../scripts/epcm_sensitivity.py"
