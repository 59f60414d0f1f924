# The MQ study: replays first, then the paper's tables and figures in their order.

MQ_TABLES = [
    "table2",
    "table3",
    "table3_64mb",
    "table4",
    "table4_64mb",
    "fig2",
    "fig3",
    "fig4",
    "fig7",
    "fig7_64mb",
    "fig7_components",
    "fig7_components_64mb",
    "fig7_sensitivity",
    "bounds",
    "lru_curve",
    "sensitivity",
    "fit",
    "first_level",
    "logged",
    "logged_64mb",
]
MQ_FIGURES = [
    "table2",
    "table3",
    "table4",
    "fig2",
    "fig3",
    "fig4",
    "fig7",
    "fig7_components",
    "fig7_sensitivity",
    "sensitivity",
    "first_level",
]

OUTPUTS += [
    *collect("results/traces/{capture}.trace", capture=CAPTURES),
    *collect("results/mq/{item}.csv", item=MQ_TABLES),
    *collect("results/mq/{item}.{form}", item=MQ_FIGURES, form=["pdf", "svg", "png"]),
]
SOURCES += [
    *config["captures"].values(),
    capture_facts(MQ["server"]),
    capture_facts(MQ["variant"]),
    "data/published/mq_table3.csv",
    "data/published/mq_table4.csv",
    "data/published/mq_fig7.csv",
    "data/machines/mq_testbed.yaml",
]
LOGGED.append("results/mq/logged.csv")
SEEDS["mq.fig7"] = MQ["seed"]


rule mq_replay:
    input:
        trace="results/traces/{capture}.trace",
    output:
        table="results/mq/replay/{capture}/{policy}.csv",
    log:
        "results/logs/mq_replay/{capture}/{policy}.log",
    benchmark:
        "results/benchmarks/mq_replay/{capture}/{policy}.tsv"
    conda:
        "../../environment.yml"
    params:
        entry=mq_policy,
        cache_mb=MQ["table2_mb"],
        writes=MQ["writes"],
        warm_up=MQ["warm_up"],
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_replay.py"


rule mq_distance_split:
    input:
        trace="results/traces/{capture}.trace",
        replay="results/mq/replay/{capture}/{policy}.csv",
    output:
        table="results/mq/distance_split/{capture}/{policy}.csv",
    log:
        "results/logs/mq_distance_split/{capture}/{policy}.log",
    benchmark:
        "results/benchmarks/mq_distance_split/{capture}/{policy}.tsv"
    conda:
        "../../environment.yml"
    params:
        entry=mq_policy,
        cache_mb=MQ["table3_mb"],
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_distance_split.py"


rule mq_lru_curve:
    input:
        trace=collect("results/traces/{capture}.trace", capture=MQ["server"]),
    output:
        table="results/mq/lru_curve.csv",
    log:
        "results/logs/mq_lru_curve.log",
    benchmark:
        "results/benchmarks/mq_lru_curve.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        cache_mb=MQ["lru_curve_mb"],
        warm_up=MQ["warm_up"],
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_lru_curve.py"


rule mq_sensitivity:
    input:
        trace=collect("results/traces/{capture}.trace", capture=MQ["server"]),
    output:
        table="results/mq/sensitivity.csv",
    log:
        "results/logs/mq_sensitivity.log",
    benchmark:
        "results/benchmarks/mq_sensitivity.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        cache_mb=MQ["cache_mb"],
        variations=MQ["sensitivity"],
        warm_up=MQ["warm_up"],
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_sensitivity.py"


rule mq_table2:
    input:
        tables=collect(
            "results/mq/replay/{capture}/{policy}.csv",
            capture=CAPTURES,
            policy=MQ["policies"],
        ),
    output:
        table="results/mq/table2.csv",
    log:
        "results/logs/mq_table2.log",
    benchmark:
        "results/benchmarks/mq_table2.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule mq_table3:
    input:
        tables=collect(
            "results/mq/distance_split/{capture}/{policy}.csv",
            capture=MQ["server"],
            policy=MQ["policies"],
        ),
    output:
        table="results/mq/table3.csv",
    log:
        "results/logs/mq_table3.log",
    benchmark:
        "results/benchmarks/mq_table3.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


use rule mq_table3 as mq_table3_64mb with:
    input:
        tables=collect(
            "results/mq/distance_split/{capture}/{policy}.csv",
            capture=MQ["variant"],
            policy=MQ["policies"],
        ),
    output:
        table="results/mq/table3_64mb.csv",
    log:
        "results/logs/mq_table3_64mb.log",
    benchmark:
        "results/benchmarks/mq_table3_64mb.tsv"


rule mq_table4:
    input:
        tables=collect(
            "results/mq/replay/{capture}/{policy}.csv",
            capture=MQ["server"],
            policy=["mq", "lru"],
        ),
        rates="results/mq/fig7.csv",
    output:
        table="results/mq/table4.csv",
    log:
        "results/logs/mq_table4.log",
    benchmark:
        "results/benchmarks/mq_table4.tsv"
    conda:
        "../../environment.yml"
    params:
        cache_mb=MQ["cache_mb"],
        code=source_digest("io/files"),
    script:
        "../scripts/mq_table4.py"


use rule mq_table4 as mq_table4_64mb with:
    input:
        tables=collect(
            "results/mq/replay/{capture}/{policy}.csv",
            capture=MQ["variant"],
            policy=["mq", "lru"],
        ),
        rates="results/mq/fig7_64mb.csv",
    output:
        table="results/mq/table4_64mb.csv",
    log:
        "results/logs/mq_table4_64mb.log",
    benchmark:
        "results/benchmarks/mq_table4_64mb.tsv"


rule mq_distances_client:
    input:
        traces=collect("results/traces/{capture}.trace", capture=MQ["client"]),
    output:
        table="results/mq/fig2.csv",
    log:
        "results/logs/mq_distances_client.log",
    benchmark:
        "results/benchmarks/mq_distances_client.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_distances.py"


use rule mq_distances_client as mq_distances_server with:
    input:
        traces=collect("results/traces/{capture}.trace", capture=server_side()),
    output:
        table="results/mq/fig3.csv",
    log:
        "results/logs/mq_distances_server.log",
    benchmark:
        "results/benchmarks/mq_distances_server.tsv"


rule mq_frequencies:
    input:
        traces=collect("results/traces/{capture}.trace", capture=CAPTURES),
    output:
        table="results/mq/fig4.csv",
    log:
        "results/logs/mq_frequencies.log",
    benchmark:
        "results/benchmarks/mq_frequencies.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_frequencies.py"


rule mq_bounds:
    input:
        table4="results/mq/table4.csv",
        fig7="results/mq/fig7.csv",
        lru_curve="results/mq/lru_curve.csv",
    output:
        table="results/mq/bounds.csv",
    log:
        "results/logs/mq_bounds.log",
    benchmark:
        "results/benchmarks/mq_bounds.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_bounds.py"


rule mq_first_level:
    input:
        trace=collect("results/traces/{capture}.trace", capture=MQ["client"]),
    output:
        table="results/mq/first_level.csv",
    log:
        "results/logs/mq_first_level.log",
    benchmark:
        "results/benchmarks/mq_first_level.tsv"
    conda:
        "../../environment.yml"
    params:
        policies=MQ["first_level"]["policies"],
        first_mb=MQ["first_level"]["sizes_mb"],
        cache_mb=MQ["cache_mb"],
        code=source_digest("studies/mq/tables"),
    script:
        "../scripts/mq_first_level.py"
