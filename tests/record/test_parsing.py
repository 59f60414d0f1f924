"""Recordings become traces: every probe's recorded output is parsed, and lines that are wrong are refused."""

import contextlib
import re
import time
import types
from pathlib import Path

import numpy as np
import pytest

import misspenalty
from misspenalty.record import block, events, files, postgres, tracer
from misspenalty.record.tracer import PROBES, CaptureError
from misspenalty.traces.reader import find_format

OUTPUTS = Path(__file__).parents[1] / "data" / "recordings"


def lines(name):
    return (OUTPUTS / f"{name}.txt").read_text().splitlines()


def test_every_probe_is_installed():
    assert {path.name for path in PROBES.glob("*.bt")} == {"block.bt", "clock.bt", "files.bt", "postgres.bt"}


def test_postgres_blocks_with_and_without_names(tmp_path):
    names = events.Nodes({"16388": "accounts"})
    made = events.parse(lines("postgres"), names, "made.txt")
    assert [made.names[number] for number in made.relation] == ["accounts", "accounts", "accounts.fsm", "2619"]
    assert made.block.tolist() == [0, (1 << 17) + 1, 2, 5] and made.write.tolist() == [False, False, True, False]
    events.write_parquet(made, tmp_path / "made.parquet")
    trace = misspenalty.open_trace(tmp_path / "made.parquet")
    assert (len(trace), trace.reads, trace.blocks) == (4, 3, 4)


def test_block_requests_are_read_as_blkparse(tmp_path):
    path = tmp_path / "made.txt"
    made = list(block.blkparse_lines(lines("block"), "made"))
    path.write_text("\n".join(made) + "\n")
    assert made[0].split() == ["254,0", "0", "1", "0.000000000", "77", "Q", "WS", "2048", "+", "8", "[jbd2/vda1-8]"]
    assert [line.split()[3] for line in made] == ["0.000000000", "0.000099500", "0.001000000"]
    trace = misspenalty.open_trace(path)
    assert find_format(path).name == "blkparse"
    # 8 sectors at 2048 are block 256, and 16 at 2056 are blocks 257 and 258; the partition has its own address space.
    assert trace.ids.tolist() == [0, 1, 2, 3] and trace.write.tolist() == [True, False, False, False]
    assert len(list(block.blkparse_lines(lines("block"), "made", 0, 7_000_500_000))) == 2


def test_a_flush_is_no_request_for_the_first_block(tmp_path):
    made = list(block.blkparse_lines(["266338304 8 8 W 5 7 cp", "266338304 0 0 FW 6 7 a sync"], "made"))
    assert made[1].split() == ["254,0", "0", "2", "0.000000001", "7", "Q", "FW", "[a", "sync]"]
    (path := tmp_path / "made.txt").write_text("\n".join(made) + "\n")
    assert misspenalty.open_trace(path).reading.changes == ("skipped 1 other line",)


def test_a_partition_is_not_recorded(tmp_path, monkeypatch):
    (tmp_path / "0:0").mkdir()
    (tmp_path / "0:0" / "partition").touch()
    monkeypatch.setattr(block, "SYSFS", tmp_path)
    monkeypatch.setattr(Path, "is_block_device", lambda path: True)
    (path := tmp_path / "sda1").touch()
    with pytest.raises(CaptureError, match="sda1 is a partition, whose requests are queued to its disk: name the disk"):
        block.device_number(path)


def test_a_machine_with_other_system_calls_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files.tracer, "check", lambda *events: None)
    monkeypatch.setattr(files.platform, "machine", lambda: "aarch64")
    with pytest.raises(CaptureError, match=r"the system calls of x86-64, not those of aarch64: .* record block"):
        files.record(["true"], tmp_path / "x.spc")


def test_blocks_of_temporary_tables_are_kept_apart():
    told = ["R t3_16388 0 8192 5", "W 16388 0 8192 6", "W t3_16388.1 0 8192 7"]
    made = events.parse(told, events.Nodes({"16388": "accounts"}), "made")
    assert [made.names[number] for number in made.relation] == ["t3_16388", "accounts", "t3_16388"]
    assert made.block.tolist() == [0, 0, 1 << 17]


def test_files_become_an_spc_trace(tmp_path):
    accesses, names = files.parse(lines("files"), "made")
    assert [(a.inode, a.offset, a.size, a.write) for a in accesses] == [
        (555, 8192, 4096, False), (901, 0, 4096, False), (901, 4096, 1904, False), (901, 1000, 100, False),
        (902, 0, 700, True),
    ]  # fmt: skip
    assert names == {901: "notes.txt"}
    path = tmp_path / "made.spc"
    path.write_text("".join(f"{line}\n" for line in files.spc_lines(accesses)))
    trace = misspenalty.open_trace(path)
    assert trace.ids.tolist() == [0, 1, 2, 1, 3] and np.flatnonzero(trace.write).tolist() == [4]
    table = files.names_table(accesses, names)
    assert table.to_dict("list") == {
        "unit": [0, 1, 2], "inode": [555, 901, 902], "name": ["", "notes.txt", ""], "requests": [1, 3, 1],
        "bytes": [4096, 6100, 700],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("parse", "line", "said"),
    [
        (lambda text: files.parse(text, "made"), "Lost 12 events", "line 1: .*lost events"),
        (lambda text: files.parse(text, "made"), "T 101 0 x", "line 1: .*not a line of the probe"),
        (lambda text: files.parse(text, "made"), "O 1 2 3", "line 1: .*not a line of the probe"),
        (lambda text: list(block.blkparse_lines(text, "made")), "Lost 1 events", "line 1: .*lost events"),
        (lambda text: list(block.blkparse_lines(text, "made")), "1 2 3 R x 5 cat", "line 1: .*expected 'device"),
        (lambda text: events.parse(text, events.Nodes(), "made"), "R 1 0 100 5", "line 1: .*one aligned block"),
    ],
)
def test_bad_lines_are_refused_with_their_place(parse, line, said):
    with pytest.raises(CaptureError, match=f"made, {said}"):
        parse([line])


