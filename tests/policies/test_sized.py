"""Test policies for objects of different sizes against definitions, policies for blocks, and an independent program."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import ParameterError, open_trace, simulate
from misspenalty.policies.sized import LARGEST, SIZE_CHANGES, SIZED, find_sized
from misspenalty.replay.by_bytes import byte_hit_ratio_curve
from misspenalty.traces.trace import Trace

PARAMETERS = {
    "arc": [{}, {"target": 0.3}],
    "clock": [{}, {"bits": 2}],
    "lfu": [{}, {"history": 1.5}],
    "lru2": [{}, {"k": 3, "history": 0.5}],
    "s3fifo": [{}, {"small": 0.4, "ghost": 0.5, "threshold": 1, "fill_main": 0}],
    "slru": [{}, {"segments": 4, "protected": 0.6}],
    "wtinylfu": [{}, {"window": 0.4, "protected": 0.5, "sample_size": 1.0}],
}


def reference(policy, room, sizes, changes, parameters):
    own = policy.check(parameters)
    if policy.name == "wtinylfu":
        own["mean_bytes"] = max(int(sizes.mean()), 1)
    return policy.reference(room, changes, **own)


BOUNDS = {("lru2", "k"): (1, 64), ("slru", "segments"): (2, 16)}


@pytest.mark.parametrize(("name", "parameter"), BOUNDS)
@pytest.mark.parametrize("beyond", [1, 2, 44, 1 << 40])
def test_a_kernel_refuses_what_its_arrays_have_no_place_for(name, parameter, beyond):
    least, most = BOUNDS[name, parameter]
    with pytest.raises(ValueError, match=f"{parameter} is {least - beyond}; expected {least} to {most}"):
        find_sized(name).kernel(10, 5, **{parameter: least - beyond})
    with pytest.raises(ValueError, match=f"{parameter} is {most + beyond}; expected {least} to {most}"):
        find_sized(name).kernel(10, 5, **{parameter: most + beyond})


@pytest.mark.parametrize(("name", "parameter"), BOUNDS)
@pytest.mark.parametrize("bound", [0, 1])
def test_a_kernel_takes_the_bounds_of_its_parameter(name, parameter, bound):
    kernel = find_sized(name).kernel(10, 5, **{parameter: BOUNDS[name, parameter][bound]})
    assert kernel.replay(np.arange(300, dtype=np.uint32) % 5, np.empty(300, np.uint8)) == 295


@pytest.mark.parametrize("name", SIZED)
@settings(max_examples=150, deadline=None)
@given(
    requests=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 14)), min_size=1, max_size=120),
    room=st.integers(1, 60),
    changes=st.sampled_from(SIZE_CHANGES),
    fixed=st.booleans(),
    which=st.integers(0, 1),
)
def test_kernel_equals_definition(name, requests, room, changes, fixed, which):
    """Kernel and definition must also hold the same objects, and use the same number of bytes."""
    policy, parameters = SIZED[name], PARAMETERS.get(name, [{}, {}])[which]
    numbers = {block: number for number, block in enumerate(dict.fromkeys(block for block, _ in requests))}
    ids = np.array([numbers[block] for block, _ in requests], np.uint32)
    asked = np.array([3 * block % 8 + 1 if fixed else size for block, size in requests], np.int64)
    first = asked[np.unique(ids, return_index=True)[1]]
    cache = policy.cache(room, first, changes, parameters)
    slow = reference(policy, room, first, changes, parameters)
    hit = np.zeros(len(ids), np.uint8)
    cache.replay_sizes(ids, asked, hit)
    assert hit.tolist() == [slow.access(int(block), int(size)) for block, size in zip(ids, asked, strict=True)]
    held = {block for block in range(len(first)) if block in cache}
    assert held == {block for queue in slow.queues() for block in queue}
    assert cache.resident == len(held)
    assert cache.used_bytes == slow.used <= room
    assert (cache.refused, cache.evictions) == (slow.refused, slow.evictions)


@pytest.mark.parametrize("name", SIZED)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=300), st.integers(1, 25))
def test_objects_of_one_size_are_blocks(name, blocks, capacity):
    policy = dataclasses.replace(SIZED[name], fixed={})  # a block is always loaded
    numbers = {block: number for number, block in enumerate(dict.fromkeys(blocks))}
    ids = np.array([numbers[block] for block in blocks], np.uint32)
    cache = policy.cache(capacity, np.ones(len(numbers), np.int64), "replace", {})
    hit = np.zeros(len(ids), np.uint8)
    cache.replay(ids, hit)
    found = np.zeros(len(ids), bool)
    simulate(Trace.from_blocks(blocks), name, capacity, hits=found)
    assert hit.astype(bool).tolist() == found.tolist()


def test_gdsf_by_hand():
    """Object 2 (5 bytes, rank 1/5) is evicted from a cache of 10 bytes to make room for object 3 (2 bytes, rank 1/2);
    the clock is then 1/5. When object 2 returns, its rank is 1/5 + 1/5, below the 2/4 of object 1: it is not loaded,
    and the clock moves to its rank."""
    cache = SIZED["gdsf"].reference(10)
    outcomes = [cache.access(block, size) for block, size in [(1, 4), (2, 5), (1, 4), (3, 2), (2, 5), (1, 4)]]
    assert outcomes == [False, False, True, False, False, True]
    assert set(cache.queue) == {1, 3}
    assert cache.clock == pytest.approx(0.4)


def test_a_ghost_queue_of_no_bytes_remembers_no_object_of_no_bytes():
    """Objects 2 to 5 fill the cache, and 1 takes no bytes: 3 evicts 1 and 2, 4 evicts 3, and 5 evicts 1 and 4.

    If 1 had entered the main queue when it returned, it would still be cached at the end.
    """
    requests = [(0, 0), (1, 10), (2, 10), (0, 0), (3, 10), (4, 10), (0, 0)]
    ids, sizes = (np.array(column) for column in zip(*requests, strict=True))
    cache = SIZED["s3fifo"].cache(10, np.array([0, 10, 10, 10, 10]), "replace", {"ghost": 0})
    hit = np.ones(len(ids), np.uint8)
    cache.replay_sizes(ids.astype(np.uint32), sizes, hit)
    assert not hit.any()


def test_aggregated_victims_by_hand():
    """Object 9 needs the space of two objects used once each, so it must be admitted only at its third use."""
    cache = SIZED["wtinylfu"].reference(12, window=0.17, mean_bytes=1)
    assert (cache.window_room, cache.main_room) == (3, 9)
    for block in (1, 2, 3):
        cache.access(block, 3)
    cache.access(4, 1)
    assert (list(cache.probation), list(cache.window)) == ([1, 2, 3], [4])
    for _ in range(2):
        assert not cache.access(9, 4)
        assert list(cache.probation) == [1, 2, 3]
    assert not cache.access(9, 4)
    assert list(cache.probation) == [3, 9]


def test_an_object_larger_than_the_window_leaves_the_others_there():
    cache = SIZED["wtinylfu"].reference(12, window=0.17, mean_bytes=1)
    for block, size in (1, 1), (2, 1), (3, 5):
        cache.access(block, size)
    assert (list(cache.window), list(cache.probation)) == ([1, 2], [3])
    cache.access(2, 4)  # object 2 has grown
    assert (list(cache.window), list(cache.probation)) == ([1], [3, 2])


@pytest.mark.parametrize(("rule", "hits", "held"), [("replace", 2, 9), ("keep", 2, 3), ("new", 1, 9)])
def test_size_changes_by_hand(rule, hits, held):
    """An object of 3 bytes is requested with 9 bytes twice: ``size_changes`` must decide whether the first of these
    requests hits, and how many bytes are cached in the end."""
    trace = Trace.from_blocks([7, 7, 7], object_bytes=[3, 9, 9])
    table = byte_hit_ratio_curve(trace, "lru", 10, size_changes=rule)
    assert table["requested_bytes"].tolist() == [21]
    cache = SIZED["lru"].cache(10, np.array([3]), rule, {})
    hit = np.zeros(3, np.uint8)
    cache.replay_sizes(np.zeros(3, np.uint32), np.array([3, 9, 9]), hit)
    assert (hit.sum(), cache.used_bytes) == (hits, held)


def test_what_grows_evicts_others_and_leaves_if_it_outgrows_the_cache():
    """In a cache of 100 bytes, object 1 grows to 90 bytes, which evicts an object; at 110, it must not be cached."""
    assert SIZED
    for policy in SIZED.values():
        cache = policy.reference(100, "replace")
        for block, size in [(1, 30), (2, 30), (1, 90), (1, 110), (2, 30)]:
            cache.access(block, size)
        assert cache.used <= 100
        assert cache.where(1) is None
        assert cache.refused == 1


@pytest.mark.parametrize("name", SIZED)
def test_a_cache_may_have_nearly_2_to_the_62_bytes(name):
    """A history of four times as many bytes, LRU-K's default, would not fit 64 bits."""
    trace = Trace.from_blocks([1, 2, 1], object_bytes=[2**60, 2**61, 2**60])
    assert byte_hit_ratio_curve(trace, name, LARGEST - 1)["hits"].tolist() == [1]


