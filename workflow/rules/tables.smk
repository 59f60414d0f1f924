# One job per study makes its light tables (TABLES in the study's rule file).

for study, entries in TABLES.items():
    OUTPUTS += [path for entry in entries for path in entry["outputs"].values()]

    rule:
        name:
            f"{study}_tables"
        input:
            files=files_of(entries),
        output:
            files=[path for entry in entries for path in entry["outputs"].values()],
        log:
            f"results/logs/{study}_tables.log",
        benchmark:
            f"results/benchmarks/{study}_tables.tsv"
        conda:
            "../../environment.yml"
        params:
            tables=entries,
        script:
            "../scripts/tables.py"
