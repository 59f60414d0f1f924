# What the rules of the study mq take.
from misspenalty_studies.common.claims import load_calibration

MQ = config["mq"]
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


def mq_capture(wildcards):
    """The capture that files of a variant are about."""
    return MQ_VARIANTS[wildcards.variant]


def mq_trace(wildcards):
    """Its compiled trace."""
    return f"results/traces/{mq_capture(wildcards)}.trace"


def mq_first_priority(wildcards):
    """Table 4 is about two of the streams; the other replays of its policies can wait."""
    return SOON if wildcards.capture in MQ_VARIANTS.values() else 1


def mq_source(stream):
    """The capture that a stream comes from."""
    return MQ["calibrated"]["capture"] if stream == CALIBRATED else stream


def mq_recorded(wildcards):
    """The capture that the stream of a variant comes from."""
    return mq_source(mq_capture(wildcards))


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
