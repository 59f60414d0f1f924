"""Response times equal those of the delayed-hits authors, of the slow reference (to the ns), and of hand-made cases."""

import contextlib
import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import penalty as reference

import misspenalty
from misspenalty import Trace, disks
from misspenalty.errors import InputError, ParameterError
from misspenalty.latency import placement
from misspenalty.latency._devices import Disk, FixedTime
from misspenalty.latency._flash_device import FlashDrive
from misspenalty.latency._replay_timed import Foresight, Replay, following
from misspenalty.latency.penalty import COMPONENTS
from misspenalty.policies.registry import find_policy
from misspenalty.policies.sized import SIZED
from misspenalty.traces.quantities import LATEST
from misspenalty_studies.delayed_hits.workloads import read_steps, zipf

DATA = Path(__file__).parents[2] / "data/raw/delayed_hits"
MS = 1_000_000


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


@pytest.mark.parametrize("name", ["sample", "syn_zipf"])
def test_the_authors_lru(name):
    """A request every millisecond and fetches of z milliseconds must give the step model's published counts."""
    trace = Trace.from_blocks(read_steps(DATA / "sample.csv") if name == "sample" else zipf())
    with open(DATA / "authors_runs.csv") as rows:
        runs = [row for row in csv.DictReader(rows) if row["policy"] == "lru" and row["trace"] == name]
    for row in runs:
        size, device = int(row["cache_entries"]), f"{row['z']}ms"
        got = only(misspenalty.penalty(trace, "lru", size, device, interval="1ms", threads=1))
        for column in ("hits", "delayed_hits", "misses"):
            assert got[column] == int(row[column]), (row, column)
        assert got["mean_us"] * got["requests"] == pytest.approx(1000 * int(row["total_latency"]), rel=1e-12)
    assert len(runs) == 20


def as_reference(trace, policy, size, device, **options):
    cache = {"lru": reference.LRU, "opt": reference.OPT, "opt_bypass": reference.OPTBypass}[policy](size)
    open_loop = not options.get("clients")
    ids = trace.ids.tolist()
    write = None if trace.write is None else trace.write.tolist()
    lbn = (trace.address.astype(int) * 8).tolist()
    arrival = trace.time.tolist() if open_loop else None
    return reference.play(ids, write, arrival, cache, device, lbn, 8, **options)


requests = st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.integers(0, 9 * MS)), min_size=1, max_size=60)


