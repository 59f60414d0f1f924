"""Test that flash drives have the latencies and nearly the write amplification that formulas give, and a valid map."""

import numpy as np
import pytest
from scipy.special import lambertw

from misspenalty import disks
from misspenalty.errors import InputError, ParameterError

SATA = disks.load("dc_s3700")
UNBUFFERED = SATA.replace({"cache.write_units": 0})
READ, PROGRAM, MOVE, LINK = 100_000, 1_300_000, 20_480, 853  # ns; MOVE transfers a 4 KB unit, LINK a sector
COMMAND = {"read": 43_200, "write": 58_200}


def small(spare=0.28, blocks=32, buffer=64):
    """Return a drive of four dies on two channels, with pages of four units and blocks of 16 pages."""
    places = 4 * blocks * 16 * 4
    return SATA.replace(
        {
            "geometry.channels": 2,
            "geometry.dies": 2,
            "geometry.blocks": blocks,
            "geometry.pages": 16,
            "geometry.sectors": int(places / (1 + spare)) * 8,
            "cache.write_units": buffer,
        }
    )


def updates(kind, count, seed=1, size=8, write=1, delay=0):
    """Draw random aligned requests, as arrays."""
    lbn = np.random.default_rng(seed).integers(0, kind.blocks // size, count) * size
    return lbn, np.full(count, size, np.int32), np.full(count, write, np.uint8), np.full(count, delay, np.int64)


@pytest.mark.parametrize(("sector", "unit"), [(1024, 512), (512, 3072)])
def test_a_unit_is_whole_sectors_and_a_share_of_a_page(sector, unit):
    told = rf"geometry\.unit_bytes: {unit}; expected a multiple of sector_bytes \({sector}\) that divides .*\(16384\)"
    with pytest.raises(InputError, match=told):
        SATA.replace({"geometry.sector_bytes": sector, "geometry.unit_bytes": unit})


def test_a_small_request_takes_the_sum_of_its_parts():
    for kind, write, expected in (
        (SATA, 0, COMMAND["read"] + READ + MOVE + 8 * LINK),
        (SATA, 1, COMMAND["write"] + 8 * LINK),
        (UNBUFFERED, 1, COMMAND["write"] + 8 * LINK + MOVE + PROGRAM),
    ):
        record = kind.drive().service(1000, 80_000, 8, write)
        assert record["done"] - 1000 == expected == sum(record[part] for part in disks.COMPONENTS)
        assert record["seek"] == record["rotation"] == record["switch"] == record["queue"] == 0
    # A write to part of a unit first reads the unit.
    record = UNBUFFERED.drive().service(0, 80_001, 1, 1)
    assert record["done"] == COMMAND["write"] + LINK + READ + MOVE + MOVE + PROGRAM
    # A read finds its blocks in the buffer; a write by the drive itself takes neither command nor interface time.
    drive = SATA.drive()
    drive.service(0, 800, 8, 1)
    assert drive.service(drive.now, 800, 8, 0)["transfer"] == 0
    record = UNBUFFERED.drive().service(0, 800, 8, 2)
    assert record["done"] == record["transfer"] == MOVE + PROGRAM


def test_a_long_read_uses_all_dies_and_is_held_up_by_the_interface():
    pages, per_channel = 64, 64 // 8
    record = SATA.drive().service(0, 0, 32 * pages, 0)
    # All dies of a channel read at the same time, two pages each; the pages cross the channel one by one.
    fewest = COMMAND["read"] + READ + per_channel * 4 * MOVE
    assert fewest <= record["done"] <= fewest + READ + 32 * pages * LINK
    assert record["done"] >= COMMAND["read"] + 32 * pages * LINK


def test_writes_without_a_buffer_spread_over_the_dies():
    one = UNBUFFERED.drive().service(0, 0, 32, 1)["done"]
    many = UNBUFFERED.drive().service(0, 0, 32 * 32, 1)["done"]  # a page for each of the 32 dies
    assert one == COMMAND["write"] + 32 * LINK + 4 * MOVE + PROGRAM
    assert many == COMMAND["write"] + 1024 * LINK + 4 * 4 * MOVE + PROGRAM  # four pages go over each channel


@pytest.mark.parametrize("reads", [0, 1, 2])
def test_a_read_that_interrupts_a_program_puts_off_what_the_die_does_next(reads):
    """With one die and a buffer of two pages, the fourth page must wait until the second one is programmed."""
    changes = {"geometry.channels": 1, "geometry.dies": 1, "geometry.blocks": 128, "cache.write_units": 8}
    drive = small().replace(changes).drive()
    first = drive.service(0, 0, 32, 1)["done"] + 4 * MOVE + PROGRAM
    for number in range(reads):
        record = drive.service(drive.now, 8000 + 32 * number, 8, 0)
        assert record["done"] - record["arrival"] == COMMAND["read"] + READ + MOVE + 8 * LINK < first - drive.now
    drive.service(drive.now, 32, 32, 1)
    drive.service(drive.now, 64, 32, 1)  # takes the first page's place in the buffer
    assert drive.service(drive.now, 96, 32, 1)["done"] == first + reads * (READ + MOVE) + 4 * MOVE + PROGRAM


def test_writes_without_pauses_are_limited_by_the_programming_of_the_flash():
    kind = SATA.slice(16)
    lbn = np.arange(6000, dtype=np.int64) * 32 % (kind.blocks // 4)
    drive = kind.replace({"overheads.write_us": 0, "interface.mb_per_s": 100_000}).drive()
    drive.one_by_one(lbn, np.full(6000, 32, np.int32), np.ones(6000, np.uint8), np.zeros(6000, np.int64))
    rate = 6000 / drive.now  # pages per ns; no block has to be collected
    assert rate == pytest.approx(32 / (PROGRAM + 4 * MOVE), rel=0.06)


@pytest.mark.parametrize("buffer", [0, 64])
def test_components_add_up_and_the_map_stays_whole(buffer):
    kind, rng = small(buffer=buffer), np.random.default_rng(3)
    drive, n = kind.drive(), 30_000
    lbn, count = rng.integers(0, kind.blocks - 40, n), rng.integers(1, 41, n).astype(np.int32)
    write, delay = rng.integers(0, 3, n).astype(np.uint8), rng.integers(0, 300_000, n)
    records = drive.one_by_one(lbn, count, write, delay)
    assert (sum(records[part] for part in disks.COMPONENTS) == records["done"] - records["arrival"]).all()
    assert all((records[part] >= 0).all() for part in disks.COMPONENTS)
    assert (records["arrival"][1:] == records["done"][:-1] + delay[:-1]).all()
    places = drive.mapping()
    places = places[places >= 0]
    assert len(np.unique(places)) == len(places) and drive.blocks_in_use() == drive.counted()
    assert sum(drive.counted().values()) == len(places) and drive.erases > 100
    again = kind.drive().one_by_one(lbn, count, write, delay)
    assert again.tobytes() == records.tobytes()


@pytest.mark.parametrize("spare", [0.15, 0.28, 0.6])
def test_write_amplification_of_random_updates(spare):
    """Greedy collection does somewhat better than taking blocks in turn, whose amplification is a/(a + W(-a exp(-a))).

    P. Desnoyers, Analytic modeling of SSD write performance, SYSTOR 2012; a is the ratio of flash to live data, here
    without the few erased blocks that each die keeps.
    """
    kind = small(spare, blocks=128)
    drive, (lbn, count, write, delay) = kind.drive(), updates(kind, 40 * kind.units)
    half = len(lbn) // 2
    drive.one_by_one(lbn[:half], count[:half], write[:half], delay[:half])
    before = drive.host_units, drive.moved_units
    drive.one_by_one(lbn[half:], count[half:], write[half:], delay[half:])
    amplification = 1 + (drive.moved_units - before[1]) / (drive.host_units - before[0])
    ratio = (1 + kind.spare) * (128 - 3) / 128
    in_turn = ratio / (ratio + lambertw(-ratio * np.exp(-ratio)).real)
    assert 0.85 * in_turn < amplification < 1.02 * in_turn


@pytest.mark.parametrize("buffer", [0, 64])
def test_a_full_drive_with_the_least_spare_keeps_working(buffer):
    kind = small(32 / 28 * 16 / 15 - 1 + 1e-9, buffer=buffer)
    drive = kind.drive()
    whole = np.arange(kind.units, dtype=np.int64) * 8
    drive.one_by_one(whole, *updates(kind, kind.units)[1:])
    drive.one_by_one(*updates(kind, 20_000, seed=2))
    assert drive.blocks_in_use() == drive.counted() and drive.moved_units > 20_000


def test_collection_that_a_write_waits_for_begins_with_the_write():
    """Of two dies without room, one holds only valid pages and the other only garbage, so a page must wait for an
    erasure."""
    changes = {"geometry.channels": 1, "geometry.blocks": 8, "geometry.sectors": 8 * 480, "cache.write_units": 0}
    kind, pages = small().replace(changes), 7 * 16  # one block stays free for collection
    drive = kind.drive()
    for page in range(pages):
        # Read on the first die, so that the second one is free first.
        drive.service(drive.now, 8 * 4 * pages, 8)
        drive.service(drive.now, 32 * page, 32, 2)
    assert set(drive.counted()) == set(range(8, 15)) and drive.erases == 0
    for page in range(pages):
        drive.service(drive.now, 32 * page, 32, 2)
    assert set(drive.counted().values()) == {0, 64} and drive.erases == 0
    record = drive.service(drive.now, 0, 32, 2)
    assert drive.erases == 1 and drive.moved_units == 0
    assert (record["cache"], record["transfer"]) == (kind.settings["erase"], 4 * MOVE + PROGRAM)


def test_a_drive_may_be_as_large_as_leaves_collection_room():
    """Each of 4 dies keeps 4 of its 32 blocks free, and one page of every other block, so 15 pages of 4 units
    remain."""
    most = 4 * 28 * 15 * 4
    assert small().replace({"geometry.sectors": 8 * most}).units == most
    with pytest.raises(InputError, match=f"{most + 1} units; expected 1 to {most}, as collection needs spare space"):
        small().replace({"geometry.sectors": 8 * (most + 1)})


def test_a_slice_keeps_the_spare_share():
    part = SATA.slice(64)
    assert part.spare == pytest.approx(SATA.spare, rel=1e-5) and part.units == SATA.units // 32
    for blocks in (2049, 64.5, "64"):
        with pytest.raises(
            ParameterError, match=f"dc_s3700: blocks is {blocks!r} erase blocks per plane; expected a whole"
        ):
            SATA.slice(blocks)


@pytest.mark.parametrize(("kind", "least"), [(SATA, 15), (disks.load("dc_p3700"), 15), (small(spare=3), 8)])
def test_the_smallest_slice_leaves_collection_room(kind, least):
    """A smaller slice must be refused, because each die keeps 4 blocks free and so has no room for data."""
    most = kind.data["geometry"]["blocks"]
    assert kind.slice(least).data["geometry"]["blocks"] == least
    with pytest.raises(
        ParameterError, match=f"blocks is {least - 1} .*; expected a whole number from {least} to {most}"
    ):
        kind.slice(least - 1)
    if least > 8:
        sectors = kind.units * (least - 1) // most * kind.unit_sectors
        with pytest.raises(InputError, match=r"expected 1 to [0-9]+, as collection needs spare space"):
            kind.replace({"geometry.blocks": least - 1, "geometry.sectors": sectors})


@pytest.mark.parametrize(
    "change, place",
    [
        ({"geometry.sectors": 10**10}, "geometry.sectors"),
        ({"geometry.unit_bytes": 3000}, "geometry"),
        ({"cache.write_units": 3}, "cache.write_units"),
        ({"flash.read_us": -1}, "flash.read_us"),
        ({"geometry.blocks": 10**6, "geometry.page_bytes": 2**20}, "geometry"),
    ],
)
def test_impossible_values_are_refused(change, place):
    with pytest.raises(InputError, match=place):
        SATA.replace(change)


def test_requests_that_do_not_fit_are_refused():
    drive = SATA.drive()
    for request in ((0, SATA.blocks, 1), (0, -1, 1), (0, 0, 0)):
        with pytest.raises(ParameterError, match="the drive has blocks 0 to"):
            drive.service(*request)
    with pytest.raises(ParameterError, match="write is 3; expected 0, 1, or 2"):
        drive.service(0, 0, 1, 3)
    with pytest.raises(ParameterError, match="a request at -1 ns"):
        drive.service(-1, 0, 1)
    drive.service(5, 0, 8)
    with pytest.raises(ParameterError, match="the drive is at"):
        drive.service(5, 0, 8)
    with pytest.raises(ParameterError, match="length"):
        drive.one_by_one(*updates(SATA, 2)[:3], np.zeros(1, np.int64))
    with pytest.raises(ParameterError, match=r"request 2: delay -1 ns; expected 0 to \d+"):
        drive.one_by_one(*updates(SATA, 2)[:3], np.array([0, -1]))


def test_a_drive_of_another_kind_is_refused():
    with pytest.raises(InputError, match="kind flash"):
        disks.load("dc_s3700", "disk")
    assert set(disks.names("disk")) | set(disks.names("flash")) == set(disks.names())
    with pytest.raises(ParameterError, match="kind is 'ssd'; expected one of disk, flash"):
        disks.names("ssd")
