"""Run the SARC study's machine: controller, caches and load of ``studies/sarc/machine.yaml``, scaled down."""

import itertools
import sys
from dataclasses import dataclass, fields, replace
from typing import get_type_hints

import pandas as pd

from misspenalty import disks
from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty.prefetch.sequential import amp
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty.traces.spc1 import IOPS_PER_BSU, Workload
from misspenalty_studies.common.machine import declared, load_machine
from misspenalty_studies.sarc.array.controller import Controller, StorageController

TRACK = 8  # pages of a track
GB = 1 << 30
CONFIGS = ("cache_sensitive", "cache_insensitive")
LOADS = {  # scaled IOPS, the paper's Table II; the last is the peak
    "cache_sensitive": (2500, 12500, 20000, 22500, 23750, 25000),
    "cache_insensitive": (1136, 5682, 9091, 10227, 10795, 11364),
}
LRU = ("lru_top", "lru_bottom")
PAPERS = (*LRU, "sarc")
FITTED = (
    "load_factor",
    "host_slots",
    "controller_us",
    "contention_us",
    "footprint_sensitive_gb",
    "insertion",
    "degree",
    "staging",
)
WARM_UP = 0  # phase
KEYS = ["config", "scaled_iops", "policy"]
TOUCHED = {  # the only policy or configuration whose responses a parameter affects
    "delta": "sarc",
    "count_writes": "sarc",
    "large_ratio": "sarc",
    "insertion": "lru_bottom",
    "footprint_sensitive_gb": "cache_sensitive",
    "footprint_insensitive_gb": "cache_insensitive",
}
OPERATIONS = ("demand_reads", "prefetch_reads", "destage_reads", "destage_writes")  # drive operations, by purpose
CUMULATIVE = ("sequential_misses", "random_tracks", "false_sequential", "stream_tracks", "missed_sequential")
MEASURES = [
    "read_ms",
    "write_ms",
    "response_ms",
    "stage_rate",
    "hit_ratio",
    "seq_share",
    "ratio",
    "sequential_misses_per_s",
    "false_pct",
    "missed_pct",
    "utilisation",
    "write_cache_fill",
    "operations_per_request",
    *(f"{name}_per_request" for name in OPERATIONS),
    "destages_per_request",
]


