# The HAC study: the operations of each run are counted and then converted to time.


include: "inputs.smk"


HAC_MACHINE = "studies/hac/machine.yaml"
HAC_DRIVES = machine_drives(HAC_MACHINE)
HAC_SWEEPS = collect(
    "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
)
HAC_TOTAL = dict(zip(HAC_TRAVERSALS, HAC_SWEEPS))
HAC_FRAMES = {
    name: f"results/hac/runs/frames_{name}.parquet" for name in HAC_TRAVERSALS
}
HAC_PENALTY = "studies/hac/published/miss_penalty.csv"
HAC_HIT_TIME = "studies/hac/published/hit_time.csv"

TABLES["hac"] = [
    table(
        "hac.tables.from_sweeps",
        "fig9",
        "fig9_frames",
        "fig10",
        "fig11",
        "fig9_by_seed",
        "fig10_by_seed",
        "fig11_by_seed",
        "peaks",
        "misses",
        total=HAC_TOTAL,
        frames=HAC_FRAMES,
        others=collect(
            "results/hac/runs/others_{traversal}.csv", traversal=HAC_TRAVERSALS
        ),
        machine=HAC_MACHINE,
        fit="fit",
        published=HAC_PENALTY,
        options={
            "points_mb": HAC["points_mb"],
            "least_share": HAC["least_share"],
            "sizes": HAC["database"],
        },
    ),
    stacked(
        "hac",
        "sensitivity",
        runs=collect(
            "results/hac/runs/sensitivity_{traversal}.csv", traversal=HAC_TRAVERSALS
        ),
        part="further",
    ),
    table("hac.claims.logged", "logged", server="server", fit="fit"),
]
FIGURES["hac"] = [
    figure(
        "hac.figures.fig9",
        "fig9",
        "Figure 9",
        "miss penalty by component",
        table="fig9",
        published=HAC_PENALTY,
    ),
    figure(
        "hac.figures.fig10",
        "fig10",
        "Figure 10",
        "replacement overhead",
        table="fig10",
        published=HAC_PENALTY,
    ),
    figure("hac.figures.fig11", "fig11", "Figure 11", "fetch time", table="fig11"),
    figure(
        "hac.figures.misses",
        "misses",
        "Misses",
        "HAC, FPC and a dual buffer over cache size",
        part="further",
        table="misses",
        dynamic="dynamic",
    ),
    figure(
        "hac.figures.peaks",
        "peaks",
        "Peaks",
        "replacement over cache size",
        part="further",
        table="fig9",
        frames="fig9_frames",
        published=HAC_PENALTY,
    ),
    figure(
        "hac.figures.projections",
        "projections",
        "Projections",
        "other networks, servers, processors",
        part="further",
        table="projections",
    ),
    figure(
        "hac.figures_hit_time.hit_time",
        "hit_time",
        "Table 3",
        "hit time",
        table="hit_time",
        published=HAC_HIT_TIME,
    ),
    figure(
        "hac.figures.elapsed",
        "elapsed",
        "Elapsed time",
        "foreground and background replacement",
        part="further",
        table="elapsed",
    ),
    figure(
        "hac.figures.sensitivity",
        "sensitivity",
        "Sensitivity",
        "unit costs and parameters",
        part="further",
        costs="cost_sensitivity",
        algorithm="sensitivity",
    ),
    figure(
        "hac.figures_hit_time.hit_time_measured",
        "runs/hit_time_measured",
        "Table 3, measured",
        "hit time on this machine",
        part="further",
        table="results/hac/runs/hit_time_measured.csv",
        priced="hit_time",
        published=HAC_HIT_TIME,
    ),
]
OUTPUTS += collect(
    "results/hac/{item}.csv",
    item=[
        "fit",
        "projections",
        "projections_by_seed",
        "elapsed",
        "hit_time",
        "updates",
        "server",
        "cost_sensitivity",
        "dynamic",
    ],
)
FURTHER.append("results/hac/layouts.csv")
SOURCES += [HAC_MACHINE, HAC_PENALTY, HAC_HIT_TIME, *HAC_DRIVES]
MEASURED += [
    *collect("results/hac/runs/{table}_measured.csv", table=["hit_time", "penalty"]),
    "results/hac/runs/hit_time_measured.svg",
]
SEEDS["hac"] = HAC["seeds"]
CONDITIONS["hac"] = ["fig9", "fig10", "fig11", "projections", "hit_time"]


