"""Test that small traces in public dialects are read correctly or refused with advice on what to state.

The right values were computed by hand, without the package.
"""

import bz2
import csv
import lzma
import re
import runpy
import shutil
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import InputError, ParameterError, hit_ratio_curve, open_trace, penalty, simulate
from misspenalty.characterize.rows import read_rows
from misspenalty.cli.arguments import parse_policies
from misspenalty.cli.main import main
from misspenalty.traces.dialects import EVIDENCE, LISTS, dialects, load
from misspenalty.traces.parts import select, warm_up
from misspenalty.traces.table import OPTIONS, Table
from misspenalty.traces.vocabulary import ACTION, ALIASES, IGNORE, ROLES, SPACE, STATUS

INPUTS = Path(__file__).parents[1] / "data" / "inputs"


# Each entry has the numbers of references, blocks and reads, and the hits of LRU with two blocks.
@pytest.mark.parametrize(
    ("name", "options", "right"),
    [
        ("01_names_own.csv", {"columns": "block=photo,time=when"}, (3, 2, 3, 1)),
        ("02_iotype_lun.csv", {}, (4, 3, 1, 0)),
        ("04_device_id.csv", {}, (4, 3, 3, 1)),
        ("04b_device_id_us.csv", {}, (4, 3, 3, 1)),
        ("06_web_one_feature.tr", {"format": "lrb"}, (3, 2, 3, 1)),
        ("08_byte_addresses.txt", {"format": "disksim", "address_unit": "bytes", "size_unit": "bytes"}, (4, 3, 2, 0)),
        ("11_text_key_count.csv", {}, (6, 2, 6, 4)),
        ("11_text_key_count.csv", {"columns": "key=key,repeat=op_count"}, (6, 2, 6, 4)),
        ("16_hex_keys.csv", {}, (3, 2, 3, 1)),
        ("17_hash_64_bits.csv", {}, (3, 2, 3, 1)),
        ("18_pandas_float.csv", {}, (3, 2, 2, 0)),
        ("20_tabs.tsv", {}, (3, 2, 3, 1)),
        ("21_completions_only.txt", {"action": "C"}, (2, 1, 1, 0)),
        ("23_gzip_without_suffix", {}, (3, 2, 3, 1)),
        ("24_get_set.csv", {"operations": "GET=read,SET=write"}, (3, 2, 2, 1)),
        ("24_get_set.csv", {}, (3, 2, 2, 1)),
        ("27_object_33_bits.tr", {"format": "lrb"}, (2, 1, 2, 1)),
        ("27_object_33_bits.tr", {"format": "adapt_size"}, (2, 1, 2, 1)),
        ("formats/access.log", {}, (2, 1, 2, 1)),
        ("formats/alicloud.csv", {}, (4, 3, 3, 1)),
        ("formats/fiu.txt", {}, (2, 1, 1, 1)),
        ("formats/ftrace.txt", {}, (2, 1, 1, 1)),
        ("formats/lackey.trace", {}, (5, 2, 3, 1)),
        ("formats/meta_block.csv", {}, (4, 2, 3, 2)),
        ("formats/meta_kv.csv", {}, (6, 1, 5, 4)),
        ("formats/redis_monitor.log", {}, (3, 2, 2, 1)),
        ("formats/tencent.csv", {"format": "tencent"}, (3, 3, 2, 0)),
        ("formats/twitter.csv", {}, (3, 2, 2, 1)),
        ("formats/urls.txt", {}, (3, 2, 3, 1)),
        ("formats/wikimedia.tsv", {}, (3, 2, 3, 1)),
    ],
)
def test_what_people_have_is_read_right(name, options, right):
    trace = open_trace(INPUTS / name, **options)
    assert (len(trace), trace.blocks, trace.reads, simulate(trace, "lru", 2).hits) == right
    assert trace.reading is not None and (trace.reading.reads, trace.reading.writes) == (right[2], right[0] - right[2])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("06_web_one_feature.tr", {}, "the format cannot be recognised from the content alone.*lrb.*--format"),
        ("08_byte_addresses.txt", {}, "the format cannot be recognised from the content alone.*disksim.*--columns"),
        ("27_object_33_bits.tr", {}, "the format cannot be recognised from the content alone.*adapt_size.*lrb"),
        ("formats/tencent.csv", {}, "the format cannot be recognised from the content alone.*tencent"),
        ("11_text_key_count.csv", {"columns": "key=key,count=op_count"}, "no neighbours.*repeat="),
        ("21_completions_only.txt", {}, "contains no requests, but 2 lines of action C.*--action C"),
    ],
)
def test_what_could_mean_several_things_is_refused_with_the_thing_to_say(name, options, message):
    with pytest.raises(InputError, match=message):
        open_trace(INPUTS / name, **options)


