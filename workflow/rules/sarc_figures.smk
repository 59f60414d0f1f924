# Figures of the SARC study: every one as PDF for print, SVG for the report and PNG for pages.


rule sarc_figure_table2:
    input:
        table="results/sarc/table2.csv",
        published="data/published/sarc_table2.csv",
    output:
        pdf="results/sarc/table2.pdf",
        svg=report(
            "results/sarc/table2.svg",
            caption="../report/sarc_table2.rst",
            category="SARC (USENIX 2005)",
            labels={
                "item": "Table II",
                "shows": "response times beside the published",
            },
        ),
        png="results/sarc/table2.png",
    log:
        "results/logs/sarc_figure_table2.log",
    benchmark:
        "results/benchmarks/sarc_figure_table2.tsv"
    conda:
        "../../environment.yml"
    params:
        draw="table2",
        code=source_digest("plotting"),
    script:
        "../scripts/sarc_figure.py"


use rule sarc_figure_table2 as sarc_figure_fig6 with:
    input:
        table="results/sarc/fig6.csv",
        minutes="results/sarc/minutes.csv",
        published="data/published/sarc_table2.csv",
    output:
        pdf="results/sarc/fig6.pdf",
        svg=report(
            "results/sarc/fig6.svg",
            caption="../report/sarc_fig6.rst",
            category="SARC (USENIX 2005)",
            labels={"item": "Figure 6", "shows": "response, power, tracks staged"},
        ),
        png="results/sarc/fig6.png",
    log:
        "results/logs/sarc_figure_fig6.log",
    benchmark:
        "results/benchmarks/sarc_figure_fig6.tsv"
    params:
        draw="fig6",
        code=source_digest("plotting"),


use rule sarc_figure_table2 as sarc_figure_lists with:
    input:
        minutes="results/sarc/minutes.csv",
    output:
        pdf="results/sarc/lists.pdf",
        svg=report(
            "results/sarc/lists.svg",
            caption="../report/sarc_lists.rst",
            category="SARC (USENIX 2005)",
            labels={
                "item": "Figures 7 and 8",
                "shows": "size of SEQ and the ratio over time",
            },
        ),
        png="results/sarc/lists.png",
    log:
        "results/logs/sarc_figure_lists.log",
    benchmark:
        "results/benchmarks/sarc_figure_lists.tsv"
    params:
        draw="lists",
        code=source_digest("plotting"),


use rule sarc_figure_table2 as sarc_figure_anomaly with:
    input:
        table="results/sarc/anomaly.csv",
    output:
        pdf="results/sarc/anomaly.pdf",
        svg=report(
            "results/sarc/anomaly.svg",
            caption="../report/sarc_anomaly.rst",
            category="SARC (USENIX 2005)",
            labels={
                "item": "Figures 1 and 3",
                "shows": "sequential misses by strategy",
            },
        ),
        png="results/sarc/anomaly.png",
    log:
        "results/logs/sarc_figure_anomaly.log",
    benchmark:
        "results/benchmarks/sarc_figure_anomaly.tsv"
    params:
        draw="anomaly",
        code=source_digest("plotting"),


use rule sarc_figure_table2 as sarc_figure_components with:
    input:
        table="results/sarc/components.csv",
    output:
        pdf="results/sarc/components.pdf",
        svg=report(
            "results/sarc/components.svg",
            caption="../report/sarc_components.rst",
            category="SARC (USENIX 2005)",
            labels={"item": "Components", "shows": "where the time of a request goes"},
        ),
        png="results/sarc/components.png",
    log:
        "results/logs/sarc_figure_components.log",
    benchmark:
        "results/benchmarks/sarc_figure_components.tsv"
    params:
        draw="components",
        code=source_digest("plotting"),


use rule sarc_figure_table2 as sarc_figure_beyond with:
    input:
        table="results/sarc/beyond.csv",
    output:
        pdf="results/sarc/beyond.pdf",
        svg=report(
            "results/sarc/beyond.svg",
            caption="../report/sarc_beyond.rst",
            category="SARC (USENIX 2005)",
            labels={
                "item": "Beyond the paper",
                "shows": "other policies on the same load",
            },
        ),
        png="results/sarc/beyond.png",
    log:
        "results/logs/sarc_figure_beyond.log",
    benchmark:
        "results/benchmarks/sarc_figure_beyond.tsv"
    params:
        draw="beyond",
        code=source_digest("plotting"),


use rule sarc_figure_table2 as sarc_figure_sensitivity with:
    input:
        table="results/sarc/sensitivity.csv",
        orderings="results/sarc/orderings.csv",
    output:
        pdf="results/sarc/sensitivity.pdf",
        svg=report(
            "results/sarc/sensitivity.svg",
            caption="../report/sarc_sensitivity.rst",
            category="SARC (USENIX 2005)",
            labels={"item": "Sensitivity", "shows": "what the results hang on"},
        ),
        png="results/sarc/sensitivity.png",
    log:
        "results/logs/sarc_figure_sensitivity.log",
    benchmark:
        "results/benchmarks/sarc_figure_sensitivity.tsv"
    params:
        draw="sensitivity",
        code=source_digest("plotting"),


use rule sarc_figure_table2 as sarc_figure_scale with:
    input:
        table="results/sarc/scale.csv",
    output:
        pdf="results/sarc/scale.pdf",
        svg=report(
            "results/sarc/scale.svg",
            caption="../report/sarc_scale.rst",
            category="SARC (USENIX 2005)",
            labels={"item": "Scale", "shows": "the model at several scales"},
        ),
        png="results/sarc/scale.png",
    log:
        "results/logs/sarc_figure_scale.log",
    benchmark:
        "results/benchmarks/sarc_figure_scale.tsv"
    params:
        draw="scale",
        code=source_digest("plotting"),
