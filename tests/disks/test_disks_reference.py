"""The drive kernels equal their slow reference, sector by sector, on drives and requests that Hypothesis generates."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st
from reference import drive as reference
from reference import drive_disksim as reference_disksim
from reference import drive_layout as reference_layout
from reference import drive_queue as reference_queue

from misspenalty.disks import SCHEDULERS, load
from misspenalty.disks.drive._replay import as_they_arrive, one_by_one
from misspenalty.disks.drive.description import Description, check
from misspenalty.disks.drive.layout import SCHEMES
from misspenalty.errors import InputError

ms = st.integers(0, 3000).map(lambda us: us / 1000)
short = st.integers(0, 400).map(lambda us: us / 1000)


@st.composite
def zones(draw, heads):
    made, cylinder = [], draw(st.integers(0, 1))
    for _ in range(draw(st.integers(1, 3))):
        sectors, cylinders = draw(st.integers(3, 12)), draw(st.integers(1, 4))
        slots = sectors * cylinders * heads
        places = st.lists(st.integers(0, slots - 1), max_size=4, unique=True)
        slips = sorted(draw(places))
        bad = [slot for slot in draw(places) if slot not in slips] if draw(st.integers(0, 3)) == 0 else []
        good = [slot for slot in range(slots - 1, -1, -1) if slot not in slips and slot not in bad][: len(bad)]
        made.append({
            "first_cylinder": cylinder, "last_cylinder": cylinder + cylinders - 1, "sectors": sectors,
            "track_skew": draw(st.sampled_from([0, 1, 2.5, 3])), "cylinder_skew": draw(st.integers(0, 7)),
            "offset": draw(st.integers(0, 3)), "unused_at_front": draw(st.integers(0, 5)),
            "spares": draw(st.integers(0, 2)), "slips": slips,
            "defects": [list(pair) for pair in zip(bad, good, strict=False)],
        })  # fmt: skip
        cylinder += cylinders + draw(st.integers(0, 1))
    return made


@st.composite
def kinds(draw):
    heads = draw(st.integers(1, 3))
    zoned = draw(zones(heads))
    scheme = draw(st.sampled_from(SCHEMES))
    if scheme == "tracks":
        for zone in zoned:
            tracks = (zone["last_cylinder"] - zone["first_cylinder"] + 1) * heads
            zone["slips"] = [track for track in {slip // zone["sectors"] for slip in zone["slips"]} if track < tracks]
            zone["defects"] = []
    cylinders = zoned[-1]["last_cylinder"] + 1
    names = ("read_hit", "read_miss", "write_hit", "write_miss")
    overheads = {f"{name}_after_{op}": draw(short) for name in names for op in ("read", "write")}
    extra = (
        "read_completion",
        "write_completion",
        "least_seek",
        "data_preparation",
        "first_reselect",
        "other_reselect",
        "read_disconnect_after_read",
        "read_disconnect_after_write",
        "write_disconnect",
    )
    overheads |= {name: draw(short) for name in extra}
    if draw(st.booleans()):
        times = ("command", "disconnect", "pause", "second_disconnect", "seek_delta")
        overheads["extra_disconnect"] = {name: draw(short) for name in times} | {
            "head_start": draw(st.integers(1, 4)), "long_head_start": draw(st.integers(1, 6)), "long_write": 5
        }  # fmt: skip
    segments = draw(st.integers(1, 4))
    data = {
        "name": "made", "model": "made", "kind": "disk", "note": "made up",
        "sources": {"geometry": {"status": "recollected", "source": "made up"}},
        "geometry": {
            "sector_bytes": 512, "heads": heads, "cylinders": cylinders,
            "mapping": draw(st.sampled_from(["cylinders", "serpentine_zone", "serpentine"])),
            "sparing": {"scheme": scheme, "range": draw(st.integers(1, 3))}, "zones": zoned,
        },
        "mechanics": {
            "rpm": draw(st.sampled_from([3600, 4002, 5396, 7200, 10025])),
            "seek": {"table_ms": [[1, draw(ms)], [4, 3]]},
            "head_switch_ms": draw(ms), "write_settle_ms": draw(st.sampled_from([0, 0.4, -0.3])),
        },
        "overheads": overheads,
        "bus": {"read_block_ms": draw(ms), "write_block_ms": draw(ms),
                "read_water": draw(st.sampled_from([0, 0.5, 1])), "write_water": draw(st.sampled_from([0, 0.75, 1]))},
        "cache": {
            "segments": segments, "segment_blocks": draw(st.integers(1, 30)),
            "write_segments": draw(st.integers(1, segments)),
            "own_write_segment": segments > 1 and draw(st.booleans()),
            "read_ahead": draw(st.sampled_from(["none", "track", "cylinder", "segment", "next_track"])),
            "ahead_blocks": draw(st.integers(0, 40)), "ahead_when": draw(st.sampled_from(["always", "sequential"])),
            "ahead_from": draw(st.sampled_from(["request_start", "request_end"])),
        } | {flag: draw(st.booleans()) for flag in (
            "ahead_on_hit", "drop_requested", "stop_in_sector",
            "almost_hits", "read_written", "write_behind", "read_any_order",
            "write_any_order", "read_free_blocks", "prebuffer_writes", "hits_while_writing", "caching")} | {
            "disksim_buffer": draw(st.integers(0, 3)) == 0},
    }  # fmt: skip
    try:
        return Description(check(data))
    except InputError:  # the spares leave no room for data
        reject()


requests = st.lists(
    st.tuples(
        st.integers(0, 10**6),
        st.integers(1, 14),
        st.booleans(),
        st.sampled_from([0, 1, 700_000, 5_000_000, 60_000_000]),
    ),
    min_size=3,
    max_size=40,
)
slow = settings(max_examples=250, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


def reference_of(kind):
    return (reference_disksim if kind.data["cache"]["disksim_buffer"] else reference).Drive(kind)


def played(kind, asked):
    """Turn drawn numbers into requests that fit the drive; many of them continue the previous request."""
    lbns, last = [], 0
    for where, count, _, _ in asked:
        count = min(count, kind.blocks)
        start = last if where % 3 == 0 else where
        lbns.append(min(start % kind.blocks, kind.blocks - count))
        last = (lbns[-1] + count) % kind.blocks
    counts = [min(count, kind.blocks) for _, count, _, _ in asked]
    return (
        np.array(lbns, np.int64),
        np.array(counts, np.int32),
        np.array([write for _, _, write, _ in asked], np.uint8),
        np.array([delay for _, _, _, delay in asked], np.int64),
    )


@slow
@given(kinds())
def test_layout(kind):
    places = reference_layout.Layout(kind.data["geometry"])
    mechanics = kind.mechanics
    assert mechanics.blocks == len(places.place)
    assert mechanics.tracks == len(places.tracks)
    for lbn, (track, sector) in enumerate(places.place):
        cylinder, head, found, angle, found_track = mechanics.locate(lbn)
        assert (found_track, found, cylinder, head) == (track, sector, *places.tracks[track][:2])
        begin = places.tracks[track][3] + -(-sector * reference_layout.TURN // places.tracks[track][2])
        assert angle == begin % reference_layout.TURN
        assert mechanics.lbn_at(track, sector) == lbn


@slow
@given(kinds(), requests)
def test_records_are_equal(kind, asked):
    lbn, count, write, delay = played(kind, asked)
    records = one_by_one(kind.drive(), lbn, count, write, delay)
    drive, now = reference_of(kind), 0
    for i, record in enumerate(records):
        expected = drive.service(now, int(lbn[i]), int(count[i]), bool(write[i]))
        for part in ("hit", "overhead", "seek", "rotation", "switch", "transfer", "bus", "cache", "done"):
            assert record[part] == getattr(expected, part), (i, part)
        now = expected.done + int(delay[i])
    times = one_by_one(kind.drive(), lbn, count, write, delay, False)
    assert (times == records["done"] - records["start"]).all()


@pytest.mark.parametrize("drive", [load("hp_c3323a"), load("hp_c3323a").as_disksim()], ids=["ours", "theirs"])
def test_reads_do_not_depend_on_how_long_writes_settle(drive):
    """Read-ahead into the next track must not depend on write settling either, and the blocks read ahead must be
    hits."""
    asked = [(0, 8, False, 4_000_000)] * 300
    records = [
        drive.replace({"mechanics.write_settle_ms": settle}).one_by_one(*played(drive, asked)) for settle in (0, 1.5)
    ]
    assert (records[0] == records[1]).all()
    assert records[0]["hit"].mean() > 0.9


@slow
@given(kinds(), requests, st.sampled_from(SCHEDULERS), st.integers(1, 6))
def test_queues_are_equal(kind, asked, scheduler, depth):
    lbn, count, write, delay = played(kind, asked)
    arrival = np.cumsum(delay % 20_000_000)
    records = as_they_arrive(kind.drive(scheduler, depth), arrival, lbn, count, write)
    rows = zip(arrival.tolist(), lbn.tolist(), count.tolist(), write.astype(bool).tolist(), strict=True)
    expected = reference_queue.play(reference_of(kind), list(rows), scheduler, depth)
    assert records["start"].tolist() == [start for start, _ in expected]
    assert records["done"].tolist() == [record.done for _, record in expected]
