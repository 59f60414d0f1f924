# The what-if: the five conclusions on the machines of five years, from the archived tables and from replays that take seconds.


include: "inputs.smk"


WHATIF = config["whatif"]
WHATIF_MACHINES = "studies/whatif/machine.yaml"
WHATIF_BUILDS = {build: EPCM["captures"][build] for build in WHATIF["builds"]}
WHATIF_DRIVES = drive_files(
    "st19101", "atlas10k", "atlas10k_v", "constellation_es3", "ultrastar_146z10"
)
CONCLUSIONS = ["hac", "mq", "epcm", "vlog", "sarc"]
TABLES["whatif"] = [
    *(
        stacked("whatif", study, runs=[f"results/whatif/runs/{study}_cells.csv"])
        for study in CONCLUSIONS
    ),
    table(
        "whatif.tables.summary", "summary", tables=whatif_tables("cells", CONCLUSIONS)
    ),
    table(
        "whatif.tables.crossovers",
        "crossovers",
        tables=whatif_tables("crossovers", CONCLUSIONS),
        overheads="results/whatif/runs/hac_overheads.csv",
    ),
    table(
        "whatif.tables.gathered", "curves", tables=whatif_tables("curve", CONCLUSIONS)
    ),
    stacked(
        "whatif", "checks", runs=list(whatif_tables("checks", CONCLUSIONS).values())
    ),
    stacked("whatif", "rotation", runs=["results/whatif/runs/vlog_rotation.csv"]),
    table("whatif.tables.parameters", "parameters", machines=WHATIF_MACHINES),
]
FIGURES["whatif"] = [
    figure(
        "whatif.figures.verdicts", "summary", "Summary", "what holds", summary="summary"
    ),
    *(
        figure(
            f"whatif.figures.{study}_gain",
            study,
            name,
            "gain over device time",
            part="further",
            curve=f"results/whatif/runs/{study}_curve.csv",
            cells=f"results/whatif/runs/{study}_cells.csv",
            **more,
        )
        for study, name, more in [
            ("hac", "HAC", {}),
            ("mq", "MQ", {}),
            ("epcm", "EPCM", {}),
            ("vlog", "Virtual log", {"rotation": "rotation"}),
            ("sarc", "SARC", {}),
        ]
    ),
]
SOURCES += [
    WHATIF_MACHINES,
    "studies/whatif/machine.schema.yaml",
    *WHATIF_DRIVES,
]

WHATIF_HAC = whatif_outputs("hac", "overheads")
WHATIF_MQ = whatif_outputs("mq")
WHATIF_SARC = whatif_outputs("sarc")
WHATIF_EPCM = whatif_outputs("epcm")
WHATIF_VLOG = whatif_outputs("vlog", "rotation")


rule whatif_hac:
    input:
        machines=WHATIF_MACHINES,
        drives=WHATIF_DRIVES,
        elapsed="results/hac/elapsed.csv",
        parts="results/hac/fig11.csv",
    output:
        **WHATIF_HAC,
    log:
        "results/logs/whatif_hac.log",
    benchmark:
        "results/benchmarks/whatif_hac.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("whatif.hac.job"),
    script:
        "../../workflow/scripts/simulate.py"


rule whatif_mq:
    input:
        machines=WHATIF_MACHINES,
        drives=WHATIF_DRIVES,
        recorded="results/mq/fig7.csv",
        calibrated="results/mq/fig7_calibrated.csv",
    output:
        **WHATIF_MQ,
    log:
        "results/logs/whatif_mq.log",
    benchmark:
        "results/benchmarks/whatif_mq.tsv"
    conda:
        "../../environment.yml"
    params:
        job=job("whatif.mq.job"),
    script:
        "../../workflow/scripts/simulate.py"


rule whatif_sarc:
    input:
        machines=WHATIF_MACHINES,
        drives=WHATIF_DRIVES,
        components="results/sarc/components.csv",
        internals="results/sarc/internals.csv",
        responses="results/sarc/fig6.csv",
    output:
        **WHATIF_SARC,
    log:
        "results/logs/whatif_sarc.log",
    benchmark:
        "results/benchmarks/whatif_sarc.tsv"
    conda:
        "../../environment.yml"
    params:
        points=WHATIF["sarc"],
        job=job("whatif.sarc.job"),
    script:
        "../../workflow/scripts/simulate.py"


rule whatif_epcm:
    input:
        machines=WHATIF_MACHINES,
        drives=WHATIF_DRIVES,
        machine="studies/epcm/machine.yaml",
        today="studies/epcm/machine_today.yaml",
        fit="results/epcm/fit.csv",
        archived="results/epcm/today.csv",
        files=[path for build in WHATIF_BUILDS for path in build_files(build)],
    output:
        **WHATIF_EPCM,
    log:
        "results/logs/whatif_epcm.log",
    benchmark:
        "results/benchmarks/whatif_epcm.tsv"
    conda:
        "../../environment.yml"
    params:
        captures=WHATIF_BUILDS,
        settings=EPCM,
        measured=WHATIF["measured_runs"],
        job=job("whatif.epcm.job"),
    script:
        "../../workflow/scripts/simulate.py"


rule whatif_vlog:
    input:
        machines=WHATIF_MACHINES,
        drives=WHATIF_DRIVES,
        hosts=VLOG_HOSTS,
        what_if="results/vlog/what_if.csv",
        table2="results/vlog/table2.csv",
    output:
        **WHATIF_VLOG,
    log:
        "results/logs/whatif_vlog.log",
    benchmark:
        "results/benchmarks/whatif_vlog.tsv"
    conda:
        "../../environment.yml"
    params:
        workload=WHATIF["workload"],
        job=job("whatif.vlog.job"),
    script:
        "../../workflow/scripts/simulate.py"
