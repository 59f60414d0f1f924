"""Define and validate the settings of the SARC study."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from misspenalty import disks
from misspenalty.errors import ParameterError, did_you_mean
from misspenalty.policies import find_policy
from misspenalty_studies.common.machine import check_values
from misspenalty_studies.common.settings import Distinct, SettingError, Settings, at, setting
from misspenalty_studies.common.settings.types import Identifier, Label, Number, Positive, Seed, Unique
from misspenalty_studies.sarc.fit import AGAIN, DOUBLED, STEPS, ranges_of, targets_of
from misspenalty_studies.sarc.runs import CONFIGS, PAPERS, Shark, load_shark

MACHINE = "studies/sarc/machine.yaml"
WHOLE = ("host_slots", "degree", "staging")  # fitted parameters that are whole numbers
SENSITIVITY = [
    "threshold", "delta", "large_ratio", "insertion", "write_cache_mb", "host_slots", "controller_us",
    "contention_us", "drive_scheduler", "drive_window", "destages", "degree", "trigger", "staging",
    "footprint_sensitive_gb", "footprint_insensitive_gb", "load_factor", "climb",
]  # fmt: skip


def _scalar(value):
    if not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r}; expected a number, text, true or false")
    return value


Minutes = Annotated[int, Field(ge=0, le=1440)]
Divisor = Literal[1, 2, 4, 8, 16]
Load = Annotated[int, Field(ge=0, le=5)]
Scalar = Annotated[Any, AfterValidator(_scalar), WithJsonSchema({"type": ["number", "string", "boolean"]})]


class Phases(Settings):
    """Lengths of phases."""

    warm_up_minutes: Minutes = setting(what="Time before the first phase, minutes.")
    phase_minutes: Minutes = setting(what="Length of a phase, minutes.")
    discarded_minutes: Minutes = setting(what="Minutes at the start of a phase that are not counted.")

    @model_validator(mode="after")
    def check(self):
        """Check that a phase is longer than its discarded minutes."""
        _check_phases(self.phase_minutes, self.discarded_minutes)
        return self


class Start(Settings):
    """Start and strides of the search for a fitted parameter."""

    value: Annotated[Number, Field(ge=0)] = setting(what="First value.")
    first: Positive = setting(what="First stride; it is halved when no neighbour is better.")
    finest: Positive = setting(what="Stride at which the search ends; the first is a power of two times as large.")

    @model_validator(mode="after")
    def check(self):
        """Check that halving the first stride leads to the finest."""
        halvings = math.log2(self.first / self.finest)
        if halvings < -1e-9 or abs(halvings - round(halvings)) > 1e-9:
            raise ParameterError(
                f"first is {self.first:g}, finest {self.finest:g}; expected first to be 1, 2, 4, 8, … times finest"
            )
        return self


class FitLimits(Settings):
    """Search for the fitted parameters, at full size."""

    load_factor: Start = setting(what="Requests per second per scaled IOPS.")
    host_slots: Start = setting(what="Maximum number of requests per array that the host has in progress.")
    controller_us: Start = setting(what="Processor time per request, microseconds.")
    contention_us: Start = setting(what="Delay of a request per 1000 requests per second, microseconds.")
    footprint_sensitive_gb: Start = setting(what="Space of the cache-sensitive configuration, 2^30 bytes.")
    insertion: Start = setting(
        what="Where LRU Bottom inserts sequential tracks, share of the cache above the LRU end; strides are numbers of "
        "doublings."
    )
    degree: Start = setting(what="Tracks of a prefetched group; strides are numbers of doublings.")
    staging: Start = setting(
        what="Pages that a random miss reads. `0`: the missing ones; `1`: also the later ones of their track."
    )


class Streams(Settings):
    """Sequential streams that the study's controller serves."""

    number: int = setting(what="Streams per array.", ge=1, le=10_000)
    read_kb: Annotated[int, Field(ge=4, le=256, multiple_of=4)] = setting(what="Length of a read, KB.")
    mb_per_s: Distinct[Annotated[Number, Field(ge=1e-6, le=1e6)]] = setting(
        what="Rates of a stream, 10^6 bytes per second."
    )
    cache_mb: Distinct[Annotated[int, Field(ge=16, le=1 << 20)]] = setting(what="Cache sizes at full size, MB.")


class Prefetchers(Settings):
    """AMP next to prefetchers of a fixed degree."""

    seeds: Distinct[Seed] = setting(what="Seeds, over which the intervals are taken.")
    loads: Distinct[Load] = setting(what="Load points that are run, of a configuration's six, counted from 0.")
    phases: Phases = setting(what="Phases of these runs; streams have no warm-up.")
    streams: Streams = setting(what="The streams.")


