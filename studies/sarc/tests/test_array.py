"""Test the storage controller against counted operations, closed formulas and one drive on its own."""

import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from misspenalty import ParameterError, disks
from misspenalty.policies import find_policy
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty.traces.spc1 import SEQUENTIAL, STREAMS, Workload, requests
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.sarc.array.controller import MAX_PAGES, PAGE, StorageController
from misspenalty_studies.sarc.runs import Shark

SHARK = load_machine(Path(__file__).parents[3] / "studies" / "sarc" / "machine.yaml", kind=Shark).testbed
DRIVE = disks.load("ultrastar_146z10")
SMALL = replace(
    SHARK,
    processor_queue="shared",
    arrays=1,
    cache_mb=8,
    write_cache_mb=8,
    strip_kb=32,
    host_slots=64,
    controller_us=100,
    host_stripe_kb=0,
    contention_us=0,
    staging=0,
    adapter_mb_per_s=100,
)
PAGES = 1 << 16
MS, SECOND = 10**6, 10**9
PREFETCH = {"degree": 8, "threshold": 3}


def controller(parameters=SMALL, pages=PAGES, policy="lru_top", prefetch=None):
    cache = track_cache(policy, parameters.cache_pages, pages // 8, track_pages=8, prefetch=prefetch)
    return StorageController(parameters, DRIVE, cache, pages)


def run(parameters, requests, until=60 * SECOND, **options):
    """Run requests (time, page, pages, write), and return their `Interval`."""
    return controller(parameters, **options).run(*map(np.array, zip(*requests, strict=True)), until)


def operations(interval):
    return interval.counts["destage_reads"], interval.counts["destage_writes"]


DESTAGE_ALL = replace(SMALL, destage_low=0.0, destage_high=1.0)  # every dirty page is destaged
STRIPE = SMALL.stripe_pages


@pytest.mark.parametrize(
    ("writes", "reads_and_writes"),
    [
        ([(0, 1)], (2, 2)),  # a small write reads old data and parity, and writes new data and parity
        ([(3, 5)], (2, 2)),  # adjacent pages of one strip are one operation
        ([(7, 2)], (3, 3)),  # two strips
        ([(0, 24)], (3, 4)),  # three strips of six: the three others are read
        ([(0, 40)], (1, 6)),
        ([(0, STRIPE)], (0, 7)),  # the full stripe: nothing is read
        ([(0, 4), (8, 4), (16, 4), (24, 4), (32, 4), (40, 4)], (0, 7)),  # the same part of every strip is written
        ([(0, 4), (8, 4), (16, 4), (24, 4), (32, 4), (40, 2)], (1, 7)),
    ],
)
def test_a_destage_takes_the_operations_of_raid_5(writes, reads_and_writes):
    parameters = replace(DESTAGE_ALL, destages=1)
    # Its destage, the only one allowed at a time, lasts until the other stripe is written.
    first = (0, STRIPE * 100, 1, True)
    interval = run(parameters, [first, *((1, page, pages, True) for page, pages in writes)])
    assert interval.counts["destages"] == 2
    assert interval.counts["full_destages"] == (reads_and_writes[0] == 0)
    reads, done = operations(interval)
    assert (reads - 2, done - 2) == reads_and_writes
    assert interval.state["dirty_pages"] == 0


@pytest.mark.parametrize(
    ("held", "reads_and_writes"),
    [
        ([], (2, 2)),
        ([(0, 1)], (1, 2)),  # the page's old contents are cached, so only the old parity is read
        ([(8 * strip, 1) for strip in range(1, 6)], (0, 2)),  # the other strips are cached, so nothing is read
        ([(8 * strip, 1) for strip in range(6)], (0, 2)),
        ([(1, 7)], (2, 2)),  # other cached pages do not help
    ],
)
def test_a_parity_from_the_read_cache_reads_what_it_does_not_hold(held, reads_and_writes):
    parameters = replace(DESTAGE_ALL, destages=1, parity_from_cache=True)
    first = (0, STRIPE * 100, 1, True)  # its destage, the only one allowed at a time, delays the other
    reads = [(1, page, pages, False) for page, pages in held]
    interval = run(parameters, [first, *reads, (2, 0, 1, True)])
    done = operations(interval)
    assert (done[0] - 2, done[1] - 2) == reads_and_writes
    without = operations(run(replace(parameters, parity_from_cache=False), [first, *reads, (2, 0, 1, True)]))
    assert without == (4, 4)


def test_parity_rotates_over_the_drives():
    members = SMALL.array_members
    stripes = 50 * members
    requests = [(i * 20 * MS, i * STRIPE, 1, True) for i in range(stripes)]
    one = controller(DESTAGE_ALL)
    one.run(*map(np.array, zip(*requests, strict=True)), 60 * SECOND)
    busy = np.array(one._kernel.busy)
    assert busy.min() > 0.8 * busy.max(), "data strip 0 and the parity of all rows are spread evenly over the drives"


def test_a_miss_takes_what_the_drive_takes_and_a_hit_the_controller_alone():
    miss = run(SMALL, [(0, 8, 2, False)])
    overhead, transfer = round(1000 * SMALL.controller_us), 2 * round(1000 * PAGE / SMALL.adapter_mb_per_s)
    miss_arrival = (1 * 6 * MS) // SMALL.array_members  # by the drive's own clock, which is staggered
    record = DRIVE.drive().service(miss_arrival + overhead, 0, 16)
    assert miss.response_ns[0] == record["done"] - miss_arrival + transfer
    assert miss.counts["read_waits"] == 1
    both = run(SMALL, [(0, 8, 2, False), (SECOND, 9, 1, False)])
    assert both.counts["read_hits"] == 1
    assert both.response_ns[0] - miss.response_ns[0] == overhead + transfer // 2


@pytest.mark.parametrize(("staging", "hits"), [(0, [0, 0, 0]), (1, [0, 1, 0]), (2, [0, 1, 1])])
def test_a_miss_reads_its_pages_the_rest_of_its_track_or_the_track(staging, hits):
    made = controller(replace(SMALL, staging=staging))
    found = []
    for number, page in enumerate((8 + 3, 8 + 7, 8)):  # one page each, all of the same track
        interval = made.run(*(np.array([value]) for value in (number * SECOND, page, 1, False)), (number + 1) * SECOND)
        found.append(interval.counts["read_hits"])
    assert found == hits
    assert made.cache.random_pages == (8 if staging else 3)


def test_contention_delays_every_request_in_proportion_to_the_rate_of_the_machine():
    calm, slice_of = replace(SMALL, contention_us=0), replace(SMALL, contention_us=10, slices=16)
    one, other = controller(calm), controller(slice_of)
    other.load(100)
    requests = [np.array(column) for column in zip((0, 0, 1, True), (SECOND, 800, 1, False), strict=True)]
    before, after = one.run(*requests, 9 * SECOND), other.run(*requests, 9 * SECOND)
    assert [b - a for a, b in zip(before.response_ns, after.response_ns, strict=True)] == 2 * [10 * 100 * 16]


def test_a_read_of_pages_on_their_way_waits_for_them():
    interval = run(SMALL, [(0, 8, 1, False), (MS, 8, 1, False)])
    assert interval.counts["stage_reads"] == 1
    assert (
        interval.read_ns["in_flight"]
        == interval.read_ns["disk_queue"]
        + sum(interval.read_ns[part] for part in interval.read_ns if part.startswith("disk_") and part != "disk_queue")
        + interval.read_ns["seek"]
        + interval.read_ns["rotation"]
        - MS
    )


def test_written_pages_need_no_drive_even_when_the_cache_lost_them():
    parameters = replace(SMALL, cache_mb=0.25)
    others = [(1 + i, 8 * (i + 100), 8, True) for i in range(20)]
    interval = run(parameters, [(0, 0, 1, True), *others, (SECOND, 0, 1, False)])
    assert interval.counts["dirty_reads"] == 1
    assert interval.counts["stage_reads"] == 0


def test_prefetched_tracks_of_a_strip_are_read_together():
    wide = replace(SMALL, strip_kb=256)
    reads = [(i * 50 * MS, 8 * i, 8, False) for i in range(3)]
    apart, together = run(SMALL, reads, prefetch=PREFETCH), run(wide, reads, prefetch=PREFETCH)
    assert apart.staged == together.staged == {"demand": 3, "synchronous": 8, "asynchronous": 0}
    assert apart.counts["stage_reads"] == 3 + 8
    assert together.counts["stage_reads"] == 3 + 2, "five tracks are in the first strip, three in the next"


def poisson_writes(rate, seconds, seed):
    generator = np.random.default_rng(seed)
    time = np.cumsum(generator.exponential(1e9 / rate, int(rate * seconds))).astype(np.int64)
    time = time[time < seconds * SECOND]
    page = generator.integers(0, 8 * STRIPE, time.size)  # all fit in the write cache, so nothing stalls or is destaged
    return time, page, np.ones(time.size, np.int32), np.ones(time.size, bool)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_the_adapter_is_an_m_d_1_queue(load):
    service = round(1000 * PAGE / SMALL.adapter_mb_per_s)
    parameters = replace(SMALL, host_slots=1 << 20, write_cache_mb=64, controller_us=0)
    interval = controller(parameters).run(*poisson_writes(load * 1e9 / service, 20, 1), 20 * SECOND)
    expected = load / (2 * (1 - load)) * service  # the Pollaczek-Khinchine formula
    assert interval.write_ns["adapter_queue"] / interval.counts["writes"] == pytest.approx(expected, rel=0.05)


def processor_wait(parameters, load, seconds=20):
    """Return the mean wait for a processor, in service times, if the whole machine's processors are busy for a share
    `load` of the time."""
    service = round(1000 * parameters.controller_us)
    rate = load * 1e9 / service * parameters.processors / parameters.slices
    one = replace(parameters, host_slots=1 << 20, write_cache_mb=64, adapter_mb_per_s=1e6)
    interval = controller(one).run(*poisson_writes(rate, seconds, 3), seconds * SECOND)
    return interval.write_ns["controller"] / interval.counts["writes"] / service - 1


@pytest.mark.parametrize("load", [0.5, 0.8])
def test_a_processor_of_its_own_is_an_m_d_1_queue(load):
    one = replace(SMALL, processors=1, controller_us=200)
    assert processor_wait(one, load) == pytest.approx(load / (2 * (1 - load)), rel=0.05)


def test_processors_with_one_queue_wait_less_than_those_with_their_own():
    # M/D/4: Cosmetatos' approximation from M/M/4, whose wait at 0.8 is Erlang's C / (4 (1 - 0.8)) = 0.746 services
    four = replace(SMALL, controller_us=200)
    erlang = 0.5964 / (4 * (1 - 0.8))
    expected = erlang / 2 * (1 + (1 - 0.8) * 3 * (np.sqrt(4 + 5 * 4) - 2) / (16 * 0.8 * 4))
    assert processor_wait(four, 0.8) == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("queue", ["shared", "own"])
def test_a_slice_waits_for_processors_as_long_as_its_machine(queue):
    whole = replace(SMALL, arrays=4, controller_us=500, processor_queue=queue)
    quarter = replace(whole, arrays=1, slices=4)
    for load in (0.5, 0.9):
        assert processor_wait(quarter, load) == pytest.approx(processor_wait(whole, load), rel=0.1, abs=0.01)


def test_copies_of_requests_come_a_tenth_of_a_second_apart():
    one = replace(SMALL, processors=1, slices=3, controller_us=1000)
    busy = [(0, 0, 1, True), (100 * MS, 8, 1, True), (200 * MS, 16, 1, True), (SECOND, 24, 1, True)]
    interval = run(one, busy)
    # At 0.1 s, a copy of the first request precedes the second one; at 0.2 s, a copy of the second and one of the first
    # precede the third.
    assert interval.write_ns["controller"] == (0 + 1 + 2 + 0 + 4) * MS, "four waits, and four services of 1 ms each"


def test_striping_keeps_pages_apart_and_within_their_unit():
    striped = replace(SMALL, host_stripe_kb=16)
    writes = [(i * MS, page, 4, True) for i, page in enumerate(range(0, PAGES // 64, 4))]
    one = controller(striped)
    one.run(*map(np.array, zip(*writes, strict=True)), SECOND * 60)
    assert one._kernel.dirty_pages == PAGES // 64, "no two pages of the host are one page of the controller"
    with pytest.raises(ParameterError, match="a unit has 65544 pages; expected a multiple of 32"):
        controller(striped, pages=PAGES + 8).run(np.array([0]), np.array([0]), np.array([1]), np.array([False]), SECOND)


def test_one_slot_is_an_m_d_1_queue_of_the_host():
    service = round(1000 * PAGE / SMALL.adapter_mb_per_s) + round(1000 * SMALL.controller_us)
    parameters = replace(SMALL, host_slots=1, write_cache_mb=64)
    interval = controller(parameters).run(*poisson_writes(0.8e9 / service, 60, 2), 60 * SECOND)
    expected = 0.8 / (2 * 0.2) * service
    assert interval.write_ns["host_queue"] / interval.counts["writes"] == pytest.approx(expected, rel=0.05)
    assert interval.write_ns["adapter_queue"] == 0


def test_a_full_write_cache_makes_writes_wait_for_drives():
    parameters = replace(SMALL, write_cache_mb=2, destage_low=0.5)
    generator = np.random.default_rng(3)
    time = np.sort(generator.integers(0, SECOND, 2000))
    page = generator.integers(0, PAGES - 1, time.size)
    one = controller(parameters)
    interval = one.run(time, page, np.ones(time.size, np.int32), np.ones(time.size, bool), 600 * SECOND)
    assert interval.counts["writes"] == time.size
    assert interval.write_ns["write_cache"] > 0
    assert interval.state["backlog"] == 0
    assert interval.state["dirty_pages"] <= parameters.destage_low * parameters.write_cache_pages


def test_running_in_several_intervals_changes_nothing():
    workload = Workload(400 << 20, bsus=4, seed=5)
    bases = [0, 46096, 92192, 102440]

    def responses(steps):
        kernel = workload.start()
        one = controller(SMALL, pages=102440, policy="sarc", prefetch=PREFETCH)
        parts = [one.run_workload(kernel, bases, step) for step in steps]
        return sum(sum(part.response_ns) for part in parts), sum(part.counts["destage_writes"] for part in parts)

    end = 20 * SECOND
    assert responses([end]) == responses([*range(0, end, 700 * MS), end])


def test_detection_is_judged_by_what_the_generator_knows():
    """Without drives and queues the cache sees the requests in order, so the reference can be given them in that
    order."""
    workload, pages = Workload(400 << 20, bsus=4, seed=5), 102440
    bases = [0, 46096, 92192, pages]
    settings = {"degree": 8, "trigger": 4, "threshold": 3}
    slow = find_policy("lru_top").reference(SMALL.cache_pages, track_pages=8, **settings)
    counts = {True: [0, 0], False: [0, 0]}
    drawn = requests(workload.start(), 10_000, until=30 * SECOND)
    for asu, stream, block, blocks, write in zip(
        *(drawn[name].tolist() for name in ("asu", "stream", "block", "blocks", "write")), strict=True
    ):
        kind = list(STREAMS.values())[stream][3] == SEQUENTIAL
        masks = {}
        for page in range(bases[asu] + block, bases[asu] + block + blocks):
            masks[page // 8] = masks.get(page // 8, 0) | 1 << page % 8
        for track, mask in masks.items():
            slow.request(track, mask, bool(write), bases[asu + 1] // 8)
            mark = slow.marks[track] if slow.cached(track) else None
            counts[kind][mark is not None and mark.counter == 3] += 1
    cache = track_cache("lru_top", SMALL.cache_pages, pages // 8, track_pages=8, prefetch=settings)
    one = StorageController(replace(SMALL, host_slots=1 << 20), None, cache, pages)
    state = one.run_workload(workload.start(), bases, 30 * SECOND).state
    assert (state["random_tracks"], state["false_sequential"]) == (sum(counts[False]), counts[False][True])
    assert (state["stream_tracks"], state["missed_sequential"]) == (sum(counts[True]), counts[True][False])
    assert min(map(min, counts.values())) > 0


def test_replayed_requests_count_as_neither_random_nor_sequential():
    state = run(SMALL, [(0, 8, 4, False)]).state
    assert (state["random_tracks"], state["stream_tracks"]) == (0, 0)


def test_a_divided_controller_keeps_what_concerns_one_array():
    half = SHARK.scaled(2)
    assert (half.arrays, half.cache_mb, half.write_cache_mb) == (8, 4096, 1024)
    assert (half.array_members, half.destages) == (SHARK.array_members, SHARK.destages)
    for divisor in (0, 3, 32):
        with pytest.raises(ParameterError, match="16 arrays cannot be divided"):
            SHARK.scaled(divisor)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"host_slots": None}, "host_slots has no value; fit it first"),
        ({"host_slots": 0}, "host_slots is 0; Input should be greater than or equal to 1"),
        ({"array_members": 2}, "array_members is 2; Input should be greater than or equal to 3"),
        ({"strip_kb": 20}, "strip_kb is 20; Input should be 32, 64, 96, 128, 160, 192, 224 or 256"),
        ({"strip_kb": 512}, "strip_kb is 512; Input should be 32"),
        ({"destage_low": 0.9, "destage_high": 0.8}, "destage_high is 0.8; expected more than destage_low, 0.9"),
        ({"destage_low": 1}, "destage_low is 1; Input should be less than 1"),
        ({"write_cache_mb": 0.1, "destage_low": 0.5}, "write_cache_mb is 0.1; expected at least 0.5 MB"),
        ({"cache_mb": 0.1}, "cache_mb is 0.1; Input should be greater than or equal to 0.25"),
        ({"drive_scheduler": "elevator"}, "drive_scheduler is 'elevator'; Input should be 'fcfs',"),
        ({"processor_queue": "own", "processors": 3}, "processor_queue is 'own'; .* equally many of the 1 arrays"),
        (
            {"processor_queue": "own", "processors": 4, "arrays": 6, "slices": 2},
            "processor_queue is 'own'; .* equally many of the 6 arrays in each of 2 slices",
        ),
        ({"adapter_mb_per_s": 0}, "adapter_mb_per_s is 0; Input should be greater than or equal to"),
    ],
)
def test_impossible_parameters_are_named(changes, message):
    with pytest.raises(ParameterError, match=message):
        controller(replace(SMALL, **changes))


def test_a_volume_that_fits_neither_drives_nor_cache_is_refused():
    cache = track_cache("lru_top", SMALL.cache_pages, PAGES // 8, track_pages=8)
    with pytest.raises(ParameterError, match=f"the cache covers {PAGES // 8} tracks; expected 1 to {PAGES} pages"):
        StorageController(SMALL, DRIVE, cache, PAGES + 8)
    many = 8 * DRIVE.blocks
    cache = track_cache("lru_top", SMALL.cache_pages, many // 8, track_pages=8)
    with pytest.raises(ParameterError, match="sectors of each drive"):
        StorageController(SMALL, DRIVE, cache, many)


@pytest.mark.parametrize(
    ("columns", "until"),
    [
        (([1, 0], [0, 0], [1, 1], [0, 0]), SECOND),
        (([0], [0], [1], [0]), 0),
        (([SECOND], [0], [1], [0]), SECOND),
        (([0], [-1], [1], [0]), SECOND),
        (([0], [0], [MAX_PAGES + 1], [0]), SECOND),
        (([0], [0], [0], [0]), SECOND),
        (([0], [PAGES - 1], [2], [0]), SECOND),
        (([0], [0, 1], [1], [0]), SECOND),
    ],
)
def test_impossible_requests_are_refused(columns, until):
    with pytest.raises(ParameterError):
        controller().run(*map(np.array, columns), until)


def test_a_workload_has_to_fit_the_volume():
    workload = Workload(400 << 20, bsus=1)
    one = controller(SMALL, pages=102440)
    for bases in ([0, 8, 16, 24], [0, 46095, 92192, 102440], [0, 46096, 92192], [8, 46104, 92200, 102448]):
        with pytest.raises(ParameterError, match="bases"):
            one.run_workload(workload.start(), bases, SECOND)


def test_without_drives_every_request_takes_the_controllers_time():
    cache = track_cache("sarc", SMALL.cache_pages, PAGES // 8, track_pages=8, prefetch=PREFETCH)
    one = StorageController(SMALL, None, cache, PAGES)
    reads = [(i * MS, 8 * i, 8, i % 3 == 0) for i in range(100)]
    interval = one.run(*map(np.array, zip(*reads, strict=True)), SECOND)
    each = round(1000 * SMALL.controller_us) + 8 * round(1000 * PAGE / SMALL.adapter_mb_per_s)
    assert sum(interval.response_ns) == 100 * each
    assert interval.counts["read_hits"] < interval.counts["reads"]
    assert sum(interval.staged.values()) > 0
    assert interval.utilisation == 0


def test_the_last_stripe_of_a_volume_may_be_partial():
    pages = STRIPE + 8
    interval = run(DESTAGE_ALL, [(0, pages - 1, 1, True)], pages=pages)
    assert interval.counts["destages"] == 1
    cache = track_cache("lru_top", SMALL.cache_pages, 1 + DRIVE.blocks, track_pages=8)
    rows = DRIVE.blocks // (8 * 8)
    StorageController(SMALL, DRIVE, cache, rows * STRIPE)
    with pytest.raises(ParameterError, match="sectors of each drive"):
        StorageController(SMALL, DRIVE, cache, rows * STRIPE + 1)


@pytest.mark.parametrize(
    "columns", [([0], [2**63 - 1], [1], [0]), ([10, -(2**63) + 5, -(2**62), 0, 20], [0] * 5, [1] * 5, [0] * 5)]
)
def test_numbers_that_would_wrap_are_refused(columns):
    with pytest.raises(ParameterError):
        controller().run(*map(np.array, columns), SECOND)


def test_an_array_whose_requests_were_lost_to_ctrl_c_is_not_used_again():
    cache, n = track_cache("lru_top", SMALL.cache_pages, 1, track_pages=8), 5_000_000
    kernel = StorageController(SMALL, None, cache, 8)._kernel
    columns = np.arange(n) * MS, np.zeros(n, np.int64), np.ones(n, np.int32), np.zeros(n, np.uint8)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            kernel.run(*columns, 8, n * MS)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    with pytest.raises(RuntimeError, match="the previous run did not end"):
        kernel.run(*(column[:1] for column in columns), 8, n * MS)


def test_requests_of_the_past_are_refused():
    one = controller(SMALL, pages=102440)
    one.run(*map(np.array, ([0], [0], [1], [False])), 10 * SECOND)
    with pytest.raises(ParameterError, match="it is already"):
        one.run_workload(Workload(400 << 20, bsus=1).start(), [0, 46096, 92192, 102440], 20 * SECOND)


def test_a_stream_over_the_hosts_strips_is_detected_once_on_each_array():
    """Each array's part is contiguous, so the controller must see four streams; each must miss once and then be read
    ahead."""
    striped = replace(SMALL, host_stripe_kb=64, host_stripe_arrays=4, cache_mb=64)
    prefetch = {"degree": 8, "trigger": 4, "threshold": 3}
    made = controller(striped, prefetch=prefetch)
    number = 400  # number of requests, each for a strip of two tracks
    rows = [(i * 50 * MS, 16 * i, 16, False) for i in range(number)]
    made.run(*map(np.array, zip(*rows, strict=True)), number * 50 * MS + SECOND)
    whole = run(replace(striped, host_stripe_kb=0), rows, prefetch=prefetch)
    assert (made.cache.sequential_misses, whole.state["sequential_misses"]) == (4, 1)
    demanded, together, ahead = made.cache.tracks_staged
    assert demanded == 4 * prefetch["threshold"], "only the head of each stream is read on demand"
    assert together == 4 * prefetch["degree"]
    assert 2 * number <= demanded + together + ahead <= 2 * number + 4 * 2 * prefetch["degree"]
