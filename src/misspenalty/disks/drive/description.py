"""Load drive descriptions: YAML files that are checked against a schema and name the source of every value."""

import copy
import os
import re
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from misspenalty.disks.drive import layout
from misspenalty.disks.drive._drive import Drive
from misspenalty.disks.drive._mechanics import Mechanics
from misspenalty.disks.drive._replay import one_by_one
from misspenalty.errors import InputError, ParameterError, check_choice, did_you_mean, is_number
from misspenalty.io.documents import read_yaml, violation
from misspenalty.io.plugins import add_plugins

GROUP = "misspenalty.drives"  # group of entry points
AHEAD = ("none", "track", "cylinder", "segment", "next_track")
EXTRA = ("extra_command", "extra_bus", "extra_seek", "extra_disconnect", "head_start", "long_head_start", "long_write")
MOST_TRACKS = 20_000_000
# Each of these decisions is to read DiskSim's parameters differently from DiskSim; see
# `misspenalty.disks.disksim.decisions`.
DECISIONS = ("head_switch", "sequential_ahead", "write_water", "seek_slip", "read_caching", "buffer", "write_settle")
SCHEMAS = {"disk": "drive.schema.yaml", "flash": "flash.schema.yaml"}


class Kind:
    """Common base of the descriptions of all drives.

    Attributes
    ----------
    name, model : str
    data : dict
        The description with defaults filled in.
    path : Path or None
    """

    def __init__(self, data, path):
        self.data = data
        self.name, self.model, self.path = data["name"], data["model"], path

    def __reduce__(self):
        """Return what `copy` and `pickle` need to rebuild the description, as its tables cannot be copied."""
        return type(self), (self.data, self.path)

    @property
    def gigabytes(self):
        """Size in units of 10^9 bytes, as makers state it."""
        return self.blocks * self.data["geometry"]["sector_bytes"] / 1e9

    def replace(self, changes):
        """Return this kind with values replaced, by dotted key: ``replace({"mechanics.head_switch_ms": 1.6})``.

        NumPy's numbers and arrays, and tuples, are converted to plain numbers and lists.

        Raises
        ------
        ParameterError
            There is no such key.
        InputError
            A value is invalid.
        """
        data = copy.deepcopy(self.data)
        for key, value in changes.items():
            *above, last = key.split(".")
            place = data
            for part in above:
                place = place.get(part) if isinstance(place, dict) else None
            if not isinstance(place, dict) or not _known(self.data["kind"], above, last):
                raise ParameterError(
                    f"{key!r} is not a key of a drive's description; see data/drives/{SCHEMAS[self.data['kind']]}"
                )
            place[last] = _plain(value)
        return type(self)(check(data, self.path), self.path)

    def decisions(self):
        """Return the source entries, by key, of the values that we read differently from DiskSim."""
        return {key: entry for key, entry in self.data["sources"].items() if "decision" in entry}

    def as_disksim(self, *names):
        """Return this kind with all decisions, or those named, reverted; see `misspenalty.disks.disksim.decisions`.

        Without names, or with ``buffer`` among them, the buffer of a drive from DiskSim's parameter files also works
        like DiskSim's code (``disksim_buffer``; see `misspenalty.disks.disksim.buffer`).

        Raises
        ------
        ParameterError
            There is no such decision.
        """
        for name in names:
            check_choice("decision", name, DECISIONS)
        changes = {k: e["disksim"] for k, e in self.decisions().items() if not names or e["decision"] in names}
        if (not names or "buffer" in names) and self.from_disksim:
            changes["cache.disksim_buffer"] = True
        return self.replace(changes) if changes else self

    @property
    def from_disksim(self):
        """Whether the description was imported from DiskSim's parameter files."""
        return self.data["sources"].get("cache", {}).get("source", "").startswith("DiskSim")

    def source(self, key):
        """Return the source entry of the value with this dotted key, such as "mechanics.rpm"; None if it has none.

        The entry has ``status`` and ``source``. A value without an entry of its own takes that of its section.
        """
        while key not in self.data["sources"]:
            key, dot, _ = key.rpartition(".")
            if not dot:
                return None
        return self.data["sources"][key]