class Anomaly(Settings):
    """Streams in one LRU list."""

    streams: int = setting(what="Sequential streams, interleaved at random.", ge=1, le=10_000)
    length: int = setting(what="Tracks that each stream reads on average.", ge=10, le=100_000)
    degrees: Distinct[Annotated[int, Field(ge=1, le=256)]] = setting(what="Tracks per prefetched group.")
    tracks_a_stream: Distinct[Positive] = setting(what="Cache sizes, tracks per stream.")

    @model_validator(mode="after")
    def check(self):
        """Check that the sizes, rounded to whole tracks, all differ."""
        sizes = [round(self.streams * size) for size in self.tracks_a_stream]
        if min(sizes) < 1 or len(set(sizes)) < len(sizes):
            raise SettingError(
                f"with `streams: {self.streams}` the caches have {', '.join(map(str, sizes))} tracks; expected"
                " different sizes of at least 1",
                "tracks_a_stream",
            )
        return self


class SarcSettings(Settings):
    """SARC, USENIX 2005."""

    divisor: Divisor = setting(
        16,
        "Scale of the model: caches, arrays, space and load of the paper's machine (studies/sarc/machine.yaml) are "
        "divided by it.",
        "full.yaml runs the whole machine.",
    )
    seeds: Distinct[Seed] = setting(
        [1, 2, 3, 4, 5],
        "Seeds of the workload: the tables are means over them, with confidence intervals; only the first is plotted "
        "over time.",
    )
    beyond: Unique[Identifier] = setting(
        ["arc", "mq", "lirs", "s3fifo"],
        "Policies that the paper does not have, behind the same prefetcher on the same load; first seed only.",
    )
    values: dict[str, Scalar] = setting(
        {}, "Values of parameters of studies/sarc/machine.yaml that replace the file's or the fitted ones."
    )
    short: Phases = setting(
        {"warm_up_minutes": 10, "phase_minutes": 5, "discarded_minutes": 1},
        "Phases of the fit's search and of the sensitivity, readings and scale runs.",
        "The study's own phases are 30 minutes long, after a warm-up of 20.",
    )
    fit: FitLimits = setting(
        {
            "load_factor": {"value": 1.0, "first": 0.04, "finest": 0.01},
            "host_slots": {"value": 4, "first": 1, "finest": 1},
            "controller_us": {"value": 140, "first": 10, "finest": 5},
            "contention_us": {"value": 10, "first": 5, "finest": 2.5},
            "footprint_sensitive_gb": {"value": 240, "first": 80, "finest": 20},
            "insertion": {"value": 0.08, "first": 1, "finest": 0.5},
            "degree": {"value": 8, "first": 1, "finest": 1},
            "staging": {"value": 0, "first": 1, "finest": 1},
        },
        "Where the search of each fitted parameter starts, and its strides; its range is in data/calibration.yaml.",
        "The first two are fitted to LRU Top's published cache-insensitive rows, the next two to both LRU variants' "
        "writes at low loads, the others to the rest of LRU Top's and LRU Bottom's rows; all but those fitted to "
        "writes are fitted twice.",
        block=True,
    )
    fit_starts: Annotated[list[dict[str, Annotated[Number, Field(ge=0)]]], Field(min_length=1)] = setting(
        [
            {
                "load_factor": 0.9,
                "host_slots": 6,
                "footprint_sensitive_gb": 320,
                "insertion": 0.2,
                "degree": 16,
                "staging": 1,
            },
            {
                "load_factor": 1.1,
                "host_slots": 3,
                "footprint_sensitive_gb": 160,
                "insertion": 0.03,
                "degree": 4,
                "staging": 1,
            },
        ],
        "Further points from which the coarse searches start; a search from one point may miss an optimum.",
    )
    finalists: Annotated[int, Field(ge=1, le=100)] = setting(
        3,
        "Number of a coarse search's best points that are run with all seeds, in addition to the best point from each "
        "start; the search continues from the best of these.",
    )
    fit_seeds: Distinct[Seed] = setting([1, 2, 3], "Seeds of the fit; the coarse searches use only the first.")
    thresholds: Distinct[Annotated[int, Field(ge=1, le=255)]] = setting(
        [6, 8, 10, 12, 14, 16],
        "Detection thresholds whose errors are compared; the machine's threshold is chosen from them.",
    )
    detection_gb: Distinct[Positive] = setting(
        [200, 300, 400], "Spaces of the cache-sensitive configuration in which the thresholds are compared."
    )
    scale_divisors: Distinct[Divisor] = setting(
        [16, 8],
        "Scales that are compared with one another.",
        "The more closely a scaled model's results agree across scales, the more it can be trusted.",
    )
    scale_loads: Distinct[Load] = setting(
        [1, 3, 5], "Load points that are run at each scale, of a configuration's six, counted from 0."
    )
    sensitivity: Distinct[Label] = setting(
        SENSITIVITY,
        "Parameters of studies/sarc/machine.yaml that are varied one at a time, over the values it lists.",
        block=True,
    )
    sensitivity_load: Load = setting(4, "Load point of the sensitivity runs, of a configuration's six, counted from 0.")
    prefetchers: Prefetchers = setting(
        {
            "seeds": [1, 2, 3],
            "loads": [1, 3, 5],
            "phases": {"warm_up_minutes": 2, "phase_minutes": 2, "discarded_minutes": 1},
            "streams": {
                "number": 100,
                "read_kb": 256,
                "mb_per_s": [0.25, 1.0],
                "cache_mb": [256, 1024, 2048, 8192],
            },
        },
        "AMP compared with prefetchers of a fixed degree, on the study's load and on concurrent streams.",
        block=True,
    )
    anomaly: Anomaly = setting(
        {
            "streams": 50,
            "length": 800,
            "degrees": [4, 8, 16],
            "tracks_a_stream": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 28, 32, 40],
        },
        "Streams in one LRU list, for the anomaly of Figures 1 and 3.",
        block=True,
    )

    @model_validator(mode="after")
    def check(self, info):
        """Check the policies beyond the paper, all machines that the study builds, and the fit's starts and targets."""
        for name in self.beyond:
            _check_beyond(name)
        root = (info.context or {}).get("root")
        if root is not None:
            self._check_machine(Path(root) / MACHINE)
            self._check_targets(info.context["fits"])
        return self

    def _check_machine(self, path):
        shark, entries = load_shark(path)
        with at("values"):
            check_values(Shark, self.values)
            shark = shark.with_values(self.values)
            _check_phases(shark.phase_minutes, shark.discarded_minutes)
            disks.load(shark.drive, "disk")
        self._check_sensitivity(entries)
        start = {name: entry["value"] for name, entry in self.fit.plain().items()}
        tried = shark.with_values(start | self.values)
        for divisor in {self.divisor, *self.scale_divisors}:
            with at("values"):
                _check_model(tried.with_values({"divisor": divisor}))

    def _check_sensitivity(self, entries):
        for name in self.sensitivity:
            if name not in entries:
                raise SettingError(f"the machine has no parameter {name!r}{did_you_mean(name, entries)}", "sensitivity")
            if not entries[name].vary and not entries[name].vary_factors:
                raise SettingError(f"machine.yaml lists no other values for {name}; add `vary` there", "sensitivity")

    def _check_targets(self, fits):
        for step, (names, _) in STEPS.items():
            if not targets_of(fits, step):
                raise ParameterError(f"data/calibration.yaml has no target for {', '.join(names)}")
        ranges = ranges_of(fits)
        for name in WHOLE:
            if getattr(self.fit, name).finest % 1:
                raise SettingError(
                    "expected strides that are whole numbers, because the parameter is a whole number", "fit", name
                )
        _check_start({name: start["value"] for name, start in self.fit.plain().items()}, ranges, "fit")
        coarse = [name for step in AGAIN.values() for name in STEPS[step][0]]
        for start in self.fit_starts:
            _check_start(start, ranges, "fit_starts")
            for name in start:
                if name not in coarse:
                    raise SettingError(
                        f"{name} has no coarse search and starts only from `fit`; expected {', '.join(coarse)}",
                        "fit_starts",
                    )


