# Configuration, checks, and the lists to which every study's rules add. This file has no rules.
import re
from pathlib import Path

import misspenalty
from misspenalty.disks.drive import description
from misspenalty.io.documents import read_yaml
from misspenalty.errors import MissPenaltyError
from misspenalty.io.typesetting import paper_inputs
from misspenalty_studies.common.reporting.provenance import Sources, checkout_folders
from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.study import studies
from misspenalty_studies.common.configuration import checked
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import Wildcards

# Files given on the command line come last, because they override the default one. Whether the settings fit the data is
# checked once, before the first job.
try:
    files = [*workflow.configfiles, *workflow.overwrite_configfiles]
    root = "." if workflow.is_main_process else None
    config.update(checked(config, files, root))
except MissPenaltyError as error:  # only the message, without lines of this file
    raise SystemExit(str(error)) from None

CHECKOUT = Path(str(workflow.current_basedir)).parents[1]
if set("{}") & set(f"{CHECKOUT}{Path.cwd()}"):
    raise SystemExit(
        f"{CHECKOUT}: Snakemake takes braces in a path for a wildcard; move the checkout to a folder without them"
    )
CAPTURES = list(config["captures"])
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


def raw_capture(wildcards):
    """The raw file of a capture, wherever the configuration says."""
    return config["captures"][wildcards.capture]


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


def logged_tables(variant=""):
    """Tables of values logged for claims that no table decides; with a suffix, those of a variant."""
    made = (
        path
        for entries in TABLES.values()
        for e in entries
        for path in e["outputs"].values()
    )
    return [path for path in made if Path(path).name == f"logged{variant}.csv"]


def claim_tables(wildcards):
    """Tables that a study's claims read."""
    items = STUDIES[wildcards.study].TABLES
    return [f"results/{wildcards.study}/{item}.csv" for item in items]


def paper_files(document):
    """The files that the paper or its supplement reads, according to its own sources."""
    named = [str(path) for path in paper_inputs(f"paper/{document}.typ", ".")]
    return [*named, *(f"results/{study}/conditions.csv" for study in CONDITIONS)]


# What each study adds in its own rule file, and what the claims, the manifest and the default target read.
TABLES = {}  # study -> its light tables, from `table`: one job makes them all
FIGURES = {}  # study -> its figures, from `figure`: one job draws them all
TITLES = {
    name: study.title for name, study in studies().items()
}  # categories in the report
LEDGERS = [f"studies/{study}/ledger.yaml" for study in STUDIES]
REASONS = [
    path
    for path in (f"studies/{s}/reasons.yaml" for s in STUDIES)
    if Path(path).is_file()
]
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
        *LEDGERS,
        "data/calibration.yaml",
        *(f"studies/{study}/missing_facts.yaml" for study in CONDITIONS),
        *REASONS,
        *(path for path in paper_files(document) if not path.startswith("results/")),
    ]
    return list(dict.fromkeys(files))