@dataclass(frozen=True)
class Shark(Controller):
    """All parameters of the machine.

    `divisor` is the scale of the model: caches, arrays, space and load are divided by it; times and the parameters of
    one array, drive or track are not. `prefetcher` is "sequential", which has a fixed degree, or "amp".
    """

    drive: str = declared("data/drives", "Name of a described drive, or a file that describes one", min_length=1)
    threshold: int = declared(
        "tracks", "Length of a run that is taken for a sequential stream, seqThreshold", ge=1, le=255
    )
    degree: int | None = declared("tracks", "Tracks of a prefetched group, m", ge=0, le=256)
    trigger: float = declared(
        "share of the group, from its end",
        "Distance of a group's asynchronous trigger from its end, rounded down to whole tracks; negative = none, so "
        "that only misses prefetch",
        ge=-1,
        lt=1,
    )
    remedy: bool = declared(
        "boolean",
        "Whether a trigger also moves the unread rest of its own group to the MRU end in SARC; policies from outside "
        "the paper have no such remedy",
    )
    remedy_lru: bool = declared("boolean", "The same for LRU Top and LRU Bottom")
    writes_sequential: bool = declared("boolean", "Whether written tracks of a run enter the cache as sequential data")
    delta: float = declared("share of the cache", "Size of the bottom of a list, deltaL", gt=0, le=1)
    count_writes: bool = declared("boolean", "Whether a write hit in RANDOM's bottom ends the interval of the ratio")
    large_ratio: float = declared("ratio", "Ratio from which SEQ grows at a hit in its bottom, LargeRatio", ge=0)
    insertion: float | None = declared(
        "share of the cache above the LRU end", "Where LRU Bottom inserts sequential tracks", ge=0, le=1
    )
    footprint_sensitive_gb: float | None = declared(
        "2^30 bytes", "Space of the three units together, cache-sensitive configuration", gt=0
    )
    footprint_insensitive_gb: float | None = declared(
        "2^30 bytes", "Space of the three units together, cache-insensitive configuration", gt=0
    )
    load_factor: float | None = declared(
        "requests/s per scaled IOPS", "Requests per second per scaled IOPS, full size", gt=0
    )
    climb: float = declared("probability", "Probability that the random walk climbs one more level", ge=0, le=1)
    round_writes: bool = declared("boolean", "Whether random walks write only to every eighth leaf, 256 KB apart")
    warm_up_minutes: int = declared("minutes", "Time before the first phase, in which the caches fill", ge=0, le=1440)
    warm_up_share: float = declared("share of the peak load", "Load during the warm-up", gt=0, le=1)
    phase_minutes: int = declared("minutes", "Length of a phase of the load schedule", ge=1, le=1440)
    discarded_minutes: int = declared("minutes", "Minutes at the start of a phase that are not counted", ge=0, le=1440)
    divisor: int = 1
    prefetcher: str = "sequential"

    def with_values(self, values):
        """Return a copy with other values; those of integer parameters are converted to int.

        Raises
        ------
        ParameterError
            A name is unknown, or the value of an integer parameter is not a whole number.
        """
        hints = get_type_hints(type(self))
        kinds = {field.name: hints[field.name] for field in fields(self)}
        for name in values:
            if name not in kinds:
                raise ParameterError(f"the machine has no parameter {name!r}; it has {', '.join(kinds)}")
        integers = {name: value for name, value in values.items() if kinds[name] in (int, int | None)}
        for name, value in integers.items():
            if value % 1:
                raise ParameterError(f"{name} is {value!r}; expected a whole number")
        return replace(self, **values | {name: int(value) for name, value in integers.items()})

    def model(self):
        """Return the machine at its scale: caches and arrays are divided by `divisor`."""
        return self.scaled(self.divisor)

    def footprint_gb(self, config):
        """Return the total space of the workload's units at full size, 2^30 bytes."""
        return self.footprint_sensitive_gb if config == "cache_sensitive" else self.footprint_insensitive_gb

    def footprint_bytes(self, config):
        """Return the total space of the workload's units, at the model's scale."""
        return int(self.footprint_gb(config) * GB / self.divisor)

    def iops(self, scaled_iops):
        """Return the requests per second that the model receives at a load point of the paper."""
        return scaled_iops * self.load_factor / self.divisor

    def prefetch(self, policy="sarc"):
        """Return the settings of the prefetcher in front of a policy; ``remedy_lru`` decides for the LRU variants."""
        if self.prefetcher == amp.NAME:
            return {"kind": amp.NAME, "threshold": self.threshold, "writes_sequential": int(self.writes_sequential)}
        trigger = int(self.trigger * self.degree) if self.degree and self.trigger >= 0 else -1
        settings = {"degree": self.degree, "trigger": trigger, "threshold": self.threshold}
        remedy = self.remedy_lru if policy in LRU else self.remedy
        return settings | {"remedy": int(remedy), "writes_sequential": int(self.writes_sequential)}


def load_shark(path, divisor=1, values=None):
    """Return the study's machine.

    Parameters
    ----------
    path : path-like
        ``machine.yaml``.
    divisor : int
        Scale of the model.
    values : dict, optional
        Values that replace the file's, such as the fitted ones.

    Returns
    -------
    shark : Shark
    entries : dict
        The file's entry for each parameter.
    """
    machine = load_machine(path, kind=Shark)
    return replace(machine.testbed, divisor=divisor).with_values(values or {}), machine.entries


def fitted_shark(path, values_path, settings, phases=None, divisor=None):
    """Return the study's machine with the values that the fit found and those of a run's configuration.

    Parameters
    ----------
    path : path-like
        ``machine.yaml``.
    values_path : path-like
        CSV of the fit: ``parameter, value``.
    settings : dict
        The key ``sarc`` of a configuration: its ``divisor`` and its ``values``, which take precedence over the fitted
        ones.
    phases : dict, optional
        Lengths of the phases, if not the machine's.
    divisor : int, optional
        Scale, if not the configuration's.

    Returns
    -------
    shark, entries
        As in `load_shark`.
    """
    found = pd.read_csv(values_path).set_index("parameter")["value"].to_dict()
    scale = settings["divisor"] if divisor is None else divisor
    return load_shark(path, scale, {**found, **settings["values"], **(phases or {})})


