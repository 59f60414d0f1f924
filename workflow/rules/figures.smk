# One job per study and part (PARTS) draws its figures (FIGURES in the study's rule file): PDF for print, SVG for the report,
# PNG for pages.

for study, part, job_name, entries in in_parts(FIGURES, "figures"):
    (FURTHER if part == "further" else OUTPUTS).extend(
        f"{entry['output']}.{form}"
        for entry in entries
        for form in ("pdf", "svg", "png")
        if entry["archived"]
    )

    rule:
        name:
            job_name
        input:
            files=files_of(entries),
        output:
            pdf=drawn(study, entries, "pdf"),
            svg=drawn(study, entries, "svg"),
            png=drawn(study, entries, "png"),
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
