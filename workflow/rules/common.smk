# Configuration, checks and the list of final outputs. No rules.
from pathlib import Path

import misspenalty
from misspenalty.claims import load_calibration
from misspenalty.errors import MissPenaltyError
from misspenalty.paper import paper_inputs
from misspenalty.provenance import source_digest
from misspenalty.studies.mq_settings import check_settings
from snakemake.exceptions import WorkflowError
from snakemake.utils import validate

validate(config, schema="../schemas/config.schema.yaml")

CHECKOUT = Path(str(workflow.current_basedir)).parents[1]
CAPTURES = list(config["captures"])
MQ = config["mq"]


wildcard_constraints:
    capture="|".join(CAPTURES),
    policy="|".join(MQ["policies"]),


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

try:
    check_settings(MQ, CAPTURES, load_calibration("data/calibration.yaml"))
except MissPenaltyError as error:
    raise WorkflowError(str(error)) from error


def raw_capture(wildcards):
    """The raw file of a capture, wherever the configuration says."""
    return config["captures"][wildcards.capture]


def mq_policy(wildcards):
    """What the configuration says of one row of Table 2."""
    return MQ["policies"][wildcards.policy]


def capture_facts(capture):
    """What the capture program noted of a capture, beside its file."""
    return str(Path(config["captures"][capture]).parent / "captures.yaml")


def paper_files(wildcards=None):
    """What the paper reads, by its own account."""
    return [str(path) for path in paper_inputs("paper/main.typ", ".")]


def server_side():
    """Captures of what reaches a storage server."""
    return [capture for capture in CAPTURES if capture != MQ["client"]]


def sources():
    """Raw traces, published values, machines, the text of the paper: what a run reads and does not make."""
    files = [
        *config["captures"].values(),
        capture_facts(MQ["server"]),
        capture_facts(MQ["variant"]),
        "data/published/claims.yaml",
        "data/published/mq_table3.csv",
        "data/published/mq_table4.csv",
        "data/published/mq_fig7.csv",
        "data/calibration.yaml",
        "data/suspected_reasons.yaml",
        "data/machines/mq_testbed.yaml",
        *(path for path in paper_files() if not path.startswith("results/")),
    ]
    return list(dict.fromkeys(files))


MQ_TABLES = [
    "table2",
    "table3",
    "table3_64mb",
    "table4",
    "table4_64mb",
    "fig2",
    "fig3",
    "fig4",
    "fig7",
    "fig7_64mb",
    "fig7_components",
    "fig7_components_64mb",
    "fig7_sensitivity",
    "bounds",
    "lru_curve",
    "sensitivity",
    "fit",
    "first_level",
    "logged",
    "logged_64mb",
]
MQ_FIGURES = [
    "table2",
    "table3",
    "table4",
    "fig2",
    "fig3",
    "fig4",
    "fig7",
    "fig7_components",
    "fig7_sensitivity",
    "sensitivity",
    "first_level",
]


def final_outputs():
    """Every file of a full run but the manifest, which lists them."""
    return [
        *collect("results/traces/{capture}.trace", capture=CAPTURES),
        *collect("results/mq/{item}.csv", item=MQ_TABLES),
        *collect(
            "results/mq/{item}.{form}", item=MQ_FIGURES, form=["pdf", "svg", "png"]
        ),
        "results/claims.csv",
        "results/claims_64mb.csv",
        "results/overview.png",
        "results/paper.pdf",
    ]
