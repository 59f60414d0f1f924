"""Test the file client on calls that can be followed by hand: caches, copies, read-ahead, requests and prefetching."""

from dataclasses import replace

import numpy as np
import pytest

from misspenalty import InputError, ParameterError
from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty_studies.epcm.file_client.client import CALL, CALLS, HIT, MISS, PARTIAL, Client
from misspenalty_studies.epcm.file_client.workload import make_workload
from studies.epcm.tests.test_file_client_reference import MACHINE

LINUX = replace(MACHINE, memory_mb=64, cluster_pages=16, most_ahead_pages=31, request_sectors=254, writeback_age_s=30)
LINUX = replace(LINUX, writeback_interval_s=5, engine_us=0, device_access_us=10_000)
PAGE = 4096


def call(kind, path=0, offset=0, length=0, asked=None, gap=0, seen=False):
    asked = length if asked is None else asked
    return gap, offset, length, asked, path, path if seen else -1, CALLS.index(kind), 0


def opened(path, size, **more):
    return call("open", path, length=size, seen=True, **more)


def client(runs, sizes, machine=LINUX, paths=None):
    workload = make_workload(
        paths or [f"d/{number}" for number in range(len(sizes))],
        sizes,
        [np.array(run, CALL) for run in runs],
        sectors=2_000_000,
        block_kb=machine.block_kb,
        generator=np.random.default_rng(2),
    )
    return Client(workload, machine)


def play(run, sizes, machine=LINUX, **options):
    return client([run], sizes, machine).run(0, cold=True, **options)


def test_a_cold_read_walks_the_path_then_reads_and_a_second_read_is_a_hit():
    run = play([opened(0, PAGE), call("read", length=PAGE), call("read", length=PAGE)], [PAGE])
    assert run.outcome.tolist() == [MISS, HIT]
    # Each of /, usr, src, work and d has a block of names and, except /, a block of inodes (the file's inode is in d's
    # block). One page follows.
    assert run.counts["reads"] == 5 + 4 + 1
    assert run.components["wait_open"] == 9 * (20_000 + 10_000_000 + 2 * 128_000)
    transfer = 8 * 512 * 1000 // 4
    assert run.components["wait_read"] == 20_000 + 10_000_000 + transfer
    assert run.latency.tolist() == [20_000 + 10_000_000 + transfer + 3000 + 40_000, 3000 + 40_000]


@pytest.mark.parametrize("named", [(), (0, 1)])
def test_names_that_stay_in_memory_survive_data_larger_than_memory_in_cold_and_hot_runs(named):
    big = 100 * 2**20  # larger than the memory of 64 MB
    machine = client([[opened(0, big), call("read", length=big), opened(1, PAGE)]] * 2, [big, PAGE])
    waits = [machine.run(number, cold=number == 0, named=named).components["wait_open"] for number in range(2)]
    assert (waits == [0, 0]) == bool(named), "without `named`, the data evict the names, which are read again"


def test_every_open_costs_a_call_of_the_engine_whether_or_not_it_prefetches():
    machine = client(
        [[opened(0, PAGE), opened(1, PAGE), opened(0, PAGE)]] * 2, [PAGE, PAGE], replace(LINUX, engine_us=7)
    )
    assert machine.run(0, cold=True).components["engine"] == 0
    assert machine.run(1, cold=True, predictor=successor_of(machine, 1)).components["engine"] == 3 * 7000


def test_written_data_is_copied_from_buffers_to_pages_when_it_is_read():
    calls = [call("create", seen=True), call("write", length=10_000), opened(0, 10_000)]
    calls += [call("read", length=10_000), call("read", length=10_000)]
    run = play(calls, [-1])
    assert run.outcome.tolist() == [HIT, HIT]
    assert run.copies.tolist() == [10, 0], "10,000 bytes are ten blocks of 1 KB"
    assert run.components["copy_read"] == 10 * 13_000
    assert run.components["wait_read"] == 0
    kernel_24 = play(calls, [-1], replace(LINUX, separate_buffers=False))
    assert kernel_24.copies.tolist() == [0, 0]
    assert play(calls, [-1], replace(LINUX, block_kb=4)).copies.tolist() == [3, 0]


def test_a_page_that_is_cached_keeps_up_with_writes():
    calls = [opened(0, PAGE), call("read", length=PAGE), call("write", length=PAGE), call("read", length=PAGE)]
    assert play(calls, [PAGE]).copies.tolist() == [0, 0]


