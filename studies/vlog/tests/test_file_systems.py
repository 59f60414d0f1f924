"""Test the virtual-log study's hosts and file systems: times computed by hand, the order of writes, and that nothing is
lost."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from misspenalty import InputError, ParameterError, disks
from misspenalty.disks.drive.slices import cut
from misspenalty_studies.vlog.file_systems.hosts import load_hosts
from misspenalty_studies.vlog.file_systems.lfs import BUFFER, DATA, RESERVE, SEGMENT, Lfs
from misspenalty_studies.vlog.file_systems.ufs import DIRECT, GROUP, Ufs, UfsLayout
from misspenalty_studies.vlog.virtual_log.log import physical_blocks, update_in_place, virtual_log

HOSTS_FILE = Path(__file__).parents[3] / "studies" / "vlog" / "machine.yaml"
HOSTS = load_hosts(HOSTS_FILE)
SLICE = cut(disks.load("st19101"), 11)


class Recorder:
    """A store that takes 1 ms per request and records its requests."""

    def __init__(self):
        self.now, self.requests, self.rests = 0, [], []

    def request(self, now, write, sector, count):
        assert now >= self.now
        self.now = now + 1_000_000
        self.requests.append((write, sector, count))
        return self.now, {}

    def rest(self, until):
        self.rests.append((self.now, until))
        self.now = until
        return until


def test_a_write_costs_what_is_computed_by_hand():
    host = HOSTS["sparc10"]
    # 15000 instructions at 25 a microsecond, 4096 bytes at 18 a microsecond; 5000 + 0.1 * 4096 at 25
    assert host.write_ns(4096) == 600_000 + 227_556
    assert host.request_ns(4096) == 216_384
    assert host.scaled(2).write_ns(4096) == pytest.approx(2 * host.write_ns(4096), abs=2)
    free = host.scaled(0)
    assert free.write_ns(4096) == free.request_ns(4096) == free.search_ns == free.record_ns == 0


def test_every_unprinted_value_is_varied_and_named():
    table = HOSTS.table()
    assert (table.loc[table["status"] == "assumed", "reason"] != "").all()
    for label in HOSTS.hosts:
        varied = {name for name, _, _ in HOSTS.variations(label)}
        mine = table[table["host"].isin([label, "both"]) & table["status"].isin(["assumed", "recollected"])]
        assert varied >= set(mine["parameter"])
    with pytest.raises(ParameterError, match="no host called 'vax'"):
        HOSTS["vax"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e["paths"].pop("search"), "search"),
        (lambda e: e["hosts"]["sparc10"]["clock_mhz"].update(value=0), "clock_mhz"),
        (lambda e: e["hosts"]["sparc10"]["clock_mhz"].update(value="fast"), "clock_mhz"),
        (lambda e: e["paths"]["record"].pop("reason"), "record"),
        (lambda e: e.update(more=1), "more"),
    ],
)
def test_an_impossible_hosts_file_is_refused(tmp_path, change, message):
    entries = yaml.safe_load(HOSTS_FILE.read_text())
    change(entries)
    path = tmp_path / "hosts.yaml"
    path.write_text(yaml.safe_dump(entries))
    with pytest.raises(InputError, match=message):
        load_hosts(path)
    path.write_text("a: [")
    with pytest.raises(InputError, match="not YAML"):
        load_hosts(path)


def test_creating_writes_inode_then_directory_and_the_data_behind():
    store = Recorder()
    ufs = Ufs(store, HOSTS["sparc10"], 5000)
    spent = ufs.small_files(3)
    first_data = 2 + GROUP * 2 // 32
    directory, data = 8 * first_data, 8 * (first_data + 1)
    metadata = [(True, 16, 8), (True, directory, 8)]  # inode block 2, the directory's block
    created = [*metadata, (True, 16, 8), *metadata, *metadata]  # the new directory writes its own inode
    assert store.requests[: len(created)] == created
    behind = [(True, data, 2), (True, data + 2, 2), (True, data + 4, 2)]
    assert store.requests[len(created) : len(created) + 3] == behind
    read = store.requests[len(created) + 3 : -6]
    assert read == [(False, directory, 8), (False, 16, 8), *((False, s, n) for _, s, n in behind)]
    assert store.requests[-6:] == 3 * [(True, directory, 8), (True, 16, 8)]
    assert sum(spent.values()) == ufs.now == store.now


def test_inodes_never_take_the_blocks_of_the_directory():
    store = Recorder()
    most = GROUP * 2 - 1  # one inode per 2 KB; one of them is the directory's
    Ufs(store, HOSTS["sparc10"], 5000).small_files(most)
    directory = 8 * (2 + GROUP * 2 // 32)
    inodes = {sector for write, sector, count in store.requests if write and count == 8 and sector < directory}
    assert max(inodes) == directory - 8, "the last block of inodes is before the directory"
    with pytest.raises(ParameterError, match=f"{most + 1} files; expected at most {most}"):
        Ufs(Recorder(), HOSTS["sparc10"], 5000).small_files(most + 1)


def test_a_layout_never_gives_a_block_twice():
    layout = UfsLayout(5632)
    taken, indirect = layout.file(4000)
    more = layout.allocate(800)
    given = [*taken, *indirect.values(), *more]
    assert len(given) == len(set(given)) and max(given) < 5632
    assert next(iter(indirect)) == DIRECT and taken[DIRECT] >= GROUP  # indirect blocks are in another group
    with pytest.raises(ParameterError, match="are free"):
        layout.allocate(1000)
    with pytest.raises(ParameterError, match="are too few for a file system"):
        UfsLayout(100)


def test_the_first_cylinder_group_follows_the_last():
    """The last group of this disk has 1536 of 2048 blocks; the first group's data start after 130 blocks."""
    layout = UfsLayout(5632)
    layout.rotor = 4500
    layout.next_group()
    assert layout.allocate(1) == [130]


