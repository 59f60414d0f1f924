"""Recognise files that are often mistaken for traces, and say what they are and what to do with them.

Each is recognised by its first bytes; nothing here reads a file.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from misspenalty.traces.doubts import words_of
from misspenalty.traces.table import OPERATIONS
from misspenalty.traces.vocabulary import PLACES, meaning

EXTRACT = "extract the trace from it, and name that file"
CONVERT = "convert it to CSV or Parquet (pandas or pyarrow reads it)"
TABLE = "write a table with a header, such as time,key,size"
JSON = "JSON, which is supported only for traces of prompts (format mooncake)"
JQ = "(echo {names}; jq -r '[{paths}]|@csv') < FILE"
PYTHON = (  # jq 1.6 rounds whole numbers beyond 2**53
    'python3 -c \'import csv, json, sys; w = csv.writer(sys.stdout); w.writerow("{names}".split(","));'
    " w.writerows([{paths}] for d in map(json.loads, sys.stdin))' < FILE"
)
EXACT = 1 << 53  # whole numbers up to this one are exact in jq
MOST_KEYS = 20  # number of keys that a command names
# Words in the names of keys that may matter.
LIKELY = {"host", "method", "path", "uri", "url", "bytes", "size", "key", "status", "len", "length", "cnt", "blocks",
          "sectors", "written"}  # fmt: skip
DARSHAN = (  # X_MPIIO lists requests that X_POSIX lists again
    "write a table from what darshan-dxt-parser prints: (echo file op offset length time_s; awk '/file_id:/ {f ="
    " substr($4, 1, length($4) - 1)} /^ *X_POSIX/ {print f, $3, $5, $6, $7}') < FILE"
)
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
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
    (b"\x17\x08\x44tracing", "a recording of trace-cmd", "print it as text: trace-cmd report FILE"),
    (b"%PDF", "a PDF", TABLE),
    (b"# darshan log", "a log of Darshan, which names files in comments between the requests", DARSHAN),
    (b"# DXT,", "a log of Darshan, which names files in comments between the requests", DARSHAN),
)  # fmt: skip
PACKED = (b"PK\x03\x04", b"7z\xbc\xaf\x27\x1c", b"Rar!", b"\x04\x22\x4d\x18", b"\x93NUMPY", b"# darshan log", b"# DXT,")
POINTERS = (  # files that a clone of a repository has in place of large files
    (rb"version https://git-lfs\.github\.com/", "a pointer of Git LFS, not the file itself", "fetch it: git lfs pull"),
    (rb"/annex/objects/", "a pointer of git-annex, not the file itself", "fetch it: git annex get FILE"),
)
BRACE = "leave that out: sed 's/^[^{]*//' FILE, and name the file that results"
SUMMARY = "totals over time list no requests; record the requests: misspenalty record block, or blktrace"
CALLS = "name the file and the place of each request: misspenalty record files records both"
JOBS = "totals list no requests; let fio write them (write_iolog=FILE), and name that file"
LENGTHS = "nothing says which prompts share a prefix; a trace with hash_ids does (format mooncake)"
SESSIONS = (
    "write an object per prompt, in the order of their times, with timestamp (ms), input_length, output_length and"
    " hash_ids; if equal ids of different sessions are different blocks (hash_id_scope local), make them differ"
)
TEXTS = (
    (r"\A\s*<(?i:!doctype|html|\?xml)", "a web page, perhaps of an error", "download the file again"),
    (r"\A\s*\[\s*\{", "one JSON array", "write an object per line: jq -c '.[]' FILE"),
    (r'\A\s*\{\s*"', JSON, TABLE),
    (r'\A[^{"\n]{1,80}[ :|]\{\s*"', "JSON after what a collector of logs writes before a line", BRACE),
    (r'\A\s*\{"(messages|prompt|conversations)"', "texts of prompts", LENGTHS),
    (r"^Device:?\s+(r/s|tps|rrqm)", "what iostat prints", SUMMARY),
    (r"^PID\s+COMM\s+D\s+MAJ", "what biotop prints", SUMMARY),
    (r"^\s*r\s+b\s+swpd", "what vmstat prints", SUMMARY),
    (r"\A\s*(Process Name|Kbytes)\s*[=:]", "a histogram of request sizes", SUMMARY),
    (r"^TIME\(ms\)\s+DISK\s+COMM", "what biosnoop.bt prints, without addresses", "use biosnoop of bcc"),
    (r"\A\+-[-+]+\+\s*\n\|", "a table in a frame, as MySQL's client prints it",
     "print it with tabs (mysql --batch), or leave out the lines of the frame: --comment + (comment=…)"),
    (r"\A% time +seconds", "the summary that strace -c prints", CALLS),
    (r"\A(\[pid +\d+\] |\d+ +)?([\d.:]+ )?(execve|read|write|pread64|pwrite64|openat|open|lseek)\(.*\) += ",
     "what strace prints", CALLS),
    (r'\A\s*\{\s*"fio version"', "what fio prints about its jobs", JOBS),
    (r"\A[2-5];([^;\n]*;){50}", "what fio prints about its jobs", JOBS),
    (r"^\S.*: \(g=\d+\): rw=", "what fio prints about its jobs", JOBS),
    (r"\A(?i:timestamp,(session id,elapsed time,)?(model,request tokens|contexttokens))",
     "a table of lengths of prompts", LENGTHS),
    (r'\A\s*\{.*"hash_ids"\s*:', "a file of prompts without the usual keys",
     "name the keys timestamp (ms), input_length, output_length and hash_ids"),
    (r'\A\s*\{.*"requests"\s*:\s*\[\s*\{.*"hash_ids"', "a file of sessions of prompts", SESSIONS),
)  # fmt: skip


def pointer(head: bytes) -> tuple[str, str] | None:
    """Return what kind of pointer a file is, and how to fetch the content it points to; None if it is not a pointer."""
    return next(((what, remedy) for start, what, remedy in POINTERS if re.match(start, head)), None)


def packed(head: bytes) -> tuple[str, str] | None:
    """Return what kind of archive, compressed file, array or Darshan log a file is, and what to do with it; None for
    other files.

    A format without any structure, such as plain numbers, or with comments would read it without a warning.
    """
    return recognise(head) if head.startswith(PACKED) or head[257:262] == b"ustar" else None


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
            return what, as_table(text) if what == JSON else remedy
    return None


def as_table(text: str) -> str:
    """Return how to write lines of JSON as a table, with a command that names the keys of the first object in `text`.

    All keys are written or, if there are many, those whose names or values imply a role and others that may matter;
    keys with quotes and texts of several lines, which a table cannot hold, are left out if they imply no role.

    Examples
    --------
    >>> as_table('{"ts": 1, "req": {"key": "k0"}, "op": "GET", "status": 200}')
    "write a table: (echo ts,key,op,status; jq -r '[.ts,.req.key,.op,.status]|@csv') < FILE"
    """
    try:
        first = json.JSONDecoder().raw_decode(text.lstrip())[0]
        found = [(keys, value, _column(_last(keys), value)) for keys, value in _values(first)]
    except (ValueError, RecursionError):
        return TABLE
    told = [row for row in found if row[2]]
    placed = any((known := meaning(name)) is not None and known[0] in PLACES for _, _, name in told)
    kept = (row for row in found if row[2] or not ("\n" in str(row[1]) or any("'" in key for key in row[0])))
    rows = [(keys, value, name or _plain(_last(keys))) for keys, value, name in kept]
    if len(rows) > MOST_KEYS:
        rows = [row for row in rows if row in told or LIKELY & words_of(row[0][-1])]
    if not rows or len(rows) > MOST_KEYS or any("'" in key for keys, _, _ in rows for key in keys):
        return TABLE
    names = ",".join(_plain("_".join(keys)) if _is_twice(name, rows) else name for keys, _, name in rows)
    if any(isinstance(value, int) and abs(value) > EXACT for _, value, _ in rows):
        command = PYTHON.format(names=names, paths=", ".join("d" + "".join(f"[{json.dumps(key)}]" for key in keys)
                                                             for keys, _, _ in rows))  # fmt: skip
    else:
        command = JQ.format(names=names, paths=",".join("".join(map(_step, keys)) for keys, _, _ in rows))
    return f"write a table: {command}" + ("" if placed else ", and name the place with --columns key=… (columns=…)")


def _values(entry: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value, except lists, of an object and of the objects in it, with the keys that lead to the value."""
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from _values(value, (*above, key))
        elif not isinstance(value, list):
            yield (*above, key), value