@pytest.mark.parametrize("device", ["4ms", "hp97560", "dec_rz26"])
@settings(max_examples=40)
@given(
    data=requests,
    policy=st.sampled_from(["lru", "opt", "opt_bypass"]),
    size=st.integers(1, 5),
    through=st.booleans(),
    warm=st.integers(0, 5),
    clients=st.integers(0, 3),
    pause=st.sampled_from([0, 2 * MS]),
)
def test_the_reference(device, data, policy, size, through, warm, clients, pause):
    names, write, gaps = zip(*data, strict=True)
    trace = Trace.from_blocks([40 * name for name in names], write, np.cumsum(gaps))
    fixed = device.endswith("ms")
    model = reference.Fixed(4 * MS) if fixed else reference.FirstComeFirstServed(disks.load(device).drive())
    warm = min(warm, len(trace) - 1)
    pause = pause if clients else 0
    counts, latency = as_reference(
        trace, policy, size, model, hit_ns=500, through=through, warm_up=warm, clients=clients, pause=pause
    )
    got = only(
        misspenalty.penalty(
            trace,
            policy,
            size,
            device,
            hit_time="500ns",
            write_through=through,
            warm_up=warm,
            clients=clients or None,
            think=f"{pause}ns",
            threads=1,
        )
    )
    waits = sorted(value for value in latency if value is not None)
    assert got["requests"] == len(waits)
    assert [got[name] for name in ("hits", "delayed_hits", "misses")] == [
        counts[name] for name in ("hits", "delayed_hits", "misses")
    ]
    if waits:
        assert got["mean_us"] == pytest.approx(sum(waits) / len(waits) / 1000, rel=1e-12)
        for share in (50, 95, 99):
            assert got[f"p{share}_us"] == waits[-(-len(waits) * share // 100) - 1] / 1000
        for part in COMPONENTS[1:]:
            assert got[f"{part}_us"] == pytest.approx(counts[part] / len(waits) / 1000, rel=1e-12)
        assert got["hit_us"] == 0.5


def drawn(n=3000, blocks=400, seed=7, gap=MS):
    random = np.random.default_rng(seed)
    names = np.minimum(random.zipf(1.3, n), blocks) * 16
    return Trace.from_blocks(names, random.random(n) < 0.3, np.cumsum(random.integers(0, 2 * gap, n)))


@pytest.mark.parametrize("policy", sorted(misspenalty.policies.known_policies()))
@pytest.mark.parametrize("device", ["3ms", "cheetah9lp", "dc_p3700"])
def test_every_policy(policy, device):
    trace = drawn()
    got = only(misspenalty.penalty(trace, policy, 64, device))
    assert got["requests"] == trace.reads == got["hits"] + got["delayed_hits"] + got["misses"]
    assert sum(got[f"{part}_us"] for part in COMPONENTS) == pytest.approx(got["mean_us"], rel=1e-9)
    assert got["misses"] > 0
    assert got["p50_us"] <= got["p95_us"] <= got["p99_us"]


@pytest.mark.parametrize("policy", ["lru", "arc", "opt", "opt_bypass", "sarc", "wtinylfu"])
def test_without_overlap_penalty_has_the_hits_of_simulate(policy):
    """If the device is far faster than requests arrive, there must be no delayed hits, and the hits must equal
    `simulate`'s."""
    trace = drawn(gap=1000)
    got = only(misspenalty.penalty(trace, policy, 64, "1ns", interval="1us"))
    assert got["delayed_hits"] == 0
    assert got["hits"] == misspenalty.simulate(trace, policy, 64).hits


@pytest.mark.parametrize("scheduler", disks.SCHEDULERS)
def test_schedulers(scheduler):
    """All blocks differ, so each request must be a miss and take as long as in a replay on the drive alone."""
    random = np.random.default_rng(3)
    kind = disks.load("cheetah9lp")
    names = random.choice(kind.blocks // 8, 300, replace=False)
    time = np.cumsum(random.integers(0, 4 * MS, 300))
    got = only(misspenalty.penalty(Trace.from_blocks(names, time=time), "lru", 10, "cheetah9lp", scheduler=scheduler))
    alone = disks.drive._replay.as_they_arrive(
        kind.drive(scheduler), time, names * 8, np.full(300, 8, np.int32), np.zeros(300, np.uint8)
    )
    assert got["misses"] == 300
    for part in disks.COMPONENTS:
        assert got[f"{part}_us"] == pytest.approx(alone[part].mean() / 1000, rel=1e-12)


def test_flash_one_by_one():
    """Requests that are far apart must each take the time that the flash drive alone takes."""
    kind, names = disks.load("dc_p3700"), np.arange(50) * 7919
    time = np.arange(50) * MS
    got = only(misspenalty.penalty(Trace.from_blocks(names, time=time), "lru", 10, "dc_p3700"))
    drive = kind.drive()
    alone = [drive.service(int(now), int(name) * 8, 8) for now, name in zip(time, names, strict=True)]
    assert got["mean_us"] == pytest.approx(np.mean([one["done"] - one["arrival"] for one in alone]) / 1000, rel=1e-12)
    assert got["queue_us"] == 0


def test_flash_completes_each_request_at_its_own_time():
    """Three reads begin at once; when the second is done, its block must be a hit, although the third is still in
    flight."""
    form = disks.load("dc_p3700").data["geometry"]
    page = form["planes"] * form["page_bytes"] // 4096 * form["channels"] * form["dies"]  # the die's next page
    together = only(misspenalty.penalty(Trace.from_blocks([0, page, 2 * page], time=[0] * 3), "lru", 9, "dc_p3700"))
    between = round((together.p50_us + together.p99_us) / 2 * 1000)
    assert together.p50_us < together.p99_us
    for again, hits in ((page, 1), (2 * page, 0)):
        trace = Trace.from_blocks([0, page, 2 * page, again], time=[0, 0, 0, between])
        row = only(misspenalty.penalty(trace, "lru", 9, "dc_p3700"))
        assert (row.hits, row.delayed_hits, row.misses) == (hits, 1 - hits, 3)


def test_flash_overlaps_on_different_dies_only():
    """On two dies, two simultaneous reads must take as long as one; on one die, the second must wait for the first's
    page."""
    kind = disks.load("dc_p3700")
    page = kind.data["geometry"]["planes"] * kind.data["geometry"]["page_bytes"] // 4096
    dies = kind.data["geometry"]["channels"] * kind.data["geometry"]["dies"]
    apart = only(misspenalty.penalty(Trace.from_blocks([0, page], time=[0, 0]), "lru", 10, "dc_p3700"))
    same = only(misspenalty.penalty(Trace.from_blocks([0, page * dies], time=[0, 0]), "lru", 10, "dc_p3700"))
    assert apart["queue_us"] == 0
    assert apart["p50_us"] == apart["p99_us"]
    assert same["p50_us"] == apart["p50_us"]
    read = same["p99_us"] - apart["p99_us"]
    assert read >= kind.data["flash"]["read_us"]
    assert same["queue_us"] == pytest.approx(read / 2)
    assert sum(same[f"{part}_us"] for part in COMPONENTS) == pytest.approx(same["mean_us"], rel=1e-9)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux reports mapped memory in /proc")
def test_the_memory_of_waiting_requests_is_given_back():
    def mapped():
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

    trace = Trace.from_blocks(np.arange(100_000), time=np.zeros(100_000, np.int64))
    sizes = [mapped()]
    for _ in range(12):
        misspenalty.penalty(trace, "fifo", 1, "dc_p3700", threads=1)
        sizes.append(mapped())
    # Leaking the requests in flight would cost 17 MB per run, and leaking the completions 4 MB.
    assert sizes[-1] - sizes[2] < 20 << 20


def test_a_written_block_needs_no_fetch():
    """By hand: 1 is written, so its read is a hit; with write-through, the read of 2 waits for that write."""
    trace = Trace.from_blocks([1, 1, 2], [True, False, False], [0, 0, 0])
    got = only(misspenalty.penalty(trace, "lru", 2, "hp97560"))
    assert (got["requests"], got["hits"], got["misses"], got["queue_us"]) == (2, 1, 1, 0)
    assert only(misspenalty.penalty(trace, "lru", 2, "hp97560", write_through=True))["queue_us"] > 0
    ignored = only(misspenalty.penalty(trace, "lru", 2, "hp97560", writes="ignore"))
    assert (ignored["requests"], ignored["hits"], ignored["misses"]) == (2, 0, 2)


def test_loads():
    """By hand, fetches take 4 ms: requests 2 ms apart are 1 ms apart at double speed; one client has no delayed hit."""
    trace = Trace.from_blocks([1, 1, 1, 1], time=[0, 2 * MS, 4 * MS, 6 * MS])
    assert only(misspenalty.penalty(trace, "lru", 1, "4ms"))["mean_us"] == (4 + 2 + 0 + 0) * 250
    assert only(misspenalty.penalty(trace, "lru", 1, "4ms", speed=2))["mean_us"] == (4 + 3 + 2 + 1) * 250
    assert only(misspenalty.penalty(trace, "lru", 1, "4ms", interval="3ms"))["mean_us"] == (4 + 1 + 0 + 0) * 250
    closed = only(misspenalty.penalty(trace, "lru", 1, "4ms", clients=1))
    assert (closed["load"], closed["mean_us"], closed["delayed_hits"]) == ("closed", 1000, 0)
    assert only(misspenalty.penalty(trace, "lru", 1, "4ms", clients=3))["delayed_hits"] == 2
    untimed = only(misspenalty.penalty(Trace.from_blocks([1, 1, 1, 1]), "lru", 1, "4ms"))
    assert (untimed["load"], untimed["mean_us"]) == ("closed", 1000)
    with pytest.raises(ParameterError, match="speed is 2, but array has no times, and one client replays it; set in"):
        misspenalty.penalty(Trace.from_blocks([1, 1, 1, 1]), "lru", 1, "4ms", speed=2)


@pytest.mark.parametrize("first", [-5_000_000, 0, 1_700_000_000 * 10**9])
@pytest.mark.parametrize("speed", [1, 2, 32])
def test_times_count_from_the_first_request(first, speed):
    """A part of an unsorted trace can begin before time 0, and times in arrays may count from 1970."""
    trace = Trace.from_blocks([1, 1, 1, 1], time=[first + 2_000_000 * number for number in range(4)])
    got = only(misspenalty.penalty(trace, "lru", 1, "4ms", speed=speed))
    assert got["mean_us"] == {1: 4 + 2 + 0 + 0, 2: 4 + 3 + 2 + 1, 32: 16 - 6 * 2 / 32}[speed] * 250


@pytest.mark.parametrize("first", [-(10**9), 0, 1_700_000_000 * 10**9, -(2**63)])
def test_times_may_begin_anywhere(first):
    """Requests 0.5 s apart must never wait for each other, whether they are timed from the first, the last or 1970."""
    trace = Trace.from_blocks([1, 1, 1], time=[first, first + 5 * 10**8, first + 10**9])
    row = only(misspenalty.penalty(trace, "lru", 1, "1ms"))
    assert (row.misses, row.delayed_hits, row.hits) == (1, 0, 2)
    late = Trace.from_blocks([1, 1], time=[-(2**63), 2**63 - 1])
    with pytest.raises(ParameterError, match=r"arrives after 1.84e\+10 s"):
        misspenalty.penalty(late, "lru", 1, "1ms")
    assert only(misspenalty.penalty(late, "lru", 1, "1ms", speed=1e6)).hits == 1


def test_layouts():
    drive = disks.load("hp97560")
    far = Trace.from_blocks([5, 2**60, 7], time=[0, 0, 0])
    frame = misspenalty.penalty(far, "lru", 1, ["hp97560", "1ms"])
    assert frame["layout"].tolist() == ["packed", "none"]
    packed = only(misspenalty.penalty(Trace.from_blocks([0, 2, 1], time=[0, 0, 0]), "lru", 1, "hp97560"))
    assert packed["layout"] == "address"
    assert frame["mean_us"][0] == packed["mean_us"]
    with pytest.raises(ParameterError, match=f"3 blocks of {1 << 30} bytes; hp97560 has room for 1: choose a larger"):
        misspenalty.penalty(Trace.from_blocks([1, 2, 3], time=[0, 0, 0], block_bytes=1 << 30), "lru", 1, drive)


def test_rows_and_threads():
    trace = drawn()
    frame = misspenalty.penalty(trace, ["lru", "arc"], [8, 64], ["1ms", "hp97560"], threads=2)
    assert frame[["policy", "cache_blocks", "device"]].to_numpy().tolist() == [
        [policy, size, device] for policy in ("lru", "arc") for size in (8, 64) for device in ("1ms", "hp97560")
    ]
    assert frame.equals(misspenalty.penalty(trace, ["lru", "arc"], [8, 64], ["1ms", "hp97560"], threads=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"writes": "only"}, "writes is 'only'; expected one of count, ignore"),
        ({"speed": 0}, "speed is 0; expected a finite number above 0"),
        ({"clients": 0}, "clients is 0; expected a whole number from 1 to"),
        ({"clients": 1.5}, "clients is 1.5; expected a whole number from 1 to"),
        ({"clients": True}, "clients is True; expected a whole number"),
        ({"clients": (1 << 20) + 1}, "clients is 1048577; expected a whole number from 1 to 1048576"),
        ({"speed": "2"}, "speed is '2'; expected a finite number above 0"),
        ({"speed": float("nan")}, "speed is nan; expected a finite number above 0"),
        ({"write_through": "no"}, "write_through is 'no'; expected True or False"),
        ({"threads": -1}, "threads is -1; expected a whole number from 1 to"),
        ({"threads": 2.0}, "threads is 2.0; expected a whole number from 1 to"),
        ({"device": 5}, "device is 5; expected a drive's name or description, or a time such as '5ms'"),
        ({"device": None}, "device is None; expected a drive's name"),
        ({"policy": None}, "policy is None; expected a name"),
        ({"cache_blocks": None}, "cache size is None blocks; expected a whole number"),
        ({"think": None}, "think is None; expected a time"),
        ({"clients": 1, "speed": 2}, "a closed loop has neither interval nor speed"),
        ({"think": "1ms"}, "only the clients of a closed loop think"),
        ({"interval": "fast"}, "interval is 'fast'; expected a time such as 5ms"),
        ({"hit_time": "1"}, "hit_time is '1'"),
        ({"scheduler": "best"}, "scheduler is 'best'; expected one of fcfs"),
        ({"threads": 0}, "threads is 0"),
        ({"warm_up": 4}, "warm_up is 4; expected a whole number from 0 to 3"),
        ({"queues": 2}, "lru has no parameter 'queues'"),
        ({"device": "0ms"}, "device 0ms: expected at least 1 ns"),
        ({"device": []}, "no device given"),
        ({"cache_blocks": []}, "no cache size given"),
        ({"policy": "best"}, "unknown policy 'best'"),
        ({"speed": 1e-15}, "the last request arrives after .* s can be timed: raise the speed, shorten the interval"),
        ({"scheduler": "sptf"}, "'sptf', but only a disk has a queue to order, not 1ms; name a disk, or leave"),
        ({"scheduler": "sptf", "device": ["1ms", "dc_p3700"]}, "not 1ms, dc_p3700; name a disk, or leave out"),
        ({"write_through": True, "writes": "ignore"}, "writes is 'ignore', which leaves them out; set writes to count"),
        ({"size_changes": "new"}, "size_changes is 'new', but blocks or objects are counted, whatever their sizes"),
    ],
)
def test_impossible_arguments(options, message):
    trace = Trace.from_blocks([1, 2, 3, 4], [False] * 4, [0, MS, 2 * MS, 3 * MS])
    asked = {"policy": "lru", "cache_blocks": 1, "device": "1ms"} | options
    with pytest.raises(ParameterError, match=message):
        misspenalty.penalty(trace, **asked)


@pytest.mark.parametrize(
    ("n", "device", "load"),
    [
        (700_000, "1h", {"clients": 1}),
        (10_000, "6000d", {}),
        (9_999, "1ms", {"clients": 1, "think": "100d"}),
        (9_999, "1ms", {"clients": 3, "hit_time": "100d"}),
    ],
)
def test_a_run_past_the_latest_time_is_refused(n, device, load):
    """Each reference must be a miss; the first two cases used to crash the interpreter, and the third lost 9,732
    misses."""
    with pytest.raises(ParameterError, match=rf"simulated time passes {LATEST} ns after .* shorten the think"):
        misspenalty.penalty(np.arange(n), "lru", 1, device, **load)


@pytest.mark.parametrize(("size", "said"), [(7, "7 blocks"), ("7KB", "7168 bytes")])
def test_a_run_past_the_latest_time_names_the_size_of_the_cache(size, said):
    sizes = np.arange(700_000) % 9 + 1000
    trace = Trace.from_blocks(np.arange(700_000), object_bytes=sizes)
    with pytest.raises(ParameterError, match=f"^lru, {said}, 1h: simulated time passes"):
        misspenalty.penalty(trace, "lru", size, "1h")


def test_the_latest_time_itself_can_be_reached():
    """Two successive fetches may each take half the latest time, but not a nanosecond more."""
    ids, none = np.array([0, 1], np.uint32), np.empty(0, np.int64)
    for latency, fits in ((LATEST // 2, True), (LATEST // 2 + 1, False)):
        replay = Replay(find_policy("lru").kernel(1, 2), FixedTime(latency), np.zeros(2, np.int64), 1, 0, False)
        with contextlib.nullcontext() if fits else pytest.raises(OverflowError, match=f"passes {LATEST} ns after 2"):
            counts, _ = replay.run(ids, none.astype(np.uint8), none, none, 0, 1)
            assert (counts["misses"], counts["overhead"]) == (2, LATEST)


def test_sums_of_times_do_not_overflow():
    """The sum of 18 latencies of 6000 days exceeds 2^63 ns, and so does that of 360 waits for one such fetch."""
    day = 86_400 * 10**6  # us
    apart = only(misspenalty.penalty(Trace.from_blocks(range(18), time=[0] * 18), "lru", 1, "6000d"))
    assert (apart["mean_us"], apart["overhead_us"], apart["p50_us"]) == (6000 * day,) * 3
    same = only(misspenalty.penalty(Trace.from_blocks([7] * 361, time=[0] * 361), "lru", 1, "6000d"))
    assert same["mean_us"] == 6000 * day
    assert same["delayed_us"] == 6000 * day * 360 / 361


def test_a_long_queue_of_a_drive():
    """A million reads at time 0 wait until their blocks are read; their latencies add up to more than 2^63 ns."""
    n = 1_000_000
    names = np.random.default_rng(1).permutation(2_000_000)[:n]
    trace = Trace.from_blocks(names, time=np.zeros(n, int), block_bytes=512)
    got = only(misspenalty.penalty(trace, "lru", 1, "hp97560"))
    place, m = trace.address.astype(np.int64), trace.blocks
    once = np.ones(m, np.int32), np.zeros(m, np.uint8)
    alone = disks.drive._replay.as_they_arrive(disks.load("hp97560").drive(), np.zeros(m, int), place, *once)
    done = sum(alone[part] for part in disks.COMPONENTS)
    total = sum(times * ns for times, ns in zip(np.bincount(trace.ids).tolist(), done.tolist(), strict=True))
    assert total > 2**63
    assert got["mean_us"] == pytest.approx(total / n / 1000, rel=1e-12)


@pytest.mark.parametrize("device", ["5parsecs", "-5ms", "5 days"])
def test_what_begins_like_a_time_is_not_a_drive(device):
    with pytest.raises(ParameterError, match=f"device '{device}' is not a time; expected one such as 5ms or 200us"):
        misspenalty.penalty(Trace.from_blocks([1]), "lru", 1, device)


@pytest.mark.parametrize(("device", "written"), [("5", "5ms"), (" 2.5", "2.5ms"), ("5.", "5ms"), (".5", "0.5ms")])
def test_a_time_without_its_unit_is_shown_with_one(device, written):
    with pytest.raises(ParameterError, match=f"is a time without its unit; write {written}, or name a drive"):
        misspenalty.penalty([1], "lru", 1, device)
    assert misspenalty.penalty([1], "lru", 1, written)["misses"].tolist() == [1]


def test_unknown_drive():
    with pytest.raises(InputError, match="no_such_drive: no such drive or file"):
        misspenalty.penalty(Trace.from_blocks([1]), "lru", 1, "no_such_drive")


def test_nothing_counts():
    got = only(misspenalty.penalty(Trace.from_blocks([1, 2], [True, True], [0, 0]), "lru", 1, "1ms"))
    assert got["requests"] == 0
    assert np.isnan(got["mean_us"])


# --- policies in Python


class OwnLru:
    """LRU, as a user would write it."""

    def __init__(self, capacity, fault=False):
        self.capacity, self.fault, self.cached = capacity, fault, {}

    def __contains__(self, block):
        return block in self.cached

    def access(self, block):
        if self.fault:
            raise RuntimeError("broken")
        hit = self.cached.pop(block, None) is not None
        if len(self.cached) == self.capacity:
            del self.cached[next(iter(self.cached))]
        self.cached[block] = True
        return hit


class Blind:
    def __init__(self, capacity): ...

    def access(self, block):
        return False


class Silent(OwnLru):
    def access(self, block):
        super().access(block)


def test_a_policy_in_python_equals_the_kernel():
    rng = np.random.default_rng(5)
    trace = Trace.from_blocks(
        1000 + rng.zipf(1.3, 4000) % 300, rng.random(4000) < 0.3, np.cumsum(rng.integers(0, 900_000, 4000))
    )
    table = misspenalty.penalty(trace, [OwnLru, "lru"], [5, 50], ["1ms", "cheetah9lp"])
    own, ours = (group.drop(columns="policy").reset_index(drop=True) for _, group in table.groupby("policy"))
    assert set(table["policy"]) == {"OwnLru", "lru"}
    pd.testing.assert_frame_equal(own, ours)


def test_what_a_policy_in_python_lacks_or_raises():
    with pytest.raises(
        ParameterError, match=r"policy Blind has no `__contains__`, which response times need; give the class a method"
    ):
        misspenalty.penalty([1, 2], Blind, 1, "1ms")
    with pytest.raises(ParameterError, match=r"policy OwnLru: access\(1\) raised RuntimeError: broken \(test_pen"):
        misspenalty.penalty(Trace.from_blocks([1, 2]), OwnLru, 1, "1ms", fault=True)
    with pytest.raises(ParameterError, match=r"policy Silent: access\(1\) returned None; expected True if"):
        misspenalty.penalty([1, 2], Silent, 1, "1ms")


def test_a_parameter_that_no_policy_has_is_refused_with_those_that_each_has():
    blocks = Trace.from_blocks([1, 2])
    said = r"none of OwnLru, lru has a parameter 'fualt', did you mean 'fault'\?; OwnLru has fault; lru has none"
    with pytest.raises(ParameterError, match=said):
        misspenalty.penalty(blocks, [OwnLru, "lru"], 1, "1ms", fualt=True)
    objects = Trace.from_blocks([1, 2], object_bytes=[3, 9])
    said = "none of lru, slru has a parameter 'fill_up' for .* sizes; lru has none; slru has segments, protected$"
    with pytest.raises(ParameterError, match=said):
        misspenalty.penalty(objects, ["lru", "slru"], "1KB", "1ms", fill_up=1)


class Interrupted(OwnLru):
    """A policy that is interrupted by Ctrl-C, in its own thread or in the thread that waits for it."""

    def access(self, block):
        if block == 3:
            raise KeyboardInterrupt
        return super().access(block)


class AskedInterrupted(OwnLru):
    def __contains__(self, block):
        if block == 3:
            raise KeyboardInterrupt
        return super().__contains__(block)


@pytest.mark.parametrize("policy", [Interrupted, AskedInterrupted])
@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_in_a_policy_in_python_is_not_lost(policy, threads):
    """The interrupt must be raised, not printed and counted as a miss."""
    with pytest.raises(KeyboardInterrupt):
        misspenalty.penalty(np.arange(6), policy, [1, 2], "1ms", threads=threads)


class Fails(OwnLru):
    def access(self, block):
        raise RuntimeError("broken")


class Counting(OwnLru):
    accesses = 0

    def access(self, block):
        Counting.accesses += 1
        return super().access(block)


def test_an_error_stops_the_replays_in_other_threads():
    with pytest.raises(ParameterError, match=r"Fails: access\(0\) raised RuntimeError: broken"):
        misspenalty.penalty(np.arange(500_000), [Fails, Counting], 1, "1ms", threads=2)
    assert Counting.accesses < 400_000


def test_kernels_refuse_ids_that_would_leave_their_arrays():
    ids, none = np.array([0, 2], np.uint32), np.empty(0, np.uint8)
    with pytest.raises(IndexError, match="ids hold block 2; expected ids below 2"):
        following(ids, 2)
    replay = Replay(Foresight(1, 2, False), FixedTime(1), np.zeros(2, np.int64), 1, 0, False)
    with pytest.raises(IndexError, match="ids hold block 2; expected ids below 2"):
        replay.run(ids, none, np.zeros(2, np.int64), np.zeros(2, np.int64), 0)


@pytest.mark.parametrize("short", ["write", "arrival", "following", "sizes", "sectors"])
def test_kernels_refuse_arrays_shorter_than_the_ids(short):
    given = {name: np.zeros(2, np.int64) for name in ("arrival", "following", "sizes")}
    given |= {"write": np.zeros(2, np.uint8), "sectors": np.ones(2, np.int32)}
    ids = np.zeros(2, np.uint32)
    counts, _ = Replay(Foresight(1, 2, False), FixedTime(1), np.zeros(2, np.int64), 1, 0, False).run(
        ids, warm_up=0, **given
    )
    assert (counts["misses"], counts["delayed_hits"]) == (1, 1)
    given[short] = given[short][:1]
    replay = Replay(Foresight(1, 2, False), FixedTime(1), np.zeros(2, np.int64), 1, 0, False)
    with pytest.raises(IndexError, match="is shorter than ids; expected at least 2 values"):
        replay.run(ids, warm_up=0, **given)


# --- objects of different sizes


def objects(n=2000, count=150, seed=11):
    random = np.random.default_rng(seed)
    names = random.zipf(1.3, n) % count
    sizes = (random.lognormal(8, 1.5, count).astype(np.int64) + 1)[names]
    time = np.cumsum(random.integers(0, 40 * MS, n))
    return Trace.from_blocks(names * 977, time=time, object_bytes=sizes)


@pytest.mark.parametrize("policy", SIZED)
def test_a_cache_of_bytes_without_overlap_is_simulate(policy):
    trace = objects()
    got = only(misspenalty.penalty(trace, policy, "200KB", "1ns"))
    assert (got["cache_bytes"], got["delayed_hits"]) == (200 << 10, 0)
    assert got["hits"] == misspenalty.simulate(trace, policy, "200KB").hits


def test_each_object_transfers_its_own_size():
    """All objects differ, so a replay on the drive alone, with the objects packed in order of address, must take as
    long."""
    kind, random = disks.load("cheetah9lp"), np.random.default_rng(4)
    sizes = random.integers(1, 200_000, 200)
    time = np.arange(200) * 100 * MS
    names = random.permutation(200) * 10
    trace = Trace.from_blocks(names, time=time, object_bytes=sizes)
    got = only(misspenalty.penalty(trace, "lru", "1MB", "cheetah9lp"))
    sectors = -(-sizes // 512)
    order = np.argsort(names)
    lbn = np.zeros(200, np.int64)
    lbn[order] = np.cumsum(sectors[order]) - sectors[order]
    alone = disks.drive._replay.as_they_arrive(
        kind.drive(), time, lbn, sectors.astype(np.int32), np.zeros(200, np.uint8)
    )
    assert (got["misses"], got["layout"]) == (200, "packed")
    for part in disks.COMPONENTS:
        assert got[f"{part}_us"] == pytest.approx(alone[part].mean() / 1000, rel=1e-12), part
    counted = only(misspenalty.penalty(trace, "lru", 10, "cheetah9lp"))  # 10 is a number of objects, not of bytes
    assert counted["transfer_us"] == got["transfer_us"]


def test_changes_of_size_are_fetched_or_not():
    """By hand, with fetches of 1 ms: object 7 is loaded with 3 bytes; a request of 9 bytes is a hit or, with ``new``, a
    miss."""
    trace = Trace.from_blocks([7, 7, 7], time=np.arange(3) * 10 * MS, object_bytes=[3, 9, 9])
    hits = {
        rule: only(misspenalty.penalty(trace, "lru", "10B", "1ms", size_changes=rule))["hits"]
        for rule in ("replace", "keep", "new")
    }
    assert hits == {"replace": 2, "keep": 2, "new": 1}
    with pytest.raises(ParameterError, match="size_changes is 'keep', but blocks or objects are counted"):
        misspenalty.penalty(trace, "lru", 1, "1ms", size_changes="keep")


def test_what_cannot_be_timed_by_bytes():
    trace = objects()
    with pytest.raises(ParameterError, match="opt cannot be timed with objects of different sizes"):
        misspenalty.penalty(trace, "opt", "1MB", "1ms")
    with pytest.raises(ParameterError, match=r"'mq' is not defined .* sizes; .*and opt, as bounds of hit ratios only"):
        misspenalty.penalty(trace, "mq", "1MB", "1ms")
    huge = Trace.from_blocks([1, 2], object_bytes=[1 << 42, 5])
    with pytest.raises(ParameterError, match="the largest of 4398046511104; cheetah9lp has 9174214144 bytes"):
        misspenalty.penalty(huge, "lru", 1, "cheetah9lp")


def test_objects_may_fill_a_drive_and_not_more():
    kind = disks.load("hp97560")
    unit = kind.data["geometry"]["sector_bytes"]
    whole = [7 * unit, (kind.blocks - 7) * unit]
    times = misspenalty.penalty(Trace.from_blocks([1, 2], object_bytes=whole), "lru", unit, kind)
    assert times["requests"].tolist() == [2]
    for larger in ([8 * unit, whole[1]], [whole[0], whole[1] + 1]):
        with pytest.raises(ParameterError, match="choose a larger drive or a fixed time"):
            misspenalty.penalty(Trace.from_blocks([1, 2], object_bytes=larger), "lru", unit, kind)


def test_no_object_is_larger_than_a_request_can_be(monkeypatch):
    monkeypatch.setattr(placement, "MAX_SECTORS", 7)
    largest = Trace.from_blocks([1, 2], object_bytes=[7 * 512, 5])
    assert misspenalty.penalty(largest, "lru", 1, "hp97560")["requests"].tolist() == [2]
    larger = Trace.from_blocks([1, 2], object_bytes=[7 * 512 + 1, 5])
    with pytest.raises(ParameterError, match="objects of 3590 bytes in total, the largest of 3585; hp97560 has"):
        misspenalty.penalty(larger, "lru", 1, "hp97560")


def test_a_fixed_time_transfers_no_sectors():
    trace = objects()
    assert placement.find_target("5ms", trace, None).transfers(trace, slice(None)) is None
    sectors = placement.find_target("hp97560", trace, None).transfers(trace, slice(0, 50))
    assert sectors.tolist() == [-(-size // 512) for size in trace.bytes_of(slice(0, 50)).tolist()]


def test_a_replay_tells_how_far_it_is():
    """A replay must report after every 4,096 arrivals and completions; those after the last report are not reported."""
    replay = Replay(find_policy("lru").kernel(1, 1), FixedTime(1), np.zeros(1, np.int64), 1, 0, False)
    told, none = [], np.empty(0, np.int64)
    replay.run(np.zeros(20_001, np.uint32), none.astype(np.uint8), np.arange(20_001), none, 0, advance=told.append)
    assert told == [4095, 4096, 4096, 4096]


@pytest.mark.parametrize("name", ["3ms", "hp97560", "cheetah9lp", "dc_p3700"])
@settings(max_examples=40)
@given(data=requests, clients=st.integers(0, 3), through=st.booleans(), warm=st.integers(0, 5))
def test_components_are_the_whole_of_every_latency(name, data, clients, through, warm):
    """The latencies of the requests add up to the sum of the components, to the nanosecond."""
    names, write, gaps = zip(*data, strict=True)
    ids = Trace.from_blocks(names).ids
    kind = None if name == "3ms" else disks.load(name)
    if kind is None:
        device = FixedTime(3 * MS)
    else:
        device = FlashDrive(kind.drive()) if kind.data["kind"] == "flash" else Disk(kind.drive())
    lbn = np.arange(10, dtype=np.int64) * 8  # on a few dies of the flash drive, so that some requests wait
    replay = Replay(find_policy("lru").kernel(3, 10), device, lbn, 8, 500, through)
    arrival = np.cumsum(gaps, dtype=np.int64)
    counts, latency = replay.run(ids, np.array(write, np.uint8), arrival, np.empty(0, np.int64), warm, clients, MS)
    counted = np.asarray(latency)[np.asarray(latency) >= 0]
    parts = sum(counts[part] for part in ("delayed", *disks.COMPONENTS))
    assert counted.sum() == 500 * len(counted) + parts
    assert len(counted) == counts["hits"] + counts["delayed_hits"] + counts["misses"]
