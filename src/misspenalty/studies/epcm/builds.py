"""The EPCM study's jobs: recorded builds in, tables of runs out."""

import sys
from dataclasses import replace

import pandas as pd

from misspenalty.claims.ledger import load_calibration
from misspenalty.machine import load_machine
from misspenalty.studies.epcm import conditions, runs, sensitivity, setup, tables
from misspenalty.studies.points import as_written
from misspenalty.systems.file_client.client import ClientMachine
from misspenalty.traces import builds

KERNELS = {"linux22": True, "linux24": False}  # with the buffer-to-page copy, and without


def _machine(path, schema):
    return load_machine(path, schema, ClientMachine)


WHOLE_RUN = 1024  # events that perfect foresight is told on the surface: most of an Andrew run's
COPY_TIMES = ("copy_us_per_kb", "buffer_copy_us_per_kb")


def _value(path):
    """The value of a table of a fit."""
    return float(pd.read_csv(path)["value"].item())


def _copy_times(path):
    """The copy times of the table of `copy_fit`, by parameter of the machine."""
    return {name: float(value) for name, value in pd.read_csv(path).set_index("parameter")["value"].items()}


def _row(fit, build, value, target, reached):
    row = {"parameter": fit.parameter, "benchmark": build, "value": value, "unit": fit.unit, "target": target}
    return pd.DataFrame([row | {"reached": reached}])


def copy_fit(capture, machine, schema, calibration, build, settings):
    """Fit the times to copy a KB to the published hot read latency.

    Parameters
    ----------
    capture : sequence of path-like
        Calls, files and processes of the recorded build.
    machine, schema : path-like
        ``epcm_client.yaml`` and its schema.
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
    testbed = _machine(machine, schema).testbed
    study, _ = setup.set_up(build, builds.read(capture[0]), testbed, **setup.options(settings))
    values = runs.fit_copy(study, target, {fit.parameter: fit.range for fit in fits})
    reached = runs.hot_read_us(study, values)
    return pd.concat([_row(fit, build, values[fit.parameter], target, reached) for fit in fits], ignore_index=True)


def _scale_fit(capture, testbed, calibration, build, settings):
    """Fit the factor on recorded compute to the published compute of the cold run."""
    (fit,) = [fit for fit in load_calibration(calibration) if fit.parameter == "compute_scale"]
    (target,) = [cell["value"] for cell in fit.published if cell["where"]["benchmark"] == build]
    study, _ = setup.set_up(build, capture, testbed, **setup.options(settings))
    value = runs.fit_scale(study, target, *fit.range)
    return _row(fit, build, value, target, runs.cold_compute_s(study._replace(scale=value)))


def play(capture, machine, schema, today, calibration, copying, published, build, settings):
    """Every bar of Figure 7 for one build, with and without the buffer copy, what the build is like, and it today.

    Parameters
    ----------
    capture, machine, schema, calibration, build, settings
        As in `copy_fit`.
    today : path-like
        ``epcm_today.yaml``.
    copying : path-like
        The table of `copy_fit`.
    published : path-like
        ``data/published/epcm_workloads.csv``.

    Returns
    -------
    dict of str to DataFrame
        ``scale`` (the fit of the factor on compute), ``linux22``, ``linux24`` (runs), ``accuracy`` (of the predictors),
        ``workload`` (what it consists of), ``today`` (Figure 7 on a machine of today).
    """
    testbed = replace(_machine(machine, schema).testbed, **_copy_times(copying))
    recorded = builds.read(capture[0])
    found = {"scale": as_written(_scale_fit(recorded, testbed, calibration, build, settings))}
    options = setup.options(settings) | {"scale": float(found["scale"]["value"].item())}
    bars = setup.bars(settings)
    for kernel, copies in KERNELS.items():
        study, _ = setup.set_up(build, recorded, replace(testbed, separate_buffers=copies), **options)
        found[kernel] = runs.simulate(study, bars)
        print(f"{build}, {kernel}: {len(found[kernel])} runs", file=sys.stderr)
        del study
    study, _ = setup.set_up(build, recorded, testbed, **options)
    found["accuracy"] = tables.accuracy(build, study.workload, study.training, study.measured, bars)
    found["workload"] = tables.workload_facts(study, recorded, pd.read_csv(published))
    del study
    study, _ = setup.set_up(build, recorded, _machine(today, schema).testbed, **setup.options(settings))
    return found | {"today": tables.fig7(runs.simulate(study, setup.varied(settings)))}


def vary(capture, machine, schema, copying, scale, build, settings):
    """Every other reading of the paper on one build, one at a time; parameters as in `play`.

    Parameters
    ----------
    scale : path-like
        The table ``scale`` of `play`.
    """
    testbed = _machine(machine, schema)
    testbed = replace(testbed, testbed=replace(testbed.testbed, **_copy_times(copying)))
    choices = settings["sensitivity"]
    recorded = builds.read(capture[0])
    options = setup.options(settings) | {"scale": _value(scale)}
    study, placement = setup.set_up(build, recorded, testbed.testbed, **options)
    varied = testbed if build in choices["machine"] else None
    return sensitivity.sensitivity(
        study,
        recorded,
        setup.varied(settings),
        sensitivity.variations_of(choices, varied),
        placement,
        choices["runs"],
    )


def judge_otherwise(capture, machine, schema, copying, scale, build, settings):
    """Figures 7 and 8 under other conditions, and the surface over training runs and head start; parameters as `vary`.

    Returns
    -------
    dict of str to DataFrame
        ``fig7, fig8`` with the column ``condition``, and ``surface``.
    """
    testbed = replace(_machine(machine, schema).testbed, **_copy_times(copying))
    recorded = builds.read(capture[0])
    options = setup.options(settings) | {"scale": _value(scale)}
    study, placement = setup.set_up(build, recorded, testbed, **options)
    measured, bars = settings["sensitivity"]["runs"], setup.bars(settings)
    found = conditions.under_conditions(study, recorded, bars, placement, measured, **settings["fig8"])
    predictors = [bar for bar in setup.varied(settings) if bar.model not in runs.BASELINES]
    predictors.append(runs.Setting("foresight", None, WHOLE_RUN))
    surface = settings["surface"]
    grid = conditions.surface(study, predictors, surface["training"], surface["head_start"], measured)
    return found | {"surface": grid}
