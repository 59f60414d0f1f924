"""Assemble the EPCM study from its parts: a capture, a machine, a drive."""

import re

import numpy as np

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty.traces import builds
from misspenalty_studies.epcm.file_client.client import CALLS
from misspenalty_studies.epcm.file_client.workload import prepare
from misspenalty_studies.epcm.runs import Setting, Study, settings_of

SECTORS = 2**30  # sectors of a device without a description: 512 GB


def drive_of(machine):
    """Return the description of the machine's drive; None if it has a fixed-service device."""
    return None if machine.drive == "none" else disks.load(machine.drive, "disk")


def recorded(path):
    """Read a capture without the columns that workloads do not need, and with numbers as int32 if they fit.

    Parameters
    ----------
    path : path-like
        File with the capture's events.

    Returns
    -------
    Capture
    """
    capture = builds.read(path)
    for name in ("time_us", "process", "compute_us"):
        del capture.events[name]
    for name in ("offset", "length", "asked", "system_us", "gap_ns"):
        if capture.events[name].max() < 2**31:  # no value is negative, so the maximum suffices
            capture.events[name] = capture.events[name].astype(np.int32)
    return capture


def options(settings):
    """Return the arguments of `set_up` from the configuration's block."""
    return {
        "temporaries": settings["temporaries"],
        "resident": settings["resident"],
        "seed": settings["seed"],
        "walked": settings["walked"],
        "training": settings["training_runs"],
        "measured": settings["measured_runs"],
    }


def bars(settings):
    """Return the bars of Figure 7 that the configuration's block specifies."""
    return settings_of(
        settings["partition_sizes"], settings["pcm_orders"], settings["epcm_shares"], settings["threshold"]
    )


def varied(settings):
    """Return the bars that are replayed under every variation: the baselines, one of each model, and perfect foresight
    as a ceiling."""
    size, threshold = settings["fig8"]["partition_size"], settings["threshold"]
    return [
        Setting("cold"),
        Setting("hot"),
        Setting("last_successor"),
        Setting("pcm", size, settings["pcm_orders"][-1], {"threshold": threshold}),
        Setting("epcm", size, settings["fig8"]["model_order"], {"threshold": threshold}),
        *(Setting("foresight", None, ahead) for ahead in FORESIGHT),
    ]


FORESIGHT = (1, 64)  # numbers of future events that perfect foresight sees


def set_up(
    benchmark, capture, machine, *, temporaries, resident, seed, training, measured, walked=(), scale=1.0, between=False
):
    """Prepare the study of one workload.

    Parameters
    ----------
    benchmark : str
    capture : Capture
        From `misspenalty.traces.builds.read`.
    machine : ClientMachine
    temporaries : str
        As in `misspenalty_studies.epcm.file_client.workload.prepare`.
    resident : str
        Which files, names and inodes are in memory when a run begins cold; see `kept`.
    seed : int
        Seed of the placement of directories and of the phases of the drive.
    training, measured : int
        How many of the capture's first runs train, and how many of the last are measured; if fewer are left after
        training, all of these are measured.
    walked : sequence of str
        Benchmarks whose files lie on disk in the order in which they are first opened.
    scale : float
        Factor on recorded compute.
    between : bool
        Whether the workload also includes the runs in between, for longer training.

    Returns
    -------
    study : Study
    placement : dict
        The choices from which `misspenalty_studies.epcm.sensitivity.sensitivity` prepares the workload again.

    Raises
    ------
    InputError, ParameterError
        The capture, its runs or an option is invalid.
    """
    runs = capture.runs
    if len(runs) <= training:
        raise ParameterError(
            f"{benchmark} has {len(runs)} run{'s' * (len(runs) != 1)}, but training needs {training}; leave at least"
            " one to measure"
        )
    measured = min(measured, len(runs) - training)
    if not between:
        runs = runs[:training] + runs[-measured:]
    order = "opened" if benchmark in walked else "names"
    placement = {"runs": runs, "temporaries": temporaries, "seed": seed, "order": order}
    kind = drive_of(machine)
    workload = make(capture, machine, kind, placement)
    first, rest = tuple(range(training)), tuple(range(len(runs) - measured, len(runs)))
    study = Study(benchmark, workload, machine, kind, first, rest, scale, seed)
    return study._replace(**kept(capture, workload, resident)), placement


MAPPED = re.compile(r"/(ld-linux[^/]*|libc)\.so\.\d+$|/bin/(sh|dash|bash)$")


def kept(capture, workload, resident):
    """Return the files in memory when a run begins cold, and those whose names and inodes stay in memory in every
    measured run.

    Parameters
    ----------
    capture : Capture
    workload : FileWorkload
        Workload made from `capture`.
    resident : str
        ``none``: nothing; ``names``: directories and inodes; ``mapped``: these and what a long-lived process has
        mapped, that is, the shell, the C library and the dynamic linker; ``programs``: directories, inodes, and all
        programs and libraries.

    Returns
    -------
    dict of str to tuple of int
        `resident` and `named` of `Study`.
    """
    held = []
    if resident == "mapped":
        held = [number for number, path in enumerate(capture.files["path"].astype(str)) if MAPPED.search(path)]
    elif resident == "programs":
        held = programs_of(workload)
    return {"resident": tuple(held), "named": () if resident == "none" else tuple(range(len(workload.first)))}


def programs_of(workload):
    """Return the paths of programs and libraries, that is, of files executed or faulted in through a mapping."""
    kinds = [CALLS.index(name) for name in ("exec", "interpreter", "fault")]
    paths = [calls["path"][np.isin(calls["kind"], kinds)] for calls in workload.records]
    return np.unique(np.concatenate(paths)).tolist()


def make(capture, machine, kind, placement):
    """Make the workload of a capture on a machine's disk.

    Parameters
    ----------
    capture : Capture
    machine : ClientMachine
    kind : Description or None
        Description of the drive; without one the disk has `SECTORS`.
    placement : dict
        ``seed`` and some of ``runs, temporaries, programs, order, passes``; see
        `misspenalty_studies.epcm.file_client.workload.prepare`.

    Returns
    -------
    FileWorkload
    """
    chosen = {name: value for name, value in placement.items() if name != "seed"}
    return prepare(capture, **chosen, **_disk(machine, kind, placement["seed"]))


def placed(workload, machine, kind, seed):
    """Return the calls of a workload on another disk or with another seed; `machine` and `kind` are as in `make`."""
    return workload.placed(**_disk(machine, kind, seed))


def _disk(machine, kind, seed):
    return {
        "sectors": kind.blocks if kind else SECTORS,
        "block_kb": machine.block_kb,
        "generator": np.random.default_rng(seed),
    }
