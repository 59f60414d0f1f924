"""Test the preparation of recorded calls for the client, and the placement of files on its disk."""

from types import SimpleNamespace

import numpy as np
import pytest

from misspenalty import InputError, ParameterError
from misspenalty_studies.epcm.file_client.client import CALL, CALLS
from misspenalty_studies.epcm.file_client.placement import place
from misspenalty_studies.epcm.file_client.workload import Inodes, make_workload, prepare

PATHS = ["a.c", "a.o", "/tmp/cc1.s", "/tmp/cc2.s", "/usr/bin/cc", "a.o.new", "/usr/include"]
FILES = {
    "path": PATHS,
    "temporary": [False, False, True, True, False, False, False],
    "normal_path": ["a.c", "a.o", "/tmp/1.s", "/tmp/1.s", "/usr/bin/cc", "a.o.new", "/usr/include"],
    "folder": [False, False, False, False, False, False, True],
    "size": [5000, -1, -1, -1, 100_000, -1, 4096],
}
COLUMNS = ["run", "kind", "file", "offset", "length", "asked", "other", "error", "gap_ns", "system_us"]


def recorded(temporary, run):
    """Return the rows of a compilation: exec, fault, source read, temporary made, object written and renamed."""
    return [
        (run, "fork", -1, 0, 0, 0, 1, 0, 10, 100),
        (run, "exec", 4, 0, 100_000, 0, -1, 0, 20, 200),
        (run, "mmap", 4, 0, 100_000, 0, 5, 0, 1, 2),
        (run, "fault", 4, 40_960, 8192, 0, -1, 0, 3, 4),
        (run, "stat", 1, 0, 0, 0, -1, 2, 5, 6),
        (run, "open", 6, 0, 4096, 0, 1, 0, 1, 1),
        (run, "list", 6, 0, 0, 0, -1, 0, 1, 1),
        (run, "open", 0, 0, 5000, 0, 1, 0, 30, 300),
        (run, "read", 0, 0, 5000, 8192, -1, 0, 40, 400),
        (run, "create", temporary, 0, 0, 0, 6, 0, 50, 500),
        (run, "write", temporary, 0, 6000, 6000, -1, 0, 60, 600),
        (run, "open", temporary, 0, 6000, 0, 1, 0, 70, 700),
        (run, "create", 5, 0, 0, 0, 6, 0, 80, 800),
        (run, "write", 5, 0, 3000, 3000, -1, 0, 90, 900),
        (run, "rename", 5, 0, 0, 0, 1, 0, 100, 1000),
        (run, "unlink", temporary, 0, 0, 0, -1, 0, 110, 1100),
        (run, "read", 0, 0, 0, 0, -1, 9, 120, 1200),
        (run, "exit", -1, 0, 0, 0, -1, 0, 130, 1300),
    ]


def capture(rows=None):
    rows = [*recorded(2, 1), *recorded(3, 2)] if rows is None else rows
    events = {name: np.array(column) for name, column in zip(COLUMNS, zip(*rows, strict=True), strict=True)}
    events["gap_ns"] = 1000 * events["gap_ns"]
    return SimpleNamespace(events=events, files={name: np.array(column) for name, column in FILES.items()})


def made(rows=None, **options):
    defaults = {"sectors": 2_000_000, "block_kb": 1, "generator": np.random.default_rng(1)}
    return prepare(capture(rows), **defaults | options)


def test_calls_keep_their_order_and_all_compute_but_that_of_read_calls():
    workload = made()
    calls = workload.records[0]
    kinds = [CALLS[kind] for kind in calls["kind"]]
    assert kinds == [
        "exec", "fault", "search", "lookup", "lookup", "open", "read", "create", "write", "open", "create", "write",
        "rename", "unlink", "compute",
    ]  # fmt: skip
    assert calls["gap"][:3].tolist() == [130_000, 206_000, 9_000]
    rows = recorded(2, 1)
    assert calls["gap"].sum() == 1000 * (sum(row[8] + row[9] for row in rows) - 400)


