"""The TPC-C captures are what their fact sheets say, and the program that made them refuses bad recordings."""

import hashlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "data" / "capture" / "tpcc"
RAW = ROOT / "data" / "raw" / "tpcc"
FIXTURES = ROOT / "tests" / "data"
sys.path.insert(0, str(PROGRAM))

import converting  # noqa: E402
import tpcc  # noqa: E402
from cluster import Cluster  # noqa: E402

from misspenalty.record import events  # noqa: E402
from misspenalty.record.tracer import CaptureError  # noqa: E402

CAPTURES = [(RAW, "128mb.parquet", "128MB", 7_300_000, 256), (RAW, "16mb.parquet", "16MB", 3_800_000, 256),
            (RAW, "2mb.parquet", "2MB", 3_000_000, 256), (RAW, "2mb-long.parquet", "2MB", 12_200_000, 256),
            (FIXTURES, "tpcc_small.parquet", "8MB", 150_000, 10)]  # fmt: skip
TABLES = {"warehouse", "district", "customer", "history", "new_order", "orders", "order_line", "item", "stock"}
INDEXES = {f"{table}_pkey" for table in TABLES - {"history"}} | {"customer_by_name", "orders_by_customer"}
MIX = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}
SCHEMA = pa.schema([
    ("time_ms", pa.uint32()), ("relation", pa.dictionary(pa.int32(), pa.string())),
    ("block", pa.uint32()), ("write", pa.bool_()),
])  # fmt: skip


@pytest.fixture(scope="module", params=CAPTURES, ids=lambda capture: capture[1])
def capture(request):
    """Return one capture: table, facts, path, and what was requested."""
    folder, name, shared_buffers, reads, warehouses = request.param
    facts = yaml.safe_load((folder / "captures.yaml").read_text())[name]
    asked = {"shared_buffers": shared_buffers, "reads": reads, "warehouses": warehouses}
    return pq.read_table(folder / name), facts, folder / name, asked


def test_bytes_are_those_of_the_fact_sheet(capture):
    _, facts, path, _ = capture
    assert path.stat().st_size == facts["bytes"] <= (45_000_000 if path.parent == RAW else 1_000_000)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == facts["sha256"]


def test_window_is_the_one_asked_for(capture):
    table, facts, _, asked = capture
    assert table.schema.equals(SCHEMA)
    assert {key: facts[key] for key in asked} == asked
    writes = pc.sum(table["write"]).as_py()
    assert table.num_rows - writes == asked["reads"]
    assert writes == facts["writes"]
    assert not table["write"][-1].as_py(), "the window closes with a read"


def test_time_runs_forward_for_the_stated_duration(capture):
    table, facts, _, _ = capture
    time = table["time_ms"].to_numpy()
    assert time[0] == 0
    assert np.all(time[1:] >= time[:-1])
    assert time[-1] == pytest.approx(1000 * facts["duration_s"], abs=1)


def test_relations_are_tables_and_indexes_of_tpcc(capture):
    table, _, _, _ = capture
    relation = table["relation"].combine_chunks()
    names = relation.dictionary.to_pylist()
    assert names == sorted(set(names))
    requests = dict(zip(names, np.bincount(relation.indices, minlength=len(names)), strict=True))
    assert all(requests[table] > 0 for table in TABLES)
    strangers = {name: n for name, n in requests.items() if n and name.split(".")[0] not in TABLES | INDEXES}
    assert all(name.startswith("pg_") for name in strangers), "the others are system catalogues"
    assert sum(strangers.values()) < 1000


def test_distinct_blocks_are_as_stated(capture):
    table, facts, _, _ = capture
    relation, block = table["relation"].combine_chunks().indices.to_numpy(), table["block"].to_numpy()
    sizes = np.zeros(relation.max() + 1, np.int64)
    np.maximum.at(sizes, relation, block.astype(np.int64) + 1)
    requested = np.zeros(sizes.sum(), bool)
    requested[(np.cumsum(sizes) - sizes)[relation] + block] = True
    assert np.count_nonzero(requested) == facts["distinct_blocks"]


def test_transactions_come_in_the_specified_mix(capture):
    _, facts, _, _ = capture
    counts = dict(facts["transactions"])
    total = counts.pop("all")
    assert total == sum(counts.values()) > 0
    for name, percent in MIX.items():
        assert 100 * counts[name] / total == pytest.approx(percent, abs=1), name
    assert facts["whole_run"]["rolled_back"] / facts["whole_run"]["transactions"] == pytest.approx(0.0045, abs=0.001)


