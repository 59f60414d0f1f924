"""Test that files left by tools, servers and people are read correctly or refused with advice on what to state.

The right values were worked out by hand from the lines.
"""

import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest

from misspenalty import InputError, open_trace
from misspenalty.traces import reader
from misspenalty.traces.reader import Format, Requests

SECOND = 10**9
LOG = '{} - - [10/Oct/2000:13:55:3{} -0700] "{}" {}\n'


def log(*requests, host="10.0.0.1"):
    """Return lines of an access log, a second apart."""
    return "".join(LOG.format(host, second, *request) for second, request in enumerate(requests))


HOSTS = '1.2.3.4 {} - [30/Nov/2026:05:00:01 +0000] "GET /b HTTP/1.1" 200 5\n' * 3
HOST = ("a.example", "b.example:8080", "-")
CLIENTS = HOSTS.replace("1.2.3.4 {}", "{} -")
VHOST = log(("GET /a HTTP/1.1", "200 5"), host="a.org:80 10.0.0.1") + log(
    ("GET /a HTTP/1.1", "200 6"), host="b.org:80 ::1"
)
CLOUDFRONT = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs-uri-query"
IIS = "date time c-ip cs-method cs-uri-stem cs-uri-query sc-bytes"
FIO = "what fio prints about its jobs; .*write_iolog"
MONITOR = '1.5 [0 10.0.0.1:5] "GET" "x"\n1.6 [1 unix:/tmp/s] "get" "x"\n1.7 [0 lua] "SET" "x" "1" "EX" "60"\n'
MONITOR += '1.7 [0 [::1]:5] "GET" "x"\n'
FTRACE = "  app-50 [001] ..... 1.5: block_rq_issue: 8,0 R 4096 () 2048 + 8 none,0,0 [app]\n"
COMPLETED = FTRACE.replace("_issue: 8,0 R 4096 ()", "_complete: 8,0 R ()") + "".join(
    f"  <idle>-0 [007] d.s. 1.6: block_rq_complete: 8,0 {flush} + 0 [0]\n"
    for flush in ("FF () 18446744073709551615", "WS () 0", "WFS () 18446744073709551615")
)
SQUID = "1066036250.129    133 10.0.0.1 {} GET http://a.org/{} - DIRECT/1.2.3.4 text/html\n"
BIOSNOOP = "TIME(s)     COMM           PID    DISK    T {}SECTOR     BYTES  LAT(ms)\n"
META = "k1,GET,50,2,4\nk1,SET,60,1,4\nk2,GET_LEASE,0,1,4\n"
WIKIBENCH = "9 1190146243.3 http://a.org/b -\n10 1190146243.5 http://a.org/b save\n"
WIKIBENCH_2010 = "".join(
    f"{number} 2010-05-27T09:31:{second} http://a.org/{page} {flag}\n"
    for number, second, page, flag in ((9, "55.63", "a", "-"), (10, "56.63", "b", "save"), (11, "56.73", "a", "-"))
)
PHOTOS = "".join(
    f"{time} 085abb{rest} 1 PHONE 3\n"
    for time, rest in (
        ("20160201164604", "02 5 m 129"), ("20160201164605", "02 0 m 100"), ("20160201164606", "02 7 m 1"),
        ("20160201164705", "02 5 m 129"), ("20160201164705", "02 5 l 90"),
    )
)  # fmt: skip
THESIOS = (
    "filename,file_offset,application,c_time,io_zone,redundancy_type,op_type,service_class,from_flash_cache,cache_hit,"
    "request_io_size_bytes,disk_io_size_bytes,response_io_size_bytes,start_time,disk_time,simulated_disk_start_time,"
    "simulated_latency\n"
)
HAPROXY = (
    '1.2.3.4:5 [06/Feb/2009:12:14:14.655] in s/s1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 "GET /a HTTP/1.1"\n'
    "Feb  6 12:14:15 h haproxy[9]: 1.2.3.4:5 [06/Feb/2009:12:14:15.905] in s/s1 10/0/30/69/109 304 0 - - ---- 1/1/1"
    '/1/0 0/0 {a.org} "GET /a HTTP/1.1"\n'
)
ENVOY = '[2020-11-25T21:26:1{}.5Z] "{} HTTP/2" {} 4 - "-" "curl/7 (x)" "7f" "{}" "10.0.0.1:80"{}\n'
ELB = '2015-05-13T23:39:4{}.5Z lb {} 0.1 0.2 -1 {} "{} HTTP/1.1" "curl/7.38.0" - -\n'
ROCKSDB = ",0,default,1,12,1,0,5,1,100,0,1,20,3,77,24,16,8192"
S3 = 'o mine [06/Feb/2019:00:00:38 +0000] 1.2.3.4 r id {} {} "GET /x HTTP/1.1" 200 - {} {} 28 27 "-" "a" -\n'
PREFIXES = (
    "<134>2016-07-04T22:37:26Z cache-sjc3128 Log[62]: ", "2024-05-01T12:00:00.123456+00:00 h nginx: ",
    "Oct  1 13:55:36 h nginx[12]: ", "2024-05-01T12:00:00.123456789Z ", "2024-05-01T12:00:00.1Z stdout F ", "web_1  | ",
)  # fmt: skip


