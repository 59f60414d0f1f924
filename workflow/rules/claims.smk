# The ledger, judged on the tables; then the manifest of the whole run.


rule claims:
    input:
        ledger="data/published/claims.yaml",
        calibration="data/calibration.yaml",
        reasons="data/suspected_reasons.yaml",
        logged=LOGGED,
        tables=list(JUDGED.values()),
    output:
        table="results/claims.csv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    conda:
        "../../environment.yml"
    params:
        basis="predicted",
        tables=list(JUDGED),
        variant=False,
        code=CODE.digest("misspenalty.claims"),
    script:
        "../scripts/claims.py"


use rule claims as claims_64mb with:
    input:
        ledger="data/published/claims.yaml",
        calibration="data/calibration.yaml",
        reasons="data/suspected_reasons.yaml",
        logged=["results/mq/logged_64mb.csv"],
        tables=["results/mq/table4_64mb.csv", "results/mq/fig7_64mb.csv"],
    output:
        table="results/claims_64mb.csv",
    log:
        "results/logs/claims_64mb.log",
    benchmark:
        "results/benchmarks/claims_64mb.tsv"
    params:
        basis="fitted",
        tables=["mq_table4", "mq_fig7"],
        variant=True,
        code=CODE.digest("misspenalty.claims"),


rule manifest:
    input:
        sources=sources(),
        outputs=final_outputs(),
    output:
        manifest="results/manifest.json",
    log:
        "results/logs/manifest.log",
    conda:
        "../../environment.yml"
    params:
        benchmarks="results/benchmarks",
        seeds=SEEDS,
        config=config,
        code=CODE.digest(),
    script:
        "../scripts/manifest.py"
