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
        code=source_digest("claims", "plotting"),
    script:
        "../scripts/mq_figure.py"


use rule mq_figure_table2 as mq_figure_table3 with:
    input:
        table="results/mq/table3.csv",
        published="data/published/mq_table3.csv",
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
        code=source_digest("claims", "plotting"),


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
        code=source_digest("claims", "plotting"),


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
        code=source_digest("claims", "plotting"),


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
        code=source_digest("claims", "plotting"),


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
        code=source_digest("claims", "plotting"),


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
        code=source_digest("claims", "plotting"),
    script:
        "../scripts/mq_figure_published.py"


use rule mq_figure_table2 as mq_figure_fig7_components with:
    input:
        table="results/mq/fig7_components.csv",
    output:
        pdf="results/mq/fig7_components.pdf",
        svg=report(
            "results/mq/fig7_components.svg",
            caption="../report/mq_fig7_components.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Figure 7", "shows": "where the time goes"},
        ),
        png="results/mq/fig7_components.png",
    log:
        "results/logs/mq_figure_fig7_components.log",
    benchmark:
        "results/benchmarks/mq_figure_fig7_components.tsv"
    params:
        draw="fig7_components",
        code=source_digest("claims", "plotting"),


use rule mq_figure_table2 as mq_figure_fig7_sensitivity with:
    input:
        table="results/mq/fig7_sensitivity.csv",
    output:
        pdf="results/mq/fig7_sensitivity.pdf",
        svg=report(
            "results/mq/fig7_sensitivity.svg",
            caption="../report/mq_fig7_sensitivity.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "Figure 7", "shows": "the model's assumptions"},
        ),
        png="results/mq/fig7_sensitivity.png",
    log:
        "results/logs/mq_figure_fig7_sensitivity.log",
    benchmark:
        "results/benchmarks/mq_figure_fig7_sensitivity.tsv"
    params:
        draw="sensitivity",
        options={"column": "normalized_rate", "label": "Normalised transaction rate"},
        code=source_digest("claims", "plotting"),


use rule mq_figure_table2 as mq_figure_first_level with:
    input:
        table="results/mq/first_level.csv",
    output:
        pdf="results/mq/first_level.pdf",
        svg=report(
            "results/mq/first_level.svg",
            caption="../report/mq_first_level.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={"item": "First level", "shows": "simulated first levels"},
        ),
        png="results/mq/first_level.png",
    log:
        "results/logs/mq_figure_first_level.log",
    benchmark:
        "results/benchmarks/mq_figure_first_level.tsv"
    params:
        draw="first_level",
        code=source_digest("claims", "plotting"),


use rule mq_figure_table4 as mq_figure_fig7 with:
    input:
        server="results/mq/fig7.csv",
        variant="results/mq/fig7_64mb.csv",
        published="data/published/mq_fig7.csv",
        calibration="data/calibration.yaml",
    output:
        pdf="results/mq/fig7.pdf",
        svg=report(
            "results/mq/fig7.svg",
            caption="../report/mq_fig7.rst",
            category="Multi-Queue (USENIX 2001)",
            labels={
                "item": "Figure 7",
                "shows": "transaction rates beside the published",
            },
        ),
        png="results/mq/fig7.png",
    log:
        "results/logs/mq_figure_fig7.log",
    benchmark:
        "results/benchmarks/mq_figure_fig7.tsv"
    params:
        draw="fig7",
        captures=[MQ["server"], MQ["variant"]],
        code=source_digest("claims", "plotting"),


rule overview:
    input:
        table4=["results/mq/table4.csv", "results/mq/table4_64mb.csv"],
        fig7=["results/mq/fig7.csv", "results/mq/fig7_64mb.csv"],
        claims=["results/claims.csv", "results/claims_64mb.csv"],
        printed4="data/published/mq_table4.csv",
        printed7="data/published/mq_fig7.csv",
        calibration="data/calibration.yaml",
    output:
        png=report(
            "results/overview.png",
            caption="../report/overview.rst",
            category="Overview",
            labels={"item": "Overview", "shows": "published and reproduced"},
        ),
    log:
        "results/logs/overview.log",
    benchmark:
        "results/benchmarks/overview.tsv"
    conda:
        "../../environment.yml"
    params:
        captures=[MQ["server"], MQ["variant"]],
        code=source_digest("claims", "plotting"),
    script:
        "../scripts/overview.py"