def test_the_small_queue_of_s3fifo_has_at_most_the_whole_cache():
    """A float rounds 2**53 + 3 bytes up; with S larger than the cache, M would have to evict although it is empty."""
    trace = Trace.from_blocks([1, 2, 3, 1], object_bytes=[2**52] * 4)
    assert byte_hit_ratio_curve(trace, "s3fifo", 2**53 + 3, small=1.0)["evictions"].tolist() == [2]


@pytest.mark.parametrize(
    ("policy", "parameters", "message"),
    [
        (
            "mq",
            {},
            "policy 'mq' is not defined for objects of different sizes; the policies defined for them are arc, clock",
        ),
        ("slur", {}, "did you mean 'slru'"),
        ("nonsense", {}, "unknown policy 'nonsense'"),
        ("slru", {"fill_up": 1}, "slru has no parameter 'fill_up' for objects of different sizes"),
        ("lru2", {"k": 0}, "lru2: k is 0"),
    ],
)
def test_impossible_policies(policy, parameters, message):
    with pytest.raises(ParameterError, match=message):
        find_sized(policy).check(parameters)


def test_a_known_policy_without_a_form_for_sizes_is_not_taken_for_a_misspelt_one():
    with pytest.raises(ParameterError, match=r"policy 'clockpro' is not defined for objects of different sizes; the"):
        simulate(Trace.from_blocks([1, 2], object_bytes=[10, 20]), "clockpro", "50%")


