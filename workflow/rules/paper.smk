# Draw the picture at the top of the README, compile the paper and its supplement, and write the site's index.


rule overview:
    input:
        table4=["results/mq/table4.csv", "results/mq/table4_calibrated.csv"],
        fig7=["results/mq/fig7.csv", "results/mq/fig7_calibrated.csv"],
        claims=["results/claims.csv", "results/claims_calibrated.csv"],
        printed4="studies/mq/published/table4.csv",
        printed7="studies/mq/published/fig7.csv",
        calibration="data/calibration.yaml",
    output:
        png=report(
            "results/overview.png",
            caption="../report/overview.rst",
            category="Overview",
            labels={"item": "Overview", "shows": "published and reproduced"},
        ),
    log:
        "results/logs/overview.log",
    benchmark:
        "results/benchmarks/overview.tsv"
    conda:
        "../../environment.yml"
    params:
        captures=[MQ["server"], CALIBRATED],
        code=CODE.digest(
            "misspenalty_studies.common.overview",
            "misspenalty_studies.common.claims.ledger",
        ),
    script:
        "../scripts/overview.py"


rule paper:
    input:
        main="paper/paper.typ",
        files=paper_files("paper"),
    output:
        pdf=report(
            "results/paper.pdf",
            caption="../report/paper.rst",
            category="Overview",
            labels={
                "item": "Paper",
                "shows": "what is reproduced, and why the rest is not",
            },
        ),
    log:
        "results/logs/paper.log",
    benchmark:
        "results/benchmarks/paper.tsv"
    conda:
        "../../environment.yml"
    params:
        code=CODE.digest("misspenalty.io.typesetting"),
        config=config,
    script:
        "../scripts/paper.py"


use rule paper as supplement_pdf with:
    input:
        main="paper/supplement.typ",
        files=paper_files("supplement"),
    output:
        pdf=report(
            "results/supplement.pdf",
            caption="../report/supplement.rst",
            category="Overview",
            labels={
                "item": "Supplement",
                "shows": "models, readings, further figures, every claim",
            },
        ),
    log:
        "results/logs/supplement_pdf.log",
    benchmark:
        "results/benchmarks/supplement_pdf.tsv"


rule index:
    input:
        config="config/config.yaml",
    output:
        index="results/index.json",
    log:
        "results/logs/index.log",
    benchmark:
        "results/benchmarks/index.tsv"
    conda:
        "../../environment.yml"
    params:
        index=index,
        code=CODE.digest("misspenalty_studies.common.reporting.jobs"),
    script:
        "../scripts/index.py"
