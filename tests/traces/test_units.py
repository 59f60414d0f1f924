"""Test units that lines do not state: the user has to state them, or a note names them; none is assumed silently.

The lines are like those of real files whose units differ from what their columns or their format suggest.
"""

import json

import pytest

from misspenalty import InputError, ParameterError, Trace, open_trace, simulate
from misspenalty.cli.main import main

IOSNOOP = (
    "Tracing block I/O. Ctrl-C to end.\nCOMM         PID    TYPE DEV      BLOCK        BYTES     LATms\n"
    "supervise    1809   R    202,1    17039600     131072     1.32\n"
    "supervise    1809   R    202,1    17039608     4096       1.32\n"
    "supervise    1809   R    202,1    17039616     4096       1.32\n"
)
ADJACENT = "time,disk,block_number,bytes,rw\n0,0,0,65536,R\n1,0,8,4096,R\n2,0,16,4096,R\n3,0,24,4096,R\n"


@pytest.mark.parametrize(("lines", "name", "hits"), [(IOSNOOP, "BLOCK", 2), (ADJACENT, "block_number", 3)])
def test_a_number_of_a_block_next_to_bytes_and_a_disk_may_be_a_sector(opened, lines, name, hits):
    message = rf"column {name} may hold sectors of 512 bytes.*or keys.*--columns sector={name} or key={name}"
    with pytest.raises(InputError, match=message):
        opened(lines)
    assert simulate(opened(lines, columns=f"sector={name}"), "lru", 100).hits == hits
    assert opened(lines, columns=f"key={name}").blocks == hits + 1


@pytest.mark.parametrize(
    "lines",
    ["disk,block,obj_size\n0,7,4096\n", "disk,block,bytes\n0,a7,4096\n", "block,bytes\n7,4096\n",
     "disk,block_id,bytes\n0,7,4096\n"],
)  # fmt: skip
def test_other_keys_next_to_sizes_are_keys(opened, lines):
    assert opened(lines).reading.columns["block"].startswith("block")


def requests(line, *, rows=8):
    """Return lines made from a template, for rows 0, 1 and so on; ``{size}`` is 8, 16 and 24 in turn."""
    return "".join(
        line.format(row=row, disk=row % 2, letter="RW"[row % 2], address=1000 + 8 * row, size=8 * (row % 3 + 1))
        for row in range(rows)
    )


SPC = "{disk},{address},{size},{letter},0.{row}00000\n"
ALICLOUD = "{disk},{letter},{address},{size},157780814{row}\n"
MSR = "1577808144{row}60767,hm,{disk},Read,{row}096,4096,300\n"
TWITTER = "158399040012{row},k{row},2,100,1,get,0\n"


@pytest.mark.parametrize(
    ("lines", "format", "notes", "remedies"),
    [
        (SPC, "spc", ["8 of 8 values of size are not multiples of 512 bytes; are they in sectors"],
         {"size_unit": "sectors"}),
        (ALICLOUD, "alicloud", ["times are read in us, so that they begin in the year 1970; are they in s?",
                                "7 of 8 values of offset are not multiples of 512",
                                "8 of 8 values of length are not multiples of 512"],
         {"size_unit": "sectors", "address_unit": "sectors", "time_unit": "s"}),
        (MSR.replace("{row}096", "0"), "msr",
         ["times are read in 100ns, so that they begin in the year 1605; are they in us?"], {"time_unit": "us"}),
        (TWITTER, "twitter", ["times are read in s, so that they begin in the year 52164; are they in ms?"],
         {"time_unit": "ms"}),
    ],
)  # fmt: skip
def test_implausible_times_and_sizes_of_a_format_are_named(opened, lines, format, notes, remedies):
    trace = opened(requests(lines))
    said = [note for note in trace.reading.notes if "times to live" not in note]
    assert trace.format == format and len(said) == len(notes)
    assert all(note.startswith(begin) for note, begin in zip(said, notes, strict=True))
    right = opened(requests(lines), format, **remedies)
    assert [note for note in right.reading.notes if "times to live" not in note] == []


@pytest.mark.parametrize(
    "lines",
    [
        "0,8,4096,R,0.5\n0,8,512,R,0.7\n",
        "419,W,8792731648,16384,1577808144360767\n",
        "419,W,8192,16384,0\n419,W,8192,16384,5\n",
        "128166372003061629,hm,1,Read,383496192,32768,413\n",
        "0,q:q:1:8WTfjZU14ee,17,213,4,get,0\n",
    ],
)
def test_plausible_times_and_sizes_need_no_note(opened, lines):
    assert [note for note in opened(lines).reading.notes if "times to live" not in note] == []


