"""Turn zones, skews, sparing and defects into the tables of the mechanics kernel: tracks, and runs of blocks on them.

A *slot* is a sector of a zone, numbered in the order in which blocks are laid out: cylinder by cylinder, head by head
(in serpentine order where the description says so), sector by sector. Slipped slots hold no block and shift all later
ones; the block of a remapped slot is in its spare. Spares are reserved per track, cylinder, range of cylinders or zone.
This is the layout that DiskSim 4.0 calls G1 (Bucy, Schindler, Schlosser, Ganger: The DiskSim Simulation Environment
Version 4.0 Reference Manual, CMU-PDL-08-101, section 3.2), with two corrections:

* a sector slipped in a cylinder with spares moves that cylinder's last blocks into its spares; DiskSim places them on
  top of the next cylinder's first blocks;
* spares in front of a cylinder hold no blocks; DiskSim counts them as spares, but places blocks there.
"""

from math import gcd

import numpy as np

from misspenalty.disks.drive._mechanics import TICKS
from misspenalty.errors import ParameterError

RUN = np.dtype([("lbn", np.int64), ("track", np.int32), ("sector", np.int32)])  # run_t of _mechanics.pxd
TRACK = np.dtype(  # track_t of _mechanics.pxd, whose kernel fills in the last two fields
    [
        ("angle", np.int64),
        ("cylinder", np.int32),
        ("head", np.int32),
        ("sectors", np.int32),
        ("first", np.int32),
        ("width", np.int64),
        ("reciprocal", np.uint64),
    ]
)
MAPPINGS = ("cylinders", "serpentine_zone", "serpentine")
SCHEMES = (  # in the order of DiskSim's numbers; the block counts in its files confirm numbers 2 and 3
    "none",
    "tracks",
    "cylinder",
    "track",
    "cylinder_slip_to_end",
    "cylinder_front",
    "cylinder_front_slip_to_end",
    "end",
    "range",
    "zone",
    "zone_slip_to_end",
)


def build(geometry):
    """Build the tables of a drive's tracks and runs.

    Parameters
    ----------
    geometry : dict
        As in a drive's description: ``heads, mapping, sparing, zones``.

    Returns
    -------
    tracks : array of TRACK
        The tracks, then a closing entry.
    runs : array of RUN
        The runs, then a closing entry.
    by_track : array of int32
        Indices of the runs in order of (track, sector).

    Raises
    ------
    ParameterError
        Zones overlap or have no cylinder, a slip or defect lies outside its zone, a sector is remapped twice or gets
        two blocks, or no zone has room for a block.
    """
    heads, mapping, sparing = geometry["heads"], geometry["mapping"], geometry["sparing"]
    tracks, runs, first_lbn, next_cylinder = [], [], 0, 0
    for number, zone in enumerate(geometry["zones"]):
        if zone["first_cylinder"] < next_cylinder or zone["last_cylinder"] < zone["first_cylinder"]:
            raise ParameterError(f"zone {number} overlaps cylinders of earlier zones, or has no cylinder")
        next_cylinder = zone["last_cylinder"] + 1
        zone_runs = _runs(zone, heads, sparing, number)
        zone_runs["lbn"] += first_lbn
        zone_runs["track"] += sum(map(len, tracks))
        tracks.append(_tracks(zone, heads, mapping, sparing["scheme"]))
        if len(zone_runs):
            first_lbn = int(zone_runs["lbn"][-1]) + int(zone_runs["length"][-1])
        runs.append(zone_runs)
    tracks, runs = np.concatenate(tracks), np.concatenate(runs)
    if not len(runs):
        raise ParameterError("the zones hold no block")
    where = runs["track"].astype(np.int64) * 65536 + runs["sector"]
    order = np.argsort(where, kind="stable").astype(np.int32)  # a stable sort is fast if nothing is remapped
    placed = runs[order]
    meet = placed["track"][:-1] == placed["track"][1:]
    if (meet & (placed["sector"][:-1] + placed["length"][:-1] > placed["sector"][1:])).any():
        raise ParameterError(
            "two blocks lie in one sector: a defect's spare sector already holds another block; expected a free one"
        )
    tracks["first"] = np.searchsorted(runs["track"][order], np.arange(len(tracks)))
    closing_track = np.array([(0, 0, 0, 1, len(runs), 0, 0)], TRACK)
    closing_run = np.array([(first_lbn, 0, 0)], RUN)
    plain = runs[list(RUN.names)].astype(RUN)
    return np.concatenate([tracks, closing_track]), np.concatenate([plain, closing_run]), order


def skew_ms(data):
    """Return the shortest time that any zone's track skew leaves between two tracks, ms."""
    revolution = 60_000 / data["mechanics"]["rpm"]
    return min(zone["track_skew"] / zone["sectors"] for zone in data["geometry"]["zones"]) * revolution


def _head_order(cylinders, first, heads, mapping):
    """Return the heads of these cylinders in the order of their blocks, one row per cylinder."""
    forward = np.arange(heads, dtype=np.int32)
    if mapping == "cylinders":
        return np.tile(forward, (len(cylinders), 1))
    odd = (cylinders - (first if mapping == "serpentine_zone" else 0)) % 2 == 1
    return np.where(odd[:, None], forward[::-1], forward)


