"""Read zones from DiskSim's layout G4, which describes newer drives by runs of tracks, surface by surface.

A G4 layout is an index of patterns, the last of which is the root. An entry of a pattern describes a run, in which
another pattern repeats: the start of the run (block, cylinder), the size of one instance of the repeated pattern
(blocks, cylinders, share of a revolution to the next instance), the length of the run, and which pattern repeats. A
drive with this layout fills some dozens of cylinders of one surface in sequence before it moves to the next surface,
and surfaces may differ in density. Our layout has serpentine zones of equal tracks: it keeps each zone's cylinders, its
mean sectors per track and the skew from track to track. It drops the order within a group of cylinders, the slips and
the remaps.
"""

from misspenalty.errors import InputError

ROOT_FIELDS, TRACK_FIELDS = 10, 11  # numbers of fields of an entry in the root and in a TRACK node
SAME_ZONE = 0.015  # runs whose sectors per track differ by a smaller share are one zone: defects explain the difference


def geometry(layout, heads, cylinders, path):
    """Make the section ``geometry`` of a description.

    Parameters
    ----------
    layout : Block
        The block ``dm_layout_g4``.
    heads, cylinders : int
        Number of surfaces and of cylinders of the drive.
    path : path-like
        File name, for errors.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        The number of surfaces is below 1; the index is missing, empty, malformed or without tracks; or a run does not
        follow the previous one, has no cylinder, or has fewer blocks than tracks.
    """
    index = layout.get("IDX")
    if not isinstance(index, list) or not index or not all(isinstance(node, list) for node in index):
        raise InputError("has no index", path=path, expected="IDX = [ [ ... ], ... ]")
    if heads < 1:
        raise InputError(f"Number of data surfaces = {heads}", path=path, expected="1 or more")
    runs = [_run(fields, path) for fields in _entries(index[-1], "IDX", ROOT_FIELDS, path)]
    skew = _skew(index, path)
    zones, first = [], 0
    for start, length, blocks in runs:
        if start != first:
            reason = f"the run at cylinder {start} does not follow the previous one"
            raise InputError(reason, path=path, expected=f"a run at cylinder {first}")
        if length < 1 or blocks < length * heads:
            reason = f"the run at cylinder {start} has {length} cylinders and {blocks} blocks"
            raise InputError(reason, path=path, expected="at least one cylinder, and a block on every track")
        sectors = blocks / (length * heads)
        if zones and abs(sectors / (zones[-1][2] / (zones[-1][1] * heads)) - 1) < SAME_ZONE:
            zones[-1][1] += length
            zones[-1][2] += blocks
        else:
            zones.append([start, length, blocks])
        first = start + length
    return {
        "sector_bytes": 512,
        "heads": heads,
        "cylinders": max(cylinders, first),
        "mapping": "serpentine",
        "sparing": {"scheme": "none"},
        "zones": [_zone(start, length, blocks // (length * heads), skew) for start, length, blocks in zones],
    }


def _entries(node, kind, width, path):
    """Return the entries of an index node, which must all be of one kind."""
    if len(node) % width or not node or any(node[at] != kind for at in range(8, len(node), width)):
        raise InputError(
            "an index node is malformed", path=path, expected=f"entries of {width} values, the ninth of them {kind}"
        )
    return [node[at : at + width] for at in range(0, len(node), width)]


def _run(fields, path):
    """Return the first cylinder, the number of cylinders and the number of blocks of a root entry."""
    chosen = fields[1], fields[7], fields[6]
    if not all(isinstance(value, int) for value in chosen):
        raise InputError(f"a run is {chosen}", path=path, expected="whole numbers")
    return chosen


def _skew(index, path):
    """Return the skew between successive tracks, as a share of a revolution, from the first node that holds tracks."""
    node = next((node for node in index if len(node) > 8 and node[8] == "TRACK"), None)
    share = None if node is None else _entries(node, "TRACK", TRACK_FIELDS, path)[0][5]
    if isinstance(share, int | float) and 0 <= share < 1:
        return share
    raise InputError("the index has no tracks", path=path, expected="TRACK entries, less than a revolution apart")


def _zone(start, length, sectors, skew):
    turn = round(skew * sectors)
    return {
        "first_cylinder": start,
        "last_cylinder": start + length - 1,
        "sectors": sectors,
        "track_skew": turn,
        "cylinder_skew": turn,
    }
