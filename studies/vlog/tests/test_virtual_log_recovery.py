"""Test that after a crash at any sector the map is restored exactly and no acknowledged write is lost."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misspenalty import disks
from misspenalty.disks.drive.slices import cut, uniform
from misspenalty.errors import InputError, ParameterError
from misspenalty_studies.vlog.virtual_log import recovery
from misspenalty_studies.vlog.virtual_log.checks import check_tree
from misspenalty_studies.vlog.virtual_log.log import recovered, virtual_log

SLICE = cut(disks.load("st19101"), 2)
TAG = np.dtype([("magic", "<u8"), ("version", "<i8"), ("logical", "<i4"), ("part", "<i4")])
DATA_MAGIC = 0x4D69737344617461


def content(media, physical, unit):
    """Return (versions, logical blocks) of physical blocks; every sector of a block has to agree."""
    _, _, sectors = uniform(SLICE)
    per_track = sectors // unit
    first = physical // per_track * sectors + physical % per_track * unit
    tags = media.reshape(-1, 512)[first[:, None] + np.arange(unit), : TAG.itemsize].copy().view(TAG)[:, :, 0]
    assert (tags["magic"] == DATA_MAGIC).all() and (tags["part"] == np.arange(unit)).all()
    assert (tags["version"] == tags["version"][:, :1]).all() and (tags["logical"] == tags["logical"][:, :1]).all()
    return tags["version"][:, 0], tags["logical"][:, 0]


def fresh(unit, blocks, first=1):
    tracks, _, sectors = uniform(SLICE)
    media = np.zeros(tracks * sectors * 512, np.uint8)
    disk = virtual_log(SLICE, blocks, block_sectors=unit, media=media)
    disk.lay_out(np.arange(blocks, dtype=np.int32), np.arange(first, first + blocks, dtype=np.int32))
    return disk, media


def check(found, media, unit, versions, pending):
    """Check that the recovered map leads to the acknowledged blocks, or entirely to the interrupted write."""
    got, logical = content(media, found.map, unit)
    assert (logical == np.arange(len(versions))).all()
    torn = np.array(sorted(pending), int)
    if len(torn) and (got[torn] != versions[torn]).any():
        assert (got[torn] == pending[torn[0]]).all()
        versions[torn] = pending[torn[0]]
    assert (got == versions).all()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    unit=st.sampled_from([1, 8]),
    rounds=st.lists(st.tuples(st.integers(0, 400), st.booleans(), st.integers(0, 2**32 - 1)), min_size=1, max_size=3),
    longest=st.sampled_from([1, 3, 32, 60]),
    idle=st.booleans(),
)
def test_no_acknowledged_write_is_lost(unit, rounds, longest, idle):
    blocks = 2400 if unit == 1 else 900
    disk, media = fresh(unit, blocks)
    versions = np.zeros(blocks, np.int64)
    assert rounds and longest < blocks
    for power, keeps_tail, seed in rounds:
        rng = np.random.default_rng(seed)
        disk.fail_after(power)
        while not disk.dead:
            count = int(rng.integers(1, longest + 1))
            block = int(rng.integers(0, blocks - count + 1))
            version = disk.version
            disk.request(disk.now, True, block * unit, count * unit)
            if not disk.dead:
                versions[block : block + count] = version
            elif count > disk.longest:  # these are several transactions, and the first of them may be complete
                return
            if idle and not disk.dead and rng.random() < 0.1:
                disk.rest(disk.now + 20_000_000)
        pending = dict.fromkeys(range(block, block + count), version)
        if keeps_tail:
            disk.power_down()
        disk, found = recovered(SLICE, blocks, media, block_sectors=unit)
        assert found.from_tail == keeps_tail
        check(found, media, unit, versions, pending)


def test_the_walk_from_the_tail_reads_little_and_the_scan_finds_the_same():
    disk, media = fresh(1, 4000)
    rng = np.random.default_rng(3)
    for block in rng.integers(0, 4000, 3000):
        disk.request(disk.now, True, int(block), 1)
    assert disk.relogged > 0 and disk.tree()["degree"].max() <= 5
    copy = media.copy()
    disk.power_down()
    walked, scanned = recovery.recover(media, 4000), recovery.recover(copy, 4000)
    assert (walked.map == disk.mapping()).all() and (scanned.map == walked.map).all()
    assert sorted(walked.pieces) == sorted(scanned.pieces)
    tree = disk.tree()
    assert [(p, int(tree[p]["address"]), int(tree[p]["sequence"])) for p in range(40)] == sorted(
        found[:3] for found in walked.pieces
    )
    assert walked.from_tail and walked.sectors_read < 200  # the records of 40 pieces, and stale pointers that are tried
    assert not scanned.from_tail and scanned.sectors_read == len(media) // 512


@pytest.mark.parametrize("rewritten", [0, 1])
@pytest.mark.parametrize("power", range(1, 15))
def test_a_torn_transaction_leads_back_to_the_tail_before_it(power, rewritten):
    """The map must be recovered even if the transaction begins with the piece whose record is the tail, so that only
    the pointer to that record leads to the map."""
    disk, media = fresh(1, 300)
    disk.request(disk.now, True, 100 * rewritten + 5, 1)
    versions = np.zeros(300, np.int64)
    versions[100 * rewritten + 5] = disk.version - 1
    before, version = disk.mapping().copy(), disk.version
    disk.fail_after(power)
    disk.request(disk.now, True, 95, 11)  # blocks of pieces 0 and 1
    whole = not disk.dead
    pending = {} if whole else dict.fromkeys(range(95, 106), version)
    if whole:
        versions[95:106] = version
    disk.power_down()
    _, found = recovered(SLICE, 300, media, block_sectors=1)
    assert found.from_tail
    assert whole or (found.map == before).all()
    check(found, media, 1, versions, pending)


def test_a_recovered_disk_is_compacted_without_loss():
    """The compactor needs the logical block of each physical one, so the recovery must restore these, too."""
    disk, media = fresh(8, 700)
    rng = np.random.default_rng(8)
    for block in rng.integers(0, 700, 2000):
        disk.request(disk.now, True, int(block) * 8, 8)
    disk.power_down()
    again, _ = recovered(SLICE, 700, media)
    before, (versions, _) = again.mapping().copy(), content(media, again.mapping(), 8)
    assert again.compact(3) == 3 and (again.mapping() != before).any()
    check(SimpleNamespace(map=again.mapping()), media, 8, versions, {})
    assert len(np.unique(again.mapping())) == 700


def test_recovery_is_done_once():
    disk, media = fresh(8, 300)
    disk.power_down()
    assert recovery.recover(media, 300).from_tail
    assert not recovery.recover(media, 300).from_tail  # the tail's place was cleared


def test_records_of_a_torn_transaction_are_not_found_after_later_ones():
    """The power fails after the first of a transaction's two records. After the recovery, a complete write gets a later
    number; a scan must still not find the torn record."""
    disk, media = fresh(1, 300)
    disk.fail_after(11 + 1)
    disk.request(disk.now, True, 95, 11)  # blocks of pieces 0 and 1
    disk, found = recovered(SLICE, 300, media, block_sectors=1)
    assert found.discarded == 1
    disk.request(disk.now, True, 250, 1)  # piece 2
    again = recovery.recover(media, 300)
    assert not again.from_tail and again.discarded == 0
    assert (again.map == disk.mapping()).all()


def test_a_tree_has_as_many_children_as_a_record_has_room_for():
    """The tail may have two children here; any other record may have one more."""
    tree = [(0, -1), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (6, 2)]
    check_tree(tree, 7, 2)
    for parent, others in ((0, 3), (1, 4)):
        words = f"piece {parent} points to {others} others; expected at most {others - 1}"
        with pytest.raises(ParameterError, match=words):
            check_tree([*tree, (7, parent)], 8, 2)


def test_impossible_media_are_refused():
    with pytest.raises(InputError, match="whole sectors"):
        recovery.recover(np.zeros(100, np.uint8), 100)
    with pytest.raises(InputError, match="no record of piece 0"):
        recovery.recover(np.zeros(5120, np.uint8), 100)
    with pytest.raises(ParameterError, match="there are 0 logical blocks"):
        recovery.recover(np.zeros(5120, np.uint8), 0)
    disk, media = fresh(8, 300)
    disk.power_down()
    media[512:] = np.random.default_rng(0).integers(0, 256, len(media) - 512, dtype=np.uint8)
    with pytest.raises(InputError, match="no record of piece"):
        recovery.recover(media, 300)


def forge(media, address, **fields):
    """Change a record and correct its checksum."""
    raw = media[address * 512 : (address + 1) * 512]
    record = raw.view(recovery.RECORD)[0]
    for name, value in fields.items():
        record[name] = value
    record["checksum"] = recovery.checksum(raw[:-8])


def refuse(media, message, blocks=300, **parameters):
    """Check that a recovery fails and leaves the media as they were."""
    before = media.copy()
    with pytest.raises(InputError, match=message):
        recovered(SLICE, blocks, media, **parameters)
    assert (media == before).all()


def test_a_map_that_does_not_fit_the_disk_is_refused():
    disk, media = fresh(1, 2400)
    disk.power_down()
    with pytest.raises(InputError, match="maps more than 900 blocks"):
        recovery.recover(media, 900)
    refuse(media, "maps more than 2399 blocks", 2399, block_sectors=1)
    assert recovered(SLICE, 2400, media, block_sectors=1)[1].from_tail
    disk, media = fresh(1, 300, first=5000)
    disk.power_down()
    refuse(media, "physical block 5000; expected 0 to 1023", block_sectors=8)


@pytest.mark.parametrize(
    ("entries", "message"),
    [([10**8], "physical block 100000000"), ([-2], "physical block -2"), ([5, 5], "used twice"), ([0], "sector 0")],
)
def test_a_forged_map_is_refused(entries, message):
    disk, media = fresh(8, 300)
    disk.power_down()
    address = int(disk.tree()["address"][1])
    entry = media[address * 512 : (address + 1) * 512].view(recovery.RECORD)[0]["entry"].copy()
    entry[: len(entries)] = entries
    forge(media, address, entry=entry)
    refuse(media, message)
    entry[: len(entries)] = address // 8  # the block that contains a record
    forge(media, address, entry=entry)
    refuse(media, "used twice")


def test_a_forged_tree_is_refused():
    disk, media = fresh(8, 300)
    disk.power_down()
    root = int(np.flatnonzero(disk.tree()["parent"] == -1)[0])
    media[:512] = 0  # without the tail, a scan recovers the map
    forge(media, int(disk.tree()["address"][root]), pointers=0)
    refuse(media, "no newer map sector points to piece")