def test_nearly_all_buffer_misses_were_seen(capture):
    _, facts, _, _ = capture
    run = facts["whole_run"]
    seen = 100 * (run["reads_seen"] + run["extensions_seen"]) / run["blks_read_delta"]
    assert seen == pytest.approx(run["seen_percent"], abs=0.001)
    assert seen >= 99


def test_captures_were_made_one_after_another():
    facts = yaml.safe_load((RAW / "captures.yaml").read_text())
    earlier = [entry["transactions_before_window"] for entry in facts.values()]
    assert list(facts) == [name for folder, name, *_ in CAPTURES if folder == RAW]
    *one_database, another = earlier  # the long capture was made later, on a database of its own
    assert one_database == sorted(one_database) and another < one_database[1]


def test_data_card_names_every_sum():
    card = (RAW / "README.md").read_text()
    facts = yaml.safe_load((RAW / "captures.yaml").read_text())
    assert set(facts) == {path.name for path in RAW.glob("*.parquet")}
    for name, entry in facts.items():
        assert entry["sha256"] in card, name
        assert f"{entry['writes']:,}" in card, name


# Tests of the converter, on lines made by hand.

RELATIONS = {"100": "stock", "200": "item"}
LINES = """Attaching 2 probes...
R 100 0 8192 1000000
W 100.1 16384 8192 4000000
R 200_fsm 8192 8192 3000000

R 200 8192 8192 9500000
"""


def parse(text: str) -> events.Events:
    return events.parse(text.splitlines(), RELATIONS, "made.txt")


def test_lines_become_events_in_order_of_time():
    made = parse(LINES)
    assert [made.names[index] for index in made.relation] == ["stock", "item.fsm", "stock", "item"]
    assert made.block.tolist() == [0, 1, (1 << 17) + 2, 1]
    assert made.write.tolist() == [False, False, True, False]
    assert made.reads == 3
    assert events.distinct_blocks(made) == 4


def test_no_lines_make_no_events():
    assert len(parse("")) == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("R 100 0 8192", "expected 'R|W file offset count nanoseconds'"),
        ("R 100 x 8192 5", "expected 'R|W file offset count nanoseconds'"),
        ("S 100 0 8192 5", "operation 'S'"),
        ("R 100 0 4096 5", "4096 bytes at 0; expected one aligned block"),
        ("R 100 100 8192 5", "8192 bytes at 100; expected one aligned block"),
        ("R 300 0 8192 5", "file '300' belongs to no relation"),
        ("R 100_map 0 8192 5", "file '100_map' belongs to no relation"),
        ("Lost 17 events", "larger --ring-pages"),
    ],
)
def test_bad_lines_are_refused_with_their_place(line, complaint):
    with pytest.raises(CaptureError, match="made.txt, line 7: .*" + re.escape(complaint)):
        parse(LINES + line + "\n")


def test_cut_ends_with_the_last_read_wanted():
    made = events.cut(parse(LINES), start=2_000_000, reads=2)
    assert made.write.tolist() == [False, True, False]
    with pytest.raises(CaptureError, match="only 2 reads after the warm-up, expected 3"):
        events.cut(parse(LINES), start=2_000_000, reads=3)


def test_extensions_are_the_writes_past_the_end():
    made = parse("W 100 16384 8192 1\nW 100 8192 8192 2\nW 100 16384 8192 3\nW 100 24576 8192 4\nW 200 0 8192 5\n")
    assert events.extensions(made, {"stock": 2}).tolist() == [True, False, False, True, True]


def recording(folder: Path, missed: int = 4) -> Path:
    """Return a made-up recording of three reads and a write that appends a block."""
    folder.mkdir()
    (folder / "events.txt").write_text(LINES)
    (folder / "transactions.log").write_text("0 1 10 0 0 2000 0\n0 2 10 1 0 8000 0\n1 1 10 4 0 99000 0\n")
    facts = {
        "run": {"shared_buffers": "1MB", "reads": 3, "warmup_seconds": 0, "clients": 1, "ring_pages": 1},
        "warehouses": 1, "started": "2026-11-21", "window_start_ns": 1_000_000, "clock_offset_ns": 0,
        "counters": {"blks_read": missed, "xact_rollback": 0, "buffers_checkpoint": 0, "buffers_clean": 0,
                     "buffers_backend": 1},
        "relations": RELATIONS, "blocks_at_start": {"stock": (1 << 17) + 2, "item": 2}, "transactions_earlier": 7,
        "versions": {}, "machine": {},
    }  # fmt: skip
    (folder / "recording.json").write_text(json.dumps(facts))
    return folder


