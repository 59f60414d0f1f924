# The HAC study counts the operations of each run and then converts them to time.
plan = PLANS["hac"]


include: "inputs.smk"


HAC_MACHINE = "studies/hac/machine.yaml"
HAC_DRIVES = machine_drives(HAC_MACHINE)
HAC_PRICED = dict(machine=HAC_MACHINE, drives=HAC_DRIVES, fit="results/hac/fit.csv")
HAC_SWEEPS = collect(
    "results/hac/runs/total_{traversal}.parquet", traversal=HAC_TRAVERSALS
)
HAC_TOTAL = dict(zip(HAC_TRAVERSALS, HAC_SWEEPS))
HAC_AT = dict(
    points_mb=HAC["points_mb"],
    iterations=HAC["iterations"],
    sizes=HAC["database"],
)
HAC_SWEPT = dict(
    seeds=HAC["seeds"],
    iterations=HAC["iterations"],
    total_mb=HAC["sweep_mb"],
    frames_mb=HAC["sweep_frames_mb"],
)
HAC_FRAMES = {
    name: f"results/hac/runs/frames_{name}.parquet" for name in HAC_TRAVERSALS
}
HAC_PENALTY = "studies/hac/published/miss_penalty.csv"
HAC_HIT_TIME = "studies/hac/published/hit_time.csv"

plan.table(
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
    others=collect("results/hac/runs/others_{traversal}.csv", traversal=HAC_TRAVERSALS),
    machine=HAC_MACHINE,
    fit="fit",
    published=HAC_PENALTY,
    options={
        "points_mb": HAC["points_mb"],
        "least_share": HAC["least_share"],
        "sizes": HAC["database"],
    },
)
plan.stacked(
    "sensitivity",
    runs=collect(
        "results/hac/runs/sensitivity_{traversal}.csv", traversal=HAC_TRAVERSALS
    ),
    part="further",
)
plan.table("hac.claims.logged", server="server", fit="fit")
plan.table("hac.claims.logged_calibrated", server="server_fit", fit="fit_calibrated")
plan.figure(
    "fig9", "Figure 9", "miss penalty by component", table="fig9", published=HAC_PENALTY
)
plan.figure(
    "fig10", "Figure 10", "replacement overhead", table="fig10", published=HAC_PENALTY
)
plan.figure("fig11", "Figure 11", "fetch time")
plan.figure(
    "misses",
    "Misses",
    "HAC, FPC and a dual buffer over cache size",
    part="further",
    table="misses",
    dynamic="dynamic",
)
plan.figure(
    "peaks",
    "Peaks",
    "replacement over cache size",
    part="further",
    table="fig9",
    frames="fig9_frames",
    published=HAC_PENALTY,
)
plan.figure(
    "projections", "Projections", "other networks, servers, processors", part="further"
)
plan.figure(
    "hit_time",
    "Table 3",
    "hit time",
    function="hac.figures_hit_time.hit_time",
    table="hit_time",
    published=HAC_HIT_TIME,
)
plan.figure(
    "elapsed", "Elapsed time", "foreground and background replacement", part="further"
)
plan.figure(
    "sensitivity",
    "Sensitivity",
    "unit costs and parameters",
    part="further",
    costs="cost_sensitivity",
    algorithm="sensitivity",
)
plan.figure(
    "runs/hit_time_measured",
    "Table 3, measured",
    "hit time on this machine",
    function="hac.figures_hit_time.hit_time_measured",
    part="further",
    table="results/hac/runs/hit_time_measured.csv",
    priced="hit_time",
    published=HAC_HIT_TIME,
)
HAC_VARIANT = ["fit", "hit_time"] + [
    f"{item}{by_seed}"
    for item in ("fig9", "fig10", "fig11", "projections")
    for by_seed in ("", "_by_seed")
]
plan.measured += [
    *collect("results/hac/runs/{table}_measured.csv", table=["hit_time", "penalty"]),
    "results/hac/runs/hit_time_measured.svg",
]
plan.seed = HAC["seeds"]
plan.conditions = ["fig9", "fig10", "fig11", "projections", "hit_time"]


plan.simulation(
    "hac_sweeps",
    "hac.runs.sweeps",
    inputs=dict(machine=HAC_MACHINE),
    outputs=dict(
        total="runs/total_{traversal}.parquet",
        frames="runs/frames_{traversal}.parquet",
        others="runs/others_{traversal}",
    ),
    params=dict(
        **HAC_SWEPT,
        sizes=HAC["database"],
        others_mb=HAC["others_mb"],
        shares=HAC["gom_shares"],
    ),
    threads=min(HALF, 4),  # number of seeds that run at the same time, after the first
    priority=1,
)


plan.simulation(
    "hac_layout_sweeps",
    "hac.runs.sweeps",
    inputs=dict(machine=HAC_MACHINE),
    outputs=dict(
        total="runs/layouts/{layout}/total_{traversal}.parquet",
        frames="runs/layouts/{layout}/frames_{traversal}.parquet",
    ),
    params=dict(**HAC_SWEPT, sizes=hac_layout_sizes),
    threads=min(HALF, 4),
    priority=1,
)