def test_sizes_of_a_format_with_a_pattern_heed_their_unit_and_their_range(opened):
    lines = "TIME(s)  COMM  PID  DISK  T  SECTOR  BYTES  LAT(ms)\n0.1  x  300  sda  R  2048  {}  0.5\n"
    assert "are they in sectors" in opened(lines.format(8), format="biosnoop").reading.changes[0]
    assert len(opened(lines.format(8), "biosnoop", 512, size_unit="sectors")) == 8
    with pytest.raises(InputError, match=rf"line 2: field 6 \(size\) .*: {1 << 63} is out of range"):
        opened(lines.format(1 << 63), format="biosnoop")
    log = '1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET /{} HTTP/1.0" 200 {}\n'
    web = opened(log.format("a", 3) + log.format("b", "-"), format="access_log", size_unit="4KB")
    assert web.object_bytes.tolist() == [3 << 12, 0]
    with pytest.raises(InputError, match=rf"line 2: field 5 \(size\) .*: {(1 << 64) - 1} is out of range"):
        opened(log.format("a", 3) + log.format("b", (1 << 64) - 1), format="access_log")


OFFSETS = "time_us,offset,size,op\n" + requests("{row}00,{address},{size},{letter}\n")


def test_offsets_and_sizes_that_may_be_sectors_have_to_be_stated(opened):
    with pytest.raises(InputError, match=r"column size \(8, 16, 24\) may be bytes, or sectors.*--size-unit and --addr"):
        opened(OFFSETS)
    with pytest.raises(
        InputError, match=r"column offset \(1000, 1008, 1016\) may be bytes, or sectors.*--address-unit"
    ):
        opened(OFFSETS, size_unit="sectors")
    assert opened(OFFSETS, size_unit="sectors", address_unit="sectors").address.tolist() == [*range(125, 134)]
    assert opened(OFFSETS, size_unit="bytes").address.tolist() == [0]


@pytest.mark.parametrize(
    "lines",
    ["addr,size,rw\n4096,8,R\n", "file_id,offset,length\n7,100,77\n", "offset,bytes\n100,77\n",
     "offset,size\n100,70000\n", "byte_offset,size\n100,77\n"],
)  # fmt: skip
def test_sizes_in_memory_in_files_or_named_as_bytes_are_bytes(opened, lines):
    assert opened(lines).reading.size_unit == 1


COMMAS = requests("{disk},{address},4096,{letter},{row},{row}00000\n")


def test_decimal_commas_of_times_are_not_a_further_column(opened):
    message = r"line 2: fields 5 and 6 \(1,100000\) may be one time with a decimal comma.*follow a point, not a comma.*"
    with pytest.raises(InputError, match=message) as caught:
        opened(COMMAS)
    columns = caught.value.remedy.partition("--columns ")[2].partition(" ")[0]
    assert opened(COMMAS, columns=columns, time_unit="s").reading.ignored == ("6",)
    assert opened(COMMAS.replace(",4096,R,1,", ",4096,R,1.5,").replace(",4096,R,2,", ",4096,R,2.5,")).format == "spc"
    assert opened(requests("0,{address},4096,R,{row},7\n")).format == "spc"


def prompts(times):
    """Return prompts of one block at these times."""
    lines = [{"timestamp": time, "input_length": 9, "output_length": 1, "block_size": 16} for time in times]
    return "".join(json.dumps(line | {"hash_ids": [number]}) + "\n" for number, line in enumerate(lines))


@pytest.mark.parametrize(
    ("times", "unit", "notes"),
    [
        ([0, 3, 5], "ms", ()),
        ([0.0, 1.5, 3.0, 4.5], "ms", ("times taken as ms, although 2 of 4 have a fraction (--unit)",)),
        ([0.1, 1.5, 3.2], "s", ()),
    ],
)
def test_the_unit_of_times_of_prompts_is_named(opened, times, unit, notes):
    trace = opened(prompts(times), name="found.jsonl")
    assert (trace.format, trace.reading.time_unit, trace.reading.notes) == ("mooncake", unit, notes)
    ns = {"s": 10**9, "ms": 10**6}[unit]
    assert trace.time.tolist() == [round((time - times[0]) * ns) for time in times]
    assert trace.reading.describe()["units"] == f"time in {unit}"
    assert opened(prompts(times), name="found.jsonl", unit="s").reading.notes == ()


