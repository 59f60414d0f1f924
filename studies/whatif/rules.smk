# The what-if tests the conclusions of five papers on machines of 1997 to 2025, with archived tables and short replays.
plan = PLANS["whatif"]


include: "inputs.smk"


WHATIF = config["whatif"]
WHATIF_MACHINES = "studies/whatif/machine.yaml"
WHATIF_BUILDS = {build: EPCM["captures"][build] for build in WHATIF["builds"]}
WHATIF_DRIVES = drive_files(
    "st19101", "atlas10k", "atlas10k_v", "constellation_es3", "ultrastar_146z10"
)
WHATIF_INPUTS = dict(machines=WHATIF_MACHINES, drives=WHATIF_DRIVES)
CONCLUSIONS = ["hac", "mq", "epcm", "vlog", "sarc"]
for study in CONCLUSIONS:
    plan.stacked(study, part="kept", runs=[f"results/whatif/runs/{study}_cells.csv"])
plan.table(
    "whatif.tables.summary", part="kept", tables=whatif_tables("cells", CONCLUSIONS)
)
plan.table(
    "whatif.tables.crossovers",
    part="kept",
    tables=whatif_tables("crossovers", CONCLUSIONS),
    overheads="results/whatif/runs/hac_overheads.csv",
)
plan.table(
    "whatif.tables.gathered",
    "curves",
    part="kept",
    tables=whatif_tables("curve", CONCLUSIONS),
)
plan.stacked(
    "checks", part="kept", runs=list(whatif_tables("checks", CONCLUSIONS).values())
)
plan.stacked("rotation", part="kept", runs=["results/whatif/runs/vlog_rotation.csv"])
plan.table("whatif.tables.parameters", part="kept", machines=WHATIF_MACHINES)
plan.figure(
    "summary",
    "Summary",
    "what holds",
    function="whatif.figures.verdicts",
    summary="summary",
)
for study, name, more in [
    ("hac", "HAC", {}),
    ("mq", "MQ", {}),
    ("epcm", "EPCM", {}),
    ("vlog", "Virtual log", {"rotation": "rotation"}),
    ("sarc", "SARC", {}),
]:
    plan.figure(
        study,
        name,
        "gain over device time",
        function=f"whatif.figures.{study}_gain",
        part="further",
        curve=f"results/whatif/runs/{study}_curve.csv",
        cells=f"results/whatif/runs/{study}_cells.csv",
        **more,
    )


plan.simulation(
    "whatif_hac",
    "whatif.hac.job",
    inputs=dict(
        **WHATIF_INPUTS,
        elapsed="results/hac/elapsed.csv",
        parts="results/hac/fig11.csv",
    ),
    outputs=whatif_outputs("hac", "overheads"),
)


plan.simulation(
    "whatif_mq",
    "whatif.mq.job",
    inputs=dict(
        **WHATIF_INPUTS,
        recorded="results/mq/fig7.csv",
        calibrated="results/mq/fig7_calibrated.csv",
    ),
    outputs=whatif_outputs("mq"),
)


plan.simulation(
    "whatif_sarc",
    "whatif.sarc.job",
    inputs=dict(
        **WHATIF_INPUTS,
        components="results/sarc/components.csv",
        internals="results/sarc/internals.csv",
        responses="results/sarc/fig6.csv",
    ),
    outputs=whatif_outputs("sarc"),
    params=dict(points=WHATIF["sarc"]),
)


plan.simulation(
    "whatif_epcm",
    "whatif.epcm.job",
    inputs=dict(
        **WHATIF_INPUTS,
        machine="studies/epcm/machine.yaml",
        today="studies/epcm/machine_today.yaml",
        fit="results/epcm/fit.csv",
        archived="results/epcm/today.csv",
        files=[path for build in WHATIF_BUILDS for path in build_files(build)],
    ),
    outputs=whatif_outputs("epcm"),
    params=dict(
        captures=WHATIF_BUILDS,
        settings=EPCM,
        measured=WHATIF["measured_runs"],
    ),
)


plan.simulation(
    "whatif_vlog",
    "whatif.vlog.job",
    inputs=dict(
        **WHATIF_INPUTS,
        hosts=VLOG_HOSTS,
        what_if="results/vlog/what_if.csv",
        table2="results/vlog/table2.csv",
    ),
    outputs=whatif_outputs("vlog", "rotation"),
    params=dict(workload=WHATIF["workload"]),
)
