# The virtual-log study: simulations a platform each, then the paper's tables from them.

VLOG_TABLES = [
    "table2",
    "fig9",
    "gap",
    "gap_readings",
    "host_range",
    "sensitivity",
    "hosts",
    "fig1",
    "fig2",
    "fig6",
    "fig7",
    "fig8",
    "fig10",
    "fig11",
    "text",
    "logged",
    "what_if",
]
VLOG_FIGURES = [
    "fig9",
    "gap",
    "host_range",
    "fig1",
    "fig2",
    "fig6",
    "fig7",
    "fig8",
    "fig10",
    "what_if",
]
VLOG_DRIVES = sorted({entry["drive"] for entry in VLOG["platforms"].values()})
VLOG_SOURCES = [
    "data/machines/vlog_hosts.yaml",
    *drive_files(*VLOG_DRIVES),
]
VLOG_LATER = VLOG["what_if"]["platforms"]
VLOG_LATER_SOURCES = drive_files(*{entry["drive"] for entry in VLOG_LATER.values()})

OUTPUTS += [
    *collect("results/vlog/{item}.csv", item=VLOG_TABLES),
    *collect(
        "results/vlog/{item}.{form}", item=VLOG_FIGURES, form=["pdf", "svg", "png"]
    ),
]
SOURCES += [
    *VLOG_SOURCES,
    *VLOG_LATER_SOURCES,
    "data/published/vlog_trends.csv",
]
LOGGED.append("results/vlog/logged.csv")
SEEDS["vlog"] = VLOG["workload"]["seed"]


rule vlog_updates:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_SOURCES[1:],
    output:
        table="results/vlog/runs/{platform}/updates.csv",
    log:
        "results/logs/vlog_updates/{platform}.log",
    benchmark:
        "results/benchmarks/vlog_updates/{platform}.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        code=source_digest("studies/vlog/runs", "systems/file_systems/hosts", "io/files"),
    script:
        "../scripts/vlog_updates.py"


rule vlog_gap:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_SOURCES[1:],
    output:
        table="results/vlog/runs/{platform}/gap.csv",
    log:
        "results/logs/vlog_gap/{platform}.log",
    benchmark:
        "results/benchmarks/vlog_gap/{platform}.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        seeds=VLOG["gap_seeds"],
        code=source_digest("studies/vlog/gap", "systems/file_systems/hosts", "io/files"),
    script:
        "../scripts/vlog_gap.py"


rule vlog_locate:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_SOURCES[1:],
    output:
        fig1="results/vlog/runs/{platform}/fig1.csv",
        fig2="results/vlog/runs/{platform}/fig2.csv",
    log:
        "results/logs/vlog_locate/{platform}.log",
    benchmark:
        "results/benchmarks/vlog_locate/{platform}.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        utilisations=VLOG["fig1_utilisations"],
        reserves=VLOG["fig2_reserves"],
        trials=VLOG["locate_trials"],
        code=source_digest(
            "studies/vlog/runs", "studies/vlog/locate", "systems/file_systems/hosts", "io/files"
        ),
    script:
        "../scripts/vlog_locate.py"


rule vlog_files:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_SOURCES[1:],
    output:
        fig6="results/vlog/runs/{platform}/fig6.csv",
        fig7="results/vlog/runs/{platform}/fig7.csv",
        fig8="results/vlog/runs/{platform}/fig8.csv",
    log:
        "results/logs/vlog_files/{platform}.log",
    benchmark:
        "results/benchmarks/vlog_files/{platform}.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        small_files=VLOG["small_files"],
        large_file_mb=VLOG["large_file_mb"],
        utilisations=VLOG["fig8_utilisations"],
        code=source_digest("studies/vlog/file_systems", "systems/file_systems/hosts", "io/files"),
    script:
        "../scripts/vlog_files.py"


rule vlog_bursts:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_SOURCES[1:],
    output:
        table="results/vlog/runs/{platform}/bursts_{file_system}.csv",
    log:
        "results/logs/vlog_bursts/{platform}_{file_system}.log",
    benchmark:
        "results/benchmarks/vlog_bursts/{platform}_{file_system}.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        burst_kb=VLOG["burst_kb"],
        idle_ms=VLOG["idle_ms"],
        updates=VLOG["burst_updates"],
        code=source_digest("studies/vlog/file_systems", "systems/file_systems/hosts", "io/files"),
    script:
        "../scripts/vlog_bursts.py"