plan.simulation(
    "hac_calls",
    "hac.runs.sweeps",
    inputs=dict(machine=HAC_MACHINE),
    outputs=dict(total="runs/calls/{layout}.parquet"),
    params=dict(
        traversal=BY_CALLS,
        seeds=HAC["seeds"],
        sizes=hac_layout_sizes,
        iterations=HAC["iterations"],
        total_mb={BY_CALLS: HAC["sweep_mb"]["T1-"]},
    ),
    threads=min(HALF, 4),
    priority=1,
)


plan.simulation(
    "hac_fit",
    "hac.tables.fit_to_calibration",
    inputs=dict(
        sweep=HAC_TOTAL["T1"],
        machine=HAC_MACHINE,
        drives=HAC_DRIVES,
        calibration="data/calibration.yaml",
    ),
    outputs="fit",
    params=dict(cache_mb=HAC["points_mb"]["T1"], sizes=HAC["database"]),
    priority=1,
)


plan.simulation(
    "hac_points",
    "hac.jobs.at_points",
    inputs=dict(sweeps=HAC_SWEEPS, **HAC_PRICED),
    outputs=["projections", "projections_by_seed", "elapsed"],
    params=HAC_AT,
)


plan.simulation(
    "hac_variants",
    "hac.jobs.other_tables",
    inputs=dict(sweeps=HAC_SWEEPS, **HAC_PRICED),
    outputs=["hit_time", "server"],
    params=dict(
        points_mb=HAC["points_mb"],
        hit_time_mb=HAC["hit_time_mb"],
        server_mb=HAC["server_cache_mb"],
        sizes=HAC["database"],
    ),
)


plan.simulation(
    "hac_further",
    "hac.jobs.further_tables",
    inputs=dict(sweeps=HAC_SWEEPS, **HAC_PRICED),
    outputs=["updates", "cost_sensitivity", "dynamic"],
    params=dict(
        points_mb=HAC["points_mb"],
        updates_mb=HAC["updates_mb"],
        dynamic_mb=HAC["dynamic_mb"],
        dynamic=HAC["dynamic"],
        shares=HAC["gom_shares"],
        sizes=HAC["database"],
    ),
    part="further",
)


plan.simulation(
    "hac_layouts",
    "hac.layouts.layouts",
    inputs=dict(calibration="data/calibration.yaml"),
    outputs="layouts",
    params=dict(seeds=HAC["seeds"], sizes=HAC["database"]),
    part="further",
)


plan.simulation(
    "hac_under_conditions",
    "hac.conditions.under_conditions",
    inputs=dict(
        total=HAC_SWEEPS,
        frames=HAC_FRAMES.values(),
        others_total=hac_layout_sweeps("total", HAC_LAYOUTS),
        others_frames=hac_layout_sweeps("frames", HAC_LAYOUTS),
        calls=collect(
            "results/hac/runs/calls/{layout}.parquet", layout=["study", *HAC_LAYOUTS]
        ),
        **HAC_PRICED,
    ),
    outputs={item: f"runs/conditions/{item}" for item in plan.conditions},
    params=dict(
        **HAC_AT,
        hit_time_mb=HAC["hit_time_mb"],
        least_share=HAC["least_share"],
        layouts=HAC["layouts"],
    ),
)


HAC_VARIANT_OF = dict(
    sweeps=hac_layout_sweeps("total", [HAC_CALIBRATED]),
    machine=HAC_MACHINE,
    drives=HAC_DRIVES,
    calibration="data/calibration.yaml",
)
HAC_VARIANT_AT = HAC_AT | dict(
    least_share=HAC["least_share"],
    sizes=HAC["database"] | HAC_LAYOUTS[HAC_CALIBRATED],
)
plan.simulation(
    "hac_calibrated",
    "hac.calibrated.calibrated",
    inputs=HAC_VARIANT_OF,
    outputs={"server_fit": "server_fit"} | {i: f"{i}_calibrated" for i in HAC_VARIANT},
    params=dict(**HAC_VARIANT_AT, hit_time_mb=HAC["hit_time_mb"]),
)


plan.simulation(
    "hac_server_claims",
    "hac.calibrated.claims_over_size",
    inputs=dict(
        **HAC_VARIANT_OF,
        sized="results/hac/server_fit.csv",
        hit_time="results/hac/hit_time_calibrated.csv",
        claims="results/claims.csv",
        ledger="studies/hac/ledger.yaml",
    ),
    outputs="server_claims",
    params=dict(**HAC_VARIANT_AT, server_mb=HAC["calibrated"]["shown_mb"]),
    part="further",
)


plan.simulation(
    "hac_sensitivity",
    "hac.jobs.sensitivity",
    inputs=HAC_PRICED,
    outputs="runs/sensitivity_{traversal}",
    params=dict(
        **HAC_AT,
        settings=HAC["sensitivity"],
        layouts=HAC["layouts"],
        seeds=HAC["seeds"][:2],  # two seeds suffice to estimate differences
    ),
)


# This job measures time, so its results vary between runs: they are neither archived nor judged, and only `make report`
# shows them. The job takes all available cores, which keeps other jobs of the run from disturbing it.
plan.simulation(
    "hac_measured",
    "hac.jobs.measured_times",
    outputs=dict(hit_time="runs/hit_time_measured", penalty="runs/penalty_measured"),
    params=dict(**HAC_AT, seed=HAC["seeds"][0], hit_time_mb=HAC["hit_time_mb"]),
    threads=1024,
)
