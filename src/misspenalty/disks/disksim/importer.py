"""Import drive descriptions from DiskSim 4.0's parameter files (``.parv``, ``.diskspecs``, ``.model``, ``.seek``).

The parameters are those of the DiskSim 4.0 Reference Manual (Bucy, Schindler, Schlosser, Ganger, CMU-PDL-08-101),
sections 3.2 (diskmodel: layout G1, mechanics G1) and 5.4 (disks); of layout G4, only zones and skew are read
(`misspenalty.disks.disksim.layout_g4`). Parameters that our model cannot express are rejected with an error that names
them; those without effect in the model (statistics, host-side queues) are ignored. A fast write level of 1 is read as
2, and the description's sources call this value assumed: according to DiskSim's manual, level 1 applies only to writes
that continue those in the cache, but in DiskSim's code every write is complete once it is in the cache.
"""

import math
import re
from pathlib import Path

import yaml

from misspenalty.disks.disksim import layout_g4
from misspenalty.disks.disksim import parameter_file as diskmodel
from misspenalty.disks.disksim.decisions import decide
from misspenalty.disks.drive.description import check, seek_table
from misspenalty.disks.drive.layout import MAPPINGS, SCHEMES
from misspenalty.errors import InputError, ParameterError
from misspenalty.io.files import atomic_path

MOST_POINTS = 100_000
OVERHEADS = {
    "read_hit_after_read": "Read hit over. after read",
    "read_hit_after_write": "Read hit over. after write",
    "read_miss_after_read": "Read miss over. after read",
    "read_miss_after_write": "Read miss over. after write",
    "write_hit_after_read": "Write hit over. after read",
    "write_hit_after_write": "Write hit over. after write",
    "write_miss_after_read": "Write miss over. after read",
    "write_miss_after_write": "Write miss over. after write",
    "read_completion": "Read completion overhead",
    "write_completion": "Write completion overhead",
    "least_seek": "Minimum seek delay",
    "data_preparation": "Data preparation overhead",
    "first_reselect": "First reselect overhead",
    "other_reselect": "Other reselect overhead",
    "read_disconnect_after_read": "Read disconnect afterread",
    "read_disconnect_after_write": "Read disconnect afterwrite",
    "write_disconnect": "Write disconnect overhead",
}
EXTRA = {
    "command": "Extradisc command overhead",
    "disconnect": "Extradisc disconnect overhead",
    "pause": "Extradisc inter-disconnect delay",
    "second_disconnect": "Extradisc 2nd disconnect overhead",
    "seek_delta": "Extradisc seek delta",
}
# DiskSim has no parameters for these values: its code uses them for every drive with extra disconnects.
HEAD_START = {"head_start": 10, "long_head_start": 15, "long_write": 45}
AHEAD = {0: "none", 1: "track", 2: "cylinder", 3: "segment", 4: "next_track"}
ASSUMED = {  # the only value that the model can express, and the default if the file has none
    "Preseeking level": 0,
    "Allow sneaky partial read hits": 0,
    "Allow sneaky intermediate read hits": 0,
    "Minimum read-ahead (blks)": 0,
    "Set watermark by reqsize": 1,
    "Combine seq writes": 1,
    "Disconnect write if seek": 0,
    "Write hit stop prefetch": 1,
    "Read directly to buffer": 1,
    "Immed transfer partial hit": 1,
}
ASSUMED_OF_MECHANICS = {"Access time type": "trackSwitchPlusRotation", "Percent error in rpms": 0}
LEVEL_1 = (
    "the manual limits this level to writes that continue those in the cache, which the model cannot express;"
    " in DiskSim's code, every write is complete once it is there, and DIXtrac gives this level to drives that do so"
)


