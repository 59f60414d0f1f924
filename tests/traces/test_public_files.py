"""Test that logs and traces as public repositories hold them are read correctly or refused with advice that helps.

The lines have the form of those in the repositories named, and values of our own. The right values were worked out by
hand.
"""

import json
import re
import subprocess
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import InputError, open_trace

ETW = """BeginHeader
        DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,  IrpPtr,   ByteOffset,     IOSize, ElapsedTime
    DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,  IrpPtr
EndHeader
OS Version: 5.2.3790, Trace Size: 9KB, Lost Buffers: 0
    DiskReadInit,       8000,        store.exe (3984),      11844,  0xfffffa8023b21b20
        DiskRead,       8500,        store.exe (3984),      11844,  0xfffffa8023b21b20, 0x03000, 0x02000, 500, 0, 0x43
       DiskWrite,       9000,           System (   4),         72,  3, 0xfffffa8023b21b, 0x01000, 0x01000, 100, 7, 0x43
       DiskFlush,       9500,           System (   4),         72,  0xfffffa8023b21b20, 100, 7, 0x060000
"""  # the write is as a newer xperf prints it, with the processor
TPOINT = """Tracing block:block_rq_issue. Ctrl-C to end.
       supervise-16  [001] d... 72.5: block_rq_issue: 202,1 W 0 () 16 + 8 [supervise]
       supervise-16  [001] d... 72.5: <stack trace>
 => blk_peek_request
 => do_blkif_request
       cksum-18      [000] d... 73.5: block_rq_issue: 202,1 R 0 () 24 + 8 [cksum]

Ending tracing...
"""
TRAEFIK = (
    '1.2.3.4 - - [08/Dec/2021:09:16:05 +0000] "GET /{} HTTP/1.1" {} "-" "-" 1 "a@docker" "http://172.17.0.3:80" 0ms\n'
)
W3C = '#Fields: date time cs-method cs-uri-stem cs(User-Agent) sc-bytes\n{}2012-08-15 17:00:00 GET /a "{}" 5\n'
ZEEK = "#separator \\x09\n#fields\tts\thost\turi\tuser_agent\t{}response_body_len\n#types\ttime\tstring\tstring\t…\n"
EXT4 = """Tracing ext4 operations slower than 10 ms
TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME
06:35:01 cron           16464  R 1249    0          16.05 a
06:35:02 cron           16463  W 8192    8          16.04 a
06:35:03 cron           16465  R 4096    8          16.03 b
"""
DISKSIM = "# arrival device block count flags\n1.5 0 8 8 1\n2.5 1 8 8 0\n"
BIOSNOOP = "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n0.5 a 1 sda W 8 4096 0.7\n"
STARTED = "Feb 25 16:19:38 h haproxy[1]: Proxy {} started.\n"
HAPROXY = '1.2.3.4:5 [06/Feb/2009:12:14:14.655] in s/s1 1/0/3/6/9 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"\n'
BALEEN = "".join(f"7 {rest} 5\n" for rest in ("0 131072 15.5 1 2 3 4 1", "131072 8192 16.5 4 2 3 4 2",
                                              "0 8192 17.5 5 2 3 9 1", "0 8192 17.5 100 2 3 9 1"))  # fmt: skip
QUERIES = "".join(f"0x0{key} {rest} 15900000000000{time}\n" for key, rest, time in (
    (1, "1 0 24", "00"), (1, "0 0 0", "10"), (2, "6 0 0", "20"), (1, "2 0 0", "20"), (1, "5 1 30", "30")))  # fmt: skip