def test_a_device_is_a_block_device(tmp_path):
    for path in ("/dev/null", tmp_path, tmp_path / "none"):
        with pytest.raises(CaptureError, match=f"{re.escape(str(path))} is not a block device"):
            block.device_number(path)


@pytest.fixture
def answers(monkeypatch):
    """Return the rows with which the server answers each query; a query that is missing gets no rows."""
    rows = {postgres.VERSION: [["160004"]], postgres.FOLDER: [["/nowhere/base/5"]]}
    monkeypatch.setattr(postgres, "ask", lambda query, database, user: rows.get(query, []))
    monkeypatch.setattr(postgres.tracer, "check", lambda event: None)
    return rows


def test_servers_whose_reads_the_probe_would_miss_are_refused(answers, tmp_path):
    with pytest.raises(CaptureError, match="/nowhere/base/5, the server's data folder, is not on this machine"):
        postgres.record("bench", tmp_path / "x.parquet")
    for version, number in (("170000", 17), ("180001", 18)):
        answers[postgres.VERSION] = [[version]]
        with pytest.raises(
            CaptureError, match=rf"is PostgreSQL {number}, .*\(preadv\); .*up to version 16: record an older"
        ):
            postgres.record("bench", tmp_path / "x.parquet")


def test_databases_with_relations_in_other_tablespaces_are_refused(answers, tmp_path):
    answers[postgres.ELSEWHERE] = [["orders"], ["orders_pkey"]]
    with pytest.raises(
        CaptureError, match=r"database bench .* \(2 of them, such as orders\), .* SET TABLESPACE pg_default"
    ):
        postgres.record("bench", tmp_path / "x.parquet")


def test_a_relation_made_in_another_tablespace_during_the_recording_is_noticed(answers, tmp_path, monkeypatch):
    @contextlib.contextmanager
    def tracing(*arguments, **settings):
        yield
        answers[postgres.ELSEWHERE] = [["late"]]

    answers[postgres.FOLDER] = [[str(tmp_path)]]
    monkeypatch.setattr(postgres.tracer, "tracing", tracing)
    monkeypatch.setattr(postgres.tracer, "ended", lambda probe, log, seconds: ("time", 0))
    with pytest.raises(CaptureError, match=r"1 of them, such as late\)"):
        postgres.record("bench", tmp_path / "x.parquet", told=lambda words: None)


@pytest.fixture
def bpftrace(monkeypatch):
    """Return ``bpftrace(told)``, which replaces bpftrace by the lines of `told` and returns the settings used."""

    def stand_in(told):
        used = {}

        @contextlib.contextmanager
        def tracing(probe, argument, lines, log, settings):
            used.update(settings)
            yield types.SimpleNamespace(poll=lambda: lines.write_text(f"{told()}\n") and None)

        monkeypatch.setattr(tracer, "check", lambda *events: None)
        monkeypatch.setattr(tracer, "tracing", tracing)
        return used

    return stand_in


def test_a_machine_that_was_suspended_can_record(bpftrace, tmp_path, monkeypatch):
    """The clock of bpftrace's events keeps running while the machine is suspended, unlike the monotonic clock."""
    monkeypatch.setattr(time, "monotonic_ns", lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME) - 3600 * 10**9)
    bpftrace(lambda: f"8388608 8 8 R {time.clock_gettime_ns(time.CLOCK_BOOTTIME)} 7 cp")
    made = block.record(None, tmp_path / "x.txt", seconds=0, told=lambda words: None)
    assert made["requests"] == 1


def test_relations_of_one_name_in_two_schemas_are_kept_apart(answers, bpftrace, tmp_path):
    answers[postgres.FOLDER] = [[str(tmp_path)]]
    answers[postgres.RELATIONS] = [["100", "public", "orders"], ["200", "old", "orders"], ["300", "old", "items"]]
    used = bpftrace(lambda: "\n".join(f"R {node} 0 8192 {tracer.now()}" for node in (100, 200, 300)))
    made = postgres.record("bench", tmp_path / "x.parquet", seconds=0, told=lambda words: None)
    assert (made["relations"], made["distinct_blocks"]) == (3, 3)
    assert misspenalty.open_trace(tmp_path / "x.parquet").blocks == 3
    assert int(used["BPFTRACE_STRLEN"]) > len("t262143_4294967295_init.32767")  # the longest name of a data file


def test_events_that_bpftrace_lost_are_noticed_in_its_messages(tmp_path):
    (log := tmp_path / "log").write_text("Attached 2 probes\nLost 7 events\n")
    ended = types.SimpleNamespace(poll=lambda: None, send_signal=lambda number: None, wait=lambda timeout: 0)
    with pytest.raises(CaptureError, match="bpftrace lost events; record again with a larger --ring-pages"):
        tracer.stop(ended, log)


@pytest.mark.parametrize("said", ["Attaching 2 probes...", "Attached 2 probes"])
def test_what_bpftrace_says_when_it_starts_is_no_event(said):
    assert len(events.parse([said, "R 1 0 8192 5"], events.Nodes(), "made")) == 1
    assert len(list(block.blkparse_lines([said, "8388608 8 8 R 5 7 cp"], "made"))) == 1


def test_psql_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(CaptureError, match="psql is missing"):
        postgres.ask("SELECT 1", "bench")
