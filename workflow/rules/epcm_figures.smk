# Figures of the EPCM study: every one as PDF for print, SVG for the report and PNG for pages.


rule epcm_figure_fig7:
    input:
        table="results/epcm/fig7.csv",
        baselines="data/published/epcm_baselines.csv",
        reductions="data/published/epcm_reductions.csv",
    output:
        pdf="results/epcm/fig7.pdf",
        svg=report(
            "results/epcm/fig7.svg",
            caption="../report/epcm_fig7.rst",
            category="EPCM (USENIX 2001)",
            labels={"item": "Figure 7", "shows": "elapsed time, read latency"},
        ),
        png="results/epcm/fig7.png",
    log:
        "results/logs/epcm_figure_fig7.log",
    benchmark:
        "results/benchmarks/epcm_figure_fig7.tsv"
    conda:
        "../../environment.yml"
    params:
        draw="fig7",
        code=source_digest("plotting"),
    script:
        "../scripts/epcm_figure.py"


use rule epcm_figure_fig7 as epcm_figure_fig8 with:
    input:
        table="results/epcm/fig8.csv",
    output:
        pdf="results/epcm/fig8.pdf",
        svg=report(
            "results/epcm/fig8.svg",
            caption="../report/epcm_fig8.rst",
            category="EPCM (USENIX 2001)",
            labels={"item": "Figure 8", "shows": "read calls by time"},
        ),
        png="results/epcm/fig8.png",
    log:
        "results/logs/epcm_figure_fig8.log",
    benchmark:
        "results/benchmarks/epcm_figure_fig8.tsv"
    params:
        draw="fig8",
        code=source_digest("plotting"),


use rule epcm_figure_fig7 as epcm_figure_components with:
    input:
        table="results/epcm/components.csv",
    output:
        pdf="results/epcm/components.pdf",
        svg=report(
            "results/epcm/components.svg",
            caption="../report/epcm_components.rst",
            category="EPCM (USENIX 2001)",
            labels={"item": "Components", "shows": "where the time goes"},
        ),
        png="results/epcm/components.png",
    log:
        "results/logs/epcm_figure_components.log",
    benchmark:
        "results/benchmarks/epcm_figure_components.tsv"
    params:
        draw="components",
        code=source_digest("plotting"),


use rule epcm_figure_fig7 as epcm_figure_sensitivity with:
    input:
        table="results/epcm/sensitivity.csv",
    output:
        pdf="results/epcm/sensitivity.pdf",
        svg=report(
            "results/epcm/sensitivity.svg",
            caption="../report/epcm_sensitivity.rst",
            category="EPCM (USENIX 2001)",
            labels={"item": "Readings", "shows": "I/O wait removed"},
        ),
        png="results/epcm/sensitivity.png",
    log:
        "results/logs/epcm_figure_sensitivity.log",
    benchmark:
        "results/benchmarks/epcm_figure_sensitivity.tsv"
    params:
        draw="sensitivity",
        code=source_digest("plotting"),


use rule epcm_figure_fig7 as epcm_figure_today with:
    input:
        table="results/epcm/today.csv",
    output:
        pdf="results/epcm/today.pdf",
        svg=report(
            "results/epcm/today.svg",
            caption="../report/epcm_today.rst",
            category="EPCM (USENIX 2001)",
            labels={"item": "Today", "shows": "the same builds on NVMe"},
        ),
        png="results/epcm/today.png",
    log:
        "results/logs/epcm_figure_today.log",
    benchmark:
        "results/benchmarks/epcm_figure_today.tsv"
    params:
        draw="today",
        code=source_digest("plotting"),
