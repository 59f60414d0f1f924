"""Test the SPC-1-like workload against its table of streams, closed forms and a reference implementation."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.spc1 import Spc1Reference, exponential

from misspenalty import ParameterError, open_trace
from misspenalty.cli.main import main
from misspenalty.traces.spc1 import SEQUENTIAL, STREAMS, Workload, requests, slices, write_spc

GB = 1 << 30
NAMES = list(STREAMS)
KINDS = list(STREAMS.values())


def rows(table):
    return list(zip(*[column.tolist() for column in table.values()], strict=True))


@pytest.fixture(scope="module")
def million():
    """Return the settings of a workload of 20 BSUs, and a million of its requests."""
    workload = Workload(16 * GB, bsus=20, seed=5)
    return workload, requests(workload.start(), 1_000_000)


@settings(max_examples=25, deadline=None)
@given(
    space=st.integers(800 << 20, (1 << 44) - 4096),
    bsus=st.integers(1, 9),
    seed=st.integers(0, 2**64 - 1),
    climb=st.sampled_from([0, 0.44, 0.56, 1]),
    round_writes=st.booleans(),
    iops=st.none() | st.floats(0.01, 1e8),
)
def test_kernel_equals_reference(space, bsus, seed, climb, round_writes, iops):
    workload = Workload(space, bsus, iops, seed, climb, round_writes)
    kernel, reference = workload.start(), Spc1Reference(workload)
    assert rows(requests(kernel, 150)) == [reference.request() for _ in range(150)]
    now = kernel.due - 1
    for one in (kernel, reference):
        one.load(now, 1, 33.0)
    assert rows(requests(kernel, 50)) == [reference.request() for _ in range(50)]
    assert kernel.due == reference.due


def test_kernel_equals_reference_in_a_long_run():
    """Runs must end and new ones begin: in the smallest space, a run is about a hundred requests long."""
    workload = Workload(200 << 20, bsus=2, seed=9)
    table = requests(workload.start(), 30_000)
    reference = Spc1Reference(workload)
    assert rows(table) == [reference.request() for _ in range(30_000)]
    steps = np.diff(table["block"][(table["stream"] == 7) & (table["bsu"] == 0)])
    assert np.count_nonzero(np.abs(steps) > 16) > 5


def test_shares_are_those_of_the_table_of_streams():
    count, by, blocks, last = 2_000_000, np.zeros((len(STREAMS), 2), np.int64), 0, 0
    for table in slices(Workload(16 * GB, bsus=20, seed=1), count):
        by += np.bincount(table["stream"] * 2 + table["write"], minlength=by.size).reshape(-1, 2)
        blocks, last = blocks + int(table["blocks"].sum(dtype=np.int64)), int(table["time"][-1])
    share, sequential = by / count, np.array([kind.pattern == SEQUENTIAL for kind in KINDS])
    assert np.abs(share.sum(1) - [kind.intensity / 1000 for kind in KINDS]).max() < 0.001
    assert 4 * blocks / count == pytest.approx(8.0, abs=0.05)  # KB
    assert count / last * 1e9 == pytest.approx(1000, rel=0.005)
    # Section IV of the SARC paper states these shares in whole %.
    published = {"random": (0.29, 0.32), "sequential": (0.11, 0.28), "all": (0.4, 0.6)}
    found = {"random": share[~sequential].sum(0), "sequential": share[sequential].sum(0), "all": share.sum(0)}
    assert found == {name: pytest.approx(shares, abs=0.0065) for name, shares in published.items()}


def test_gaps_are_exponential(million):
    workload, table = million
    gaps = np.sort(np.diff(table["time"], prepend=0)) * (workload.rate / 1e9)
    assert gaps.mean() == pytest.approx(1, abs=0.005)
    assert gaps.std() == pytest.approx(1, abs=0.01)
    distance = np.abs(1 - np.exp(-gaps) - np.arange(gaps.size) / gaps.size).max()
    assert distance < 1.95 / math.sqrt(gaps.size)  # Kolmogorov-Smirnov test at the 0.1 % level


@given(st.integers(0, 2**64 - 1))
def test_exponential_is_the_logarithm(bits):
    assert exponential(bits) == pytest.approx(-math.log(((bits >> 11) + 1) / 2**53), rel=1e-11, abs=1e-15)


def test_runs_of_sequential_streams_are_10_or_30_percent_of_a_unit_long():
    """NetApp's spc1.c, which follows the specification, has the same numbers."""
    assert {name: stream.run for name, stream in STREAMS.items() if stream.run} == {
        "ASU1-3": 10, "ASU2-3": 10, "ASU3-1": 30,
    }  # fmt: skip


