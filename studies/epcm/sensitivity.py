"""Try the EPCM study's other readings: every choice that the paper leaves open, changed one at a time.

Nothing here is judged: the criterion in `misspenalty_studies.epcm.runs` was fixed first. The tables show how much each
choice matters, and which choices decide whether EPCM is the best.
"""

from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.epcm.runs import Setting, simulate
from misspenalty_studies.epcm.setup import drive_of, kept, make, placed
from misspenalty_studies.epcm.tables import fig7, leads

MODEL, WORKLOAD, MACHINE, PROTOCOL = "model", "workload", "machine", "protocol"


class Variation(NamedTuple):
    """One choice made differently.

    Attributes
    ----------
    what : str
        ``model`` (a parameter of the predictors), ``workload``, ``machine`` or ``protocol``.
    parameter : str
    value
        A value of the parameter's type.
    """

    what: str
    parameter: str
    value: object


def variations_of(choices, machine=None):
    """List the variations that the configuration and the machine's file specify.

    Parameters
    ----------
    choices : dict of str to dict
        Per kind of choice: parameter -> list of values; those of the machine are under ``everywhere``.
    machine : Machine, optional
        Machine whose file says what to vary; without it, the machine's parameters vary as listed in ``everywhere``.

    Returns
    -------
    list of Variation
    """
    listed = [
        Variation(what, parameter, value)
        for what in (MODEL, WORKLOAD, PROTOCOL)
        for parameter, values in choices.get(what, {}).items()
        for value in values
    ]
    if machine is None:
        few = choices.get("everywhere", {})
        return listed + [Variation(MACHINE, parameter, value) for parameter in few for value in few[parameter]]
    listed += [Variation(MACHINE, *pair) for pair in machine.variations(machine.testbed)]
    price = machine.testbed.copy_us_per_kb
    return [*listed, Variation(MACHINE, "buffer_copy_us_per_kb", price)]  # the same time for both copies


def sensitivity(study, capture, settings, variations, placement, runs, threads=1):
    """Replay the settings under every variation.

    Parameters
    ----------
    study : Study
        The study as the criterion defines it.
    capture : Capture
        The study's recorded calls, from which workloads are prepared again if a variation changes them. If more
        training runs are requested than were recorded before the measured ones, the recorded ones are replayed again.
    settings : list of Setting
        From `misspenalty_studies.epcm.setup.varied`.
    variations : list of Variation
    placement : dict
        Placement of the study's own workload, from `misspenalty_studies.epcm.setup.set_up`.
    runs : int
        Number of the study's measured runs that are used, counted from the last, under every variation.
    threads : int
        Number of settings that are replayed in parallel; the result does not depend on it.

    Returns
    -------
    DataFrame
        ``benchmark, varied, parameter, value, model, partition_size, model_order`` and, as in Figure 7, ``elapsed_s,
        io_wait_s, read_latency_us, elapsed_reduction_s, io_reduction_pct, read_reduction_pct``, and ``lead_ms,
        correct_lead_ms, never_used`` of `leads`. The first rows, parameter ``none``, are the study's own.

    Raises
    ------
    ParameterError
        A variation has an invalid value, such as one or more training runs although no run precedes the measured ones.
    """
    study = study._replace(measured=study.measured[-runs:])
    tables = [_played(study, settings, Variation("none", "none", ""), threads)]
    for variation in variations:
        # Do not bind the varied study to a name, which would keep it in memory while the next one is prepared.
        tables.append(_played(*_vary(study, capture, settings, variation, placement), variation, threads))
    return pd.concat(tables, ignore_index=True)


def _vary(study, capture, settings, variation, placement):
    """Return the study and the settings with one choice made differently."""
    what, parameter, value = variation
    if what == MODEL:
        having = [setting for setting in settings if parameter in MODELS.get(setting.model, ())]
        return study, [Setting("cold"), *with_parameter(having, parameter, value)]
    return changed(study, capture, variation, placement), settings


def with_parameter(settings, parameter, value):
    """Return the settings with another value of a predictor's parameter, where the predictor has that parameter."""
    return [
        replace(setting, parameters={**setting.parameters, parameter: value})
        if parameter in MODELS.get(setting.model, ())
        else setting
        for setting in settings
    ]


def changed(study, capture, variation, placement):
    """Return the study with one choice changed that is not a parameter of a predictor.

    `variation` is one of the `variations` of `sensitivity`, which explains the other arguments.
    """
    what, parameter, value = variation
    if what == PROTOCOL:
        return _protocol(study, capture, parameter, value)
    if what == WORKLOAD and parameter == "seed":
        return study._replace(workload=placed(study.workload, study.machine, study.kind, value))
    if what == WORKLOAD:
        return study._replace(workload=make(capture, study.machine, study.kind, placement | {parameter: value}))
    machine = replace(study.machine, **{parameter: value})
    varied = study._replace(machine=machine, kind=drive_of(machine) if parameter == "drive" else study.kind)
    if parameter in ("drive", "block_kb"):
        varied = varied._replace(workload=placed(study.workload, machine, varied.kind, placement["seed"]))
    return varied


MODELS = {
    "pcm": ("threshold", "most", "partition"),
    "epcm": ("threshold", "most", "partition", "corrected", "product", "longest"),
}


def trained(study, number):
    """Return a study with a different number of training runs.

    The first runs recorded are used; if fewer than `number` precede the measured ones, these are repeated in order.

    Parameters
    ----------
    study : Study
    number : int

    Returns
    -------
    Study

    Raises
    ------
    ParameterError
        The number is negative, or is above 0 although no run precedes the measured ones.
    """
    before = study.measured[0]
    if number < 0 or (number and not before):
        raise ParameterError(
            f"{study.benchmark}: {number} training runs requested, but {before} runs precede the measured ones; "
            f"expected {'0 or more' if before else '0'}"
        )
    return study._replace(training=tuple(run % before for run in range(number)))


def _protocol(study, capture, parameter, value):
    if parameter == "training":
        return trained(study, value)
    if parameter == "resident":
        return study._replace(**kept(capture, study.workload, value))
    return study._replace(**{parameter: value})  # the parameter is head_start or apart


def _played(study, settings, variation, threads):
    """Replay one variation and return Figure 7's columns and lead times."""
    runs = simulate(study, settings, threads)
    table = fig7(runs)[[*KEPT]]
    keys = ["model", "partition_size", "model_order"]
    lead = leads(runs)[[*keys, "lead_ms", "correct_lead_ms", "never_used"]]
    table = table.merge(lead, on=keys, how="left")
    for place, name in enumerate(("varied", "parameter", "value")):
        text = str(variation[place]).lower() if isinstance(variation[place], bool) else str(variation[place])
        table.insert(1 + place, name, text)
    return table


KEPT = (
    "benchmark", "model", "partition_size", "model_order", "elapsed_s", "io_wait_s", "read_latency_us",
    "elapsed_reduction_s", "io_reduction_pct", "read_reduction_pct",
)  # fmt: skip
