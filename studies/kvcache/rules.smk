# The kvcache study: a production trace of prompts, run through one level of cache, through two, and through a cluster.
KVCACHE = config["kvcache"]
KVCACHE_MACHINE = "studies/kvcache/machine.yaml"

TABLES["kvcache"] = [
    stacked("kvcache", "trace_parts", runs="results/kvcache/runs/workload.csv"),
    table("kvcache.tables.table2", "table2", workload="trace_parts"),
    table("kvcache.tables.hits", "hits", hits="results/kvcache/runs/hits.csv"),
    table("kvcache.tables.table1", "table1", hits="hits"),
    table("kvcache.tables.fig9", "fig9", hits="hits"),
    table(
        "kvcache.tables.second_level",
        "second_level",
        levels="results/kvcache/runs/levels.csv",
    ),
    table("kvcache.tables.ttft", "ttft", times="results/kvcache/runs/times.csv"),
    stacked("kvcache", "cluster", runs="results/kvcache/runs/cluster.csv"),
    table("kvcache.tables.fig10", "fig10", cluster="cluster"),
    stacked(
        "kvcache",
        "sensitivity",
        runs="results/kvcache/runs/sensitivity.csv",
        part="further",
    ),
    table("kvcache.tables.costs", "costs", machine=KVCACHE_MACHINE),
]
FIGURES["kvcache"] = [
    figure(
        "kvcache.figures.capacity",
        "capacity",
        "Figure 9",
        "hits by capacity",
        table="hits",
        published="studies/kvcache/published/fig9.csv",
    ),
    figure(
        "kvcache.figures.second_level",
        "second_level",
        "Second level",
        "hits behind a first level",
        table="second_level",
    ),
    figure(
        "kvcache.figures.prefixes",
        "prefixes",
        "Prefixes",
        "block hits and contiguous prefixes",
        part="further",
        table="hits",
    ),
    figure(
        "kvcache.figures.ttft",
        "ttft",
        "Time to first token",
        "prefill and loading",
        part="further",
        table="ttft",
    ),
]
CONDITIONS["kvcache"] = [
    "table1",
    "fig9",
    "fig10",
    "hits",
    "second_level",
    "ttft",
]
SOURCES += [
    KVCACHE["trace"],
    KVCACHE_MACHINE,
    "studies/kvcache/machine.schema.yaml",
    "studies/kvcache/published/fig9.csv",
]
SEEDS["kvcache"] = KVCACHE["seed"]


rule kvcache_single:
    input:
        trace=KVCACHE["trace"],
    output:
        workload="results/kvcache/runs/workload.csv",
        hits="results/kvcache/runs/hits.csv",
    log:
        "results/logs/kvcache_single.log",
    benchmark:
        "results/benchmarks/kvcache_single.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        settings=KVCACHE,
        job=job("kvcache.runs.single"),
    script:
        "../../workflow/scripts/simulate.py"


rule kvcache_two_levels:
    input:
        trace=KVCACHE["trace"],
        machine=KVCACHE_MACHINE,
    output:
        levels="results/kvcache/runs/levels.csv",
        times="results/kvcache/runs/times.csv",
    log:
        "results/logs/kvcache_two_levels.log",
    benchmark:
        "results/benchmarks/kvcache_two_levels.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        settings=KVCACHE,
        job=job("kvcache.runs.two_levels"),
    script:
        "../../workflow/scripts/simulate.py"


rule kvcache_cluster:
    input:
        trace=KVCACHE["trace"],
        machine=KVCACHE_MACHINE,
    output:
        table="results/kvcache/runs/cluster.csv",
    log:
        "results/logs/kvcache_cluster.log",
    benchmark:
        "results/benchmarks/kvcache_cluster.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=KVCACHE,
        job=job("kvcache.cluster.clusters"),
    script:
        "../../workflow/scripts/simulate.py"


rule kvcache_sensitivity:
    input:
        trace=KVCACHE["trace"],
        machine=KVCACHE_MACHINE,
    output:
        table="results/kvcache/runs/sensitivity.csv",
    log:
        "results/logs/kvcache_sensitivity.log",
    benchmark:
        "results/benchmarks/kvcache_sensitivity.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        settings=KVCACHE,
        job=job("kvcache.variants.sensitivity"),
    script:
        "../../workflow/scripts/simulate.py"


rule kvcache_varied:
    input:
        trace=KVCACHE["trace"],
        machine=KVCACHE_MACHINE,
    output:
        table1="results/kvcache/runs/conditions/table1.csv",
        fig9="results/kvcache/runs/conditions/fig9.csv",
        fig10="results/kvcache/runs/conditions/fig10.csv",
    log:
        "results/logs/kvcache_varied.log",
    benchmark:
        "results/benchmarks/kvcache_varied.tsv"
    conda:
        "../../environment.yml"
    params:
        settings=KVCACHE,
        job=job("kvcache.variants.conditions"),
    script:
        "../../workflow/scripts/simulate.py"


rule kvcache_parts:
    input:
        hits="results/kvcache/hits.csv",
        second_level="results/kvcache/second_level.csv",
        ttft="results/kvcache/ttft.csv",
    output:
        hits="results/kvcache/runs/conditions/hits.csv",
        second_level="results/kvcache/runs/conditions/second_level.csv",
        ttft="results/kvcache/runs/conditions/ttft.csv",
    log:
        "results/logs/kvcache_parts.log",
    benchmark:
        "results/benchmarks/kvcache_parts.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("kvcache.variants.on_parts"),
    script:
        "../../workflow/scripts/simulate.py"