def from_disksim(path, name=None, bus=None, literal=False):
    """Make a drive's description from DiskSim's files.

    Parameters
    ----------
    path : path-like
        A parameter file that holds or sources one disk: ``.parv`` (with the bus), or ``.diskspecs``.
    name : str, optional
        The description's name; by default the file's.
    bus : path-like, optional
        A ``.parv`` whose bus is used; by default `path`. Without a topology, there is no bus, and only the disk's
        bulk sector transfer time applies.
    literal : bool
        Whether to read every parameter as DiskSim 4.0 does; else `misspenalty.disks.disksim.decisions` apply.

    Returns
    -------
    dict
        The description, in the form that `misspenalty.disks.load` reads; see `write`.

    Raises
    ------
    InputError
        The file is not a valid parameter file, or uses a feature that the model lacks.
    """
    path = Path(path)
    blocks, instances, topology = diskmodel.read(path)
    disks = [block for block in blocks if block.type == "disksim_disk"]
    if len(disks) != 1:
        raise InputError(f"has {len(disks)} disks", path=path, expected="one disksim_disk block")
    disk = _Part(disks[0], path)
    model = disk.part("Model")
    name = name or re.sub(r"[^a-z0-9]+", "_", path.stem.lower()).strip("_")
    read_block, write_block = _bus(path, blocks, instances, topology)
    if bus is not None:
        found = diskmodel.read(bus)
        if not found[2]:
            raise InputError("has no bus", path=bus, expected="a topology with a bus")
        read_block, write_block = _bus(Path(bus), *found)
    own = disk.number("Bulk sector transfer time", 0)
    data = {
        "name": name,
        "model": disks[0].name or name,
        "kind": "disk",
        "note": f"Imported from DiskSim 4.0's parameter files ({path.name}).",
        "sources": {
            section: {"status": "measured", "source": f"DiskSim 4.0, {path.name}: extracted from the drive"}
            for section in ("geometry", "mechanics", "overheads", "bus", "cache")
        },
        "geometry": _geometry(model),
        "mechanics": _mechanics(model.part("Mechanical Model")),
        "overheads": _overheads(disk),
        "bus": {
            "read_block_ms": max(read_block, own),
            "write_block_ms": max(write_block, own),
            "read_water": disk.number("High (read) water mark", 0),
        },
        "cache": _cache(disk),
    }
    if bus is not None:
        data["sources"]["bus"]["source"] += f", bus of {Path(bus).name}"
    check(data, path)
    if literal:
        data["cache"]["disksim_buffer"] = True
    else:
        if disk.whole("Fast write level", 0) == 1:
            source = f"DiskSim 4.0, {path.name}: Fast write level = 1"
            data["sources"]["cache.write_behind"] = {"status": "assumed", "source": source, "reason": LEVEL_1}
        facts = {
            "bulk_transfer": own > 0,
            "caching": disk.whole("Enable caching in buffer", 0),
            "write_water": disk.number("Low (write) water mark", 0),
        }
        try:
            seeks = seek_table(data["mechanics"]["seek"], max(data["geometry"]["cylinders"], 2))
        except ParameterError as error:
            raise InputError(str(error), path=path) from error
        decide(data, facts, seeks[1].item() / 1e6)
    check(data, path)
    return data


def write(data, path):
    """Write a description as YAML; see `to_yaml`."""
    with atomic_path(path) as partial:
        partial.write_text(to_yaml(data), encoding="utf-8")


