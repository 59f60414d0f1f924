"""A crash after any sector: the map comes back exactly, and no acknowledged write is lost."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misspenalty import disks
from misspenalty.disks import recovery
from misspenalty.disks.slices import cut, uniform
from misspenalty.disks.virtual_log import recovered, virtual_log
from misspenalty.errors import InputError

SLICE = cut(disks.load("st19101"), 2)
TAG = np.dtype([("magic", "<u8"), ("version", "<i8"), ("logical", "<i4"), ("part", "<i4")])
DATA_MAGIC = 0x4D69737344617461


def content(media, physical, unit):
    """(versions, logical blocks) of physical blocks; every sector of a block has to agree."""
    _, _, sectors = uniform(SLICE)
    per_track = sectors // unit
    first = physical // per_track * sectors + physical % per_track * unit
    tags = media.reshape(-1, 512)[first[:, None] + np.arange(unit), : TAG.itemsize].copy().view(TAG)[:, :, 0]
    assert (tags["magic"] == DATA_MAGIC).all() and (tags["part"] == np.arange(unit)).all()
    assert (tags["version"] == tags["version"][:, :1]).all() and (tags["logical"] == tags["logical"][:, :1]).all()
    return tags["version"][:, 0], tags["logical"][:, 0]


def fresh(unit, blocks):
    tracks, _, sectors = uniform(SLICE)
    media = np.zeros(tracks * sectors * 512, np.uint8)
    disk = virtual_log(SLICE, blocks, block_sectors=unit, media=media)
    disk.lay_out(np.arange(blocks, dtype=np.int32), np.arange(1, blocks + 1, dtype=np.int32))
    return disk, media


def check(found, media, unit, versions, pending):
    """The recovered map leads to what was acknowledged, or wholly to the write that was cut off."""
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
def test_nothing_acknowledged_is_lost(unit, rounds, longest, idle):
    blocks = 2400 if unit == 1 else 900
    disk, media = fresh(unit, blocks)
    versions = np.zeros(blocks, np.int64)
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
            elif count > disk.longest:  # several transactions: the first of them may stand
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
    assert walked.from_tail and walked.sectors_read < 200  # 40 pieces, and the stale pointers tried
    assert not scanned.from_tail and scanned.sectors_read == len(media) // 512


def test_recovery_is_done_once():
    disk, media = fresh(8, 300)
    disk.power_down()
    assert recovery.recover(media, 300).from_tail
    assert not recovery.recover(media, 300).from_tail  # the tail's place was cleared


def test_media_that_cannot_be():
    with pytest.raises(InputError, match="whole sectors"):
        recovery.recover(np.zeros(100, np.uint8), 100)
    with pytest.raises(InputError, match="no record of piece 0"):
        recovery.recover(np.zeros(5120, np.uint8), 100)
    disk, media = fresh(8, 300)
    disk.power_down()
    media[512:] = np.random.default_rng(0).integers(0, 256, len(media) - 512, dtype=np.uint8)
    with pytest.raises(InputError, match="no record of piece"):
        recovery.recover(media, 300)
