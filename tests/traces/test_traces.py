"""Test readers, the compiled form, and the messages for bad files."""

import bz2
import copy
import dataclasses
import gzip
import json
import lzma
import os
import pickle
import stat
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import InputError, ParameterError, Trace, open_trace, penalty, simulate
from misspenalty.traces import compiled, formats, lines, numbering
from misspenalty.traces.meta import checksum, meta_checksum
from misspenalty.traces.reading import Reading

CAPTURE = {
    "time_ms": [0, 0, 7],
    "relation": ["stock", "item", "stock"],
    "block": [5, 5, 5],
    "write": [False, False, True],
}


def write(path, content):
    path.write_bytes(content)
    return path


def capture(path, **columns):
    pd.DataFrame(CAPTURE | columns).to_parquet(path)
    return path


def references(trace):
    """Return the addresses referenced, in order."""
    return trace.address[trace.ids].tolist()


# --- formats ---------------------------------------------------------------------------------------------------------


def test_arc_expands_extents_in_ascending_order(tmp_path):
    trace = open_trace(write(tmp_path / "x.lis", b"7 3 0 1\n100 1 0 2\n8 2 0 3\n"))
    assert trace.format == "arc"
    assert references(trace) == [7, 8, 9, 100, 8, 9]
    assert trace.ids.tolist() == [0, 1, 2, 3, 1, 2]  # dense, in order of first use
    assert trace.write is None and trace.time is None and trace.reads == 6


def test_lirs_skips_marks_and_blank_lines_and_needs_no_last_newline(tmp_path):
    trace = open_trace(write(tmp_path / "x.trace", b"5\r\n*\r\n\r\n7\r\n5"))
    assert (trace.format, references(trace)) == ("lirs", [5, 7, 5])


def test_spc_covers_every_block_the_bytes_touch(tmp_path):
    # 1024 bytes from sector 7 on reach into sector 8 and so touch two 4 KB blocks; each unit has its own address space
    trace = open_trace(
        write(tmp_path / "x.spc", b"0,7,1024,R,0.5\n0,8,512,w,1.25,extra\n1,8,512,r,2\n"), block_bytes=4096
    )
    assert trace.ids.tolist() == [0, 1, 1, 2]
    assert trace.write.tolist() == [False, False, True, False]
    assert trace.time.tolist() == [500_000_000, 500_000_000, 1_250_000_000, 2_000_000_000]
    assert trace.reads == 3


def test_long_requests_follow_one_another(tmp_path):
    """Six requests of 2**18 blocks, more than are expanded at a time, together cover 1.5 million blocks in order."""
    lines = [f"0,{n << 18},{512 << 18},{'RW'[n % 2]},{n}\n" for n in range(6)]
    trace = open_trace(write(tmp_path / "x.spc", "".join(lines).encode()), block_bytes=512)
    block = np.arange(6 << 18)
    assert np.array_equal(trace.address[trace.ids], block)
    assert np.array_equal(trace.write, block >> 18 & 1)
    assert np.array_equal(trace.time, (block >> 18) * 10**9)


def test_a_request_of_no_bytes_touches_its_block(tmp_path):
    assert len(open_trace(write(tmp_path / "x.spc", b"0,0,0,R,0\n"))) == 1


def test_capture_keeps_relations_apart(tmp_path):
    trace = open_trace(capture(tmp_path / "c.parquet"))
    assert trace.ids.tolist() == [0, 1, 0]
    assert trace.write.tolist() == [False, False, True]
    assert trace.time.tolist() == [0, 0, 7_000_000]
    assert references(trace) == [5, (1 << 32) + 5, 5]


def test_the_reader_of_a_long_capture_is_found_without_a_suffix(tmp_path):
    """Parquet names its columns at the end of the file, which recognition has to read."""
    blocks = np.random.default_rng(1).integers(0, 1 << 32, 5000)
    path = capture(tmp_path / "c", time_ms=range(5000), relation="stock", block=blocks, write=False)
    trace = open_trace(path)
    assert path.stat().st_size > 20_000
    assert (trace.format, references(trace)) == ("capture", blocks.tolist())