# Each case has the content, options, format, ids, writes, times in ns, and sizes.
@pytest.mark.parametrize(
    ("content", "options", "format", "ids", "writes", "times", "sizes"),
    [
        pytest.param(log(("GET /a HTTP/1.1", "200 9"), ("GET /a HTTP/1.1", "304 -"), ("GET /a HTTP/1.1", "304 0")), {},
                     "access_log", [0, 0, 0], [0, 0, 0], [0, SECOND, 2 * SECOND], [9, 9, 9], id="304 sends no body"),
        pytest.param(log(("GET /a HTTP/1.1", "304 -"), ("GET /b HTTP/1.1", "304 0"), ("GET /a HTTP/1.1", "200 9")), {},
                     "access_log", [0, 1, 0], [0, 0, 0], [0, SECOND, 2 * SECOND], [9, 0, 9], id="304 comes first"),
        pytest.param(log(("GET /a b HTTP/1.0", "200 1"), ("GET /a c HTTP/1.0", "200 2"), ("GET /a b", "200 1")), {},
                     "access_log", [0, 1, 0], [0, 0, 0], [0, SECOND, 2 * SECOND], [1, 2, 1], id="blanks in a path"),
        pytest.param(log(*((f"GET {rest}", "200 1") for rest in ("/ HTTP/1.0", "/ HTTP/1.0 ", "/ HTTP/V1.0", " /"))),
                     {}, "access_log", [0, 0, 0, 0], [0, 0, 0, 0], [0, SECOND, 2 * SECOND, 3 * SECOND], [1, 1, 1, 1],
                     id="blanks around a path, and an odd version, as in NASA's logs"),
        pytest.param(log(("PUT /a HTTP/1.1", "201 0"), ("GET /a HTTP/1.1", "200 9"), ("PUT /a HTTP/1.1", "201 7")),
                     {}, "access_log", [0, 0, 0], [1, 0, 1], [0, SECOND, 2 * SECOND], [9, 9, 9],
                     id="the answer to a write does not hold the object"),
        pytest.param(log(("GET /a HTTP/1.1", "200 9"), ("GET  ", "404 1"), ("GET ", "200 1")), {}, "access_log", [0],
                     [0], [0], [9], id="requests without a path"),
        pytest.param(log(*(("GET /a HTTP/1.1", f"{status} 1") for status in ("499", "000", "0"))), {}, "access_log",
                     [0, 0, 0], [0, 0, 0], [0, SECOND, 2 * SECOND], [1, 1, 1], id="no status, and nginx's own"),
        pytest.param(HOSTS.format(*HOST), {}, "access_log_host", [0, 1, 2], [0] * 3, [0] * 3, [5] * 3,
                     id="lighttpd: hosts in the second field"),
        pytest.param(HOSTS.format(*"---"), {}, "access_log", [0, 0, 0], [0] * 3, [0] * 3, [5] * 3,
                     id="no hosts in the second field"),
        pytest.param(HOSTS.format("7.7.7.7", "7.7.7.7, 8.8.8.8", "-"), {}, "access_log", [0, 0, 0], [0] * 3, [0] * 3,
                     [5] * 3, id="addresses of clients in the second field"),
        pytest.param(HOSTS.format(*"---").replace("1.2.3.4", "a.example ::1", 1).replace("1.2.3.4", "b.example x.net"),
                     {}, "access_log_vhost", [0, 1, 1], [0] * 3, [0] * 3, [5] * 3, id="virtual hosts without ports"),
        pytest.param(VHOST, {}, "access_log_vhost", [0, 1], [0, 0], [0, 0], [5, 6], id="one path on two hosts"),
        pytest.param(CLIENTS.format("1.2.3.4, 5.6.7.8", "- 10.0.0.1", "localhost ::1"), {}, "access_log", [0] * 3,
                     [0] * 3, [0] * 3, [5] * 3, id="lists of forwarded addresses, clients after a name"),
        pytest.param(CLIENTS.format("1.2.3.4", "a.net", "-").replace("- -", "a@b.org -"), {}, "access_log", [0] * 3,
                     [0] * 3, [0] * 3, [5] * 3, id="an address for mail in the second field"),
        pytest.param(CLIENTS.format("a.net:80 pc", "10.0.0.1 ::1, 1.2.3.4", "a.net -"), {}, "access_log_vhost",
                     [0, 1, 2], [0] * 3, [0] * 3, [5] * 3, id="virtual hosts: requests by address, any client"),
        pytest.param(log(("GET /a HTTP/1.1", '200 5 "-" "x"'), host="::ffff:10.0.0.1"), {}, "access_log", [0], [0], [0],
                     [5], id="IPv6"),
        pytest.param(SQUID.format("TCP_MISS/200 9", "a") + SQUID.format("TCP_IMS_HIT/304 3", "a"), {}, "squid", [0, 0],
                     [0, 0], [0, 0], [9, 9], id="Squid"),
        pytest.param(SQUID.format("TCP_MISS/200 9", "a") + "1066036250.229      0 10.0.0.1 NONE_NONE/000 0 - "
                     "error:transaction-end-before-headers - HIER_NONE/- -\n", {}, "squid", [0], [0], [0], [9],
                     id="Squid: a connection without a request"),
        pytest.param("".join(f"5,{block},9,{size}{ROCKSDB}\n" for block, size in ((1, 0), (1, 4096), (2, 0), (1, 0))),
                     {}, "rocksdb_block_cache", [0, 0, 1, 0], None, [0, 0, 0, 0], [4096, 4096, 0, 4096],
                     id="RocksDB: blocks that were not found"),
        pytest.param(HAPROXY, {}, "haproxy", [0, 0], [0, 0], [0, 5 * SECOND // 4], [2750, 2750], id="HAProxy"),
        pytest.param(HAPROXY.replace('/1.1"', '/1.1" 0/0/0/0/0 a.org/TLSv1.3/AES'), {}, "haproxy", [0, 0], [0, 0],
                     [0, 5 * SECOND // 4], [2750, 2750], id="HAProxy: TLS after the request"),
        pytest.param(HAPROXY + "Feb  6 12:14:16 h haproxy[9]: Server s/s1 is DOWN.\nFeb  6 12:14:16 h haproxy[9]: "
                     "1.2.3.4:5 [06/Feb/2009:12:14:16.905] in/1: SSL handshake failure\n", {}, "haproxy", [0, 0],
                     [0, 0], [0, 5 * SECOND // 4], [2750, 2750], id="HAProxy: servers and handshakes"),
        pytest.param(SQUID.format("TCP_MISS/200 9", "a b") + SQUID.format("TCP_MISS/200 8", "a c"), {}, "squid", [0, 1],
                     [0, 0], [0, 0], [9, 8], id="Squid: blanks in a path"),
        pytest.param(SQUID.format("TCP_MISS/200 9", "a").replace(" text/html", "")
                     + SQUID.format("TCP_MISS/200 8", "b c").replace("DIRECT/1.2.3.4", "-/-"), {}, "squid", [0, 1],
                     [0, 0], [0, 0], [9, 8], id="Squid: no type, no hierarchy"),
        pytest.param(log(("PRI * HTTP/2.0", "400 1"), ("LOCK /a HTTP/1.1", "200 1"), ("GET /a HTTP/1.1", "200 9")), {},
                     "access_log", [0], [0], [0], [9], id="a preface of HTTP/2, WebDAV"),
        pytest.param(log((f"GET /{'a' * 9000} HTTP/1.1", "200 9"), ("GET /b HTTP/1.1", "200 1")), {}, "access_log",
                     [0, 1], [0, 0], [0, SECOND], [9, 1], id="a first line of 9 KB"),
        pytest.param(VHOST.replace("10.0.0.1", "pc.a.net."), {}, "access_log_vhost", [0, 1], [0, 0], [0, 0], [5, 6],
                     id="a client whose name ends in a point"),
        pytest.param(S3.format("REST.GET.OBJECT", "a", 10, 99) + S3.format("REST.PUT.OBJECT", "b", "-", 7)
                     + S3.format("REST.HEAD.OBJECT", "a", "-", 99) + S3.format("REST.GET.OBJECT", "a", "-", "-"), {},
                     "s3_access_log", [0, 1, 0], [0, 1, 0], [0, 0, 0], [99, 7, 99], id="S3: sizes of objects"),
        pytest.param("".join(S3.format(f"REST.{operation}", "a", "-", size) for operation, size in
                             (("POST.UPLOADS", "-"), ("PUT.PART", 8), ("POST.UPLOAD", 11), ("GET.OBJECT", "-"))), {},
                     "s3_access_log", [0, 0], [1, 0], [0, 0], [11, 11], id="S3: an upload in parts is one write"),
        pytest.param(S3.format("REST.COPY.OBJECT_GET", "a", "-", 99) + S3.format("REST.COPY.OBJECT", "b", "-", 99), {},
                     "s3_access_log", [0, 1], [0, 1], [0, 0], [99, 99], id="S3: a copy reads and writes"),
        pytest.param(f"#Version: 1.0\n#Fields: {CLOUDFRONT}\n" + "".join(
                         f"2019-12-04\t21:02:3{n}\tL\t39{n}\t1.2.3.4\tGET\t{host}\t/a\t200\t-\n"
                         for n, host in enumerate("xyx")), {}, "csv", [0, 1, 0], [0, 0, 0], [0, SECOND, 2 * SECOND],
                     [390, 391, 392], id="CloudFront"),
        pytest.param(f"#Fields: {CLOUDFRONT}\n" + "".join(
                         f"2019-12-04\t21:02:3{n}\tL\t{answer[0]}\t1.2.3.4\tGET\tx\t/a\t{answer[1]}\t-\n"
                         for n, answer in enumerate([(9000, 200), (300, 304), (9000, 200)])), {}, "csv", [0, 0, 0],
                     [0, 0, 0], [0, SECOND, 2 * SECOND], [9000, 9000, 9000], id="CloudFront: 304 sends no body"),
        pytest.param(f"#Software: IIS\n#Fields: {IIS}\n2002-05-02 17:42:15 1.2.3.4 GET /a - 5\n2002-05-02 17:42:16 "
                     "1.2.3.4 GET /a q=1 6\n2002-05-02 17:42:16 1.2.3.4 GET /a - 5\n", {}, "csv", [0, 1, 0], [0, 0, 0],
                     [0, SECOND, SECOND], [5, 6, 5], id="IIS: a query makes another object"),
        pytest.param("relative_unix\thashed_host_path_query\tresponse_size\ttime_firstbyte\n0\t-8\t9\t1e-4\n2\t-8\t9\t1\n",
                     {}, "wikimedia_text", [0, 0], None, [0, 2 * SECOND], [9, 9], id="Wikimedia 2019, text"),
        pytest.param("hashed_host_and_path\turi_query\tcontent_type\tresponse_size\tX_Cache\n"
                     + "".join(f"7\t{query}\timage/png\t9\tcp4006 hit\n" for query in "-q-"), {},
                     "wikimedia_2016_short", [0, 1, 0], None, None, [9, 9, 9], id="Wikimedia 2016, other names"),
        pytest.param(WIKIBENCH_2010, {}, "wikibench_2010", [0, 1, 0], [0, 1, 0], [0, SECOND, 11 * SECOND // 10], None,
                     id="Wikipedia 2010"),
        pytest.param(PHOTOS, {}, "tencent_photo", [0, 1, 0, 2], None, [0, SECOND, 61 * SECOND, 61 * SECOND],
                     [129, 100, 129, 90], id="Tencent's photos: each format and specification is an object"),
        pytest.param(THESIOS + "f1,0,a,1,WARM,REPLICATED,READ,OTHER,0,0,8192,0,8192,17.0,0,0,0\n"
                     "f2,4096,a,1,WARM,REPLICATED,WRITE,OTHER,0,-1,1,0,1,17.5,0,0,0\n" + THESIOS
                     + "f1,4096,a,1,WARM,REPLICATED,READ,OTHER,0,0,1,0,1,18.0,0,0,0\n", {}, "thesios", [0, 1, 2, 1],
                     [0, 0, 1, 0], [0, 0, SECOND // 2, SECOND], None, id="Thesios: sizes, files apart, headers again"),
        pytest.param("hashed_host_path\turi_query\tcontent_type\tresponse_size\ttime_firstbyte\tx_cache\n"
                     + "".join(f"7\t{query}\timage/png\t9\t1e-4\tcp hit\n" for query in "-q-"), {}, "wikimedia_2016",
                     [0, 1, 0], None, None, [9, 9, 9], id="Wikimedia 2016: a query makes another object"),
        pytest.param(WIKIBENCH, {}, "wikibench", [0, 0], [0, 1], [0, SECOND // 5], None, id="Wikipedia 2007"),
        pytest.param("key,op,size,op_count,key_size\n" + META, {}, "meta_kv", [0, 0, 0, 1], [0, 0, 1, 0], None,
                     [54, 54, 64, 0], id="CacheLib's first release has no times"),
        pytest.param("0 48 syslogd 8 8 W 6 0 5f\n9 48 syslogd 8 8 R 6 0\n", {}, "fiu", [0, 0], [1, 0], [0, 9], None,
                     id="FIU with a digest first"),
        pytest.param("0,8,512,R,0.5,x\n0,8,512,W,1.5\n", {}, "spc", [0, 0], [0, 1],
                     [SECOND // 2, 3 * SECOND // 2], None, id="SPC with a further field first"),
        pytest.param("419,w,4096,4096,10\n419,r,4096,4096,11\n", {}, "alicloud", [0, 0], [1, 0], [0, 1000], None,
                     id="AliCloud, small letters"),
        pytest.param("0 48 syslogd 8 8 W 6 0\n9 48 syslogd 8 8 R 6 0\n", {}, "fiu", [0, 0], [1, 0], [0, 9], None,
                     id="FIU without digests"),
        pytest.param("OK\r\n" + MONITOR.replace("\n", "\r\n"), {}, "redis_monitor", [0, 1, 0, 0], [0, 0, 1, 0],
                     [0, SECOND // 10, SECOND // 5, SECOND // 5], None, id="Redis: databases apart, CR LF"),
        pytest.param(FTRACE.replace(": block_rq", ":   block:block_rq"), {}, "ftrace", [0], [0], [0], None,
                     id="perf script"),
        pytest.param("cpus=8\n" + FTRACE.replace("issue: ", "issue:       "), {}, "ftrace", [0], [0], [0], None,
                     id="trace-cmd pads the event"),
        pytest.param(BIOSNOOP.format("") + "0.1  jbd2/sda1-8  300  sda  WS  2048  4096  0.5\n"
                     "0.2  x  300  sda  R  2048  4096  0.5\n0.3  x  3  sda  FF  0  0  0.5\n", {}, "biosnoop", [0, 0],
                     [1, 0], [0, SECOND // 10], None, id="biosnoop with flags"),
        pytest.param(BIOSNOOP.format("P ") + "0.1  x  300  sda  W R  2048  4096  0.5\n", {}, "biosnoop", [0], [1], [0],
                     None, id="biosnoop with patterns"),
        pytest.param("2 0x400000\n0 0x1000acac\n1 400001\n", {"format": "dinero"}, "dinero", [0, 1, 0], [0, 0, 1], None,
                     None, id="Dinero with 0x"),
        pytest.param("Attaching 1 probe...\ntime_ns rw sector bytes\n5 R 8 4096\n9 W 8 4096\n", {}, "csv", [0, 0],
                     [0, 1], [0, 4], None, id="bpftrace"),
        pytest.param('"time_micros","cs_method","sc_bytes","cs_host","cs_bucket","cs_object"\n'
                     '"1386093907001000","GET","500","a.org","b","o"\n"1386093908001000","GET","700","a.org","c","o"\n'
                     '"1386093908001000","GET","500","b.a.org","b","o"\n', {}, "csv", [0, 1, 0], [0, 0, 0],
                     [0, SECOND, SECOND], [500, 700, 500],
                     id="Google Cloud Storage's usage logs"),
        pytest.param("Collected on host 1\n\ntime,key\n1,7\n2,8\n", {}, "csv", [0, 1], None, [0, SECOND], None,
                     id="a sentence above the header"),
        pytest.param("sep=;\ntime;key\n1;7\n2;7\n", {}, "csv", [0, 0], None, [0, SECOND], None, id="Excel's sep="),
        pytest.param("# time key size\n1 7 10\n2 8 20\n", {}, "csv", [0, 1], None, [0, SECOND], [10, 20],
                     id="a header in a comment, blanks"),
        pytest.param("timestamp,key\n128166372003061629,7\n128166372013061629,7\n", {}, "csv", [0, 0], None,
                     [0, SECOND], None, id="ticks since 1601"),
        pytest.param("time,tenant,key\n1,a,5\n2,b,5\n3,a,5\n", {}, "csv", [0, 1, 0], None, [0, SECOND, 2 * SECOND],
                     None, id="tenants"),
        pytest.param("relation,page\na,5\nb,5\n", {}, "csv", [0, 1], None, None, None, id="tables of a database"),
        pytest.param("timeMs,key\n1,a\n3,a\n", {}, "csv", [0, 0], None, [0, 2_000_000], None, id="a unit in capitals"),
        pytest.param("url,http_status,bytes\n/a,200,9\n/a,304,0\n", {}, "csv", [0, 0], None, None, [9, 9],
                     id="the status of an answer"),
        pytest.param("vhost,url\na,http://a/x\nb,http://b/x\n", {}, "csv", [0, 1], None, None, None, id="URLs"),
        pytest.param("url,query\n/x?a=1,a=1\n/x?a=2,a=2\n", {}, "csv", [0, 1], None, None, None, id="whole URLs"),
        pytest.param("key,size,status\na,5,304\nb,5,7\n", {}, "csv", [0, 1], None, None, [5, 5], id="another status"),
        pytest.param("key,size,area_code\na,5,304\nb,5,212\n", {}, "csv", [0, 1], None, None, [5, 5], id="a code"),
        pytest.param("lpn,file\n7,a\n7,b\n", {}, "csv", [0, 0], None, None, None, id="files beside a flash address"),
        pytest.param("lba,size,container\n8,4096,a\n8,4096,b\n", {}, "csv", [0, 0], None, None, None,
                     id="containers beside an address of a disk"),
        pytest.param("bucket,key\na,5\nb,5\n", {}, "csv", [0, 1], None, None, None, id="buckets"),
        pytest.param("lba,size_in_sectors\n8,16\n", {}, "csv", [0, 1], None, None, None, id="the unit after in"),
        pytest.param("elapsed_ms,uuid\n0,a-1\n15,b-2\n20,a-1\n", {}, "csv", [0, 1, 0], None,
                     [0, 15_000_000, 20_000_000], None, id="time that has passed"),
        pytest.param("timestamp,path,bytes\n1,/a,10\n2,/a,10\n", {}, "csv", [0, 0], None, [0, SECOND], [10, 10],
                     id="whole files"),
        pytest.param("oid,offset,length\n5,0,4096\n6,0,4096\n", {}, "csv", [0, 1], None, None, None, id="parts"),
        pytest.param("cycle,addr,rw\n10,0x1000,R\n20,0x1fff,W\n", {}, "csv", [0, 0], [0, 1], None, None, id="bytes"),
        pytest.param("lpn,npages,rw\n1,2,R\n2,1,W\n", {}, "csv", [0, 1, 1], [0, 0, 1], None, None, id="SSD"),
        pytest.param("rwbs,sector,sectors\nRA,8,8\nWFS,8,8\nWSM,16,8\n", {}, "csv", [0, 0, 1], [0, 1, 1], None, None,
                     id="flags of blktrace in a table"),
        pytest.param("real_time,obj_id,obj_size,next_access_vtime\n1,7,10,5\n3,7,10,-1\n", {}, "csv", [0, 0], None,
                     [0, 2 * SECOND], [10, 10], id="libCacheSim's fields"),
        pytest.param("time,key\n00:00:01.5,7\n00:00:03,7\n", {}, "csv", [0, 0], None, [0, 3 * SECOND // 2],
                     None, id="times of day"),
        pytest.param("8,0 1 1 0.0 5 Q ZA 8 + 8 [p]\n8,0 1 2 0.5 5 Q ZR 8 + 8 [p]\n8,0 1 3 1.0 5 Q WSU 8 + 8 [p]\n", {},
                     "blkparse", [0, 0], [1, 1], [0, SECOND], None, id="blkparse: appends to zones, atomic writes"),
        pytest.param(" a-1 [000] 1.5: block_rq_issue: 8,0 ZA 4096 () 8 + 8 be [a]\n"
                     " a-1 [000] 2.5: block_rq_issue: 8,0 ZR 0 () 8 + 8 be [a]\n", {}, "ftrace", [0], [1], [0], None,
                     id="ftrace: appends to zones"),
        pytest.param(COMPLETED, {"action": "block_rq_complete"}, "ftrace", [0], [0], [0], None,
                     id="ftrace: a flush completes as a write of no sectors"),
        pytest.param(BIOSNOOP.format("") + "0.1  x  3  sda  R  2048  4096  0.5\n0.2  x  3  sda  FWS  0  0  0.5\n"
                     "0.3  x  3  sda  FF  -1  0  0.1  0.5\n0.4  x  3  sda  WS  18446744073709551615  0  0.5\n", {},
                     "biosnoop", [0], [0], [0], None, id="biosnoop: flushes have no bytes"),
        pytest.param(ENVOY.format(0, "GET /a?b=c", "200 - 7 9", "a.org", "") + ENVOY.format(1, "GET /a?b=c",
                     "200 - 0 8", "b.org:8", "") + ENVOY.format(2, "GET /a?b=c", "304 - 0 0", "a.org", "")
                     + ENVOY.format(3, "POST /a?b=c", "503 UF,URX 7 1", "a.org", "") + '[2020-11-25T21:26:14.5Z] "- - '
                     'HTTP/1.1" 400 DPE 0 11 0 - "-" "-" "-" "-" "-"\n', {}, "envoy", [0, 1, 0, 0], [0, 0, 0, 1],
                     [0, SECOND, 2 * SECOND, 3 * SECOND], [9, 8, 9, 9], id="Envoy: authorities, no request"),
        pytest.param(ENVOY.format(0, "GET /a", '200 - via_upstream - "-" 7 9', "a:8", " inbound|8|| ::1:4 - default")
                     + '[2020-11-25T21:26:11.5Z] "- - -" 0 - - - "-" 3 9 1 - "-" "-" "-" "-" "10.0.0.1:80" outbound\n'
                     + ENVOY.format(2, "GET /a", '503 UF no{x} - "delayed error: 1" 7 1', "a:8", " - - default")
                     + ENVOY.format(3, "GET /a", '200 - "-" "-" 7 5', "b:8", " - - default"), {}, "envoy", [0, 0, 1],
                     [0] * 3, [0, 2 * SECOND, 3 * SECOND], [9, 1, 5], id="Envoy: Istio's fields, bytes, no request"),
        pytest.param(ELB.format(0, "1.2.3.4:5 10.0.0.1:80", "200 200 3 9", "GET http://a.org:80/x") + "h2 "
                     + ELB.format(1, "[::1]:5 -", "- - 3 0", "GET http://b.org:80/x") + "https "
                     + ELB.format(2, "1.2.3.4:5 10.0.0.1:80", "304 304 0 2", "GET http://a.org:80/x") + "http "
                     + ELB.format(3, "1.2.3.4:5 -", "400 - 0 2", "- http://a.org:80- -"), {}, "aws_elb", [0, 1, 0],
                     [0] * 3, [0, SECOND, 2 * SECOND], [9, 0, 9], id="AWS's balancers, application and classic"),
        pytest.param(ELB.format(0, "1.2.3.4:5 10.0.0.1:80", "- - 3 9", "- - - ").replace(" HTTP/1.1", "")
                     + ELB.format(1, "1.2.3.4:5 10.0.0.1:80", "200 200 3 9", "PUT http://a.org:80/x"), {}, "aws_elb",
                     [0], [1], [0], [0], id="AWS's classic balancer: connections without a request"),
    ],
)  # fmt: skip
def test_read_right(opened, content, options, format, ids, writes, times, sizes):
    trace = opened(content, **options)
    assert (trace.format, trace.ids.tolist()) == (format, ids)
    assert (None if trace.write is None else trace.write.tolist()) == writes
    assert (None if trace.time is None else trace.time.tolist()) == times
    assert (None if trace.object_bytes is None else trace.bytes_of(slice(None)).tolist()) == sizes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('time,key,size\n1,7,"4,096"\n', "line 2: field 3 .size.*without thousands separators"),
        ("time;key;size\n1;7;4.096\n2;8;1.024\n", "line 2: field 3 .size.*without thousands separators"),
        (
            "time;key;size\n1;7;4.000\n2;8;1.000\n",
            r"column size \(1.000, 4.000\) may use points as thousands separators",
        ),
        ("key,size\n7,4KB\n", "line 2: field 2 .size.*without units"),
        ("start_lba,end_lba\n8,15\n", "column end_lba may say where a request ends.*--columns ignore=end_lba"),
        ("key,object_size,request_size\n1,2,3\n", "object_size and request_size may both be the size; say which"),
        ("time_h,key\n1,7\n", r"column time_h holds times in a unit that is not read \(h\); convert it"),
        ("uuid,document_id,timestamp\n1f,120,5\n", "columns uuid and document_id may both be the block; say which"),
        ("time,topic,partition,key\n1,a,0,5\n", "topic and partition may both be the device; say which"),
        ("slba,nlb,opcode\n8,7,2\n", "no column .slba, nlb, opcode. gives the place of a request.*--columns"),
        ("a,10\nb,20\n", "has no header.*name columns by number, --columns block=2"),
        ("- key: a\n- key: b\n", "has no header.*--columns"),
        ("vhost,url\na,/x\nb,/x\n", "column vhost .a, b. may be part of the address.*--columns device=vhost"),
        ("authority,url\na,GET /x\nb,GET /x\n", "column authority .a, b. may be part of the address"),
        ("reqHost,url\na,x\nb,x\n", "column reqHost .a, b. may be part of the address.*device=reqHost"),
        ("ClientRequestHost,ClientHost,url\na,c,/x\nb,d,/x\n", "column ClientRequestHost .a, b. may be part"),
        ("queryStr,url\na=1,x\n-,x\na=2,x\n", "column queryStr .a=1, a=2. may be part.*key=url.queryStr"),
        ("url,query\n/x,a=1\n/x,-\n/x,a=2\n", "column query .a=1, a=2. may be part.*--columns key=url.query"),
        ("url,status,bytes\n/a,200,9\n/a,304,0\n", "column status may hold the status.*--columns status=status"),
        ("url,response,bytes\n/a,200,9\n/a,304,0\n", "column response may hold the status.*--columns status=response"),
        (
            f"#Fields: s-sitename {IIS}\nW3SVC1 2002-05-02 17:42:15 1.2.3.4 GET /a - 5\n"
            "W3SVC2 2002-05-02 17:42:16 1.2.3.4 GET /a - 6\n",
            "column s-sitename .W3SVC1, W3SVC2. may be part.*--columns device=s-sitename",
        ),
        ("inode,block\n3,7\n4,7\n", "column inode may name devices.*--columns device=inode"),
        ("object_name,offset\n3,7\n4,7\n", "column object_name may name devices.*--columns device=object_name"),
        ("block_id,io_offset\n3,7\n", "exclude each other.*if io_offset counts from the start.*: space=block_id"),
        (
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,4808,10\n",
            "lengths of prompts; nothing says",
        ),
        ("Timestamp,Model,Request tokens,Response tokens\n5,ChatGPT,472,18\n", "lengths of prompts.*hash_ids"),
        ("Timestamp,Session ID,Elapsed time,Model,Request tokens\n5,1,3,x,4\n", "lengths of prompts.*hash_ids"),
        ('{"messages":[{"role":"user","content":"hi"}]}\n', "texts of prompts; nothing says which prompts share"),
        ('[\n {"timestamp": 0, "hash_ids": [0]}\n]\n', "one JSON array; write an object per line: jq -c"),
        ('{"ts":1,"key":"a"}\n', "is JSON.*jq -r"),
        ('\ufeff{"ts":1,"key":"a"}\n', "is JSON.*jq -r"),
        ('\ufeff[{"ts":1,"key":"a"}]\n', "one JSON array; write an object per line"),
        ("<!DOCTYPE html>\n<html>404</html>\n", "a web page.*download the file again"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4\nsize 9\n", "a pointer of Git LFS.*git lfs pull"),
        ("/annex/objects/SHA256E-s9--4.csv\n", "a pointer of git-annex, not the file.*git annex get"),
        ("<html><body>404</body></html>\n", "a web page.*download the file again"),
        (
            "Linux 6.1 (h)\t01/01/24\n\nDevice            r/s     rkB/s\nsda              1.0     4.0\n",
            "iostat.*list no req",
        ),
        (
            "06:09:47 loadavg: 0.28\n\nPID    COMM    D MAJ MIN DISK  I/O\n14501  cksum   R 202 1   xvda1 361\n",
            "biotop",
        ),
        (
            "Attaching 4 probes...\nTIME(ms)     DISK    COMM      PID\n611     nvme0n1 bash   4179\n",
            "use biosnoop of bcc",
        ),
        ('1234  1000.000001 openat(AT_FDCWD, "/a", O_RDONLY) = 3\n', "strace.*misspenalty record files"),
        ('execve("/bin/ls", ["ls"], 0x7ffd /* 20 vars */) = 0\nbrk(NULL) = 0x55\n', "what strace prints; name"),
        ('7.5 execve("/bin/ls", ["ls"], 0x7ffd /* 20 vars */) = 0 <0.000385>\n', "what strace prints; name"),
        (
            "% time     seconds  usecs/call     calls    errors syscall\n 50.00 0.1 1 9   read\n",
            "strace -c prints; name",
        ),
        ('{"fio version" : "fio-3.33",\n "timestamp" : 1,\n "jobs" : [{"jobname" : "a"}]}\n', FIO),
        ("3;fio-3.33;a;0;0;" + "0;" * 124 + "0.000000%\n", FIO),
        ("2;a;0;0;" + "0;" * 90 + "0.000000%\n", FIO),
        ("a: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\n", FIO),
        ("note: both iodepth >= 1 and synchronous I/O engine are selected\na: (g=0): rw=read, bs=4K-4K/4K-4K\n", FIO),
        ('1.5 [0 1.2.3.4:5] "MGET" "x" "y"\n', "operation 'MGET'.*--operations MGET=read"),
        ('1.5 [0 1.2.3.4:5] "XREADGROUP" "GROUP" "g" "c" "STREAMS" "x" ">"\n', "operation 'XREADGROUP'.*--operations"),
        (log(("GET /a HTTP/1.1", "2326 200"), ("GET /a HTTP/1.1", "- 304")), "line 1"),
        (VHOST.replace(" 200 5", " 5 200"), "line 1"),
        (HOSTS.format(*HOST).replace(" 200 5", " 5 200"), "line 1"),
    ],
)
def test_a_refusal_says_what_is_wrong_or_what_to_do(opened, content, message):
    with pytest.raises(InputError, match=message):
        opened(content)


TAILS = log(("GET /a HTTP/1.1", '200 5 "-" "x (see a.org)"{}'), ("GET /a HTTP/1.1", '200 5 "http://b.org/" "-"{}'))
INGRESS = " 5 0.1 [{}-80] [] 10.0.0.1:8 5 0.1 200 7f"
SNI = HAPROXY.replace('/1.1"', '/1.1" 0/0 {}.org/TLSv1.3/A').replace("{a.org}", "")


# Each case has lines with different hosts, and lines with no host or only one.
@pytest.mark.parametrize(
    ("format", "differing", "equal"),
    [
        ("access_log", TAILS.format(" a.org", " b.org"), TAILS.format("", "")),
        ("access_log", TAILS.format(' "a.org" 0.1', ' "b.org:8" 0.1'), TAILS.format(' "1.2.3.4" 0.1', ' "-" 0.1')),
        ("access_log", TAILS.format(" 0.1 host=a.org", " 0.1 host=b.org"), TAILS.format(" a.org", " a.org:8")),
        *(("access_log", TAILS.format(f" 0.1 {host.format('a.org')}", f" 0.1 {host.format('b.org')}"),
           TAILS.format(f" 0.1 {host.format('a.org')}", f" 0.1 {host.format('a.org')}"))
          for host in ("host:{}", "({})", "[{}:8]", '"https://{}"')),
        ("access_log", CLIENTS.format(*["::1"] * 3).replace("- -", "- - a.b.roe", 1).replace("- - [", "- - c.d.roe ["),
         CLIENTS.format(*["::1"] * 3)),
        ("access_log", TAILS.format(' "t=a.b c" a.org', ' "t=c.d c" b.org'),
         TAILS.format(' "t=a.b c" "a.com Inc" up=a.app', ' "t=c.d c" "b.com Inc" up=b.app')),
        ("access_log", TAILS.replace("5 ", "5 0.1 ").format(" a.org", " b.org"),
         TAILS.replace("5 ", "5 0.1 ").replace('"-"{', '"x b.org"{').format("", "")),
        ("access_log", TAILS.format(' 1 "a@docker" "-" 2ms', ' 2 "b@docker" "-" 2ms'),
         TAILS.format(' 1 "a@docker" "http://a.lan:80" 2ms', ' 2 "a@docker" "http://b.lan:80" 2ms')),
        ("access_log", TAILS.format(INGRESS.format("a"), INGRESS.format("b")),
         TAILS.format(INGRESS.format("a"), INGRESS.format("a"))),
        ("access_log", log(("GET /a HTTP/1.1", "200 5 a.org")) + log(("GET /a HTTP/1.1", "200 5 b.org")),
         log(("GET /a HTTP/1.1", "200 5 7"), ("GET /a HTTP/1.1", "200 5 9"))),
        ("access_log", HOSTS.format("app1", "app2", "-"), HOSTS.format("-", "frank", "-")),
        ("access_log", CLIENTS.format("app1 1.2.3.4", "app2 ::1", "-"), CLIENTS.format("-", "localhost ::1", "::1")),
        ("access_log", CLIENTS.format(*(f"Oct 10 09:55:36 h nginx: {host}:443 ::1" for host in ("a.b", "b.b", "b.b"))),
         CLIENTS.format(*["Oct 10 09:55:36 h nginx: ::1"] * 3)),
        ("access_log", CLIENTS.format("web | a.org ::1", "web | b.org ::1", "-"), CLIENTS.format(*["web | ::1"] * 3)),
        ("access_log", CLIENTS.format("1.2.3.4", "::1", "::1").replace("- -", "- a.org", 1).replace("- -", "- w.b.uk"),
         CLIENTS.format("1.2.3.4", "::1", "::1").replace("- -", "- ann.b.roe", 1).replace("- -", "- bob.roe", 1)),
        *(("access_log", CLIENTS.format(*(f"{prefix}{host}:443 ::1" for host in ("a.b", "b.b", "b.b"))),
           CLIENTS.format(*[f"{prefix}::1"] * 3)) for prefix in PREFIXES[:3]),
        *(("access_log", CLIENTS.format(*(f"{prefix}::1 {host}.b.org" for host in "abb")).replace("- -", "-"),
           CLIENTS.format(*[f"{prefix}::1"] * 3).replace("- -", "- ann.b.roe", 1).replace("- -", "- c.d.roe", 1))
          for prefix in PREFIXES[:3]),
        ("haproxy", HAPROXY.replace("0/0 ", "0/0 {Moz|b.org} ", 1), HAPROXY),
        ("haproxy", SNI.format("a", "b"),
         HAPROXY.replace("{a.org}", "{Moz}").replace("0/0 ", "0/0 {Opera} ", 1)),
    ],
)  # fmt: skip
def test_hosts_that_a_format_leaves_out_are_asked_about_and_noted(opened, format, differing, equal):
    message = f"lines seem to name different hosts .*equal paths.*--pattern, with a group device,.*--format {format}"
    with pytest.raises(InputError, match=message):
        opened(differing)
    named, sure = opened(differing, format=format), opened(equal)
    assert set(named.ids.tolist()) == {0} and any("seem to name different" in note for note in named.reading.notes)
    assert sure.format == format and not any("seem to name different" in note for note in sure.reading.notes)


@pytest.mark.parametrize("prefix", PREFIXES)
def test_what_collectors_write_before_a_line_is_left_out(opened, prefix):
    plain = log(("GET /a HTTP/1.1", "200 5"), ("GET /b HTTP/1.1", "200 6"), ("GET /a HTTP/1.1", "200 5"))
    trace = opened("".join(prefix + line for line in plain.splitlines(keepends=True)))
    assert trace.format == "access_log" and trace.ids.tolist() == [0, 1, 0] and trace.object_bytes.tolist() == [5, 6]
    assert trace.time.tolist() == [0, SECOND, 2 * SECOND]


def test_a_pattern_with_a_group_device_keeps_hosts_apart(opened):
    pattern = r'.*\[(?P<time>[^]]+)\] "(?P<op>\w+) (?P<key>\S+).*" (?P<sc_status>\d+) (?P<size>\d+) .* (?P<device>\S+)'
    trace = opened(TAILS.format(" a.org", " b.org"), pattern=pattern, time_unit="%d/%b/%Y:%H:%M:%S %z")
    assert trace.ids.tolist() == [0, 1] and trace.time.tolist() == [0, SECOND]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04" + bytes(28), "is a ZIP archive"),
        (b"\x93NUMPY" + bytes(26), "is a NumPy array; pass it to misspenalty in Python"),
        (b"\x04\x22\x4d\x18" + bytes(28), "is compressed with LZ4"),
        (bytes(257) + b"ustar" + bytes(250), "is a tar archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:4\nsize 123456\n", "is a pointer of Git LFS"),
    ],
)
@pytest.mark.parametrize("options", [{"format": "u32le"}, {"columns": "key=1"}])
def test_what_is_never_a_trace_is_refused_even_if_the_user_says_how_to_read_it(opened, content, message, options):
    assert len(content) % 4 == 0  # the length would fit numbers of 32 bits
    with pytest.raises(InputError, match=message):
        opened(content, **options)


def test_a_log_whose_columns_change_is_refused(opened):
    rows = "#Fields: {}\n1,/a\n#Date: 2024\n2,/b\n"
    joined = opened(rows.format("time,cs-uri-stem") + rows.format(" time,cs-uri-stem"))
    assert joined.ids.tolist() == [0, 1, 0, 1] and joined.time.tolist() == [0, SECOND, 0, SECOND]
    with pytest.raises(InputError, match=r"line 5: other columns from here on, '#Fields: cs.*'; expected '#Fields: ti"):
        opened(rows.format("time,cs-uri-stem") + rows.format("cs-uri-stem,time"))


def test_a_format_of_a_package_may_read_arrays(tmp_path, monkeypatch):
    def read(path, block_bytes):
        yield Requests(np.load(path).astype(np.uint64))

    form = Format("arrays", "binary: an array", read, lambda name, head: head.startswith(b"\x93NUMPY"), 4096)
    monkeypatch.setitem(reader._formats, "arrays", form)
    np.save(tmp_path / "found.npy", np.arange(8))
    assert len(open_trace(tmp_path / "found.npy")) == len(open_trace(tmp_path / "found.npy", "arrays")) == 8
    with pytest.raises(InputError, match="is a NumPy array"):
        open_trace(tmp_path / "found.npy", "u32le")


@pytest.mark.parametrize("line", ["0,5;7", "0,5\t7", "0,5 7", "-0,25|7", "2024-05-31T12:00:00,5\t7"])
def test_decimal_commas_without_a_header_are_not_taken_for_separators(opened, line):
    with pytest.raises(InputError, match=r"found: commas in .* may .* be decimal commas; say which, --separator comma"):
        opened(f"{line}\n{line}\n", columns="time=1,key=2")
    stated = {"separator": "comma", "time_unit": "iso" if ":" in line else "s"}
    assert len(opened(f"{line}\n{line}\n", columns="time=1,key=2", **stated)) == 2


@pytest.mark.parametrize("separator", ["|", ";", "\t"])
def test_a_header_tells_what_commas_are(opened, separator):
    lines = f"what,when\na{separator}5,7\nb{separator}5,9\n"
    assert opened(lines, columns="key=what,time=when").time.tolist() == [0, 2 * SECOND]


@pytest.mark.parametrize("line", ["5,7", "5, 7", "2024-05-31 12:00:00,7", "0.5,a b"])
def test_other_commas_separate_columns(opened, line):
    trace = opened(f"{line}\n{line}\n", columns="time=1,key=2")
    assert (trace.blocks, trace.reading.separator) == (1, ",")


@pytest.mark.parametrize(
    ("first", "command", "columns"),
    [
        pytest.param(
            {"ts": 1700000000.1, "req": {"key": "k0", "bytes": 100}, "op": "GET"},
            "(echo ts,key,bytes,op; jq -r '[.ts,.req.key,.req.bytes,.op]|@csv') < FILE",
            {"time": "ts", "block": "key", "size": "bytes", "op": "op"},
            id="nested",
        ),
        pytest.param(
            {"time_iso8601": "2024-03-01T12:00:00+00:00", "request_method": "GET", "request_uri": "/a0", "status": 200,
             "body_bytes_sent": 1000},
            "(echo time,op,request_uri,status,body_bytes_sent; jq -r '[.time_iso8601,.request_method,.request_uri,"
            ".status,.body_bytes_sent]|@csv') < FILE",
            {"time": "time", "block": "request_uri", "size": "body_bytes_sent", "op": "op"},
            id="of nginx",
        ),
        pytest.param(
            {"http.request.method": "GET", "http.request.uri": "v2/a", "timestamp": "2017-06-20T02:41:18.399Z"},
            "(echo method,uri,timestamp; jq -r '[.\"http.request.method\",.\"http.request.uri\",.timestamp]|@csv') <"
            " FILE",
            {"op": "method", "block": "uri", "time": "timestamp"},
            id="of Docker's registries, with points in names",
        ),
        pytest.param(
            {"agent.id": "x", "url": {"address": "/a"}, "event": {"type": "y"}, "object.id": 5, "ts": 7},
            "(echo agent_id,url_address,event_type,object_id,ts; jq -r '[.\"agent.id\",.url.address,.event.type,"
            ".\"object.id\",.ts]|@csv') < FILE",
            {"block": "object_id", "time": "ts"},
            id="ids of several things",
        ),
        pytest.param(
            {"obj id": "a", "tags": [1, 2], "@timestamp": 7},
            "(echo obj_id,timestamp; jq -r '[.\"obj id\",.\"@timestamp\"]|@csv') < FILE",
            {"block": "obj_id", "time": "timestamp"},
            id="keys that are no words",
        ),
        pytest.param(
            {"key": 18446744073709551615, "time": 5},
            "python3 -c 'import csv, json, sys; w = csv.writer(sys.stdout); w.writerow(\"key,time\".split(\",\"));"
            " w.writerows([d[\"key\"], d[\"time\"]] for d in map(json.loads, sys.stdin))' < FILE",
            {"block": "key", "time": "time"},
            id="numbers that jq rounds",
        ),
    ],
)  # fmt: skip
def test_a_command_makes_a_table_of_lines_of_json(tmp_path, first, command, columns):
    (path := tmp_path / "found.jsonl").write_text(json.dumps(first) + "\n" + json.dumps(first) + "\n")
    with pytest.raises(InputError, match=re.escape(f"is JSON, which is supported only for traces of prompts (format"
                                                   f" mooncake); write a table: {command}")):  # fmt: skip
        open_trace(path)
    if "jq" in command and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    run = command.replace("FILE", shlex.quote(str(path))).replace("python3", shlex.quote(sys.executable))
    (table := tmp_path / "table.csv").write_bytes(
        subprocess.run(["sh", "-c", run], check=True, capture_output=True).stdout
    )
    trace = open_trace(table)
    assert trace.reading.columns == columns and len(trace) == 2 and trace.blocks == 1
    if isinstance(first.get("key"), int):
        assert trace.address.tolist() == [first["key"]]


def test_lines_of_json_whose_keys_say_nothing_name_them_all(opened):
    with pytest.raises(InputError, match=r"\(echo who,it; jq -r '\[.who,.what.it\].*and name the place with --columns"):
        opened('{"who": "a", "what": {"it": 3}}\n')
    for text in ('{"it\'s": 1}\n', '{"a": [1]}\n', '{"a": 1'):  # a key with a quote, only a list, cut off
        with pytest.raises(InputError, match=r"is JSON.*; write a table with a header, such as time,key,size$"):
            opened(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time,key\n1,7\n".encode("utf-16"), "is written in UTF-16; save it as UTF-8"),
        ("time,key\n1,7\n".encode("utf-16-le"), "UTF-16 without a mark; save it as UTF-8"),
        ("time,key\n1,7\n".encode("utf-32"), "UTF-32; save it as UTF-8"),
        (b"PK\x03\x04" + bytes(100), "a ZIP archive or a spreadsheet; extract it"),
        (b"x" * 257 + b"ustar\x0000" + bytes(300), "a tar archive; extract"),
        (b"SQLite format 3\0" + bytes(100), "an SQLite database; export a table"),
        (b"\x04\x22\x4d\x18" + bytes(100), "compressed with LZ4; decompress it first"),
        (gzip.compress(gzip.compress(b"7\n8\n", mtime=0), mtime=0), "compressed twice; decompress it once"),
        (b"\x93NUMPY\x01\0v\0{}", "a NumPy array; pass it to misspenalty in Python"),
        (b"ARROW1\0\0" + bytes(100), "a Feather file; convert it to CSV or Parquet"),
        (b"PERFILE2" + bytes(100), "a recording of perf; print it as text: perf script"),
        (b"\x17\x08\x44tracing6\0\0\x08", "a recording of trace-cmd; print it as text: trace-cmd report"),
        (b"\xd4\xc3\xb2\xa1" + bytes(100), "a packet capture"),
    ],
)
def test_what_is_not_text_is_named(opened, content, message):
    with pytest.raises(InputError, match=message):
        opened(content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (log(*(("GET /a HTTP/1.1", f"{status} 9") for status in (200, 206, 404, 403, 500, 302, 304))),
         "1 of status 206, 1 of status 3xx, 2 of status 4xx, 1 of status 5xx"),
        (SQUID.format("TCP_MISS/200 9", "a") + SQUID.format("TCP_DENIED/403 3", "a")
         + SQUID.format("TCP_MISS_ABORTED/000 0", "a"), "1 of no status, 1 of status 4xx"),
        (HAPROXY.replace(" 200 ", " 503 ", 1), "1 of status 5xx"),
        (log(("GET /a HTTP/1.1", "200 9"), ("GET /a HTTP/1.1", "304 -"), ("HEAD /a HTTP/1.1", "404 1")), None),
    ],
)  # fmt: skip
def test_answers_that_may_not_be_whole_objects_are_counted(opened, content, said):
    notes = [note for note in opened(content).reading.notes if "whole objects" in note]
    expected = [f"answers that may not be whole objects have the bytes sent as their size: {said}"]
    assert notes == (expected if said else [])


def test_commands_of_redis_on_one_key_are_read(opened):
    commands = ("TOUCH", "HRANDFIELD", "BLPOP", "HSETEX", "XGROUP")
    lines = "".join(f'1.5 [0 1.2.3.4:5] "{command}" "x" "9"\n' for command in commands)
    assert opened(lines).write.tolist() == [0, 0, 0, 1, 1]


def test_what_was_left_out_or_filled_in_is_said(opened):
    assert "left out 1 line above the header" in opened("A sentence.\ntime_s,key\n1,7\n").reading.notice("x")
    found = opened(log(("GET /a HTTP/1.1", "200 9"), ("GET /a HTTP/1.1", "304 -"), ("GET /a HTTP/1.1", "304 -")))
    assert "2 sizes unknown, taken from other requests" in found.reading.notice("x")
    assert "line above" not in opened("time_s,key\n1,7\n" * 2).reading.notice("x")


@pytest.mark.parametrize("name", ["wide.csv", "wide.txt"])
@pytest.mark.parametrize("keys", ["abc", "123"])
@pytest.mark.parametrize(
    "head", [",".join([f"column_{number}" for number in range(500)] + ["key"]), "# note\n" * 700 + "key"]
)
def test_a_header_may_end_far_below_the_beginning(opened, name, keys, head):
    columns = head.count(",") + 1
    rows = "".join(",".join(["x"] * (columns - 1) + [key]) + "\n" for key in keys)
    trace = opened(f"{head}\n{rows}", name=name)
    assert (trace.format, trace.blocks) == ("csv", 3)