def _last(keys: tuple[str, ...]) -> str:
    """Return the last part of a name, with the part before it if that tells whose id, address or type it is.

    Examples
    --------
    >>> _last(("http.request.method",)), _last(("agent", "id")), _last(("id",))
    ('method', 'agent_id', 'id')
    """
    before, last = ["", *".".join(keys).split(".")][-2:]
    return f"{before}_{last}" if before and last in ("id", "address", "type") else last


def _column(key: str, value: Any) -> str:
    """Return the name of the column for a key: the key if it implies a role, else the value's role; empty if neither.

    Examples
    --------
    >>> _column("ts", 1), _column("verb_used", "GET"), _column("at", "2024-03-01T12:00:00Z"), _column("status", 200)
    ('ts', 'op', 'time', '')
    """
    if meaning(key) is not None:
        return _plain(key)
    if isinstance(value, str) and value.lower() in OPERATIONS:
        return "op"
    return "time" if isinstance(value, str) and ISO_TIME.match(value) else ""


def _is_twice(name: str, rows: list[tuple[tuple[str, ...], Any, str]]) -> bool:
    return sum(other == name for _, _, other in rows) > 1


def _plain(name: str) -> str:
    """Return a form of a name that needs no quotes in a table or in a shell."""
    return re.sub(r"\W+", "_", name).strip("_") or "column"


def _step(key: str) -> str:
    """Return the jq filter that selects a key."""
    return f".{key}" if re.fullmatch(r"[A-Za-z_]\w*", key, re.ASCII) else f".{json.dumps(key)}"
