# What the results site needs beside the archived results: the rows that each claim reads.
from misspenalty.studies.claims import STUDIES


def claim_tables(wildcards):
    """Tables that a study's claims read."""
    items = STUDIES[wildcards.study].TABLES
    return [f"results/{wildcards.study}/{item}.csv" for item in items]


rule study_readings:
    input:
        tables=claim_tables,
    output:
        "results/{study}/runs/readings.json",
    log:
        "results/logs/{study}_readings.log",
    benchmark:
        "results/benchmarks/{study}_readings.tsv"
    conda:
        "../../environment.yml"
    threads: 2
    params:
        code=CODE.digest("misspenalty.site.readings"),
    script:
        "../scripts/readings.py"


# Not made by a plain call: `make site` asks for it.
rule readings:
    input:
        "results/index.json",
        collect("results/{study}/runs/readings.json", study=TITLES),