TABLE = "time,op,lba,size\n1,R,8,4096\n2,W,16,4096\n"
DARSHAN = """# darshan log version: 3.21

# DXT, file_id: 9457796068806373448, file_name: /a
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 X_POSIX       0  write        0               0         8192      0.5100      0.0200
 X_MPIIO       0  write        0               0         8192      0.5000      0.0300

# DXT, file_id: 8, file_name: /b
# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)
 X_POSIX       0   read        0               0         4096      0.7100      0.0400
"""
FRAMED = "+------+-----+\n| time | key |\n+------+-----+\n|    1 | a   |\n+------+-----+\n"
PAGES = "ts,db,rel,fork,block\n1,1,5,0,7\n2,1,6,0,7\n3,1,6,1,7\n"


# Each case has the content, options, format, ids, writes and times in ns.
@pytest.mark.parametrize(
    ("content", "options", "format", "ids", "writes", "times"),
    [
        pytest.param(ETW, {}, "etw", [0, 1, 2], [0, 0, 1], [0, 0, 500_000], id="SNIA IOTTA 130 and 158: xperf"),
        pytest.param(ETW.replace("EndHeader", "P-Start,  TimeStamp\n" * 999 + "EndHeader"), {}, "etw", [0, 1, 2],
                     [0, 0, 1], [0, 0, 500_000], id="requests far below the header of xperf"),
        pytest.param(TPOINT, {}, "ftrace", [0, 1], [1, 0], [0, 10**9], id="brendangregg/perf-tools: tpoint -s"),
        pytest.param(TRAEFIK.format("a", "200 5") + TRAEFIK.format("b", "- -"), {}, "access_log", [0, 1], [0, 0],
                     [0, 0], id="crowdsecurity/hub: Traefik, no status"),
        pytest.param(W3C.format("#Date: 2012-08-15 17:00:00\n", "x"), {}, "csv", [0], [0], [0],
                     id="tstack/lnav: a comment after #Fields"),
        pytest.param(ZEEK.format("") + "1.5\ta.org\t/x\tMozilla (X11, a b)\t9\n2.5\tb.org\t/x\tcurl\t7\n", {}, "csv",
                     [0, 1], None, [0, 10**9], id="tstack/lnav: Zeek's http.log"),
        pytest.param("Jun 10 12:00:00 h squid[12]: 1066036250.129    133 1.2.3.4 TCP_MISS/200 1280 GET http://a.org/a -"
                     " DIRECT/1.2.3.4 text/html\n", {}, "squid", [0], [0], [0], id="Squid's log from syslog"),
        pytest.param(EXT4, {"columns": "op=T"}, "csv", [0, 1, 2, 3], [0, 1, 1, 0],
                     [0, 10**9, 10**9, 2 * 10**9], id="iovisor/bcc: ext4slower"),
        pytest.param(EXT4, {"columns": "key=FILENAME,op=T,ignore=OFF_KB"}, "csv", [0, 0, 1], [0, 1, 0],
                     [0, 10**9, 2 * 10**9], id="the user's names find a header below a sentence"),
        pytest.param(DISKSIM, {}, "disksim", [0, 1], [0, 1], [0, 10**6], id="a comment above a trace of DiskSim"),
        pytest.param("# of Monday\n" + TRAEFIK.format("a", "200 5"), {}, "access_log", [0], [0], [0],
                     id="a comment above an access log"),
        pytest.param("  " + BIOSNOOP, {}, "biosnoop", [0], [1], [0], id="an indented header of biosnoop"),
        pytest.param(BALEEN, {"format": "baleen"}, "baleen", [0, 1, 1, 2], [0, 1, 1, 0], [0, 10**9, 10**9, 2 * 10**9],
                     id="wonglkd/BCacheSim: 10 numbers"),
        pytest.param(BALEEN.replace(" 5\n", "\n"), {"format": "baleen"}, "baleen", [0, 1, 1, 2], [0, 1, 1, 0],
                     [0, 10**9, 10**9, 2 * 10**9], id="wonglkd/BCacheSim: no host"),
        pytest.param(QUERIES, {}, "rocksdb_trace", [0, 0, 1, 1], [1, 0, 0, 1], [0, 10_000, 30_000, 30_000],
                     id="facebook/rocksdb: trace_analyzer, families apart"),
        pytest.param("sector,nr_sector,rwbs\n8,8,RAS\n16,8,FWFSM\n", {}, "csv", [0, 1], [0, 1], None,
                     id="bpftrace: a flush before a write"),
        pytest.param("ts,op,key,keysize,valuesize\n1,get,a,5,6\n2,set,a,5,6\n", {}, "csv", [0, 0], [0, 1], [0, 10**9],
                     id="sizes of keys and values in one word"),
        pytest.param(PAGES, {"columns": "device=db+rel+fork"}, "csv", [0, 1, 2], None, [0, 10**9, 2 * 10**9],
                     id="PostgreSQL: pages of relations and forks"),
        pytest.param("time/us,t,lba,size/KB\n5,R,8,4\n6,R,8,4\n", {"columns": "op=t"}, "csv", [0, 0], [0, 0], [0, 1000],
                     id="units after a slash"),
        pytest.param("t(ms),key,usec\n5,a,1\n6,b,1\n", {}, "csv", [0, 1], None, [0, 10**6], id="t with a unit"),
        pytest.param(FRAMED, {"comment": "+"}, "csv", [0], None, [0], id="what MySQL's client prints"),
        pytest.param("\ufefffio version 2 iolog\n/a add\n/a open\n/a read 0 4096\n", {}, "fio", [0], [0], None,
                     id="fio's iolog as saved on Windows"),
    ],
)  # fmt: skip
def test_public_files_are_read(opened, content, options, format, ids, writes, times):
    trace = opened(content, **options)
    assert trace.format == format and trace.ids.tolist() == ids
    assert (trace.write is None) == (writes is None) and (writes is None or trace.write.tolist() == writes)
    assert (trace.time is None) == (times is None) and (times is None or trace.time.tolist() == times)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (W3C.format("", "Mozilla/5.0 (X11, Linux, a) b"),
         r"line 2: 10 fields \(blanks within quotes.*\), although '#Fields: .*' names 6 columns; separate .* by tabs"),
        ("# Fields: the time and the key of each request\n1,2\n", "line 2: 2 fields, although '# Fields: .* names 8"),
        (W3C.format("", "x").replace(" cs-uri-stem", ""), "line 2: 6 fields, although '#F.*names 5 .*correct that"),
        (ETW.replace("0x01000", "4096"), "line 8: '       DiskWrite,       9000, .*expected a line such as 'DiskR"),
        (BIOSNOOP + "Total: 1\n", r"line 3: 'Total: 1'; .*read as biosnoop"),
        (STARTED.format(1) + STARTED.format(2) + HAPROXY + "Total: 1\n", r"line 4: 'Total: 1'; .*read as haproxy"),
        ("# 0 7fffed80 1\n# 1 10010000 10\n", "contains no requests; .*begin with # are comments; --comment"),
        ('caddy  | {"ts": 1}\n', r"is JSON after what a collector .*sed 's/\^\[\^\{\]\*//' FILE"),
        ('2025-12-31T17:37:40.4+01:00 stdout F {"a": 1}\n', "is JSON after what a collector of logs writes"),
        ('{"id": "s1", "hash_id_scope": "local", "requests": [{"t": 0.5, "in": 64, "hash_ids": [0]}]}\n',
         "is a file of sessions of prompts; write an object per prompt, .*hash_id_scope local.*make them differ"),
        (json.dumps({f"Name{at}": at for at in range(30)} | {"RequestPath": "/a", "EdgeResponseBytes": 5}),
         r"\(echo RequestPath,EdgeResponseBytes; jq -r '\[\.RequestPath,\.EdgeResponseBytes\].*--columns key="),
        (ZEEK.format("") + "1.5\ta.org\t/x\tb\t9\n" + ZEEK.format("a\t") + "1.5\ta.org\t/x\tb\tc\t9\n",
         "line 6: other columns from here on, '#fields"),
        (W3C.format("", "Mozilla (X11)"), r"separate the fields by tabs \(perl -pe"),
        (PAGES, r"columns rel and fork may name devices.*device=db\+rel\+fork.*ignore=rel\+fork if addr"),
        ("space,page_no\n5,3\n", "column space may name devices.*device=space "),
        ("database_id,file_id,page_id\n5,1,3\n", r"device=database_id\+file_id "),
        ("spcnode,dbnode,relnode,forknum,blkno\n1,1,5,0,7\n", r"device=spcnode\+dbnode\+relnode\+forknum "),
        ("node,disk,lba,size\na,0,8,4096\n", r"column node may name devices.*device=disk\+node "),
        ("key,klen,vlen\na,5,6\n", r"size=klen \(size=klen\+vlen if they add up\)"),
        ("key,size,len\na,5,6\n", r"both be the size; .*size=size,ignore=len, or size=size\+len if they add up"),
        (TABLE + "Time,Op,Lba,Size\n", "line 4: names the columns again.*delete the line if its columns are in"),
        (TABLE * 9 + "op,time,lba,size\n", "line 28: names the columns again, 'op,time.*split the file above it"),
        (TABLE + "3,R,8,4096,\n", r"line 4: too many fields.*delete the ',' at the end of each line: sed 's/,\\r\*"),
        (TABLE.replace("size", "size,", 1), "line 2: field 5 .*delete the ',' at the end of the header"),
        (TABLE + "(2 rows)\n", "line 4: .*delete it if it is no request or was cut off"),
        (TABLE.replace("R", "0").replace("W", "1"), "--operations 0=read,1=write "),
        (TABLE.replace("R", "42").replace("W", "40"), "--operations 42=write,40=read "),
        ("op,key\nFETCH,a\nUPDATE,b\n", "--operations FETCH=read,UPDATE=write "),
        ("timestamp,key\n0,a\n1600000000000500,b\n", "time 1600000000000500 is out of range.*--time-unit"),
        (DARSHAN, r"is a log of Darshan, which names files in comments.*darshan-dxt-parser prints: \(echo file op"),
        ("ts,extent_id,offset,size\n1,5,0,4096\n", "column extent_id may name devices.*device=extent_id "),
        ("ts,fh,page\n1,5,0\n", "column fh may name devices.*device=fh "),
        ("ts,dev,ino,pfn,ofs\n1,8:0,5,7,0\n", r"column ino may name files.*device=dev\+ino "),
        ("ts,ino,index\n1,5,0\n", "column index may number the pages of ino; .*block=index,device=ino "),
        ("seconds,nanoseconds,key\n1,500,a\n", "column nanoseconds may hold the fractions of times.*ignore=nanosec"),
        ("tv_sec,tv_usec,key\n1,500,a\n", "column tv_usec may hold the fractions of times"),
        ("ts,url,status,bytes\n1,/a,206,100\n", "those with 304 or 206 are not whole objects; .*status=status "),
        ("time,lba,blk_cnt\n1,8,8\n", r"size=blk_cnt \(columns=…\), and its unit with --size-unit 4KB"),
        ("cmd,lba,size\n0x28,8,4096\n0x2A,8,4096\n", "--operations 0x28=read,0x2A=write "),
        ('{"ts": 1, "input_tokens": 64, "hash_ids": [1]}\n', "prompts without the usual keys; name the keys timestamp"),
        (json.dumps({f"x{at}": at for at in range(25)} | {"key": "a", "blk_cnt": 8}), r"\(echo key,blk_cnt; jq"),
        ("ts,event_type,inode,index\n1,HIT,5,0\n2,EVICT,5,0\n", r"event_type \(EVICT, HIT\) may say which rows"),
        ("ts,command,sector,operation\n1,dd,8,read\n", "both be the op; .*op=operation,ignore=command$"),
        ("ts,path,api\n1,/b/a,s3.GetObject\n", "column api may hold operations, .*op=api "),
        ("poolId,fileId,page_no\n1,2,7\n", r"device=poolId\+fileId "),
        ("ts,sst_fd,offset,size\n1,a,0,4096\n", "column sst_fd may name devices.*device=sst_fd "),
        ("day,time,key\n1,00:00:01,a\n", "column day may belong to the times of day"),
        ("ts,url,chunk_id,bytes\n1,/a,1,5\n", r"chunk_id may number the parts of url.*key=url\+chunk_id "),
        ("ts,object,level,blkid\n1,7,0,3\n", r"blkid may number the parts of object.*key=object\+blkid "),
        ("ts,cached_dev,sector,bytes\n1,8:0,8,4096\n", "column cached_dev may name devices"),
        (FRAMED, r"MySQL's client prints it; .*--comment \+"),
        (TABLE.replace("\n", ",\n").replace(",", "\t").replace("\t\n", "\n", 1), r"sed 's/\\t\\r\*\$//' FILE"),
        ("op,key\nreaddir,a\nDELETE,b\nresetAddr,b\n", "--operations readdir=read,DELETE=delete,resetAddr=write "),
        ("time,event,lba,size,op\n1,issue,8,512,R\n2,complete,8,512,R\n", "keep the rows of requests, or count all"),
        ("ts,disk,object,offset\n1,0,a,0\n", r"if offset counts from the start of each object: device=disk\+object"),
        ('{"ts": 1, "key": "a", "msg": "x\\ny", "it\'s": 5}\n', r"\(echo ts,key; jq -r '\[.ts,.key\]\|@csv"),
        ("ts,dev,ino,index\n1,8:0,5,0\n", r"index may number the pages of ino; .*block=index,device=dev\+ino "),
        ("ts,dev,file,offset,size\n1,0,a,0,512\n2,1,b,0,512\n", r"column file may name files.*device=dev\+file "),
        ("ts,node,disk,lba,size\n1,a,0,8,512\n2,b,0,8,512\n", r"column node may name devices.*device=disk\+node "),
        ('{"ts": 1, "key": "a", "blk_cnt": 8}\n', r"\(echo ts,key,blk_cnt; jq -r '\[.ts,.key,.blk_cnt\]"),
    ],
)  # fmt: skip
def test_other_public_files_are_refused_with_advice(opened, content, message):
    with pytest.raises(InputError, match=message):
        opened(content)