# These are misses of libCacheSim 0.3.5 on the web requests of AdaptSize's authors, in caches of 1, 4, 16 and 64 MB:
# first if an object is a pair of number and size, then if it is a number alone and keeps the size at which it was
# loaded.
SIZES = [1 << 20, 1 << 22, 1 << 24, 1 << 26]
PAIRS = {
    "fifo": (56260, 52890, 49536, 45247),
    "lru": (55704, 52240, 48598, 43988),
    "clock": (55408, 52034, 48304, 43492),
    "sieve": (54646, 50746, 45892, 42843),
    "lfu": (55027, 50934, 46711, 42843),
    "gdsf": (50603, 46713, 43223, 40889),
}
NUMBERS = {
    "fifo": (53868, 50173, 46462, 41786),
    "lru": (53248, 49416, 45413, 40383),
    "clock": (52959, 49239, 45113, 40037),
    "sieve": (52069, 48011, 42552, 39358),
    "lfu": (52833, 48143, 43455, 39358),
    "gdsf": (47993, 43548, 39897, 37425),
}
MISSED_BYTES = {
    "lru": (383724647, 362047157, 344504454, 321563250),
    "gdsf": (397558381, 373390897, 349290646, 318967010),
}
CLOSE = {  # policies whose details differ in libCacheSim: its misses, and the largest difference in percentage points
    "s3fifo": ((54293, 49433, 46029, 42887), 0.5),
    "slru": ((54382, 50487, 46171, 42858), 1.1),
    "arc": ((54537, 50932, 46329, 42691), 0.5),
    "wtinylfu": ((53307, 48879, 46029, 43035), 1.2),
    "lru2": ((55402, 52342, 46806, 42843), 1.8),
}
BELADY_SIZE = (46994, 42819, 40240, 40240)  # misses of libCacheSim's offline heuristic


def misses_there(folder, policy, room, ids, sizes):
    """Return the misses of the program itself, run on these objects."""
    libcachesim = pytest.importorskip("libcachesim")  # the lock file has it wherever it has a wheel
    record = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
    rows = np.zeros(len(ids), record)
    rows["object"], rows["size"], rows["next"] = ids, sizes, -1
    rows.tofile(folder / "objects.bin")
    reader = libcachesim.TraceReader(
        str(folder / "objects.bin"),
        libcachesim.TraceType.ORACLE_GENERAL_TRACE,
        libcachesim.ReaderInitParam(ignore_obj_size=False),
    )
    ratio, _ = getattr(libcachesim, policy)(room, hashpower=16).process_trace(reader)
    return round(ratio * len(ids))


