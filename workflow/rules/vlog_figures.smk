# Figures of the virtual-log study: every one as PDF for print, SVG for the report and PNG for pages.


rule vlog_figure_fig9:
    input:
        fig9="results/vlog/fig9.csv",
    output:
        pdf="results/vlog/fig9.pdf",
        svg=report(
            "results/vlog/fig9.svg",
            caption="../report/vlog_fig9.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figure 9", "shows": "latency by component"},
        ),
        png="results/vlog/fig9.png",
    log:
        "results/logs/vlog_figure_fig9.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig9.tsv"
    conda:
        "../../environment.yml"
    params:
        draw="fig9",
        code=source_digest("plotting"),
    script:
        "../scripts/vlog_figure.py"


use rule vlog_figure_fig9 as vlog_figure_gap with:
    input:
        gap="results/vlog/gap.csv",
    output:
        pdf="results/vlog/gap.pdf",
        svg=report(
            "results/vlog/gap.svg",
            caption="../report/vlog_gap.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Table 2", "shows": "conditions of the gap"},
        ),
        png="results/vlog/gap.png",
    log:
        "results/logs/vlog_figure_gap.log",
    benchmark:
        "results/benchmarks/vlog_figure_gap.tsv"
    params:
        draw="gap",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_host_range with:
    input:
        host_range="results/vlog/host_range.csv",
    output:
        pdf="results/vlog/host_range.pdf",
        svg=report(
            "results/vlog/host_range.svg",
            caption="../report/vlog_host_range.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Table 2", "shows": "host times"},
        ),
        png="results/vlog/host_range.png",
    log:
        "results/logs/vlog_figure_host_range.log",
    benchmark:
        "results/benchmarks/vlog_figure_host_range.tsv"
    params:
        draw="host_range",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_fig1 with:
    input:
        fig1="results/vlog/fig1.csv",
    output:
        pdf="results/vlog/fig1.pdf",
        svg=report(
            "results/vlog/fig1.svg",
            caption="../report/vlog_fig1.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figure 1", "shows": "locating a sector"},
        ),
        png="results/vlog/fig1.png",
    log:
        "results/logs/vlog_figure_fig1.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig1.tsv"
    params:
        draw="fig1",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_fig2 with:
    input:
        fig2="results/vlog/fig2.csv",
    output:
        pdf="results/vlog/fig2.pdf",
        svg=report(
            "results/vlog/fig2.svg",
            caption="../report/vlog_fig2.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figure 2", "shows": "switch threshold"},
        ),
        png="results/vlog/fig2.png",
    log:
        "results/logs/vlog_figure_fig2.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig2.tsv"
    params:
        draw="fig2",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_fig6 with:
    input:
        fig6="results/vlog/fig6.csv",
    output:
        pdf="results/vlog/fig6.pdf",
        svg=report(
            "results/vlog/fig6.svg",
            caption="../report/vlog_fig6.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figure 6", "shows": "small files"},
        ),
        png="results/vlog/fig6.png",
    log:
        "results/logs/vlog_figure_fig6.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig6.tsv"
    params:
        draw="fig6",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_fig7 with:
    input:
        fig7="results/vlog/fig7.csv",
    output:
        pdf="results/vlog/fig7.pdf",
        svg=report(
            "results/vlog/fig7.svg",
            caption="../report/vlog_fig7.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figure 7", "shows": "a large file"},
        ),
        png="results/vlog/fig7.png",
    log:
        "results/logs/vlog_figure_fig7.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig7.tsv"
    params:
        draw="fig7",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_fig8 with:
    input:
        fig8="results/vlog/fig8.csv",
    output:
        pdf="results/vlog/fig8.pdf",
        svg=report(
            "results/vlog/fig8.svg",
            caption="../report/vlog_fig8.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figure 8", "shows": "utilisation"},
        ),
        png="results/vlog/fig8.png",
    log:
        "results/logs/vlog_figure_fig8.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig8.tsv"
    params:
        draw="fig8",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_fig10 with:
    input:
        fig10="results/vlog/fig10.csv",
        fig11="results/vlog/fig11.csv",
    output:
        pdf="results/vlog/fig10.pdf",
        svg=report(
            "results/vlog/fig10.svg",
            caption="../report/vlog_fig10.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "Figures 10, 11", "shows": "idle time"},
        ),
        png="results/vlog/fig10.png",
    log:
        "results/logs/vlog_figure_fig10.log",
    benchmark:
        "results/benchmarks/vlog_figure_fig10.tsv"
    params:
        draw="fig10",
        code=source_digest("plotting"),


use rule vlog_figure_fig9 as vlog_figure_what_if with:
    input:
        what_if="results/vlog/what_if.csv",
    output:
        pdf="results/vlog/what_if.pdf",
        svg=report(
            "results/vlog/what_if.svg",
            caption="../report/vlog_what_if.rst",
            category="Virtual log (OSDI 1999)",
            labels={"item": "What if", "shows": "a disk and flash of 2015"},
        ),
        png="results/vlog/what_if.png",
    log:
        "results/logs/vlog_figure_what_if.log",
    benchmark:
        "results/benchmarks/vlog_figure_what_if.tsv"
    params:
        draw="what_if",
        code=source_digest("plotting"),