def _tracks(zone, heads, mapping, scheme):
    first, sectors = zone["first_cylinder"], zone["sectors"]
    cylinders = np.arange(first, zone["last_cylinder"] + 1, dtype=np.int64)
    count = len(cylinders)
    table = np.zeros(count * heads, TRACK)
    table["cylinder"] = np.repeat(cylinders, heads)
    table["head"] = _head_order(cylinders, first, heads, mapping).ravel()
    table["sectors"] = sectors
    # Skews, in sectors, add up with every switch; slips shift the following tracks if spares are per track or cylinder.
    order = np.tile(np.arange(heads, dtype=np.int64), count)
    cylinder = np.repeat(np.arange(count, dtype=np.int64), heads)
    pushed = np.zeros(count * heads, np.int64)
    slips = np.unique(np.asarray(zone["slips"], np.int64))
    if scheme == "track":
        pushed = np.searchsorted(slips, np.arange(count * heads, dtype=np.int64) * sectors)
    elif scheme.startswith("cylinder"):
        pushed = np.searchsorted(slips, cylinder * heads * sectors)
    exact = 1000  # skews may have up to three decimals
    skew = [round(exact * zone[key]) for key in ("offset", "track_skew", "cylinder_skew")]
    angle = skew[0] + (order + (heads - 1) * cylinder) * skew[1] + cylinder * skew[2] + exact * pushed
    common = gcd(TICKS, exact * sectors)
    ticks, part = TICKS // common, exact * sectors // common
    table["angle"] = -(-(angle % (exact * sectors)) * ticks // part) % TICKS
    return table


def _runs(zone, heads, sparing, number):
    """Return the runs of a zone, by lbn, with lbns and tracks counted from 0, and each run's length."""
    sectors, spares, scheme = zone["sectors"], zone["spares"], sparing["scheme"]
    cylinder = heads * sectors
    slots = (zone["last_cylinder"] - zone["first_cylinder"] + 1) * cylinder
    slips, defects = _bad(zone, slots, sectors, scheme, number)
    unit = {"track": sectors, "cylinder": cylinder, "cylinder_front": cylinder, "range": sparing["range"] * cylinder}
    unit = unit.get(scheme, slots)

    starts = [np.arange(0, slots, sectors), slips, slips + 1, defects[:, 0], defects[:, 0] + 1]
    edge = {"cylinder_slip_to_end": cylinder - spares, "cylinder_front_slip_to_end": spares}.get(scheme)
    if edge is not None:
        starts.append(np.arange(0, slots, cylinder) + edge)
    starts = np.sort(np.concatenate(starts), kind="stable")
    starts = starts[np.diff(starts, prepend=-1) > 0]
    starts = starts[(starts >= 0) & (starts < slots)]
    length = np.diff(np.append(starts, slots))
    length[np.isin(starts, slips)] = 0
    if edge is not None:
        front = "front" in scheme
        length[(starts % cylinder < edge) == front] = 0

    # Reserve the spares of each unit: blocks use its first remaining slots or, with spares in front, its last ones.
    units = starts // unit
    before = np.cumsum(length) - length
    before -= before[np.searchsorted(units, units)]
    whole = np.minimum(unit, slots - units * unit)
    room = np.maximum(whole - _kept_back(scheme, spares, sectors, len(slips), whole == unit), 0)
    if scheme == "cylinder_front":
        left = np.bincount(units, length).astype(np.int64)[units]
        late = np.clip(left - room - before, 0, length)
    else:
        late = np.zeros_like(length)
        length = np.clip(room - before, 0, length)

    # Remove the slots in front of the zone's first block.
    lbn = np.cumsum(length - late) - (length - late) - zone["unused_at_front"]
    late += np.clip(-lbn, 0, length - late)
    lbn = np.maximum(lbn, 0)
    keep = length > late
    runs = np.zeros(int(keep.sum()), [*RUN.descr, ("length", np.int64)])
    runs["length"], runs["lbn"], slot = (length - late)[keep], lbn[keep], (starts + late)[keep]
    if len(defects):
        place = np.searchsorted(defects[:, 0], slot)
        place[place == len(defects)] = 0
        slot = np.where(defects[place, 0] == slot, defects[place, 1], slot)
    runs["track"], runs["sector"] = slot // sectors, slot % sectors
    return runs


def _kept_back(scheme, spares, sectors, slips, full):
    """Return the number of slots that each unit reserves for spares."""
    if scheme == "range":
        return np.where(full, spares, 0)
    if scheme == "zone_slip_to_end":
        return spares + slips
    return {"tracks": spares * sectors, "none": 0, "end": 0}.get(scheme, 0 if "slip_to_end" in scheme else spares)


def _bad(zone, slots, sectors, scheme, number):
    """Return the slipped slots, and the pairs of a bad slot and its spare, both in order.

    With sparing by tracks, the zone lists tracks, and all slots of these tracks are returned.
    """
    slips = np.asarray(zone["slips"], np.int64)
    defects = np.asarray(zone["defects"], np.int64).reshape(-1, 2)
    defects = defects[defects[:, 0] != defects[:, 1]]
    limit = slots // sectors if scheme == "tracks" else slots
    for what in (slips, defects.ravel()):
        if len(what) and not (what.min() >= 0 and what.max() < limit):
            raise ParameterError(f"zone {number}: expected slips and defects from 0 to {limit - 1}")
    if scheme == "tracks":
        along = np.arange(sectors, dtype=np.int64)
        slips = (slips[:, None] * sectors + along).ravel()
        defects = (defects[:, None, :] * sectors + along[None, :, None]).reshape(-1, 2)
    if len(np.unique(defects[:, 0])) < len(defects):
        raise ParameterError(f"zone {number}: a sector is remapped twice")
    return np.unique(slips), defects[np.argsort(defects[:, 0], kind="stable")]
