# For each study and part, one job makes the light tables, one after another.

for plan in PLANS.values():
    for part, job_name, entries in plan.parts("tables"):
        if job_name in SPARED:
            continue

        rule:
            name:
                job_name
            input:
                files=files_of(entries),
            output:
                files=[path for e in entries for path in e["outputs"].values()],
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