def test_a_size_of_blocks_that_is_assumed_is_named(opened, tmp_path, capsys):
    assert opened("1\n2\n").reading.notes == ("block size of 8192 bytes taken from lirs (--block-size)",)
    assert opened("1234567\n", "u64le", name="ids").reading.notes[0].startswith("block size of 4096 bytes taken from")
    assert opened("1\n2\n", block_bytes=8192).reading.notes == ()
    assert main(["simulate", str(tmp_path / "found"), "--size", "16KB"]) == 0
    assert "found: read as lirs; block size of 8192 bytes taken from lirs" in capsys.readouterr().err


def test_another_separator_of_a_known_format_is_named(opened):
    lines = requests("{disk} {address} 4096 {letter} 0.{row}\n")
    with pytest.raises(InputError, match=r"has the columns of spc .*--format spc --separator blanks"):
        opened(lines)
    trace = opened(lines, "spc", separator="blanks")
    assert (len(trace), trace.time.tolist()[-1]) == (8, 700_000_000)
    with pytest.raises(InputError, match="from the content alone"):
        opened(requests("{row} {address} 8 0 {disk}\n"))


@pytest.mark.parametrize("heading", ["# time, obj_id, obj_size", "#time,obj_id,obj_size", "# time obj_id obj_size"])
def test_names_in_a_comment_are_divided_as_the_rows_are(opened, heading):
    lines = f"{heading}\n33898, 42932745, 512\n33898, 40409911, 6656\n"
    trace = opened(lines)
    assert trace.reading.columns == {"block": "obj_id", "size": "obj_size", "time": "time"}
    assert opened(lines, columns="key=obj_id").address.tolist() == [42932745, 40409911]


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        ("time,block,size,op\n1,5,3170,get\n2,6,701,set\n3,5,3170,get\n", {}),  # no size is whole sectors: objects
        ("time,volume,block,size\n1,a,5,3170\n2,a,6,701\n3,a,5,3170\n", {}),
        (ADJACENT, {"key": "text"}),
        ("offset,size,op\n0,100,R\n100,37,R\n137,2000,W\n", {"address_unit": "bytes"}),
        ("offset,size,op\n0,100,R\n100,37,R\n137,2000,W\n", {"columns": "offset=offset"}),
        ("time,inode,offset,size,op\n0,1,0,317,R\n1,2,317,318,R\n", {"columns": "space=inode"}),
        ("lba,size\n8,4096\n16,100\n", {}),  # half of them are whole sectors
        ("lba,bytes\n8,100\n16,1024\n24,16\n", {}),
    ],
)
def test_what_values_rule_out_or_users_state_is_not_doubted(opened, lines, options):
    assert len(opened(lines, **options)) >= 2


def test_a_sixth_column_of_spc_that_cannot_be_decimals_is_another_column(opened):
    lines = "".join(f"0,{1000 + 8 * i},4096,R,{i // 3},{i % 7 + 10}\n" for i in range(30))
    trace = opened(lines, name="six.spc")
    assert (trace.format, len(trace)) == ("spc", 30) and trace.time[-1] == 9 * 10**9


def test_a_column_that_a_format_uses_cannot_be_left_out(opened):
    """A message may advise leaving the column out only where this has an effect: if the table's header names it."""
    lines = "".join(f"{i},k{i},17,213,4,{'touch' if i else 'get'},0\n" for i in range(2))
    with pytest.raises(InputError, match=r"say what it means with --operations touch=read [^,]*, or ignore; [^,]*$"):
        opened(lines, format="twitter")
    with pytest.raises(ParameterError, match=r"ignore=operation would have no effect.*describe all columns yourself"):
        opened(lines, format="twitter", columns="ignore=6")
    assert len(opened(lines, format="twitter", columns="ignore=client", operations="touch=read")) == 2
    header = "time,key,op\n0,1,touch\n"
    with pytest.raises(InputError, match=r"or leave the column out with --columns ignore=… \(columns=…\)$"):
        opened(header)
    assert opened(header, columns="ignore=op").write is None