COMPRESSED = [
    (".gz", gzip.compress),
    (".xz", lzma.compress),
    (".bz2", bz2.compress),
    (".zst", lambda data: pa.Codec("zstd").compress(data).to_pybytes()),
]


@pytest.mark.parametrize("suffix, pack", [*COMPRESSED, ("", bytes)])
def test_compression_is_transparent(tmp_path, suffix, pack):
    content = b"".join(b"%d\n" % (n % 1000) for n in range(30_000))
    trace = open_trace(write(tmp_path / f"x.trace{suffix}", pack(content)))
    assert references(trace) == [n % 1000 for n in range(30_000)]
    if suffix:
        cut = write(tmp_path / f"cut.trace{suffix}", pack(content)[:-20])
        with pytest.raises(InputError, match=r"cut.*(truncated|damaged)"):
            open_trace(cut, "lirs")


@pytest.mark.parametrize("suffix, pack", COMPRESSED)
def test_a_flipped_byte_of_a_compressed_file_is_an_input_error_or_unnoticed(tmp_path, suffix, pack):
    whole = pack(b"".join(b"%d\n" % (n * n % 9973) for n in range(200)))
    told = 0
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        path = write(tmp_path / f"x.trace{suffix}", damaged)
        try:
            open_trace(path, "lirs")
        except InputError as error:
            assert str(path) in str(error)
            told += 1
    assert told  # not for every byte: in Zstandard without a checksum, a digit may become another one


@pytest.mark.parametrize("chunk", [3, 7, 64])
def test_results_do_not_depend_on_the_chunks(tmp_path, monkeypatch, chunk):
    path = write(tmp_path / "x.trace", b"\n".join(b"%d" % n for n in range(500)))
    monkeypatch.setattr(lines, "CHUNK", chunk)
    assert references(open_trace(path)) == list(range(500))
    with open(path, "ab") as file:
        file.write(b"\nnonsense\n1\n")
    with pytest.raises(InputError, match=r"line 501: field 1 \(block\) missing or malformed in 'nonsense'"):
        open_trace(path, "lirs")


@pytest.mark.parametrize(
    "name, form, references, blocks",
    [
        ("arc/OLTP.lis.zst", "arc", 914_145, 186_880),
        ("arc/P3.lis.zst", "arc", 3_912_296, 762_543),
        ("arc/P6.lis.zst", "arc", 12_672_123, 773_770),
        ("lirs/cpp.trace.gz", "lirs", 9_047, 1_223),
        ("lirs/loop.trace.gz", "lirs", 505_500, 1_011),
        ("spc/websearch-small.spc", "spc", None, None),
    ],
)
def test_real_traces_are_recognised_and_counted(shared_traces, name, form, references, blocks):
    trace = open_trace(shared_traces / name)
    assert trace.format == form
    if references is not None:
        assert (len(trace), trace.blocks) == (references, blocks)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content, form, message",
    [
        (b"", None, "is empty"),
        (b"*\n\n", "lirs", "contains no requests"),
        (b"1 2 3\n", "arc", r"line 1: field 4 \(reqno\) missing.*expected 'start:integer nblocks:integer"),
        (b"1 1 0 0\n1 2 3 4 5\n", "arc", "line 2: too many fields"),
        (b"1 0 0 0\n", "arc", "request 1 has 0 blocks"),
        (b"1 99999999999 0 0\n", "arc", "request 1 has 99999999999 blocks.*expected 1 to"),
        (b"18446744073709551616\n", "lirs", "line 1: field 1"),
        (b"-9223372036854775809\n", "lirs", "line 1: field 1"),
        (b"1.5\n", "lirs", "line 1: field 1"),
        (b"0,1,512,X,0\n", "spc", r"line 1: field 4 \(opcode\)"),
        (b"0,1,512,R,\n", "spc", r"line 1: field 5 \(timestamp\)"),
        (b"0,1,512,R,.\n", "spc", r"line 1: field 5 \(timestamp\)"),
        (b"7" * 70_000, "lirs", "longer than 64 KB|line 1: field 1"),
        (b"\x00\xff\xfe garbage", None, "fits no format.*--format.*trace formats lists all"),
        (b"PAR1 and then nothing", None, "cannot be read as Parquet"),
    ],
)
def test_bad_files_are_named_with_place_and_remedy(tmp_path, content, form, message):
    path = write(tmp_path / "bad.dat", content)
    with pytest.raises(InputError, match=message) as raised:
        open_trace(path, form)
    assert str(path) in str(raised.value)