@pytest.mark.parametrize(
    ("content", "format", "columns"),
    [
        ("# device,offset,size,op,time\n0,4096,4096,R,0.5\n0,8192,4096,W,0.6\n", "csv", "offset"),
        ("# key;size\n1;5\n2;6\n", "csv", "size"),
        ("# made by hand\n#ASU,LBA,Size,Opcode,Timestamp\n0,8,4096,R,0.5\n", "spc", "sector"),
        ("# made by hand\n0,8,4096,R,0.5\n", "spc", "sector"),
        ("# Fields: asu lba size op time\n0,8,4096,R,0.5\n", "csv", "sector"),
        ("# Fields: see below\ntime,key,size\n1,2,3\n", "csv", "block"),
    ],
)
def test_a_comment_that_names_columns_is_believed_rather_than_the_form_of_the_rows(opened, content, format, columns):
    trace = opened(content)
    assert trace.format == format and columns in trace.reading.columns


def test_what_a_dump_of_events_holds_besides_requests_is_counted(opened):
    assert "skipped 7 other lines" in opened(ETW).reading.notice("x")
    assert "skipped 5 other lines" in opened(TPOINT).reading.notice("x")


SIZES = ("blks", "num_lbas", "nr_blk", "blk_cnt", "cnt", "datalen", "iosz", "xfersize", "numberofsectors")
SIZE = ("time,lba,{},rw\n1,8,8,R\n", "may hold sizes, .*--columns size={} ")
OPERATION = ("time,lba,bytes,{}\n1,8,4096,0\n", "may hold operations, .*--columns op={} ")
DEVICE = ("time,{},offset,bytes\n1,2,0,4096\n", "may name devices, .*--columns device={} ")
FILE = ("pool,{},offset,bytes\n1,2,0,4096\n", r"may name files, .*device=pool\+{0} .*ignore={0}")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        *((name, *SIZE) for name in SIZES),
        *((name, *OPERATION) for name in ("req_type", "op_code", "write_flag")),
        *((name, *DEVICE) for name in ("devno", "part", "mount")),
        *((name, *FILE) for name in ("oid", "inode", "filename")),
    ],
)
def test_columns_that_may_change_what_a_request_is_are_asked_about(opened, name, content, message):
    with pytest.raises(InputError, match=f"column {name} {message.format(name)}"):
        opened(content.format(name))


