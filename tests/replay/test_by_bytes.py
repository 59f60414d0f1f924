"""Caches sized in bytes count like an independent program, bounds hold for all schedules, and units are respected."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import ParameterError, Trace, byte_hit_ratio_curve, hit_ratio_curve, open_trace, simulate
from misspenalty.cli.main import main
from misspenalty.policies.sized import SIZED
from misspenalty.replay.by_bytes import replay_bytes
from misspenalty.replay.byte_bounds import Intervals

INPUTS = Path(__file__).parents[1] / "data" / "inputs"


@pytest.mark.parametrize(
    "policy", [name for name in SIZED if name not in ("gdsf", "wtinylfu")]
)  # gdsf may refuse an object; the window of wtinylfu, 1 % of 50 blocks, is less than a block
def test_equal_sizes_are_blocks(policy):
    blocks = np.random.default_rng(3).zipf(1.3, 5000) % 300
    by_bytes = byte_hit_ratio_curve(Trace.from_blocks(blocks, block_bytes=512), policy, 50 * 512).iloc[0]
    assert by_bytes["hits"] == simulate(blocks, policy, 50).hits


def test_rows_are_numbered_and_in_the_order_given():
    table = byte_hit_ratio_curve([1, 2, 1], ["lru", "fifo"], [8192, 4096], threads=2)
    assert table.index.tolist() == [0, 1, 2, 3]
    rows = [("lru", 8192, 1), ("lru", 4096, 0), ("fifo", 8192, 1), ("fifo", 4096, 0)]
    assert list(table[["policy", "cache_bytes", "hits"]].itertuples(index=False, name=None)) == rows


def test_evictions_are_whole_numbers_next_to_bounds(tmp_path, capsys):
    """The cache of 30 bytes holds a and b, and c is larger than it; in one of 20 bytes, b evicts a, and a evicts b."""
    (tmp_path / "x.csv").write_text("key,size\na,10\nb,20\na,10\nc,99\na,10\n")
    assert main(["curve", str(tmp_path / "x.csv"), "--policy", "opt,lru", "--size", "30B,20B", "--csv"]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[-1] for row in rows] == ["", "", "", "", "0", "2"]


def test_other_programs_count_the_same(shared_traces):
    folder = shared_traces.parent / "extras"
    trace = open_trace(folder / "adapt_size_request.trace.xz", "adapt_size")
    truth = pd.read_csv(folder / "adapt_size_bytes_lru.csv")
    table = byte_hit_ratio_curve(trace, "lru", truth["cache_bytes"].tolist())
    assert table["misses"].tolist() == truth["lru_object_misses"].tolist()
    missed = table["requested_bytes"] - table["hit_bytes"]
    assert missed.tolist() == truth["lru_bytes_missed"].tolist()


@pytest.mark.parametrize(
    ("policy", "size", "message"),
    [
        (
            "mq",
            10,
            "policy 'mq' is not defined for objects of different sizes; the policies defined for them are arc, clock",
        ),
        ("seive", 10, "did you mean 'sieve'"),
        ("lru", 0, "cache size is 0 bytes"),
        ("lru", "5%B", "'5%B' is not a size"),
        ("lru", 1 << 62, "cache size is 4611686018427387904 bytes"),
        ("lru", 1.5, "cache size is 1.5 bytes"),
    ],
)
def test_impossible_settings(policy, size, message):
    with pytest.raises(ParameterError, match=message):
        byte_hit_ratio_curve([1, 2], policy, [size])


def test_a_parameter_that_no_policy_has_for_sizes_is_refused():
    said = "none of lru, slru has a parameter 'fill_up' for .* sizes; lru has none; slru has segments, protected$"
    with pytest.raises(ParameterError, match=said):
        byte_hit_ratio_curve([1, 2], ["lru", "slru"], [8192], fill_up=1)


def test_the_command(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("key,size\na,10\nb,20\na,10\nc,99\na,10\n")
    assert (
        main(["curve", str(tmp_path / "x.csv"), "--by-bytes", "--policy", "lru,fifo", "--size", "30,50%", "--csv"]) == 0
    )
    assert capsys.readouterr().out.splitlines()[1] == "lru,30,5,2,3,0.4,149,20,0.1342281879194631,1,0"
    assert main(["curve", str(tmp_path / "x.csv"), "--by-bytes", "--size", "30", "--prefetch", "sequential"]) == 2


def test_sizes_in_bytes_are_bytes_by_default(tmp_path, capsys):
    """Sizes must not be taken for numbers of objects: 50 bytes hold objects 1 and 2 but not 3, whatever the block size
    is."""
    trace = Trace.from_blocks([1, 2, 3, 1, 2, 3], object_bytes=[20, 20, 60, 20, 20, 60])
    for size in ("50B", "50%", 0.5):
        assert simulate(trace, "lru", size).hits == 2
    assert simulate(trace, "lru", "50B").refused == 2
    assert simulate(trace, "lru", 2).hits == 0  # objects
    assert simulate(trace, "lru", 0.67, unit="objects").hits == 0
    table = hit_ratio_curve(trace, ["lru", "gdsf"], ["50B", "60B"])
    assert table["cache_bytes"].tolist() == [50, 60, 50, 60]
    with pytest.raises(ParameterError, match="size 2 is a number of objects, and 50B is not: give all sizes in"):
        hit_ratio_curve(trace, "lru", ["50B", 2])
    with pytest.raises(ParameterError, match="size 50B: objects of different sizes are counted, so bytes have no"):
        simulate(trace, "lru", "50B", unit="objects")


@pytest.mark.parametrize("replay", [simulate, hit_ratio_curve])
def test_changes_of_size_need_a_cache_of_bytes(replay):
    trace = Trace.from_blocks([1, 2, 1], object_bytes=[20, 20, 60])
    for blocks in (trace, [1, 2, 1]):
        with pytest.raises(ParameterError, match="size_changes is 'new', but blocks or objects are counted, whatever"):
            replay(blocks, "lru", 2, size_changes="new")
    assert replay(trace, "lru", "99B", size_changes="new") is not None


def test_every_size_at_once_is_not_in_bytes(tmp_path, capsys):
    with pytest.raises(ParameterError, match="without sizes, the curve counts blocks or objects; name sizes in bytes"):
        hit_ratio_curve([1, 2, 1], "lru", unit="bytes")
    with pytest.raises(ParameterError, match="size_changes is 'keep', but blocks"):
        hit_ratio_curve([1, 2, 1], "lru", size_changes="keep")
    assert hit_ratio_curve([1, 2, 1], "lru", unit="objects")["hits"].tolist() == [0, 1]
    (tmp_path / "x.txt").write_text("1\n2\n1\n")
    for option, said in (
        (["--by-bytes"], "leave out unit bytes (--by-bytes)"),
        (["--size-changes", "new"], "leave out size_changes"),
    ):
        assert main(["curve", str(tmp_path / "x.txt"), "--size", "all", *option]) == 2
        assert said in capsys.readouterr().err


def test_objects_of_one_size_are_blocks_for_every_policy():
    blocks = (np.random.default_rng(2).zipf(1.4, 800) % 60).tolist()
    trace = Trace.from_blocks(blocks, object_bytes=[300] * 800)
    for policy in ("mq", "lirs", "opt", "lru"):
        assert simulate(trace, policy, "3000B") == simulate(blocks, policy, 10)


def test_blocks_take_shares_bytes_and_numbers():
    blocks = list(range(100)) * 2
    for size in (50, "50", "200KB", "50%", 0.5):
        assert simulate(blocks, "fifo", size).cache_blocks == 50


def test_a_share_may_be_tiny():
    """Python writes some percentages with an exponent or many decimals, which are refused in a user's text."""
    trace = Trace.from_blocks([1, 2, 1], object_bytes=[10**9] * 3)
    shares = [0.000123456789, 1.00001e-6, 5e-7, 1e-8, np.float64(1.5e-9)]
    assert byte_hit_ratio_curve(trace, "lru", shares)["cache_bytes"].tolist() == [246914, 2000, 1000, 20, 3]
    with pytest.raises(ParameterError, match=r"'0%' is less than one of the 2000000000 bytes of the footprint"):
        byte_hit_ratio_curve(trace, "lru", 1e-12)