def test_a_line_may_be_64_kb_long_and_no_longer(tmp_path):
    path = write(tmp_path / "long.lis", b"5\n" + b" " * ((1 << 16) - 1) + b"7")
    assert open_trace(path, "lirs").address.tolist() == [5, 7]
    write(path, b"5\n" + b" " * (1 << 16) + b"7")
    with pytest.raises(InputError, match="line 2: the line is longer than 64 KB"):
        open_trace(path, "lirs")


def test_a_missing_file_and_a_folder_that_is_not_a_trace_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_trace(tmp_path / "missing.lis")
    with pytest.raises(InputError, match="is a folder"):
        open_trace(tmp_path)


def test_captures_that_lack_columns_or_values(tmp_path):
    pd.DataFrame(CAPTURE).drop(columns="block").to_parquet(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="no column block"):
        open_trace(tmp_path / "c.parquet", "capture")
    with pytest.raises(InputError, match="gives the place of a request"):  # its columns fit no format
        open_trace(tmp_path / "c.parquet")
    with pytest.raises(InputError, match="lacks a value"):
        open_trace(capture(tmp_path / "d.parquet", relation=["stock", None, "item"]))
    with pytest.raises(InputError, match="is out of range"):
        open_trace(capture(tmp_path / "e.parquet", block=[1, 1 << 40, 2]))


def test_a_capture_holds_the_last_block_that_there_is(tmp_path):
    trace = open_trace(capture(tmp_path / "c.parquet", block=[5, (1 << 32) - 1, 5]))
    assert int(trace.address.max()) % (1 << 32) == (1 << 32) - 1


@pytest.mark.parametrize(
    "columns, message",
    [
        ({"time_ms": [0.0, 0.5, 7.0]}, "column time_ms is of type double; expected integers"),
        ({"relation": [1, 2, 1]}, "column relation is of type int64; expected text"),
        ({"block": ["5", "5", "5"]}, r"column block is of type (large_)?string; expected integers"),
        ({"write": [0, 0, 1]}, "column write is of type int64; expected booleans"),
        ({"block": [5, -1, 5]}, "block -1 is out of range"),
        ({"block": [5, 1 << 32, 5]}, f"block {1 << 32} is out of range.*expected 0 to {(1 << 32) - 1}"),
        ({"time_ms": [-3, 0, 7]}, "time_ms -3 is out of range"),
        ({"time_ms": [0, 1 << 60, 7]}, f"time_ms {1 << 60} is out of range"),
        ({"time_ms": [0, 9223372036854, 7]}, "time_ms 9223372036854 is out of range"),  # 2**63 ns, which do not fit
    ],
)
def test_captures_of_other_types_or_impossible_numbers(tmp_path, columns, message):
    path = capture(tmp_path / "c.parquet", **columns)
    with pytest.raises(InputError, match=message) as raised:
        open_trace(path)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
def test_captures_hold_text_of_any_width(tmp_path, kind):
    table = pa.table(CAPTURE | {"relation": pa.array(CAPTURE["relation"]).cast(kind)})
    pq.write_table(table, tmp_path / "c.parquet")
    assert references(open_trace(tmp_path / "c.parquet")) == [5, (1 << 32) + 5, 5]