@pytest.mark.parametrize("name", ["qlen", "queuelen", "wavelength", "stacklen", "cachesize", "pathlen"])
def test_lengths_of_other_things_are_ignored_with_a_notice(opened, name):
    assert name in opened(f"time,key,{name}\n1,8,8\n").reading.ignored


def test_names_of_the_kernels_trace_events_are_known(opened):
    trace = opened("ts_us,dev,sector,nr_sector,rwbs,comm\n15,8:0,0,8,R,x\n16,8:0,8,16,WS,y\n")
    assert trace.ids.tolist() == [0, 1, 2] and trace.write.tolist() == [0, 1, 1]
    assert trace.time.tolist() == [0, 1000, 1000]


@pytest.mark.parametrize(("columns", "blocks"), [("device=pool+oid", 2), ("ignore=oid", 1)])
def test_addresses_are_those_of_files_if_the_user_says_so(opened, columns, blocks):
    assert opened("pool,oid,offset,len\n1,a,0,4096\n1,b,0,4096\n", columns=columns).blocks == blocks


def test_what_was_ignored_is_named_even_if_it_is_blank(opened):
    rows = "Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.1,R,4,0,512\n1.6,,,4,0,512\n"
    assert "ignored operations: 1 blank" in opened(rows).reading.notice("x")


