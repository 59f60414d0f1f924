"""Test the virtual-log disk: kernel against reference, invariants, and the costs that follow from the mechanics."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misspenalty import ParameterError, disks
from misspenalty.disks.drive.slices import cut, uniform
from misspenalty_studies.vlog.virtual_log.log import (
    capacity,
    physical_blocks,
    spread,
    unaligned,
    update_in_place,
    virtual_log,
)
from studies.vlog.tests.reference.virtual_log import Reference

HP, SEAGATE = disks.load("hp97560"), disks.load("st19101")
SMALL = cut(SEAGATE, 2, head_switch_ms=0.3)
PARTS = ("overhead", "locate", "transfer", "map_locate", "map_transfer")


def tiny(tracks, sectors):
    """Return two cylinders of a drive with few heads and sectors, so that the reference's exhaustive search is
    quick."""
    kind = cut(HP, 2)
    kind.data["geometry"]["heads"] = tracks // 2
    kind.data["geometry"]["zones"][0]["sectors"] = sectors
    return cut(type(kind)(kind.data), 2)


TINY = {(tracks, sectors): tiny(tracks, sectors) for tracks, sectors in [(4, 72), (6, 40), (8, 67)]}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    shape=st.sampled_from(list(TINY)),
    unit=st.sampled_from([1, 4]),
    fill=st.floats(0.1, 1),
    log_map=st.booleans(),
    aligned=st.booleans(),
    reserve=st.sampled_from([None, 0, 2]),
    requests=st.lists(
        st.tuples(st.booleans(), st.floats(0, 1), st.integers(1, 24), st.integers(0, 30_000_000), st.booleans()),
        max_size=40,
    ),
    seed=st.integers(0, 2**64 - 1),
)
def test_kernel_and_reference_agree_to_the_nanosecond(shape, unit, fill, log_map, aligned, reserve, requests, seed):
    kind = TINY[shape]
    blocks = max(1, int((fill if aligned else 0.7 * fill) * capacity(kind, unit)))  # fewer, as gaps take room
    place = spread(blocks, physical_blocks(kind, unit))
    place = place if aligned else unaligned(place, kind, unit)
    settings_ = {"block_sectors": unit, "log_map": log_map, "aligned": aligned, "reserve": reserve, "seed": seed}
    disk, reference = virtual_log(kind, blocks, **settings_), Reference(kind, blocks, **settings_)
    disk.lay_out(np.arange(blocks, dtype=np.int32), place)
    reference.lay_out(place.tolist())
    for write, where, count, gap, idle in requests:
        count = min(count, blocks * unit)
        sector = int(where * (blocks * unit - count))
        now = disk.now
        if idle:
            now = disk.rest(now + 2 * gap)
            assert now == reference.rest(reference.now + 2 * gap)
        end, parts = disk.request(now + gap, write, sector, count)
        reference_end, reference_parts = reference.request(now + gap, write, sector, count)
        assert end == reference_end
        assert {name: parts[name] for name in PARTS} == {name: reference_parts[name] for name in PARTS}
        assert end == now + gap + sum(parts[name] for name in PARTS[:3])
    assert disk.mapping().tolist() == [reference.map.get(logical, -1) for logical in range(blocks)]
    assert disk.relogged == reference.relogged
    assert {
        p: (a // uniform(kind)[2], a % uniform(kind)[2]) for p, a in enumerate(disk.tree()["address"]) if a >= 0
    } == (reference.address)


def test_blocks_that_begin_at_any_sector_overlap_nothing():
    rng = np.random.default_rng(11)
    blocks = int(0.8 * physical_blocks(SMALL))
    disk = virtual_log(SMALL, blocks, aligned=False, seed=11)
    disk.lay_out(np.arange(blocks, dtype=np.int32), unaligned(spread(blocks, physical_blocks(SMALL)), SMALL))
    _, _, sectors = uniform(SMALL)
    for _ in range(20):
        disk.replay(rng.integers(0, blocks, 200) * 8, np.full(200, 8), np.array([0]), 0)
        disk.rest(disk.now + int(rng.integers(0, 50_000_000)))
        track, place = np.divmod(disk.mapping(), sectors - 7)
        used = (track * sectors + place)[:, None] + np.arange(8)
        assert (used // sectors == track[:, None]).all()
        used = np.concatenate([used.ravel(), disk.tree()["address"], np.arange(8)])
        assert len(np.unique(used)) == len(used)
    assert (place % 8 > 0).any()


def test_a_block_without_room_is_reported():
    most = capacity(SMALL)
    disk = virtual_log(SMALL, most, aligned=False, log_map=False)
    gaps = np.arange(1, uniform(SMALL)[0] * (256 // 12))[:most]  # 4 sectors are free after each block of 8
    used = len(gaps)
    disk.lay_out(np.arange(used, dtype=np.int32), (gaps // 21 * (256 - 7) + gaps % 21 * 12).astype(np.int32))
    with pytest.raises(ParameterError, match="no room for a block"):
        for block in range(used, most):
            disk.request(disk.now, True, 8 * block, 8)
    with pytest.raises(ParameterError, match="media require aligned blocks"):
        virtual_log(SMALL, 10, aligned=False, media=np.zeros(1, np.uint8))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), reserve=st.sampled_from([None, 4]), unit=st.sampled_from([1, 8]))
def test_no_two_blocks_or_records_overlap(seed, reserve, unit):
    rng = np.random.default_rng(seed)
    blocks = int(0.9 * capacity(SMALL, unit))
    disk = virtual_log(SMALL, blocks, block_sectors=unit, reserve=reserve, seed=seed)
    disk.lay_out(np.arange(blocks, dtype=np.int32), spread(blocks, physical_blocks(SMALL, unit)))
    _, _, sectors = uniform(SMALL)
    for _ in range(20):
        n = 100
        disk.replay(rng.integers(0, blocks, n) * unit, np.full(n, unit), np.array([0]), 0)
        disk.rest(disk.now + int(rng.integers(0, 50_000_000)))
        where, tree = disk.mapping(), disk.tree()
        first = where // (sectors // unit) * sectors + where % (sectors // unit) * unit
        used = np.concatenate([(first[:, None] + np.arange(unit)).ravel(), tree["address"], np.arange(unit)])
        assert len(np.unique(used)) == len(used)
        assert disk.live().sum() == len(np.unique(used // sectors * (sectors // unit) + used % sectors // unit))
        assert (tree["parent"] == -1).sum() == 1 and tree["degree"].sum() == len(tree) - 1
        assert (tree["sequence"][tree["parent"][tree["parent"] >= 0]] > tree["sequence"][tree["parent"] >= 0]).all()


@pytest.mark.parametrize("unit", [1, 8])
def test_filling_leaves_the_reserve_on_every_track(unit):
    blocks = 600 // unit
    disk = virtual_log(SMALL, blocks, block_sectors=unit, log_map=False, reserve=128 // unit)
    disk.replay(np.arange(blocks) * unit, np.full(blocks, unit), np.array([0]), 0)
    half = 128 // unit  # blocks in half a track
    assert sorted(disk.live())[-5:] == [blocks % half, half, half, half, half]


@pytest.mark.parametrize("name", ["hp97560", "st19101"])
def test_update_in_place_is_half_a_turn_and_a_seek(name):
    kind = cut(disks.load(name), 11)
    n, rng = 20_000, np.random.default_rng(2)
    blocks = kind.blocks // 8
    parts = update_in_place(kind).replay(rng.integers(0, blocks, n) * 8, np.full(n, 8), rng.integers(0, 10**8, n), 0)
    tracks, heads, sectors = uniform(kind)
    track = rng.integers(0, tracks, (2, 10**6))
    seek = np.array([kind.mechanics.seek(d) for d in range(11)])
    moved = seek[abs(track[0] // heads - track[1] // heads)]
    switch = round(1e6 * kind.data["mechanics"]["head_switch_ms"])
    moved = np.where(track[0] % heads != track[1] % heads, np.maximum(moved, switch), moved)
    expected = moved.mean() + kind.mechanics.revolution_ns / 2
    assert parts["locate"] / n == pytest.approx(expected, rel=0.02)
    assert parts["transfer"] / n == pytest.approx(8 * kind.mechanics.revolution_ns / sectors, rel=0.01)
    assert parts["total"] == sum(parts[name] for name in ("other", "overhead", "locate", "transfer"))


def test_locating_takes_hardly_any_time_on_an_empty_disk():
    """On an empty disk a block must go where the head is: at most the sectors of two blocks may pass before it."""
    disk = virtual_log(SMALL, 400, log_map=False)
    rng = np.random.default_rng(3)
    for i in range(20):
        _, parts = disk.request(disk.now + int(rng.integers(10**7)), True, 8 * i, 8)
        assert parts["locate"] <= 2 * 8 * SMALL.mechanics.revolution_ns / 256


def test_written_in_order_is_read_in_order():
    disk = virtual_log(SMALL, 600)
    for block in range(0, 256, 16):
        disk.request(disk.now, True, 8 * block, 128)
    begin = disk.now
    for block in range(256):
        disk.request(disk.now, False, 8 * block, 8)
    # Each track is read in one revolution, followed by a head switch; the overhead is incurred 256 times.
    assert disk.now - begin < 256 * 100_000 + 12 * SMALL.mechanics.revolution_ns


def test_writes_of_parts_of_a_block_read_its_rest_only_once():
    disk = virtual_log(SMALL, 100)
    disk.request(0, True, 0, 8)
    disk.request(disk.now, True, 80, 8)
    first = disk.request(disk.now, True, 0, 2)[1]
    again = disk.request(disk.now, True, 2, 2)[1]
    assert first["locate"] > again["locate"]


def test_the_compactor_empties_tracks_and_loses_nothing():
    blocks = int(0.8 * physical_blocks(SMALL))
    disk = virtual_log(SMALL, blocks, seed=5)
    disk.lay_out(np.arange(blocks, dtype=np.int32), spread(blocks, physical_blocks(SMALL)))
    rng = np.random.default_rng(4)
    disk.replay(rng.integers(0, blocks, 3000) * 8, np.full(3000, 8), np.array([0]), 0)
    assert not (disk.live() == 0).any()
    begin = disk.now
    assert disk.compact(100) == (disk.live() == 0).sum() == disk.emptied > 3
    assert disk.now > begin
    assert len(np.unique(disk.mapping())) == blocks
    assert disk.compact(100) == 0  # the contents of the other tracks fit nowhere else


def test_the_compactor_stops_when_its_time_is_over():
    """In a pause too short to read a track, the compactor must not begin; an overrun must end after one block and one
    record."""
    blocks, turn = int(0.7 * physical_blocks(SMALL)), SMALL.mechanics.revolution_ns
    disk, rng = virtual_log(SMALL, blocks, seed=5), np.random.default_rng(6)
    disk.lay_out(np.arange(blocks, dtype=np.int32), spread(blocks, physical_blocks(SMALL)))
    late, stopped = [], 0
    for _ in range(300):
        disk.replay(rng.integers(0, blocks, 30) * 8, np.full(30, 8), np.array([300_000]), 0)
        where, before, relogged, due = disk.mapping(), disk.tree(), disk.relogged, disk.now + turn
        assert disk.rest(due) == due
        assert (disk.mapping() == where).all() and (disk.tree() == before).all()
        due = disk.now + turn + int(rng.integers(0, turn))
        late.append(disk.rest(due) - due)
        moved = disk.mapping() != where
        track = where[moved][0] // 32 if moved.any() else 0
        left = np.flatnonzero(disk.mapping() // 32 == track) // 100
        if moved.any() and len(left) and disk.relogged == relogged:
            stopped += 1
            logged = np.flatnonzero(disk.tree()["sequence"] != before["sequence"])
            records = np.flatnonzero(before["address"] // 256 == track)
            assert set(np.flatnonzero(moved) // 100) <= set(logged) <= {*np.flatnonzero(moved) // 100, *records}
            assert max(logged) <= min(left)
    assert stopped > 100 and 0 < max(late) < turn / 2


@pytest.mark.parametrize("name", ["hp97560", "st19101"])
def test_the_capacity_of_a_log_leaves_room_for_a_write_two_maps_and_the_tail(name):
    """A map sector holds 100 entries and may have a block to itself; at most a few blocks may be left unused."""
    for cylinders in range(2, 12):
        kind = cut(disks.load(name), cylinders)
        tracks, _, sectors = uniform(kind)
        for unit in (1, 2, 8):
            physical, blocks = tracks * (sectors // unit), capacity(kind, unit)
            used = blocks + 2 * -(-blocks // 100) + min(128, physical // 32) + 1
            assert physical - 4 < used <= physical


def test_a_slice_has_at_most_the_cylinders_of_the_outermost_zone():
    whole = disks.load("hp97560")  # 1,962 cylinders of 19 tracks of 72 sectors, all in one zone
    assert cut(whole, 1962).blocks == 1962 * 19 * 72
    with pytest.raises(ParameterError, match=r"a slice of 1963 cylinders; expected 2 to 1962, .* of hp97560"):
        cut(whole, 1963)


@pytest.mark.parametrize(
    "zone", [{"slips": [5]}, {"spares": 2}, {"spares": 2, "defects": [[3, 255]]}, {"unused_at_front": 64}]
)
def test_drives_with_slipped_spare_or_remapped_sectors_are_not_slices(zone):
    """A drive with slipped, spare, remapped or unused sectors must be refused even if it has one zone; a slice that is
    cut from it has no such sectors."""
    whole = SMALL.data["geometry"]["zones"][0]
    kind = SMALL.replace({"geometry.sparing.scheme": "track", "geometry.zones": [whole | zone]})
    with pytest.raises(ParameterError, match="zones, spares, defects or unused sectors; expected a slice"):
        uniform(kind)
    assert uniform(cut(kind, 2)) == uniform(SMALL) == (2 * 16, 16, 256)


def test_equal_seeds_give_equal_disks():
    ends = set()
    for _ in range(2):
        disk = virtual_log(SMALL, 500, seed=9)
        rng = np.random.default_rng(9)
        disk.replay(rng.integers(0, 500, 2000) * 8, np.full(2000, 8), np.array([1000]), 0)
        ends.add((disk.rest(disk.now + 10**8), tuple(disk.mapping())))
    assert len(ends) == 1


def lay_out(logical, physical):
    virtual_log(SMALL, 10).lay_out(np.array(logical, np.int32), np.array(physical, np.int32))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: virtual_log(SMALL, capacity(SMALL) + 1), "logical blocks; expected 1 to"),
        (lambda: virtual_log(SMALL, 10, block_sectors=0), "a block has 0 sectors"),
        (lambda: virtual_log(SMALL, 10, reserve=32), "reserve is 32"),
        (lambda: virtual_log(SMALL, 10, media=np.zeros(3, np.uint8)), "media have shape"),
        (lambda: virtual_log(disks.load("ultrastar_146z10"), 10), "zones, spares, defects or unused sectors"),
        (lambda: cut(SEAGATE, 1), "a slice of 1 cylinders"),
        (lambda: cut(SEAGATE, 5, heads=3), "no change called heads"),
        (lambda: lay_out([0, 1, 2], [1, 2, 10**7]), "physical block 10000000; expected 0 to 1023"),
        (lambda: lay_out([0, 10], [1, 2]), "logical block 10; expected 0 to 9"),
        (lambda: lay_out([0, 1], [1]), "2 logical blocks at 1"),
        (lambda: lay_out([0, 0], [1, 2]), "logical block 0 would be used twice"),
        (lambda: lay_out([0, 1], [3, 3]), "sector 24 would be used twice"),
        (lambda: lay_out([0], [0]), "sector 0 would be used twice"),  # the place of the tail's record
        (lambda: virtual_log(SMALL, 10).request(0, True, 80, 8), "the store has 0 to 79"),
        (lambda: update_in_place(SMALL).request(-1, True, 0, 8), "a request at -1"),
        (lambda: virtual_log(SMALL, 10).replay(np.array([0]), np.array([1, 2]), np.array([0]), 0), "1 sectors, 2"),
    ],
)
def test_impossible_parameters(call, message):
    with pytest.raises(ParameterError, match=message):
        call()


def test_an_idle_period_may_have_length_0():
    disk = virtual_log(SMALL, 10)
    now = disk.request(0, True, 0, 8)[0]
    assert disk.rest(now) == now
    for until in (now - 1, 1 << 62):
        with pytest.raises(ParameterError, match=f"idle until {until} ns; expected {now}"):
            disk.rest(until)