class Description(Kind):
    """A kind of disk drive.

    Attributes
    ----------
    name, model : str
    data : dict
        The description, defaults filled in.
    mechanics : Mechanics
        Geometry and arm, shared by all drives made from this description.
    """

    def __init__(self, data, path=None):
        super().__init__(data, path)
        try:
            self.mechanics = _mechanics(data)
            self.settings = _settings(data)
        except ParameterError as error:
            raise InputError(str(error), path=path) from error

    @property
    def blocks(self):
        """Number of blocks (sectors) of the drive."""
        return self.mechanics.blocks

    def drive(self, scheduler="fcfs", depth=256, turned=0):
        """Make a drive of this kind, with an empty cache and its arm over the outermost track.

        Parameters
        ----------
        scheduler : {"fcfs", "sstf", "look", "clook", "sptf"}
            Order of the command queue.
        depth : int
            Maximum number of requests that the scheduler chooses from; further ones wait in order of arrival.
        turned : float
            Rotation of the platters at time 0, revolutions, from 0 to less than 1; it differs between the drives of an
            array, whose spindles are not synchronised.

        Raises
        ------
        ParameterError
            A value is invalid.
        """
        if not is_number(turned) or not 0 <= turned < 1:
            raise ParameterError(f"turned {turned}: expected a share of a revolution, 0 to less than 1")
        return Drive(self.mechanics, self.settings, scheduler, depth, round(turned * self.mechanics.revolution_ns))

    def one_by_one(self, lbn, count, write, delay):
        """Serve requests on a new drive one after another, waiting `delay` ns after each; return their records."""
        return one_by_one(self.drive(), lbn, count, write, delay)


KINDS = {"disk": Description}  # `misspenalty.disks.flash.model` adds "flash"


def folder():
    """Return the folder of the descriptions that come with the package."""
    installed = Path(__file__).parents[1] / "descriptions"
    return installed if installed.is_dir() else Path(__file__).parents[4] / "data" / "drives"


@cache
def _installed():
    """Return the paths, by name, of descriptions that installed packages add as entry points of ``misspenalty.drives``.

    An entry point refers to the path of a description, or to a function that returns such a path.
    """
    found = {}

    def enter(name, value):
        path = Path(value() if callable(value) else value)
        if not path.is_file():
            raise InputError("no such file", path=path, expected="a drive's description")
        found[name] = path

    add_plugins(GROUP, enter)
    return found


def _file(name):
    """Return the path of a drive's description by its name; those that come with the package take precedence."""
    own = folder() / f"{name}.yaml"
    return own if own.is_file() else _installed().get(name, own)


def names(kind: str | None = None) -> list[str]:
    """Return the names of all installed drives, or of the drives of one kind, ``disk`` or ``flash``.

    Raises
    ------
    ParameterError
        The kind is unknown.
    """
    if kind is not None:
        check_choice("kind", kind, KINDS)
    own = {path.stem for path in folder().glob("*.yaml") if not path.name.endswith(".schema.yaml")}
    found = sorted(own | _installed().keys())
    return found if kind is None else [name for name in found if _packaged(name).data["kind"] == kind]


def files(name):
    """List the files in ``data/drives`` that describe a drive: its own file, those it is based on, and their schema."""
    data = read_yaml(_file(name), expected="the name of an installed drive")
    return [f"{name}.yaml", *(files(data["like"]) if "like" in data else [SCHEMAS[data.get("kind", "disk")]])]


