"""Test other programs' formats: files that the programs wrote, files packed by hand, shared traces, damaged files."""

import gzip
import lzma
import shutil
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import InputError, ParameterError, Trace, hit_ratio_curve, open_trace
from misspenalty.traces import lines
from misspenalty.traces._hash import hash_texts
from misspenalty.traces.readers import blktrace, lcs
from tests.traces.test_traces import references

FORMATS = Path(__file__).parents[1] / "data" / "formats"


@pytest.fixture(scope="module")
def extras(shared_traces):
    return shared_traces.parent / "extras"


def blocks(trace):
    """Return block addresses, without the device's number."""
    return (trace.address[trace.ids] & np.uint64((1 << 47) - 1)).tolist()


# --- libCacheSim: lcs files written by its own converter from requests.csv


@pytest.mark.parametrize("version", [1, 3, 8])
def test_lcs_equals_what_it_was_converted_from(version):
    trace, source = open_trace(FORMATS / f"v{version}.lcs.xz"), open_trace(FORMATS / "requests.csv")
    assert trace.format == "lcs" and source.format == "csv"
    assert references(trace) == references(source)
    assert trace.object_bytes.tolist() == source.object_bytes.tolist()
    assert trace.time.tolist() == source.time.tolist()


def test_lcs_records_are_as_long_as_libcachesims():
    """Records must be as long as the structs lcs_req_v1_t to lcs_req_v8_t of libCacheSim."""
    assert [lcs.record(version).itemsize for version in range(1, 9)] == [24, 28, 36, 40, 44, 52, 68, 100]


def test_lcs_operations_that_store_are_writes(opened):
    """The writes are set, add, cas, replace, append, prepend, incr, decr, write and update; operation 9 deletes."""
    head = bytearray(lzma.decompress((FORMATS / "v1.lcs.xz").read_bytes())[:8192])
    struct.pack_into("<QQqq", head, 0, 0x123456789ABCDEF0, 2, 1, 0)
    rows = [struct.pack("<IQIIq", op, op, 10, op, -1) for op in range(16)]
    trace = opened(bytes(head) + b"".join(rows))
    written = dict(zip(trace.address[trace.ids].tolist(), trace.write.tolist(), strict=True))
    assert [op for op, write in written.items() if write] == [3, 4, 5, 6, 7, 8, 10, 11, 13, 14]
    assert 9 not in written


def test_lcs_operations_and_damage(opened):
    head = bytearray(lzma.decompress((FORMATS / "v1.lcs.xz").read_bytes())[:8192])
    struct.pack_into("<QQqq", head, 0, 0x123456789ABCDEF0, 2, 1, 3)
    rows = [struct.pack("<IQIIq", n, n, 10, op, -1) for n, op in enumerate((1, 9, 13))]  # get, delete, write
    trace = opened(bytes(head) + b"".join(rows))
    assert references(trace) == [0, 2] and trace.write.tolist() == [False, True]
    sizes = [struct.pack("<IQIIq", n, n, size, 1, -1) for n, size in enumerate((0, 1, 2))]
    assert opened(bytes(head) + b"".join(sizes)).object_bytes.tolist() == [0, 1, 2]  # an object may be empty
    with pytest.raises(InputError, match="holds 1 request, but its header counts 3"):
        opened(bytes(head) + rows[0])
    with pytest.raises(InputError, match="byte 8220: the file ends 5 bytes into a record"):
        opened(bytes(head) + rows[0] + rows[1][:5])
    struct.pack_into("<Q", head, 8, 9)
    with pytest.raises(InputError, match="is of version 9; expected 1 to 8"):
        opened(bytes(head))


# --- fio: an iolog that fio 3.33 wrote