@pytest.mark.parametrize(
    ("tokens", "hashes", "note"),
    [(64, 1, ("blocks of 512 tokens, although 33 or more fit (--block-tokens)",)), (520, 33, ()), (5200, 11, ())],
)
def test_a_block_size_that_prompts_leave_open_is_noted(opened, tokens, hashes, note):
    line = json.dumps({"input_length": tokens, "output_length": 1, "hash_ids": list(range(hashes))})
    assert opened(line + "\n").reading.notes == note
    assert opened(line + "\n", block_tokens=512 if hashes != 33 else 16).reading.notes == ()


@pytest.mark.parametrize(
    ("step", "size", "noted"), [(4096, 8192, True), (0, 8192, False), (8, 8192, False), (4096, 1 << 20, False)]
)
def test_addresses_that_may_be_in_bytes_are_noted(opened, step, size, noted):
    rows = "".join(f"0,{row * step},{size},R,{row}.5\n" for row in range(20))
    note = ("all values of LBA are multiples of 512; are they in bytes? (--address-unit bytes)",)
    assert opened(rows).format == "spc" and opened(rows).reading.notes == note * noted
    assert opened(rows, address_unit="bytes").reading.notes == ()
    assert opened(rows, address_unit="sectors").reading.notes == ()


def test_rows_may_begin_with_what_usually_marks_comments(opened):
    options = {"comment": "%", "columns": "op=2,offset=3", "key": "hex", "operations": "0=read,1=write"}
    trace = opened("# 0 7fffed80 1\n# 1 10010000 10\n", **options)
    assert trace.write.tolist() == [0, 1] and trace.blocks == 2