def load(name_or_path: str | os.PathLike[str], kind: str | None = None) -> Any:
    """Load a drive's description, by name (see `names`) or from a YAML file.

    Parameters
    ----------
    name_or_path : str or path-like
    kind : {"disk", "flash"}, optional
        Required kind.

    Returns
    -------
    Description or FlashDescription

    Raises
    ------
    InputError
        There is no such drive, it is of another kind, or the file is not a valid description.
    ParameterError
        `name_or_path` is neither a name nor a path, or `kind` is unknown.
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise ParameterError(f"drive is {name_or_path!r}; expected a name or the path of a description")
    if kind is not None:
        check_choice("kind", kind, KINDS)
    if str(name_or_path).lower() in names():
        found = _packaged(str(name_or_path).lower())
    elif _is_file(name_or_path):
        found = _read(Path(name_or_path))
    else:
        known = ", ".join(names())
        meant = did_you_mean(str(name_or_path), names())
        raise InputError(
            f"{name_or_path}: no such drive or file{meant}", expected=f"a description's path, or one of {known}"
        )
    if kind is not None and found.data["kind"] != kind:
        raise InputError(f"{name_or_path} is of kind {found.data['kind']}", expected=f"a drive of kind {kind}")
    return found


def _is_file(path):
    """Return whether a path is a file or a pipe."""
    try:
        return Path(path).is_file() or Path(path).is_fifo()
    except OSError:  # the name is too long
        return False


@cache
def _packaged(name):
    return _read(_file(name))


def _read(path, above=()):
    """Read a description; `above` holds the paths of the descriptions based on it."""
    data = read_yaml(path, expected="a drive's description")
    own_sources = data.get("sources") if isinstance(data, dict) else None
    if isinstance(data, dict) and "like" in data:
        if not isinstance(data["like"], str) or data["like"] not in names():
            raise InputError(
                f"like: {data['like']!r} is not an installed drive",
                path=path,
                remedy="'misspenalty disk list' lists them",
            )
        base = _file(data["like"])
        if base in (*above, path):
            said = "this drive itself" if base == path else "like this drive"
            raise InputError(f"like: {data['like']!r} is {said}", path=path, expected="another drive")
        own = {"name": re.sub("[^a-z0-9_]+", "_", path.stem.lower())}  # keep the names distinct in tables
        like = _read(base, (*above, path)).data
        if data.get("kind", like["kind"]) != like["kind"]:
            said = f"kind is {data['kind']!r}, but {data['like']}, which it is like, is of kind {like['kind']}"
            raise InputError(said, path=path, expected="a drive of the same kind")
        del data["like"]
        data = _merged(like, own | data)
    data = check(data, path)
    _check_sources(own_sources or (), data, path)
    return KINDS[data["kind"]](data, path)


def _check_sources(keys, data, path):
    """Raise an `InputError` if a key of ``sources`` does not exist in descriptions of this kind."""
    schema = _schema(data["kind"])
    for key in map(str, keys):
        parts = key.split(".")
        if not _has(data, parts) and not _has(schema, [each for part in parts for each in ("properties", part)]):
            sections = [part for part in data if isinstance(data[part], dict) and part != "sources"]
            known = [*sections, *(f"{part}.{value}" for part in sections for value in data[part])]
            raise InputError(
                f"sources: a drive of kind {data['kind']} has no {key!r}{did_you_mean(key, known)}",
                path=path,
                expected=f"one of the sections {', '.join(sections)}, or section.value",
            )


def _has(tree, parts):
    """Return whether nested dicts have a value at this path of keys."""
    for part in parts:
        if not isinstance(tree, dict) or part not in tree:
            return False
        tree = tree[part]
    return True


def _merged(base, changes):
    """Put the values of `changes` into `base`, and return it.

    Lists, a source that has a new status or origin, and a seek curve of the other form are replaced as a whole.
    """
    for key, value in changes.items():
        old = base.get(key)
        parts = isinstance(value, dict) and isinstance(old, dict)
        if parts and not {"status", "source"} & value.keys() and ("table_ms" in value) == ("table_ms" in old):
            _merged(old, value)
        else:
            base[key] = value
    return base


def check(data, path=None):
    """Check a description against its kind's schema, and return it with defaults filled in, or raise InputError."""
    kind = data.get("kind") if isinstance(data, dict) else "disk"
    if kind not in tuple(SCHEMAS):  # use a tuple, as `kind` may be a list, which is not hashable
        given = "missing" if kind is None else repr(kind)
        raise InputError(f"kind is {given}", path=path, expected=" or ".join(SCHEMAS))
    worst = violation(data, _schema(kind))
    if worst is not None:
        place = ".".join(map(str, worst.place)) or "the description"
        raise InputError(f"{place}: {worst.what}", path=path, remedy=f"see data/drives/{SCHEMAS[kind]}")
    for place in _strange(data):
        raise InputError(f"{place}: not a finite number", path=path)
    return _filled(data, _schema(kind))


