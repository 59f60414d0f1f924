"""Run the EPCM study's jobs, which turn recorded builds into tables of runs."""

import sys
from dataclasses import replace

import pandas as pd

from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.common.points import as_written
from misspenalty_studies.epcm import conditions, recordings, runs, sensitivity, setup, tables
from misspenalty_studies.epcm.file_client.client import ClientMachine

KERNELS = {"linux22": True, "linux24": False}  # kernel -> whether it copies buffers to pages


def _machine(path):
    return load_machine(path, ClientMachine)


WHOLE_RUN = 1024  # future events that perfect foresight sees in `surface`: most of an Andrew run
COPY_TIMES = ("copy_us_per_kb", "buffer_copy_us_per_kb")


def _copy_times(path):
    """Read the copy times from the table of `copy_fit`, by parameter of the machine."""
    return {name: float(value) for name, value in pd.read_csv(path).set_index("parameter")["value"].items()}


def _row(fit, build, value, target, reached):
    row = {"parameter": fit.parameter, "benchmark": build, "value": value, "unit": fit.unit, "target": target}
    return pd.DataFrame([row | {"reached": reached}])


def copy_fit(capture, machine, calibration, build, settings):
    """Fit the copy times per KB so that the hot read latency matches the published one, as far as their ranges allow.

    Parameters
    ----------
    capture : sequence of path-like
        Calls, files and processes of the recorded build.
    machine : path-like
        ``machine.yaml``.
    calibration : path-like
        ``data/calibration.yaml``.
    build : str
        Name of the build.
    settings : dict
        The study's block of the configuration.

    Returns
    -------
    DataFrame
        One row per copy time: ``parameter, benchmark, value, unit, target, reached``.
    """
    fits = [fit for fit in load_calibration(calibration) if fit.parameter in COPY_TIMES]
    target = fits[0].published[0]["value"]
    testbed = _machine(machine).testbed
    study, _ = setup.set_up(build, setup.recorded(capture[0]), testbed, **setup.options(settings))
    values = runs.fit_copy(study, target, {fit.parameter: fit.range for fit in fits})
    reached = runs.hot_read_us(study, values)
    return pd.concat([_row(fit, build, values[fit.parameter], target, reached) for fit in fits], ignore_index=True)


def _scale_fit(study, calibration):
    """Fit the factor on recorded compute time so that the cold run has the published compute time."""
    (fit,) = [fit for fit in load_calibration(calibration) if fit.parameter == "compute_scale"]
    (target,) = [cell["value"] for cell in fit.published if cell["where"]["benchmark"] == study.benchmark]
    value = runs.fit_scale(study, target, *fit.range)
    return _row(fit, study.benchmark, value, target, runs.cold_compute_s(study._replace(scale=value)))


def play(capture, machine, today, calibration, copying, published, build, settings, threads=1):
    """Replay every bar of Figure 7 for one build, with and without the buffer copy, and the settings of `setup.varied`
    on a present-day machine; also return facts of the build.

    Parameters
    ----------
    capture, machine, calibration, build, settings
        As in `copy_fit`.
    today : path-like
        ``machine_today.yaml``.
    copying : path-like
        The table of `copy_fit`.
    published : path-like
        ``studies/epcm/published/workloads.csv``.
    threads : int
        Number of settings that are replayed in parallel; the result does not depend on it.

    Returns
    -------
    dict of str to DataFrame
        ``scale`` (the fit of the factor on compute time), ``linux22``, ``linux24`` (runs), ``accuracy`` (of the
        predictors), ``workload`` (facts of the build), ``today`` (Figure 7 on a present-day machine).
    """
    testbed = replace(_machine(machine).testbed, **_copy_times(copying))
    recorded, options, bars = setup.recorded(capture[0]), setup.options(settings), setup.bars(settings)
    study, placement = setup.set_up(build, recorded, testbed, **options)
    found = {"scale": as_written(_scale_fit(study, calibration))}
    study = study._replace(scale=float(found["scale"]["value"].item()))
    for kernel, copies in KERNELS.items():
        found[kernel] = runs.simulate(study._replace(machine=replace(testbed, separate_buffers=copies)), bars, threads)
        print(f"{build}, {kernel}: {len(found[kernel])} runs", file=sys.stderr)
    found["accuracy"] = tables.accuracy(build, study.workload, study.training, study.measured, bars)
    found["workload"] = tables.workload_facts(study, recorded, placement["runs"], pd.read_csv(published))
    del study
    study, _ = setup.set_up(build, recorded, _machine(today).testbed, **options)
    return found | {"today": tables.fig7(runs.simulate(study, setup.varied(settings), threads))}


