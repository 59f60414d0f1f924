"""The EPCM study's parts put together: a capture, a machine, a drive."""

import numpy as np

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty.studies.epcm.runs import Setting, Study, settings_of
from misspenalty.systems.file_client.workload import prepare

SECTORS = 2**30  # of a device without description: 512 GB


def drive_of(machine):
    """Description of the machine's drive; None where it has a device of fixed service."""
    return None if machine.drive == "none" else disks.load(machine.drive, "disk")


def options(settings):
    """What `set_up` takes from the configuration's block."""
    return {
        "temporaries": settings["temporaries"],
        "seed": settings["seed"],
        "training": settings["training_runs"],
        "measured": settings["measured_runs"],
    }


def bars(settings):
    """The bars of Figure 7 that the configuration's block asks for."""
    return settings_of(
        settings["partition_sizes"], settings["pcm_orders"], settings["epcm_shares"], settings["thresholds"]
    )


def varied(settings):
    """The settings that are varied: the baselines, one bar of each model, and perfect foresight as a ceiling."""
    size, thresholds = settings["fig8"]["partition_size"], settings["thresholds"]
    return [
        Setting("cold"),
        Setting("hot"),
        Setting("last_successor"),
        Setting("pcm", size, settings["pcm_orders"][0], {"threshold": thresholds["pcm"]}),
        Setting("epcm", size, settings["fig8"]["model_order"], {"threshold": thresholds["epcm"]}),
        *(Setting("foresight", None, ahead) for ahead in FORESIGHT),
    ]


FORESIGHT = (1, 64)  # events that perfect foresight is told


def set_up(benchmark, capture, machine, *, temporaries, seed, training, measured, scale=1.0):
    """The study of one workload.

    Parameters
    ----------
    benchmark : str
    capture : Capture
        From `misspenalty.traces.builds.read`.
    machine : ClientMachine
    temporaries : str
        As in `misspenalty.systems.file_client.workload.prepare`.
    seed : int
        Of the placement of directories and the phases of the drive.
    training, measured : int
        The capture's first runs train, the next are measured, as many as there are.
    scale : float
        Factor on recorded compute.

    Returns
    -------
    study : Study
    placement : dict
        What `misspenalty.studies.epcm.sensitivity.sensitivity` needs to prepare the workload again.

    Raises
    ------
    InputError, ParameterError
        The capture, its runs or an option is impossible.
    """
    runs = np.unique(capture.events["run"]).tolist()[: training + measured]
    if len(runs) <= training:
        raise ParameterError(f"{benchmark}: {len(runs)} runs, of which {training} train; expected more to measure")
    placement = {"runs": runs, "temporaries": temporaries, "seed": seed}
    kind = drive_of(machine)
    workload = make(capture, machine, kind, placement)
    first, rest = tuple(range(training)), tuple(range(training, len(runs)))
    return Study(benchmark, workload, machine, kind, first, rest, scale, seed), placement


def make(capture, machine, kind, placement):
    """The workload of a capture on a machine's disk.

    Parameters
    ----------
    capture : Capture
    machine : ClientMachine
    kind : Description or None
        Of the drive; without one the disk has `SECTORS`.
    placement : dict
        ``runs, temporaries, seed`` and optionally ``programs``; see
        `misspenalty.systems.file_client.workload.prepare`.

    Returns
    -------
    FileWorkload
    """
    return prepare(
        capture,
        runs=placement["runs"],
        temporaries=placement["temporaries"],
        programs=placement.get("programs", 1.0),
        sectors=kind.blocks if kind else SECTORS,
        block_kb=machine.block_kb,
        generator=np.random.default_rng(placement["seed"]),
    )
