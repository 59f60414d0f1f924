# Configuration, checks, and the lists to which every study's rules add. This file has no rules.
import re
from pathlib import Path

import misspenalty
from misspenalty_studies.common.claims import load_calibration
from misspenalty.disks.drive import description
from misspenalty.io.documents import read_yaml
from misspenalty.errors import MissPenaltyError
from misspenalty_studies.hac.objects.traversals import BY_CALLS, STATIC
from misspenalty.io.typesetting import paper_inputs
from misspenalty_studies.common.reporting.provenance import Sources, checkout_folders
from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.sarc.fit import STEPS
from misspenalty_studies.sarc.runs import PAPERS
from misspenalty_studies.common.configuration import checked
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import Wildcards

# Files given on the command line come last, because they override the default one. Whether the settings fit the data is
# checked once, before the first job.
try:
    files = [*workflow.configfiles, *workflow.overwrite_configfiles]
    data = "data" if workflow.is_main_process else None
    config.update(checked(config, files, data))
except MissPenaltyError as error:  # only the message, without lines of this file
    raise SystemExit(str(error)) from None

CHECKOUT = Path(str(workflow.current_basedir)).parents[1]
if set("{}") & set(f"{CHECKOUT}{Path.cwd()}"):
    raise SystemExit(
        f"{CHECKOUT}: Snakemake takes braces in a path for a wildcard; move the checkout to a folder without them"
    )
CAPTURES = list(config["captures"])
MQ = config["mq"]
VLOG = config["vlog"]
SARC = config["sarc"]
HAC = config["hac"]
HAC_TRAVERSALS = list(STATIC)
HAC_LAYOUTS = {str(i): sizes for i, sizes in enumerate(HAC["layouts"].values(), 1)}
EPCM = config["epcm"]
BUILDS = list(EPCM["captures"])
CALIBRATED = "calibrated"  # the stream behind a first level calibrated on Table 3
VARIANT = "_calibrated"  # suffix of what is made from it instead of the server's
MQ_VARIANTS = {"": MQ["server"], VARIANT: CALIBRATED}
MQ_CAPTURES = [  # the capture over which first levels are simulated serves only that purpose
    name
    for name in CAPTURES
    if name != MQ["calibrated"]["capture"] or name in (MQ["server"], MQ["client"])
]
MQ_STREAMS = [*MQ_CAPTURES, CALIBRATED]


wildcard_constraints:
    capture="|".join(MQ_STREAMS),
    variant=f"({VARIANT})?",
    build="|".join(BUILDS),
    traversal="|".join(map(re.escape, HAC_TRAVERSALS)),
    layout="study|[0-9]+",
    group="|".join([*PAPERS, "beyond"]),
    step="|".join(STEPS),


