"""Test concurrent sequential streams: what each sends and when, and the trace that the command line makes of them."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty import ParameterError
from misspenalty.cli.main import main
from misspenalty.traces.streams import Streams, write_spc

MB = 1 << 20


def slow(workload, begin, end):
    """Return (time, stream, block) of every read, computed stream by stream and sorted."""
    rng = np.random.default_rng(workload.seed)
    phases = rng.integers(0, workload.interval_ns, workload.streams).tolist()
    places = rng.integers(0, workload.section_reads, workload.streams).tolist()
    rows = []
    for stream, (phase, place) in enumerate(zip(phases, places, strict=True)):
        turn = 0
        while phase + turn * workload.interval_ns < end:
            time = phase + turn * workload.interval_ns
            read = stream * workload.section_reads + (place + turn) % workload.section_reads
            if time >= begin:
                rows.append((time, stream, read * workload.read_blocks))
            turn += 1
    return sorted(rows)


@given(st.integers(1, 9), st.sampled_from([4, 12, 256]), st.floats(0.1, 50), st.integers(0, 9), st.integers(0, 10**9))
def test_requests_are_those_of_every_stream(streams, read_kb, mb_per_s, seed, begin):
    workload = Streams(9 * MB, streams, read_kb, mb_per_s, seed)
    end = begin + 4 * workload.interval_ns
    table = workload.requests(begin, end)
    expected = slow(workload, begin, end)
    assert table["time"].tolist() == [time for time, *_ in expected]
    got = zip(table["time"].tolist(), table["stream"].tolist(), table["block"].tolist(), strict=True)
    assert sorted(got) == expected
    assert set(table["blocks"].tolist()) <= {read_kb // 4} and not table["write"].any()
    assert not len(expected) or table["block"].max() + read_kb // 4 <= workload.blocks <= 9 * 256


def test_the_rate_is_what_was_asked_for():
    workload = Streams(1 << 34, streams=100, read_kb=256, mb_per_s=0.5, seed=3)
    table = workload.requests(0, 60 * 10**9)
    assert table["blocks"].sum() * 4096 / 60e6 / 100 == pytest.approx(0.5, rel=0.01)
    assert np.all(np.diff(table["time"]) >= 0)
    one = table["block"][table["stream"] == 17]
    assert set(np.diff(one).tolist()) <= {64, 64 - 64 * workload.section_reads}


@pytest.mark.parametrize(
    "given, message",
    [
        ({"streams": 0}, "streams is 0; expected a whole number from 1"),
        ({"read_kb": 6}, "read_kb is 6; expected a multiple of 4"),
        ({"space_bytes": 100 * 256 * 1024 - 1}, "space_bytes is 26214399; expected a whole number from 26214400 to"),
        ({"mb_per_s": 0}, "mb_per_s is 0"),
        ({"mb_per_s": float("nan")}, "mb_per_s is nan"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_impossible_streams_are_named(given, message):
    with pytest.raises(ParameterError, match=f"streams: {message}"):
        Streams(**{"space_bytes": 1 << 30} | given)


@pytest.mark.parametrize("length", [{}, {"count": 1, "seconds": 1}, {"count": 0}, {"count": 1 << 40}, {"seconds": 0}])
def test_impossible_lengths_are_named(tmp_path, length):
    with pytest.raises(ParameterError, match=r"requests|seconds"):
        write_spc(Streams(1 << 30, mb_per_s=1e-3), tmp_path / "x.spc", **length)
    with pytest.raises(ParameterError, match="no read arrives within 1e-09 s"):
        write_spc(Streams(1 << 30), tmp_path / "x.spc", seconds=1e-9)
    with pytest.raises(ParameterError, match=r"seconds is 1100000000.0; expected .* to 1e\+09"):
        write_spc(Streams(1 << 30), tmp_path / "x.spc", seconds=1.1e9)
    assert not list(tmp_path.iterdir())


def test_command_line_makes_a_trace(tmp_path, capsys):
    path = tmp_path / "a.spc"
    make = ["trace", "generate", "streams", str(path), "--space", "1GB", "--streams", "7", "--json", "--seed", "2"]
    assert main([*make, "--requests", "150", "--mb-per-s", "2"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["requests"], made["reads"], made["bytes"]) == (150, 150, 150 * 256 * 1024)
    assert len(path.read_text().splitlines()) == 150
    assert main(["trace", "info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == "spc"
    assert main([*make, "--requests", "5"]) == 2 and "exists" in capsys.readouterr().err