def test_a_capture_with_two_columns_of_one_name(tmp_path):
    arrays = [*map(pa.array, CAPTURE.values()), pa.array([1, 2, 3])]
    pq.write_table(pa.Table.from_arrays(arrays, [*CAPTURE, "block"]), tmp_path / "c.parquet")
    with pytest.raises(InputError, match=r"c\.parquet: two columns block"):
        open_trace(tmp_path / "c.parquet")


def test_a_damaged_capture_is_an_input_error_or_unnoticed(tmp_path):
    whole = capture(tmp_path / "c.parquet").read_bytes()
    path, told = tmp_path / "damaged.parquet", 0
    for place in range(4, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        try:
            open_trace(write(path, damaged), "capture")
        except InputError as error:
            assert str(path) in str(error)
            told += 1
    assert told


def test_requests_that_add_up_to_too_many_references(tmp_path, monkeypatch):
    path = write(tmp_path / "x.lis", b"0 4 0 0\n0 4 0 1\n")
    monkeypatch.setattr(compiled, "MOST_REFERENCES", 8)
    assert len(open_trace(path)) == 8
    monkeypatch.setattr(compiled, "MOST_REFERENCES", 7)
    with pytest.raises(InputError, match=r"x\.lis: contains more than 7 references.*larger blocks"):
        open_trace(path)


@pytest.mark.parametrize(
    "name, content, message",
    [
        (
            "x.spc",
            b"0,8,4096,R,0.0\n0,8,4096,R,1.0 junk\n",
            r"x\.spc, line 2: .*timestamp.*junk.*read as spc; if the file is",
        ),
        ("x.spc", b"0,8,4096,Q,0.0\n", r"x\.spc, line 1: .*opcode.*read as spc"),  # recognised by its suffix
        ("x", b"5\n6\n7 x\n", r"x, line 3: too many fields in '7 x'.*read as lirs"),
        ("x.csv", b"time,key,size\n0,1,100\n1,2,-5\n", r"x\.csv, line 3: .*size.*'1,2,-5': -5 is out of range"),
        ("x.csv", b"time,what\n0,1\n", r"line 1: no column .time, what. gives the place of a request.*--columns"),
    ],
)
def test_a_wrong_line_near_the_head_is_named(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        open_trace(write(tmp_path / name, content))


def test_requests_beyond_the_maximum_length_are_refused(tmp_path):
    assert len(open_trace(write(tmp_path / "x.lis", b"0 262144 0 0\n"))) == 1 << 18
    with pytest.raises(InputError, match="request 1 has 262145 blocks; expected 1 to 262144"):
        open_trace(write(tmp_path / "y.lis", b"0 262145 0 0\n"))


@pytest.mark.parametrize(
    "error, said",
    [
        (MemoryError("no memory"), "no memory"),
        (MemoryError(), "out of memory"),
        (OverflowError("more than 7 distinct blocks"), "more than 7 distinct blocks"),
    ],
)
def test_more_distinct_blocks_than_fit_are_named_with_the_file(tmp_path, monkeypatch, error, said):
    class Full:
        def ids(self, addresses):
            raise error

    monkeypatch.setattr(numbering, "Interner", Full)
    with pytest.raises(InputError, match=rf"x\.lis: is too large to compile here \({said}\).*larger blocks"):
        open_trace(write(tmp_path / "x.lis", b"0 4 0 0\n"))


def test_names_that_no_file_can_have_are_refused(tmp_path):
    with pytest.raises(InputError, match="the name of the trace is empty"):
        open_trace("")
    with pytest.raises(InputError, match=r"'a\\x00b': the name of the trace contains a null character"):
        open_trace("a\0b")
    with pytest.raises(InputError, match="longer than the system allows"):
        open_trace(tmp_path / ("x" * 5000))
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match=r"loop: cannot be read: Too many levels of symbolic links$"):
        open_trace(tmp_path / "loop")


def test_unknown_formats_and_block_sizes(tmp_path):
    path = write(tmp_path / "x", b"1\n")
    with pytest.raises(ParameterError, match=r"unknown trace format 'tape'.*; known formats: .*arc.*lirs.*spc"):
        open_trace(path, "tape")
    with pytest.raises(ParameterError, match="block_bytes is 0"):
        open_trace(path, block_bytes=0)
    for impossible in ("8", 4096.5, True, -1, (1 << 30) + 1):
        with pytest.raises(ParameterError, match=r"block_bytes is .*; expected a whole number from 1 to"):
            open_trace(path, "lirs", block_bytes=impossible)
    assert open_trace(path, "lirs", block_bytes=np.int64(512)).block_bytes == 512


def test_opening_the_first_trace_imports_nothing(tmp_path):
    """The readers must be imported with the package, so that opening a trace imports none of the package's modules."""
    program = "import sys, misspenalty; loaded = set(sys.modules); misspenalty.open_trace(sys.argv[1]);"
    program += "print([name for name in set(sys.modules) - loaded if name.startswith('misspenalty')])"
    path = write(tmp_path / "x.lis", b"1\n")
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_every_format_says_what_it_is():
    assert list(formats()) == sorted(formats())
    for form in formats().values():
        assert form.summary and form.block_bytes > 0
        assert form.block_bytes % 512 == 0 or form.block_bytes == 64  # 64 bytes is a cache line
    assert ["little" in formats()[name].summary for name in ("u32le", "u64le", "u32be", "u64be")] == [1, 1, 0, 0]


def test_a_small_file_does_not_fill_the_disk_unless_it_may(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled, "ALWAYS", 1000)
    path = write(tmp_path / "long.lis", b"0 5000 0 0\n" * 2)
    with pytest.raises(InputError, match=r"long\.lis: 22 bytes contain more than 3200 references.*most_references"):
        open_trace(path)
    with pytest.raises(InputError, match="22 bytes contain more than 9999 references"):
        open_trace(path, most_references=9999)
    assert len(open_trace(path, most_references=10_000)) == 10_000
    assert len(open_trace(write(tmp_path / "short.lis", b"7 1 0 0\n"), most_references=1)) == 1
    bomb = tmp_path / "bomb.u64le.xz"
    bomb.write_bytes(lzma.compress(bytes(8_000_000)))
    with pytest.raises(InputError, match="references"):
        open_trace(bomb, "u64le")
    with pytest.raises(ParameterError, match="most_references is 0"):
        open_trace(path, most_references=0)


def test_a_file_of_blank_lines_is_recognised_at_once(tmp_path):
    program = "import sys, misspenalty; misspenalty.open_trace(sys.argv[1])"
    path = write(tmp_path / "blank", b"\n" * 5000)
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=False, timeout=60
    )
    assert "contains no requests" in done.stderr


