"""If a random trace is changed, the results of the public functions must stay the same, or change in a known way."""

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import Trace, hit_ratio_curve, open_trace, penalty, simulate, stack_distances
from misspenalty.latency.penalty import COMPONENTS
from misspenalty.policies import known_policies
from misspenalty.traces.readers.oracle_general import RECORD

MS = 1_000_000
ONLINE = sorted(name for name, policy in known_policies().items() if not policy.offline)
BLIND = sorted(
    name for name, policy in known_policies().items() if not policy.spatial
)  # they do not depend on which blocks are neighbours
COUNTS = ["requests", "hits", "misses", "cold_misses", "evictions", "ghost_hits"]
REQUESTS = st.lists(st.tuples(st.integers(0, 12), st.booleans(), st.integers(0, 5)), min_size=1, max_size=60)


def made(requests, **settings):
    """Make a trace from requests ``(block, write, ms since the previous request)``."""
    blocks, write, gaps = zip(*requests, strict=True)
    return Trace.from_blocks(blocks, write=write, time=np.cumsum(gaps) * MS, **settings)


def counts(trace, policy, size, **options):
    return simulate(trace, [policy], size, **options)[COUNTS].iloc[0].to_dict()


# --- names of blocks


@pytest.mark.parametrize("policy", BLIND)
@settings(max_examples=15)
@given(requests=REQUESTS, size=st.integers(1, 6), order=st.permutations(range(13)), shift=st.sampled_from([0, 2**40]))
def test_names_of_blocks_do_not_matter(policy, requests, size, order, shift):
    renamed = [(order[block] * 977 + shift, write, gap) for block, write, gap in requests]
    assert counts(made(renamed), policy, size) == counts(made(requests), policy, size)
    assert stack_distances(made(renamed)).tolist() == stack_distances(made(requests)).tolist()


@pytest.mark.parametrize("policy", ["lru", "arc", "opt"])
@settings(max_examples=15)
@given(requests=REQUESTS, size=st.integers(1, 6), order=st.permutations(range(13)))
def test_names_of_blocks_do_not_matter_to_a_fixed_time(policy, requests, size, order):
    renamed = [(order[block], write, gap) for block, write, gap in requests]
    one, two = (penalty(made(each), policy, size, "3ms") for each in (requests, renamed))
    pd.testing.assert_frame_equal(one, two)


# --- joined traces


@pytest.mark.parametrize("policy", ONLINE)
@settings(max_examples=15)
@given(first=REQUESTS, second=REQUESTS, size=st.integers(1, 6))
def test_a_joined_trace_has_the_outcomes_of_its_parts(policy, first, second, size):
    """The first part must have the outcomes that it has alone; with it as the warm-up, only the second part must be
    counted."""
    joined, alone = made(first + second), made(first)
    hits, before = np.zeros(len(joined), bool), np.zeros(len(alone), bool)
    simulate(joined, policy, size, hits=hits)
    simulate(alone, policy, size, hits=before)
    assert hits[: len(alone)].tolist() == before.tolist()
    after = simulate(joined, policy, size, warm_up=len(alone))
    reads = ~joined.write[len(alone) :]
    assert (after.requests, after.hits) == (reads.sum(), (hits[len(alone) :] & reads).sum())


@settings(max_examples=30)
@given(requests=REQUESTS, size=st.integers(1, 6), policy=st.sampled_from(["lru", "fifo", "opt", "opt_bypass"]))
def test_disjoint_traces_one_after_the_other_add_up(requests, size, policy):
    """The hits of policies without ghosts add up (OPT may have more), if other blocks fill the cache in between."""
    other = [(block + 100, write, gap) for block, write, gap in requests]
    wash = [(1000 + number, False, 0) for number in range(size)]
    one, both = counts(made(requests), policy, size), counts(made(requests + wash + other), policy, size)
    if policy.startswith("opt"):
        assert both["hits"] >= 2 * one["hits"]
    else:
        assert both["hits"] == 2 * one["hits"]
    assert both["cold_misses"] == 2 * one["cold_misses"] + size


# --- sizes


