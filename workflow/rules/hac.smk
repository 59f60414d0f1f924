# The HAC study: runs first, counted; then what they cost, the paper's figures and the projections.

HAC_TABLES = [
    "fig9",
    "fig9_frames",
    "fig10",
    "fig11",
    "projections",
    "peaks",
    "misses",
    "dynamic",
    "hit_time",
    "elapsed",
    "updates",
    "server",
    "fit",
    "cost_sensitivity",
    "sensitivity",
    "logged",
]
HAC_FIGURES = [
    "fig9",
    "fig10",
    "fig11",
    "misses",
    "peaks",
    "projections",
    "hit_time",
    "elapsed",
    "sensitivity",
]

HAC_DRIVE_FILES = machine_drives("data/machines/hac_testbed.yaml")

OUTPUTS += [
    *collect("results/hac/{item}.csv", item=HAC_TABLES),
    *collect("results/hac/{item}.{form}", item=HAC_FIGURES, form=["pdf", "svg", "png"]),
]
SOURCES += [
    "data/machines/hac_testbed.yaml",
    "data/published/hac_miss_penalty.csv",
    "data/published/hac_hit_time.csv",
    *HAC_DRIVE_FILES,
]
MEASURED += [
    *collect("results/hac/runs/{table}_measured.csv", table=["hit_time", "penalty"]),
    "results/hac/runs/hit_time_measured.svg",
]
LOGGED.append("results/hac/logged.csv")
SEEDS["hac"] = HAC["seed"]


wildcard_constraints:
    traversal="|".join(map(re.escape, HAC_TRAVERSALS)),
    axis="total|frames",
    system="fpc|gom",


rule hac_sweep:
    input:
        machine="data/machines/hac_testbed.yaml",
    output:
        runs="results/hac/runs/{axis}_{traversal}.parquet",
    log:
        "results/logs/hac_sweep/{axis}_{traversal}.log",
    benchmark:
        "results/benchmarks/hac_sweep/{axis}_{traversal}.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        sizes_mb=hac_sizes,
        iterations=HAC["iterations"],
        code=source_digest("io/files", "studies/hac/runs", "systems/object_server/object_client"),
    script:
        "../scripts/hac_sweep.py"


rule hac_misses_of:
    input:
        machine="data/machines/hac_testbed.yaml",
    output:
        table="results/hac/runs/misses_{system}_{traversal}.csv",
    log:
        "results/logs/hac_misses_of/{system}_{traversal}.log",
    benchmark:
        "results/benchmarks/hac_misses_of/{system}_{traversal}.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        sizes_mb=hac_comparator_sizes,
        shares=HAC["gom_shares"],
        code=source_digest("io/files", "studies/hac/runs", "systems/object_server/object_client"),
    script:
        "../scripts/hac_misses_of.py"


rule hac_misses:
    input:
        sweeps=collect(
            "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
        ),
        tables=collect(
            "results/hac/runs/misses_{system}_{traversal}.csv",
            system=["fpc", "gom"],
            traversal=HAC_TRAVERSALS,
        ),
    output:
        table="results/hac/misses.csv",
    log:
        "results/logs/hac_misses.log",
    benchmark:
        "results/benchmarks/hac_misses.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files", "studies/hac/tables"),
    script:
        "../scripts/hac_misses.py"


rule hac_dynamic:
    input:
        machine="data/machines/hac_testbed.yaml",
    output:
        table="results/hac/dynamic.csv",
    log:
        "results/logs/hac_dynamic.log",
    benchmark:
        "results/benchmarks/hac_dynamic.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        sizes_mb=HAC["dynamic_mb"],
        dynamic=HAC["dynamic"],
        shares=HAC["gom_shares"],
        code=source_digest("io/files", "studies/hac/variants"),
    script:
        "../scripts/hac_dynamic.py"


rule hac_fit:
    input:
        sweep="results/hac/runs/total_T1.parquet",
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        calibration="data/calibration.yaml",
    output:
        table="results/hac/fit.csv",
    log:
        "results/logs/hac_fit.log",
    benchmark:
        "results/benchmarks/hac_fit.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        point_mb=HAC["points_mb"]["T1"],
        code=source_digest("claims", "io/files", "studies/hac/tables"),
    script:
        "../scripts/hac_fit.py"


rule hac_fig9_of:
    input:
        runs="results/hac/runs/{axis}_{traversal}.parquet",
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/runs/fig9_{axis}_{traversal}.csv",
    log:
        "results/logs/hac_fig9_of/{axis}_{traversal}.log",
    benchmark:
        "results/benchmarks/hac_fig9_of/{axis}_{traversal}.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        least_share=HAC["least_share"],
        code=source_digest("io/files", "studies/hac/tables"),
    script:
        "../scripts/hac_fig9_of.py"


rule hac_fig9:
    input:
        tables=collect(
            "results/hac/runs/fig9_total_{traversal}.csv", traversal=HAC_TRAVERSALS
        ),
    output:
        table="results/hac/fig9.csv",
    log:
        "results/logs/hac_fig9.log",
    benchmark:
        "results/benchmarks/hac_fig9.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule hac_fig9_frames:
    input:
        tables=collect(
            "results/hac/runs/fig9_frames_{traversal}.csv", traversal=HAC_TRAVERSALS
        ),
    output:
        table="results/hac/fig9_frames.csv",
    log:
        "results/logs/hac_fig9_frames.log",
    benchmark:
        "results/benchmarks/hac_fig9_frames.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule hac_points:
    input:
        sweeps=collect(
            "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
        ),
        machine="data/machines/hac_testbed.yaml",
        drive=HAC_DRIVE_FILES,
        fit="results/hac/fit.csv",
    output:
        fig10="results/hac/fig10.csv",
        fig11="results/hac/fig11.csv",
    log:
        "results/logs/hac_points.log",
    benchmark:
        "results/benchmarks/hac_points.tsv"
    conda:
        "../../environment.yml"
    params:
        seed=HAC["seed"],
        database=HAC["database"],
        points_mb=HAC["points_mb"],
        code=source_digest("io/files", "studies/hac/tables"),
    script:
        "../scripts/hac_points.py"


rule hac_peaks:
    input:
        total="results/hac/fig9.csv",
        frames="results/hac/fig9_frames.csv",
        published="data/published/hac_miss_penalty.csv",
    output:
        table="results/hac/peaks.csv",
    log:
        "results/logs/hac_peaks.log",
    benchmark:
        "results/benchmarks/hac_peaks.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files", "studies/hac/tables"),
    script:
        "../scripts/hac_peaks.py"
