"""Test that tables written by programs and spreadsheets are read correctly or refused with advice on what to state.

The right values were worked out by hand from the lines.
"""

import gzip
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import InputError, Trace, open_trace
from misspenalty.io.files import open_output
from misspenalty.traces import rows

NULL, A, B = 0x6FB485C5DA699EE1, 0x2F63DC4C296230C0, 0x2F63DF4C29622EE9  # numbers of the keys "NULL", "a" and "b"
SECOND = 10**9


# Each case has the content, options, blocks referenced (as numbers), writes, and times in ns.
@pytest.mark.parametrize(
    ("content", "options", "blocks", "writes", "times"),
    [
        pytest.param(",time,key,size\n0,1,7,10\n1,2,8,20\n2,3,7,10\n", {}, [7, 8, 7], None, [0, SECOND, 2 * SECOND],
                     id="the index of pandas"),
        pytest.param("Timestamp (ms),Offset (bytes),Size (KB),Op\n5,0,8,R\n15,8192,4,W\n", {}, [0, 1, 2],
                     [False, False, True], [0, 0, 10_000_000], id="units in the names of columns"),
        pytest.param("LBA,Size_KB,RW\n0,8,R\n16,4,W\n", {}, [0, 1, 2], [False, False, True], None, id="sizes in KB"),
        pytest.param("offset_kb;size_bytes\n4;4096\n0;4096\n", {}, [1, 0], None, None, id="addresses in KB"),
        pytest.param("length_sectors,offset_sectors\n16,8\n8,24\n", {}, [1, 2, 3], None, None, id="sectors by name"),
        pytest.param("length_blocks,block_number\n2,8\n1,24\n", {}, [8, 9, 24], None, None, id="counts by name"),
        pytest.param("time,lba,size\n1,0x8,4096\n2,0x10,4096\n", {}, [1, 2], None, [0, SECOND], id="hexadecimal, 0x"),
        pytest.param("lba,size\n1a,4096\n10,4096\n", {"key": "hex"}, [3, 4, 2], None, None, id="hexadecimal, bare"),
        pytest.param("time,key\r\n1,7\n2,8\r\n", {}, [7, 8], None, [0, SECOND], id="both kinds of line ends"),
        pytest.param("time,date,key\n12:00:00,2024-05-31,7\n00:00:00.5,2024-06-01,8\n", {}, [7, 8], None,
                     [0, 12 * 3600 * SECOND + SECOND // 2], id="dates and times of day apart"),
        pytest.param("key,d,t\n7,31/05/2024,12:00\n8,31/05/2024,12:01\n",
                     {"columns": "time=d+t", "time_unit": "%d/%m/%Y %H:%M"}, [7, 8], None, [0, 60 * SECOND],
                     id="dates and times of day, in a format"),
        pytest.param("time\tkey\n2024-05-31 12:00:00,250\t7\n2024-05-31 12:00:01,000\t8\n", {}, [7, 8], None,
                     [0, 750_000_000], id="ISO times with a comma"),
        pytest.param("time,major,minor,lba,size\n1,8,0,8,4096\n2,8,16,8,4096\n3,8,0,8,4096\n", {},
                     [1, 1 << 47 | 1, 1], None, [0, SECOND, 2 * SECOND], id="major and minor numbers of devices"),
        pytest.param("file,offset,size\na,0,4096\nb,0,4096\na,0,4096\n", {}, [0, 1 << 47, 0], None, None,
                     id="files with addresses of their own"),
        pytest.param("vm_id,offset,size\n0,0,4096\n1,0,4096\n", {}, [0, 1 << 47], None, None, id="virtual machines"),
        pytest.param("DiskNum,ByteOffset,IOSize\n0,0,4096\n1,0,4096\n", {}, [0, 1 << 47], None, None, id="DiskNum"),
        pytest.param("key,is_read\n7,1\n8,0\n", {}, [7, 8], [False, True], None, id="is_read"),
        pytest.param("key,Direction\n7,read\n8,write\n", {}, [7, 8], [False, True], None, id="direction"),
        pytest.param("key,mode\n7,R\n8,W\n", {"columns": "op=mode"}, [7, 8], [False, True], None, id="op=mode"),
        pytest.param("key,n\n7,3\n", {"columns": "repeat=n"}, [7, 7, 7], None, None, id="repeat=n"),
        pytest.param("object_id,req_count\n7,3\n", {}, [7, 7, 7], None, None, id="a count of requests"),
        pytest.param("start_time,end_time,key\n5,9,7\n6,7,8\n", {}, [7, 8], None, [0, SECOND], id="start and end"),
        pytest.param("filename,file_offset\na,4096\nb,4096\n", {}, [1, 1 << 47 | 1], None, None, id="places in files"),
        pytest.param("ts_us,key\n5,7\n10,8\n", {}, [7, 8], None, [0, 5000], id="unit of times by name"),
        pytest.param("time,key\n1,7\ntime,key\n2,8\n", {}, [7, 8], None, [0, SECOND], id="files joined with headers"),
        pytest.param("key\n7\n\ufeff8\n", {}, [7, 8], None, None, id="files joined with byte order marks"),
        pytest.param("key,note\na,x\nkey,note\na,y\n", {}, [A, A], None, None, id="text keys, and the header again"),
        pytest.param("| time | key |\n|---|:---|\n| 1 | a |\n| 2 | b |\n", {}, [A, B], None, [0, SECOND],
                     id="a table of Markdown"),
        pytest.param("Block Number , Op Type\n7 , R\n8 , W\n", {}, [7, 8], [False, True], None, id="names with blanks"),
        pytest.param("% made by hand\ntime,key\n1,7\n", {}, [7], None, [0], id="comments as in Matlab"),
        pytest.param("// made by hand\ntime key\n1 7\n", {}, [7], None, [0], id="comments as in C"),
        pytest.param("-- made by hand\nkey\n7\n", {}, [7], None, None, id="comments as in SQL"),
        pytest.param("key\n-5\n18446744073709551611\n", {}, [2**64 - 5] * 2, None, None,
                     id="one hash, with and without sign"),
        pytest.param('"time","op","key"\n"1","W","7"\n', {}, [7], [True], [0], id="everything in quotes"),
        pytest.param("time,key\n1.7e9,7\n1700000001.5,8\n", {}, [7, 8], None, [0, 3 * SECOND // 2],
                     id="times as floats"),
        pytest.param("lba,nsect,rw\n0,16,R\n8,8,W\n", {}, [0, 1, 1], [False, False, True], None, id="nsect"),
        pytest.param("sector,nr_sectors,rwbs\n0,16,R\n8,8,WS\n", {}, [0, 1, 1], [False, False, True], None,
                     id="the kernel's nr_sectors"),
        pytest.param("key,is_write\n7,yes\n8,no\n", {}, [7, 8], [True, False], None, id="yes and no"),
        pytest.param("timestamp,key\n20160201164604,7\n20160201164705,8\n", {}, [7, 8], None, [0, 61 * SECOND],
                     id="dates without signs"),
        pytest.param("timestamp,key\n20240531T235959Z,7\n20240601T000000Z,8\n", {}, [7, 8], None, [0, SECOND],
                     id="ISO dates without signs"),
        pytest.param("pool,volume,offset,size\np,v,0,4096\nq,v,0,4096\n", {"columns": "device=pool+volume"},
                     [0, 1 << 47], None, None, id="volumes of pools"),
        pytest.param("filename,file_offset,ioSizeBytes\na,0,8192\n", {"columns": "size=ioSizeBytes"}, [0, 1], None,
                     None, id="a size with a name of one's own"),
        pytest.param("lba_4k,op\n1,R\n8,W\n1,R\n", {}, [1, 8, 1], [False, True, False], None, id="addresses of 4 KB"),
        pytest.param("time,key\n1,NULL\n2,a\n1,NULL\n", {"key": "text"}, [NULL, A, NULL], None, [0, SECOND, 0],
                     id="NULL as a key"),
    ],
)  # fmt: skip
def test_read_right(opened, content, options, blocks, writes, times):
    trace = opened(content, **options)
    assert trace.address[trace.ids].tolist() == blocks
    assert (None if trace.write is None else trace.write.tolist()) == writes
    assert (None if trace.time is None else trace.time.tolist()) == times


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("key,count\n7,3\n8,2\n", "count may count blocks from key on, or references to key; --columns count=count or"),
        ("lba,size\n8,8\n16,16\n", r"size \(8, 16\) holds no whole sectors of 512 bytes; say its unit, --size-unit"),
        ("lba,size\n8,8\n16,1024\n24,16\n", r"size \(8, 1024, 16\) holds few whole sectors of 512 bytes; say its unit"),
        ("offset,size\n8,4096\n16,4096\n24,4096\n", r"offset \(8, 16, 24\) may be bytes, or sectors.*--address-unit"),
        ("block,length\n10,4\n20,600\n30,2\n", r"length \(4, 600, 2\) may be bytes of a block, or a number of blocks"),
        ("block,length\n10,4\n20,2\n", r"length \(4, 2\) may be bytes of a block, or a number of blocks; --columns"),
        ("key,flag\n7,0\n8,1\n", r"column flag \(0, 1\) may say which requests are writes; state it with --col"),
        ("sector,action\n8,D\n8,C\n", r"column action \(C, D\) names several steps of each request; keep the rows of"),
        ("key,size,block_size\n7,1,2\n", "size and block_size may both be the size"),
        ("key,mode\n7,R\n8,W\n", r"column mode holds operations \(R, W\); state it with --columns op=mode"),
        ("time,key\n1,7\n2,NULL\n", "line 3: field 2 .key.*NULL may be a missing key.*--key text"),
        ("lba,size\n1a,4096\n", "line 2: field 1 .lba.*--key hex"),
        ("time,key\n31/05/2024 12:00,7\n", "line 2: field 1 .time.*--time-unit .*names a format"),
        ("time;key\n0,5;7\n", "line 2: field 1 .time.*decimals follow a point, not a comma"),
        ("offset,size\n0,4K\n", "line 2: field 2 .size"),
        ("filename,file_offset,request_io_size_bytes\na,0,8192\n",
         "request_io_size_bytes may hold sizes, and no column was recognised as the size; .*size=request.*ignore=req"),
        ("key,reqLen\n7,100\n", "column reqLen may hold sizes"),
        ("lba,disk_rw_flag\n7,0\n", "column disk_rw_flag may hold operations, .*op=disk_rw_flag"),
        ("key,byte_sz\n7,100\n", "column byte_sz may hold sizes"),
        ("osd_id,offset,size\n1,0,4096\n2,0,4096\n",
         "column osd_id may name devices, whose addresses would be mixed; state it with --columns device=osd_id .*ign"),
        ("block,guestVolume\n1,x\n", "column guestVolume may name devices"),
        ("pool,volume,offset,size\np,v,0,4096\n", "may both be the device; say which.*or device=pool.volume if each"),
        ("key,op\na,DELETE\n",
         "line 2: field 2 .op.*operation 'DELETE'.*--operations DELETE=delete .or write, or ignore; operations="),
        ("key,op\na,R\nb,TRIM\nc,FLUSH\n", "line 3: .*'TRIM'.*they mean with --operations TRIM=read,FLUSH=read .or"),
        ("key,size,io_size\na,1,2\n", "columns size and io_size may both be the size; say which with --columns"),
        ("key,op,is_write\na,R,0\n", "columns op and is_write exclude each other; expected one column of op, write"),
        ("key,size,pages\na,1,2\n", "columns size and pages exclude each other; .*such as with --columns ignore=pages"),
        ("time,key\n", "contains no requests, only a header"),
        ("time,key\n1,a\n2,\n", "line 3: field 2 .key.*a key is missing"),
        ('time,key\n1,"a\nb"\n', "line 2: a quote is not closed.*values must not contain line breaks"),
        ("key,size\n7,-1\n", "line 2: field 2 .size.*-1 is out of range"),
        ("offset,size\n-5,4096\n18446744073709551611,4096\n", "line 2: field 1 .offset.*-5 is out of range"),
        ("lpn,npages\n7,2\n-2,3\n", "line 3: field 1 .lpn.*3 blocks from 18446744073709551614 on; exp"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_wrong_or_what_to_do(opened, content, message):
    with pytest.raises(InputError, match=message):
        opened(content)


@pytest.mark.parametrize("content", ["key\n7\n8\n{}", "time,key\n1,a\n2,{}\n", "time key\n1 a\n2 b{}\n"])
def test_null_bytes_that_a_crash_left_are_no_key(opened, content):
    number = 4 if content.startswith("key") else 3
    with pytest.raises(InputError, match=f"line {number}: a null byte in the line; expected text; .*as by a crash"):
        opened(content.format("\0" * 9))


def test_rows_that_count_no_request_are_counted_themselves(opened):
    trace = opened("time,key,repeat\n1,7,1\n2,8,0\n3,9,2\n4,8,0\n")
    assert trace.address[trace.ids].tolist() == [7, 9, 9]
    assert "skipped 2 records with a count of 0" in trace.reading.changes
    with pytest.raises(InputError, match="contains no requests, but 1 record with a count of 0"):
        opened("key,repeat\n7,0\n")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_a_file_that_is_not_compressed_as_its_name_says_is_to_be_renamed(opened, suffix):
    with pytest.raises(InputError, match=f"fetch it again; if it is not compressed, .*rename it without {suffix}$"):
        opened("time,key\n1,7\n", name=f"found.csv{suffix}")
    with pytest.raises(InputError, match=r"fetch it again$"):
        opened(gzip.compress(b"time,key\n1,7\n")[:-9], name=f"cut.csv{suffix}")


def test_a_note_on_thousands_of_columns_is_short(opened):
    more = range(3000)
    trace = opened(f"key,{','.join(f'c{number}' for number in more)}\n7{',0' * len(more)}\n")
    assert len(trace.reading.ignored) == 3000
    for said in (trace.reading.notice("found"), trace.reading.describe()["ignored"]):
        assert re.search(r"c0, c1, .*, c29 and 2,970 more$", said)


def test_a_note_says_that_times_of_day_pass_midnight(opened):
    lines = "time,key\n23:59:59,7\n{}00:00:01,8\n"
    later, apart = (opened(lines.format(between)).reading.changes for between in ("", "12:00:00,9\n"))
    assert "times of day without a date fall 1 time by more than 12 hours, as at midnight: add the date" in later
    dated = opened("time,key\n2024-05-31 23:59:59,7\n2024-05-31 00:00:01,8\n").reading.changes
    assert not any("midnight" in said for said in (*apart, *dated))


def test_a_hexadecimal_address_of_64_bits_is_read_or_refused_with_how(opened):
    """Arrow reads such numbers as negative, so they must be refused unless the key is said to be hexadecimal."""
    content = "addr,op\n0xffff888012345000,R\n0x1000,W\n"
    with pytest.raises(InputError, match=r"line 2: field 1 .addr.*is out of range.*--key hex .* from 2\*\*63 on$"):
        opened(content)
    assert opened(content, key="hex").address.tolist() == [0xFFFF888012345, 1]


@pytest.mark.parametrize("most", [1, 2, 3, 5, 1 << 20])
def test_rows_that_count_several_times_are_read_in_parts(opened, monkeypatch, most):
    monkeypatch.setattr(rows, "MOST_REPEATS", most + 1)
    lines = "time,key,op,n\n0,a,R,1\n1,b,INCR,1\n2,c,W,0\n3,a,W,1\n4,c,INCR,1\n"
    trace = opened(lines, columns="repeat=n", operations="INCR=both")
    assert trace.ids.tolist() == [0, 1, 1, 0, 2, 2] and trace.reading.rows == 6
    assert trace.write.tolist() == [False, False, True, True, False, True]
    assert trace.time.tolist() == [0, 10**9, 10**9, 3 * 10**9, 4 * 10**9, 4 * 10**9]


def test_rows_that_count_enormously_often_are_refused_before_they_fill_the_memory(opened):
    with pytest.raises(InputError, match=r"bytes contain more than \d+ references; if that is intended"):
        opened("key,repeat\n" + "7,1000000\n" * 50_000)


def test_what_was_adjusted_is_said(opened):
    said = opened("key,level\n1.23457E+15,1\nkey,level\n7,1\n").reading.notice("mine.csv")
    assert "exponents, which may have lost digits" in said
    assert "ignored column level" in said and "skipped 1 repeated header line" in said


@pytest.mark.parametrize("options", [{"key": "text"}, {"key": "hex"}])
def test_exponents_are_named_only_where_keys_are_numbers(opened, options):
    lines = "key,size\n1e3,10.0\n7e4,20\n"
    assert "keys are written with exponents" in opened(lines).reading.notes[-1]
    assert opened(lines, **options).reading.notes == opened(lines + "k,5\n").reading.notes == ()
    table = {"key": ["1e3", "7e4"], "size": [10, 20]}
    assert "keys are written with exponents" in Trace.from_table(table).reading.notes[-1]
    assert Trace.from_table(table, **options).reading.notes == ()


def test_what_the_user_says_is_not_doubted(opened):
    trace = opened("offset,size,mode\n8,4096,R\n16,4096,W\n", columns="ignore=mode", address_unit="sectors")
    assert trace.address[trace.ids].tolist() == [1, 2] and trace.reading.address_unit == 512
    assert trace.reading.ignored == ()
    assert opened("lba,size\n8,8\n", size_unit="sectors").reading.size_unit == 512
    assert opened("lba,size\n8,8\n", size_unit="bytes").reading.size_unit == 1


@pytest.mark.parametrize(
    ("content", "options", "note"),
    [
        (
            "disk,offset,size\n0,0,4096\n1,0,4096\n",
            {"columns": "ignore=disk"},
            "devices merged, as column disk is left",
        ),
        (
            "0,k1,17,213,4,get,60\n1,k1,17,213,4,delete,0\n",
            {"format": "twitter"},
            "times to live .ttl. ignored .--lifetimes honour.",
        ),
        ("0,k1,17,213,4,get,60\n1,k1,17,213,4,delete,0\n", {"format": "twitter"}, "ignored operations: 1 delete"),
        ("key,ttl\n7,60\n", {}, r"times to live \(ttl\) ignored \(--lifetimes honour\)"),
    ],
)
def test_what_is_not_honoured_is_said(opened, content, options, note):
    assert re.search(note, opened(content, **options).reading.notice("mine.csv"))


def test_size_changes_are_counted_when_a_file_is_read(opened):
    reading = opened("key,size\na,1\na,2\nb,5\na,1\na,2\n").reading
    assert reading.size_changes == 2 and reading.describe()["size changes"].startswith("2 references")


def test_a_block_of_meta_is_of_one_shard(opened):
    header = "op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,op_count,host_name"
    rows = ["10,b1,40,9,0,u,n,getChunkData.Permanent,1,h,3", "11,b1,40,9,0,u,n,getChunkData.Permanent,2,h,4"]
    trace = opened("\n".join([header + ",rs_shard_id", *rows, rows[0]]) + "\n")
    assert (trace.format, trace.ids.tolist()) == ("meta_block", [0, 1, 1, 0])


@pytest.mark.parametrize("short", [False, True])
def test_a_block_of_meta_has_chunks_of_128_kb(opened, short):
    header = "op_time,block_id,block_id_size,io_size,io_offset,user_name,user_namespace,op_name,op_count,host_name"
    row = "1{},{},40,{},{},u1,n1,getChunkData.Permanent,1,h1,3"
    rows = [row.format(n, 777, 131072, n * 131072) for n in range(9)]
    rows += [row.format(9, 777, 131072, 65536), row.format(9, 778, 1, 0), row.format(9, 777, 200000, 8 * 131072 - 1)]
    lines = [header + ",rs_shard_id", *rows]
    if short:
        lines = [",".join(line.split(",")[n] for n in (0, 1, 2, 3, 4, 5, 7, 8)) for line in lines]
    trace = opened("\n".join(lines) + "\n")
    assert (trace.format, trace.block_bytes) == ("meta_block_short" if short else "meta_block", 131072)
    assert trace.ids.tolist() == [*range(9), 0, 1, 9, 7, 8, 10]
    assert trace.object_bytes is None and trace.reading.columns["offset"] == "io_offset"
    assert int(trace.address[8] - trace.address[0]) % (1 << 64) == 8


@pytest.mark.parametrize(
    ("operations", "right"),
    [
        ("TRIM=ignore,FLUSH=ignore", [0, 1]),
        ("TRIM=write,FLUSH=ignore", [0, 1, 1]),
        ("*=read", [0, 0, 0, 0]),
        ("READ=write,TRIM=ignore,FLUSH=ignore", [1, 1]),
    ],
)
def test_words_that_are_known_need_no_meaning(opened, operations, right):
    assert opened("key,op\na,READ\nb,WRITE\nc,TRIM\nd,FLUSH\n", operations=operations).write.tolist() == right


def test_truths_keep_their_meaning_next_to_others(opened):
    assert opened("key,is_read\na,true\nb,false\nc,trim\n", operations="trim=ignore").write.tolist() == [0, 1]


def test_a_named_format_keeps_the_usual_words_unless_it_has_its_own(opened):
    lines = "419,W,0,4096,10\n419,T,0,4096,11\n419,R,0,4096,12\n"
    assert opened(lines, format="alicloud", operations="T=ignore").write.tolist() == [1, 0]
    with pytest.raises(InputError, match="operation 'R'"):
        opened('1.5 [0 1.2.3.4:5] "R" "x"\n', format="redis_monitor", operations="X=ignore")


def test_a_value_of_size_0_that_twitter_read_is_unknown(opened):
    rows = ["0,a,2,0,1,get,0", "1,a,2,0,1,gets,0", "2,a,2,100,1,set,60", "3,b,2,0,1,set,60", "4,b,2,0,1,get,0"]
    rows += ["5,a,2,0,1,get,0", "6,a,2,50,1,set,0", "7,a,2,0,1,incr,0", "8,c,2,0,1,get,0"]
    trace = opened("\n".join(rows) + "\n")
    assert trace.format == "twitter"
    assert trace.bytes_of(slice(None)).tolist() == [102, 102, 102, 2, 2, 102, 52, 52, 52, 0]
    notes = "; ".join(trace.reading.notes)
    assert "6 sizes unknown, taken from other requests" in notes and "1 object of unknown size, taken for 0" in notes


def test_an_object_of_twitter_has_its_size_before_it_is_set_again(opened):
    rows = ["0,a,2,0,1,get,0", "1,a,2,100,1,set,5", "2,a,2,0,1,delete,0", "3,a,2,0,1,get,0", "4,a,2,9,1,set,5"]
    trace = opened("\n".join(rows) + "\n", lifetimes="honour")
    assert (trace.ids.tolist(), trace.bytes_of(slice(None)).tolist()) == ([0, 0, 1, 1], [102, 102, 11, 11])
    assert "2 sizes unknown" in "; ".join(trace.reading.notes)


@pytest.mark.parametrize("header", ["key,op,size,op_count,key_size", "op,key,op_count,size"])
def test_a_size_of_0_that_metas_key_value_cache_read_is_unknown(opened, header):
    names = header.split(",")
    rows = [("k", "GET", "0", "3", "4"), ("k", "SET", "50", "1", "4"), ("e", "SET", "0", "1", "4")]
    cells = [dict(zip(["key", "op", "size", "op_count", "key_size"], row, strict=True)) for row in rows]
    lines = [header, *(",".join(cell[name] for name in names) for cell in cells)]
    trace = opened("\n".join(lines) + "\n", format="meta_kv")
    key = 4 if "key_size" in names else 0
    assert trace.bytes_of(slice(None)).tolist() == [50 + key] * 4 + [key]
    assert trace.reading.notes == ("3 sizes unknown, taken from other requests to the same object if any states it",)


CDN = (
    "timestamp,cacheKey,OpType,objectSize,responseSize,responseHeaderSize,rangeStart,rangeEnd,TTL,SamplingRate,"
    "cache_hit,item_value,RequestHandler,cdn_content_type_id,vip_type\n"
)


@pytest.mark.parametrize("number", ["6000", "6000.0", " 6000 "])
def test_an_object_of_metas_cdn_may_lack_its_size(opened, number):
    row = "167883840{},{},1,{},5000,300,0,0,60,0.2,1,3,h,2,1\n"
    text = CDN + row.format(1, "k7", "") + row.format(2, "k8", " ") + row.format(3, "k7", number)
    trace = opened(text)
    assert (trace.format, trace.bytes_of(slice(None)).tolist()) == ("meta_cdn", [6000, 0, 6000])
    notes = "; ".join(trace.reading.notes)
    assert "2 sizes unknown" in notes and "1 object of unknown size, taken for 0 bytes" in notes
    with pytest.raises(InputError, match=r"line 2: field 4 .objectSize.*-6 is out of range"):
        opened(CDN + row.format(1, "k7", "-6"))


def test_spaces_may_be_more_than_devices(opened):
    rows = [f"f{n},{512 * (n % 2)},512" for n in range(70_000)]
    trace = opened("\n".join(["name,offset,size", *rows, *rows[:5]]) + "\n", columns="space=name", block_bytes=512)
    assert trace.blocks == 70_000 and trace.ids[-5:].tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(InputError, match="both a device and a space"):
        opened("disk,name,offset\n1,a,0\n", columns="space=name")
    with pytest.raises(InputError, match=r"both a key and a space.*device=… keeps keys apart"):
        opened("name,key\na,0\n", columns="space=name")


def frame(content, window_log, checksum=None):
    """Return a Zstandard frame of one raw block (RFC 8878): magic number, two descriptors, block, checksum."""
    return (
        b"\x28\xb5\x2f\xfd"
        + bytes([0 if checksum is None else 4, (window_log - 10) << 3])
        + (len(content) << 3 | 1).to_bytes(3, "little")
        + content
        + (b"" if checksum is None else checksum.to_bytes(4, "little"))
    )


def test_zstandard_with_a_long_window_says_how_to_read_it(tmp_path):
    (path := tmp_path / "mine.csv.zst").write_bytes(frame(b"key\n7\n8\n", 27))
    assert open_trace(path).address.tolist() == [7, 8]
    path.write_bytes(frame(b"key\n7\n8\n", 31))
    with pytest.raises(InputError, match=r"window of more than 128 MB.*zstd -d --long=31 mine.csv.zst"):
        open_trace(path)


def test_damage_to_zstandard_is_noticed_only_with_a_checksum(tmp_path):
    """In a frame without a checksum, a changed byte may go unnoticed, as SECURITY.md says."""
    path, right = tmp_path / "mine.csv.zst", 0x48A23A47  # the low half of XXH64, computed from its definition
    path.write_bytes(frame(b"key\n7\n8\n", 20, right))
    assert open_trace(path).address.tolist() == [7, 8]
    for damaged in (frame(b"key\n7\n9\n", 20, right), frame(b"key\n7\n8\n", 20, right ^ 1)):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"mine\.csv\.zst: cannot be read .*damaged: fetch it again"):
            open_trace(path)
    path.write_bytes(frame(b"key\n7\n9\n", 20))
    assert open_trace(path).address.tolist() == [7, 9]


def test_frames_that_are_written_here_carry_no_checksum(tmp_path):
    """Arrow, which compresses the frames, writes no checksums, as SECURITY.md says."""
    with open_output(tmp_path / "mine.csv.zst") as stream:
        stream.write(b"key\n7\n8\n")
    assert (tmp_path / "mine.csv.zst").read_bytes()[4] & 4 == 0


def test_an_object_takes_its_key_and_its_value(opened):
    assert opened("value_size,key,key_size\n10,a,1\n20,b,2\n").object_bytes.tolist() == [11, 22]
    assert opened("block,block_size\n7,4096\n8,8192\n").object_bytes.tolist() == [4096, 8192]


@pytest.mark.parametrize("address", ["lba", "sector", "offset"])
def test_a_count_of_blocks_next_to_an_address_is_refused_until_its_unit_is_said(address, opened):
    lines = f"{address},nblocks\n0,16\n16,8\n"
    with pytest.raises(InputError, match=r"count of blocks next to an address.*--size-unit 4KB"):
        opened(lines)
    trace = opened(lines, columns=f"sector={address},sectors=nblocks")
    assert (len(trace), trace.blocks) == (3, 3)  # 16 sectors are two blocks of 4 KB
    assert len(opened(lines, columns=f"sector={address},ignore=nblocks")) == 2


@pytest.mark.parametrize(
    ("content", "objects", "references"),
    [
        pytest.param('key,time\n" a",1\n"a",2\na,3\n a,4\n"a" ,5\n"a ",6\n', 3, 6, id="blanks within quotes count"),
        pytest.param('key,time\n"a"" b ",1\n"a"" b",2\n', 2, 2, id="doubled quotes"),
        pytest.param('key;time\n"x; y ";1\n"x; y";2\n', 2, 2, id="separators within quotes"),
        pytest.param('time\tkey\n1\t" a"\n2\ta\n3\t a\n', 2, 3, id="tabs"),
        pytest.param('key,time\n" 7",1\n7,2\n"7 ",3\n', 1, 3, id="numbers are the same with blanks"),
        pytest.param('key,time\n" 7",1\n7,2\nx,3\n', 3, 3, id="but not texts of digits"),
    ],
)
def test_blanks_belong_to_a_key_within_quotes_only(content, objects, references, opened):
    trace = opened(content)
    assert (trace.blocks, len(trace)) == (objects, references)


def test_the_arguments_of_redis_keep_their_blanks(opened):
    assert opened('1339518083.1 [0 1.1.1.1:1] "get" "x"\n1339518083.2 [0 1.1.1.1:1] "get" " x"\n').blocks == 2


@pytest.mark.parametrize("keys", [["007", "7"], ["7", "0x7"], ["8", "+08"], ["7", *map(str, range(10, 99)), "07"]])
def test_numbers_that_begin_with_zeros_are_said_to_be_numbers(keys, opened):
    lines = "size,key,level\n" + "".join(f"0,{key},0\n" for key in keys)
    trace = opened(lines, columns="ignore=size+level")
    said = [note for note in trace.reading.changes if "007, 0x7 and 7 are one key (--key text" in note]
    assert (len(said), trace.blocks) in {(1, len(keys) - 1), (0, len(keys))}  # either one key, with a note, or two keys
    apart = opened(lines, columns="ignore=size+level", key="text")
    assert apart.blocks == len(keys) and not any("one key" in note for note in apart.reading.changes)
    table = Trace.from_table({"key": keys})
    assert any("one key" in note for note in table.reading.changes) or table.blocks == len(keys)


def test_zeros_that_lead_no_key_are_not_mentioned(opened):
    assert opened("key,date\n0,2024-01-05 07:00:00\n10,2024-01-05 07:00:01\n").reading.changes == ()


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_two_keys_that_are_equal_in_64_bits_are_said_to_be_one(name, tmp_path):
    path = tmp_path / name
    keys = ["-1", str(2**64 - 1), "7"]
    if path.suffix == ".csv":
        path.write_text("key\n" + "\n".join(keys) + "\n")
    else:
        pq.write_table(pa.table({"key": keys}), path)
    trace = open_trace(path)
    assert trace.blocks == 2 and any("-1 and 2**64 - 1 are one key" in note for note in trace.reading.changes)
    apart = open_trace(path, key="text")
    assert apart.blocks == 3 and not any("one key" in note for note in apart.reading.changes)
    alone = Trace.from_table({"key": ["-1", "-2", "7"]})
    assert alone.reading.changes == ()


@pytest.mark.parametrize(
    "second, said", [("2024-05-31T12:00:01", 1), ("2024-05-31T12:00:01.25", 1), ("2024-05-31T13:00:01.25+01:00", 0)]
)
def test_times_without_a_zone_among_others_with_one_are_named(second, said, opened):
    trace = opened(f"time,block\n2024-05-31T12:00:00Z,1\n{second},2\n")
    assert trace.time[1] // 10**9 == 1
    assert sum("times without a zone" in note for note in trace.reading.changes) == said


def test_requests_of_no_bytes_are_counted_in_the_description(opened):
    trace = opened("disk,offset,size\n0,0,0\n1,4096,4096\n0,0,0\n")
    assert "2 requests of 0 bytes, each taken for one block" in trace.reading.changes and len(trace) == 3


def test_batches_of_deletes_at_s3_are_deletes(opened):
    lines = (
        'o b [06/Feb/2019:00:00:38 +0000] 1.2.3.4 r 3E REST.GET.OBJECT k "GET /k HTTP/1.1" 200 - 10 10 1 1 "-" "x" -\n'
        "o b [06/Feb/2019:00:00:39 +0000] 1.2.3.4 r 3F BATCH.DELETE.OBJECT k - 204 - - 10 1 - - - -\n"
        'o b [06/Feb/2019:00:00:40 +0000] 1.2.3.4 r 40 REST.GET.OBJECT k "GET /k HTTP/1.1" 200 - 10 10 1 1 "-" "x" -\n'
    )
    assert (opened(lines).blocks, opened(lines, lifetimes="honour").blocks) == (1, 2)
