# One job per study and part (PARTS) makes its light tables (TABLES in the study's rule file).

for study, part, job_name, entries in in_parts(TABLES, "tables"):
    made = [path for entry in entries for path in entry["outputs"].values()]
    (FURTHER if part == "further" else OUTPUTS).extend(made)

    rule:
        name:
            job_name
        input:
            files=files_of(entries),
        output:
            files=made,
        log:
            f"results/logs/{job_name}.log",
        benchmark:
            f"results/benchmarks/{job_name}.tsv"
        priority: SOON if part == "first" else 0
        conda:
            "../../environment.yml"
        params:
            tables=entries,
        script:
            "../scripts/tables.py"
