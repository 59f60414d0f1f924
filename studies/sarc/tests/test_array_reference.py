"""Test that the storage controller's kernel equals its reference to the nanosecond."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amp import amp

from misspenalty import disks
from misspenalty.policies import find_policy
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.sarc.array.controller import MAX_PAGES, StorageController
from misspenalty_studies.sarc.runs import Shark
from studies.sarc.tests.reference.array import Reference

SHARK = load_machine(Path(__file__).parents[3] / "studies" / "sarc" / "machine.yaml", kind=Shark).testbed
DRIVE = disks.load("ultrastar_146z10")
PAGES, TRACK = 4096, 8
PREFETCH = {"degree": 3, "trigger": 1, "threshold": 2}
AMP = {"most": 6, "ahead_above": 2, "threshold": 2}
MS = 1_000_000


@st.composite
def small_controllers(draw):
    """Draw a controller of any shape, with caches so small that writes stall and pages are evicted while they are in
    flight."""
    low = draw(st.sampled_from([0.0, 0.3]))
    queue, slices = draw(
        st.sampled_from([("none", 16), ("shared", 1), ("shared", 3), ("shared", 16), ("own", 4), ("own", 16)])
    )
    arrays = draw(st.sampled_from([1, 2, 4] if queue == "own" else [1, 2, 3]))
    return replace(
        SHARK,
        cache_mb=draw(st.sampled_from([0.25, 0.5, 2])),
        write_cache_mb=draw(st.sampled_from([0.36, 0.5, 1])),
        arrays=arrays,
        array_members=draw(st.integers(3, 6)),
        strip_kb=draw(st.sampled_from([32, 64])),
        stripes_per_turn=draw(st.integers(1, 3)),
        host_slots=draw(st.integers(1, 6)),
        controller_us=draw(st.sampled_from([0, 100, 3000])),
        processors=draw(st.sampled_from([1, 2, 4])),
        processor_queue=queue,
        slices=slices,
        host_stripe_kb=draw(st.sampled_from([0, 4, 16, 64])),
        host_stripe_arrays=draw(st.sampled_from([2, 4])),
        drive_scheduler="fcfs",
        destage_low=low,
        destage_high=low + draw(st.sampled_from([0.1, 0.5])),
        destages=draw(st.integers(1, 5)),
        destage_unit=draw(st.sampled_from(["stripe", "strip"])),
        destage_order=draw(st.sampled_from(["last", "first"])),
        parity_from_cache=draw(st.booleans()),
        staging=draw(st.sampled_from([0, 1, 2])),
        contention_us=draw(st.sampled_from([0, 10])),
    )


@st.composite
def loads(draw):
    """Draw requests in bursts and pauses: runs of a few streams and random pages, some of them at the same time."""
    kinds = st.tuples(
        st.sampled_from([0, 0, 1, 10, 200]),  # ms since the previous request
        st.booleans(),  # whether the request is a write
        st.integers(0, 5),  # stream number; 3 and above mean a random page
        st.integers(0, PAGES - MAX_PAGES - 1),
        st.integers(1, 17),
    )
    time, heads, rows = 0, [0, 1000, 3000], []
    for gap, write, stream, anywhere, length in draw(st.lists(kinds, min_size=30, max_size=150)):
        time += gap * MS
        page = anywhere
        if stream < 3:
            page, heads[stream] = heads[stream], (heads[stream] + length) % (PAGES - MAX_PAGES)
        rows.append((time, page, length, write))
    return [np.array(column) for column in zip(*rows, strict=True)]


@settings(max_examples=80, deadline=None)
@given(small_controllers(), loads(), st.sampled_from(["sarc", "lru_top", "lru_bottom"]), st.booleans())
def test_kernel_equals_the_reference_to_the_nanosecond(controller, load, policy, adaptive):
    prefetch, reference = PREFETCH, find_policy(policy).reference
    if adaptive:
        prefetch, reference = AMP | {"kind": "amp"}, amp(reference)
    cache = track_cache(policy, controller.cache_pages, PAGES // TRACK, track_pages=TRACK, prefetch=prefetch)
    slow = reference(controller.cache_pages, track_pages=TRACK, **AMP if adaptive else PREFETCH)
    fast = StorageController(controller, DRIVE, cache, PAGES)
    reference = Reference(controller, DRIVE, slow, PAGES)
    for either in (fast, reference):
        either.load(300)
    middle, end = int(load[0][len(load[0]) // 2]), int(load[0][-1]) + 1
    half = np.searchsorted(load[0], middle)
    for part, until in ((slice(half), middle), (slice(half, None), end), (slice(0), end + 60_000 * MS)):
        columns = [column[part] for column in load]
        got, expected = fast.run(*columns, until), reference.run(*columns, until)
        assert got.counts == {name: expected.counts.get(name, 0) for name in got.counts}
        assert (got.read_ns, got.write_ns) == (expected.read_ns, expected.write_ns)
        assert got.response_ns == expected.response_ns
        assert sum(got.read_ns.values()) == got.response_ns[0], "the components add up to the response"
        assert sum(got.write_ns.values()) == got.response_ns[1]
        assert got.state["dirty_pages"] == reference.used
    assert got.state["backlog"] == 0 and not reference.on_the_way


def test_the_last_stripe_may_extend_beyond_the_volume():
    """A parity computed from the cache must not look up tracks beyond the volume."""
    pages, n = 256, 60  # 3.2 stripes
    controller = replace(
        SHARK, cache_mb=0.25, write_cache_mb=0.5, arrays=1, array_members=6, strip_kb=64, stripes_per_turn=1,
        host_stripe_kb=0, drive_scheduler="fcfs", destage_low=0.0, destage_high=0.1, parity_from_cache=True,
    )  # fmt: skip
    controller = replace(controller, host_slots=4, controller_us=100, contention_us=0, staging=0)
    cache = track_cache("lru_top", controller.cache_pages, pages // TRACK, track_pages=TRACK, prefetch=PREFETCH)
    slow = find_policy("lru_top").reference(controller.cache_pages, track_pages=TRACK, **PREFETCH)
    rng = np.random.default_rng(1)
    load = np.arange(n) * 2 * MS, rng.integers(0, pages - 1, n), np.ones(n, int), rng.random(n) < 0.7
    fast, reference = StorageController(controller, DRIVE, cache, pages), Reference(controller, DRIVE, slow, pages)
    for either in (fast, reference):
        either.load(300)
    got, expected = fast.run(*load, 60_000 * MS), reference.run(*load, 60_000 * MS)
    assert got.counts == {name: expected.counts.get(name, 0) for name in got.counts} and got.counts["destages"] > 0
    assert got.response_ns == expected.response_ns


def test_a_read_that_waits_for_a_set_makes_amp_fetch_the_next_one_sooner():
    # One stream requests a track each millisecond, more than the drives deliver at first. Sets arrive while reads wait
    # for them, so the distance of the trigger grows beyond the one that a miss sets.
    controller = replace(
        SHARK, cache_mb=2, write_cache_mb=2, arrays=1, host_slots=6, controller_us=100, drive_scheduler="fcfs",
        host_stripe_kb=0, staging=0, contention_us=0,
    )  # fmt: skip
    cache = track_cache(
        "lru_top", controller.cache_pages, PAGES // TRACK, track_pages=TRACK, prefetch=AMP | {"kind": "amp"}
    )
    slow = amp(find_policy("lru_top").reference)(controller.cache_pages, track_pages=TRACK, **AMP)
    number = np.arange(300)
    load = number * MS, number * TRACK, np.full(300, TRACK), np.zeros(300, bool)
    got = StorageController(controller, DRIVE, cache, PAGES).run(*load, 10_000 * MS)
    expected = Reference(controller, DRIVE, slow, PAGES).run(*load, 10_000 * MS)
    assert (got.read_ns, got.response_ns) == (expected.read_ns, expected.response_ns)
    kept = {track: (mark.p, mark.g) for track, mark in slow.marks.items()}
    assert {track: cache.kept(track) for track in kept} == kept
    assert max(g for _, g in kept.values()) > AMP["ahead_above"] // 2