rule vlog_sensitivity:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_SOURCES[1:],
    output:
        host_range="results/vlog/runs/host_range.csv",
        sensitivity="results/vlog/runs/sensitivity.csv",
        hosts="results/vlog/runs/hosts.csv",
    log:
        "results/logs/vlog_sensitivity.log",
    benchmark:
        "results/benchmarks/vlog_sensitivity.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        factors=VLOG["host_factors"],
        code=source_digest("studies/vlog/gap", "systems/file_systems/hosts", "io/files"),
    script:
        "../scripts/vlog_sensitivity.py"


rule vlog_what_if:
    input:
        hosts="data/machines/vlog_hosts.yaml",
        drives=VLOG_LATER_SOURCES,
    output:
        table="results/vlog/runs/what_if/{later}.csv",
    log:
        "results/logs/vlog_what_if/{later}.log",
    benchmark:
        "results/benchmarks/vlog_what_if/{later}.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG_LATER,
        workload=VLOG["what_if"]["workload"],
        code=source_digest(
            "studies/vlog/runs", "studies/vlog/what_if", "systems/file_systems/hosts", "io/files"
        ),
    script:
        "../scripts/vlog_what_if.py"


rule vlog_tables:
    input:
        what_if=collect("results/vlog/runs/what_if/{later}.csv", later=VLOG_LATER),
        fig9=collect(
            "results/vlog/runs/{platform}/updates.csv", platform=VLOG["platforms"]
        ),
        gap=collect("results/vlog/runs/{platform}/gap.csv", platform=VLOG["platforms"]),
        fig1=collect("results/vlog/runs/{platform}/fig1.csv", platform=VLOG["files_on"]),
        fig2=collect("results/vlog/runs/{platform}/fig2.csv", platform=VLOG["files_on"]),
        fig6=collect("results/vlog/runs/{platform}/fig6.csv", platform=VLOG["files_on"]),
        fig7=collect("results/vlog/runs/{platform}/fig7.csv", platform=VLOG["files_on"]),
        fig8=collect("results/vlog/runs/{platform}/fig8.csv", platform=VLOG["files_on"]),
        fig10=collect(
            "results/vlog/runs/{platform}/bursts_lfs.csv", platform=VLOG["bursts_on"]
        ),
        fig11=collect(
            "results/vlog/runs/{platform}/bursts_ufs.csv", platform=VLOG["bursts_on"]
        ),
        host_range="results/vlog/runs/host_range.csv",
        sensitivity="results/vlog/runs/sensitivity.csv",
        hosts="results/vlog/runs/hosts.csv",
    output:
        what_if="results/vlog/what_if.csv",
        fig9="results/vlog/fig9.csv",
        gap="results/vlog/gap.csv",
        fig1="results/vlog/fig1.csv",
        fig2="results/vlog/fig2.csv",
        fig6="results/vlog/fig6.csv",
        fig7="results/vlog/fig7.csv",
        fig8="results/vlog/fig8.csv",
        fig10="results/vlog/fig10.csv",
        fig11="results/vlog/fig11.csv",
        host_range="results/vlog/host_range.csv",
        sensitivity="results/vlog/sensitivity.csv",
        hosts="results/vlog/hosts.csv",
    log:
        "results/logs/vlog_tables.log",
    benchmark:
        "results/benchmarks/vlog_tables.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/vlog_tables.py"


rule vlog_table2:
    input:
        fig9="results/vlog/fig9.csv",
        gap="results/vlog/gap.csv",
    output:
        table="results/vlog/table2.csv",
        logged="results/vlog/logged.csv",
        readings="results/vlog/gap_readings.csv",
    log:
        "results/logs/vlog_table2.log",
    benchmark:
        "results/benchmarks/vlog_table2.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        code=source_digest(
            "studies/vlog/runs", "studies/vlog/claims", "studies/vlog/gap", "io/files"
        ),
    script:
        "../scripts/vlog_table2.py"


rule vlog_text:
    input:
        fig1="results/vlog/fig1.csv",
        fig2="results/vlog/fig2.csv",
        fig6="results/vlog/fig6.csv",
        fig7="results/vlog/fig7.csv",
        fig8="results/vlog/fig8.csv",
        fig10="results/vlog/fig10.csv",
        fig11="results/vlog/fig11.csv",
    output:
        table="results/vlog/text.csv",
    log:
        "results/logs/vlog_text.log",
    benchmark:
        "results/benchmarks/vlog_text.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/vlog/checks", "io/files"),
    script:
        "../scripts/vlog_checks.py"