def test_a_large_file_is_written_and_read_in_clusters():
    store = Recorder()
    Ufs(store, HOSTS["ultra170"], 5000).large_file(56 * 4096, seed=1)
    writes = [request for request in store.requests if request[0]]
    assert writes[0] == (True, 8 * 130, 8 * DIRECT)  # the direct blocks; the next group follows
    assert [count for _, _, count in writes[1:5]] == [112, 112, 112, 16]
    reads = [request for request in store.requests if not request[0]]
    assert len(reads) == 2 * 6 + 56  # clusters and the indirect block, twice; then block by block
    assert len(writes) == 5 + 2 + 56


def held(lfs):
    return [*lfs.buffer, *lfs.carried, *lfs.where]


def test_the_log_structured_disk_loses_nothing():
    rng = np.random.default_rng(6)
    lfs = Lfs(update_in_place(SLICE), HOSTS["ultra170"], physical_blocks(SLICE))
    live = int(0.85 * physical_blocks(SLICE))
    lfs.lay_out(live)
    for step, block in enumerate(rng.integers(0, live, 12_000).tolist()):
        lfs.write(block)
        if step % 1500 == 0:
            lfs.pause(int(rng.integers(0, 500_000_000)))
            lfs.flush_all()
    assert set(held(lfs)) == set(range(live))
    assert len(lfs.buffer) <= BUFFER
    assert sorted([*lfs.free, *lfs.slots]) == list(range(lfs.segments))
    for block, (segment, slot) in lfs.where.items():
        assert lfs.slots[segment][slot] == block and 1 <= slot <= DATA
    assert sum(map(len, lfs.slots.values())) == len(lfs.where)
    assert lfs.cleaned > 10 and len(lfs.free) >= RESERVE


def test_a_partial_segment_below_the_threshold_is_written_again():
    store = Recorder()
    lfs = Lfs(store, HOSTS["ultra170"], 50 * SEGMENT)
    for block in range(50):
        lfs.write(block)
    lfs.flush_all()
    for block in range(50, 96):
        lfs.write(block)
    lfs.flush_all()
    assert [count for _, _, count in store.requests] == [8 * 51, 8 * 97]
    assert not lfs.buffer and len(lfs.slots) == 1
    lfs.read(3)
    assert store.requests[-1] == (False, (lfs.where[3][0] * SEGMENT + lfs.where[3][1]) * 8, 8)


def test_a_buffered_update_costs_the_host_alone():
    lfs = Lfs(Recorder(), HOSTS["sparc10"], 50 * SEGMENT)
    for block in range(1000):
        lfs.write(block % 100)
    assert lfs.now == 1000 * HOSTS["sparc10"].write_ns(4096) and not lfs.store.requests


def test_a_logical_disk_that_is_too_small_is_refused():
    with pytest.raises(ParameterError, match="make 3 segments"):
        Lfs(Recorder(), HOSTS["sparc10"], 3 * SEGMENT)
    with pytest.raises(ParameterError, match="has room for"):
        Lfs(Recorder(), HOSTS["sparc10"], 10 * SEGMENT).lay_out(10 * SEGMENT)


def test_the_algorithms_time_is_charged_by_what_is_counted():
    disk = virtual_log(SLICE, 3000, search_ns=10, record_ns=1000)
    parts = disk.replay(np.arange(0, 2000 * 8, 8), np.full(2000, 8), np.array([5]), 0)
    assert parts["other"] == 2000 * 5 + 10 * disk.tried + 1000 * disk.records
    assert parts["total"] == sum(parts[name] for name in ("other", "overhead", "locate", "transfer"))
