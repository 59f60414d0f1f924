# Read and check the configuration, and create the plans to which every study's rule file adds. This file has no rules.
import os
import re
from pathlib import Path

import misspenalty
from misspenalty.disks.drive import description
from misspenalty.io.documents import read_yaml
from misspenalty.errors import MissPenaltyError
from misspenalty.io.external import open_register
from misspenalty.io.typesetting import paper_inputs
from misspenalty_studies.common.reporting.kept import TABLE as KEPT_TABLE
from misspenalty_studies.common.reporting.kept import (
    fitting,
    keeping,
    made_from,
    read_from,
)
from misspenalty_studies.common.reporting.provenance import Sources, checkout_folders
from misspenalty_studies.common.judge import STUDIES
from misspenalty_studies.common.plan import Plan, Simulation, files_of, job, paths_of
from misspenalty_studies.common.study import studies
from misspenalty_studies.common.configuration import checked
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import Wildcards

# Jobs run in parallel, and models have threads of their own. BLAS threads would only wait and waste processor time, and
# their number could change how sums are rounded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Files named on the command line come last, because they override the default file. The main process checks once,
# before the first job, whether the settings fit the data.
try:
    files = [*workflow.configfiles, *workflow.overwrite_configfiles]
    root = "." if workflow.is_main_process else None
    config.update(checked(config, files, root))
except MissPenaltyError as error:  # show only the message, without a traceback
    raise SystemExit(str(error)) from None

CHECKOUT = Path(str(workflow.current_basedir)).parents[1]
if set("{}") & set(f"{CHECKOUT}{Path.cwd()}"):
    raise SystemExit(
        f"{CHECKOUT}: Snakemake takes braces in a path for a wildcard; move the checkout to a folder without them"
    )
