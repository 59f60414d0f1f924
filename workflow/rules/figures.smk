# One job per study draws its figures (FIGURES in the study's rule file): PDF for print, SVG for the report, PNG for pages.

for study, entries in FIGURES.items():
    OUTPUTS += [
        f"{entry['output']}.{form}"
        for entry in entries
        for form in ("pdf", "svg", "png")
        if entry["archived"]
    ]

    rule:
        name:
            f"{study}_figures"
        input:
            files=files_of(entries),
        output:
            pdf=drawn(study, "pdf"),
            svg=drawn(study, "svg"),
            png=drawn(study, "png"),
            captions=[entry["caption"] for entry in entries],
        log:
            f"results/logs/{study}_figures.log",
        benchmark:
            f"results/benchmarks/{study}_figures.tsv"
        conda:
            "../../environment.yml"
        params:
            figures=entries,
        script:
            "../scripts/figures.py"