def _plain(value):
    """Return a value in plain YAML types: NumPy's scalars and arrays, and tuples, become numbers and lists."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _strange(data, place=""):
    """Yield the keys of numbers that are not finite, which the schema's bounds do not catch."""
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _strange(value, f"{place}.{key}".lstrip("."))
    elif isinstance(data, float) and not isfinite(data):
        yield place


@cache
def _schema(kind):
    return read_yaml(folder() / SCHEMAS[kind])


def _known(kind, above, last):
    """Return whether the schema of a kind has the key `last` below the path of keys `above`."""
    parts = [_schema(kind)]
    for key in [*above, last]:
        forms = [form.get("properties", {}) for part in parts for form in part.get("oneOf", [part])]
        parts = [form[key] for form in forms if key in form]
    return bool(parts)


def _filled(data, schema):
    """Copy data, fill in the schema's defaults, and turn floats into ints where the schema requires whole numbers."""
    if isinstance(data, float) and (schema.get("type") == "integer" or schema.get("$ref") == "#/$defs/count"):
        return int(data)
    if isinstance(data, list):
        return [_filled(item, schema.get("items", {})) for item in data]
    if not isinstance(data, dict):
        return data
    made = {key: _filled(value, schema.get("properties", {}).get(key, {})) for key, value in data.items()}
    for key, part in schema.get("properties", {}).items():
        if "default" in part and key not in made:
            made[key] = part["default"]
    return made


def ns(ms):
    """Return a time in ms as whole nanoseconds."""
    return round(1_000_000 * ms)


def _mechanics(data):
    geometry, mechanics = data["geometry"], data["mechanics"]
    tracks = sum(z["last_cylinder"] - z["first_cylinder"] + 1 for z in geometry["zones"]) * geometry["heads"]
    if tracks > MOST_TRACKS:
        raise ParameterError(f"{tracks} tracks; at most {MOST_TRACKS} can be simulated")
    if geometry["zones"][-1]["last_cylinder"] >= geometry["cylinders"]:
        raise ParameterError(f"the last zone ends beyond cylinder {geometry['cylinders'] - 1}, the last of the drive")
    tracks, runs, by_track = layout.build(geometry)
    return Mechanics(
        tracks.view(np.uint8),
        runs.view(np.uint8),
        by_track,
        seek_table(mechanics["seek"], geometry["cylinders"], mechanics["seek_left_out"]),
        mechanics["rpm"],
        ns(mechanics["head_switch_ms"]),
        ns(mechanics["write_settle_ms"]),
    )


