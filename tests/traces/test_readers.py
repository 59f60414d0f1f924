"""Test the readers of block, object and column traces: hand-made files, damaged ones, and the shared traces."""

import struct

import numpy as np
import pytest

from misspenalty import InputError, ParameterError, open_trace
from misspenalty.traces import formats
from misspenalty.traces.dialects import dialects
from misspenalty.traces.reader import Devices, extents, records
from misspenalty.traces.readers import srt
from tests.traces.test_traces import references, write


def on(device, block):
    """Return the address that a block of a device has in a trace."""
    return device << 47 | block


# --- vSCSI -----------------------------------------------------------------------------------------------------------


def vscsi_1(*requests):
    return b"".join(struct.pack("<IIIHHQQ", 1, size, 1, code, 256, lbn, us) for size, code, lbn, us in requests)


def vscsi_2(*requests):
    return b"".join(struct.pack("<HHIIIQQQ", code, 512, 1, size, 1, lbn, us, 9) for size, code, lbn, us in requests)


@pytest.mark.parametrize("pack", [vscsi_1, vscsi_2])
def test_vscsi_versions(tmp_path, pack):
    # Sectors 7 and 8 lie in two blocks of 4 KB; 0x35 (synchronise cache) moves no data.
    content = pack((1024, 0x28, 7, 1000), (0, 0x35, 0, 1500), (4096, 0x8A, 8, 3000))
    trace = open_trace(write(tmp_path / "x.vscsi", content))
    assert (trace.format, references(trace)) == ("vscsi", [0, 1, 1])
    assert trace.write.tolist() == [False, False, True]
    assert trace.time.tolist() == [0, 0, 2_000_000]
    assert open_trace(tmp_path / "x.vscsi", block_bytes=512).blocks == 9


@pytest.mark.parametrize("pack", [vscsi_1, vscsi_2])
def test_vscsi_counts_the_commands_that_are_no_requests(tmp_path, pack):
    """The commands are SYNCHRONIZE CACHE, INQUIRY, TEST UNIT READY, VERIFY, WRITE SAME and one of a vendor."""
    others = (0x35, 0x12, 0x00, 0x2F, 0x41, 0x93, 0xC1, 0x35)
    rows = [(4096, 0x28, 0, 1000), *((0, code, 8, 1500 + n) for n, code in enumerate(others)), (4096, 0x2A, 8, 3000)]
    reading = open_trace(write(tmp_path / "x.vscsi", pack(*rows))).reading
    assert (reading.rows, reading.reads, reading.writes, reading.time_unit) == (2, 1, 1, "us")
    assert reading.operations["READ(10)"] == ("read", 1) and reading.operations["WRITE(10)"] == ("write", 1)
    assert reading.notice("x").endswith(
        "ignored operations: 1 INQUIRY, 2 SYNCHRONIZE CACHE(10), 1 TEST UNIT READY, 1 VERIFY(10), 1 WRITE SAME(10),"
        " 1 WRITE SAME(16), 1 command 0xc1"
    )
    with pytest.raises(InputError, match=r"contains no requests, but 2 of the ignored operation UNMAP$"):
        open_trace(write(tmp_path / "none.vscsi", pack((24, 0x42, 0, 1), (24, 0x42, 0, 2))))


@pytest.mark.parametrize("code", [0x2E, 0x8E, 0xAE, 0x89, 0x8B, 0x9C])
def test_vscsi_commands_that_write_and_verify_or_compare_are_writes(tmp_path, code):
    trace = open_trace(write(tmp_path / "x.vscsi", vscsi_2((4096, 0x28, 0, 1000), (4096, code, 8, 1500))))
    assert references(trace) == [0, 1] and trace.write.tolist() == [False, True]
    told = trace.reading.notice("x")
    assert told is None if code != 0x89 else "1 COMPARE AND WRITE taken for writes of the length" in told