def foresee(capture, machine, copying, scale, build, settings, threads=1):
    """Replay one build with perfect foresight, as a limit for predictors; parameters as in `vary`.

    Returns
    -------
    DataFrame
        See `misspenalty_studies.epcm.conditions.surface`, without ``training``; ``demand_first`` says whether the
        disk's queue serves demand reads first.
    """
    _, _, study, _ = _prepared(capture, machine, copying, scale, build, settings)
    limits = settings["limits"]
    told = [runs.Setting("foresight", None, ahead) for ahead in limits["ahead"]]
    measured = settings["sensitivity"]["runs"]
    ceilings = [
        conditions.surface(queued, told, [0], limits["head_start"], measured, threads).assign(demand_first=first)
        for first, queued in both_queues(study).items()
    ]
    return pd.concat(ceilings, ignore_index=True).drop(columns="training")


def vary(capture, machine, copying, scale, build, settings, threads=1):
    """Replay one build under every other reading of the paper, one at a time; parameters as in `play`.

    Parameters
    ----------
    scale : path-like
        The table ``scale`` of `play`.

    Returns
    -------
    DataFrame
        See `misspenalty_studies.epcm.sensitivity.sensitivity`.
    """
    file, recorded, study, placement = _prepared(capture, machine, copying, scale, build, settings)
    choices = settings["sensitivity"]
    variations = sensitivity.variations_of(choices, file if build in choices["machine"] else None)
    variations = [one for one in variations if one.parameter != "passes" or build in settings["walked"]]
    return sensitivity.sensitivity(
        study, recorded, setup.varied(settings), variations, placement, choices["runs"], threads
    )


def _prepared(capture, machine, copying, scale, build, settings):
    """Return the machine's file with the fitted copy times, the recording, and the study and placement made from
    them."""
    file = _machine(machine)
    file = replace(file, testbed=replace(file.testbed, **_copy_times(copying)))
    recorded = setup.recorded(capture[0])
    options = setup.options(settings) | {"scale": float(pd.read_csv(scale)["value"].item())}
    return file, recorded, *setup.set_up(build, recorded, file.testbed, **options, between=True)


def both_queues(study):
    """Return the study twice: with a disk queue that treats demand reads and prefetches alike (key False), and with one
    that serves demand reads first (key True)."""
    return {first: study._replace(machine=replace(study.machine, demand_first=first)) for first in (False, True)}


def judge_others(capture, machine, copying, scale, build, settings, threads=1):
    """Return Figure 7 of a workload other than Andrew, under other conditions; parameters as in `vary`.

    Returns
    -------
    DataFrame
        See `misspenalty_studies.epcm.conditions.other_workload`.
    """
    _, recorded, study, placement = _prepared(capture, machine, copying, scale, build, settings)
    return conditions.other_workload(study, recorded, setup.bars(settings), placement, threads)


def judge_otherwise(
    capture, others, more, machine, calibration, copying, scale, baselines, reductions, build, settings, threads=1
):
    """Replay Andrew under other conditions, with varied training runs and head starts, and from other recordings.

    Parameters
    ----------
    others : sequence of path-like
        Calls, files and processes of each other recording.
    more : sequence of path-like
        Tables of `judge_others`.
    baselines, reductions : path-like
        ``studies/epcm/published/baselines.csv`` and ``reductions.csv``.
    capture, machine, calibration, copying, scale, build, settings, threads
        As in `vary` and `play`.

    Returns
    -------
    dict of str to DataFrame
        ``fig7`` (of all workloads) and ``fig8`` with the column ``condition``; ``surface``, ``learning``,
        ``recordings``.
    """
    file, recorded, study, placement = _prepared(capture, machine, copying, scale, build, settings)
    measured, bars = settings["sensitivity"]["runs"], setup.bars(settings)
    found = conditions.under_conditions(study, recorded, bars, placement, **settings["fig8"], threads=threads)
    found["fig7"] = pd.concat([found["fig7"], *map(pd.read_csv, more)], ignore_index=True)
    told = runs.Setting("foresight", None, WHOLE_RUN)
    predictors = [bar for bar in setup.varied(settings) if bar.model not in runs.BASELINES]
    surface = settings["surface"]
    found["surface"] = conditions.surface(
        study, [*predictors, told], surface["training"], surface["head_start"], measured, threads
    )
    found["learning"] = conditions.learning(study, bars, threads)
    published = recordings.published(pd.read_csv(baselines), pd.read_csv(reductions), build)
    parts = [recordings.facts(recorded.name, study, bars, published)]
    for path in others[::3]:
        name, study = _other_recording(path, file.testbed, calibration, build, settings)
        parts.append(recordings.facts(name, study, bars, published))
    return found | {"recordings": pd.concat(parts, ignore_index=True)}


def _other_recording(path, testbed, calibration, build, settings):
    """Return the name and study of another recording, with its own factor on compute time."""
    recorded = setup.recorded(path)
    study, _ = setup.set_up(build, recorded, testbed, **setup.options(settings))
    scale = as_written(_scale_fit(study, calibration))["value"].item()
    return recorded.name, study._replace(scale=float(scale))
