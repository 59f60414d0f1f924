# Figure 7: the closed-loop model of the paper's testbed, its one fit and its sensitivity.


rule mq_fig7:
    input:
        trace=collect("results/traces/{capture}.trace", capture=MQ["server"]),
        facts=capture_facts(MQ["server"]),
        machine="data/machines/mq_testbed.yaml",
        calibration="data/calibration.yaml",
    output:
        rates="results/mq/fig7.csv",
        components="results/mq/fig7_components.csv",
        fit="results/mq/fit/server.csv",
    log:
        "results/logs/mq_fig7.log",
    benchmark:
        "results/benchmarks/mq_fig7.tsv"
    priority: 1  # long, and the longest job waits for it
    conda:
        "../../environment.yml"
    threads: 2
    params:
        capture=MQ["server"],
        raw=config["captures"][MQ["server"]],
        cache_mb=MQ["cache_mb"],
        seed=MQ["seed"],
        code=source_digest("claims", "studies/mq/rates"),
    script:
        "../scripts/mq_fig7.py"


use rule mq_fig7 as mq_fig7_64mb with:
    input:
        trace=collect("results/traces/{capture}.trace", capture=MQ["variant"]),
        facts=capture_facts(MQ["variant"]),
        machine="data/machines/mq_testbed.yaml",
        calibration="data/calibration.yaml",
    output:
        rates="results/mq/fig7_64mb.csv",
        components="results/mq/fig7_components_64mb.csv",
        fit="results/mq/fit/variant.csv",
    log:
        "results/logs/mq_fig7_64mb.log",
    benchmark:
        "results/benchmarks/mq_fig7_64mb.tsv"
    params:
        capture=MQ["variant"],
        raw=config["captures"][MQ["variant"]],
        cache_mb=MQ["cache_mb"],
        seed=MQ["seed"],
        code=source_digest("claims", "studies/mq/rates"),


rule mq_fit:
    input:
        tables=["results/mq/fit/server.csv", "results/mq/fit/variant.csv"],
    output:
        table="results/mq/fit.csv",
    log:
        "results/logs/mq_fit.log",
    benchmark:
        "results/benchmarks/mq_fit.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("io/files"),
    script:
        "../scripts/stack_tables.py"


rule mq_fig7_sensitivity:
    input:
        trace=collect("results/traces/{capture}.trace", capture=MQ["server"]),
        facts=capture_facts(MQ["server"]),
        machine="data/machines/mq_testbed.yaml",
        fit="results/mq/fit/server.csv",
    output:
        table="results/mq/fig7_sensitivity.csv",
    log:
        "results/logs/mq_fig7_sensitivity.log",
    benchmark:
        "results/benchmarks/mq_fig7_sensitivity.tsv"
    priority: 1  # the longest job: it must not stand alone at the end
    conda:
        "../../environment.yml"
    threads: 2
    params:
        raw=config["captures"][MQ["server"]],
        cache_mb=MQ["cache_mb"],
        seed=MQ["seed"],
        code=source_digest("claims", "studies/mq/rates"),
    script:
        "../scripts/mq_fig7_sensitivity.py"


rule mq_logged:
    input:
        table4="results/mq/table4.csv",
        fig7="results/mq/fig7.csv",
        fit="results/mq/fit/server.csv",
        facts=capture_facts(MQ["server"]),
    output:
        table="results/mq/logged.csv",
    log:
        "results/logs/mq_logged.log",
    benchmark:
        "results/benchmarks/mq_logged.tsv"
    conda:
        "../../environment.yml"
    params:
        raw=config["captures"][MQ["server"]],
        code=source_digest("studies/mq/claims"),
    script:
        "../scripts/mq_logged.py"


use rule mq_logged as mq_logged_64mb with:
    input:
        table4="results/mq/table4_64mb.csv",
        fig7="results/mq/fig7_64mb.csv",
        fit="results/mq/fit/variant.csv",
        facts=capture_facts(MQ["variant"]),
    output:
        table="results/mq/logged_64mb.csv",
    log:
        "results/logs/mq_logged_64mb.log",
    benchmark:
        "results/benchmarks/mq_logged_64mb.tsv"
    params:
        raw=config["captures"][MQ["variant"]],
        code=source_digest("studies/mq/claims"),