def to_yaml(data):
    """Return a description as YAML text, with lists of plain values in flow style."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


class _Dumper(yaml.SafeDumper):
    """A dumper that writes lists of plain values, and zones, sources and short innermost mappings, in flow style."""

    def represent_list(self, items):
        return self.represent_sequence("tag:yaml.org,2002:seq", items, not any(isinstance(i, dict) for i in items))

    def represent_mapping_(self, mapping):
        plain = not any(isinstance(value, dict | list) and value for value in mapping.values())
        node = self.represent_mapping("tag:yaml.org,2002:map", mapping, False)
        node.flow_style = plain and ("sectors" in mapping or "status" in mapping or len(mapping) < 4)
        return node

    def ignore_aliases(self, data):
        return True


_Dumper.add_representer(list, _Dumper.represent_list)
_Dumper.add_representer(dict, _Dumper.represent_mapping_)


class _Part:
    """A parameter block with the type checks that the importer needs."""

    def __init__(self, block, path):
        if not isinstance(block, diskmodel.Block):
            raise InputError(f"{block!r}; expected a block here", path=path)
        self.block, self.path = block, block.path  # a sourced block is in another file

    def part(self, key):
        return _Part(self.get(key), self.path)

    def get(self, key, default=None):
        value = self.block.get(key, default)
        if value is None:
            named = " ".join(filter(None, (self.block.type, self.block.name)))
            raise InputError(f"{named} has no {key!r}", path=self.path)
        return value

    def number(self, key, default=None):
        value = self.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"{key} = {value!r}", path=self.path, expected="a number")
        return value

    def whole(self, key, default=None):
        value = self.number(key, default)
        if value != int(value):
            raise InputError(f"{key} = {value!r}", path=self.path, expected="a whole number")
        return int(value)

    def flag(self, key):
        return bool(self.whole(key, 0))

    def list(self, key):
        value = self.get(key, [])
        if not isinstance(value, list):
            raise InputError(f"{key} = {value!r}", path=self.path, expected="a list")
        return value


def _bus(path, blocks, instances, topology):
    """Return the times, ms, in which the bus directly above the disk transfers a block of a read and of a write.

    Without a topology, both times are 0.
    """
    if not topology:
        return 0, 0
    above = _above_disk(topology, None)
    for block in blocks:
        if block.type == "disksim_bus" and above is not None and block.name == instances.get(above):
            part = _Part(block, path)
            return part.number("Read block transfer time", 0), part.number("Write block transfer time", 0)
    raise InputError("has no bus above the disk", path=path, expected="a topology with a bus")


def _above_disk(node, bus):
    kind, name, children = node
    if kind == "disksim_disk":
        return bus
    found = [_above_disk(child, name if kind == "disksim_bus" else bus) for child in children]
    return next((bus for bus in found if bus is not None), None)


def _geometry(model):
    layout = model.part("Layout Model")
    if layout.block.type == "dm_layout_g4":
        heads, cylinders = model.whole("Number of data surfaces"), model.whole("Number of cylinders")
        return layout_g4.geometry(layout.block, heads, cylinders, layout.path)
    if layout.block.type != "dm_layout_g1":
        raise InputError(f"layout is {layout.block.type}", path=layout.path, expected="dm_layout_g1 or dm_layout_g4")
    mapping, scheme = layout.whole("LBN-to-PBN mapping scheme"), layout.whole("Sparing scheme used")
    if not 0 <= mapping < len(MAPPINGS) or not 0 <= scheme < len(SCHEMES):
        raise InputError(f"mapping is {mapping}, sparing is {scheme}", path=layout.path, expected="0 to 2, 0 to 10")
    zones = [_zone(_Part(zone, layout.path)) for zone in layout.list("Zones")]
    if not zones:
        raise InputError("has no zones", path=layout.path, expected="one dm_layout_g1_zone or more")
    return {
        "sector_bytes": 512,
        "heads": model.whole("Number of data surfaces"),
        "cylinders": max(model.whole("Number of cylinders"), *(zone["last_cylinder"] + 1 for zone in zones)),
        "mapping": MAPPINGS[mapping],
        "sparing": {"scheme": SCHEMES[scheme], "range": max(1, layout.whole("Rangesize for sparing", 1))},
        "zones": zones,
    }


def _zone(zone):
    defects = zone.list("defects")
    if len(defects) % 2:
        raise InputError("defects has an odd number of entries", path=zone.path, expected="pairs: bad, spare")
    made = {
        "first_cylinder": zone.whole("First cylinder number"),
        "last_cylinder": zone.whole("Last cylinder number"),
        "sectors": zone.whole("Blocks per track"),
        "track_skew": _short(zone.number("Skew for track switch")),
        "cylinder_skew": _short(zone.number("Skew for cylinder switch")),
        "offset": _short(zone.number("Offset of first block", 0)),
        "unused_at_front": zone.whole("Empty space at zone front", 0),
        "spares": zone.whole("Number of spares", 0),
        "slips": zone.list("slips"),
        "defects": [list(pair) for pair in zip(defects[::2], defects[1::2], strict=True)],
    }
    if all(isinstance(slip, int) for slip in made["slips"]):  # the schema rejects other types
        made["slips"].sort()
    return {key: value for key, value in made.items() if value or key in list(made)[:5]}


def _short(number):
    return int(number) if number == int(number) else number


def _mechanics(part):
    if part.block.type != "dm_mech_g1":
        raise InputError(f"mechanics is {part.block.type}", path=part.path, expected="dm_mech_g1")
    for key, value in ASSUMED_OF_MECHANICS.items():
        if part.get(key, value) != value:
            raise InputError(f"{key} = {part.get(key)}", path=part.path, expected=f"{value}")
    return {
        "rpm": part.whole("Rotation speed (in rpms)"),
        "seek": _seek(part),
        "head_switch_ms": part.number("Head switch time"),
        "write_settle_ms": part.number("Add. write settling delay"),
    }


def _seek(part):
    kind = part.get("Seek type")
    if kind == "extracted":
        return {"table_ms": seek_file(part.path.parent / Path(str(part.get("Full seek curve"))).name)}
    if kind in ("hpl", "hplplus10"):
        values = part.list("HPL seek equation values")
        if len(values) != 6 or not all(isinstance(value, int | float) for value in values):
            raise InputError("HPL seek equation values are malformed", path=part.path, expected="six numbers")
        long_from, short, root, long, line, one = values
        first = part.list("First ten seek times") if kind == "hplplus10" else [one] if one != -1 else []
        if kind == "hplplus10" and (len(first) != 10 or not all(isinstance(ms, int | float) for ms in first)):
            raise InputError("First ten seek times are malformed", path=part.path, expected="ten numbers")
        seek = {"short_ms": short, "short_sqrt_ms": root, "long_from": math.ceil(long_from), "long_ms": long}
        return seek | {"long_cylinder_ms": line} | ({"first_ms": first} if first else {})
    raise InputError(f"seek type is {kind!r}", path=part.path, expected="extracted, hpl or hplplus10")


def seek_file(path):
    """Read the points of a measured seek curve, ``[distance, ms]``, from a ``.seek`` file.

    A line holds the distance and the mean time. The standard deviation and the mean time before a write may follow, but
    are not used. The first line, which counts the points, may be missing if there is a standard deviation, as in
    DIXtrac's output.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
    head = re.fullmatch(r"Seek distances measured:\s*(\d{1,9})", lines[0].strip()) if lines else None
    widths = (2, 3, 4) if head else (3, 4)
    if len(lines) > MOST_POINTS:
        raise InputError(f"has {len(lines)} lines", path=path, expected=f"at most {MOST_POINTS}")
    if not lines or (not head and lines[0].count(",") + 1 not in widths):
        expected = "Seek distances measured: COUNT, or a distance, its milliseconds and their deviation"
        raise InputError("does not begin with a seek curve", path=path, line=1, expected=expected)
    points = []
    for number, line in enumerate(lines[1:] if head else lines, 2 if head else 1):
        if line.strip():
            parts = [part.strip() for part in line.split(",")]
            good = len(parts) in widths and parts[0].isdecimal() and all(map(diskmodel.NUMBER.match, parts[1:]))
            if not good or max(map(len, parts)) > diskmodel.MAX_DIGITS:
                raise InputError(f"{line[:80]!r}", path=path, line=number, expected="distance, milliseconds")
            points.append([int(parts[0]), float(parts[1])])
    if head and len(points) != int(head[1]):
        raise InputError(f"{len(points)} points, not {head[1]}", path=path, expected="as many as its first line says")
    return points


