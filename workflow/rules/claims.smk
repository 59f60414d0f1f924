# Judge the ledgers' entries (statements of papers, agreement with programs, our own forecasts) by the tables. Then
# count the claims that each missing fact costs, and write the manifests of `make reproduce` and of what
# `make supplement` adds.
from misspenalty_studies.common.claims.reasons import tables_of


rule claims:
    input:
        ledger=LEDGERS,
        calibration="data/calibration.yaml",
        logged=logged_tables(),
        tables=collect("results/{table}", table=table_files().values()),
    output:
        table="results/claims.csv",
        agreement="results/agreement.csv",
        forecasts="results/forecasts.csv",
    log:
        "results/logs/claims.log",
    benchmark:
        "results/benchmarks/claims.tsv"
    conda:
        "../../environment.yml"
    params:
        variant="",
        code=judging("misspenalty_studies.common.judge"),
    script:
        "../scripts/claims.py"


use rule claims as claims_calibrated with:
    input:
        ledger=LEDGERS,
        calibration="data/calibration.yaml",
        logged=logged_tables(VARIANT),
        tables=collect(
            "results/{table}",
            table=table_files("_calibrated", studies=["mq", "hac"]).values(),
        ),
    output:
        table="results/claims_calibrated.csv",
    log:
        "results/logs/claims_calibrated.log",
    benchmark:
        "results/benchmarks/claims_calibrated.tsv"
    params:
        variant="_calibrated",
        code=judging("misspenalty_studies.common.judge"),


# These are the tables about the claims, for which simulations.smk makes rules.
ABOUT_CLAIMS = [
    Simulation(
        "missing_facts",
        job(CODE, "misspenalty_studies.common.claims.missing.missing_facts_table"),
        inputs={
            "claims": "results/claims.csv",
            "conditions": collect("results/{study}/conditions.csv", study=VARIED),
            "facts": collect("studies/{study}/missing_facts.yaml", study=VARIED),
        },
        outputs={"table": "results/missing_facts.csv"},
    ),
    Simulation(
        "reasons",
        job(CODE, "misspenalty_studies.common.claims.reasons.reasons_table"),
        inputs={
            "claims": "results/claims.csv",
            "conditions": collect("results/{study}/conditions.csv", study=VARIED),
            "reasons": REASONS,
            "tables": collect("results/{table}", table=tables_of(REASONS)),
        },
        outputs={"table": "results/reasons.csv"},
    ),
    # Without an input, Snakemake would consider the archived table up to date.
    Simulation(
        "recomputed",
        job(CODE, "misspenalty_studies.common.reporting.recomputed.recomputed"),
        inputs={"files": "results/claims.csv"},
        outputs={"table": "results/recomputed.csv"},
        params={
            "studies": list(TITLES),
            "archived": {
                s: plan.archived for s, plan in PLANS.items() if plan.archived
            },
        },
    ),
]


rule manifest:
    input:
        sources=sources("paper"),
        outputs=final_outputs(),
    output:
        manifest="results/manifest.json",
    log:
        "results/logs/manifest.log",
    conda:
        "../../environment.yml"
    params:
        benchmarks="results/benchmarks",
        seeds={s: plan.seed for s, plan in PLANS.items() if plan.seed is not None},
        config=config,
        code=CODE.digest(),
    script:
        "../scripts/manifest.py"


use rule manifest as supplement_manifest with:
    input:
        sources=sources("supplement"),
        outputs=further_outputs(),
    output:
        manifest="results/manifest_supplement.json",
    log:
        "results/logs/supplement_manifest.log",