@pytest.mark.parametrize(
    ("name", "requested", "hits"), [("10_size_changes.csv", 2000, 2), ("10b_size_grows.csv", 1030, 2)]
)
def test_inputs_whose_sizes_change(capsys, name, requested, hits):
    assert main(["curve", str(INPUTS / name), "--size", "64KB", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["requested_bytes"], row["hits"], row["cache_bytes"]) == (requested, hits, 65536)


def test_sizes_that_change_are_saved_and_read_again(tmp_path):
    trace = open_trace(INPUTS / "10b_size_grows.csv")
    assert (trace.size_changes, trace.request_bytes.tolist()) == (2, [10, 1000, 10, 10])
    trace.save(tmp_path / "made.trace")
    again = open_trace(tmp_path / "made.trace")
    assert again.request_bytes.tolist() == trace.request_bytes.tolist()
    assert again.to_pandas()["object_bytes"].tolist() == [10, 1000, 10, 10]
    assert Trace.from_table(again.to_arrow()).request_bytes.tolist() == [10, 1000, 10, 10]


def best(ids, sizes, room, value, write=()):
    """Find the most hits, or bytes of hits, of all schedules: try every set of objects to keep after each reference.

    A write neither counts nor loads its object, but gives it the write's size if it is in the cache. A read of more
    bytes than the cache has is a miss.
    """
    states = {frozenset(): 0}
    for number, (block, size) in enumerate(zip(ids, sizes, strict=True)):
        after, writes = {}, number in write
        for held, found in states.items():
            known = dict(held)
            gained = found + (value(size) if block in known and not writes and size <= room else 0)
            now = known if writes and block not in known else {**known, block: size}
            for keep in range(1 << len(now)):
                kept = frozenset(item for place, item in enumerate(sorted(now.items())) if keep >> place & 1)
                if sum(size for _, size in kept) <= room:
                    after[kept] = max(after.get(kept, -1), gained)
        states = after
    return max(states.values())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(1, 20), st.integers(0, 50))