@settings(max_examples=40)
@given(requests=REQUESTS, writes=st.sampled_from(["count", "ignore", "only"]))
def test_a_curve_is_its_points_and_its_distances(requests, writes):
    trace = made(requests)
    curve = hit_ratio_curve(trace, "lru", writes=writes)
    for row in curve.to_dict("records"):
        assert {name: row[name] for name in COUNTS} == counts(trace, "lru", row["cache_blocks"], writes=writes)
    assert curve["hits"].is_monotonic_increasing
    distances = stack_distances(trace, writes=writes)
    if writes != "ignore" and trace.write is not None:
        distances = distances[trace.write == (writes == "only")]
    elif writes == "only":
        distances = distances[:0]
    expected = [np.count_nonzero((distances > 0) & (distances <= size)) for size in curve["cache_blocks"]]
    assert curve["hits"].tolist() == expected
    assert (curve["hits"] + curve["misses"] == curve["requests"]).all()
    assert (curve["cold_misses"] <= curve["misses"]).all()


# --- formats: a block has 8 sectors, 4096 bytes; a time is in whole ms, a device is 0


def spc(references):
    return "".join(f"0,{8 * block},4096,{'W' if write else 'R'},{ms / 1e3:.3f}\n" for block, write, ms in references)


def disksim(references):
    return "".join(f"{ms}.000000 0 {8 * block} 8 {int(not write)}\n" for block, write, ms in references)


def msr(references):
    begin = 128_166_372_003_061_629
    return "".join(
        f"{begin + 10_000 * ms},host,0,{'Write' if write else 'Read'},{4096 * block},4096,99\n"
        for block, write, ms in references
    )


def csv(references):
    rows = (f"{ms},{8 * block},{'W' if write else 'R'},4096\n" for block, write, ms in references)
    return "time_ms,lba,op,size\n" + "".join(rows)


def csv_of_objects(references):
    return "when;key;dirty\n" + "".join(f"{1000 * ms};{block};{int(write)}\n" for block, write, ms in references)


def parquet(references):
    block, write, ms = zip(*references, strict=True)
    frame = pd.DataFrame({"block": block, "write": write, "time_ns": np.array(ms) * MS})
    return frame.to_parquet()


def oracle_general(references):
    rows = np.zeros(len(references), RECORD)
    rows["object"], rows["size"], rows["next"] = [block for block, _, _ in references], 4096, -1
    return rows.tobytes()


FORMATS = {  # writer, options of open_trace, columns in addition to the blocks
    "spc": (spc, {}, "write time"),
    "spc, compressed": (lambda references: gzip.compress(spc(references).encode()), {}, "write time"),
    "disksim": (disksim, {}, "write time"),
    "msr": (msr, {}, "write time"),
    "csv": (csv, {"block_bytes": 4096}, "write time"),
    "csv, columns": (csv_of_objects, {"columns": "block=key,write=dirty,time_us=when"}, "write time"),
    "parquet": (parquet, {}, "write time"),
    "oracleGeneral": (oracle_general, {}, ""),
    "arc": (lambda references: "".join(f"{block} 1 0 0\n" for block, _, _ in references), {}, ""),
    "lirs": (lambda references: "".join(f"{block}\n" for block, _, _ in references), {}, ""),
    "adapt_size": (lambda references: "".join(f"0 {block} 4096\n" for block, _, _ in references), {}, ""),
    "compiled": (None, {}, "write time"),
}


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=15)
@given(requests=REQUESTS)
def test_a_trace_is_the_same_in_every_format(form, requests):
    blocks, write, gaps = zip(*requests, strict=True)
    ms = np.cumsum(gaps) - gaps[0]
    expected = Trace.from_blocks(blocks, write=write, time=ms * MS)
    write_, options, held = FORMATS[form]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trace.gz" if "compressed" in form else "trace")
        if write_ is None:
            expected.save(path)
        else:
            content = write_(list(zip(blocks, write, ms.tolist(), strict=True)))
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            options = options | {"format": form.partition(",")[0]}
        trace = open_trace(path, **options)
    assert trace.ids.tolist() == expected.ids.tolist()
    for column in held.split():
        assert getattr(trace, column).tolist() == getattr(expected, column).tolist()
    if "write" not in held:
        assert trace.write is None or not trace.write.any()
        expected = Trace.from_blocks(blocks)
    assert counts(trace, "lru", 3) == counts(expected, "lru", 3)
    assert stack_distances(trace).tolist() == stack_distances(expected).tolist()


