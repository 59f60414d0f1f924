# Figures of the HAC study: every one as PDF for print, SVG for the report and PNG for pages.


rule hac_figure_fig9:
    input:
        table="results/hac/fig9.csv",
        published="data/published/hac_miss_penalty.csv",
    output:
        pdf="results/hac/fig9.pdf",
        svg=report(
            "results/hac/fig9.svg",
            caption="../report/hac_fig9.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Figure 9", "shows": "miss penalty by component"},
        ),
        png="results/hac/fig9.png",
    log:
        "results/logs/hac_figure_fig9.log",
    benchmark:
        "results/benchmarks/hac_figure_fig9.tsv"
    conda:
        "../../environment.yml"
    params:
        draw="fig9",
        code=source_digest("plotting"),
    script:
        "../scripts/hac_figure.py"


use rule hac_figure_fig9 as hac_figure_fig10 with:
    input:
        table="results/hac/fig10.csv",
        published="data/published/hac_miss_penalty.csv",
    output:
        pdf="results/hac/fig10.pdf",
        svg=report(
            "results/hac/fig10.svg",
            caption="../report/hac_fig10.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Figure 10", "shows": "replacement overhead"},
        ),
        png="results/hac/fig10.png",
    log:
        "results/logs/hac_figure_fig10.log",
    benchmark:
        "results/benchmarks/hac_figure_fig10.tsv"
    params:
        draw="fig10",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_fig11 with:
    input:
        table="results/hac/fig11.csv",
    output:
        pdf="results/hac/fig11.pdf",
        svg=report(
            "results/hac/fig11.svg",
            caption="../report/hac_fig11.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Figure 11", "shows": "fetch time"},
        ),
        png="results/hac/fig11.png",
    log:
        "results/logs/hac_figure_fig11.log",
    benchmark:
        "results/benchmarks/hac_figure_fig11.tsv"
    params:
        draw="fig11",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_misses with:
    input:
        table="results/hac/misses.csv",
        dynamic="results/hac/dynamic.csv",
    output:
        pdf="results/hac/misses.pdf",
        svg=report(
            "results/hac/misses.svg",
            caption="../report/hac_misses.rst",
            category="HAC (SOSP 1997)",
            labels={
                "item": "Misses",
                "shows": "HAC, FPC and a dual buffer over cache size",
            },
        ),
        png="results/hac/misses.png",
    log:
        "results/logs/hac_figure_misses.log",
    benchmark:
        "results/benchmarks/hac_figure_misses.tsv"
    params:
        draw="misses",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_peaks with:
    input:
        table="results/hac/fig9.csv",
        frames="results/hac/fig9_frames.csv",
        published="data/published/hac_miss_penalty.csv",
    output:
        pdf="results/hac/peaks.pdf",
        svg=report(
            "results/hac/peaks.svg",
            caption="../report/hac_peaks.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Peaks", "shows": "replacement over cache size"},
        ),
        png="results/hac/peaks.png",
    log:
        "results/logs/hac_figure_peaks.log",
    benchmark:
        "results/benchmarks/hac_figure_peaks.tsv"
    params:
        draw="peaks",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_projections with:
    input:
        table="results/hac/projections.csv",
    output:
        pdf="results/hac/projections.pdf",
        svg=report(
            "results/hac/projections.svg",
            caption="../report/hac_projections.rst",
            category="HAC (SOSP 1997)",
            labels={
                "item": "Projections",
                "shows": "other networks, servers, processors",
            },
        ),
        png="results/hac/projections.png",
    log:
        "results/logs/hac_figure_projections.log",
    benchmark:
        "results/benchmarks/hac_figure_projections.tsv"
    params:
        draw="projections",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_hit_time with:
    input:
        table="results/hac/hit_time.csv",
        published="data/published/hac_hit_time.csv",
    output:
        pdf="results/hac/hit_time.pdf",
        svg=report(
            "results/hac/hit_time.svg",
            caption="../report/hac_hit_time.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Table 3", "shows": "hit time"},
        ),
        png="results/hac/hit_time.png",
    log:
        "results/logs/hac_figure_hit_time.log",
    benchmark:
        "results/benchmarks/hac_figure_hit_time.tsv"
    params:
        draw="hit_time",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_elapsed with:
    input:
        table="results/hac/elapsed.csv",
    output:
        pdf="results/hac/elapsed.pdf",
        svg=report(
            "results/hac/elapsed.svg",
            caption="../report/hac_elapsed.rst",
            category="HAC (SOSP 1997)",
            labels={
                "item": "Elapsed time",
                "shows": "foreground and background replacement",
            },
        ),
        png="results/hac/elapsed.png",
    log:
        "results/logs/hac_figure_elapsed.log",
    benchmark:
        "results/benchmarks/hac_figure_elapsed.tsv"
    params:
        draw="elapsed",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_sensitivity with:
    input:
        costs="results/hac/cost_sensitivity.csv",
        algorithm="results/hac/sensitivity.csv",
    output:
        pdf="results/hac/sensitivity.pdf",
        svg=report(
            "results/hac/sensitivity.svg",
            caption="../report/hac_sensitivity.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Sensitivity", "shows": "unit costs and parameters"},
        ),
        png="results/hac/sensitivity.png",
    log:
        "results/logs/hac_figure_sensitivity.log",
    benchmark:
        "results/benchmarks/hac_figure_sensitivity.tsv"
    params:
        draw="sensitivity",
        code=source_digest("plotting"),


use rule hac_figure_fig9 as hac_figure_hit_time_measured with:
    input:
        table="results/hac/runs/hit_time_measured.csv",
        priced="results/hac/hit_time.csv",
        published="data/published/hac_hit_time.csv",
    output:
        pdf="results/hac/runs/hit_time_measured.pdf",
        svg=report(
            "results/hac/runs/hit_time_measured.svg",
            caption="../report/hac_hit_time_measured.rst",
            category="HAC (SOSP 1997)",
            labels={"item": "Table 3, measured", "shows": "hit time on this machine"},
        ),
        png="results/hac/runs/hit_time_measured.png",
    log:
        "results/logs/hac_figure_hit_time_measured.log",
    benchmark:
        "results/benchmarks/hac_figure_hit_time_measured.tsv"
    params:
        draw="hit_time_measured",
        code=source_digest("plotting"),
