"""Replay the EPCM study under conditions other than the criterion's, one at a time and jointly, and with other numbers
of training runs and other head starts.
"""

from dataclasses import replace

import pandas as pd

from misspenalty_studies.epcm.runs import BASELINES, Setting, simulate
from misspenalty_studies.epcm.sensitivity import (
    MACHINE,
    MODEL,
    PROTOCOL,
    WORKLOAD,
    Variation,
    changed,
    trained,
    with_parameter,
)
from misspenalty_studies.epcm.tables import fig7, fig8, timed

CHANGES = {
    "20 training runs": Variation(PROTOCOL, "training", 20),
    "60 training runs": Variation(PROTOCOL, "training", 60),
    "models learn from the training runs alone": Variation(PROTOCOL, "apart", True),
    "clock started 0.5 s after the preceding command": Variation(PROTOCOL, "head_start", 0.5),
    "program files in memory at the start": Variation(PROTOCOL, "resident", "programs"),
    "nothing in memory at the start": Variation(PROTOCOL, "resident", "none"),
    "program files a quarter as large": Variation(WORKLOAD, "programs", 0.25),
    "each file opened only once": Variation(WORKLOAD, "passes", "last"),
    "client with 1 GB of memory": Variation(MACHINE, "memory_mb", 1024),
    "demand reads served before prefetches": Variation(MACHINE, "demand_first", True),
    "file system with 4 KB blocks": Variation(MACHINE, "block_kb", 4),
    "temporary files identified by their recorded paths": Variation(WORKLOAD, "temporaries", "recorded"),
    "copying from buffer to page twice as slow": Variation(MACHINE, "buffer_copy_us_per_kb", 2.0),
    "files prefetched from a likelihood of 0.5": Variation(MODEL, "threshold", 0.5),
}
"""Single changes, by their description in words; the value for a copy time is a factor."""

_MORE, _LED, _SMALL, _ONCE, _LARGE, _FIRST, _LIKELY, _APART = (
    "60 training runs",
    "clock started 0.5 s after the preceding command",
    "program files a quarter as large",
    "each file opened only once",
    "client with 1 GB of memory",
    "demand reads served before prefetches",
    "files prefetched from a likelihood of 0.5",
    "models learn from the training runs alone",
)
JUDGED = "andrew"
OTHERS = {
    "ld": (_APART, "20 training runs", _MORE, _SMALL, _FIRST, _LIKELY),
    "glimpse": (_APART, _MORE, _ONCE, _LARGE, _FIRST, _LIKELY),
    "ssh": (_APART, _MORE, "nothing in memory at the start", _SMALL, _FIRST, _LIKELY),
}
"""Single changes tried on the other workloads; changes left out have no effect there, or none that decides a claim."""

JOINT = {
    JUDGED: (
        (_MORE, _LED),
        (_MORE, _SMALL),
        (_LED, _SMALL),
        (_MORE, _LED, _SMALL),
        (_MORE, _LED, _FIRST),
        (_MORE, _LED, _SMALL, _FIRST),
        (_MORE, _LED, "copying from buffer to page twice as slow"),
        (_MORE, _LED, _SMALL, "copying from buffer to page twice as slow"),
        (_MORE, _LED, _SMALL, _FIRST, "copying from buffer to page twice as slow"),
    ),
    "glimpse": ((_ONCE, _MORE), (_ONCE, _LARGE), (_ONCE, _LARGE, _MORE), (_ONCE, _LARGE, _MORE, _FIRST)),
}


def conditions(benchmark=JUDGED):
    """Return the changes by condition, single changes first.

    Parameters
    ----------
    benchmark : str
        The workload; one that is not listed has no conditions.

    Returns
    -------
    dict of str to list of Variation
        By the condition in words.

    Examples
    --------
    >>> list(conditions("ld"))[:2]
    ['models learn from the training runs alone', '20 training runs']
    """
    alone = (
        OTHERS.get(benchmark, ()) if benchmark != JUDGED else [words for words in CHANGES if words not in _ELSEWHERE]
    )
    joint = JOINT.get(benchmark, ())
    return {words: [CHANGES[words]] for words in alone} | {
        "; ".join(words): [CHANGES[word] for word in words] for words in joint
    }


_ELSEWHERE = (_ONCE, _LARGE, "nothing in memory at the start")  # varied only on the other workloads