class Run:
    """A controller under its workload, minute by minute, starting with an empty cache.

    Parameters
    ----------
    shark : Shark
    config : {"cache_sensitive", "cache_insensitive"}
    policy : str
        Any online policy; the prefetcher is the machine's.
    seed : int
        Seed of the workload.
    peak : float, optional
        Highest load that will be set, scaled IOPS; by default the configuration's.
    drives : bool
        Whether to simulate drives; without them, missing pages arrive at once, and nothing is destaged.
    """

    MINUTE = 60 * 10**9  # ns

    def __init__(self, shark, config, policy, seed, peak=None, drives=True):
        missing = [name for name in FITTED if getattr(shark, name) is None]
        if missing:
            raise ParameterError(f"parameters without a value: {', '.join(missing)}; fit first, or set values")
        self.shark, self.now = shark, 0
        model = shark.model()
        peak = LOADS[config][-1] if peak is None else peak
        self.bsus = _bsus(shark.iops(peak))
        walk = {"climb": shark.climb, "round_writes": shark.round_writes}
        workload = Workload(shark.footprint_bytes(config), bsus=self.bsus, seed=seed, **walk)
        self.bases, turn = [0], model.host_turn(TRACK)
        for blocks in workload.blocks:
            self.bases.append(-(-(self.bases[-1] + blocks) // turn) * turn)
        self.workload = workload.start()
        pages = self.bases[-1]
        cache = read_cache(shark, policy, model.cache_pages, pages // TRACK)
        drive = disks.load(shark.drive, "disk") if drives else None
        self.controller = StorageController(model, drive, cache, pages)
        self.cache_pages, self.write_cache_pages = model.cache_pages, model.write_cache_pages

    def load(self, scaled_iops):
        """Set the load that the host sends from now on."""
        iops = self.shark.iops(scaled_iops)
        self.workload.load(self.now, min(_bsus(iops), self.bsus), iops)
        self.controller.load(iops)

    def minute(self):
        """Run for another minute and return its `Interval`."""
        self.now += self.MINUTE
        return self.controller.run_workload(self.workload, self.bases, self.now)


def _bsus(iops):
    return max(1, round(iops / IOPS_PER_BSU))


def touches(parameter, config, policy):
    """Return whether a run's responses may depend on a parameter; False only for parameters in `TOUCHED`.

    Parameters
    ----------
    parameter : str
        A parameter of the machine.
    config, policy : str
        Configuration and policy of the run.

    Returns
    -------
    bool

    Examples
    --------
    >>> touches("insertion", "cache_sensitive", "sarc"), touches("load_factor", "cache_sensitive", "sarc")
    (False, True)
    """
    return TOUCHED.get(parameter, policy) in (config, policy)


def read_cache(shark, policy, pages, tracks):
    """Return a cache of tracks with the machine's prefetcher and, for the paper's policies, the machine's values."""
    watched = {"delta": shark.delta, "count_writes": int(shark.count_writes)}
    own, observe = {}, None
    if policy == "sarc":
        own = watched | {"large_ratio": float(shark.large_ratio)}
    elif policy in LRU:
        observe = watched
        own = {"insertion": shark.insertion} if policy == "lru_bottom" else {}
    prefetch = shark.prefetch(policy)
    return track_cache(policy, pages, tracks, track_pages=TRACK, prefetch=prefetch, observe=observe, **own)


def simulate(shark, config, policy, seed, loads=None):
    """Simulate one run through a load schedule, minute by minute.

    Parameters
    ----------
    shark : Shark
        The machine with its fitted values.
    config : {"cache_sensitive", "cache_insensitive"}
    policy : str
        Any online policy.
    seed : int
        Seed of the workload.
    loads : sequence of float, optional
        Load points, scaled IOPS; by default the configuration's six, in rising order.

    Returns
    -------
    DataFrame
        One row per minute: ``config, policy, seed, divisor, phase`` (0 = warm-up), ``scaled_iops, minute`` (since the
        start) and ``phase_minute`` (from 0); the columns of `MEASURES` (``stage_rate``: tracks per second at full size;
        ``false_pct``: percentage of random requests' accesses to tracks that were labelled sequential; ``missed_pct``:
        percentage of streams' accesses that were not); mean time of a read and of a write by component, ms
        (``read_seek_ms`` …); ``backlog``.
    """
    loads = LOADS[config] if loads is None else tuple(loads)
    peak = max(LOADS[config][-1], *loads)
    run = Run(shark, config, policy, seed, peak)
    warm = (WARM_UP, shark.warm_up_share * peak, shark.warm_up_minutes)
    schedule = [warm, *((phase, load, shark.phase_minutes) for phase, load in enumerate(loads, 1))]
    rows, before, minute = [], dict.fromkeys(CUMULATIVE, 0), 0
    for phase, load, minutes in schedule:
        if minutes:
            run.load(load)
        for phase_minute in range(minutes):
            interval = run.minute()
            row = _row(run, interval, before)
            before = {name: interval.state[name] for name in CUMULATIVE}
            minute += 1
            keys = {"config": config, "policy": policy, "seed": seed, "divisor": shark.divisor, "phase": phase}
            rows.append(keys | {"scaled_iops": load, "minute": minute, "phase_minute": phase_minute} | row)
    return pd.DataFrame(rows)


def _row(run, interval, before):
    counts, state = interval.counts, interval.state
    new = {name: state[name] - before[name] for name in CUMULATIVE}
    requests = max(counts["reads"] + counts["writes"], 1)
    operations = counts["stage_reads"] + counts["destage_reads"] + counts["destage_writes"]
    return {
        "read_ms": interval.read_ms,
        "write_ms": interval.write_ms,
        "response_ms": interval.response_ms,
        "stage_rate": sum(interval.staged.values()) * run.shark.divisor / interval.seconds,
        "hit_ratio": counts["read_hits"] / max(counts["reads"], 1),
        "seq_share": state["seq_pages"] / run.cache_pages,
        "ratio": state["ratio"],
        "sequential_misses_per_s": new["sequential_misses"] * run.shark.divisor / interval.seconds,
        "false_pct": 100 * new["false_sequential"] / max(new["random_tracks"], 1),
        "missed_pct": 100 * new["missed_sequential"] / max(new["stream_tracks"], 1),
        "utilisation": interval.utilisation,
        "write_cache_fill": state["dirty_pages"] / run.write_cache_pages,
        "operations_per_request": operations / requests,
        "demand_reads_per_request": (counts["stage_reads"] - counts["prefetch_reads"]) / requests,
        "prefetch_reads_per_request": counts["prefetch_reads"] / requests,
        "destage_reads_per_request": counts["destage_reads"] / requests,
        "destage_writes_per_request": counts["destage_writes"] / requests,
        "destages_per_request": counts["destages"] / requests,
        "backlog": state["backlog"],
        **interval.components_ms(),
    }


def points(minutes, discarded):
    """Compute the measured points: means of one-minute averages.

    Parameters
    ----------
    minutes : DataFrame
        From `simulate`, of any number of runs.
    discarded : int
        Minutes at the start of each phase that are left out.

    Returns
    -------
    DataFrame
        One row per run and phase: ``config, scaled_iops, policy, seed, divisor``, `MEASURES` and the components;
        ``backlog`` at the end of the phase.

    Raises
    ------
    ParameterError
        No minute of any phase is left.
    """
    measured = minutes[(minutes["phase"] != WARM_UP) & (minutes["phase_minute"] >= discarded)]
    if measured.empty:
        raise ParameterError(f"no minute of a phase is left after discarding the first {discarded}")
    runs = [*KEYS, "seed", "divisor"]
    columns = [name for name in minutes if name in MEASURES or name.endswith("_ms")]
    groups = measured.groupby(runs, sort=False)
    table = groups[list(dict.fromkeys([*MEASURES, *columns]))].mean()
    table["backlog"] = groups["backlog"].last()
    return table.reset_index()


def schedules(machine, fitted, policies, seeds, settings, threads):
    """Run policies through the load schedules of both configurations, minute by minute (a workflow job).

    Parameters
    ----------
    machine, fitted : path-like
        ``machine.yaml``, and the table of values that the fit found.
    policies : sequence of str
    seeds : sequence of int
    settings : dict
        As in `fitted_shark`.
    threads : int
        Number of parallel runs.

    Returns
    -------
    DataFrame
        From `simulate`, configuration by configuration, policy by policy and seed by seed; without policies, a table
        without rows.
    """
    shark, _ = fitted_shark(machine, fitted, settings)

    def run(case):
        table = simulate(shark, *case)
        print(*case, f"{len(table)} minutes", sep=", ", file=sys.stderr)
        return table

    made = map_in_threads(run, itertools.product(CONFIGS, policies, seeds), threads)
    return pd.concat(made, ignore_index=True) if made else pd.DataFrame(columns=[*KEYS, "seed"])
