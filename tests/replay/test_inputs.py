"""simulate, hit_ratio_curve and stack_distances accept the stated traces, policies and sizes, and refuse others."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from misspenalty import (
    InputError,
    ParameterError,
    Trace,
    byte_hit_ratio_curve,
    delayed_hits,
    hit_ratio_curve,
    open_trace,
    penalty,
    simulate,
    stack_distances,
)
from misspenalty.policies import known_policies

BLOCKS = [7, 7, 9, 1 << 40, 9, 7]
SPC = "0,8,4096,R,0\n0,8,4096,R,0\n0,16,8192,R,0\n0,8,4096,W,1\n"


@pytest.mark.parametrize(
    "form",
    [list, tuple, np.array, pd.Series, lambda b: np.array(b, np.uint64), lambda b: pd.Series(b, range(9, 15))],
)  # fmt: skip
def test_a_trace_can_be_blocks(form):
    given = form(BLOCKS)
    trace = Trace.from_blocks(given)
    assert trace.address[trace.ids].tolist() == BLOCKS and trace.ids.tolist() == [0, 0, 1, 2, 1, 0]
    assert simulate(given, "lru", 2) == simulate(trace, "lru", 2)
    assert hit_ratio_curve(given, "arc", 2).equals(hit_ratio_curve(trace, "arc", [2]))
    assert stack_distances(given).tolist() == [0, 1, 0, 0, 2, 3]


def test_a_trace_can_be_a_path(tmp_path):
    path = tmp_path / "x.spc"
    path.write_text(SPC)
    trace = open_trace(path)
    assert simulate(str(path), "lru", 2) == simulate(path, "lru", 2) == simulate(trace, "lru", 2)
    assert hit_ratio_curve(str(path), "lru").equals(hit_ratio_curve(trace, "lru"))
    assert stack_distances(path).tolist() == stack_distances(trace).tolist()
    assert repr(trace) == (
        "<Trace 'x.spc' (spc): 5 references (4 reads, 1 write) to 3 blocks of 4096 bytes, footprint 12 KB>"
    )


@pytest.mark.parametrize(
    "trace, message",
    [
        (5, "trace is of type int; expected a Trace, a path, an array of block addresses, or a table"),
        (None, "trace is of type NoneType"),
        ([1.5, 2], "type float64 and shape .2,.; expected a one-dimensional array"),
        ([[1, 2]], "shape .1, 2.; expected a one-dimensional array"),
        ([], "expected a one-dimensional array of at least one integer"),
        ([3, -1], "block -1 at position 1; expected 0 or more"),
        ([True, False], "type bool"),
        (["a"], "expected a one-dimensional array of at least one integer; give keys that are text as a table, {'key'"),
    ],
)
def test_what_is_not_a_trace_is_reported(trace, message):
    for run in (
        lambda: simulate(trace, "lru", 2),
        lambda: hit_ratio_curve(trace, "lru"),
        lambda: stack_distances(trace),
    ):
        with pytest.raises(ParameterError, match=message):
            run()


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Series])
def test_policies_may_be_an_array(form):
    """All functions that take several policies must accept them in any of these forms."""
    policies = form(["LRU", "fifo"])
    for table in (
        simulate(BLOCKS, policies, 2),
        hit_ratio_curve(BLOCKS, policies, 2),
        penalty(BLOCKS, policies, 2, "1ms"),
        byte_hit_ratio_curve(BLOCKS, policies, "8KB"),
    ):
        assert table["policy"].tolist() == ["lru", "fifo"]


def test_a_missing_file_is_reported():
    with pytest.raises(InputError, match=r"nowhere.spc: no such file"):
        simulate("nowhere.spc", "lru", 2)


def test_columns_of_a_trace_have_its_length_and_type():
    ids, address = np.zeros(3, np.uint32), np.zeros(1, np.uint64)
    with pytest.raises(ParameterError, match="column write has 2 entries for 3 references"):
        Trace(ids, np.zeros(2, bool), None, address, 4096, "made", "made")
    with pytest.raises(ParameterError, match="column ids is not a one-dimensional uint32 array"):
        Trace(ids.astype(int), None, None, address, 4096, "made", "made")
    with pytest.raises(ParameterError, match="column write is of type int64; expected bool"):
        Trace.from_blocks([1, 2], write=[1, 0])


def test_arrays_of_a_trace_are_frozen():
    """Arrays must be read-only: an id that is changed after the trace was checked could crash the kernel."""
    trace = Trace.from_blocks([5, 6, 5], write=[True, False, False], time=[0, 1, 2], object_bytes=[3, 4, 3])
    for column in (trace.ids, trace.write, trace.time, trace.address, trace.object_bytes):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
    mine = np.array([0, 1, 0], np.uint32)
    Trace(mine, None, None, np.arange(2, dtype=np.uint64), 8192, "mine", "made")
    with pytest.raises(ValueError, match="read-only"):
        mine[0] = 7


def test_columns_of_a_trace_are_copies():
    write, time = np.array([True, False]), np.array([0, 5])
    trace = Trace.from_blocks([1, 2], write=write, time=time)
    write[1], time[1] = True, 9
    assert (trace.write.tolist(), trace.time.tolist()) == ([True, False], [0, 5])


def test_masked_values_are_not_data():
    masked = np.ma.masked_array([1, 2, 1], mask=[False, True, False])
    for make in (simulate, lambda blocks, *_: Trace.from_blocks([1, 2, 3], time=blocks)):
        with pytest.raises(ParameterError, match="1 of 3 values are masked; leave them out"):
            make(masked, "lru", 1)
    with pytest.raises(ParameterError, match="requests: 1 of 3 values are masked"):
        delayed_hits(masked, "lru", 1, 1)
    assert simulate(np.ma.masked_array([1, 2, 1]), "lru", 2).hits == 1


def test_a_block_size_of_numpy_does_not_overflow(tmp_path):
    """As a number of 16 bits, 100 blocks of 512 bytes would be -14336 bytes."""
    trace = Trace.from_table({"block": np.arange(100)}, block_bytes=np.int16(512))
    assert trace.footprint_bytes == 51_200 and type(trace.block_bytes) is int
    trace.save(tmp_path / "saved")
    assert open_trace(tmp_path / "saved").blocks == 100


def test_a_name_is_text_or_a_path(tmp_path):
    trace = Trace.from_blocks([1, 2], name=Path("traces/mine.csv"))
    trace.save(tmp_path / "saved")
    assert trace.name == open_trace(tmp_path / "saved").name == str(Path("traces/mine.csv"))
    assert hit_ratio_curve(trace, "lru").plot().axes[0].get_title("left").startswith(trace.name)
    for odd in (None, 5, b"mine", "x" * 4097):
        with pytest.raises(ParameterError, match=r"name is .*; expected text of at most 4096 characters"):
            Trace.from_blocks([1, 2], name=odd)


def test_a_list_of_numbers_of_64_bits_stays_whole():
    """NumPy makes floats of a list with numbers below and above 2**63."""
    high = 2**64 - 1
    assert Trace.from_blocks([high, 1, high - 1]).address.tolist() == [high, 1, high - 1]
    assert simulate((high, 1, high), "lru", 2).hits == delayed_hits([high, 1, high], "lru", 2, 1).hits == 1
    with pytest.raises(ParameterError, match="object_bytes is 9223372036854775808 at position 0"):
        Trace.from_blocks([1, 2], object_bytes=[2**63, 1])
    with pytest.raises(ParameterError, match="blocks are of type float64"):
        Trace.from_blocks([high, -1])


def test_rows_of_different_lengths_are_reported():
    with pytest.raises(ParameterError, match=r"blocks: .*; expected one value per entry"):
        Trace.from_blocks([[1], [2, 3]])


def test_a_range_is_a_trace():
    assert simulate(range(5), "lru", 2) == simulate(list(range(5)), "lru", 2)
    high = range(2**63 - 1, 2**63 + 1)
    assert Trace.from_blocks(high).address.tolist() == list(high)


def test_a_time_above_63_bits_is_refused():
    """As a signed number of 64 bits, the time below would be -1."""
    late = np.array([0, 2**64 - 1], np.uint64)
    with pytest.raises(ParameterError, match=f"column time is {2**64 - 1} at position 1; expected at most {2**63 - 1}"):
        Trace.from_blocks([1, 2], time=late)
    assert Trace.from_blocks([1], time=np.array([2**63 - 1], np.uint64)).time.tolist() == [2**63 - 1]


@pytest.mark.parametrize("damaged", [2, 5, 0xFFFFFFFF])
def test_ids_that_would_leave_the_arrays_are_refused(damaged):
    trace = Trace(np.array([0, 1, damaged], np.uint32), None, None, np.arange(2, dtype=np.uint64), 8192, "odd", "made")
    runs = [
        lambda: simulate(trace, "mq", 2),
        lambda: simulate(trace, ["lru", "arc"], 2),
        lambda: hit_ratio_curve(trace, "lru"),
        lambda: hit_ratio_curve(trace, "lru", sample=0.5),
        lambda: hit_ratio_curve(trace, "arc", [1, 2]),
        lambda: stack_distances(trace),
    ]
    assert len(runs) == 6
    for run in runs:
        with pytest.raises(InputError, match=f"trace odd: id {damaged} in column ids"):
            run()


def test_ids_are_looked_at_once():
    class Counted(np.ndarray):
        looks = 0

        def max(self, *args, **kwargs):
            Counted.looks += 1
            return super().max(*args, **kwargs)

    trace = Trace(np.zeros(5, np.uint32), None, None, np.zeros(1, np.uint64), 8192, "made", "made")
    object.__setattr__(trace, "ids", trace.ids.view(Counted))
    for _ in range(3):
        simulate(trace, "arc", 2)
        hit_ratio_curve(trace, "lru")
    assert Counted.looks == 1


def test_several_policies_are_rows_of_one_table():
    blocks = np.random.default_rng(1).zipf(1.3, 3000) % 500
    policies, sizes = ["LRU", "mq", "Arc", "opt"], [10, 40, 200]
    table = hit_ratio_curve(blocks, policies, sizes, queues=4, threads=2)
    assert table["policy"].tolist() == [name.lower() for name in policies for _ in sizes]
    assert table["cache_blocks"].tolist() == sizes * 4
    for name, rows in table.groupby("policy"):
        alone = hit_ratio_curve(blocks, name, sizes, **({"queues": 4} if name == "mq" else {}))
        assert rows.reset_index(drop=True).equals(alone)
    once = simulate(blocks, policies, 40, queues=4)
    assert once["hits"].tolist() == table.loc[table["cache_blocks"] == 40, "hits"].tolist()
    assert table.equals(hit_ratio_curve(blocks, policies, sizes, queues=4, threads=1))


@pytest.mark.parametrize(
    "change, message",
    [
        ({"policy": []}, "no policy given"),
        ({"policy": ["lru", "lur"]}, "unknown policy 'lur', did you mean 'lru'"),
        ({"policy": 3}, "policy is 3; expected a name"),
        ({"policy": int}, "class int has no method access"),
        ({"policy": ["lru", "arc"], "queues": 3}, "none of lru, arc has a parameter 'queues'; lru has none; arc has "),
        ({"policy": ["lru", "mq"], "queues": 0}, "mq: queues is 0"),
        ({"cache_blocks": "ten"}, "'ten' is not a size; expected blocks"),
        ({"cache_blocks": [[1]]}, "cache size is .1. blocks"),
        ({"threads": 1.5}, "threads is 1.5"),
        ({"warm_up": 1.5}, "warm_up is 1.5; expected a whole number from 0 to 5"),
    ],
)
def test_impossible_policies_and_sizes_are_reported(change, message):
    with pytest.raises(ParameterError, match=message):
        hit_ratio_curve(**({"trace": BLOCKS, "policy": "lru", "cache_blocks": [2]} | change))


def test_outcomes_are_those_of_one_policy():
    hits = np.zeros(6, bool)
    with pytest.raises(ParameterError, match="hits requires a single policy"):
        simulate(BLOCKS, ["lru", "arc"], 2, hits=hits)
    with pytest.raises(ParameterError, match=r"hits is not a writable bool array of shape \(6,\)"):
        simulate(BLOCKS, "lru", 2, hits=np.zeros(5, bool))
    with pytest.raises(ParameterError, match=r"hits is not a writable bool array of shape \(6,\)"):
        simulate(BLOCKS, "lru", 2, hits=pd.Series(hits))


def test_an_error_in_one_thread_stops_the_others():
    class Fails:
        def __init__(self, capacity):
            self.capacity = capacity

        def access(self, block):
            raise RuntimeError("broken")

    with pytest.raises(ParameterError, match=r"policy Fails: access\(0\) raised RuntimeError: broken"):
        hit_ratio_curve(np.arange(1 << 20), [Fails, "lru", "arc"], [5, 6], threads=2)


@pytest.mark.parametrize("name", sorted(name for name, policy in known_policies().items() if not policy.offline))
def test_every_online_policy_works_behind_the_prefetcher(name):
    # A run of 300 blocks is read once, so only prefetched blocks can hit, and some policies soon evict them.
    assert simulate(np.arange(300), name, 40).hits == 0
    assert simulate(np.arange(300), name, 40, prefetch="sequential").hits > 0