@pytest.mark.parametrize(
    ("temporaries", "first", "second"),
    [
        ("recorded", [4, 0, 2, 2, 5], [4, 0, 3, 3, 5]),
        ("dropped", [4, 0, 5], [4, 0, 5]),
        ("normal", ["/usr/bin/cc", "a.c", "/tmp/1.s", "/tmp/1.s", "a.o.new"], None),
    ],
)
def test_what_the_predictor_sees(temporaries, first, second):
    workload = made(temporaries=temporaries)
    if temporaries == "normal":
        names = np.unique(FILES["normal_path"])
        assert names[workload.events(0)].tolist() == names[workload.events(1)].tolist() == first
        assert workload.known[1][np.flatnonzero(names == "/tmp/1.s")[0]] == 2, "it has the path of the last run"
        assert workload.known[0][np.flatnonzero(names == "/tmp/1.s")[0]] == -1
    else:
        assert workload.events(0).tolist() == first
        assert workload.events(1).tolist() == second


def test_a_temporary_file_has_the_inode_that_the_last_one_left():
    """By hand: of two files made, the first is removed; the next file made must get its inode, and a renamed file must
    keep its inode."""
    kinds = ["create", "create", "unlink", "create", "rename", "open", "create", "exec"]
    calls = np.zeros(len(kinds), CALL)
    calls["kind"] = [CALLS.index(kind) for kind in kinds]
    calls["path"] = [1, 2, 1, 3, 3, 4, 1, 0]
    calls["asked"][4] = 4
    inodes = Inodes(["/t/old", "/t/a", "/t/b", "/t/c", "/u/d"], np.array([7, -1, -1, -1, -1]))
    first, second = 5, 6
    expected = [first, second, -1, first, -1, first, 7, 0]
    assert inodes.of_run(calls).tolist() == expected
    assert inodes.of_run(calls).tolist() == expected, "what a run made is gone when the next begins"
    assert inodes.number == 8


def test_the_predictor_sees_the_same_inodes_in_every_run():
    workload = made()
    assert workload.events(0).tolist() == workload.events(1).tolist()
    assert workload.files > max(workload.events(0))


def test_sizes_at_the_start_of_a_run():
    workload = made()
    for sizes in workload.sizes:
        assert sizes.tolist() == [5000, -1, -1, -1, 100_000, -1, 4096]
    assert workload.pages.tolist() == [2, 1, 2, 2, 25, 1, 1]
    assert workload.sectors[workload.first[0] + 1] == 2, "the second page has 904 bytes, which fit into a block of 1 KB"


def test_programs_can_be_folded():
    calls = made(programs=0.25).records[0]
    fault = calls[calls["kind"] == CALLS.index("fault")][0]
    assert (fault["offset"], fault["length"]) == (2 * 4096, 4096)
    assert calls[0]["length"] == 25_000


def test_files_do_not_overlap_and_are_within_the_disk():
    workload = made()
    taken = np.concatenate([np.arange(at, at + n) for at, n in zip(workload.lba, workload.sectors, strict=True)])
    assert len(np.unique(taken)) == len(taken)
    assert taken.min() >= 0
    assert taken.max() < 2_000_000
    for first, pages in zip(workload.first, workload.pages, strict=True):
        assert (np.diff(workload.lba[first : first + pages]) == 8).all(), "a file is contiguous"


def test_large_files_take_whole_groups_and_a_full_disk_is_reported():
    rng = np.random.default_rng(0)
    stretches, _, walks = place(
        ["/lib/big", "/lib/small", "/lib/x"], [30 * 2**20, 100, 100], [False] * 3, [0] * 3, 2_000_000, 1024, rng
    )
    first = [file[0][0] for file in stretches]
    assert abs(first[1] - first[2]) == 2, "they are a block apart"
    assert not first[0] <= first[1] < first[0] + 30 * 2048
    assert walks[1] == walks[2], "their inodes share a block"
    with pytest.raises(ParameterError, match="larger drive"):
        place(["/a"], [2**40], [False], [0], 2_000_000, 1024, rng)
    with pytest.raises(ParameterError, match="too small"):
        place(["/a"], [1], [False], [0], 1000, 1024, rng)