@pytest.mark.parametrize("first", ["#" + " " * 60_000 + "x", "#Fields:" + " " * 60_000, "# Fields: " * 6_000])
def test_comments_of_blanks_take_no_quadratic_time(opened, first):
    before = time.process_time()
    with pytest.raises(InputError):
        opened(f"{first}\n{first}\n1 2 3\n")
    assert time.process_time() - before < 5  # more than 10 s where a pattern tries each blank


@pytest.mark.parametrize(("place", "what"), [("lba", "addresses"), ("offset", "addresses"), ("key", "keys")])
def test_exponents_that_may_have_lost_digits_are_noted(opened, place, what):
    rows = f"time,{place},size\n1,1.2288E+09,4096\n2,1228800000,4096\n"
    (note,) = [each for each in opened(rows).reading.notes if "exponents" in each]
    assert note == f"{what} are written with exponents, which may have lost digits and made different {what} equal"
    assert not any("exponents" in each for each in opened(rows.replace("1.2288E+09", "1228804096")).reading.notes)


def test_arguments_that_are_not_counted_as_keys_are_noted(opened):
    rows = '1.5 [0 10.0.0.1:5] "MGET" "x" "y"\n1.6 [0 10.0.0.1:5] "get" "x"\n'
    notes = opened(rows, operations="mget=read").reading.notes
    assert notes == ("only the first argument of MGET is taken for a key (1 request)",)
    assert opened(rows, operations="mget=ignore").reading.notes == ()