def test_vscsi_that_is_cut_or_changes_version(tmp_path):
    whole = vscsi_1(*[(512, 0x28, n, n) for n in range(9)])
    with pytest.raises(InputError, match=r"cut, byte 256: the file ends 12 bytes into a record.*truncated"):
        open_trace(write(tmp_path / "cut", whole[:-20]), "vscsi")
    with pytest.raises(InputError, match=r"mixed, byte 288: the record is not of version 1"):
        open_trace(write(tmp_path / "mixed", whole + bytes(32)), "vscsi")
    with pytest.raises(InputError, match="byte 0: the first record is not of version 1 or 2"):
        open_trace(write(tmp_path / "none", bytes(64)), "vscsi")


# --- DiskSim, MSR, blkparse ------------------------------------------------------------------------------------------


def test_disksim_flags_are_hexadecimal_and_devices_are_kept_apart(tmp_path):
    trace = open_trace(write(tmp_path / "x", b"13.5\t3 8 16 1\n14.000001 0 8 1 1a\n15 3 8 1 0x1\n"))
    assert trace.format == "disksim"
    assert references(trace) == [on(3, 1), on(3, 2), on(0, 1), on(3, 1)]
    assert trace.write.tolist() == [False, False, True, False]
    assert trace.time.tolist() == [0, 0, 500_001, 1_500_000]


MSR = (
    b"128166372003061629,hm,1,Read,383496192,32768,413\r\n"
    b"128166372016382155,hm,1,Write,383496192,512,41\r\n"
    b"128166372026382245,usr,1,Read,383496192,1,9\r\n"
)


def test_msr_ticks_and_volumes(tmp_path):
    trace = open_trace(write(tmp_path / "hm_1.csv", MSR), block_bytes=32768)
    first = 383496192 // 32768
    assert trace.format == "msr"
    assert references(trace) == [first, first + 1, first, on(1, first)]  # not aligned: two blocks; another server
    assert trace.time.tolist() == [0, 0, 1_332_052_600, 2_332_061_600]
    assert trace.write.tolist() == [False, False, True, False]


BLKPARSE = b"""\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  P   N [kjournald]
  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]
  8,0    3        4     0.000003000   697  Q FWS [jbd2/sda1-8]
  8,0    3        5     0.000004000   697  Q   D 800 + 64 [fstrim]
  8,0    3        6     0.000005000   697  Q   R 36 (12 00 00 00 24 00) [smartctl]
  8,0    3        7     0.000034000     0  m   N cfq697 insert 12
  8,0    0        4     0.000034972     0  C  WS 0 [0]
  8,0    0        5     0.000034973     0  C FWS 0 (      17) [0]
  8,0    0        6     0.000034974     0  C   R (a1 08 2e 00 ec 00 ..) [2]
  8,0    0        7     0.000034975  4103  I   N 0 (00 ..) [kworker/0:0]
  8,16   1        1     0.500002197   700  Q  RA 8 + 1 [a process]
  8,0    3        8     0.500034000     0  C   W 223490 + 8 [0]
  8,0    3        9     0.500044000   697  U   N [kjournald] 1
  8,0    3       10     0.500054000   697  X   R 223490 / 223494 [kjournald]
  8,0    3       11     0.500064000   697  A  WS 223490 + 8 <- (8,1) 223427
CPU0 (8,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB
 Read Depth:             0        \t Write depth:             1
Throughput (R/W): 0KiB/s / 8KiB/s
Events (8,0): 12 entries
Skips: 0 forward (0 -   0.0%)
"""