def test_a_hot_run_reads_nothing_from_disk():
    calls = [opened(0, 50_000), *(call("read", offset=at, length=PAGE) for at in range(0, 49_152, PAGE))]
    machine = client([calls] * 2, [50_000])
    assert machine.run(0, cold=True).counts["reads"] > 0
    hot = machine.run(1, cold=False)
    assert (hot.counts["reads"], hot.io_wait_s, set(hot.outcome)) == (0, 0, {HIT})


@pytest.mark.parametrize("scale", [0.5, 1.5, 1e-7])
def test_recorded_compute_is_scaled_to_whole_ns(scale):
    gaps = [3, 5, 1_000_001, 40_000_000]
    calls = [
        opened(0, 80 * PAGE),
        *(call("read", offset=at * PAGE, length=PAGE, gap=gap) for at, gap in enumerate(gaps)),
    ]
    whole = [round(gap * scale) for gap in gaps]
    scaled = [calls[0], *((gap, *read[1:]) for gap, read in zip(whole, calls[1:], strict=True))]
    run, expected = client([calls], [80 * PAGE]).run(0, cold=True, scale=scale), play(scaled, [80 * PAGE])
    assert run.components == expected.components
    assert run.latency.tolist() == expected.latency.tolist()


def test_read_ahead_doubles_its_window():
    """Reads of 4 KB one by one must fetch 1 + 3 pages with the first miss, then 7, 13, 25 and the last 31, each when
    the reader is in the last window."""
    calls = [opened(0, 80 * PAGE), *(call("read", offset=at * PAGE, length=PAGE, gap=30_000_000) for at in range(40))]
    run = play(calls, [80 * PAGE])
    assert run.outcome.tolist() == [MISS] + [HIT] * 39
    # The reads fetch pages 0 and 1-3 (most 3), 4-10 (6 + 1), 11-23 (12 + 1), 24-48 (24 + 1) and 49-79 (31 + 1, to the
    # end).
    assert run.counts["reads"] - 9 == 5
    assert run.counts["read_sectors"] == 9 * 2 + 80 * 8


def test_a_small_read_at_the_head_reads_nothing_ahead():
    run = play([opened(0, 80 * PAGE), call("read", length=100)], [80 * PAGE])
    assert run.counts["read_sectors"] == 9 * 2 + 8


def test_a_fault_brings_in_its_aligned_cluster():
    run = play(
        [call("fault", offset=20 * PAGE, length=PAGE), call("fault", offset=31 * PAGE, length=2 * PAGE)], [100 * PAGE]
    )
    # One request reads pages 16-31. Page 31 is then present, and the fault on page 32 reads 32-47.
    assert (run.counts["reads"], run.counts["read_sectors"]) == (2, 2 * 16 * 8)
    assert run.components["wait_fault"] == 2 * (20_000 + 10_000_000 + 16 * 8 * 128_000)


def test_requests_are_merged_up_to_the_maximum_number_of_sectors():
    run = play([call("fault", offset=0, length=PAGE)], [64 * PAGE], replace(LINUX, cluster_pages=64))
    assert (run.counts["reads"], run.counts["read_sectors"]) == (3, 512), "the requests read 31, 31 and 2 pages"


def test_old_dirty_blocks_are_written_once():
    calls = [call("create"), call("write", length=3 * PAGE), call("lookup", gap=36_000_000_000)]
    run = play(calls, [-1])
    assert (run.counts["writes"], run.counts["write_sectors"]) == (1, 24)


def test_a_dirty_block_is_written_once_if_a_write_back_becomes_due_within_the_last_call():
    calls = [call("create", 0), call("write", 0, length=PAGE), call("create", 1), call("write", 1, length=PAGE)]
    calls += [opened(2, 100 * PAGE), call("read", 2, length=100 * PAGE)]
    calls += [call("read", 2, length=100 * PAGE, gap=32 * 10**9)]  # copying takes 2 s
    slow = replace(LINUX, copy_us_per_kb=5000)
    assert play(calls, [-1, -1, 100 * PAGE], slow).counts["write_sectors"] == 2 * 8


def test_what_is_unlinked_before_it_is_old_is_never_written():
    run = play(
        [call("create"), call("write", length=3 * PAGE), call("unlink"), call("lookup", gap=36_000_000_000)], [-1]
    )
    assert run.counts["writes"] == 0


def test_a_renamed_file_keeps_its_data_and_the_old_target_loses_it():
    calls = [call("create", 1), call("write", 1, length=PAGE), opened(0, 3 * PAGE), call("read", 0, length=3 * PAGE)]
    calls += [call("rename", 1, asked=0), opened(0, PAGE), call("read", 0, length=PAGE)]
    run = play(calls, [3 * PAGE, -1])
    assert run.outcome.tolist() == [MISS, HIT]
    assert run.copies.tolist() == [0, 4], "the read copies what was written under the old name"