rule hac_sweeps:
    input:
        machine=HAC_MACHINE,
    output:
        total="results/hac/runs/total_{traversal}.parquet",
        frames="results/hac/runs/frames_{traversal}.parquet",
        others="results/hac/runs/others_{traversal}.csv",
    log:
        "results/logs/hac_sweeps/{traversal}.log",
    benchmark:
        "results/benchmarks/hac_sweeps/{traversal}.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 4  # seeds, after the first
    params:
        seeds=HAC["seeds"],
        sizes=HAC["database"],
        iterations=HAC["iterations"],
        total_mb=HAC["sweep_mb"],
        frames_mb=HAC["sweep_frames_mb"],
        others_mb=HAC["others_mb"],
        shares=HAC["gom_shares"],
        job=job("hac.runs.sweeps"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_layout_sweeps:
    input:
        machine=HAC_MACHINE,
    output:
        total="results/hac/runs/layouts/{layout}/total_{traversal}.parquet",
        frames="results/hac/runs/layouts/{layout}/frames_{traversal}.parquet",
    log:
        "results/logs/hac_layout_sweeps/{layout}/{traversal}.log",
    benchmark:
        "results/benchmarks/hac_layout_sweeps/{layout}/{traversal}.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 4
    params:
        seeds=HAC["seeds"],
        sizes=hac_layout_sizes,
        iterations=HAC["iterations"],
        total_mb=HAC["sweep_mb"],
        frames_mb=HAC["sweep_frames_mb"],
        job=job("hac.runs.sweeps"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_calls:
    input:
        machine=HAC_MACHINE,
    output:
        total="results/hac/runs/calls/{layout}.parquet",
    log:
        "results/logs/hac_calls/{layout}.log",
    benchmark:
        "results/benchmarks/hac_calls/{layout}.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    threads: 4
    params:
        traversal=BY_CALLS,
        seeds=HAC["seeds"],
        sizes=hac_layout_sizes,
        iterations=HAC["iterations"],
        total_mb={BY_CALLS: HAC["sweep_mb"]["T1-"]},
        job=job("hac.runs.sweeps"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_fit:
    input:
        sweep=HAC_TOTAL["T1"],
        machine=HAC_MACHINE,
        drives=HAC_DRIVES,
        calibration="data/calibration.yaml",
    output:
        table="results/hac/fit.csv",
    log:
        "results/logs/hac_fit.log",
    benchmark:
        "results/benchmarks/hac_fit.tsv"
    priority: 1
    conda:
        "../../environment.yml"
    params:
        cache_mb=HAC["points_mb"]["T1"],
        sizes=HAC["database"],
        job=job("hac.tables.fit_to_calibration"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_points:
    input:
        sweeps=HAC_SWEEPS,
        machine=HAC_MACHINE,
        drives=HAC_DRIVES,
        fit="results/hac/fit.csv",
    output:
        projections="results/hac/projections.csv",
        projections_by_seed="results/hac/projections_by_seed.csv",
        elapsed="results/hac/elapsed.csv",
    log:
        "results/logs/hac_points.log",
    benchmark:
        "results/benchmarks/hac_points.tsv"
    conda:
        "../../environment.yml"
    params:
        points_mb=HAC["points_mb"],
        iterations=HAC["iterations"],
        sizes=HAC["database"],
        job=job("hac.jobs.at_points"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_variants:
    input:
        sweeps=HAC_SWEEPS,
        machine=HAC_MACHINE,
        drives=HAC_DRIVES,
        fit="results/hac/fit.csv",
    output:
        hit_time="results/hac/hit_time.csv",
        updates="results/hac/updates.csv",
        server="results/hac/server.csv",
        cost_sensitivity="results/hac/cost_sensitivity.csv",
        dynamic="results/hac/dynamic.csv",
    log:
        "results/logs/hac_variants.log",
    benchmark:
        "results/benchmarks/hac_variants.tsv"
    conda:
        "../../environment.yml"
    params:
        points_mb=HAC["points_mb"],
        hit_time_mb=HAC["hit_time_mb"],
        updates_mb=HAC["updates_mb"],
        server_mb=HAC["server_cache_mb"],
        dynamic_mb=HAC["dynamic_mb"],
        dynamic=HAC["dynamic"],
        shares=HAC["gom_shares"],
        sizes=HAC["database"],
        job=job("hac.jobs.other_tables"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_layouts:
    input:
        calibration="data/calibration.yaml",
    output:
        table="results/hac/layouts.csv",
    log:
        "results/logs/hac_layouts.log",
    benchmark:
        "results/benchmarks/hac_layouts.tsv"
    conda:
        "../../environment.yml"
    params:
        seeds=HAC["seeds"],
        sizes=HAC["database"],
        job=job("hac.layouts.layouts"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_under_conditions:
    input:
        total=HAC_SWEEPS,
        frames=HAC_FRAMES.values(),
        others_total=collect(
            "results/hac/runs/layouts/{layout}/total_{traversal}.parquet",
            layout=HAC_LAYOUTS,
            traversal=HAC_TRAVERSALS,
        ),
        others_frames=collect(
            "results/hac/runs/layouts/{layout}/frames_{traversal}.parquet",
            layout=HAC_LAYOUTS,
            traversal=HAC_TRAVERSALS,
        ),
        calls=collect(
            "results/hac/runs/calls/{layout}.parquet", layout=["study", *HAC_LAYOUTS]
        ),
        machine=HAC_MACHINE,
        drives=HAC_DRIVES,
        fit="results/hac/fit.csv",
    output:
        fig9="results/hac/runs/conditions/fig9.csv",
        fig10="results/hac/runs/conditions/fig10.csv",
        fig11="results/hac/runs/conditions/fig11.csv",
        projections="results/hac/runs/conditions/projections.csv",
        hit_time="results/hac/runs/conditions/hit_time.csv",
    log:
        "results/logs/hac_under_conditions.log",
    benchmark:
        "results/benchmarks/hac_under_conditions.tsv"
    conda:
        "../../environment.yml"
    params:
        points_mb=HAC["points_mb"],
        hit_time_mb=HAC["hit_time_mb"],
        least_share=HAC["least_share"],
        iterations=HAC["iterations"],
        layouts=HAC["layouts"],
        sizes=HAC["database"],
        job=job("hac.conditions.under_conditions"),
    script:
        "../../workflow/scripts/simulate.py"


rule hac_sensitivity:
    input:
        machine=HAC_MACHINE,
        drives=HAC_DRIVES,
        fit="results/hac/fit.csv",
    output:
        table="results/hac/runs/sensitivity_{traversal}.csv",
    log:
        "results/logs/hac_sensitivity/{traversal}.log",
    benchmark:
        "results/benchmarks/hac_sensitivity/{traversal}.tsv"
    conda:
        "../../environment.yml"
    params:
        points_mb=HAC["points_mb"],
        settings=HAC["sensitivity"],
        layouts=HAC["layouts"],
        sizes=HAC["database"],
        seeds=HAC["seeds"][:2],  # two seeds are enough for differences
        job=job("hac.jobs.sensitivity"),
    script:
        "../../workflow/scripts/simulate.py"


# Measured, so never the same twice: shown in the report and the notebook, but neither archived nor judged. It takes all
# available cores, so that no other job of the run disturbs it.
rule hac_measured:
    output:
        hit_time="results/hac/runs/hit_time_measured.csv",
        penalty="results/hac/runs/penalty_measured.csv",
    log:
        "results/logs/hac_measured.log",
    benchmark:
        "results/benchmarks/hac_measured.tsv"
    conda:
        "../../environment.yml"
    threads: 1024
    params:
        seed=HAC["seeds"][0],
        sizes=HAC["database"],
        hit_time_mb=HAC["hit_time_mb"],
        points_mb=HAC["points_mb"],
        iterations=HAC["iterations"],
        job=job("hac.jobs.measured_times"),
    script:
        "../../workflow/scripts/simulate.py"