@pytest.mark.parametrize("options", [{"columns": "ignore=op"}, {"columns": "ignore=2"}])
def test_a_group_of_a_formats_pattern_cannot_be_left_out(opened, options):
    line = '1.1.1.1 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.0" 200 2326\n'
    assert len(opened(line, format="access_log")) == 1
    with pytest.raises(ParameterError, match="ignore=op would have no effect"):
        opened(line, format="access_log", **options)


def test_hexadecimal_keys_have_neighbours(opened):
    lines = "block,count\n1f,2\n30,1\n"
    trace = opened(lines, key="hex")
    assert trace.address[trace.ids].tolist() == [0x1F, 0x20, 0x30]
    with pytest.raises(InputError, match="keys that are text have no neighbours"):
        opened(lines, key="text")


def test_a_space_takes_the_place_of_a_formats_devices(opened):
    lines = "".join(f"{i % 3},R,{4096 * (i // 3)},4096,{1577808144360767 + i}\n" for i in range(12))
    trace = opened(lines, format="alicloud", columns="space=device_id")
    assert trace.blocks == opened(lines, format="alicloud").blocks == 12


@pytest.mark.parametrize(
    ("option", "value", "what", "column"),
    [
        ("time_unit", "ms", "times", "time"),
        ("size_unit", "sectors", "sizes", "size"),
        ("address_unit", "sectors", "offsets", "offset"),
        ("operations", "7=write", "operations", "op"),
    ],
)
def test_an_option_about_a_column_that_is_not_there_is_refused(tmp_path, option, value, what, column):
    names = [column] if column == "offset" else ["key", column]
    (tmp_path / "x.csv").write_text("key\n1\n")
    (tmp_path / "y.csv").write_text(f"{','.join(names)}\n{','.join('7' for _ in names)}\n")
    said = f"has no column of {what}, so that {option} would have no effect; name it with --columns"
    with pytest.raises(InputError, match=f"x.csv: {said}"):
        open_trace(tmp_path / "x.csv", **{option: value})
    with pytest.raises(InputError, match=f"^the table {said}"):
        Trace.from_table({"key": [1]}, **{option: value})
    assert len(open_trace(tmp_path / "y.csv", **{option: value})) == 1
    assert len(Trace.from_table({name: [7] for name in names}, **{option: value})) == 1


@pytest.mark.parametrize("value", ["text", "Number"])
def test_how_keys_are_written_is_refused_without_keys(opened, value):
    with pytest.raises(InputError, match=r"has no column of keys, so that key would have no effect; .*leave out --key"):
        opened("lba,sectors\n8,8\n", key=value)
    assert len(opened("lba,sectors\n8,8\n", key="hex")) == len(opened("key\n8\n", key=value)) == 1


@pytest.mark.parametrize("order", ["time", "Time"])
def test_an_order_by_times_that_are_not_there_is_refused(opened, order):
    with pytest.raises(InputError, match="has no column of times, so that order would have no effect"):
        opened("key\n1\n", order=order)
    assert len(opened("key\n1\n", order=" File")) == 1


def test_a_size_of_blocks_is_refused_where_objects_have_sizes(opened):
    lines = "key,size\na,100\nb,300\n"
    with pytest.raises(InputError, match=r"found: has objects with sizes of their own.*leave out --block-size"):
        opened(lines, block_bytes=8192)
    assert opened(lines).object_bytes.tolist() == [100, 300]
    assert opened("key,size\na,100\nb,300\n", columns="key=key,ignore=size", block_bytes=8192).block_bytes == 8192


def test_the_users_unit_of_times_comes_before_that_of_a_name(opened):
    lines = "time_us,key\n5,1\n7,2\n"
    assert opened(lines).time.tolist() == [0, 2000]
    assert opened(lines, time_unit="ms").time.tolist() == [0, 2_000_000]
    assert Trace.from_table({"time_us": [5, 7], "key": [1, 2]}, time_unit="ms").time.tolist() == [0, 2_000_000]
    with pytest.raises(ParameterError, match="time_ms in columns and time_unit=s state two units"):
        opened(lines, columns="time_ms=time_us", time_unit="s")


@pytest.mark.parametrize("unit", ["us", "\u00b5s", "\u03bcs", "\u039cS", "\u00b5sec", "\u03bcsec"])
def test_microseconds_in_a_name_have_any_letter_mu(opened, unit):
    """The letter mu must not be dropped like punctuation, because the unit would then be read as seconds."""
    assert opened(f"Time ({unit}),key\n5,1\n8,2\n").time.tolist() == [0, 3000]


