"""Make a smaller drive, whose tracks are all alike, from the first cylinders of a described drive's outermost zone.

The virtual-log paper simulates such slices (36 cylinders of the HP 97560, 11 of the ST19101), because its simulated
disk had to fit into 24 MB of memory. The bus is left out: the paper's simulator moved data by memory copies, and its
latencies have no such component. Spares, slips, defects and unused sectors are left out too, and every cylinder begins
on the first head. Everything else is as described, unless a change is requested.
"""

from misspenalty.errors import ParameterError

CHANGES = ("head_switch_ms", "overhead_ms", "track_skew", "cylinder_skew", "seek_factor", "rpm", "write_behind")
_COMMANDS = [f"overheads.{what}_after_{last}" for what in ("read_hit", "read_miss", "write_hit", "write_miss")
             for last in ("read", "write")]  # fmt: skip


def cut(description, cylinders, **changes):
    """Return the description of a drive that has only the first cylinders of another.

    Parameters
    ----------
    description : Description
    cylinders : int
        From 2 to the number of cylinders of the outermost zone.
    **changes
        New values, by the names of `CHANGES`; ``overhead_ms`` is the overhead of every command, and
        ``seek_factor`` multiplies all seek times; ``write_behind`` says whether a write completes once it is in the
        drive's buffer.

    Returns
    -------
    Description

    Raises
    ------
    ParameterError
        Fewer than 2 cylinders are requested, or more than the outermost zone has, or a change is unknown.
    InputError
        A value is invalid.
    """
    zone = description.data["geometry"]["zones"][0]
    available = zone["last_cylinder"] - zone["first_cylinder"] + 1
    if not 2 <= cylinders <= available:
        raise ParameterError(
            f"a slice of {cylinders!r} cylinders; expected 2 to {available}, the number of cylinders in the"
            f" outermost zone of {description.name}"
        )
    unknown = sorted(set(changes) - set(CHANGES))
    if unknown:
        raise ParameterError(f"no change called {unknown[0]}; expected {', '.join(CHANGES)}")
    zone = zone | {"first_cylinder": 0, "last_cylinder": cylinders - 1}
    zone |= {"slips": [], "defects": [], "spares": 0, "unused_at_front": 0}
    zone |= {key: changes[key] for key in ("track_skew", "cylinder_skew") if key in changes}
    values = {
        "geometry.cylinders": cylinders,
        "geometry.zones": [zone],
        "geometry.mapping": "cylinders",
        "geometry.sparing.scheme": "none",
        "mechanics.seek": _scaled(description.data["mechanics"]["seek"], changes.get("seek_factor", 1)),
        "bus.read_block_ms": 0,
        "bus.write_block_ms": 0,
    }
    values |= {f"mechanics.{key}": changes[key] for key in ("head_switch_ms", "rpm") if key in changes}
    values |= {"cache.write_behind": bool(changes["write_behind"])} if "write_behind" in changes else {}
    extra = ["overheads.extra_disconnect.command"] if "extra_disconnect" in description.data["overheads"] else []
    values |= dict.fromkeys(_COMMANDS + extra, changes["overhead_ms"]) if "overhead_ms" in changes else {}
    return description.replace(values)


def _scaled(seek, factor):
    if "table_ms" in seek:
        return seek | {"table_ms": [[distance, factor * time] for distance, time in seek["table_ms"]]}
    times = {key: factor * value for key, value in seek.items() if key.endswith("_ms") and key != "first_ms"}
    return seek | times | ({"first_ms": [factor * time for time in seek["first_ms"]]} if "first_ms" in seek else {})


def uniform(description):
    """Return the numbers of tracks, tracks per cylinder and sectors per track of a drive with identical tracks.

    Raises
    ------
    ParameterError
        The drive has more than one zone, or spares, defects or unused sectors.
    """
    geometry, tracks = description.data["geometry"], description.mechanics.tracks
    zone, *others = geometry["zones"]
    if others or description.blocks != tracks * zone["sectors"]:
        raise ParameterError(
            f"{description.name} has several zones, spares, defects or unused sectors; expected a slice of it"
        )
    return tracks, geometry["heads"], zone["sectors"]
