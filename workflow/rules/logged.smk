# Values logged for claims that no table decides.

LOGGED += collect(
    "results/{study}/logged.csv", study=["mq", "sarc", "hac", "epcm", "vlog"]
)
OUTPUTS += [*LOGGED, "results/mq/logged_calibrated.csv"]


rule mq_logged:
    input:
        table4="results/mq/table4.csv",
        fig7="results/mq/fig7.csv",
        fit="results/mq/runs/fit.csv",
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
        code=CODE.digest("misspenalty_studies.mq.claims.logged"),
    script:
        "../scripts/mq_logged.py"


use rule mq_logged as mq_logged_calibrated with:
    input:
        table4="results/mq/table4_calibrated.csv",
        fig7="results/mq/fig7_calibrated.csv",
        fit="results/mq/runs/fit_calibrated.csv",
        first_level="results/mq/first_level_fit.csv",
        facts=capture_facts(MQ["calibrated"]["capture"]),
    output:
        table="results/mq/logged_calibrated.csv",
    log:
        "results/logs/mq_logged_calibrated.log",
    benchmark:
        "results/benchmarks/mq_logged_calibrated.tsv"
    params:
        raw=config["captures"][MQ["calibrated"]["capture"]],
        code=CODE.digest("misspenalty_studies.mq.claims.logged"),


rule sarc_logged:
    input:
        fit="results/sarc/fit.csv",
        table2="results/sarc/table2.csv",
        calibration="data/calibration.yaml",
        ledger="data/published/claims.yaml",
    output:
        table="results/sarc/logged.csv",
    log:
        "results/logs/sarc_logged.log",
    benchmark:
        "results/benchmarks/sarc_logged.tsv"
    conda:
        "../../environment.yml"
    params:
        code=CODE.digest("misspenalty_studies.sarc.claims.logged"),
    script:
        "../scripts/sarc_logged.py"


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
        code=CODE.digest("misspenalty_studies.hac.claims.logged"),
    script:
        "../scripts/hac_logged.py"


rule epcm_logged:
    input:
        leads="results/epcm/lead_times.csv",
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
        code=CODE.digest("misspenalty_studies.epcm.claims.logged"),
    script:
        "../scripts/epcm_logged.py"


rule vlog_logged:
    input:
        fig9="results/vlog/fig9.csv",
    output:
        table="results/vlog/logged.csv",
    log:
        "results/logs/vlog_logged.log",
    benchmark:
        "results/benchmarks/vlog_logged.tsv"
    conda:
        "../../environment.yml"
    params:
        platforms=VLOG["platforms"],
        workload=VLOG["workload"],
        code=CODE.digest("misspenalty_studies.vlog.claims.logged"),
    script:
        "../scripts/vlog_logged.py"