def seek_table(seek, cylinders, left_out=()):
    """Tabulate the seek time by distance, ns, for distances below `cylinders`.

    The curve is either measured or computed. If it is measured, straight lines join the points of the table, except
    those of the distances left out; seeks shorter than the first point take its time, and the last line is extended. A
    computed curve follows Ruemmler and Wilkes (An introduction to disk drive modeling, IEEE Computer 27(3), 1994): a
    root for short seeks and a line for long ones, except that the times of the shortest seeks may be given.
    """
    distance = np.arange(cylinders)
    strange = set(left_out) - {point[0] for point in seek.get("table_ms", ())[1:]}
    if strange:
        raise ParameterError(f"seek_left_out: {min(strange)} is not in the seek table, or is its first distance")
    if "table_ms" in seek:
        kept = [point for point in seek["table_ms"] if point[0] not in left_out]
        finite = all(abs(value) < 1e300 for point in kept for value in point)  # an int may be too large for a float
        points = np.array(kept if finite else [[0, 0]], float)
        if points[0, 0] < 1 or (np.diff(points[:, 0]) <= 0).any():
            raise ParameterError("seek table: expected distances of 1 or more, in rising order")
        if len(points) == 1:
            points = np.vstack([points, np.add(points, [1, 0])])
        times = np.interp(distance, points[:, 0], points[:, 1])
        slope = (points[-1, 1] - points[-2, 1]) / (points[-1, 0] - points[-2, 0])
        beyond = distance > points[-1, 0]
        times[beyond] = points[-1, 1] + slope * (distance[beyond] - points[-1, 0])
    else:
        short = seek["short_ms"] + seek["short_sqrt_ms"] * np.sqrt(distance)
        times = np.where(distance < seek["long_from"], short, seek["long_ms"] + seek["long_cylinder_ms"] * distance)
        first = seek.get("first_ms", [])[: cylinders - 1]
        times[1 : 1 + len(first)] = first
    times[0] = 0
    if not ((times >= 0) & (times <= 10_000)).all():
        raise ParameterError("a seek time is out of range; expected 0 to 10 s for every distance that the arm can move")
    return np.rint(1_000_000 * times).astype(np.int64)


def _settings(data):
    times, bus, cache_ = data["overheads"], data["bus"], data["cache"]
    segments, needed = cache_["segments"], max(cache_["write_segments"], 2 if cache_["own_write_segment"] else 0)
    if needed > segments:
        raise ParameterError(
            f"cache: write_segments and own_write_segment need at least {needed} segments; there are {segments}"
        )

    def pair(name):
        return [ns(times[f"{name}_after_write"]), ns(times[f"{name}_after_read"])]

    extra, of_extra = times.get("extra_disconnect"), (-1, 0, 0, 0, 1, 1, 1 << 30)  # values without extra disconnects
    if extra:
        off_bus = extra["disconnect"] + extra["pause"] + times["first_reselect"] + times["data_preparation"]
        delays = map(ns, (extra["command"], off_bus, extra["seek_delta"], extra["second_disconnect"]))
        of_extra = (*delays, extra["head_start"], extra["long_head_start"], extra["long_write"])
    return {
        **{name: pair(name) for name in ("read_hit", "read_miss", "write_hit", "write_miss")},
        "read_complete": ns(times["read_completion"]),
        "write_complete": ns(times["write_completion"]),
        "prepare": ns(times["data_preparation"]),
        "reselect": ns(times["first_reselect"]),
        "reselect_again": ns(times["other_reselect"]),
        "read_disconnect": pair("read_disconnect"),
        "write_disconnect": ns(times["write_disconnect"]),
        "least_seek": ns(times["least_seek"]),
        **dict(zip(EXTRA, of_extra, strict=True)),
        "read_block": ns(bus["read_block_ms"]),
        "write_block": ns(bus["write_block_ms"]),
        "ahead_most": cache_["ahead_blocks"],
        "segment": cache_["segment_blocks"],
        "segments": cache_["segments"],
        "write_segments": cache_["write_segments"],
        "ahead": AHEAD.index(cache_["read_ahead"]),
        "read_water": round(1000 * bus["read_water"]),
        "write_water": round(1000 * bus["write_water"]),
        "ahead_sequential": cache_["ahead_when"] == "sequential",
        "ahead_after": cache_["ahead_from"] == "request_end",
        "ahead_on_hit": cache_["ahead_on_hit"],
        "drop_requested": cache_["drop_requested"],
        "fast_write": cache_["write_behind"],
        "caching": cache_["caching"],
        "read_written": cache_["read_written"],
        "own_write_segment": cache_["own_write_segment"],
        "almost_hit": cache_["almost_hits"],
        "stop_in_sector": cache_["stop_in_sector"],
        "any_order_read": cache_["read_any_order"],
        "any_order_write": cache_["write_any_order"],
        "free_blocks": cache_["read_free_blocks"],
        "prebuffer": cache_["prebuffer_writes"],
        "hit_while_writing": cache_["hits_while_writing"],
        "disksim": cache_["disksim_buffer"],
    }
