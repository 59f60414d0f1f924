"""The SARC study's machine: controller, caches and load as ``data/machines/shark.yaml`` describes them, to scale."""

from dataclasses import dataclass, fields, replace

import pandas as pd

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty.machine import load_machine
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty.systems.array.controller import Controller, StorageController
from misspenalty.traces.spc1 import IOPS_PER_BSU, Workload

TRACK = 8  # pages of a track
GB = 1 << 30
CONFIGS = ("cache_sensitive", "cache_insensitive")
LOADS = {  # scaled IOPS, the paper's Table II; the last is the peak
    "cache_sensitive": (2500, 12500, 20000, 22500, 23750, 25000),
    "cache_insensitive": (1136, 5682, 9091, 10227, 10795, 11364),
}
PAPERS = ("lru_top", "lru_bottom", "sarc")
FITTED = ("load_factor", "host_slots", "footprint_sensitive_gb", "insertion")


@dataclass(frozen=True)
class Shark(Controller):
    """Everything the study has to know; ``shark.schema.yaml`` describes each field.

    `divisor` is the scale of the model: caches, arrays, space and load are divided by it, times and what concerns one
    array, one drive or one track are not.
    """

    drive: str
    threshold: int
    degree: int
    trigger: int
    remedy: bool
    writes_sequential: bool
    delta: float
    count_writes: bool
    large_ratio: float
    insertion: float | None
    footprint_sensitive_gb: float | None
    footprint_insensitive_gb: float | None
    load_factor: float | None
    climb: float
    warm_up_minutes: int
    warm_up_share: float
    phase_minutes: int
    discarded_minutes: int
    divisor: int = 1

    def with_values(self, values):
        """A copy with other values, numbers turned into the kind that each field has.

        Raises
        ------
        ParameterError
            A name is unknown.
        """
        kinds = {field.name: field.type for field in fields(self)}
        for name in values:
            if name not in kinds:
                raise ParameterError(f"the machine has no parameter {name!r}; it has {', '.join(kinds)}")
        whole = {name: int(value) if kinds[name] in (int, int | None) else value for name, value in values.items()}
        return replace(self, **whole)

    def model(self):
        """The same machine at its scale: caches and arrays divided by `divisor`."""
        return self.scaled(self.divisor)

    def footprint_bytes(self, config):
        """Space of the workload's units together, at scale."""
        gb = self.footprint_sensitive_gb if config == "cache_sensitive" else self.footprint_insensitive_gb
        return int(gb * GB / self.divisor)

    def iops(self, scaled_iops):
        """Requests a second that the model is given for a load point of the paper."""
        return scaled_iops * self.load_factor / self.divisor

    def prefetch(self):
        """Settings of the prefetcher."""
        names = ("degree", "trigger", "threshold")
        settings = {name: getattr(self, name) for name in names}
        if not self.degree:
            settings["trigger"] = -1
        return settings | {"remedy": int(self.remedy), "writes_sequential": int(self.writes_sequential)}


def load_shark(path, divisor=1, values=None):
    """The study's machine.

    Parameters
    ----------
    path : path-like
        ``shark.yaml``; its schema lies beside it.
    divisor : int
        Scale of the model.
    values : dict, optional
        Values that take the place of the file's, such as the fitted ones.

    Returns
    -------
    shark : Shark
    entries : dict
        What the file says of each parameter.
    """
    machine = load_machine(path, kind=Shark)
    return replace(machine.testbed, divisor=divisor).with_values(values or {}), machine.entries


def fitted_shark(path, values_path, settings, phases=None, divisor=None):
    """The study's machine with the values that the fit found and those of a run's configuration.

    Parameters
    ----------
    path : path-like
        ``shark.yaml``.
    values_path : path-like
        CSV of the fit: ``parameter, value``.
    settings : dict
        The key ``sarc`` of a configuration: its ``divisor`` and its ``values``, which go before the fitted ones.
    phases : dict, optional
        Lengths of the phases, where they are not the machine's.
    divisor : int, optional
        Scale, where it is not the configuration's.

    Returns
    -------
    shark, entries
        As of `load_shark`.
    """
    found = pd.read_csv(values_path).set_index("parameter")["value"].to_dict()
    scale = settings["divisor"] if divisor is None else divisor
    return load_shark(path, scale, {**found, **settings["values"], **(phases or {})})


class Run:
    """A controller with its workload from an empty cache on, minute by minute.

    Parameters
    ----------
    shark : Shark
    config : {"cache_sensitive", "cache_insensitive"}
    policy : str
        Any online policy; all stand behind the same prefetcher.
    seed : int
        Of the workload.
    peak : float, optional
        Highest load to come, scaled IOPS; by default the configuration's.
    """

    MINUTE = 60 * 10**9  # ns

    def __init__(self, shark, config, policy, seed, peak=None):
        missing = [name for name in FITTED if getattr(shark, name) is None]
        if missing:
            raise ParameterError(f"{', '.join(missing)} has no value: fit them first, or give them")
        self.shark, self.now = shark, 0
        model = shark.model()
        peak = LOADS[config][-1] if peak is None else peak
        self.bsus = _bsus(shark.iops(peak))
        workload = Workload(shark.footprint_bytes(config), bsus=self.bsus, seed=seed, climb=shark.climb)
        self.bases = [0]
        for blocks in workload.blocks:
            self.bases.append(-(-(self.bases[-1] + blocks) // TRACK) * TRACK)
        self.workload = workload.start()
        pages = self.bases[-1]
        cache = _cache(shark, policy, model.cache_pages, pages // TRACK)
        self.controller = StorageController(model, disks.load(shark.drive, "disk"), cache, pages)
        self.cache_pages, self.write_cache_pages = model.cache_pages, model.write_cache_pages

    def load(self, scaled_iops):
        """From now on the host sends this load."""
        iops = self.shark.iops(scaled_iops)
        self.workload.load(self.now, min(_bsus(iops), self.bsus), iops)

    def minute(self):
        """Go on for a minute; its `Interval`."""
        self.now += self.MINUTE
        return self.controller.run_workload(self.workload, self.bases, self.now)


def _bsus(iops):
    return max(1, round(iops / IOPS_PER_BSU))


def _cache(shark, policy, pages, tracks):
    """A cache of tracks; where the policy has lists of its own, with its parameters."""
    watched = {"delta": shark.delta, "count_writes": int(shark.count_writes)}
    own, observe = {}, None
    if policy == "sarc":
        own = watched | {"large_ratio": float(shark.large_ratio)}
    elif policy in ("lru_top", "lru_bottom"):
        observe = watched
        own = {"insertion": shark.insertion} if policy == "lru_bottom" else {}
    return track_cache(policy, pages, tracks, track_pages=TRACK, prefetch=shark.prefetch(), observe=observe, **own)