def test_a_file_of_blank_lines_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MOST_IDLE", 1 << 20)
    monkeypatch.setattr(lines, "CHUNK", 1 << 19)
    path = write(tmp_path / "blank.spc", b"0,8,4096,R,0.0\n" + b"\n" * (1 << 20))
    assert len(open_trace(path, "spc")) == 1
    write(path, b"0,8,4096,R,0.0\n" + b"\n" * (3 << 20))
    with pytest.raises(InputError, match=r"line \d+: 1 MB without a request"):
        open_trace(path, "spc")


# --- the compiled form -----------------------------------------------------------------------------------------------


def test_save_and_open_again(tmp_path):
    raw = open_trace(capture(tmp_path / "c.parquet"))
    raw.save(tmp_path / "c.trace")
    again = open_trace(tmp_path / "c.trace")
    for column in ("ids", "write", "time", "address"):
        values = getattr(again, column)
        assert not isinstance(values, np.memmap) and not values.flags.writeable
        assert np.array_equal(values, getattr(raw, column))
    assert (again.name, again.format, again.block_bytes) == ("c.parquet", "capture", 8192)
    assert again == raw == open_trace(tmp_path / "c.parquet")
    first = {path.name: path.read_bytes() for path in (tmp_path / "c.trace").iterdir()}
    raw.save(tmp_path / "c.trace")
    assert first == {path.name: path.read_bytes() for path in (tmp_path / "c.trace").iterdir()}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.parquet", "c.trace"]  # no temporary file is left
    with pytest.raises(ParameterError, match="is compiled"):
        open_trace(tmp_path / "c.trace", block_bytes=512)