def test_fio_version_3_as_fio_wrote_it():
    trace = open_trace(FORMATS / "fio3.log")
    lines = [line.split() for line in (FORMATS / "fio3.log").read_text().splitlines()[1:]]
    moved = [line for line in lines if line[2] in ("read", "write")]
    assert trace.format == "fio" and trace.sizes.requests == len(moved)
    assert len(trace) == sum((int(o) + int(n) - 1) // 4096 - int(o) // 4096 + 1 for *_, o, n in moved)
    first = 1000 * (int(moved[-1][0]) - int(moved[0][0]))
    assert trace.time[-1] == first
    for unit, ns in (("ns", 1), ("us", 1000), ("ms", 10**6)):
        assert 1000 * open_trace(FORMATS / "fio3.log", unit=unit).time[-1] == ns * first


def test_fio_version_2_and_damage(opened):
    trace = opened(
        "fio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n/b write 4096 8192\n/a trim 0 4096\n/a close\n"
    )
    assert blocks(trace) == [0, 1, 2] and trace.write.tolist() == [False, True, True] and trace.time is None
    for line, message in [
        ("/a read 0", "line 3: '/a read 0'"),
        ("/a raed 0 1", "line 3"),
        ("/a read x 1", "whole numbers"),
    ]:
        with pytest.raises(InputError, match=message):
            opened(f"fio version 2 iolog\n/a add\n{line}\n")
    assert blocks(opened("fio version 2 iolog\r/a add\r/a read 4096 4096\r")) == [1]
    with pytest.raises(ParameterError, match="unit is 'h'; expected one of ns, us, ms"):
        open_trace(FORMATS / "fio3.log", unit="h")
    with pytest.raises(InputError, match=r"lines of version 2 have no times; leave out --unit"):
        opened("fio version 2 iolog\n/a add\n/a read 0 4096\n", unit="us")


def test_fio_version_1_can_be_read_as_a_table(opened):
    with pytest.raises(
        InputError, match=r"line 1: 'fio version 1 iolog'; expected .* 3 iolog'; lines of version 1 are"
    ):
        opened("fio version 1 iolog\n0 4096 4096\n1 8192 8192\n")
    for separator in (" ", ",", ", "):
        told = "0 4096 4096\n1 8192 8192\n".replace(" ", separator)
        trace = opened(told, columns="write=1,offset=2,size=3")
        assert blocks(trace) == [1, 2, 3] and trace.write.tolist() == [False, True, True]
    with pytest.raises(InputError, match=r"line 1: 'fio version 4 iolog'; expected [^;]*$"):
        opened("fio version 4 iolog\n")


@pytest.mark.parametrize("version", [2, 3])
def test_fio_counts_what_moves_no_data(opened, version):
    actions = ("add", "open", "read 0 4096", "sync 0 0", "write 4096 4096", "datasync 0 0", "trim 0 4096", "sync 8 0",
               "wait 1000 0", "sync_file_range 0 0", "close")  # fmt: skip
    told = "".join(f"{1500 * n} " * (version == 3) + f"/dev/sda {action}\n" for n, action in enumerate(actions))
    trace = opened(f"fio version {version} iolog\n{told}")
    assert trace.reading.operations == {
        "read": ("read", 1), "write": ("write", 1), "sync": ("ignore", 2), "datasync": ("ignore", 1),
        "sync_file_range": ("ignore", 1), "trim": ("ignore", 1), "wait": ("ignore", 1),
    }  # fmt: skip
    assert "ignored operations: 1 datasync, 2 sync, 1 sync_file_range, 1 trim, 1 wait" in trace.reading.notice("x")
    with pytest.raises(InputError, match=r"contains no requests, but 2 of the ignored operation trim$"):
        opened("fio version 2 iolog\n/a add\n/a trim 0 4096\n/a trim 0 512\n")


# --- blktrace: sdb.blkparse is what blkparse 1.2 prints for sdb.blktrace.0


@pytest.mark.parametrize("action", ["Q", "D", "C"])
def test_blktrace_equals_what_blkparse_prints(action):
    binary = open_trace(FORMATS / "sdb.blktrace.0", action=action)
    lines = [line.split() for line in (FORMATS / "sdb.blkparse").read_text().splitlines()]
    events = [f for f in lines if len(f) > 9 and f[5] == action and f[6] in ("R", "W") and f[8] == "+"]
    expected = [(int(f[7]) // 8 + k, f[6] == "W") for f in events for k in range(int(f[9]) // 8)]
    assert list(zip(blocks(binary), binary.write.tolist(), strict=True)) == expected
    assert binary.format == "blktrace"


def test_blktrace_of_an_idle_processor_is_read_with_the_others(tmp_path):
    shutil.copy(FORMATS / "sdb.blktrace.0", tmp_path / "sdb.blktrace.1")
    (tmp_path / "sdb.blktrace.0").touch()
    trace = open_trace(tmp_path / "sdb.blktrace.0")
    assert trace.format == "blktrace" and blocks(trace) == blocks(open_trace(FORMATS / "sdb.blktrace.0"))
    assert "read together with sdb.blktrace.1, of the other processors" in trace.reading.changes
    (tmp_path / "sdc.blktrace.0").touch()
    with pytest.raises(InputError, match=r"sdc\.blktrace\.0: contains no requests"):
        open_trace(tmp_path / "sdc.blktrace.0")


def test_blktrace_tells_an_issued_request_from_a_completed_one(opened):
    """In the recording, issued and completed requests have the same blocks, so the test moves the latter in a copy."""
    rows = np.frombuffer((FORMATS / "sdb.blktrace.0").read_bytes(), np.uint8).copy()
    first = {action: blocks(open_trace(FORMATS / "sdb.blktrace.0", action=action)) for action in "DC"}
    place = 0
    while place < len(rows):
        head = struct.unpack_from("<IIQQIIIIIHH", rows, place)
        if head[5] & 0xFFFF == 8:
            struct.pack_into("<Q", rows, place + 16, head[3] + 800)
        place += 48 + head[10]
    moved = {action: blocks(opened(rows.tobytes(), "blktrace", action=action)) for action in "DC"}
    assert moved["D"] == first["D"] and moved["C"] == [block + 100 for block in first["C"]]


def test_blktrace_passes_over_a_request_of_no_bytes(tmp_path):
    """A request of no bytes may be a flush; a request of one byte is a reference."""
    rows = np.zeros(3, blktrace.RECORD)
    rows["magic"], rows["action"], rows["sector"], rows["bytes"] = blktrace.MAGIC | 7, 1, [8, 16, 24], [0, 1, 4096]
    rows.tofile(tmp_path / "x")
    assert blocks(open_trace(tmp_path / "x", "blktrace")) == [2, 3]


def recorded(*rows):
    """Return records of blktrace; each row is (action, categories, sector, bytes)."""
    made = np.zeros(len(rows), blktrace.RECORD)
    made["magic"], made["device"], made["time"] = blktrace.MAGIC | 7, 8 << 20, np.arange(len(rows))
    made["action"] = [number | sum(1 << (16 + bit) for bit in bits) for number, bits, _, _ in rows]
    made["sector"], made["bytes"] = [row[2] for row in rows], [row[3] for row in rows]
    return made.tobytes()


def test_blktrace_counts_discards_flushes_and_other_records(opened):
    """Numbers are those of linux/blktrace_api.h, such as category 13 for discards and action 10 for unplugging."""
    read, write, flush, queue, packet, notify, discard = 0, 1, 2, 4, 9, 10, 13
    rows = [(0, [notify], 0, 0), (2, [notify], 0, 0), (1, [read, queue], 8, 4096), (1, [write, discard], 16, 1 << 20)]
    rows += [(1, [write, flush], 0, 0), (1, [write], 0, 0), (1, [read, packet], 0, 36), (1, [write, flush], 24, 4096)]
    rows += [(7, [read], 8, 4096), (8, [read], 8, 4096), (8, [read], 8, 4096), (10, [queue], 0, 0)]
    trace = opened(recorded(*rows), "blktrace")
    assert blocks(trace) == [1, 3] and trace.write.tolist() == [False, True]
    assert trace.reading.changes == (
        "ignored operations: 1 discard, 1 flush, 1 packet command, 1 request of 0 bytes",
        "skipped 2 notes, skipped 1 other record, skipped 2 records of action C, skipped 1 record of action D",
    )
    with pytest.raises(InputError, match="1 record of action Q, 1 other record; choose another action: --action Q"):
        opened(recorded((1, [read], 8, 512), (10, [], 0, 0)), "blktrace", action="G")


def test_blktrace_takes_records_of_a_control_group_and_of_allocated_requests(opened):
    """Action 4 is G (getrq) and 5 is S (sleeprq); bit 8 says that a control group's number follows the record."""
    rows = recorded((1 | 1 << 8, [0], 8, 4096), (4, [0], 16, 4096), (5, [0], 24, 4096))
    assert blocks(opened(rows, "blktrace")) == [1]
    assert blocks(opened(rows, "blktrace", action="G")) == [2]


def test_blktrace_that_is_cut_or_damaged(opened):
    content = (FORMATS / "sdb.blktrace.0").read_bytes()
    with pytest.raises(InputError, match="byte 248: the file ends within a record"):
        opened(content[:-10], "blktrace")
    with pytest.raises(InputError, match=f"no blktrace record begins here.*{blktrace.MAGIC | 7:#x}"):
        opened(content[:60] + content[57:], "blktrace")


# --- Parquet with named columns


def test_parquet_with_named_columns(tmp_path):
    rows = pd.DataFrame(
        {"key": ["a", "b", "a"], "rw": ["R", "W", "read"], "when": pd.to_datetime([5, 6, 9], unit="us")}
    )
    rows.to_parquet(tmp_path / "x.parquet")
    trace = open_trace(tmp_path / "x.parquet", columns="block=key,op=rw,time=when")
    assert trace.format == "parquet" and trace.ids.tolist() == [0, 1, 0]
    assert trace.write.tolist() == [False, True, False] and trace.time.tolist() == [0, 1000, 4000]
    assert trace.address[0] == hash_texts(np.array([0, 1], np.int32), np.frombuffer(b"a", np.uint8))[0]
    rows[["key"]].assign(size=[10, 20, 10]).to_parquet(tmp_path / "y.parquet")
    assert open_trace(tmp_path / "y.parquet").object_bytes.tolist() == [10, 20]
    rows.to_csv(tmp_path / "x.csv", index=False)
    assert open_trace(tmp_path / "x.csv", "csv", columns="block=key,op=rw").address.tolist() == trace.address.tolist()


@pytest.mark.parametrize("keys", [np.array([0, 2**64 - 1, 0], np.uint64), np.array([-1, 5, -1], np.int8)])
def test_a_parquet_block_is_any_number_of_64_bits(tmp_path, keys):
    pd.DataFrame({"key": keys}).to_parquet(tmp_path / "x.parquet")
    assert references(open_trace(tmp_path / "x.parquet")) == [int(key) % 2**64 for key in keys]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [1]}, "no column .x. gives the place"),
        ({"key": [1, None]}, "row 2, column key: a value is missing"),
        ({"offset": [-1, 2]}, "row 1, column offset: -1 is out of range"),
        ({"key": [1], "op": ["?"]}, "column op: operation '\\?'; expected R or W"),
        ({"key": [1, 2], "op": [0, 2]}, "column op: operation '0'.*--operations 0=read"),
        ({"key": [1, 2], "write": [0, 2]}, "row 2, column write: operation '2'"),
        ({"key": [1.5]}, "row 1, column key: 1.5 is not a whole number"),
    ],
)
def test_parquet_that_is_not_a_trace_is_refused(tmp_path, table, message):
    pd.DataFrame(table).astype({"key": "Int64"} if table.get("key") == [1, None] else {}).to_parquet(
        tmp_path / "x.parquet"
    )
    with pytest.raises(InputError, match=message):
        open_trace(tmp_path / "x.parquet")


