# The EPCM study replays recorded builds on a file client.
plan = PLANS["epcm"]


include: "inputs.smk"


EPCM_FILES = {
    "machine": "studies/epcm/machine.yaml",
    "today": "studies/epcm/machine_today.yaml",
}
EPCM_DRIVES = machine_drives(EPCM_FILES["machine"])
EPCM_OTHERS = [part for path in EPCM["recordings"] for part in recorded_files(path)]

plan.table(
    "epcm.tables.from_runs",
    "fig7",
    "fig8",
    "read_classes",
    "components",
    "lead_times",
    runs=collect(
        "results/epcm/runs/{build}_{kernel}.csv",
        build=BUILDS,
        kernel=["linux22", "linux24"],
    ),
    options=EPCM["fig8"],
)
plan.stacked("accuracy", runs=runs_of_builds("accuracy"))
plan.stacked("workloads", runs=runs_of_builds("workload"))
plan.stacked("sensitivity", part="further", runs=runs_of_builds("sensitivity"))
for item in ("surface", "learning", "recordings"):
    plan.stacked(item, part="further", runs=[f"results/epcm/runs/{item}.csv"])
plan.stacked("limits", part="kept", runs=runs_of_builds("limits"))
plan.stacked("today", runs=runs_of_builds("today"))
plan.stacked("fit", runs=["results/epcm/runs/copy.csv", *runs_of_builds("scale")])
plan.table(
    "epcm.claims.logged",
    leads="lead_times",
    runs="results/epcm/runs/andrew_linux22.csv",
    workload="workloads",
    options=EPCM["fig8"],
)
plan.figure(
    "fig7",
    "Figure 7",
    "elapsed time, read latency",
    table="fig7",
    baselines="studies/epcm/published/baselines.csv",
    reductions="studies/epcm/published/reductions.csv",
)
plan.figure("fig8", "Figure 8", "read calls by time")
plan.figure("components", "Components", "where the time goes", part="further")
plan.figure("sensitivity", "Readings", "I/O wait removed", part="further")
plan.figure(
    "surface",
    "Training",
    "training runs and head start",
    function="epcm.curves.surface",
    part="further",
)
plan.figure(
    "learning",
    "Learning",
    "I/O wait removed run by run",
    function="epcm.curves.learning",
    part="further",
)
plan.figure(
    "limits",
    "Limits",
    "perfect foresight",
    function="epcm.curves.limits",
    part="further",
    table="limits",
    bars="fig7",
    reductions="studies/epcm/published/reductions.csv",
)
plan.figure("today", "Today", "the same builds on NVMe", part="further")
plan.read += [
    *dict.fromkeys(path for build in BUILDS for path in build_files(build)),
    "studies/epcm/published/andrew.csv",
]
plan.seed = EPCM["seed"]
plan.conditions = ["fig7", "fig8"]


plan.simulation(
    "epcm_copy_fit",
    "epcm.builds.copy_fit",
    inputs=dict(
        capture=build_files("andrew"),
        machine=EPCM_FILES["machine"],
        drives=EPCM_DRIVES,
        calibration="data/calibration.yaml",
    ),
    outputs="runs/copy",
    params=dict(build="andrew", settings=EPCM),
    priority=3,  # every other job of the study waits for it
)


plan.simulation(
    "epcm_runs",
    "epcm.builds.play",
    inputs=dict(
        **EPCM_FILES,
        capture=build_of,
        drives=EPCM_DRIVES,
        calibration="data/calibration.yaml",
        copying="results/epcm/runs/copy.csv",
        published="studies/epcm/published/workloads.csv",
    ),
    outputs=dict(
        scale="runs/scale_{build}",
        linux22="runs/{build}_linux22",
        linux24="runs/{build}_linux24",
        accuracy="runs/accuracy_{build}",
        workload="runs/workload_{build}",
        today="runs/today_{build}",
    ),
    params=dict(settings=EPCM),
    threads=min(HALF, 8),  # settings of a study that are replayed in parallel
    priority=2,  # another long job waits for it
)


EPCM_BUILD = dict(  # inputs of a build's replays once its compute is scaled
    capture=build_of,
    machine=EPCM_FILES["machine"],
    drives=EPCM_DRIVES,
    copying="results/epcm/runs/copy.csv",
    scale="results/epcm/runs/scale_{build}.csv",
)


for name, function, file in (
    ("epcm_limits", "foresee", "limits"),
    ("epcm_sensitivity", "vary", "sensitivity"),
    ("epcm_other_workloads", "judge_others", "conditions"),
):
    plan.simulation(
        name,
        f"epcm.builds.{function}",
        inputs=EPCM_BUILD,
        outputs=f"runs/{file}_{{build}}",
        params=dict(settings=EPCM),
        threads=min(HALF, 8),  # settings of a study that are replayed in parallel
        priority=2,  # epcm_under_conditions waits for the last of them
    )


plan.simulation(
    "epcm_under_conditions",
    "epcm.builds.judge_otherwise",
    inputs=dict(
        capture=build_files("andrew"),
        machine=EPCM_FILES["machine"],
        drives=EPCM_DRIVES,
        calibration="data/calibration.yaml",
        others=EPCM_OTHERS,
        more=collect(
            "results/epcm/runs/conditions_{build}.csv",
            build=[build for build in BUILDS if build != "andrew"],
        ),
        baselines="studies/epcm/published/baselines.csv",
        reductions="studies/epcm/published/reductions.csv",
        copying="results/epcm/runs/copy.csv",
        scale="results/epcm/runs/scale_andrew.csv",
    ),
    outputs=dict(
        **{i: f"runs/conditions/{i}" for i in plan.conditions},
        surface="runs/surface",
        learning="runs/learning",
        recordings="runs/recordings",
    ),
    params=dict(build="andrew", settings=EPCM),
    threads=min(HALF, 8),  # settings of a study that are replayed in parallel
    priority=1,
)