@pytest.mark.parametrize("size", [0, 100])
def test_an_open_trace_does_not_see_what_becomes_of_its_files(tmp_path, size):
    """The pages of a mapped file beyond its new end no longer exist, and touching them ends the process."""
    open_trace(capture(tmp_path / "c.parquet")).save(tmp_path / "c.trace")
    trace = open_trace(tmp_path / "c.trace")
    before = simulate(trace, "lru", 2)
    for name in ("ids", "write", "time", "address"):
        with open(tmp_path / "c.trace" / name, "r+b") as file:
            file.truncate(size)
            file.write(b"\xff" * size)
    assert simulate(trace, "lru", 2) == before


def test_a_large_compiled_trace_is_mapped(tmp_path, monkeypatch):
    raw = open_trace(capture(tmp_path / "c.parquet"))
    raw.save(tmp_path / "c.trace")
    monkeypatch.setattr(compiled, "LOADED", 16)
    trace = open_trace(tmp_path / "c.trace")
    assert isinstance(trace.ids, np.memmap) and np.array_equal(trace.ids, raw.ids)


def edit(folder, **keys):
    """Change keys of a description but leave its checksum."""
    meta = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps(meta | keys))


def forge(folder, ids=None, **keys):
    """Change a compiled trace and give it matching checksums."""
    if ids is not None:
        ids = np.array(ids, np.uint32)
        ids.tofile(folder / "ids")
        keys["columns"] = json.loads((folder / "meta.json").read_text())["columns"] | {"ids": checksum(ids)}
    edit(folder, **keys)
    edit(folder, checksum=meta_checksum(json.loads((folder / "meta.json").read_text())))


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda folder: (folder / "ids").write_bytes(b"abc"), "column ids is missing or does not have 3 entries"),
        (lambda folder: (folder / "address").unlink(), "column address is missing"),
        (
            lambda folder: np.array([0, 2, 0], np.uint32).tofile(folder / "ids"),
            r"c\.trace: column ids does not match its checksum [0-9a-f]{8}; .*compile it again",
        ),
        (lambda folder: edit(folder, block_bytes=512), r"meta\.json does not match its checksum"),
        (lambda folder: forge(folder, ids=[0, 2, 0]), r"id 2 in column ids is not below 2; .*compile it again"),
        (lambda folder: forge(folder, block_bytes=0), "block_bytes is 0"),
        (lambda folder: forge(folder, name=["a"] * 5000), "is not a compiled trace"),
        (lambda folder: forge(folder, name=["a"]), "is not a compiled trace"),
        (lambda folder: forge(folder, format=7), "is not a compiled trace"),
        (lambda folder: forge(folder, sizes={"requests": 0, "median": 1, "p95": 1, "largest": 1}), "but no requests"),
        (lambda folder: forge(folder, reading=Reading().to_dict() | {"reads": "3"}), "is not a compiled trace"),
        (lambda folder: forge(folder, reading=Reading().to_dict() | {"skipped": [3]}), "is not a compiled trace"),
        (lambda folder: forge(folder, reading=Reading().to_dict() | {"notes": [3]}), "a note is not text"),
        (lambda folder: forge(folder, references=3.0), "is not a compiled trace"),
        (lambda folder: forge(folder, columns={"../ids": "00000000"}), "is not a compiled trace"),
        (lambda folder: (folder / "meta.json").write_text("[" * 100_000), "is not a compiled trace"),
        (lambda folder: (folder / "meta.json").write_bytes(b"\xff{}"), "is not a compiled trace"),
        (lambda folder: (folder / "meta.json").write_text("{"), "not a compiled trace"),
        (lambda folder: (folder / "meta.json").write_text("{}"), "not a compiled trace"),
        (lambda folder: (folder / "meta.json").write_text(json.dumps({"version": 99})), "another version"),
    ],
)
def test_a_damaged_compiled_trace_says_so(tmp_path, damage, message):
    open_trace(capture(tmp_path / "c.parquet")).save(tmp_path / "c.trace")
    damage(tmp_path / "c.trace")
    with pytest.raises(InputError, match=message):
        open_trace(tmp_path / "c.trace")