@pytest.mark.parametrize("columns", [{"key": [1]}, {"time_ms": [0], "relation": ["a"], "block": [1], "write": [True]}])
def test_parquet_that_is_compressed_as_a_whole_is_refused(tmp_path, columns):
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    (path := tmp_path / "x.parquet.gz").write_bytes(gzip.compress((tmp_path / "x.parquet").read_bytes()))
    message = r"x\.parquet\.gz: a Parquet file must not be compressed as a whole; decompress the file"
    for form in (None, "parquet", "capture"):
        with pytest.raises(InputError, match=message):
            open_trace(path, form)


def test_a_parquet_column_may_have_a_name_that_is_not_text(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"key": [1, 2]}).to_parquet(path, compression=None)
    path.write_bytes(path.read_bytes().replace(b"key", b"\xf4ey"))
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        open_trace(path)


# --- traces of Caffeine's simulator


@pytest.mark.parametrize(
    ("file", "format", "name"),
    [
        ("corda_trace_vaultservice.gz", "corda", "corda_vaultservice"),
        ("scarab_scarab-recs.trace.xz", "Scarab", "scarab_recs"),
        ("adapt_size_request.trace.xz", "adapt_size", "adapt_size_request"),
        ("address_penalties_gcc.trace.xz", None, "address_penalties_gcc"),
        ("address_gzip.trace.gz", None, "address_gzip"),
    ],
)
def test_misses_of_an_independent_program(extras, file, format, name):
    trace, truth = open_trace(extras / file, format), pd.read_csv(extras / "truth.csv").query("trace == @name")
    all_reads = Trace.from_blocks(trace.address[trace.ids])  # the program counts a store like a load
    assert (len(trace), trace.blocks) == (truth["references"].iloc[0], truth["distinct"].iloc[0])
    for policy in ("lru", "fifo", "opt"):
        table = hit_ratio_curve(all_reads, policy, truth["cache_blocks"].tolist()[1:4])
        assert table["misses"].tolist() == truth[f"{policy}_misses"].tolist()[1:4]