def test_a_memory_that_is_too_small_evicts_what_was_not_used_lately():
    calls = [opened(0, 100 * PAGE), *(call("read", offset=at * PAGE, length=PAGE) for at in [*range(100), 0])]
    run = play(calls, [100 * PAGE], replace(LINUX, memory_mb=0.3))
    assert run.outcome[-1] == MISS
    assert run.counts["evictions"] > 30


def successor_of(machine, runs):
    definition = find_predictor("last_successor")
    kernel = definition.kernel(machine.workload.files, **definition.check({}))
    for number in range(runs):
        events = machine.workload.events(number)
        kernel.feed(events, np.empty_like(events), np.empty_like(events))
    return kernel


@pytest.mark.parametrize("kind", ["read", "write"])
def test_a_call_beyond_the_end_that_moves_nothing_leaves_the_file_as_it_is(kind):
    calls = [opened(0, PAGE), call(kind, 0, offset=9 * PAGE, asked=PAGE), call(kind, 0, offset=1, asked=PAGE)]
    machine = client([[*calls, opened(1, PAGE), opened(0, PAGE)], [opened(0, 5 * PAGE)]], [PAGE, PAGE])
    assert machine.workload.pages.tolist() == [5, 1]
    counts = machine.run(0, cold=True, predictor=successor_of(machine, 1)).counts
    assert (counts["pages_ahead"], counts["writes"]) == (2, 0)


def test_a_hot_run_does_not_count_prefetches_of_the_run_before():
    runs = [[opened(0, PAGE), opened(1, PAGE), opened(0, PAGE)], [opened(1, PAGE), call("read", 1, length=PAGE)]]
    machine = client(runs, [PAGE, PAGE])
    assert machine.run(0, cold=True, predictor=successor_of(machine, 1)).counts["pages_ahead"] == 2
    hot = machine.run(1, cold=False).counts
    assert (hot["leads"], hot["lead_time"], hot["foretold"], hot["pages_used"]) == (0, 0, 0, 0)


def test_a_correct_prediction_with_enough_lead_removes_the_wait():
    work = 400_000_000
    calls = [opened(0, PAGE), call("read", 0, length=PAGE), opened(1, 20 * PAGE, gap=work)]
    calls += [call("read", 1, offset=at * PAGE, length=PAGE) for at in range(20)]
    machine = client([calls] * 2, [PAGE, 20 * PAGE])
    cold = machine.run(0, cold=True)
    prefetched = machine.run(1, cold=True, predictor=successor_of(machine, 1))
    assert prefetched.outcome.tolist() == [MISS] + [HIT] * 20
    assert (prefetched.counts["files_ahead"], prefetched.counts["leads"]) == (1, 1)
    assert (prefetched.counts["pages_ahead"], prefetched.counts["pages_used"]) == (20, 20)
    assert prefetched.elapsed_s < cold.elapsed_s
    assert prefetched.counts["lead_time"] >= work
    assert (prefetched.counts["foretold"], prefetched.counts["foretold_time"]) == (1, prefetched.counts["lead_time"])
    assert (prefetched.counts["right"], prefetched.counts["wrong"]) == (1, 0)
    assert prefetched.counts["right_time"] == work + prefetched.latency[0], "the time is from one open to the next"


def test_a_prefetched_file_that_is_not_opened_again_in_the_run_is_a_wrong_prefetch():
    def run(*paths):
        return [made for path in paths for made in (opened(path, PAGE), call("read", path, length=PAGE))]

    machine = client([run(0, 1), run(0, 2), run(0, 2, 1)], [PAGE] * 3)
    predictor = successor_of(machine, 1)
    found = [machine.run(number, cold=True, predictor=predictor).counts for number in range(3)]
    assert [counts["files_ahead"] for counts in found] == [1, 1, 1]
    assert [counts["wrong"] for counts in found] == [0, 1, 0], "file 2 was opened instead of file 1"
    assert [counts["right"] for counts in found] == [1, 0, 1]


def test_a_prediction_without_lead_makes_a_partial_read():
    calls = [opened(0, PAGE), opened(1, PAGE), call("read", 1, length=PAGE)]
    machine = client([calls] * 2, [PAGE, PAGE])
    prefetched = machine.run(1, cold=True, predictor=successor_of(machine, 1))
    assert prefetched.outcome.tolist() == [PARTIAL]