CAPTURES = list(config["captures"])
SOON = 8  # priority of jobs that the first figure waits for
try:
    # Limit the threads of jobs that the first figure waits for, and of those that are seldom all busy, so that two such
    # jobs run at once.
    HALF = max(workflow.cores // 2, 1)
except WorkflowError:  # the number of cores is unknown on a cluster or for a summary
    HALF = 8
CODE = Sources()


def judging(*names, studies=STUDIES):
    """Return the digest of the code of functions that judge claims. It includes the studies' claims modules, whose
    names are computed."""
    return CODE.digest(*names, *(f"misspenalty_studies.{s}.claims" for s in studies))


PLANS = {name: Plan(name, CODE) for name in studies()}  # what each study declares
TITLES = {name: study.title for name, study in studies().items()}
LEDGERS = [f"studies/{study}/ledger.yaml" for study in STUDIES]
REASONS = [
    path
    for path in (f"studies/{s}/reasons.yaml" for s in STUDIES)
    if Path(path).is_file()
]
checkout = checkout_folders(CHECKOUT)
if checkout["misspenalty"].is_dir() and CODE.digest() != Sources(checkout).digest():
    raise WorkflowError(
        f"The installed package was built from other sources than those of {CHECKOUT}: run `make build` "
        "or, in a conda environment, `pip install .`."
    )


def drawn(study, entries, form):
    """Return the files of a study's figures in one format; SVG files are shown in the report, with their captions."""
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
    """Return the raw file of a capture, which the configuration names."""
    return config["captures"][wildcards.capture]


def capture_facts(capture):
    """Return the file, next to a capture, in which the capture program describes it."""
    return str(Path(config["captures"][capture]).parent / "captures.yaml")


def drive_files(*drives):
    """Return the files that describe these drives: their own, those that they are based on, and the schemas."""
    return sorted(
        {f"data/drives/{f}" for name in drives for f in description.files(name)}
    )


def machine_drives(*paths):
    """Return the files that describe all drives named in parameter files, as a value or as a variation."""
    entries = [read_yaml(path).get("drive", {}) for path in paths]
    named = {
        name
        for entry in entries
        for name in (entry.get("value"), *entry.get("vary", ()))
    }
    return drive_files(*named.intersection(description.names()))


def external(files, own=False):
    """Return, by name, the path of each file in a mirror or among the downloads, or None if it is absent. A file that
    is not registered is an error or, if `own`, a path that is returned unchanged."""
    try:
        register = open_register("data/external.yaml", mirror=config.get("mirror"))
        return {
            name: file if own and file not in register.files else register.find(file)
            for name, file in files.items()
        }
    except MissPenaltyError as error:
        raise WorkflowError(str(error)) from error


def absent_traces(plan, paths):
    """Return the names of traces that `external` has not found; if there are any, the study reads archived replays."""
    absent = [name for name, path in paths.items() if path is None]
    if absent:
        plan.read.append(f"results/{plan.study}/replays.csv")
        logger.info(
            f"{plan.study}: {len(absent)} of {len(paths)} traces are missing ({', '.join(absent)}); the archived "
            f"results/{plan.study}/replays.csv is used as it is. To replay them: python -m misspenalty.io.external "
            f"{plan.study}, or name a folder with copies, --config mirror=…"
        )
    return absent


def own_raw(wildcards):
    """Return the raw file of a row of the table of traces, or the folder that it is fetched into."""
    row = OWN_TRACES[wildcards.own]
    fetched = row.is_url or row.external
    return f"results/traces/raw/{wildcards.own}" if fetched else row.source


def own_row(wildcards):
    """Return the cells of a row of the table of traces."""
    return OWN_TRACES[wildcards.own].model_dump()


def own_drive(wildcards):
    """Return the files that describe the device of a row of the table of traces."""
    device = OWN_TRACES[wildcards.own].device
    if (description.folder() / f"{device}.yaml").is_file():
        return drive_files(device)
    return [device] if Path(device).is_file() else []


def logged_tables(variant=""):
    """Return the tables of notes logged for claims or, with a suffix, those of a variant."""
    made = (path for e in declared("tables") for path in e["outputs"].values())
    return [path for path in made if Path(path).name == f"logged{variant}.csv"]


def claim_tables(wildcards):
    """Return the tables that a study's claims read."""
    items = STUDIES[wildcards.study].TABLES
    return [f"results/{wildcards.study}/{item}.csv" for item in items]


def paper_files(document):
    """Return the files that the paper or its supplement reads, according to its own sources."""
    named = [str(path) for path in paper_inputs(f"paper/{document}.typ", ".")]
    titles = [f"studies/{study}/study.yaml" for study in PLANS]
    return [*named, *titles, *(f"results/{study}/conditions.csv" for study in VARIED)]


def declared(what):
    """Return everything of one kind that the studies declare, as one list."""
    return [entry for plan in PLANS.values() for entry in getattr(plan, what)]


def final_outputs():
    """Return every file that `make reproduce` writes except the manifest, which lists them."""
    return [
        *(path for plan in PLANS.values() for path in plan.files()),
        "results/reasons.csv",
        "results/recomputed.csv",
        "results/claims.csv",
        "results/claims_calibrated.csv",
        "results/agreement.csv",
        "results/forecasts.csv",
        "results/overview.png",
        "results/missing_facts.csv",
        KEPT_TABLE,
        "results/paper.pdf",
        "results/index.json",
    ]


def further_outputs():
    """Return every file that `make supplement` adds except its manifest, which lists them."""
    further = (path for plan in PLANS.values() for path in plan.files(supplement=True))
    return [*further, "results/supplement.pdf"]


def made_by(path):
    """Return the rule that makes a file and its input files, or None if no rule makes it."""
    for maker in workflow.rules:
        for output in maker.output:
            if found := output.match(path):
                wildcards = Wildcards(fromdict=found.groupdict())
                return maker, sorted({*map(str, maker.expand_input(wildcards)[0])})
    return None


def rules_of(paths, given):
    """Return the names of the rules that make files or what these are made from, but not what is given; sorted."""
    waiting, seen, found = list(paths), set(given), set()
    while waiting:
        path = waiting.pop()
        if path not in seen and (made := made_by(path)):
            maker, inputs = made
            found.add(maker.name)
            waiting += inputs
        seen.add(path)
    return sorted(found)


def index(wildcards=None):
    """Return the site's index of a run: its figures; for each file the rule, function and inputs that make it; and the
    rules that `make reproduce` runs if it keeps the archived tables."""
    # What makes a file, where this is declared: its rule, function and inputs.
    entries = {}
    for plan in PLANS.values():
        for _, name, tables in plan.parts("tables"):
            for entry in tables:
                made = name, entry["job"]["function"], files_of([entry])
                entries |= dict.fromkeys(entry["outputs"].values(), made)
        for _, name, figures in plan.parts("figures"):
            for entry in figures:
                made = name, entry["job"]["function"], files_of([entry])
                files = [f"{entry['output']}.{form}" for form in ("pdf", "svg", "png")]
                entries |= dict.fromkeys(files, made)
        if plan.conditions:
            inputs = sorted(set(paths_of(conditions_from(plan.study))))
            entries[plan.path("conditions")] = f"{plan.study}_conditions", None, inputs
    for one in [*declared("simulations"), RECORD]:
        if one.part == "kept":
            made = one.name, one.job["function"], sorted(set(paths_of(one.inputs)))
            entries |= dict.fromkeys(one.outputs.values(), made)
    for path in [*final_outputs(), *further_outputs()]:
        if path not in entries:
            maker, inputs = made_by(path)
            called = dict(maker.params.items()).get("job", {})
            entries[path] = maker.name, called.get("function"), inputs
    made = {
        path: dict(zip(("rule", "function", "inputs"), entries[path]))
        for path in [*final_outputs(), *further_outputs()]
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
        for entry in declared("figures")
        if entry["archived"]
    ]
    mine = rules_of(final_outputs(), given=[*KEPT_FILES, KEPT_TABLE])
    return {"titles": TITLES, "figures": figures, "made": made, "reproduced": mine}


def sources(document):
    """Return the files that a run reads but does not make: raw traces, published values, machines, the paper's text."""
    files = [
        *(path for plan in PLANS.values() for path in plan.files_read()),
        *LEDGERS,
        "data/calibration.yaml",
        *(f"studies/{study}/missing_facts.yaml" for study in VARIED),
        *REASONS,
        *(path for path in paper_files(document) if not path.startswith("results/")),
    ]
    return list(dict.fromkeys(files))
