# For each study and part, one job draws the figures: PDF for print, SVG for the report, PNG for pages.

for plan in PLANS.values():
    for part, job_name, entries in plan.parts("figures"):

        rule:
            name:
                job_name
            input:
                files=files_of(entries),
            output:
                pdf=drawn(plan.study, entries, "pdf"),
                svg=drawn(plan.study, entries, "svg"),
                png=drawn(plan.study, entries, "png"),
                captions=[entry["caption"] for entry in entries],
            log:
                f"results/logs/{job_name}.log",
            benchmark:
                f"results/benchmarks/{job_name}.tsv"
            priority: SOON if part == "first" else 0
            conda:
                "../../environment.yml"
            params:
                figures=entries,
            script:
                "../scripts/figures.py"
