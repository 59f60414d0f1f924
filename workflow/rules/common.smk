# Configuration, checks, and the lists that every study's rules add to. No rules.
import re
from pathlib import Path

import misspenalty
from misspenalty.disks.drive import description
from misspenalty.io.documents import read_yaml
from misspenalty.errors import MissPenaltyError
from misspenalty.objects.traversals import STATIC
from misspenalty.reporting.paper import paper_inputs
from misspenalty.reporting.provenance import source_digest
from misspenalty.studies.settings import checked
from snakemake.exceptions import WorkflowError

try:  # files of the command line go over the default one, which Snakemake lists after them
    files = [*workflow.configfiles, *workflow.overwrite_configfiles]
    config.update(checked(config, files, "data"))
except MissPenaltyError as error:
    raise SystemExit(
        str(error)
    ) from None  # the message alone, without lines of this file

CHECKOUT = Path(str(workflow.current_basedir)).parents[1]
CAPTURES = list(config["captures"])
MQ = config["mq"]
VLOG = config["vlog"]
SARC = config["sarc"]
HAC = config["hac"]
HAC_TRAVERSALS = list(STATIC)
EPCM = config["epcm"]
BUILDS = list(EPCM["captures"])
KERNELS = ["linux22", "linux24"]  # with the buffer-to-page copy, and without


wildcard_constraints:
    capture="|".join(CAPTURES),
    policy="|".join(MQ["policies"]),
    build="|".join(BUILDS),
    kernel="|".join(KERNELS),


def check_build(installed, sources):
    """Stop if the installed package was built from other sources than those of the checkout."""
    if sources.is_dir() and source_digest(root=installed) != source_digest(
        root=sources
    ):
        raise WorkflowError(
            f"The package in {installed} was built from other sources than {sources}: run `make build` "
            "or, in a conda environment, `pip install .`."
        )


check_build(Path(misspenalty.__file__).parent, CHECKOUT / "src" / "misspenalty")


def raw_capture(wildcards):
    """The raw file of a capture, wherever the configuration says."""
    return config["captures"][wildcards.capture]


def mq_policy(wildcards):
    """What the configuration says of one row of Table 2."""
    return MQ["policies"][wildcards.policy]


def capture_facts(capture):
    """What the capture program noted of a capture, beside its file."""
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
    calls = Path(EPCM["captures"][build])
    beside = [f"{calls.stem}_files.parquet", f"{calls.stem}_processes.parquet"]
    return [str(calls), *(str(calls.parent / name) for name in beside)]


def build_of(wildcards):
    """The files of the recorded build that a rule is about."""
    return build_files(wildcards.build)


def builds_files():
    """Files of all recorded builds."""
    return list(dict.fromkeys(path for build in BUILDS for path in build_files(build)))


def paper_files(wildcards=None):
    """What the paper reads, by its own account."""
    return [str(path) for path in paper_inputs("paper/main.typ", ".")]


def hac_sizes(wildcards):
    """Client caches of a sweep, by what they pay for."""
    sweep = "sweep_mb" if wildcards.axis == "total" else "sweep_frames_mb"
    return HAC[sweep][wildcards.traversal]


def hac_comparator_sizes(wildcards):
    """Client caches of the other systems."""
    return HAC["gom_mb" if wildcards.system == "gom" else "sweep_mb"][
        wildcards.traversal
    ]


def server_side():
    """Captures of what reaches a storage server."""
    return [capture for capture in CAPTURES if capture != MQ["client"]]


# What a study adds in its own rule file, and the claims, the manifest and the default target read.
OUTPUTS = []  # final files: tables and figures
MEASURED = (
    []
)  # files that hold times of the machine at hand: made, but neither archived nor in the manifest
SOURCES = []  # files that are read and not made
LOGGED = []  # tables of values logged for claims that no table decides
SEEDS = {}  # by what they seed


def final_outputs():
    """Every file of a full run but the manifest, which lists them."""
    return [
        *OUTPUTS,
        "results/claims.csv",
        "results/claims_64mb.csv",
        "results/overview.png",
        "results/paper.pdf",
    ]


def sources():
    """Raw traces, published values, machines, the text of the paper: what a run reads and does not make."""
    files = [
        *SOURCES,
        "data/published/claims.yaml",
        "data/calibration.yaml",
        "data/suspected_reasons.yaml",
        *(path for path in paper_files() if not path.startswith("results/")),
    ]
    return list(dict.fromkeys(files))