SOON = 8  # priority of jobs that the first figure waits for
try:
    HALF = max(workflow.cores // 2, 1)  # their threads: two of them run side by side
except WorkflowError:  # on a cluster, or for a summary, there is no number of cores
    HALF = 8
CODE = Sources()
checkout = checkout_folders(CHECKOUT)
if checkout["misspenalty"].is_dir() and CODE.digest() != Sources(checkout).digest():
    raise WorkflowError(
        f"The installed package was built from other sources than those of {CHECKOUT}: run `make build` "
        "or, in a conda environment, `pip install .`."
    )


def job(function):
    """What a rule calls, with the digest of the code it depends on, so that an edit of that reruns it."""
    full = function if "misspenalty" in function else f"misspenalty_studies.{function}"
    return {
        "function": full,
        "code": CODE.digest(full, "misspenalty_studies.common.reporting.jobs"),
    }


def result(study, name):
    """Path of a table by its name within a study; paths, and lists or mappings of them, as they are."""
    if isinstance(name, dict):
        return {key: result(study, one) for key, one in name.items()}
    if not isinstance(name, str):
        return [result(study, one) for one in name]
    return f"results/{study}/{name}.csv" if Path(name).name == name else name


def table(function, *items, study=None, part=None, options=None, **inputs):
    """Light tables of a study (TABLES): what makes them, of which tables, with which other arguments; their part (PARTS)."""
    study = study or function.split(".")[0]
    return {
        "part": part,
        "job": job(function),
        "outputs": {item: result(study, item) for item in items},
        "inputs": {name: result(study, source) for name, source in inputs.items()},
        "options": options or {},
    }


def stacked(study, item, runs, part=None):
    """A light table of a study that is its runs concatenated."""
    return table("common.points.stacked", item, study=study, part=part, runs=runs)


def figure(function, item, label, shows, part=None, options=None, **inputs):
    """A figure of a study (FIGURES): what draws it, of which tables; its labels in the report; its part (PARTS)."""
    study = function.split(".")[0]
    return {
        "part": part,
        "job": job(function),
        "output": f"results/{study}/{item}",
        "archived": Path(item).name == item,
        "caption": f"results/{study}/runs/captions/{Path(item).name}.rst",
        "labels": {"item": label, "shows": shows},
        "inputs": {name: result(study, source) for name, source in inputs.items()},
        "options": options or {},
    }


def files_of(entries):
    """Inputs of tables or figures that none of them makes itself."""
    made = {path for entry in entries for path in entry.get("outputs", {}).values()}
    found = []
    for entry in entries:
        for source in entry["inputs"].values():
            source = source.values() if isinstance(source, dict) else source
            found += [source] if isinstance(source, str) else source
    return [path for path in dict.fromkeys(found) if path not in made]


def in_parts(listed, kind):
    """Each study's tables or figures in the parts that one job makes: study, part, name of the job's rule, entries."""
    found = []
    for study, entries in listed.items():
        for part in PARTS:
            chosen = [entry for entry in entries if entry["part"] == part]
            if chosen:
                named = "_".join(filter(None, [study, part, kind]))
                found.append((study, part, named, chosen))
    return found


def drawn(study, entries, form):
    """Files of a study's figures in one form; those for the report have captions, which are made with them."""
    paths = []
    for entry in entries:
        path = f"{entry['output']}.{form}"
        if form == "svg":
            caption = str(Path(entry["caption"]).absolute())
            path = report(
                path, caption=caption, category=TITLES[study], labels=entry["labels"]
            )
        paths.append(path)
    return paths


def classics_trace(wildcards):
    """The file of a registered trace."""
    return str(CLASSICS_PATHS[wildcards.surviving])


def raw_capture(wildcards):
    """The raw file of a capture, wherever the configuration says."""
    return config["captures"][wildcards.capture]


def mq_capture(wildcards):
    """The capture that files of a variant are about."""
    return MQ_VARIANTS[wildcards.variant]


def mq_trace(wildcards):
    """Its compiled trace."""
    return f"results/traces/{mq_capture(wildcards)}.trace"


def mq_first_priority(wildcards):
    """Table 4 is about two of the streams; the other replays of its policies can wait."""
    return SOON if wildcards.capture in MQ_VARIANTS.values() else 1


def mq_recorded(wildcards):
    """The capture that a stream comes from."""
    stream = mq_capture(wildcards)
    return MQ["calibrated"]["capture"] if stream == CALIBRATED else stream


def mq_raw(wildcards):
    """Its raw file."""
    return config["captures"][mq_recorded(wildcards)]


def mq_facts(wildcards):
    """What the capture program noted of it."""
    return capture_facts(mq_recorded(wildcards))


def mq_shorter():
    """The compiled capture over which the first level is calibrated as a condition; none where there is none."""
    name = MQ["calibrated"].get("shorter")
    return f"results/traces/{name}.trace" if name else []


def mq_writes(wildcards):
    """Treatments of writes: all of them on the server's capture."""
    return MQ["writes"] if wildcards.capture == MQ["server"] else MQ["writes"][:1]


def mq_fitted():
    """Bars of Figure 7 that a parameter was fitted to."""
    fits = load_calibration("data/calibration.yaml")
    cells = [
        target["where"]
        for fit in fits
        if fit.parameter == "database_cpu_us"
        for target in fit.published
    ]
    return [(cell["cache_mb"], cell["policy"]) for cell in cells]


def capture_facts(capture):
    """What the capture program noted of a capture, next to its file."""
    return str(Path(config["captures"][capture]).parent / "captures.yaml")


def drive_files(*drives):
    """What says what these drives are: descriptions, those they are like, their schema."""
    return sorted(
        {f"data/drives/{f}" for name in drives for f in description.files(name)}
    )


def machine_drives(*paths):
    """Files of the drives that files of parameters name, to be varied among them."""
    entries = [read_yaml(path).get("drive", {}) for path in paths]
    named = {
        name
        for entry in entries
        for name in (entry.get("value"), *entry.get("vary", ()))
    }
    return drive_files(*named.intersection(description.names()))


def build_files(build):
    """Calls, files and processes of a recorded build."""
    return recorded_files(EPCM["captures"][build])


def recorded_files(path):
    """Calls, files and processes of the recording whose calls are at `path`."""
    calls = Path(path)
    others = [f"{calls.stem}_files.parquet", f"{calls.stem}_processes.parquet"]
    return [str(calls), *(str(calls.parent / name) for name in others)]


def build_of(wildcards):
    """The files of the recorded build that a rule is about."""
    return build_files(wildcards.build)


def sarc_fit_before(wildcards):
    """What a step of the fit builds on: those before it."""
    steps = list(STEPS)
    before = steps[: steps.index(wildcards.step)]
    return (
        {"before": [f"results/sarc/runs/fit/{step}.csv" for step in before]}
        if before
        else {}
    )


def hac_layout_sizes(wildcards):
    """Sizes of the study's database, or of another one."""
    return HAC["database"] | (
        {} if wildcards.layout == "study" else HAC_LAYOUTS[wildcards.layout]
    )


def sarc_policies(wildcards):
    """Policies of a group of runs: one of the paper's, or all that go beyond it."""
    return SARC["beyond"] if wildcards.group == "beyond" else [wildcards.group]


def sarc_seeds(wildcards):
    """Seeds of a group of runs: those beyond the paper have the first alone."""
    return SARC["seeds"][:1] if wildcards.group == "beyond" else SARC["seeds"]


def own_raw(wildcards):
    """The raw file of a row, or the folder that it is fetched into."""
    row = OWN_TRACES[wildcards.own]
    fetched = row.is_url or row.external
    return f"results/traces/raw/{wildcards.own}" if fetched else row.source


def own_row(wildcards):
    """The cells of a row."""
    return OWN_TRACES[wildcards.own].model_dump()


def own_drive(wildcards):
    """The files that say what its device is."""
    device = OWN_TRACES[wildcards.own].device
    if (description.folder() / f"{device}.yaml").is_file():
        return drive_files(device)
    return [device] if Path(device).is_file() else []


def whatif_tables(item, conclusions):
    """What the runs of the what-if found, by conclusion."""
    return {study: f"results/whatif/runs/{study}_{item}.csv" for study in conclusions}


def whatif_outputs(conclusion, *more):
    """Files of the runs of one of its conclusions, by name."""
    items = ["cells", "curve", "crossovers", "checks", *more]
    return {
        f"{conclusion}_{item}": f"results/whatif/runs/{conclusion}_{item}.csv"
        for item in items
    }


def claim_tables(wildcards):
    """Tables that a study's claims read."""
    items = STUDIES[wildcards.study].TABLES
    return [f"results/{wildcards.study}/{item}.csv" for item in items]


def paper_files(document):
    """The files that the paper or its supplement reads, according to its own sources."""
    return [str(path) for path in paper_inputs(f"paper/{document}.typ", ".")]


# What each study adds in its own rule file, and what the claims, the manifest and the default target read.
TABLES = {}  # study -> its light tables, from `table`: one job makes them all
FIGURES = {}  # study -> its figures, from `figure`: one job draws them all
TITLES = {}  # study -> its category in the report
ARCHIVED = (
    {}
)  # study -> registered files that are not here, for which its archived tables are read
# Made before all else; what the papers print, their claims, and what our paper reads; what `make supplement` adds.
PARTS = ["first", None, "further"]
OUTPUTS = []  # final files: tables and figures
FURTHER = []  # those that only the supplement shows: sensitivities, scales, variants
MEASURED = (
    []
)  # files with times measured on this machine: made, but neither archived nor in the manifest
SOURCES = []  # files that are read but not made
CONDITIONS = (
    {}
)  # study -> items of results/<study>/runs/conditions, its tables under other conditions
LOGGED = []  # tables of values logged for claims that no table decides
SEEDS = {}  # keyed by what they seed


def final_outputs():
    """Every file of `make reproduce` except the manifest, which lists them."""
    return [
        *OUTPUTS,
        "results/claims.csv",
        "results/claims_calibrated.csv",
        "results/agreement.csv",
        "results/forecasts.csv",
        "results/overview.png",
        "results/missing_facts.csv",
        "results/paper.pdf",
        "results/index.json",
    ]


def further_outputs():
    """Every file that `make supplement` adds except its manifest, which lists them."""
    return [*FURTHER, "results/supplement.pdf"]


def index(wildcards=None):
    """What the site says of the files of a run: figures and their captions, and what makes each file of which inputs."""
    entries = [entry for study in FIGURES for entry in FIGURES[study]]
    jobs = {
        path: e["job"]["function"]
        for es in TABLES.values()
        for e in es
        for path in e["outputs"].values()
    }
    read = {
        path: files_of([e])
        for es in TABLES.values()
        for e in es
        for path in e["outputs"].values()
    }
    for entry in entries:
        for form in ("pdf", "svg", "png"):
            jobs[f"{entry['output']}.{form}"] = entry["job"]["function"]
            read[f"{entry['output']}.{form}"] = files_of([entry])
    made = {}
    for path in [*final_outputs(), *further_outputs()]:
        maker, found = next(
            (maker, found)
            for maker in workflow.rules
            for output in maker.output
            if (found := output.match(path))
        )
        called = dict(maker.params.items()).get("job", {})
        inputs, *_ = maker.expand_input(Wildcards(fromdict=found.groupdict()))
        made[path] = {
            "rule": maker.name,
            "function": jobs.get(path, called.get("function")),
            "inputs": read.get(path, sorted(set(map(str, inputs)))),
        }
    figures = [
        {
            "study": Path(entry["output"]).parent.name,
            "output": entry["output"],
            "function": entry["job"]["function"],
            "inputs": entry["inputs"],
            "options": entry["options"],
            **entry["labels"],
        }
        for entry in entries
        if entry["archived"]
    ]
    return {"titles": TITLES, "figures": figures, "made": made}


def sources(document):
    """Raw traces, published values, machines, the text of the paper: what a run reads and does not make."""
    files = [
        *SOURCES,
        "data/published/claims.yaml",
        "data/calibration.yaml",
        "data/published/missing_facts.yaml",
        *(path for path in paper_files(document) if not path.startswith("results/")),
    ]
    return list(dict.fromkeys(files))