def _overheads(disk):
    if disk.number("Per-request overhead time", 0):
        raise InputError("Per-request overhead time is set", path=disk.path, expected="0")
    scale = disk.number("Time scale for overheads", 1)
    made = {key: scale * disk.number(theirs, 0) for key, theirs in OVERHEADS.items()}
    made["least_seek"] = disk.number(OVERHEADS["least_seek"], 0)
    if disk.flag("Never disconnect") and any(made[key] for key in made if "disconnect" in key or "reselect" in key):
        reason = "a drive that never disconnects has times to disconnect or to reselect"
        raise InputError(reason, path=disk.path, expected="times of 0")
    if disk.flag("Extra write disconnect"):
        made["extra_disconnect"] = {key: scale * disk.number(theirs, 0) for key, theirs in EXTRA.items()} | HEAD_START
    return {key: value for key, value in made.items() if value or key in list(made)[:8]}


def _cache(disk):
    for key, value in ASSUMED.items():
        if disk.whole(key, value) != value:
            raise InputError(f"{key} = {disk.get(key)}", path=disk.path, expected=f"{value}")
    ahead = disk.whole("Buffer continuous read", 0)
    enabled = disk.whole("Enable caching in buffer", 0)
    segments, size = disk.whole("Number of buffer segments"), disk.whole("Segment size (in blks)")
    most = disk.whole("Maximum read-ahead (blks)", 0)
    if ahead not in AHEAD:
        raise InputError(f"Buffer continuous read = {ahead}", path=disk.path, expected="0 to 4")
    level = disk.whole("Fast write level", 0)
    if not 0 <= level <= 2:
        raise InputError(f"Fast write level = {level}", path=disk.path, expected="0 to 2")
    until_full = not most and disk.whole("Read-ahead over requested", 1) == 0  # 0 = requested blocks are kept
    return {
        "segments": segments,
        "segment_blocks": size,
        "write_segments": disk.whole("Maximum number of write segments", 1),
        "own_write_segment": disk.flag("Use separate write segment"),
        "read_ahead": AHEAD[ahead],
        "ahead_blocks": most or size,
        "ahead_from": "request_start" if until_full else "request_end",
        "ahead_on_hit": disk.flag("Read-ahead on idle hit"),
        "drop_requested": disk.whole("Read-ahead over requested", 1) < 0,
        "stop_in_sector": disk.flag("Stop prefetch in sector"),
        "almost_hits": disk.flag("Allow almost read hits"),
        "caching": enabled > 0,
        "read_written": disk.flag("Allow read hits on write data") and enabled > 0,
        "write_behind": level > 0,
        # If a drive never disconnects, blocks pass between medium and bus in order.
        "read_any_order": disk.flag("Immediate buffer read") and not disk.flag("Never disconnect"),
        "write_any_order": disk.flag("Immediate buffer write"),
        "read_free_blocks": disk.flag("Read any free blocks"),
        "prebuffer_writes": disk.flag("Allow write prebuffering"),
        "hits_while_writing": disk.flag("Allow sneaky full read hits"),
    }
