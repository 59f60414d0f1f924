# Select the inputs and parameters of the MQ study's rules.
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.mq.settings import CALIBRATED

MQ = config["mq"]
VARIANT = "_calibrated"  # suffix of files made from the calibrated stream instead of the server's capture
MQ_VARIANTS = {"": MQ["server"], VARIANT: CALIBRATED}
MQ_CAPTURES = [  # all except the calibrated first level's capture, unless it has another role, too
    name
    for name in CAPTURES
    if name != MQ["calibrated"]["capture"] or name in (MQ["server"], MQ["client"])
]
MQ_STREAMS = [*MQ_CAPTURES, CALIBRATED]


wildcard_constraints:
    capture="|".join(MQ_STREAMS),
    variant=f"({VARIANT})?",


def mq_capture(wildcards):
    """Return the name of the stream from which the files of a variant are made."""
    return MQ_VARIANTS[wildcards.variant]


def mq_trace(wildcards):
    """Return the compiled trace from which the files of a variant are made."""
    return f"results/traces/{mq_capture(wildcards)}.trace"


def mq_first_priority(wildcards):
    """Return the priority of a first replay: high for the two streams of Table 4, low for the others."""
    return SOON if wildcards.capture in MQ_VARIANTS.values() else 1


def mq_source(stream):
    """Return the capture that a stream comes from."""
    return MQ["calibrated"]["capture"] if stream == CALIBRATED else stream


def mq_recorded(wildcards):
    """Return the capture that the stream of a variant comes from."""
    return mq_source(mq_capture(wildcards))


def mq_raw(wildcards):
    """Return the raw file of the capture that the stream of a variant comes from."""
    return config["captures"][mq_recorded(wildcards)]


def mq_facts(wildcards):
    """Return the file in which the capture program describes the capture that the stream of a variant comes from."""
    return capture_facts(mq_recorded(wildcards))


def mq_shorter():
    """Return the other compiled capture over which the first level is also calibrated; an empty list if none is set."""
    name = MQ["calibrated"].get("shorter")
    return f"results/traces/{name}.trace" if name else []


def mq_writes(wildcards):
    """Return the treatments of writes to replay: all on the server's capture, only the first on other streams."""
    return MQ["writes"] if wildcards.capture == MQ["server"] else MQ["writes"][:1]


def mq_fitted():
    """Return the bars of Figure 7 that a parameter was fitted to."""
    fits = load_calibration("data/calibration.yaml")
    cells = [
        target["where"]
        for fit in fits
        if fit.parameter == "database_cpu_us"
        for target in fit.published
    ]
    return [(cell["cache_mb"], cell["policy"]) for cell in cells]
