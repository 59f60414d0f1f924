# Tables of the EPCM study, from its runs.


rule epcm_tables:
    input:
        runs=collect(
            "results/epcm/runs/{build}_{kernel}.csv", build=BUILDS, kernel=KERNELS
        ),
    output:
        fig7="results/epcm/fig7.csv",
        fig8="results/epcm/fig8.csv",
        classes="results/epcm/classes.csv",
        components="results/epcm/components.csv",
        leads="results/epcm/leads.csv",
    log:
        "results/logs/epcm_tables.log",
    benchmark:
        "results/benchmarks/epcm_tables.tsv"
    conda:
        "../../environment.yml"
    params:
        fig8=EPCM["fig8"],
        code=source_digest("io/files", "studies/epcm/tables"),
    script:
        "../scripts/epcm_tables.py"


rule epcm_accuracy:
    input:
        tables=collect("results/epcm/runs/accuracy_{build}.csv", build=BUILDS),
    output:
        table="results/epcm/accuracy.csv",
    log:
        "results/logs/epcm_accuracy.log",
    benchmark:
        "results/benchmarks/epcm_accuracy.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


use rule epcm_accuracy as epcm_workloads with:
    input:
        tables=collect("results/epcm/runs/workload_{build}.csv", build=BUILDS),
    output:
        table="results/epcm/workloads.csv",
    log:
        "results/logs/epcm_workloads.log",
    benchmark:
        "results/benchmarks/epcm_workloads.tsv"


use rule epcm_accuracy as epcm_sensitivity with:
    input:
        tables=collect("results/epcm/runs/sensitivity_{build}.csv", build=BUILDS),
    output:
        table="results/epcm/sensitivity.csv",
    log:
        "results/logs/epcm_sensitivity.log",
    benchmark:
        "results/benchmarks/epcm_sensitivity.tsv"


use rule epcm_accuracy as epcm_today_table with:
    input:
        tables=collect("results/epcm/runs/today_{build}.csv", build=BUILDS),
    output:
        table="results/epcm/today.csv",
    log:
        "results/logs/epcm_today.log",
    benchmark:
        "results/benchmarks/epcm_today.tsv"


use rule epcm_accuracy as epcm_fit with:
    input:
        tables=[
            "results/epcm/runs/copy.csv",
            *collect("results/epcm/runs/scale_{build}.csv", build=BUILDS),
        ],
    output:
        table="results/epcm/fit.csv",
    log:
        "results/logs/epcm_fit.log",
    benchmark:
        "results/benchmarks/epcm_fit.tsv"


rule epcm_logged:
    input:
        leads="results/epcm/leads.csv",
        runs=collect("results/epcm/runs/{build}_linux22.csv", build=["andrew"]),
        workload="results/epcm/workloads.csv",
    output:
        table="results/epcm/logged.csv",
    log:
        "results/logs/epcm_logged.log",
    benchmark:
        "results/benchmarks/epcm_logged.tsv"
    conda:
        "../../environment.yml"
    params:
        fig8=EPCM["fig8"],
        code=source_digest("io/files", "studies/epcm/claims"),
    script:
        "../scripts/epcm_logged.py"
