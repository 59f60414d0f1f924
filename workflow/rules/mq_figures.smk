# Figures of the MQ study: every one as PDF for print, SVG for the report and PNG for pages.


rule mq_figure_table2:
    input:
        table="results/mq/table2.csv",
    output:
        pdf="results/mq/table2.pdf",
        svg=report(
            "results/mq/table2.svg",
            caption="../report/mq_table2.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Table 2", "shows": "hit ratios"},
        ),
        png="results/mq/table2.png",
    log:
        "results/logs/mq_figure_table2.log",
    benchmark:
        "results/benchmarks/mq_figure_table2.tsv"
    conda:
        "../../environment.yml"
    params:
        draw="table2",
        code=source_digest("figures/style", "figures/mq"),
    script:
        "../scripts/mq_figure.py"


use rule mq_figure_table2 as mq_figure_table3 with:
    input:
        table="results/mq/table3.csv",
    output:
        pdf="results/mq/table3.pdf",
        svg=report(
            "results/mq/table3.svg",
            caption="../report/mq_table3.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Table 3", "shows": "hits by distance"},
        ),
        png="results/mq/table3.png",
    log:
        "results/logs/mq_figure_table3.log",
    benchmark:
        "results/benchmarks/mq_figure_table3.tsv"
    params:
        draw="table3",
        code=source_digest("figures/style", "figures/mq"),


use rule mq_figure_table2 as mq_figure_fig2 with:
    input:
        table="results/mq/fig2.csv",
    output:
        pdf="results/mq/fig2.pdf",
        svg=report(
            "results/mq/fig2.svg",
            caption="../report/mq_fig2.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Figure 2", "shows": "distances, client"},
        ),
        png="results/mq/fig2.png",
    log:
        "results/logs/mq_figure_fig2.log",
    benchmark:
        "results/benchmarks/mq_figure_fig2.tsv"
    params:
        draw="distances",
        code=source_digest("figures/style", "figures/mq"),


use rule mq_figure_table2 as mq_figure_fig3 with:
    input:
        table="results/mq/fig3.csv",
    output:
        pdf="results/mq/fig3.pdf",
        svg=report(
            "results/mq/fig3.svg",
            caption="../report/mq_fig3.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Figure 3", "shows": "distances, server"},
        ),
        png="results/mq/fig3.png",
    log:
        "results/logs/mq_figure_fig3.log",
    benchmark:
        "results/benchmarks/mq_figure_fig3.tsv"
    params:
        draw="distances",
        code=source_digest("figures/style", "figures/mq"),


use rule mq_figure_table2 as mq_figure_fig4 with:
    input:
        table="results/mq/fig4.csv",
    output:
        pdf="results/mq/fig4.pdf",
        svg=report(
            "results/mq/fig4.svg",
            caption="../report/mq_fig4.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Figure 4", "shows": "frequencies"},
        ),
        png="results/mq/fig4.png",
    log:
        "results/logs/mq_figure_fig4.log",
    benchmark:
        "results/benchmarks/mq_figure_fig4.tsv"
    params:
        draw="fig4",
        code=source_digest("figures/style", "figures/mq"),


use rule mq_figure_table2 as mq_figure_sensitivity with:
    input:
        table="results/mq/sensitivity.csv",
    output:
        pdf="results/mq/sensitivity.pdf",
        svg=report(
            "results/mq/sensitivity.svg",
            caption="../report/mq_sensitivity.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Sensitivity", "shows": "MQ's parameters"},
        ),
        png="results/mq/sensitivity.png",
    log:
        "results/logs/mq_figure_sensitivity.log",
    benchmark:
        "results/benchmarks/mq_figure_sensitivity.tsv"
    params:
        draw="sensitivity",
        code=source_digest("figures/style", "figures/mq"),


rule mq_figure_table4:
    input:
        server="results/mq/table4.csv",
        variant="results/mq/table4_64mb.csv",
        published="data/published/mq_table4.csv",
    output:
        pdf="results/mq/table4.pdf",
        svg=report(
            "results/mq/table4.svg",
            caption="../report/mq_table4.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Table 4", "shows": "hit ratios beside the published"},
        ),
        png="results/mq/table4.png",
    log:
        "results/logs/mq_figure_table4.log",
    benchmark:
        "results/benchmarks/mq_figure_table4.tsv"
    conda:
        "../../environment.yml"
    params:
        draw="table4",
        captures=[MQ["server"], MQ["variant"]],
        code=source_digest("figures/style", "figures/mq"),
    script:
        "../scripts/mq_figure_published.py"