def test_no_damaged_byte_of_a_compiled_trace_is_accepted(tmp_path):
    open_trace(capture(tmp_path / "c.parquet")).save(tmp_path / "c.trace")
    tried = 0
    for file in sorted((tmp_path / "c.trace").iterdir()):
        whole = file.read_bytes()
        damaged = [whole[:end] for end in range(len(whole))] + [whole + b"\0"]
        damaged += [whole[:i] + bytes([whole[i] ^ bit]) + whole[i + 1 :] for i in range(len(whole)) for bit in (1, 128)]
        for content in damaged:
            file.write_bytes(content)
            if file.name == "meta.json" and json_of(content) == json_of(whole):
                continue  # only the line end is cut
            with pytest.raises(InputError):
                open_trace(tmp_path / "c.trace")
            tried += 1
        file.write_bytes(whole)
    assert tried > 1000
    assert len(open_trace(tmp_path / "c.trace")) == 3


def json_of(content):
    try:
        return json.loads(content)
    except ValueError:
        return None


def test_a_place_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    trace = open_trace(capture(tmp_path / "c.parquet"))
    blocked = write(tmp_path / "file", b"")
    with pytest.raises(InputError, match="cannot be written"):
        trace.save(blocked / "c.trace")
    assert sorted(os.listdir(tmp_path)) == ["c.parquet", "file"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full to stand for a full disk")
def test_a_full_disk_is_named(tmp_path):
    from misspenalty.io.files import atomic_path

    with (
        pytest.raises(InputError, match=r"no space left.*out\.csv|out\.csv.*no space left"),
        atomic_path(tmp_path / "out.csv"),
        open("/dev/full", "w") as full,
    ):
        full.write("x" * 100_000)
    assert os.listdir(tmp_path) == []


def test_raw_files_stay_untouched(tmp_path):
    path = capture(tmp_path / "c.parquet")
    path.chmod(stat.S_IRUSR)
    before = path.read_bytes()
    open_trace(path)
    assert path.read_bytes() == before


def test_requests_of_one_block_are_counted(tmp_path):
    np.arange(3, dtype="<u8").tofile(tmp_path / "x")
    sizes = open_trace(tmp_path / "x", "u64le").sizes
    assert (sizes.requests, sizes.median, sizes.p95, sizes.largest, sizes.octaves) == (3, 1, 1, 1, (3,))


def made(ids, **columns):
    return Trace(ids, None, None, np.array([7], np.uint64), 4096, "made", "none", **columns)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda trace: pickle.loads(pickle.dumps(trace))])
def test_a_copy_of_a_trace_is_frozen_and_counts_for_itself(copied):
    trace = Trace.from_blocks([1, 2, 1], write=[True, False, False], time=[1, 2, 3], object_bytes=[5, 6, 7])
    assert trace.reads == 2 and trace.size_changes == 1
    other = copied(trace)
    arrays = [getattr(other, name) for name in ("ids", "write", "time", "address", "object_bytes", "request_bytes")]
    assert [array.flags.writeable for array in arrays] == [False] * 6
    assert other._known == {} and trace._known and other == trace and other.reads == 2


