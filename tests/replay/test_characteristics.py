"""The tables that characterize a trace equal those made by hand and counted reference by reference."""

from collections import Counter

import numpy as np
import pytest

from misspenalty import InputError, ParameterError, Trace, open_trace
from misspenalty.replay import characteristics
from misspenalty.replay.characteristics import frequencies, octaves, over_time, request_sizes, reuse_distances, runs
from misspenalty.replay.profile import profile


def power(value):
    """Return the smallest power of two not below a value."""
    return 1 << (int(value) - 1).bit_length()


@pytest.fixture
def blocks(monkeypatch):
    """Draw runs of several lengths over recurring blocks, and make slices so short that they end within runs."""
    monkeypatch.setattr(characteristics, "SLICE", 7)
    rng = np.random.default_rng(5)
    return [int(start) + i for start in rng.integers(0, 60, 300) for i in range(rng.integers(1, 9))]


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ([1], [(1, 4096, 1, 1)]),
        ([1, 2, 3, 4], [(1, 4096, 1, 0.25), (2, 8192, 1, 0.25), (4, 16384, 2, 0.5)]),
    ],
)
def test_requests_by_size(tmp_path, pages, expected):
    lines = [f"0,{1000 * number},{4096 * count},R,{number}.0\n" for number, count in enumerate(pages)]
    (path := tmp_path / "a.spc").write_text("".join(lines))
    table = request_sizes(open_trace(path, block_bytes=4096))
    assert list(table.itertuples(index=False, name=None)) == expected


@pytest.mark.parametrize("measure", [profile, over_time, runs, reuse_distances, frequencies])
def test_a_trace_without_references_has_no_characteristics(measure):
    empty = Trace(np.empty(0, np.uint32), None, None, np.empty(0, np.uint64), 4096, "empty", "none")
    with pytest.raises(ParameterError, match="trace empty has no references"):
        measure(empty)


def test_windows_traced_by_hand():
    """There are two windows of five seconds; in the second, 1 and 2 come back, 3 is new, and one of four is a write."""
    time = np.array([0, 1, 2, 5, 6, 9, 10]) * 10**9
    trace = Trace.from_blocks(
        [1, 2, 1, 2, 3, 1, 1], write=[number in (2, 5) for number in range(7)], time=time, block_bytes=1 << 19
    )
    table = over_time(trace, 2)
    assert table.to_dict("list") == {
        "window": [0, 1],
        "start_s": [0, 5],
        "references_per_s": [0.6, 0.8],
        "mb_per_s": [0.3, 0.4],
        "references": [3, 4],
        "read_share": [pytest.approx(2 / 3), 0.75],
        "working_set_blocks": [2, 3],
        "new_blocks": [2, 1],
        "footprint_blocks": [2, 3],
        "working_set_bytes": [2 << 19, 3 << 19],
        "footprint_bytes": [2 << 19, 3 << 19],
    }


def test_objects_are_counted_by_their_own_bytes():
    """The first of two windows of 10 s has requests for 1 MB and 64 KB, the second for 1 MB (twice) and 3 bytes."""
    size = [1 << 20, 65536, 1 << 20, 1 << 20, 3]
    trace = Trace.from_blocks([1, 2, 1, 1, 3], time=np.array([0, 1, 10, 11, 20]) * 10**9, object_bytes=size)
    table = over_time(trace, 2)
    assert table["mb_per_s"].tolist() == pytest.approx([1.0625 / 10, (2 + 3 / 2**20) / 10])
    assert table["working_set_bytes"].tolist() == [(1 << 20) + 65536, (1 << 20) + 3]
    assert table["footprint_bytes"].tolist() == [(1 << 20) + 65536, trace.footprint_bytes]
    sizes = request_sizes(trace).query("requests > 0")
    assert sizes[["bytes_up_to", "requests"]].to_numpy().tolist() == [[4, 1], [65536, 1], [1 << 20, 3]]
    assert sizes["blocks_up_to"].isna().all()


def test_bytes_moved_are_those_asked_for():
    """In two seconds, an object is requested with 1 MB and then with 3 MB."""
    trace = Trace.from_blocks([7, 7], time=[0, 2 * 10**9], object_bytes=[1 << 20, 3 << 20])
    assert profile(trace)["mb_per_s"] == 2


@pytest.mark.parametrize(
    ("sizes", "half"), [([10, 1000], 10), ([10, 20, 1000], 20), ([10, 20, 30, 1000], 20), ([7], 7)]
)
def test_half_of_the_objects_are_no_larger_than_the_median(sizes, half):
    """As for requests, the median of an even number of values must be the smaller of the two in the middle."""
    assert profile(Trace.from_blocks(range(len(sizes)), object_bytes=sizes))["object_bytes_median"] == half