def test_recording_becomes_capture_and_facts(tmp_path):
    output = tmp_path / "made" / "a.parquet"
    entry = converting.convert(recording(tmp_path / "r"), output)
    table = pq.read_table(output)
    assert table.schema.equals(SCHEMA)
    assert table["time_ms"].to_pylist() == [0, 2, 3, 8]
    assert table["relation"].to_pylist() == ["stock", "item.fsm", "stock", "item"]
    assert entry["transactions"] == {
        "all": 2, "new_order": 1, "payment": 1, "order_status": 0, "delivery": 0, "stock_level": 0
    }  # fmt: skip
    assert entry["whole_run"]["seen_percent"] == 100
    assert entry["transactions_before_window"] == 7
    assert yaml.safe_load((output.parent / "captures.yaml").read_text()) == {"a.parquet": entry}
    assert output.stat().st_mode & 0o222 == 0
    with pytest.raises(CaptureError, match="never overwritten"):
        converting.convert(tmp_path / "r", output)


def test_equal_recordings_give_equal_bytes(tmp_path):
    sums = [converting.convert(recording(tmp_path / name), tmp_path / f"{name}.parquet")["sha256"] for name in "ab"]
    assert sums[0] == sums[1]


def test_capture_of_an_existing_file_is_refused_before_it_runs(tmp_path, capsys):
    output = tmp_path / "a.parquet"
    output.touch()
    arguments = ["capture", "--work", str(tmp_path), "--shared-buffers", "1MB", "--reads", "5", "--out", str(output)]
    assert tpcc.main(arguments) == 2
    assert "never overwritten" in capsys.readouterr().err


def test_too_few_events_seen_leave_no_file(tmp_path):
    with pytest.raises(CaptureError, match=r"saw 4 of 5 buffer misses, 80\.00 %; expected 99 % or more"):
        converting.convert(recording(tmp_path / "r", missed=5), tmp_path / "out" / "a.parquet")
    assert not (tmp_path / "out").exists()


def test_too_large_a_capture_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(converting, "LARGEST_FILE", 10)
    with pytest.raises(CaptureError, match="expected at most 10"):
        converting.convert(recording(tmp_path / "r"), tmp_path / "out" / "a.parquet")
    assert list((tmp_path / "out").iterdir()) == []


# Tests of the command line.


@pytest.mark.parametrize("command", ["load", "record", "convert", "capture", "clean", "all"])
def test_every_command_has_help(command, capsys):
    with pytest.raises(SystemExit) as stop:
        tpcc.main([command, "--help"])
    assert stop.value.code == 0
    assert "--work DIR" in capsys.readouterr().out


def test_bad_sizes_and_numbers_are_refused(capsys):
    for arguments, complaint in [
        (["--shared-buffers", "128", "--reads", "5"], "such as 128MB"),
        (["--shared-buffers", "1MB", "--reads", "-5"], "expected an integer of at least 1"),
        (["--shared-buffers", "1MB", "--reads", "5", "--ring-pages", "3"], "expected a power of two"),
    ]:
        with pytest.raises(SystemExit) as stop:
            tpcc.main(["capture", *arguments, "--out", "x.parquet"])
        assert stop.value.code == 2
        assert complaint in capsys.readouterr().err


def test_only_root_may_capture(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert tpcc.main(["load", "--work", str(tmp_path), "--warehouses", "2"]) == 2
    assert "must run as root" in capsys.readouterr().err


def test_capture_before_load_is_refused(tmp_path):
    with pytest.raises(CaptureError, match="load the database first"), Cluster(tmp_path).running():
        pass


def test_missing_postgresql_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("cluster.BINARIES", tmp_path)
    with pytest.raises(CaptureError, match="initdb is missing: apt-get install postgresql-15"):
        Cluster(tmp_path).check_machine()