def test_the_engine_copies_buffers_outside_the_read_call():
    calls = [call("create", 1), call("write", 1, length=PAGE), opened(0, PAGE), opened(1, PAGE)]
    calls += [call("read", 1, length=PAGE)]
    machine = client([calls] * 2, [PAGE, -1])
    assert machine.run(0, cold=True).copies.tolist() == [4]
    prefetched = machine.run(1, cold=True, predictor=successor_of(machine, 1))
    assert prefetched.copies.tolist() == [0]
    assert prefetched.counts["copied_ahead"] == 4
    assert prefetched.components["copy_ahead"] == 4 * 13_000


def test_a_renamed_file_is_prefetched_under_its_new_name():
    calls = [call("create", 1), call("write", 1, length=PAGE), call("rename", 1, asked=2)]
    calls += [opened(0, PAGE), opened(2, PAGE, gap=10**8), call("read", 2, length=PAGE)]
    machine = client([calls] * 2, [PAGE, -1, -1])
    assert machine.run(1, cold=True, predictor=successor_of(machine, 1)).counts["copied_ahead"] == 4


def test_demand_reads_can_overtake_prefetching():
    """While a file of 2000 pages is being prefetched, a page of another file is read: it must wait for the whole
    prefetch or, with priority for demand reads, at most for the request at the disk and its own."""
    calls = [opened(0, PAGE), opened(1, 2000 * PAGE, gap=10**9), call("read", 2, length=PAGE)]
    waits = {}
    for first in (False, True):
        machine = client([calls] * 2, [PAGE, 2000 * PAGE, PAGE], replace(LINUX, demand_first=first))
        kernel = successor_of(machine, 1)
        waits[first] = machine.run(1, cold=True, predictor=kernel).components["wait_read"]
    host, access, sector = 20_000, 10_000_000, 128_000
    assert waits[True] <= 2 * (host + access) + (31 * 8 + 8) * sector
    assert waits[False] > 1_000_000_000


def test_impossible_workloads_are_refused_with_a_message():
    good = [call("read", length=PAGE)]
    for wrong, message in (
        ([call("read", path=3)], "unknown path"),
        ([(0, 0, 0, 0, 0, 9, CALLS.index("open"), 0)], "predictor does not know"),
        ([(0, 0, 0, 0, 0, -1, 77, 0)], "unknown kind"),
        ([(0, -5, 0, 0, 0, -1, 5, 0)], "negative"),
        ([call("write", offset=2**50, length=1)], "beyond 1 TB"),
        ([call("rename", asked=4)], "renames to an unknown path"),
        ([(-7, 0, 0, 0, 0, -1, 5, 0)], "invalid compute time"),
    ):
        with pytest.raises(InputError, match=message):
            client([good, wrong], [PAGE])
    with pytest.raises(InputError, match="expected at least one path and run, and one size per path"):
        client([], [PAGE])
    with pytest.raises(ParameterError, match="larger drive"):
        client([good], [2**40 // 512])
    unfitted = replace(LINUX, copy_us_per_kb=None), replace(LINUX, buffer_copy_us_per_kb=None)
    endless = replace(LINUX, writeback_interval_s=1e-9)
    for machine in (*unfitted, replace(LINUX, memory_mb=0.01), replace(LINUX, block_kb=3), endless):
        with pytest.raises(ParameterError):
            client([good], [PAGE], machine)
    with pytest.raises(ParameterError, match="pass its description"):
        client([good], [PAGE], replace(LINUX, drive="hp97560"))


def test_a_call_larger_than_memory_still_ends():
    machine = replace(LINUX, memory_mb=0.25, cluster_pages=512)
    run = play([call("fault", offset=0, length=600 * PAGE), call("read", length=600 * PAGE)], [600 * PAGE], machine)
    assert run.latency.shape == (1,)
    writes = [call("create", 0), *(call("write", offset=at * PAGE, length=PAGE) for at in range(300))]
    assert play(writes, [-1], machine).counts["writes"] > 0


def test_a_hole_is_not_read_from_disk_but_an_evicted_page_is():
    calls = [call("create"), call("write", offset=2 * PAGE, length=PAGE), call("read", length=PAGE)]
    run = play(calls, [-1])
    assert (run.outcome.tolist(), run.components["wait_read"]) == ([HIT], 0)
    small = replace(LINUX, memory_mb=0.25, writeback_age_s=0, writeback_interval_s=0.1)
    calls = [call("create"), call("write", length=PAGE), call("lookup", gap=10**9), opened(1, 90 * PAGE)]
    calls += [call("read", 1, length=90 * PAGE), call("read", length=PAGE)]
    assert play(calls, [-1, 90 * PAGE], small).outcome.tolist() == [MISS, MISS]


def test_a_new_files_inode_is_not_read():
    run = play([call("create"), call("lookup")], [-1])
    assert run.counts["reads"] == 5 + 4