def test_the_command_for_quoted_blanks_makes_a_log_that_is_read(opened):
    # What perl prints if it runs the command of the message.
    made = re.sub('("[^"]*")| ', lambda match: match[1] or "\t", W3C.format("", "Mozilla (X11, a)"))
    trace = opened(made)
    assert trace.time.tolist() == [0] and trace.object_bytes.tolist() == [5] and trace.write.tolist() == [False]


def test_a_parquet_file_is_never_taken_for_text(tmp_path):
    pq.write_table(pa.table({"ts": [1.0, 2.0], "key": [1.5, 2.5]}), tmp_path / "found")
    with pytest.raises(InputError, match=r"row 1, column key: 1\.5 is not a whole number"):
        open_trace(tmp_path / "found")


def test_the_command_for_a_log_of_darshan_makes_a_table_that_is_read(opened):
    with pytest.raises(InputError) as refusal:
        opened(DARSHAN)
    command = re.search(r"\(echo .*FILE", str(refusal.value))[0].replace(" < FILE", "")
    made = subprocess.run(["sh", "-c", command], input=DARSHAN, text=True, check=True, capture_output=True).stdout
    trace = opened(made)
    assert trace.ids.tolist() == [0, 1, 2] and trace.write.tolist() == [1, 1, 0]
    assert trace.time.tolist() == [0, 0, 2 * 10**8]


@pytest.mark.parametrize(
    ("rows", "columns", "address_unit", "size_unit"),
    [
        ("time,lba,num_lbas\n1,8,8\n", "size=num_lbas", 512, 512),
        ("time,lba,nsectors\n1,8,8\n", "size=nsectors", 512, 512),
        ("time,start_mb,xferKB\n1,8,8\n", "offset=start_mb,size=xferKB", 1 << 20, 1 << 10),
        ("time,lba,bytes\n1,512,4096\n", "offset=lba", 1, 1),
        ("key,size_gb\na,1\n", "size=size_gb", None, 1 << 30),
        ("lba,sector_bytes\n8,4096\n", "size=sector_bytes", 512, 1),
        ("lba,sectorsize\n8,4096\n", "size=sectorsize", 512, 1),
        ("lba,lba_kb\n8,4\n", "size=lba_kb", 512, 1 << 10),
        ("lba,sectors_written\n8,4\n", "size=sectors_written", 512, 512),
        ("lba,sectorcnt\n8,4\n", "size=sectorcnt", 512, 512),
    ],
)
def test_units_in_the_names_of_columns_that_the_user_names_hold(opened, rows, columns, address_unit, size_unit):
    reading = opened(rows, columns=columns).reading
    assert (reading.address_unit, reading.size_unit) == (address_unit, size_unit)


