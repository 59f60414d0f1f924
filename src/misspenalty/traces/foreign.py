"""Recognise files that are often mistaken for traces, and say what they are and what to do with them.

Each is recognised by its first bytes; nothing here reads a file.
"""

import re

EXTRACT = "extract the trace from it, and name that file"
CONVERT = "convert it to CSV or Parquet (pandas or pyarrow reads it)"
TABLE = "write a table with a header, such as time,key,size"
JSON_LINES = "with jq: (echo time,key,size; jq -r '[.time,.key,.size]|@csv') < FILE"
BYTES = (
    (b"\xff\xfe\0\0", "written in UTF-32", "save it as UTF-8 (iconv -f UTF-32 -t UTF-8)"),
    (b"\0\0\xfe\xff", "written in UTF-32", "save it as UTF-8 (iconv -f UTF-32 -t UTF-8)"),
    (b"\xff\xfe", "written in UTF-16", "save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
    (b"\xfe\xff", "written in UTF-16", "save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
    (b"PK\x03\x04", "a ZIP archive or a spreadsheet", "extract it; save the sheet of a spreadsheet as CSV"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", EXTRACT),
    (b"Rar!", "a RAR archive", EXTRACT),
    (b"\x04\x22\x4d\x18", "compressed with LZ4", "decompress it first (lz4 -d), or pipe it in: lz4 -dc FILE | … -"),
    (b"\x1f\x9d", "compressed with compress", "decompress it first (uncompress), or pipe it in: zcat FILE | … -"),
    (b"\x1f\x8b", "compressed twice", "decompress it once (gzip -d), or pipe it in: zcat FILE | … -"),
    (b"SQLite format 3\0", "an SQLite database", "export a table: sqlite3 -csv -header FILE 'SELECT …'"),
    (b"\x93NUMPY", "a NumPy array", "pass it to misspenalty in Python: Trace.from_blocks(numpy.load(…))"),
    (b"ARROW1", "a Feather file", CONVERT),
    (b"\x89HDF", "an HDF5 file", CONVERT),
    (b"ORC", "an ORC file", CONVERT),
    (b"\x80\x04\x95", "a Python pickle", CONVERT),
    (b"\xd4\xc3\xb2\xa1", "a packet capture", f"{TABLE}, of the requests in it (tshark -T fields)"),
    (b"\x0a\x0d\x0d\x0a", "a packet capture", f"{TABLE}, of the requests in it (tshark -T fields)"),
    (b"PERFILE2", "a recording of perf", "print it as text: perf script -i FILE"),
    (b"tracing", "a recording of trace-cmd", "print it as text: trace-cmd report FILE"),
    (b"%PDF", "a PDF", TABLE),
)  # fmt: skip
POINTERS = (  # what a clone has in place of a large file
    (rb"version https://git-lfs\.github\.com/", "a pointer of Git LFS, not the file itself", "fetch it: git lfs pull"),
    (rb"/annex/objects/", "a pointer of git-annex, not the file itself", "fetch it: git annex get FILE"),
)
SUMMARY = "totals over time list no requests; record the requests: misspenalty record block, or blktrace"
CALLS = "name the file and the place of each request: misspenalty record files records both"
LENGTHS = "nothing says which prompts share a prefix; a trace with hash_ids does (format mooncake)"
TEXTS = (
    (r"\A\s*<(?i:!doctype|html|\?xml)", "a web page, perhaps of an error", "download the file again"),
    (r"\A\s*\[\s*\{", "one JSON array", "write an object per line: jq -c '.[]' FILE"),
    (r'\A\s*\{\s*"', "JSON, which is supported only for traces of prompts (format mooncake)",
     f"write a table, {JSON_LINES}"),
    (r'\A\s*\{"(messages|prompt|conversations)"', "texts of prompts", LENGTHS),
    (r"^Device:?\s+(r/s|tps|rrqm)", "what iostat prints", SUMMARY),
    (r"^PID\s+COMM\s+D\s+MAJ", "what biotop prints", SUMMARY),
    (r"^\s*r\s+b\s+swpd", "what vmstat prints", SUMMARY),
    (r"\A\s*(Process Name|Kbytes)\s*[=:]", "a histogram of request sizes", SUMMARY),
    (r"^TIME\(ms\)\s+DISK\s+COMM", "what biosnoop.bt prints, without addresses", "use biosnoop of bcc"),
    (r"\A(\[pid +\d+\] |\d+ +)?([\d.:]+ )?(read|write|pread64|pwrite64|openat|open|lseek)\(.*\) += ",
     "what strace prints", CALLS),
    (r"\A(?i:timestamp,(model,request tokens|contexttokens))", "a table of lengths of prompts", LENGTHS),
)  # fmt: skip


def pointer(head: bytes) -> tuple[str, str] | None:
    """Return what kind of pointer a file is, and how to fetch the content it points to; None if it is not a pointer."""
    return next(((what, remedy) for start, what, remedy in POINTERS if re.match(start, head)), None)


def recognise(head: bytes) -> tuple[str, str] | None:
    """Return what a file that begins with `head` is, and what to do with it; None if its kind is not known.

    Examples
    --------
    >>> recognise(b"PK\\x03\\x04")[0], recognise(b"7\\n8\\n")
    ('a ZIP archive or a spreadsheet', None)
    """
    for magic, what, remedy in BYTES:
        if head.startswith(magic):
            return what, remedy
    if head[257:262] == b"ustar":
        return "a tar archive", EXTRACT
    if head[1:40:2].count(0) > len(head[1:40:2]) // 2 and not head[:40:2].count(0):
        return "written in UTF-16 without a mark", "save it as UTF-8 (iconv -f UTF-16LE -t UTF-8)"
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    for pattern, what, remedy in reversed(TEXTS):  # later entries are more specific
        if re.search(pattern, text, re.MULTILINE):
            return what, remedy
    return None
