# The virtual-log study simulates updates and files on disks that are updated in place or write eagerly.
plan = PLANS["vlog"]
VLOG = config["vlog"]
VLOG_HOSTS = "studies/vlog/machine.yaml"
VLOG_DRIVES = drive_files(*{entry["drive"] for entry in VLOG["platforms"].values()})
VLOG_RUN = dict(platforms=VLOG["platforms"], workload=VLOG["workload"])
VLOG_LATER = VLOG["what_if"]["platforms"]
VLOG_LATER_DRIVES = drive_files(*{entry["drive"] for entry in VLOG_LATER.values()})

plan.table("vlog.runs.table2", part="first", latencies="fig9")
plan.table(
    "vlog.conditions.judged",
    "speedup_conditions_judged",
    part="kept",
    table="speedup_conditions",
)
plan.table("vlog.conditions.limits", "speedup_limits", latencies="fig9")
plan.table(
    "vlog.checks.checks",
    "statements",
    fig1="fig1",
    fig2="fig2",
    fig6="fig6",
    fig7="fig7",
    fig8="fig8",
    bursts=["fig10", "fig11"],
)
plan.table(
    "vlog.claims.logged",
    latencies="fig9",
    options={
        "platforms": list(VLOG["platforms"]),
        "utilisation": VLOG["workload"]["utilisation"],
    },
)
plan.conditions = ["table2", "fig9"]
plan.figure("fig9", "Figure 9", "latency by component")
plan.figure(
    "speedup_conditions", "Table 2", "conditions of the speed-up", part="further"
)
plan.figure("host_range", "Table 2", "host times", part="further")
plan.figure("fig1", "Figure 1", "locating a sector")
plan.figure("fig2", "Figure 2", "switch threshold")
plan.figure("fig6", "Figure 6", "small files")
plan.figure("fig7", "Figure 7", "a large file")
plan.figure("fig8", "Figure 8", "utilisation")
plan.figure("fig10", "Figures 10, 11", "idle time", lfs="fig10", log="fig11")
plan.figure("what_if", "What if", "a disk and flash of 2015", part="further")
plan.read.append("studies/vlog/published/trends.csv")
plan.seed = VLOG["workload"]["seed"]


plan.simulation(
    "vlog_updates",
    "vlog.platforms.updates",
    inputs=dict(hosts=VLOG_HOSTS, drives=VLOG_DRIVES),
    outputs="fig9",
    params=VLOG_RUN,
    threads=min(HALF, 2),
    priority=SOON - 1,  # Table 2 is made from fig9, right after the first figure
)


plan.simulation(
    "vlog_under_conditions",
    "vlog.platforms.under_conditions",
    inputs=dict(hosts=VLOG_HOSTS, drives=VLOG_DRIVES),
    outputs=dict(
        speedup_conditions="speedup_conditions",
        **{item: f"runs/conditions/{item}" for item in plan.conditions},
    ),
    params=dict(**VLOG_RUN, gap_seeds=VLOG["gap_seeds"]),
    part="kept",
    threads=min(HALF, 2),
    priority=1,
)


plan.simulation(
    "vlog_files",
    "vlog.platforms.files",
    inputs=dict(hosts=VLOG_HOSTS, drives=VLOG_DRIVES),
    outputs=["fig1", "fig2", "fig6", "fig7", "fig8", "fig10", "fig11"],
    params=dict(
        **VLOG_RUN,
        files_on=VLOG["files_on"],
        bursts_on=VLOG["bursts_on"],
        fig1_utilisations=VLOG["fig1_utilisations"],
        fig2_reserves=VLOG["fig2_reserves"],
        trials=VLOG["locate_trials"],
        small_files=VLOG["small_files"],
        large_file_mb=VLOG["large_file_mb"],
        fig8_utilisations=VLOG["fig8_utilisations"],
        burst_kb=VLOG["burst_kb"],
        idle_ms=VLOG["idle_ms"],
        burst_updates=VLOG["burst_updates"],
    ),
    threads=min(HALF, 2),
)


plan.simulation(
    "vlog_variations",
    "vlog.platforms.variations",
    inputs=dict(hosts=VLOG_HOSTS, drives=VLOG_DRIVES),
    outputs=["host_range", "sensitivity", "hosts"],
    params=dict(**VLOG_RUN, factors=VLOG["host_factors"]),
    part="further",
)


plan.simulation(
    "vlog_what_if",
    "vlog.platforms.later",
    inputs=dict(hosts=VLOG_HOSTS, drives=VLOG_LATER_DRIVES),
    outputs="what_if",
    part="further",
    params=dict(platforms=VLOG_LATER, workload=VLOG["what_if"]["workload"]),
    threads=min(HALF, 2),
)