def _check_start(values, ranges, where):
    for name, value in values.items():
        if name not in ranges:
            raise SettingError(f"{name!r} is not fitted{did_you_mean(name, ranges)}", where)
        low, high = ranges[name]
        if not low <= value <= high:
            raise SettingError(f"{name} starts at {value:g}; expected {low:g} to {high:g}", where)
        least = value  # lowest value that the search can reach
        while name in DOUBLED and least % 1 == 0 and 0 < low <= least / 2:
            least /= 2
        if name in WHOLE and least % 1:
            halved = f" and is halved to {least:g}" if least < value else ""
            raise SettingError(f"{name} starts at {value:g}{halved}; expected a whole number", where)


def _check_phases(minutes, discarded):
    if minutes <= discarded:
        raise ParameterError(
            f"phase_minutes is {minutes}, discarded_minutes {discarded}; expected phase_minutes to be the larger"
        )


def _check_model(shark):
    shark.model().check()
    for config in CONFIGS:
        shark.footprint_bytes(config)


def _check_beyond(name):
    try:
        offline = find_policy(name).offline
    except ParameterError as error:
        raise SettingError(f"{error}; `misspenalty policies` lists them all", "beyond") from error
    if offline:
        raise SettingError(f"{name} looks into the future, which a live cache cannot do; leave it out", "beyond")
    if name in PAPERS:
        raise SettingError(f"{name} is one of the paper's own policies, which are always run", "beyond")
