# The report as a paper: compiled from the tables and figures, no number typed.


rule paper:
    input:
        main="paper/main.typ",
        files=paper_files,
    output:
        pdf=report(
            "results/paper.pdf",
            caption="../report/paper.rst",
            category="Overview",
            labels={"item": "Paper", "shows": "methods, results, verdicts"},
        ),
    log:
        "results/logs/paper.log",
    benchmark:
        "results/benchmarks/paper.tsv"
    conda:
        "../../environment.yml"
    params:
        code=source_digest("reporting/paper"),
        config=config,
    script:
        "../scripts/paper.py"
