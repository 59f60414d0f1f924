"""Decide where we read a description imported from DiskSim differently from DiskSim 4.0.

Each decision follows from the description itself or from the literature; none is fitted, and each can be switched off.
The scope of a decision is found by leave-one-out, except for ``seek_slip``, ``read_caching`` and ``buffer``. Of the
drives with available measured requests, those that meet the decision's condition are examined, each left out in turn.
If there are at least two, and if each time the others support the decision and it brings the one left out closer to its
measurements, the decision applies to every drive that meets the condition. Otherwise it applies only to the drive on
which it was seen (`MEASURED`): there is no other drive to examine, or the others contradict it. ``python
benchmarks/disks.py demerit`` prints the tables. The sources of a description record what was decided and DiskSim's
value, so that ``Description.as_disksim`` can restore that value.

``head_switch``
    A head switch takes as long as a single-cylinder seek, but no longer than the track skew leaves for it once a write
    has settled. Drives with embedded servo must find the track again on each surface, which is what a single-cylinder
    seek consists of (Ruemmler and Wilkes, IEEE Computer 27(3), 1994, "Track following"), and makers choose the skew
    just large enough that no revolution is lost. Some drives' extracted head switches are as short as 30 us: DIXtrac
    (Schindler and Ganger, CMU-CS-99-176) takes them from differences of completion times, which bus transfers partly
    hide. So this decision applies if the description contains DIXtrac's bulk transfer time, and not if the bus was
    measured separately. Three measured drives meet this condition (Atlas III, Cheetah 9LP, Ultrastar 18ES); all three
    come closer to their measurements.
``sequential_ahead``
    The drive reads ahead only after a read that continues the previous one, up to the description's maximum. DiskSim
    reads ahead after any read, to the end of the next block's track or one track further. This was seen on the Quantum
    Atlas III; the product manual of a later drive of that line says the same: the drive prefetches once requests have
    shown that they continue from track to track (Maxtor Atlas 10K III product manual, 6.2). The Cheetah 9LP, of another
    maker, meets the same condition, but with this decision its demerit would rise from 0.107 to 0.605 ms.
``write_water``
    A write's watermark is understood like a read's: the drive begins to write the medium when this share of the request
    is in the cache. A drive whose bus is slower than its medium would otherwise run out of data in most writes. DiskSim
    begins as soon as the first block is there. This was seen on the HP C3323A.
``seek_slip``
    A seek over ten cylinders or more that, according to the file, takes less time than one over a single cylinder is an
    error in the file: it is left out, and the points next to it are joined. No arm crosses ten cylinders faster than
    one, so the file alone shows the error, without measured requests. DiskSim uses the point as it is. Only the
    Ultrastar 18ES's file has such points: 1.020 ms over 10 cylinders between 1.749 ms over 9 and 1.823 over 12, and
    1.026 ms over 3400 between 7.373 and 7.643. Together with ``head_switch``, this decision raises that drive's demerit
    (from 0.079 to 0.090 ms); by itself, it lowers it (from 0.136 to 0.134 ms). Both results were known when the
    decision was made, on 2026-11-24.
``read_caching``
    A buffer whose caching is 2, not 1, keeps blocks for reads only: written ones cannot be read from it. DiskSim treats
    2 like 1 (`enablecache`, disksim_diskcache.c). This applies to the HP C2490A alone, whose file is the only one that
    says 2: it states an overhead of 0 for a read hit after a write, against 1.419 ms after a read, so its authors did
    not expect reads to hit written blocks. There are no measured requests of such a drive, so nothing can be left out.
``buffer``
    DiskSim's code treats a buffer's segments, read-ahead and write-behind in ways that its manual does not describe
    (`misspenalty.disks.disksim.buffer`). By default, our drives do not behave in these ways, since they are properties
    of DiskSim's code.
    This decision applies to every description from DiskSim's files, so no entry of a description's sources names it.
``write_settle``
    A write's additional settling time is replaced by 0 if it is negative. DiskSim adds whatever the description says.
    This was seen on the DEC RZ26.
"""

from misspenalty.disks.drive.layout import skew_ms

UNWRITTEN = {"cache.ahead_when": "always", "bus.write_water": 0, "mechanics.seek_left_out": []}  # values of absent keys
FAR = 10  # cylinders; differences between the times of shorter seeks may be mere measurement noise
MEASURED = {  # by decision: the only drive for which measured requests support it, as named in the parameter files
    "sequential_ahead": "QUANTUM_QM39100TD-SW",
    "write_water": "HP_C3323A",
    "write_settle": "DEC_RZ26",
}


def decide(data, facts, first_seek_ms):
    """Apply to a description every decision that concerns it, except ``buffer``; `data` is modified in place.

    Parameters
    ----------
    data : dict
        A description as DiskSim reads it.
    facts : dict
        Facts of the parameter files that have no place in a description: ``bulk_transfer, caching, write_water``.
    first_seek_ms : float
        Time of a seek over one cylinder.
    """
    mechanics, cache = data["mechanics"], data["cache"]
    held = {decision for decision, drive in MEASURED.items() if data["model"].removesuffix("_validate") == drive}
    if "write_settle" in held and mechanics["write_settle_ms"] < 0:
        _put(data, "write_settle", "mechanics.write_settle_ms", 0, "additional settling time is never negative")
    slips = [
        distance for distance, ms in mechanics["seek"].get("table_ms", ()) if distance >= FAR and ms < first_seek_ms
    ]
    if slips:
        reason = (
            "the file gives these distances less time than one cylinder: they are left out, and the points next to them"
            " are joined"
        )
        _put(data, "seek_slip", "mechanics.seek_left_out", slips, reason)
    if facts["bulk_transfer"]:
        least = min(first_seek_ms, round(skew_ms(data) - max(mechanics["write_settle_ms"], 0), 4))
        if least > mechanics["head_switch_ms"]:
            reason = "as long as a single-cylinder seek, but no longer than the track skew leaves for it"
            _put(data, "head_switch", "mechanics.head_switch_ms", least, reason)
    if "sequential_ahead" in held and cache["read_ahead"] == "next_track":
        reason = "Maxtor Atlas 10K III product manual, 6.2: prefetches once requests continue from track to track"
        _put(data, "sequential_ahead", "cache.ahead_when", "sequential", reason)
        _put(data, "sequential_ahead", "cache.read_ahead", "segment", reason)
    if facts["caching"] == 2 and cache["read_written"]:
        reason = "caching is 2, and a read hit after a write takes 0 ms in the file: the drive has no such hits"
        _put(data, "read_caching", "cache.read_written", False, reason)
    if "write_water" in held and facts["write_water"]:
        reason = "the share of a write that is in the cache before the medium is written"
        _put(data, "write_water", "bus.write_water", facts["write_water"], reason)


def _put(data, decision, key, value, reason):
    section, name = key.split(".")
    source = data["sources"][section]
    data["sources"][key] = {
        "status": "derived",
        "source": source["source"],
        "reason": reason,
        "decision": decision,
        "disksim": data[section].get(name, UNWRITTEN.get(key)),
    }
    data[section][name] = value