@pytest.mark.parametrize("given", [0, -1, 2.5, None])
def test_numbers_of_windows_and_points_are_whole(given):
    trace = Trace.from_blocks([1, 2, 1], time=[0, 1, 2])
    with pytest.raises(ParameterError, match=f"windows is {given}; expected a whole number from 1"):
        over_time(trace, given)
    with pytest.raises(ParameterError, match=f"points is {given}; expected a whole number from 2"):
        frequencies(trace, given)


@pytest.mark.parametrize(("seconds", "windows"), [(6000, 60), (100, 24), (3600, 24), (7, 3), (2, 5)])
def test_a_window_begins_with_the_reference_at_its_first_instant(seconds, windows):
    """There is one reference per second; window k begins with the first one at or after k/windows of the time."""
    table = over_time(Trace.from_blocks(range(seconds + 1), time=np.arange(seconds + 1) * 10**9), windows)
    expected = [0] * windows
    for second in range(seconds + 1):
        expected[min(second * windows // seconds, windows - 1)] += 1
    assert table["references"].tolist() == expected


def test_windows_may_span_all_times():
    """The difference of these times fits only an unsigned integer of 64 bits."""
    table = over_time(Trace.from_blocks([1, 2, 3], time=[-(2**63), 0, 2**63 - 1]), 4)
    assert table["references"].tolist() == [1, 0, 1, 1]


def test_a_window_without_references_has_no_read_share():
    table = over_time(Trace.from_blocks([1, 2, 3], time=[0, 1, 100]), 4)
    assert table["references"].tolist() == [2, 0, 0, 1] and table["read_share"].isna().tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("time", [None, [7] * 10])
def test_windows_without_times_have_equal_numbers_of_references(time):
    table = over_time(Trace.from_blocks(range(10), time=time), 5)
    assert "start_s" not in table and table["references"].tolist() == [2] * 5
    assert len(over_time(Trace.from_blocks([1, 2, 3]))) == 3


def test_runs_are_those_counted_one_by_one(blocks):
    lengths, before = [], None
    for block in blocks:
        lengths = [*lengths[:-1], lengths[-1] + 1] if before is not None and block == before + 1 else [*lengths, 1]
        before = block
    table = runs(Trace.from_blocks(blocks)).set_index("blocks_up_to")
    count = Counter(map(power, lengths))
    assert table["runs"].to_dict() == {size: count[size] for size in table.index} and max(count) == table.index[-1]
    references = {size: sum(length for length in lengths if power(length) == size) for size in table.index}
    assert table["references"].to_dict() == references and sum(references.values()) == len(blocks)
    assert table["share"].to_numpy() == pytest.approx(table["references"] / len(blocks))


def test_reuse_distances_are_those_counted_one_by_one(blocks):
    last, count = {}, Counter()
    for i, block in enumerate(blocks):
        if block in last:
            count[power(len(set(blocks[last[block] : i])))] += 1
        last[block] = i
    table = reuse_distances(Trace.from_blocks(blocks)).set_index("blocks_up_to")
    assert table["references"].to_dict() == {size: count[size] for size in table.index}
    assert max(count) == table.index[-1]
    assert table["cumulative_share"].iloc[-1] == pytest.approx(1 - len(last) / len(blocks))


def test_ranks_in_geometric_steps():
    uses = [8, 5, 4, 4, 2, 1, 1, 1, 1]
    trace = Trace.from_blocks(np.repeat(np.arange(9), uses))
    table = frequencies(trace, 3)
    assert table["rank"].tolist() == [1, 3, 9] and table["references"].tolist() == [8, 4, 1]
    assert (table["cumulative_share"] * 27).tolist() == pytest.approx([8, 17, 27])
    every = frequencies(trace)
    assert every["rank"].iloc[[0, -1]].tolist() == [1, 9]
    assert every["references"].tolist() == [uses[rank - 1] for rank in every["rank"]]
    assert len(frequencies(Trace.from_blocks(range(1000)))) <= 60


def test_octaves_of_the_largest_distance():
    assert octaves(np.array([2**31, 2**31 + 1, 2**32 - 1], np.uint32)).tolist() == [31, 32, 32]


def test_damaged_ids_are_refused():
    trace = Trace(np.array([0, 2], np.uint32), None, None, np.arange(2, dtype=np.uint64), 4096, "mine", "array")
    with pytest.raises(InputError, match="id 2 in column ids is damaged"):
        over_time(trace)