def test_times_that_go_back_are_named_and_sorted_on_demand():
    path = INPUTS / "13_time_goes_back.csv"
    given, ordered = open_trace(path), open_trace(path, order="time")
    assert given.reading.earlier == 2 and "2 of 5 requests are earlier" in given.reading.notice("x")
    assert "sorted by time" in ordered.reading.notice("x") and ordered.time.tolist() == [
        0,
        10**9,
        2 * 10**9,
        3 * 10**9,
        9 * 10**9,
    ]
    row = penalty(ordered, "lru", 2, "5ms").iloc[0]
    assert (row["misses"], row["hits"], row["mean_us"]) == (3, 2, 3000)


def test_a_sample_of_too_small_a_cache_is_refused():
    trace = open_trace(INPUTS / "12_sample_too_small.txt")
    with pytest.raises(ParameterError, match=r"a cache of 5 blocks would hold 0.05 blocks .*leave out sample"):
        hit_ratio_curve(trace, "lru", 5, sample=0.01)
    with pytest.raises(ParameterError, match=r"use a sample of at least 0.25"):
        hit_ratio_curve(trace, "lru", 80, sample=0.1)
    with pytest.raises(ParameterError, match=r"use a sample of at least 6.67e-06, or"):
        hit_ratio_curve(trace, "lru", 3_000_000, sample=1e-6)
    assert hit_ratio_curve(trace, "lru", 5)["hit_ratio"].round(4).tolist() == [0.0117]


def test_only_writes_are_hinted_at(capsys):
    assert main(["simulate", str(INPUTS / "25_all_writes.spc"), "--size", "1"]) == 0
    assert "every reference of 25_all_writes.spc is a write" in capsys.readouterr().err


def test_a_response_time_of_writes_is_not_measured(tmp_path, capsys):
    (path := tmp_path / "x.csv").write_text("time_s,op,key\n0,W,7\n1,W,8\n")
    assert main(["penalty", str(path), "--size", "1", "--device", "5ms"]) == 0
    said = capsys.readouterr().err
    assert "every reference of x.csv is a write, which the cache absorbs, so that no response time is mea" in said
    path.write_text("time_s,op,key\n0,W,7\n1,R,8\n")
    assert main(["penalty", str(path), "--size", "1", "--device", "5ms"]) == 0
    assert "is a write" not in capsys.readouterr().err