def test_an_object_of_adapt_size_is_another_one_with_another_size(opened):
    last = (1 << 64) - 1
    lines = f"0 {last} {1 << 40}\n1 {last} 1\n2 {last} {1 << 40}\n"
    trace = opened(lines, "adapt_size")
    assert trace.ids.tolist() == [0, 1, 0] and trace.object_bytes.tolist() == [1 << 40, 1] and trace.time is None
    assert opened(lines, "lrb").ids.tolist() == [0, 0, 0]


def test_stores_are_writes_and_other_letters_are_refused(opened):
    assert opened("l 0x10 1\ns 0x1f 2\n").write.tolist() == [False, True]
    with pytest.raises(InputError, match=r"line 2: field 1 \(l or s\).*'q'"):
        opened("l 0x10 1\nq 0x1f 2\n", "address")


def test_a_letter_is_named_by_its_place_in_the_file(opened, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK", 64)
    with pytest.raises(InputError, match=r"line 41: field 1 \(l or s\).*'q'"):
        opened("l 0x10 1\n" * 40 + "q 0x1f 2\n", "address")


def test_delayed_hits(opened):
    trace = opened("0;5\n3;6\n4;5\n")
    assert (trace.format, references(trace), trace.time.tolist()) == ("delayed_hits", [5, 6, 5], [0, 3000, 4000])


# --- tables in and out


def test_tables_in_and_out():
    trace = Trace.from_blocks([9, 4, 9], [False, True, False], [0, 5, 7], object_bytes=[10, 20, 10])
    for table in (trace.to_pandas(), trace.to_arrow(), pa.RecordBatch.from_pandas(trace.to_pandas())):
        again = Trace.from_table(table)
        assert {name: column.tolist() for name, column in again.to_numpy().items()} == {
            "block": [9, 4, 9], "write": [False, True, False], "time": [0, 5, 7], "object_bytes": [10, 20, 10],
        }  # fmt: skip
    assert hit_ratio_curve(trace.to_pandas(), "lru", 2)["hits"].tolist() == [1]
    with pytest.raises(InputError, match="gives the place of a request"):
        Trace.from_table(pd.DataFrame({"level": [1]}))
    with pytest.raises(InputError, match="no column 'key'; expected one of level"):
        Trace.from_table(pd.DataFrame({"level": [1]}), "block=key")
    with pytest.raises(ParameterError, match="unknown role 'blok'"):
        Trace.from_table(pd.DataFrame({"key": [1]}), "blok=key")


def test_object_sizes_are_kept(tmp_path):
    trace = open_trace(FORMATS / "requests.csv")
    trace.save(tmp_path / "x.trace")
    assert open_trace(tmp_path / "x.trace").object_bytes.tolist() == trace.object_bytes.tolist()
    assert trace.footprint_bytes == int(trace.object_bytes.sum())


def test_dinero_leaves_out_comments_and_records_that_name_no_reference(opened):
    """The format's page says: the rest of a line is a comment, 3 is an unknown access, and 4 flushes the cache."""
    trace = opened("2 0 an instruction\n0 1000\n1 103f a store\n3 5000\n4 0\n0 1000\n", "dinero")
    assert trace.ids.tolist() == [0, 1, 1, 1]
    assert trace.reads == 3 and trace.blocks == 2