@pytest.mark.parametrize(
    "changed",
    [
        {"blocks": [1, 2, 2]},
        {"blocks": [1, 3, 1]},
        {"blocks": [1, 2], "time": [1, 2], "object_bytes": [5, 6]},
        {"write": [True, False, False]},
        {"time": [1, 2, 4]},
        {"time": None},
        {"block_bytes": 512},
        {"name": "other"},
        {"object_bytes": [5, 6, 8]},
    ],
)
def test_traces_are_equal_if_everything_in_them_is(changed):
    given = {"blocks": [1, 2, 1], "time": [1, 2, 3], "object_bytes": [5, 6, 7]}
    trace = Trace.from_blocks(**given)
    assert trace == Trace.from_blocks(**given) and trace != given
    assert trace != Trace.from_blocks(**given | changed)


@pytest.mark.parametrize(
    "ids",
    [
        np.zeros(10, np.uint32)[::2],
        np.zeros(5, np.uint32)[::-1],
        np.broadcast_to(np.uint32(0), (5,)),
        np.ma.masked_array(np.zeros(5, np.uint32), mask=False),
        np.zeros(21, np.uint8)[1:].view(np.uint32),
    ],
    ids=["strided", "reversed", "broadcast", "masked", "unaligned"],
)
def test_arrays_of_any_layout_make_a_trace(ids):
    """A kernel takes only arrays without gaps, so others must be copied for it."""
    assert simulate(made(ids), "lru", 1).hits == penalty(made(ids), "lru", 1, "1ms").hits[0] == 4


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda: made(np.ma.masked_array(np.zeros(2, np.uint32), mask=[0, 1])), "column ids: 1 of 2 values are masked"),
        (lambda: made(np.zeros(2, np.uint32), object_bytes=np.array([-5])), "a size is negative"),
        (lambda: dataclasses.replace(made(np.zeros(2, np.uint32)), block_bytes=0), "block_bytes is 0"),
        (lambda: simulate(made(np.zeros(0, np.uint32)), "lru", 1), "trace made has no references"),
    ],
)
def test_an_impossible_trace_is_refused(wrong, message):
    with pytest.raises(ParameterError, match=message):
        wrong()


def test_sizes_whose_sum_passes_64_bits_are_refused(tmp_path):
    """In 64 bits, 20 objects of 2**60 bytes would have a footprint of 4 EB, and four of 2**62 bytes one of 0 bytes."""
    with pytest.raises(InputError, match=r"its sizes add up to 1.84e\+19 bytes; expected at most 2\*\*62"):
        Trace.from_blocks(range(4), object_bytes=[2**62] * 4)
    with pytest.raises(InputError, match=r"its sizes add up to 7e\+18 bytes"):
        Trace.from_blocks([7] * 10, object_bytes=[7 * 10**17] * 10)
    assert Trace.from_blocks([7] * 4, object_bytes=[2**60] * 4).footprint_bytes == 2**60
    (path := tmp_path / "x.csv").write_text("key,size\n" + "".join(f"{key},{2**61}\n" for key in (1, 2, 1, 2)))
    with pytest.raises(InputError, match=r"its sizes add up to 9.22e\+18 bytes"):
        open_trace(path, columns="block=key,size=size")
    assert Trace.from_blocks([1, 1], object_bytes=[2**61, 2**61]).footprint_bytes == 2**61


def test_the_first_references_are_a_whole_number_of_them():
    trace = Trace.from_blocks([7, 8, 7])
    assert [len(trace.head(number)) for number in (0, 2, np.int64(2), 10**12)] == [0, 2, 2, 3]
    for wrong in ("5", 2.5, 9.5, None, True, -1):
        with pytest.raises(ParameterError, match=r"references is .*; expected a whole number from 0"):
            trace.head(wrong)