def test_a_column_is_left_out_whatever_its_case(opened):
    """The name in `columns` matches in any case, so `RW` must be left out without a question or a note."""
    trace = opened("key,RW\n1,R\n2,W\n", columns="ignore=rw")
    assert trace.write is None and trace.reading.changes == ()


@pytest.mark.parametrize("name", ["blocks", "pages"])
def test_a_column_of_blocks_counts_them(opened, name):
    assert len(opened(f"block,{name}\n0,8\n8,2\n")) == 10
    with pytest.raises(InputError, match="count of blocks next to an address"):
        opened(f"lba,{name}\n0,8\n")


PATTERN = r"(?P<time>\S+) (?P<key>\S+) (?P<size_kb>\d+)(?: (?P<level>\S+))?"


def test_groups_of_a_pattern_are_columns_like_others(opened):
    """Names of groups state units, the first value suggests the unit of times, and a group left out is named."""
    lines = "# made by x\n1577808144360767 007 4 a\n1577808144360769 7 8 b\n"
    trace = opened(lines, pattern=PATTERN, skip="#")
    assert trace.time.tolist() == [0, 2000] and trace.bytes_of(slice(None)).tolist() == [4096, 8192]
    said = " ".join(trace.reading.changes)
    assert "times taken as us (--time-unit)" in said and "ignored column level" in said and "007, 0x7 and 7 are" in said
    quiet = opened(lines, pattern=PATTERN, skip="#", columns="ignore=level", time_unit="us", key="text")
    assert quiet.blocks == 2 and quiet.reading.changes == ("skipped 1 other line",)
    assert opened("2024-05-31T12:00:00 a 4\n", pattern=PATTERN).reading.time_unit == "iso"
    with pytest.raises(InputError, match="found: column mode holds operations"):
        opened("1 R\n", pattern=r"(?P<key>\d+) (?P<mode>[RW])")


@pytest.mark.parametrize("pattern", [r"\d+", r"(?P<key>\d+)( x)?"])
def test_groups_of_a_pattern_have_names(opened, pattern):
    with pytest.raises(ParameterError, match=r"expected named groups, such as .*; write others as \(\?:…\)"):
        opened("1\n", pattern=pattern)


def test_a_note_asks_whether_lengths_in_sectors_are_bytes(opened):
    lines = "1538323200,6610407424,65536,0,1063\n1538323200,6610411520,4096,1,1063\n"
    assert "all values of Size are multiples of 512; are they, and" in opened(lines, "tencent").reading.notes[0]
    right = opened(lines, "tencent", size_unit="bytes", address_unit="bytes")
    assert (len(right), right.reading.notes) == (17, ())
    assert opened(lines.replace("4096", "8"), "tencent").reading.notes == ()


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        ("1 2\n", {"pattern": r"(?P<key>\d+) \d+", "separator": "tab"}, "separator would have no effect next to a pat"),
        ("1 2\n", {"pattern": r"(?P<key>\d+) \d+", "header": "no"}, "header would have no effect next to a pattern"),
        ("1 2\n", {"pattern": r"(?P<key>\d+) \d+", "comment": "#"}, "comment would have no effect next to a pattern"),
        ("/a\n", {"format": "urls", "separator": "comma"}, r"separator would.*; leave out --separator \(sep"),
        ("key\n1\n", {"skip": "x"}, "skip would have no effect without a pattern"),
    ],
)  # fmt: skip
def test_options_without_effect_next_to_a_pattern_are_refused(opened, lines, options, message):
    with pytest.raises(ParameterError, match=message):
        opened(lines, **options)


@pytest.mark.parametrize(("lines", "format", "unit"), [("0;5\n3;6\n", None, "us"), ("0 1 100\n1 2 30\n", "lrb", "s")])
def test_a_unit_of_times_that_a_format_assumes_is_named(opened, lines, format, unit):
    assert opened(lines, format).reading.changes == (f"times taken as {unit} (--time-unit)",)
    assert opened(lines, format, time_unit=unit).reading.changes == ()


def test_a_first_time_below_0_is_not_earlier_than_another(opened):
    trace = opened("0,8,4096,R,-1.5\n0,16,4096,W,0.5\n", "spc")
    assert trace.time.tolist() == [-1_500_000_000, 500_000_000] and trace.reading.earlier == 0
