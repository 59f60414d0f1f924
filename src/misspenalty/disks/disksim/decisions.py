"""Where a description imported from DiskSim is read differently from DiskSim 4.0.

Each decision was made with knowledge of measured traces, but none is fitted to one: each follows from the description
itself or from the literature, holds for every drive whose description meets its condition, and can be switched off. A
description notes in its sources what was decided and DiskSim's value, so that ``Description.as_disksim`` can restore
it; ``benchmarks/disks.py`` prints the effect of each decision alone, and of all except each.

``head_switch``
    A head switch takes as long as a single-cylinder seek, but no longer than the track skew leaves for it once a write
    has settled. Drives with embedded servo must find the track again on each surface, which is what a single-cylinder
    seek consists of (Ruemmler and Wilkes, IEEE Computer 27(3), 1994, "Track following"), and makers choose the skew
    just large enough that no revolution is lost. Some drives' extracted head switches are as short as 30 us: DIXtrac
    (Schindler and Ganger, CMU-CS-99-176) takes them from differences of completion times, part of which bus transfers
    hide. So this applies if the description contains DIXtrac's bulk transfer time, and not if the bus was measured
    separately.
``sequential_ahead``
    Quantum's drives read ahead only after a read that continues the previous one, up to the description's
    maximum. Product manuals of the Atlas line say so: it prefetches when requests have shown that they go on from
    track to track (Maxtor Atlas 10K III product manual, 6.2). DiskSim reads to the end of the track after any read.
``write_water``
    A write watermark is, like a read's, the share of a request that is in the cache before the other side is asked for:
    the medium is written only then. A drive whose bus is slower than its medium would otherwise run out of data in
    most writes. DiskSim begins with the first block. Where the description has extra disconnects, the head start that
    DiskSim has for them applies instead.
``write_settle``
    A write's additional settling time is not negative. DiskSim adds whatever the description says.
``stream_in_order``
    A drive that never disconnects streams blocks between medium and bus, in their order; it does not gather a track
    in any order first.
"""

from misspenalty.disks.drive.layout import skew_ms

NAMES = ("head_switch", "sequential_ahead", "write_water", "write_settle", "stream_in_order")


def decide(data, facts, first_seek_ms):
    """Apply every decision whose condition the description shows; `data` is changed in place.

    Parameters
    ----------
    data : dict
        A description as DiskSim reads it.
    facts : dict
        What the parameter files say that has no place in a description: ``bulk_transfer, never_disconnect,
        write_water``.
    first_seek_ms : float
        Seek over one cylinder.
    """
    mechanics, cache = data["mechanics"], data["cache"]
    if mechanics["write_settle_ms"] < 0:
        _put(data, "write_settle", "mechanics.write_settle_ms", 0, "additional settling time is never negative")
    if facts["bulk_transfer"]:
        least = min(first_seek_ms, round(skew_ms(data) - max(mechanics["write_settle_ms"], 0), 4))
        if least > mechanics["head_switch_ms"]:
            reason = "as long as a single-cylinder seek, or as the track skew leaves for it"
            _put(data, "head_switch", "mechanics.head_switch_ms", least, reason)
    if cache["read_ahead"] == "next_track" and data["model"].upper().startswith("QUANTUM"):
        reason = "Maxtor Atlas 10K III product manual, 6.2: prefetches once requests go on from each other"
        _put(data, "sequential_ahead", "cache.ahead_when", "sequential", reason)
        _put(data, "sequential_ahead", "cache.read_ahead", "segment", reason)
    if facts["write_water"] and "extra_disconnect" not in data["overheads"]:
        reason = "the share of a write that is in the cache before the medium is written"
        _put(data, "write_water", "bus.write_water", facts["write_water"], reason)
    if facts["never_disconnect"] and cache["read_any_order"]:
        reason = "the drive never disconnects: it streams blocks in order"
        _put(data, "stream_in_order", "cache.read_any_order", False, reason)


def _put(data, decision, key, value, reason):
    section, name = key.split(".")
    source = data["sources"][section]
    data["sources"][key] = {
        "status": "derived",
        "source": source["source"],
        "reason": reason,
        "decision": decision,
        "disksim": data[section].get(name, {"cache.ahead_when": "always", "bus.write_water": 0}.get(key)),
    }
    data[section][name] = value
