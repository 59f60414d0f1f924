# Find the rows that each claim reads, which the site needs in addition to the archived results; `make site` runs this.


rule study_readings:
    input:
        tables=claim_tables,
    output:
        readings="results/{study}/runs/readings.json",
    log:
        "results/logs/{study}_readings.log",
    benchmark:
        "results/benchmarks/{study}_readings.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        code=judging("misspenalty_studies.common.site.readings"),
    script:
        "../scripts/readings.py"
