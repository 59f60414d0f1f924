"""The EPCM study under conditions other than the criterion's, singly and jointly: for its claims, and as a surface."""

from dataclasses import replace

import pandas as pd

from misspenalty_studies.epcm.runs import BASELINES, Setting, simulate
from misspenalty_studies.epcm.sensitivity import MACHINE, PROTOCOL, WORKLOAD, Variation, changed
from misspenalty_studies.epcm.tables import fig7, fig8, timed

CHANGES = {
    "20 training runs": Variation(PROTOCOL, "training", 20),
    "60 training runs": Variation(PROTOCOL, "training", 60),
    "clock started 0.5 s after the preceding command": Variation(PROTOCOL, "head_start", 0.5),
    "program files in memory at the start": Variation(PROTOCOL, "resident", "programs"),
    "program files a quarter as large": Variation(WORKLOAD, "programs", 0.25),
    "demand reads served before prefetches": Variation(MACHINE, "demand_first", True),
    "file system with 4 KB blocks": Variation(MACHINE, "block_kb", 4),
    "temporary files identified by their recorded paths": Variation(WORKLOAD, "temporaries", "recorded"),
    "copying from buffer to page twice as slow": Variation(MACHINE, "buffer_copy_us_per_kb", 2.0),
}
"""Single changes by their words; a factor for a copy time."""

_MORE, _LED, _SMALL = (
    "60 training runs",
    "clock started 0.5 s after the preceding command",
    "program files a quarter as large",
)
JOINT = (
    (_MORE, _LED),
    (_MORE, _SMALL),
    (_LED, _SMALL),
    (_MORE, _LED, _SMALL),
    (_MORE, _LED, "demand reads served before prefetches"),
    (_MORE, _LED, _SMALL, "demand reads served before prefetches"),
    (_MORE, _LED, "copying from buffer to page twice as slow"),
    (_MORE, _LED, _SMALL, "copying from buffer to page twice as slow"),
    (_MORE, _LED, _SMALL, "demand reads served before prefetches", "copying from buffer to page twice as slow"),
)


def conditions():
    """Return the changes by condition, single ones first.

    Returns
    -------
    dict of str to list of Variation
        By the condition in words.

    Examples
    --------
    >>> next(iter(conditions()))
    '20 training runs'
    """
    single = {words: [change] for words, change in CHANGES.items()}
    return single | {"; ".join(words): [CHANGES[word] for word in words] for words in JOINT}


def under_conditions(study, capture, bars, placement, partition_size, model_order, wanted=None, threads=1):
    """Compute Figures 7 and 8 under each condition, otherwise under the protocol that is judged: all measured runs
    count.

    Parameters
    ----------
    study : Study
        The study as the criterion defines it.
    capture : Capture
        Its recorded calls.
    bars : list of Setting
        Bars of Figure 7.
    placement : dict
        Placement of the study's own workload, from `misspenalty_studies.epcm.setup.set_up`.
    partition_size, model_order : int
        Parameters of the EPCM run of Figure 8.
    wanted : dict, optional
        Conditions, by default all of `conditions`.
    threads : int
        Settings replayed in parallel; the result does not depend on it.

    Returns
    -------
    dict of str to DataFrame
        ``fig7, fig8``, with the column ``condition``.
    """
    plain = [Setting(model) for model in ("cold", "hot")] + [bar for bar in bars if bar.model == "epcm"]
    found = {"fig7": [], "fig8": []}
    for words, changes in (conditions() if wanted is None else wanted).items():
        varied = study
        for what, parameter, value in changes:
            if parameter == "buffer_copy_us_per_kb":
                value *= varied.machine.buffer_copy_us_per_kb
            varied = changed(varied, capture, Variation(what, parameter, value), placement)
        with_copy = simulate(varied, bars, threads)
        without = simulate(varied._replace(machine=replace(varied.machine, separate_buffers=False)), plain, threads)
        tables = {
            "fig7": fig7(pd.concat([with_copy, without], ignore_index=True)),
            "fig8": fig8(with_copy, study.benchmark, partition_size, model_order),
        }
        for item, table in tables.items():
            found[item].append(table.assign(condition=words))
    return {item: pd.concat(parts, ignore_index=True) for item, parts in found.items()}


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
        ``benchmark, model, partition_size, model_order, training`` (runs before), ``io_wait_s, io_reduction_pct`` (of
        the wait of the same run without a predictor), ``read_latency_us, read_reduction_pct, prefetches, never_used``.
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
    """Compute the remaining wait and read latency, over training runs and head start.

    Parameters
    ----------
    study : Study
    settings : list of Setting
        Predictors.
    trainings : sequence of int
        Numbers of training runs; they precede the measured ones, and start over from the first if more are asked for.
    head_starts : sequence of float
        s.
    measured : int
        How many of the last recorded runs are measured.
    threads : int
        As in `under_conditions`.

    Returns
    -------
    DataFrame
        ``benchmark, model, partition_size, model_order, training, head_start_s, io_wait_s, io_reduction_pct,
        read_latency_us, read_reduction_pct``.
    """
    study = study._replace(measured=study.measured[-measured:])
    parts = []
    for head_start in head_starts:
        for training in trainings:
            runs = tuple(run % study.measured[0] for run in range(training))
            varied = study._replace(training=runs, head_start=head_start)
            table = fig7(simulate(varied, [Setting("cold"), *settings], threads))
            parts.append(table[table["model"] != "cold"].assign(training=training, head_start_s=head_start))
    keys = ["benchmark", "model", "partition_size", "model_order", "training", "head_start_s"]
    columns = ["io_wait_s", "io_reduction_pct", "read_latency_us", "read_reduction_pct"]
    return pd.concat(parts, ignore_index=True)[keys + columns]