# --- times and loads


@settings(max_examples=40)
@given(
    requests=REQUESTS,
    size=st.integers(1, 6),
    factor=st.sampled_from([2, 5, 1000]),
    policy=st.sampled_from(["lru", "arc", "opt"]),
)
def test_slower_requests_and_a_slower_device_only_scale_times(requests, size, factor, policy):
    blocks, write, gaps = zip(*requests, strict=True)
    slow = Trace.from_blocks(blocks, write=write, time=np.cumsum(gaps) * MS * factor)
    one = penalty(made(requests), policy, size, "3ms").iloc[0]
    for two in (
        penalty(slow, policy, size, f"{3 * factor}ms").iloc[0],
        penalty(made(requests), policy, size, f"{3 * factor}ms", speed=1 / factor).iloc[0],
    ):
        assert (
            two[["requests", "hits", "delayed_hits", "misses"]].tolist()
            == one[["requests", "hits", "delayed_hits", "misses"]].tolist()
        )
        times = [name for name in one.index if name.endswith("_us")]
        assert two[times].to_numpy(float) == pytest.approx(factor * one[times].to_numpy(float), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("device", ["3ms", "hp97560", "dc_p3700"])
@settings(max_examples=25)
@given(requests=REQUESTS, size=st.integers(1, 6), policy=st.sampled_from(["lru", "arc", "opt", "opt_bypass"]))
def test_a_closed_loop_of_one_client_is_an_open_one_at_low_load(device, requests, size, policy):
    """Reads a second apart must find the device idle, like those of one client that waits for each read and then
    thinks."""
    reads = [(64 * block, False, 0) for block, _, _ in requests]
    alone = penalty(made(reads), policy, size, device, interval="1s").iloc[0]
    closed = penalty(made(reads), policy, size, device, clients=1, think="1s").iloc[0]
    counted = ["requests", "hits", "delayed_hits", "misses"]
    assert closed[counted].tolist() == alone[counted].tolist()
    assert (alone["delayed_hits"], alone["queue_us"], closed["queue_us"]) == (0, 0, 0)
    assert alone["hits"] == simulate(made(reads), policy, size).hits
    if device.endswith("ms"):
        expected = pytest.approx(3000 * alone["misses"] / alone["requests"], rel=1e-12)
        assert (closed["mean_us"], alone["mean_us"]) == (expected, expected)


@pytest.mark.parametrize("device", ["3ms", "hp97560", "dc_p3700"])
@settings(max_examples=25)
@given(
    requests=REQUESTS,
    size=st.integers(1, 6),
    policy=st.sampled_from(["lru", "arc", "opt"]),
    load=st.sampled_from([{}, {"clients": 2}, {"interval": "100us"}, {"speed": 10.0}]),
    through=st.booleans(),
)
def test_components_add_up_and_percentiles_are_in_order(device, requests, size, policy, load, through):
    row = penalty(made(requests), policy, size, device, hit_time="7us", write_through=through, **load).iloc[0]
    reads = sum(not write for _, write, _ in requests)
    assert row["requests"] == reads == row["hits"] + row["delayed_hits"] + row["misses"]
    if not reads:
        return
    assert row[[f"{part}_us" for part in COMPONENTS]].sum() == pytest.approx(row["mean_us"], rel=1e-12)
    assert (row[[f"{part}_us" for part in COMPONENTS]] >= 0).all()
    assert row["hit_us"] == 7 <= row["p50_us"] <= row["p95_us"] <= row["p99_us"]
    assert row["p50_us"] <= 2 * row["mean_us"]  # Markov's inequality: half take at least the median


@settings(max_examples=30)
@given(requests=REQUESTS, size=st.integers(1, 6))
def test_a_device_twice_as_fast_halves_the_mean_response_time_of_one_client(requests, size):
    """There is one client, so hits do not depend on time."""
    slow, fast = (penalty(made(requests), "lru", size, device, clients=1).iloc[0] for device in ("4ms", "2ms"))
    assert slow["hits"] == fast["hits"]
    assert slow["mean_us"] == pytest.approx(2 * fast["mean_us"], nan_ok=True)