def test_a_unit_of_sizes_asks_for_that_of_sectors(opened):
    rows = "lba,size,op\n10,1,W\n11,1,R\n"
    with pytest.raises(InputError, match=r"column lba may be in sectors.*or in units of 4096 bytes.*--address-unit"):
        opened(rows, size_unit="4KB")
    assert opened(rows, size_unit="4KB", address_unit="4KB").blocks == 2
    assert opened(rows, size_unit="4KB", address_unit="sectors").address.tolist() == [1, 2]


def test_a_guessed_unit_that_puts_times_into_the_far_future_is_noted(opened):
    rows = "time,lbn,size\n5633898611441,8,512\n5633898611442,8,512\n"
    assert any("begin in the year 2148" in note for note in opened(rows).reading.notes)
    assert opened(rows, time_unit="us").reading.notes == ()


@pytest.mark.parametrize(
    ("rows", "columns", "writes"),
    [
        ("0x1000 READ\n0x2000 WRITE\n", "offset=1,op=2", [0, 1]),
        ("5:\tread\t0x1000\n6:\twrite\t0x2000\n", "op=2,offset=3", [0, 1]),
        ("2020-01-01T00:00:00 /a read\n2020-01-01T00:00:01 /b write\n", "time=1,key=2,op=3", [0, 1]),
        ("a read\nb write\n", "key=1,op=2", [0, 1]),
        ("a.org /x get\nb.org /y set\n", "key=1+2,op=3", [0, 1]),
        ("addr read\n0x10 1\n0x2000 0\n", None, [0, 1]),
        ("host page act\na /x get\nb /y set\n", "key=host+page,op=act", [0, 1]),
    ],
)
def test_a_first_row_without_a_number_is_not_taken_for_a_header(opened, rows, columns, writes):
    trace = opened(rows, columns=columns)
    assert trace.ids.tolist() == [0, 1] and trace.write.tolist() == writes


@pytest.mark.parametrize(
    ("header", "rows", "ignored"),
    [
        ("ts,api_key,url,size", "1,k,/a,5 2,j,/b,6", ["api_key"]),
        ("ts,key,size,function_id", "1,k,5,8 2,j,5,9", ["function_id"]),
        ("ts,key,last_written_by", "1,k,b 2,j,c", ["last_written_by"]),
        ("ts,key,size,action", "1,k,5,HIT 2,j,5,MISS", ["action"]),
        ("ts,url,bytes,action", "1,/a,5,TCP_HIT 2,/b,5,TCP_MEM_HIT", ["action"]),
        ("ts,key,size,segment", "1,k,5,gold 2,j,5,silver", ["segment"]),
        ("ts,lpn,op,chunk", "1,5,R,0 2,6,R,1", ["chunk"]),
        ("ts,key,size,range_start,range_end", "1,k,9,0,3 2,j,9,4,8", ["range_start", "range_end"]),
        ("time,t_us,key", "1,9,k 2,8,j", ["t_us"]),
        ("real_time,clock_time,key", "1,9,k 2,8,j", ["clock_time"]),
        ("offset,pgoff,size", "0,5,4096 4096,6,4096", ["pgoff"]),
        ("block,page_index", "5,0 6,0", ["page_index"]),
        ("time,hour,key", "00:59:59,0,k 01:00:00,1,j", ["hour"]),
        ("ts,node,disk,lba,size", "1,a,0,8,512 2,b,1,16,512 3,a,0,8,512", ["node"]),
        ("ts,device,mount,offset,size", "1,8:0,/,0,4096 2,8:1,/home,4096,4096", ["mount"]),
    ],
)
def test_columns_that_change_no_request_are_left_out_with_a_note(opened, header, rows, ignored):
    trace = opened("\n".join([header, *rows.split(" ")]) + "\n")
    assert list(trace.reading.ignored) == ignored
    assert trace.ids[:2].tolist() == [0, 1]
