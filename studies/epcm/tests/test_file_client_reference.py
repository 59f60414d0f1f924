"""Test that the file client's kernel equals its reference to the nanosecond, for any calls and caches, with and without
predictors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import disks
from misspenalty.prefetch.predictors.registry import find_predictor
from misspenalty_studies.epcm.file_client.client import CALL, CALLS, COMPONENTS, Client, ClientMachine
from misspenalty_studies.epcm.file_client.workload import make_workload
from studies.epcm.tests.reference.file_client import FileClientReference

MACHINE = ClientMachine(
    memory_mb=1,
    block_kb=1,
    separate_buffers=True,
    cluster_pages=4,
    least_ahead_pages=3,
    most_ahead_pages=8,
    read_call_us=3,
    copy_us_per_kb=10,
    buffer_copy_us_per_kb=13,
    engine_us=7,
    writeback_age_s=0.03,
    writeback_interval_s=0.01,
    request_sectors=40,
    demand_first=False,
    host_us=20,
    prefetch_kb=None,
    drive="none",
    device_depth=1,
    device_access_us=900,
    device_mb_per_s=4,
)
PATHS = ["a/x", "a/y", "b/z", "/bin/cc", "/tmp/t"]
PREDICTORS = [None, ("last_successor", {}), ("pcm", {}), ("epcm", {"partition": 8, "order": 6, "threshold": 0.6})]


@st.composite
def machines(draw):
    return replace(
        MACHINE,
        memory_mb=draw(st.sampled_from([0.25, 0.35, 1])),
        block_kb=draw(st.sampled_from([1, 4])),
        separate_buffers=draw(st.booleans()),
        cluster_pages=draw(st.sampled_from([1, 4, 16])),
        request_sectors=draw(st.sampled_from([8, 24, 254])),
        demand_first=draw(st.booleans()),
        device_depth=draw(st.sampled_from([1, 1, 3])),
        prefetch_kb=draw(st.sampled_from([None, 6])),
        most_ahead_pages=draw(st.sampled_from([3, 31])),
    )


@st.composite
def calls(draw):
    kind = draw(st.sampled_from(CALLS))
    path = draw(st.integers(0, len(PATHS) - 1))
    offset = draw(st.integers(0, 14)) * draw(st.sampled_from([1024, 4096, 700, 9000]))
    length = draw(st.integers(0, 8)) * draw(st.sampled_from([512, 4096, 30000]))
    asked = draw(st.integers(0, len(PATHS) - 1)) if kind == "rename" else length + draw(st.sampled_from([0, 4096]))
    seen = kind in ("exec", "open", "create") and draw(st.booleans())
    gap = draw(st.sampled_from([0, 0, 1_000, 100_000, 3_000_000, 40_000_000]))
    return gap, offset, length, asked, path, path if seen else -1, CALLS.index(kind), 0


def made(runs, machine, seed=1):
    return make_workload(
        PATHS,
        [30_000, 5000, 200_000, 90_000, -1],
        [np.array(run, CALL) for run in runs],
        sectors=2_000_000,
        block_kb=machine.block_kb,
        generator=np.random.default_rng(seed),
    )


def both(machine, runs, predictor, cold, drive=None, resident=(), named=()):
    """Yield the outcomes of kernel and reference on the same runs, one after the other."""
    workload = made(runs, machine)
    kind = disks.load(drive) if drive else None
    client = Client(workload, machine, kind)
    reference = FileClientReference(workload, machine.kernel())
    fast = slow = None
    if predictor:
        definition = find_predictor(predictor[0])
        values = definition.check(predictor[1])
        fast, slow = definition.kernel(workload.files, **values), definition.reference(**values)
    for number in range(len(runs)):
        run = client.run(number, cold=cold, predictor=fast, start=1000, resident=resident, named=named)
        if cold:
            reference.begin_cold()
        reference.keep(named)
        if cold:
            reference.warm(resident)
        reference.drive = kind and kind.drive()
        reads = reference.run(workload.run(number), workload.sizes[number], workload.known[number], 1000, slow)
        yield run, reference, reads


def compare(run, reference, reads):
    assert run.components == reference.spent
    assert sum(run.components.values()) == reference.ended - reference.began, "the components are the elapsed time"
    assert list(zip(run.latency.tolist(), run.outcome.tolist(), run.copies.tolist(), strict=True)) == reads
    expected = reference.counts | {
        "copied": reference.copied["copy_read"],
        "copied_ahead": reference.copied["copy_ahead"],
        "copied_in_faults": reference.copied["copy_fault"],
        "files_ahead": reference.files_ahead,
        "pages_ahead": reference.pages_ahead,
        "pages_used": reference.pages_used,
        "leads": len(reference.leads),
        "lead_time": sum(reference.leads),
        "foretold": len(reference.foretold),
        "foretold_time": sum(reference.foretold),
        "wrong": sum(inode.awaited for inode in reference.inodes),
        "right": len(reference.right),
        "right_time": sum(reference.right),
    }
    assert run.counts == expected
    assert set(run.components) == set(COMPONENTS)


@settings(max_examples=250, deadline=None)
@given(
    machines(),
    st.lists(st.lists(calls(), max_size=40), min_size=1, max_size=3),
    st.sampled_from(PREDICTORS),
    st.booleans(),
    st.sampled_from([(), (2, 0)]),
    st.sampled_from([(), (1, 2), range(5)]),
)
def test_kernel_equals_reference_on_any_calls(machine, runs, predictor, cold, resident, named):
    for outcome in both(machine, runs, predictor, cold, resident=resident, named=named):
        compare(*outcome)


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_kernel_equals_reference_with_a_drive_and_repeated_runs(predictor):
    rng = np.random.default_rng(8)
    run = []
    for _ in range(60):
        path = int(rng.integers(0, 4))
        run.append((int(rng.integers(0, 2_000_000)), 0, [30_000, 5000, 200_000, 90_000][path], 0, path, path, 3, 0))
        for at in range(0, int(rng.integers(1, 12))):
            run.append((50_000, 4096 * at, 4096, 4096, path, -1, 5 if path < 3 else 7, 0))
        run.append((0, 0, 20_000, 20_000, 4, -1, 6, 0))
    machine = replace(MACHINE, drive="hp97560", host_us=50)
    for outcome in both(machine, [run] * 4, predictor, True, "hp97560"):
        compare(*outcome)