def under_conditions(study, capture, bars, placement, partition_size, model_order, threads=1):
    """Compute Figures 7 and 8 under each condition; otherwise the judged protocol applies, with all measured runs.

    Parameters
    ----------
    study : Study
        The study as the criterion defines it.
    capture : Capture
        The study's recorded calls.
    bars : list of Setting
        Bars of Figure 7.
    placement : dict
        Placement of the study's own workload, from `misspenalty_studies.epcm.setup.set_up`.
    partition_size, model_order : int
        Parameters of the EPCM run of Figure 8.
    threads : int
        Number of settings that are replayed in parallel; the result does not depend on it.

    Returns
    -------
    dict of str to DataFrame
        ``fig7, fig8``, with the column ``condition``.
    """
    found = {"fig7": [], "fig8": []}
    for words, changes in conditions().items():
        varied, settings = _changed(study, capture, changes, placement, bars)
        plain = [Setting(model) for model in ("cold", "hot")] + [bar for bar in settings if bar.model == "epcm"]
        with_copy = simulate(varied, settings, threads)
        without = simulate(varied._replace(machine=replace(varied.machine, separate_buffers=False)), plain, threads)
        tables = {
            "fig7": fig7(pd.concat([with_copy, without], ignore_index=True)),
            "fig8": fig8(with_copy, study.benchmark, partition_size, model_order),
        }
        for item, table in tables.items():
            found[item].append(table.assign(condition=words))
    return {item: pd.concat(parts, ignore_index=True) for item, parts in found.items()}


def other_workload(study, capture, bars, placement, threads=1):
    """Return Figure 7 of a workload other than Andrew, under each of its conditions.

    Parameters
    ----------
    study, capture, bars, placement, threads
        As in `under_conditions`; baselines other than the cold run are left out, since no claim reads them.

    Returns
    -------
    DataFrame
        Figure 7 with the column ``condition``; an empty table if the workload has no conditions.
    """
    read = [bar for bar in bars if bar.model != "hot"]
    parts = [
        fig7(simulate(*_changed(study, capture, changes, placement, read), threads)).assign(condition=words)
        for words, changes in conditions(study.benchmark).items()
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _changed(study, capture, changes, placement, bars):
    """Return the study and its bars with some choices made differently."""
    for what, parameter, value in changes:
        if what == MODEL:
            bars = with_parameter(bars, parameter, value)
            continue
        if parameter == "buffer_copy_us_per_kb":
            value *= study.machine.buffer_copy_us_per_kb
        study = changed(study, capture, Variation(what, parameter, value), placement)
        if what == WORKLOAD:
            placement = placement | {parameter: value}
    return study, bars


def learning(study, settings, threads=1):
    """Compute the learning curve: each recorded run in turn, started cold, with models that have learnt from all runs
    before it.

    Parameters
    ----------
    study : Study
        All runs of its workload are replayed, whether they train or are measured.
    settings : list of Setting
        Predictors; baselines are skipped.
    threads : int
        As in `under_conditions`.

    Returns
    -------
    DataFrame
        ``benchmark, model, partition_size, model_order, training`` (number of runs before), ``io_wait_s,
        io_reduction_pct`` (of the wait of the same run without a predictor), ``read_latency_us, read_reduction_pct,
        prefetches, never_used``.
    """
    whole = study._replace(training=(), measured=tuple(range(len(study.workload.records))))
    runs = simulate(whole, [Setting("cold"), *(bar for bar in settings if bar.model not in BASELINES)], threads)
    frame = timed(runs)
    for column, removed in (("io_wait_s", "io_reduction_pct"), ("read_latency_us", "read_reduction_pct")):
        cold = frame[f"{column}_cold"]
        frame[removed] = 100 * (1 - frame[column] / cold.where(cold > 0)).fillna(0)
    frame = (
        frame[frame["model"] != "cold"]
        .assign(training=frame["run"] - 1)
        .rename(columns={"files_ahead": "prefetches", "wrong": "never_used"})
    )
    keys = ["benchmark", "model", "partition_size", "model_order", "training"]
    columns = ["io_wait_s", "io_reduction_pct", "read_latency_us", "read_reduction_pct", "prefetches", "never_used"]
    return frame[keys + columns].reset_index(drop=True)


def surface(study, settings, trainings, head_starts, measured, threads=1):
    """Compute the remaining wait and read latency for each number of training runs and each head start.

    Parameters
    ----------
    study : Study
    settings : list of Setting
        Predictors.
    trainings : sequence of int
        Numbers of training runs; see `misspenalty_studies.epcm.sensitivity.trained`.
    head_starts : sequence of float
        Head starts, s.
    measured : int
        Number of the study's measured runs that are used, counted from the last.
    threads : int
        As in `under_conditions`.

    Returns
    -------
    DataFrame
        ``benchmark, model, partition_size, model_order, training, head_start_s, io_wait_s, io_reduction_pct,
        read_latency_us, read_reduction_pct``.

    Raises
    ------
    ParameterError
        A number of training runs is negative, or is above 0 although no run precedes the measured ones.
    """
    study = study._replace(measured=study.measured[-measured:])
    parts = []
    for head_start in head_starts:
        for training in trainings:
            varied = trained(study, training)._replace(head_start=head_start)
            table = fig7(simulate(varied, [Setting("cold"), *settings], threads))
            parts.append(table[table["model"] != "cold"].assign(training=training, head_start_s=head_start))
    keys = ["benchmark", "model", "partition_size", "model_order", "training", "head_start_s"]
    columns = ["io_wait_s", "io_reduction_pct", "read_latency_us", "read_reduction_pct"]
    return pd.concat(parts, ignore_index=True)[keys + columns]
