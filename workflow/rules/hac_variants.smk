# The HAC study beyond Figures 9 to 11: projections, elapsed and hit time, updates, the server's cache, sensitivity.


rule hac_projections:
    input:
        sweeps=collect(
            "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
        ),
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/projections.csv",
    log:
        "results/logs/hac_projections.log",
    benchmark:
        "results/benchmarks/hac_projections.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        points_mb=HAC["points_mb"],
        iterations=HAC["iterations"],
        code=source_digest("io/files", "studies/hac/projections"),
    script:
        "../scripts/hac_projections.py"


rule hac_elapsed:
    input:
        sweeps=collect(
            "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
        ),
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/elapsed.csv",
    log:
        "results/logs/hac_elapsed.log",
    benchmark:
        "results/benchmarks/hac_elapsed.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        points_mb=HAC["points_mb"],
        iterations=HAC["iterations"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_elapsed.py"


rule hac_hit_time:
    input:
        machine="data/machines/hac_testbed.yaml",
        fit="results/hac/fit.csv",
    output:
        table="results/hac/hit_time.csv",
    log:
        "results/logs/hac_hit_time.log",
    benchmark:
        "results/benchmarks/hac_hit_time.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        cache_mb=HAC["hit_time_mb"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_hit_time.py"


rule hac_updates:
    input:
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/updates.csv",
    log:
        "results/logs/hac_updates.log",
    benchmark:
        "results/benchmarks/hac_updates.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        cache_mb=HAC["updates_mb"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_updates.py"


rule hac_server:
    input:
        sweeps=collect(
            "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
        ),
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/server.csv",
    log:
        "results/logs/hac_server.log",
    benchmark:
        "results/benchmarks/hac_server.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        points_mb=HAC["points_mb"],
        server_mb=HAC["server_cache_mb"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_server.py"


rule hac_cost_sensitivity:
    input:
        sweeps=collect(
            "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
        ),
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/cost_sensitivity.csv",
    log:
        "results/logs/hac_cost_sensitivity.log",
    benchmark:
        "results/benchmarks/hac_cost_sensitivity.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        points_mb=HAC["points_mb"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_cost_sensitivity.py"


rule hac_sensitivity_of:
    input:
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/runs/sensitivity_{traversal}.csv",
    log:
        "results/logs/hac_sensitivity_of/{traversal}.log",
    benchmark:
        "results/benchmarks/hac_sensitivity_of/{traversal}.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        points_mb=HAC["points_mb"],
        settings=HAC["sensitivity"],
        layouts=HAC["layouts"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_sensitivity_of.py"


rule hac_sensitivity:
    input:
        tables=collect(
            "results/hac/runs/sensitivity_{traversal}.csv", traversal=HAC_TRAVERSALS
        ),
    output:
        table="results/hac/sensitivity.csv",
    log:
        "results/logs/hac_sensitivity.log",
    benchmark:
        "results/benchmarks/hac_sensitivity.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule hac_logged:
    input:
        server="results/hac/server.csv",
        fit="results/hac/fit.csv",
    output:
        table="results/hac/logged.csv",
    log:
        "results/logs/hac_logged.log",
    benchmark:
        "results/benchmarks/hac_logged.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files", "studies/hac/claims"),
    script:
        "../scripts/hac_logged.py"


# Measured, so never the same twice: in the report and the notebook, but neither archived nor judged. It takes all cores there are,
# so that no job of ours runs beside it.
rule hac_measured:
    output:
        hit_time="results/hac/runs/hit_time_measured.csv",
        penalty="results/hac/runs/penalty_measured.csv",
    log:
        "results/logs/hac_measured.log",
    benchmark:
        "results/benchmarks/hac_measured.tsv"
    conda:
        "../../environment.yml"
    threads: 1024
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        cache_mb=HAC["hit_time_mb"],
        points_mb=HAC["points_mb"],
        iterations=HAC["iterations"],
        code=source_digest("io/files", "studies/hac/measured"),
    script:
        "../scripts/hac_measured.py"