THERE = {
    "fifo": "FIFO",
    "lru": "LRU",
    "clock": "Clock",
    "sieve": "Sieve",
    "lfu": "LFU",
    "gdsf": "GDSF",
    "s3fifo": "S3FIFO",
}


@pytest.mark.parametrize("name", THERE)
@pytest.mark.parametrize("room", [20_000, 100_000])
def test_the_program_itself_counts_the_same(tmp_path, name, room):
    """All objects drawn fit the small queue of S3-FIFO; libCacheSim would not load larger ones."""
    rng = np.random.default_rng(8)
    ids = rng.zipf(1.2, 30_000) % 3000
    sizes = np.minimum(rng.lognormal(5, 1, 3000).astype(np.int64) + 1, room // 10 - 1)[ids]
    trace = Trace.from_blocks(ids, object_bytes=sizes)
    assert simulate(trace, name, f"{room}B").misses == misses_there(tmp_path, THERE[name], room, ids, sizes)


@pytest.mark.parametrize("name", ["fifo", "lru", "clock", "sieve", "lfu", "gdsf"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_program_itself_counts_the_same_on_the_shipped_objects(tmp_path, name, share):
    trace = open_trace(Path(__file__).parents[1] / "data" / "formats" / "requests.csv")
    room, hits = int(share * trace.footprint_bytes), np.zeros(len(trace), bool)
    simulate(trace, name, f"{room}B", hits=hits)
    there = misses_there(tmp_path, THERE[name], room, trace.ids, trace.bytes_of(slice(None)))
    assert int((~hits).sum()) == there > 39  # more misses than first references


@pytest.fixture(scope="module")
def web_file(shared_traces):
    return shared_traces.parent / "extras/adapt_size_request.trace.xz"


@pytest.fixture(scope="module")
def web(web_file):
    return open_trace(web_file, "adapt_size")


def test_libcachesim_counts_the_same(web):
    table = byte_hit_ratio_curve(web, list(PAIRS), SIZES)
    found = {name: tuple(rows["misses"]) for name, rows in table.groupby("policy")}
    assert found == PAIRS
    for name, missed in MISSED_BYTES.items():
        rows = table[table["policy"] == name]
        assert tuple(rows["requested_bytes"] - rows["hit_bytes"]) == missed


def test_libcachesim_counts_the_same_where_sizes_change(web_file):
    numbers = open_trace(web_file, "lrb")  # the same columns, but the size is not part of the key
    assert numbers.size_changes > 0
    table = byte_hit_ratio_curve(numbers, list(NUMBERS), SIZES, size_changes="keep")
    assert {name: tuple(rows["misses"]) for name, rows in table.groupby("policy")} == NUMBERS


def test_libcachesim_is_close_where_it_differs(web):
    table = byte_hit_ratio_curve(web, list(CLOSE), SIZES)
    assert set(table["policy"]) == set(CLOSE) and CLOSE
    for name, (misses, points) in CLOSE.items():
        ours = table.loc[table["policy"] == name, "misses"].to_numpy()
        assert np.abs(ours - misses).max() / len(web) * 100 < points, name


def test_bounds_hold_for_every_policy_and_one_that_knows_the_future(web):
    table = byte_hit_ratio_curve(web, ["opt", *SIZED], SIZES)
    rows = {name: rows.set_index("cache_bytes") for name, rows in table.groupby("policy")}
    least, most = rows.pop("opt_at_least"), rows.pop("opt_at_most")
    for name, own in rows.items():
        assert (own["hits"] <= most["hits"]).all(), name
        assert (own["hit_bytes"] <= most["hit_bytes"]).all(), name
    assert (least["hits"] <= most["hits"]).all()
    assert (len(web) - least["hits"].to_numpy() <= BELADY_SIZE).all()  # no worse than the heuristic
    assert (len(web) - most["hits"].to_numpy() <= BELADY_SIZE).all()
    assert ((most["hits"] - least["hits"]) / len(web) < 0.03).all()