def test_blkparse_takes_one_action_and_passes_over_what_moves_no_data(tmp_path):
    path = write(tmp_path / "sda.txt", BLKPARSE)
    trace = open_trace(path)
    assert trace.format == "blkparse"
    assert references(trace) == [223490 // 8, 223490 // 8 + 1, on(1, 1)]
    assert trace.write.tolist() == [True, True, False]
    assert trace.time.tolist() == [0, 0, 500_000_000]
    completed = open_trace(path, action="C")
    assert references(completed) == [223490 // 8, 223490 // 8 + 1]


@pytest.mark.parametrize("device", ["8,x", "x,0", "8", "8,", ",0"])
def test_blkparse_is_told_by_the_device_of_its_first_event(device):
    first = BLKPARSE.splitlines()[0].split(maxsplit=1)[1]
    blkparse = dialects()["blkparse"]
    assert blkparse.fits("x", b"  8,0 " + first + b"\n")
    assert not blkparse.fits("x", device.encode() + b" " + first + b"\n")


@pytest.mark.parametrize(
    "form, content, message",
    [
        (
            "disksim",
            b"1 0 8 16 1\n1 0 8 16 zz\n",
            r"line 2: field 5 \(flags\).*'1 0 8 16 zz'",
        ),
        ("disksim", b"1 0 8 16\n", r"line 1: field 5 \(flags\) missing"),
        ("disksim", b"1 0 999999999999999 16 1\n", r"field 3 \(block\).*: 999999999999999 is out of range"),
        ("msr", MSR + b"1,hm,1,Peek,0,512,3\n", r"line 4: field 4 \(Type\).*'Peek'.*--operations Peek=read"),
        ("msr", MSR + b"1,hm,1,Read,0\n", r"line 4: field 6 \(Size\) missing"),
        ("msr", b"1,hm,1,Read,0,9999999999999,3\n", r"field 6 \(Size\).*: 9999999999999 is out of range"),
        ("blkparse", BLKPARSE[:260].rpartition(b" + ")[0], r"line 3: .*expected a line such as"),
        ("blkparse", b"8,0 1 1 0.1 5 Q R x + 8 [p]\n", r"line 1: .*expected a line such as"),
        ("blkparse", b"8,0 1 1 0.1 5 C R 8 + 8 [p]\n", "contains no requests, but 1 line of action C.*--action C"),
    ],
)
def test_malformed_lines_are_named(tmp_path, form, content, message):
    with pytest.raises(InputError, match=message):
        open_trace(write(tmp_path / "bad", content), form)


def test_options_belong_to_their_format(tmp_path):
    path = write(tmp_path / "sda.txt", BLKPARSE)
    with pytest.raises(ParameterError, match="action is 'Z'; expected one of Q, G"):
        open_trace(path, action="Z")
    with pytest.raises(ParameterError, match=r"format blkparse has no option 'unit'.*; it has columns.*action"):
        open_trace(path, unit="s")
    with pytest.raises(ParameterError, match="format u32le has no option 'action'; it has none"):
        open_trace(write(tmp_path / "x", b"1111"), "u32le", action="Q")
    with pytest.raises(ParameterError, match="no option 'block_size', did you mean 'block_bytes'"):
        open_trace(path, block_size=8192)


# --- numbers: oracleGeneral and plain --------------------------------------------------------------------------------


def oracle(*rows):
    return b"".join(struct.pack("<IQIq", *row) for row in rows)


def test_a_size_of_0_is_unknown_in_oracle_general(tmp_path):
    rows = oracle((0, 7, 0, 2), (1, 8, 0, -1), (2, 7, 90, 3), (3, 7, 0, -1))
    trace = open_trace(write(tmp_path / "x.oracleGeneral", rows))
    assert trace.bytes_of(slice(None)).tolist() == [90, 0, 90, 90]
    said = (
        "3 sizes unknown, taken from other requests to the same object if any states it",
        "1 object of unknown size, taken for 0 bytes",
    )
    assert trace.reading.notes == said
    assert open_trace(write(tmp_path / "x.oracleGeneral", oracle((0, 7, 1, -1)))).reading.notes == ()


def test_oracle_general_is_told_by_its_content(tmp_path):
    big = 2**64 - 1
    trace = open_trace(write(tmp_path / "x.bin", oracle((100, big, 1, 2), (101, 7, 4096, -1), (101, big, 1, -1))))
    assert (trace.format, references(trace)) == ("oracleGeneral", [big, 7, big])
    assert trace.time.tolist() == [0, 10**9, 10**9]
    assert open_trace(write(tmp_path / "x.oracleGeneral", oracle((0, 1, 1, -1)))).format == "oracleGeneral"
    for row in ((0, 1, 1, 0), (0, 1, 1, -2), (0, 1, 1, 1 << 40)):  # the next access is impossible
        with pytest.raises(InputError, match="the content fits no format"):
            open_trace(write(tmp_path / "odd.bin", oracle(row, (0, 1, 1, -1))))
    with pytest.raises(InputError, match="byte 48: the file ends 23 bytes into a record"):
        open_trace(write(tmp_path / "cut.oracleGeneral.bin", (oracle((0, 1, 1, -1)) * 3)[:-1]))


@pytest.mark.parametrize("layout, further", [("<IQIBHq", (1, 1)), ("<IQIHq", (0,)), ("<IQHIHHiq", (100, 1, 1, 60))])
@pytest.mark.parametrize("none", [-1, -2, 2**63 - 1])
def test_records_of_other_lengths_are_not_read_as_oracle_general(tmp_path, layout, further, none):
    """The records have 27 (oracleGeneralOpNS), 26 or 34 bytes (oracleSysTwr); the file has a multiple of 24 bytes."""
    rows = [(n // 3, 5 + n % 9, 100 + n % 9, *further, n + 9 if n < 711 else none) for n in range(720)]
    path = write(tmp_path / "x.oracleGeneralOpNS", b"".join(struct.pack(layout, *row) for row in rows))
    assert path.stat().st_size % 24 == 0
    with pytest.raises(InputError, match=r"record \d+ has the impossible next access .*oracleGeneralOpNS: convert"):
        open_trace(path)


def test_oracle_general_takes_every_number_that_says_there_is_no_next_access(tmp_path):
    rows = oracle(*((n, 7, 100, none) for n, none in enumerate((1, 2, -1, -2, 2**63 - 1, (1 << 40) - 1, 0))))
    assert references(open_trace(write(tmp_path / "x.oracleGeneral", rows))) == [7] * 7
    rows += oracle((9, 7, 100, 1 << 40))
    with pytest.raises(InputError, match="byte 168: record 8 has the impossible next access 1099511627776"):
        open_trace(write(tmp_path / "x.oracleGeneral", rows))


@pytest.mark.parametrize("name, dtype", [("u32le", "<u4"), ("u32be", ">u4"), ("u64le", "<u8"), ("u64be", ">u8")])
def test_plain_numbers_of_either_byte_order(tmp_path, name, dtype):
    ids = [5, 1 << 30, 5, 0] + ([1 << 63] if dtype[2] == "8" else [])
    path = write(tmp_path / "x.bin", np.array(ids, dtype).tobytes())
    assert references(open_trace(path, name)) == ids
    with pytest.raises(InputError, match=rf"cut.bin, byte {len(ids) * int(dtype[2])}: the file ends 3 bytes into"):
        open_trace(write(tmp_path / "cut.bin", path.read_bytes() + b"abc"), name)


@pytest.mark.parametrize("size", [1, 2, 7])
def test_records_do_not_depend_on_the_chunks(tmp_path, monkeypatch, size):
    from misspenalty.traces import reader

    path = write(tmp_path / "x", np.arange(20, dtype="<u4").tobytes())
    monkeypatch.setattr(reader, "RECORDS", size)
    assert np.concatenate(list(records(path, np.dtype("<u4")))).tolist() == list(range(20))


# --- named columns ---------------------------------------------------------------------------------------------------


def test_csv_of_blocks_with_quotes_blanks_and_columns_to_pass_over(tmp_path):
    content = b'Time,"Key",comment,is_write\n0.25,"a b",x y,true\n1.5,c,"1, 2",0\n2,"a b",,False\n'
    trace = open_trace(write(tmp_path / "x.csv", content))
    assert (trace.format, trace.ids.tolist()) == ("csv", [0, 1, 0])
    assert trace.write.tolist() == [True, False, False]
    assert trace.time.tolist() == [0, 1_250_000_000, 1_750_000_000]


def test_csv_of_byte_ranges(tmp_path):
    content = b"timestamp_ms;device;byte_offset;size;op\n5;a;4095;2;R\n7;b;4095;1;Write\n"
    trace = open_trace(write(tmp_path / "x.csv", content))
    assert references(trace) == [0, 1, on(1, 0)]
    assert trace.time.tolist() == [0, 0, 2_000_000]
    assert trace.write.tolist() == [False, False, True]
    assert open_trace(write(tmp_path / "y.csv", b"lba,sectors\n8,9\n")).blocks == 2
    assert references(open_trace(write(tmp_path / "z.csv", b"block,count\n8,3\n"))) == [8, 9, 10]


@pytest.mark.parametrize(
    "unit, times, ns",
    [
        ("time", ["0", "0.5", "12345.25", "1700000000.123456789"], [0, 5 * 10**8, 12345250000000, 1700000000123456789]),
        ("time_ms", ["3.5", "3.500001", "9000000000"], [0, 1, 9 * 10**15 - 3500000]),
        ("time_us", ["1700000000000000.5", "1700000000000001"], [0, 500]),
        ("time_ns", ["7", "9223372036854775"], [0, 9223372036854768]),
    ],
)
def test_csv_times_are_exact_in_any_unit(tmp_path, unit, times, ns):
    path = write(tmp_path / "x.csv", "\n".join([f"{unit},block", *(f"{time},1" for time in times)]).encode())
    assert open_trace(path).time.tolist() == ns


@pytest.mark.parametrize("name, content", [("a.csv", b"time_ns,block\n0,1\n9223372036854775807,1\n"), ("b.csv", MSR)])
def test_impossible_times_are_named(tmp_path, name, content):
    first = content.rsplit(b"\n", 2)[-2]
    late = first.replace(first.partition(b",")[0], b"9223372036854775807", 1)
    with pytest.raises(InputError, match=rf"{name}: time 9223372036854775807 is out of range; expected within"):
        open_trace(write(tmp_path / name, content + late + b"\n"))


def test_csv_columns_can_be_named(tmp_path):
    path = write(tmp_path / "x.csv", b"who,where\n1,5\n2,5\n")
    assert references(open_trace(path, "csv", columns="block=where")) == [5, 5]
    assert references(open_trace(path, "csv", columns={"block": "who"})) == [1, 2]
    for columns, error, message in [
        (None, InputError, "line 1: has no header that names the place.*--columns"),
        ("block=what", InputError, "no column 'what'; expected one of who, where"),
        ("blok=who", ParameterError, "unknown role 'blok'"),
    ]:
        with pytest.raises(error, match=message):
            open_trace(path, "csv", columns=columns)


def test_csv_malformed(tmp_path):
    path = write(tmp_path / "x.csv", b'block,time\n1,0\n2,"1\n')
    with pytest.raises(InputError, match=r"x.csv, line 3: a quote is not closed"):
        open_trace(path, "csv")
    with pytest.raises(InputError, match="line 1: columns block and offset exclude each other; expected one column of"):
        open_trace(write(tmp_path / "y.csv", b"block,offset\n1,2\n"), "csv")


# --- HP SRT ----------------------------------------------------------------------------------------------------------


def srt_record(order, second, size, sector, device, flags, version=1, kind=1):
    words = [0, version << 16 | kind, second, 250_000, 0, 0, size, sector, device, 0, 0, flags, 0]
    words += [3] * (version == 4) + [1] * (kind == 4)
    words[0] = 4 * len(words)
    return struct.pack(f"{order}{len(words)}I", *words)


HEADER = b'tracedate\t= "Sat Apr 18 00:00:00 1992";\nmachine = "x";\n\f'


@pytest.mark.parametrize("order", [">", "<"])
@pytest.mark.parametrize("version", [1, 4])
@pytest.mark.parametrize("header", [HEADER, b""])
@pytest.mark.parametrize("chunk", [64, 1 << 22])
def test_srt(tmp_path, monkeypatch, order, version, header, chunk):
    rows = [(10, 8192, 7, 0x1C0400, 1), (11, 512, 0, 0x1C0500, 0x100), (12, 512, 7, 0x1C0400, 3)]
    parts = [srt_record(order, *row, version) for row in rows]
    parts.insert(1, srt_record(order, 10, 512, 99, 0, 1, version, 4))  # suspect: left out
    monkeypatch.setattr(srt, "CHUNK", max(chunk, len(header) + 60))
    trace = open_trace(write(tmp_path / "x.srt", header + b"".join(parts)))
    assert (trace.format, references(trace)) == ("srt", [0, 1, 2, on(1, 0), 0])
    assert trace.reading.skipped == {"suspect records": 1}
    assert trace.write.tolist() == [False, False, False, True, False]
    assert trace.time.tolist() == [0, 0, 0, 10**9, 2 * 10**9]


def test_srt_damaged(tmp_path):
    whole = HEADER + srt_record(">", 1, 512, 8, 1, 1) * 3
    begin = len(HEADER)
    with pytest.raises(InputError, match=rf"byte {begin + 104}: the file ends within a record"):
        open_trace(write(tmp_path / "cut", whole[:-4]))
    with pytest.raises(InputError, match=rf"byte {begin + 156}: no SRT record begins here"):
        open_trace(write(tmp_path / "odd", whole + bytes(52)))
    with pytest.raises(InputError, match=rf"byte {begin + 156}: no SRT record begins here"):
        open_trace(write(tmp_path / "word", whole + whole[begin : begin + 4]))  # the length of a record, and no more
    assert srt.byte_order(whole[begin : begin + 8]) == ">u4" and srt.byte_order(whole[begin : begin + 7]) is None
    with pytest.raises(InputError, match="byte 0: no SRT record begins here"):
        open_trace(write(tmp_path / "none", b"tracedate only"), "srt")
    with pytest.raises(InputError, match=rf"byte {begin}: no SRT record begins here"):
        open_trace(write(tmp_path / "new", HEADER + srt_record(">", 1, 512, 8, 1, 1, version=5) * 2), "srt")


# --- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "odd"), [([-5, 7], "address -5 is"), ([7, 1 << 56], f"address {1 << 56} is"), ([0, -1], "address -1 is")]
)
def test_an_address_out_of_range_is_named(start, odd):
    with pytest.raises(InputError, match=f"{odd} out of range"):
        extents(np.zeros(2, np.int64), np.array(start), np.ones(2, np.int64), None, None, 4096, "x")


def test_devices_are_numbered_in_order_of_appearance():
    devices = Devices()
    assert devices.number(np.array([7, 7])).tolist() == [0, 0]
    assert devices.number(np.array([9, 3, 7, 9])).tolist() == [1, 2, 0, 1]
    assert devices.number(np.array([], np.int64)).tolist() == []
    pairs = Devices()
    assert pairs.number(np.array([1, 1, 2]), np.array([5, 6, 5])).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "name, form, requests, read_share",
    [
        ("vscsi/cloudPhysicsIO.vscsi", "vscsi", 113_872, 0.413),
        ("disksim/ascii.trace", "disksim", 100_000, 0.796),
        ("disksim/ssd-postmark-aligned2.trace", "disksim", 62_257, None),
        ("spc/websearch-small.spc", "spc", 24_783, None),
    ],
)
def test_shared_block_traces(shared_traces, name, form, requests, read_share):
    assert open_trace(shared_traces / name).format == form
    batches = list(formats()[form].read(shared_traces / name, 4096))
    writes = np.concatenate([batch.write for batch in batches])
    assert writes.size == requests
    if read_share is not None:
        assert 1 - writes.mean() == pytest.approx(read_share, abs=0.0005)


def test_shared_object_traces(shared_traces):
    trace = open_trace(shared_traces / "objects" / "web12.trace.xz", "u32be")
    assert (len(trace), trace.blocks) == (95_607, 13_756)
    with pytest.raises(InputError, match=r"fits no format.*--format.*trace formats"):
        open_trace(shared_traces / "objects" / "web12.trace.xz")