def test_a_directory_never_gets_a_group_whose_inodes_a_large_file_covers():
    directories = [f"/d{number}/x" for number in range(118)]
    big, small = [30 * 2**20] * 20, [100] * len(directories)
    for seed in range(5):
        stretches, blocks, _ = place(
            [*(f"/big/{number}" for number in range(20)), *directories], [*big, *small], [False] * 138, [0] * 138,
            2_000_000, 1024, np.random.default_rng(seed),
        )  # fmt: skip
        covered = np.concatenate([np.arange(at, at + n) for file in stretches[:20] for at, n in file])
        assert not np.isin(blocks, covered).any()


def test_files_are_placed_in_the_order_of_their_first_open_on_request():
    calls = np.zeros(4, CALL)
    calls["kind"], calls["path"] = CALLS.index("open"), [2, 0, 2, 1]
    where = {"sectors": 2_000_000, "block_kb": 1}
    at = {
        order: make_workload(
            ["/d/a", "/d/b", "/d/c"], [9000] * 3, [calls], generator=np.random.default_rng(1), order=order, **where
        )
        for order in ("names", "opened")
    }
    assert {order: np.argsort(work.lba[work.first]).tolist() for order, work in at.items()} == {
        "names": [0, 1, 2],
        "opened": [2, 0, 1],
    }
    moved = at["opened"].placed(generator=np.random.default_rng(2), **where)
    assert np.argsort(moved.lba[moved.first]).tolist() == [2, 0, 1], "another placement keeps the order"


def test_the_first_of_two_openings_is_left_out_with_its_reads_but_not_its_compute():
    rows = [(1, "open", 0, 0, 5000, 0, 1, 0, 1, 0), (1, "read", 0, 0, 100, 100, -1, 0, 2, 0)]
    rows += [(1, "open", 4, 0, 9, 0, 1, 0, 4, 0), (1, "open", 0, 0, 5000, 0, 1, 0, 8, 0)]
    rows += [(1, "read", 0, 0, 5000, 5000, -1, 0, 16, 0)]
    calls = made(rows, passes="last").run(0)
    assert calls["path"].tolist() == [4, 0, 0, -1]
    assert calls["length"].tolist() == [9, 5000, 5000, 0]
    assert calls["gap"].tolist() == [7000, 8000, 16_000, 0]
    assert len(made(rows).run(0)) == 6


def test_a_large_file_is_spread_where_no_group_is_whole():
    groups = 2_000_000 // 16384
    small = [f"/d{number}/x" for number in range(groups)]
    workload = make_workload(
        [*small, "/z/big"],
        [100] * groups + [30 * 2**20 + 5000],
        [np.zeros(0, CALL)],
        sectors=2_000_000,
        block_kb=1,
        generator=np.random.default_rng(1),
    )
    assert (workload.pages[:-1] == 1).all()
    lba = workload.lba[workload.first[-1] : workload.metadata]
    steps = np.diff(lba)
    assert len(lba) == 30 * 256 + 2
    assert 3 <= (steps != 8).sum() <= 5, "the file takes the free end of each group"
    taken = np.concatenate([np.arange(at, at + n) for at, n in zip(workload.lba, workload.sectors, strict=True)])
    assert len(np.unique(taken)) == len(taken), "no two entries overlap"


def test_impossible_runs_are_reported():
    with pytest.raises(InputError, match="no run 7; it has 1, 2"):
        made(runs=[1, 7])
    with pytest.raises(InputError, match="event 1 refers to file 99; expected one below 7"):
        made([(1, "read", 99, 0, 1, 1, -1, 0, 0, 0)])