def test_the_best_of_all_schedules_is_within_the_bounds(blocks, room, seed):
    each = np.random.default_rng(seed).integers(1, 12, 5)
    ids, sizes = np.array(blocks, np.uint32), each[blocks].astype(np.int64)
    intervals = Intervals(ids, sizes, None, "replace")
    most_hits = best(blocks, sizes.tolist(), room, lambda size: 1)
    most_bytes = best(blocks, sizes.tolist(), room, lambda size: size)
    least, most = intervals.at_least(room), intervals.at_most(room)
    assert least[0] <= most_hits <= most[0]
    assert least[1] <= most_bytes <= most[1]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 11), st.booleans()), min_size=1, max_size=12),
    st.integers(1, 20),
)
def test_the_best_of_all_schedules_is_within_the_bounds_where_writes_refresh(requests, room):
    blocks, sizes, write = (list(column) for column in zip(*requests, strict=True))
    trace = Trace.from_blocks(blocks, object_bytes=sizes, write=write)
    table = byte_hit_ratio_curve(trace, "opt", room, writes="refresh").set_index("policy")
    written = np.flatnonzero(write).tolist()
    for column, value in (("hits", lambda size: 1), ("hit_bytes", lambda size: size)):
        most = best(blocks, sizes, room, value, written)
        assert table.loc["opt_at_least", column] <= most <= table.loc["opt_at_most", column]


def test_bounds_by_hand_of_an_object_that_a_write_makes_smaller():
    """After the write object 1 takes 1 of 10 bytes, so that both objects stay; with the 10 bytes that it had when it
    was read, the bound would be one hit."""
    trace = Trace.from_blocks([1, 1, 2, 1, 2], object_bytes=[10, 1, 9, 1, 9], write=[False, True, False, False, False])
    table = byte_hit_ratio_curve(trace, ["lru", "opt"], 10, writes="refresh").set_index("policy")
    assert table["hits"].to_dict() == {"lru": 2, "opt_at_least": 1, "opt_at_most": 2}


def test_bounds_by_hand():
    """Two objects alternate: one fits, and keeping both would take twice the space."""
    intervals = Intervals(np.array([0, 1] * 3, np.uint32), np.full(6, 10), None, "replace")
    assert intervals.at_least(10) == (2, 20)
    assert intervals.at_most(10) == (2, 25)
    assert intervals.at_most(20) == intervals.at_least(20) == (4, 40)


def test_each_size_is_reported_so_that_bounds_can_be_stopped_between_sizes():
    trace, told = Trace.from_blocks([1, 2, 1], object_bytes=[5, 6, 5]), []
    replay_bytes(trace, ["opt", "lru"], [8, 9], told.append, "replace", "count", 0, 1, {})
    assert told == [3] * 4


def test_an_upper_bound_is_at_most_what_is_requested():
    """The allowance for rounding alone would be 200 bytes here."""
    intervals = Intervals(np.zeros(3, np.uint32), np.full(3, 10**11), None, "replace")
    assert intervals.at_most(10**12) == intervals.at_least(10**12) == (2, 2 * 10**11)


@pytest.mark.parametrize(
    ("changes", "least", "most"), [("keep", (0, 0), (3, 18)), ("replace", (1, 4), (1, 4)), ("new", (1, 4), (1, 4))]
)
def test_bounds_by_hand_of_an_object_that_changes(changes, least, most):
    """A cache of 5 bytes holds an object of 4 bytes but not of 10; with ``keep``, an object keeps the size at which it
    was loaded."""
    intervals = Intervals(np.zeros(4, np.uint32), np.array([4, 4, 10, 4]), None, changes)
    assert (intervals.at_least(5), intervals.at_most(5)) == (least, most)


@pytest.mark.parametrize("changes", ["replace", "keep", "new"])
@settings(max_examples=25, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.booleans()), min_size=2, max_size=60),
    room=st.integers(1, 30),
    warm=st.integers(0, 1),
    writes=st.sampled_from(["count", "ignore", "refresh", "only"]),
)
def test_no_policy_exceeds_the_bound(changes, requests, room, warm, writes):
    blocks, sizes, write = (list(column) for column in zip(*requests, strict=True))
    trace = Trace.from_blocks(blocks, object_bytes=sizes, write=write)
    options = {"size_changes": changes, "warm_up": warm, "writes": writes}
    table = byte_hit_ratio_curve(trace, ["opt", *SIZED], room, **options).set_index("policy")
    most = table.loc["opt_at_most"]
    assert table["hits"].max() <= most["hits"]
    assert table["hit_bytes"].max() <= most["hit_bytes"]