def test_reads_load_what_only_writes_hit(capsys):
    path = str(INPUTS / "35_read_then_write.spc")
    assert main(["simulate", path, "--policy", "lru", "--size", "1", "--writes", "only"]) == 0
    assert re.search(r"requests +1\n(.*\n)*hits +1\n", capsys.readouterr().out)
    assert simulate(select(open_trace(path), "writes"), "lru", 1, writes="only").hits == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [("Cheat", r"access\(1\) returned True at the first"), ("Over", "holds 4 blocks at the end.*at most its")],
)
def test_policies_with_mistakes_are_refused(capsys, name, message):
    policy = f"{INPUTS / '15_policies.py'}:{name}"
    assert main(["simulate", str(INPUTS / "15_trace.txt"), "--policy", policy, "--size", "2"]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_prompts_have_the_expected_hits(capsys):
    path = str(INPUTS / "09_prompts_16_tokens.jsonl")
    assert main(["curve", path, "--policy", "lru", "--size", "480MB", "--csv"]) == 0
    row = next(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert (row["cache_blocks"], row["hits"], row["requests"]) == ("96", "5", "10")


def test_a_table_of_traces_as_a_spreadsheet_saves_it():
    assert read_rows(INPUTS / "26_rows_bom.tsv")["mine"].source == "mine.spc"
    assert read_rows(INPUTS / "26c_rows_columns.tsv")["mine"].options == {"columns": "block=photo"}


def test_a_row_of_a_table_of_traces_is_checked(tmp_path):
    (tmp_path / "x.tsv").write_text("name\tsource\toperations\nmine\tmine.csv\tGET=red\n")
    with pytest.raises(InputError, match=r"row mine, column operations: .*GET=red.*did you mean 'read'"):
        read_rows(tmp_path / "x.tsv")


def test_one_of_two_columns_that_exclude_each_other_is_left_out(opened):
    assert opened("key,size,pages\na,5,2\n", columns="ignore=pages").object_bytes.tolist() == [5]


@pytest.mark.parametrize("first", ["-1", "+7", "7.0", "7e0", '"7"', "\n7"])
def test_the_first_value_does_not_decide_what_keys_are(opened, first):
    trace = opened("key,note\n" + f'{first},"a, b"\n' + "".join(f"{n},x\n" for n in range(100, 200)))
    assert trace.address.tolist() == [2**64 - 1 if first == "-1" else 7, *range(100, 200)]
    assert trace.reading.ignored == ("note",)


@pytest.mark.parametrize(("pack", "suffix"), [(bz2.compress, ".bz2"), (lzma.compress, ".xz")])
def test_every_compressed_stream_has_to_be_whole(tmp_path, pack, suffix):
    first, second = pack(b"1\n2\n" * 2000), pack(b"3\n" * 2000)
    path = tmp_path / f"x{suffix}"
    path.write_bytes(first + second)
    assert len(open_trace(path)) == 6000
    damaged = bytearray(first + second)
    damaged[len(first) + len(second) // 2] ^= 0xFF
    for content in (bytes(damaged), first + second[:-8], first + b"garbage", first + b"\n", first + b"   " + second):
        path.write_bytes(content)
        with pytest.raises(InputError, match="cannot be read"):
            open_trace(path)
    bare = tmp_path / "bare"
    bare.write_bytes(first)
    assert len(open_trace(bare)) == 4000


@pytest.mark.parametrize(
    ("column", "ns"),
    [
        (pa.array([0, 5], pa.int32()), [0, 5 * 10**9]),
        (pa.array([1_700_000_000_000_000_001, 1_700_000_000_000_000_101], pa.int64()), [0, 100]),
        (pa.array([0, 30_000], pa.int16()), [0, 30_000 * 1000]),
        (pa.array([1, 100], pa.timestamp("ns")), [0, 99]),
    ],
)
def test_times_of_parquet_are_exact(tmp_path, column, ns):
    unit = {pa.int32(): "s", pa.int64(): "ns", pa.int16(): "us"}.get(column.type)
    pq.write_table(pa.table({"key": [1, 2], "time": column}), tmp_path / "x.parquet")
    assert open_trace(tmp_path / "x.parquet", time_unit=unit).time.tolist() == ns


@pytest.mark.parametrize(
    ("unit", "times", "ns"),
    [
        ("iso", ["2024-05-31T12:00:00Z", "2024-05-31T14:00:00.000000001+02:00"], [0, 1]),
        ("%d/%m/%Y %H:%M", ["31/05/2024 12:00", "31/05/2024 12:01"], [0, 60 * 10**9]),
        (
            "%d.%m.%y %H.%M.%S.%f",
            ["31.12.69 23.59.59.5", "31.12.69 23.59.59.000025", "01.01.70 00.00.00.75"],
            [0, -499_975_000, 1_250_000_000],
        ),
        ("100ns", ["128166372003061629", "128166372003061630"], [0, 100]),
    ],
)
def test_times_in_other_units(opened, unit, times, ns):
    lines = "\n".join(["when,key", *(f"{time},1" for time in times)])
    assert opened(lines, columns="time=when", time_unit=unit).time.tolist() == ns


@pytest.mark.parametrize("separator", [",", "\t", ";", "|", "   "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_any_separator_line_end_and_byte_order_mark(opened, separator, end, mark):
    rows = [("time", "op", "key"), ("1", "R", "17"), ("2", "W", "18446744073709551615"), ("3", "R", "17")]
    text = mark + "".join(separator.join(row) + end for row in rows)
    trace = opened(text.encode())
    assert trace.address.tolist() == [17, 2**64 - 1] and trace.write.tolist() == [False, True, False]


@pytest.mark.parametrize("separator", ["x", "7", '"', "\n", "§", ",,"])
def test_a_separator_is_a_name_or_one_ascii_character(separator):
    with pytest.raises(ParameterError, match=r"separator is .*; expected comma, .*, colon, or one ASCII character"):
        Table().changed(separator=separator)


def test_one_description_in_python_and_on_the_command_line(tmp_path, capsys):
    (path := tmp_path / "x").write_text("9 GET 17\n12 SET 18\n12 DEL 17\n")
    described = {
        "columns": {"time": 1, "op": 2, "key": 3},
        "operations": {"GET": "read", "SET": "write", "DEL": "ignore"},
    }
    trace = open_trace(path, **described, time_unit="s")
    assert trace.ids.tolist() == [0, 1] and trace.reading.operations["DEL"] == ("ignore", 1)
    options = ["--columns", "time=1,op=2,key=3", "--operations", "GET=read,SET=write,DEL=ignore", "--time-unit", "s"]
    assert main(["trace", "info", str(path), *options]) == 0
    assert "1 DEL (ignore), 1 GET (read), 1 SET (write)" in capsys.readouterr().out
    assert main(["simulate", str(path), "--size", "1", *options]) == 0
    assert "ignored operations: 1 DEL" in capsys.readouterr().err


def test_what_was_read_is_kept_with_a_compiled_trace(tmp_path):
    trace = open_trace(INPUTS / "02_iotype_lun.csv")
    trace.save(tmp_path / "x.trace")
    assert open_trace(tmp_path / "x.trace").reading == trace.reading
    assert trace.reading.devices == 2 and trace.reading.operations == {"W": ("write", 2), "R": ("read", 1)}


@pytest.mark.parametrize("name", sorted(dialects()))
def test_every_dialect_reads_its_example_and_is_recognised_or_named(opened, name):
    dialect = dialects()[name]
    trace = opened(dialect.example + "\n", name)
    assert trace.format == name and dialect.source and len(trace) >= 1
    if dialect.evidence.get("named"):
        try:
            assert opened(dialect.example + "\n").format != name
        except InputError as error:
            assert name in str(error) or "contains no requests" in str(error)
    else:
        assert opened(dialect.example + "\n").format == name


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("block_size", "4 KB", "block_size is '4 KB'; expected a whole number from 1 to 1073741824"),
        ("block_size", "[4096]", r"block_size is \[4096\]"),
        ("block_size", "0", "block_size is 0"),
        ("block_size", "512.5", "block_size is 512.5"),
        ("optional", "one", "optional is 'one'; expected a whole number from 0 to 2"),
        ("optional", "3", "optional is 3"),
    ],
)
def test_invalid_numbers_in_a_dialect_are_named(tmp_path, key, value, expected):
    right = 'summary: s\nsource: s\nexample: "1,2"\ncolumns: {block: b}\nseparator: ","\nfields: ["a:integer", b]\n'
    (path := tmp_path / "mine.yaml").write_text(right)
    assert (load(path).block_bytes, load(path).table.optional) == (4096, 0)
    path.write_text(f"{right}{key}: {value}\n")
    with pytest.raises(InputError, match=f"mine.yaml: {expected}"):
        load(path)


@pytest.mark.parametrize("key", EVIDENCE)
def test_fields_that_identify_a_dialect_are_in_every_row(tmp_path, key):
    """A field that rows may lack must be refused, because opening a row without it would end with a traceback."""
    right = 'summary: s\nsource: s\nexample: "1,2,3"\ncolumns: {block: a}\nseparator: ","\noptional: 1\n'
    (path := tmp_path / "mine.yaml").write_text(f'{right}fields: ["a:integer", b, c]\n{key}: [a]\n')
    assert load(path).evidence == {key: ["a"]}
    text = ["b"] if key in ("steady", "not_bytes") else []  # these keys compare numbers
    for wrong in ("x", "c", *text):
        path.write_text(f'{right}fields: ["a:integer", b, c]\n{key}: [{wrong}]\n')
        with pytest.raises(InputError, match=rf"mine.yaml: {key} names '{wrong}'; expected fields .*not optional: a"):
            load(path)


@pytest.mark.parametrize("key", LISTS)
def test_lists_in_a_dialect_are_lists(tmp_path, key):
    """Text must be refused, because it would be read as a list of its letters."""
    (path := tmp_path / "mine.yaml").write_text(
        f"summary: s\nsource: s\nexample: e\ncolumns: {{block: a}}\n{key}: .a\n"
    )
    with pytest.raises(InputError, match=rf"mine.yaml: {key} is '.a'; expected a list, such as \[a, b\]"):
        load(path)
    path.write_text(path.read_text().replace(": .a\n", ": 5\n"))
    with pytest.raises(InputError, match=rf"mine.yaml: {key} is 5; expected a list"):
        load(path)


@pytest.mark.parametrize("columns", ["ignore=level", "size=sizes", "time=when"])
def test_a_column_that_an_incomplete_header_of_a_format_lacks_is_named(tmp_path, columns):
    (path := tmp_path / "x.csv").write_text("key,op,size,op_count,key_size\nk1,GET,50,2,4\n")
    with pytest.raises(InputError, match=f"x.csv, line 1: no column '{columns.partition('=')[2]}'"):
        open_trace(path, columns=columns)
    with pytest.raises(InputError, match=f"no column '{columns.partition('=')[2]}'"):
        open_trace(path, "meta_kv", columns=columns)
    assert open_trace(path, "meta_kv", columns="size=3").object_bytes.tolist() == [50]
    path.write_text("k1,GET,50,2,4\n")
    with pytest.raises(InputError, match="line 1: the first line is 'k1,GET,50,2,4'; expected a header"):
        open_trace(path, "meta_kv", columns="key=1,op=2")


def test_the_help_names_every_role_of_a_column():
    """The role action is left out because a dialect's own description assigns it."""
    named = set(re.findall(r"\w+", OPTIONS["columns"]))
    assert {*ROLES, SPACE, STATUS, IGNORE} - named == set() and ACTION not in named
    guide = (INPUTS.parents[2] / "docs" / "how-to" / "trace-format.md").read_text(encoding="utf-8")
    roles = set(re.findall(r"`(\w+)`", guide.partition("\nThe roles are ")[2].partition("; and `ignore`")[0]))
    assert roles == {*ROLES, SPACE, STATUS, "key"} and ALIASES["key"] in roles


def test_a_column_of_actions_is_refused_where_no_action_can_be_chosen(opened):
    lines = "key,what\n1,go\n2,no\n"
    with pytest.raises(
        ParameterError, match=r"columns: action=what would leave no line out, .*--operations NAME=ignore"
    ):
        opened(lines, columns="key=key,action=what")
    assert len(opened(lines, columns="key=key,op=what", operations="go=read,no=ignore")) == 1


@pytest.mark.parametrize("text", ["1\r2\n3\n", "1\n2\r\n3\r4\n", "key\n1\r2\n"])
def test_a_return_within_a_line_is_refused_with_the_line_ends_that_are_read(opened, text):
    """Files may mix LF and CR LF, as the message says."""
    with pytest.raises(InputError, match="expected lines that end in LF or CR LF, or that all end in CR"):
        opened(text, columns="key=1")
    for ends in ("key\n1\r\n2\n", "key\r\n1\n2\r\n", "key\r1\r2\r"):
        assert opened(ends).ids.tolist() == [0, 1]


@pytest.mark.parametrize("name", sorted(name for name, dialect in dialects().items() if dialect.table.pattern))
@pytest.mark.parametrize("rest", ["", " x"])
def test_python_matches_a_line_with_many_blanks_in_linear_time(name, rest):
    """No pattern may make Python's `re`, which the page "Press play" uses, try every way to divide the blanks."""
    table, line = dialects()[name].table, dialects()[name].example.splitlines()[0]
    patterns = [re.compile(f"(?m)^(?:{pattern})") for pattern in (f"(?:{table.pattern})\\s*$", table.skip) if pattern]
    begun = time.process_time()
    for place, sign in enumerate(line):
        if sign == " " or sign == '"':
            for pattern in patterns:
                for end in (line[place:], ""):
                    pattern.search(f"{line[:place]}{' ' * 1500}{end}{rest}\n")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize("repeated", ["7", ":", "a", "a.", "1:"])
def test_a_first_line_as_long_as_any_is_recognised_or_refused_in_linear_time(tmp_path, repeated):
    """No pattern may try every way to divide digits or colons, which would take minutes."""
    path, line = tmp_path / "access.log", repeated * (60_000 // len(repeated))
    begun = time.process_time()
    for text in (f"{line}x\n", f"{line} - - [10/Oct/2000:13:55:36 -0700] GET\n", f"time,block\n1,{line}x\n"):
        path.write_text(text)
        try:
            assert len(open_trace(path)) == 1
        except InputError as error:
            assert str(path) in str(error)
    assert time.process_time() - begun < 10


def test_the_page_of_formats_is_fresh():
    tool = runpy.run_path(str(INPUTS.parents[2] / "tools" / "formats_page.py"))
    assert tool["PAGE"].read_text(encoding="utf-8") == tool["page"](), "run python tools/formats_page.py"
    assert all(f"| `{name}` |" in tool["page"]() for name in dialects())


def test_blktrace_reads_the_files_of_all_processors(tmp_path):
    source = Path(__file__).parents[1] / "data" / "formats" / "sdb.blktrace.0"
    for number in (0, 1):
        shutil.copy(source, tmp_path / f"sdb.blktrace.{number}")
    trace = open_trace(tmp_path / "sdb.blktrace.1")
    assert len(trace) == 2 * len(open_trace(source)) and bool(np.all(np.diff(trace.time) >= 0))
    assert "read together with sdb.blktrace.0" in trace.reading.notice("x")


def test_other_names_of_policies_and_files_with_one_class(tmp_path):
    assert parse_policies("Belady, min,tinylfu") == ["opt", "opt", "wtinylfu"]
    with pytest.raises(ParameterError, match="'lru,' has an empty name"):
        parse_policies("lru,")
    (path := tmp_path / "mine.py").write_text("class Mine:\n    def access(self, block): return False\n")
    assert parse_policies(str(path))[0].__name__ == "Mine"
    first, _, second = parse_policies(f"{path}:Mine,lru,{path}:Mine")
    assert first is second, "one class, so that both rows are those of one policy"
    path.write_text("x = 1\n")
    with pytest.raises(ParameterError, match=r"mine.py has no class with a method access"):
        parse_policies(str(path))


def test_a_warm_up_that_is_no_number_is_refused():
    with pytest.raises(ParameterError, match="warm-up is '20x'; expected a number of references"):
        warm_up(open_trace(INPUTS / "12_sample_too_small.txt"), "20x")