def test_each_stream_stays_in_its_region(million):
    workload, table = million
    assert len(table["stream"]) == 1_000_000
    for number, (asu, _, reads, pattern, first, extent, run) in enumerate(KINDS):
        mine = table["stream"] == number
        blocks, begin = workload.blocks[asu], table["block"][mine]
        end = begin + table["blocks"][mine]
        assert set(table["asu"][mine]) == {asu}
        assert begin.min() >= blocks * first // 100 - 15  # runs and trees are rounded down
        assert end.max() <= blocks * (first + extent + run) // 100
        assert set(table["blocks"][mine]) == ({1, 2, 4, 8, 16} if pattern == 2 else {1})
        if reads in (0, 100):
            assert set(table["write"][mine]) == {1 - reads // 100}


# NetApp's spc1.c, version 1.4: intensity, reads, and the parts of the unit where random requests lie or runs begin
NETAPP = {
    "ASU1-1": (0.035, 0.5, 0.00, 1.00),
    "ASU1-2": (0.281, 0.5, 0.15, 0.20),
    "ASU1-3": (0.070, 1.0, 0.20, 0.60),
    "ASU1-4": (0.210, 0.5, 0.70, 0.75),
    "ASU2-1": (0.018, 0.3, 0.00, 1.00),
    "ASU2-2": (0.070, 0.3, 0.47, 0.52),
    "ASU2-3": (0.035, 1.0, 0.20, 0.60),
    "ASU3-1": (0.281, 0.0, 0.00, 0.70),
}


def test_streams_are_those_of_netapps_generator():
    """The runs and walks of five thousand BSUs begin in so many places that they reach the ends of every region."""
    workload = Workload(16 * GB, bsus=5000, seed=2)
    table = requests(workload.start(), 1_000_000)
    assert len(table["stream"]) == 1_000_000 and len(NETAPP) == len(KINDS)
    for number, (intensity, reads, first, end) in enumerate(NETAPP.values()):
        mine = table["stream"] == number
        place = table["block"][mine] / workload.blocks[table["asu"][mine][0]]
        if number in (2, 6, 7):  # where runs begin: the first request of each BSU
            place = place[np.unique(table["bsu"][mine], return_index=True)[1]]
        assert mine.mean() == pytest.approx(intensity, abs=0.001)
        assert 1 - table["write"][mine].mean() == pytest.approx(reads, abs=0.01)
        assert place.min() == pytest.approx(first, abs=0.001) and place.max() == pytest.approx(end, abs=0.001)


def test_sequential_requests_follow_each_other(million):
    _, table = million
    for number in (2, 6, 7):
        for bsu in range(3):
            mine = (table["stream"] == number) & (table["bsu"] == bsu)
            begin, end = table["block"][mine], table["block"][mine] + table["blocks"][mine]
            breaks = begin[1:] != end[:-1]
            assert np.all(begin[1:][breaks] % 16 == 0) and begin[0] % 16 == 0
            assert np.count_nonzero(breaks) <= 2


def exact_tree(levels, climb=0.44):
    """Return a workload whose ASU1-2 has a region of exactly 2**levels leaves, and the region's first block."""
    asu1 = 20 * 8 << levels
    workload = Workload(-(-asu1 * 100 * 4096 // 45), bsus=1, seed=3, climb=climb)
    assert workload.blocks[0] == asu1
    return workload, asu1 * 15 // 100 & ~7


def test_walk_climbs_with_the_stated_probability():
    """A read lands among the 128 leaves around the last visit if the walk does not climb, and otherwise by chance.

    After a climb of j levels, it lands there one time in 2**j.
    """
    workload, first = exact_tree(12)
    table = requests(workload.start(), 1_000_000)
    mine = table["stream"] == 1
    group, read = (table["block"][mine] - first) // 8 >> 7, table["write"][mine] == 0
    near = (group[1:] == group[:-1])[read[1:]].mean()
    expected = sum(0.56 * 0.44**j / 2**j for j in range(5)) + (0.44 / 2) ** 5
    assert near == pytest.approx(expected, abs=0.003)


def test_walk_reads_the_blocks_of_a_leaf_in_turn():
    workload, first = exact_tree(7)
    table = requests(workload.start(), 300_000)
    mine = (table["stream"] == 1) & (table["write"] == 0)
    leaf, block = np.divmod(table["block"][mine] - first, 8)
    for one in (0, 17, 127):
        turns = block[leaf == one]
        assert turns.size > 100 and np.array_equal(turns, np.arange(turns.size) % 8)


def test_walk_writes_to_the_first_of_eight_leaves_and_repeats_some():
    workload, first = exact_tree(17, climb=1)  # so many leaves that a block hardly ever repeats by chance
    table = requests(workload.start(), 1_000_000)
    block = table["block"][(table["stream"] == 1) & (table["write"] == 1)]
    assert np.all((block - first) // 8 % 8 == 0)
    assert (block[1:] == block[:-1]).mean() == pytest.approx(0.15 / 1.15, abs=0.003)  # no repeat follows a repeat


def test_slices_make_up_one_run(million):
    workload, table = million
    kernel = workload.start()
    parts = [requests(kernel, count) for count in (1, 0, 7, 4000)]
    assert np.array_equal(np.concatenate([part["block"] for part in parts]), table["block"][:4008])
    assert np.array_equal(np.concatenate([part["time"] for part in slices(workload, 300_000)]), table["time"][:300_000])
    seconds = table["time"][5000] / 1e9
    assert sum(part["time"].size for part in slices(workload, seconds=seconds)) == 5000
    other = requests(Workload(16 * GB, bsus=20, seed=6).start(), 100)
    assert not np.array_equal(other["block"], table["block"][:100])


def test_the_load_changes_and_streams_keep_their_places():
    kernel = Workload(16 * GB, bsus=4, seed=2).start()
    before = requests(kernel, 4000)
    kernel.load(int(before["time"][-1]), 2, 5000.0)
    after = requests(kernel, 100_000)
    assert after["time"][0] >= before["time"][-1] and set(after["bsu"]) == {0, 1}
    assert 99_999 / (after["time"][-1] - after["time"][0]) * 1e9 == pytest.approx(5000, rel=0.02)
    for bsu in (0, 1):
        tail = [(part["stream"] == 7) & (part["bsu"] == bsu) for part in (before, after)]
        last = before["block"][tail[0]][-1] + before["blocks"][tail[0]][-1]
        assert after["block"][tail[1]][0] == last


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zst"])
def test_written_trace_is_read_back(tmp_path, suffix):
    workload = Workload(4 * GB, bsus=3, seed=8)
    path = tmp_path / f"made.spc{suffix}"
    made = write_spc(workload, path, 3000)
    table, trace = requests(workload.start(), 3000), open_trace(path)
    assert made["requests"] == 3000 and made["seconds"] == table["time"][-1] / 1e9
    assert made["reads"] == np.count_nonzero(table["write"] == 0) and made["bytes"] == table["blocks"].sum() * 4096
    assert trace.format == "spc"
    asu = np.repeat(table["asu"].astype(np.uint64), table["blocks"]) << np.uint64(47)
    within = np.concatenate([np.arange(n) for n in table["blocks"]])
    expected = asu + (np.repeat(table["block"], table["blocks"]) + within).astype(np.uint64)
    assert np.array_equal(trace.address[trace.ids], expected)
    assert np.array_equal(trace.write, np.repeat(table["write"], table["blocks"]).astype(bool))
    assert np.array_equal(trace.time, np.repeat(table["time"], table["blocks"]))
    again = tmp_path / f"again.spc{suffix}"
    write_spc(workload, again, 3000)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "given, message",
    [
        ({"space_bytes": 1 << 20}, "space_bytes is 1048576; expected a whole number from 186413512 to"),
        ({"space_bytes": 1 << 60}, "space_bytes is"),
        ({"space_bytes": 4e9}, "space_bytes is 4000000000.0"),
        ({"bsus": 0}, "bsus is 0; expected a whole number from 1"),
        ({"bsus": 1 << 40}, "bsus is"),
        ({"bsus": True}, "bsus is True"),
        ({"iops": 0}, "iops is 0; expected a number from 0.001"),
        ({"iops": float("nan")}, "iops is nan"),
        ({"iops": float("inf")}, "iops is inf"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 1 << 64}, "seed is"),
        ({"climb": 1.1}, "climb is 1.1; expected a number from 0 to 1"),
        ({"climb": "0.4"}, "climb is '0.4'"),
    ],
)
def test_impossible_workloads_are_named(given, message):
    with pytest.raises(ParameterError, match=f"spc1: {message}"):
        Workload(**{"space_bytes": 4 * GB} | given)


@pytest.mark.parametrize("length", [{}, {"count": 1, "seconds": 1}, {"count": 0}, {"count": 1.5}, {"seconds": -1}])
def test_impossible_lengths_are_named(tmp_path, length):
    with pytest.raises(ParameterError, match=r"requests|seconds"):
        write_spc(Workload(4 * GB), tmp_path / "x.spc", **length)
    with pytest.raises(ParameterError, match="no request arrives within 1e-09 s"):
        write_spc(Workload(4 * GB), tmp_path / "x.spc", seconds=1e-9)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "now, bsus, iops",
    [(0, 0, 50.0), (0, 5, 50.0), (0, -1, 50.0), (0, 1 << 40, 50.0), (-1, 1, 50.0), (1 << 62, 1, 50.0)]
    + [(0, 1, iops) for iops in (0.0, -1.0, 1e12, float("nan"), float("inf"))],
)
def test_impossible_loads_are_refused(now, bsus, iops):
    kernel, untouched = (Workload(4 * GB, bsus=4).start() for _ in range(2))
    with pytest.raises(ParameterError, match=r"requests per second from .* expected 1 to 4 BSUs"):
        kernel.load(now, bsus, iops)
    assert rows(requests(kernel, 50)) == rows(requests(untouched, 50))


def test_times_stay_in_range():
    with pytest.raises(
        ParameterError, match=r"20000000 requests take 2e\+10 s at 0.001 per second; expected at most 1e"
    ):
        write_spc(Workload(4 * GB, iops=0.001), "unused", 20_000_000)
    kernel = Workload(4 * GB, iops=0.001).start()
    kernel.load(10**18, 1, 0.001)
    time = requests(kernel, 5_000_000)["time"]
    assert 3_500_000 < time.size < 3_700_000 and time[-1] < 1 << 62 and np.all(np.diff(time) >= 0)


def test_smallest_space_has_trees_of_128_leaves():
    workload = Workload(-(-20480 * 4096 * 100 // 45))
    assert min(workload.blocks[:2]) == 20480
    requests(workload.start(), 1000)


def test_command_line_makes_a_trace(tmp_path, capsys):
    path = tmp_path / "a.spc.zst"
    make = ["trace", "generate", "spc1", str(path), "--space", "4GB", "--bsus", "2", "--seconds", "5", "--json"]
    assert main(make) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["output"] == str(path) and 350 < made["requests"] < 650 and made["seconds"] < 5
    assert main(["trace", "info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "spc"
    assert main(make) == 2 and "exists" in capsys.readouterr().err
    assert main(["trace", "generate", "spc1", str(tmp_path / "b.spc"), "--space", "4KB", "--requests", "5"]) == 2
    assert "space_bytes is 4096" in capsys.readouterr().err
    assert main(["trace", "generate", "spc1", str(tmp_path / "b.spc"), "--space", "much", "--requests", "5"]) == 2
    assert "'much' is not a size; expected bytes (8192)" in capsys.readouterr().err
