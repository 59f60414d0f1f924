"""Test data frames, Arrow tables and dicts of columns as traces, with the roles and options of files."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import InputError, ParameterError, Trace, hit_ratio_curve, open_trace, simulate

DAY = 86_400 * 10**9  # ns
COLUMNS = {
    "Timestamp (us)": [5, 10, 30],
    "Op": ["GET", "SET", "get"],
    "device_id": ["a", "b", "a"],
    "offset": [8192, 8192, 0],
    "size_kb": [4, 4, 8],
    "level": [1, 1, 1],
}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pa.table, lambda columns: pa.table(columns).to_batches()[0]])
def test_every_kind_of_table_has_every_role(make):
    trace = Trace.from_table(make(COLUMNS))
    assert trace.address[trace.ids].tolist() == [2, 1 << 47 | 2, 0, 1]
    assert trace.write.tolist() == [False, True, False, False]
    assert trace.time.tolist() == [0, 5000, 25_000, 25_000]
    assert (trace.reading.ignored, trace.reading.devices, trace.reading.size_unit) == (("level",), 2, 1024)
    assert trace.reading.rows == 3 and trace.reading.writes == 1


def test_text_keys_are_those_of_files(opened):
    columns = {"key": ["a", "b", "a"], "size": [10, 20, 30]}
    made, read = Trace.from_table(columns), opened("key,size\na,10\nb,20\na,30\n")
    assert made.address.tolist() == read.address.tolist() and made.request_bytes.tolist() == [10, 20, 30]
    assert simulate(columns, "lru", 2).hits == hit_ratio_curve(pd.DataFrame(columns), "lru", 2)["hits"][0] == 1
    assert Trace.from_table({"key": ["7", "a"]}).address[1] == read.address[0]


@pytest.mark.parametrize(
    ("times", "options", "ns"),
    [
        ([datetime.datetime(2024, 5, 31, 12), datetime.datetime(2024, 5, 31, 12, 0, 1)], {}, 10**9),
        (pd.to_datetime(["2024-05-31T12:00:00Z", "2024-05-31T12:00:00.000000007Z"], format="ISO8601"), {}, 7),
        (["2024-05-31 12:00:00", "2024-05-31 12:01:00"], {}, 60 * 10**9),
        (["31.05.2024", "01.06.2024"], {"time_unit": "%d.%m.%Y"}, 86_400 * 10**9),
        (np.array([0, 5]), {}, 5),
        (np.array([0, 5]), {"time_unit": "ms"}, 5_000_000),
        ([0.5, 0.75], {"time_unit": "s"}, 250_000_000),
        ([0.0, 5.0], {}, 5),
        ([0.5, 0.75], {}, 250_000_000),
        ([decimal.Decimal("1717156800000.0"), decimal.Decimal("1717156800000.5")], {}, 500_000),
    ],
)
def test_times(times, options, ns):
    assert Trace.from_table(pd.DataFrame({"time": times, "key": [1, 2]}), **options).time.tolist() == [0, ns]


def test_columns_and_operations_of_the_user():
    frame = pd.DataFrame({"k": [1, 2, 3], "what": ["x", "y", "z"], "size": [1, 2, 3]})
    trace = Trace.from_table(
        frame, {"key": "k", "op": "what", "ignore": "size"}, operations={"x": "read", "y": "write", "z": "ignore"},
        name="mine",
    )  # fmt: skip
    assert (len(trace), trace.write.tolist(), trace.object_bytes, trace.name) == (2, [False, True], None, "mine")


@pytest.mark.parametrize(
    ("table", "options", "error", "message"),
    [
        ({"level": [1]}, {}, InputError, "gives the place of a request"),
        ({"key": [1], "count": [2]}, {}, InputError, "may count blocks from key on"),
        ({"lba": [8], "size": [8]}, {}, InputError, "holds no whole sectors"),
        ({"key": [1], "mode": ["R"]}, {}, InputError, "column mode holds operations"),
        ({"key": [1, None]}, {}, InputError, "row 2, column key: a value is missing"),
        ({"offset": ["7", "0x10"]}, {}, InputError, "row 2, column offset: '0x10' is malformed; --key hex .* reads"),
        ({"key": ["a", "NULL"]}, {}, InputError, "row 2, column key: NULL may be a missing key"),
        ({"key": [1], "op": ["X"]}, {}, InputError, "row 1, column op: operation 'X'"),
        ({"key": [1, "a"]}, {}, ParameterError, "the table cannot be used"),
        ({"key": [1, 2], "op": ["R"]}, {}, ParameterError, "the table cannot be used"),
        ({"key": []}, {}, ParameterError, "no rows with requests"),
        ({"key": [1]}, {"separator": ","}, ParameterError, "separator applies only to text files"),
        ({"key": [1]}, {"colums": "key=key"}, ParameterError, "no option 'colums', did you mean 'columns'.; they have"),
        ({"key": [1]}, {"columns": ["key"]}, ParameterError, r"columns is \['key'\]; expected text such as key=url"),
        ({"key": [1]}, {"columns": {"key": []}}, ParameterError, "block names no column; expected block=NAME or blo"),
        ({"key": [1]}, {"block_bytes": 0}, ParameterError, "block_bytes is 0"),
        ({"key": [1], "time": [decimal.Decimal(10**30)]}, {}, InputError, "time 1000000000000000000.* is out of"),
        ({"key": [1], "time": [[5]]}, {}, InputError, "column time is of type list.*; expected numbers, text, da"),
        ({"key": [1], "op": [{"name": "get"}]}, {}, InputError, "column op is of type struct<name: string>; expected"),
    ],
)
def test_what_cannot_be_used_is_named(table, options, error, message):
    with pytest.raises(error, match=message):
        Trace.from_table(table, **options)


def test_info_says_what_was_read(opened, capsys):
    opened("time_ms,key,size,level\n0,a,10,1\n5,b,20,1\n9,a,30,1\n").info()
    told = capsys.readouterr().out
    for line in (
        "references  3 (3 reads, 0 writes)", "seconds     0.009", "sizes       1 reference requests a size different",
        "format      csv", "columns     block = key, size = size, time_ms = time_ms", "ignored     level",
    ):  # fmt: skip
        assert line in told


@pytest.mark.parametrize("unit, ns", [("s", 10**9), ("ms", 10**6), ("us", 1000), ("ns", 1)])
def test_years_after_9999_and_unknown_time_zones_are_read_and_times_too_far_apart_refused(unit, ns):
    """Python's dates allow neither such years nor such zones; times in int64 nanoseconds end in the year 2262."""
    block, last = [1, 2], 2**62 // ns
    year_11476 = min(3 * 10**20 // ns, 2**63 - 2)
    far = pa.array([year_11476, year_11476 + 1], pa.int64()).cast(pa.timestamp(unit, "Mars/Phobos"))
    assert Trace.from_table(pa.table({"block": block, "time": far})).time.tolist() == [0, ns]
    late = pa.array([-last, last + 1], pa.int64()).cast(pa.timestamp(unit))
    with pytest.raises(InputError, match=rf"time {last + 1} is out of range"):
        Trace.from_table(pa.table({"block": block, "time": late}))


def test_a_unit_of_times_is_refused_for_timestamps(tmp_path):
    table = pa.table({"key": [1, 2], "time": pa.array([0, 5], pa.timestamp("ms"))})
    pq.write_table(table, tmp_path / "x.parquet")
    said = r"column time is of type timestamp\[ms\].* time_unit would have no effect; leave out --time-unit"
    for read, source in ((open_trace, tmp_path / "x.parquet"), (Trace.from_table, table)):
        assert read(source).time.tolist() == [0, 5_000_000]
        with pytest.raises(InputError, match=said):
            read(source, time_unit="us")


@pytest.mark.parametrize("first", [2**64 - 1, 2**64 - 8191])
def test_a_range_that_passes_64_bits_is_refused(opened, first):
    """In 64 bits, the end of such a range would wrap around, which would leave only its first block."""
    with pytest.raises(InputError, match=rf"line 3: .*8192 bytes from {first} on; expected an end below 2\*\*64"):
        opened(f"offset,size\n0,8192\n{first},8192\n")
    frame = pa.table({"offset": pa.array([0, first], pa.uint64()), "size": [8192, 8192]})
    with pytest.raises(InputError, match=rf"line 3: .*: 1 byte from {2**64 - 1} on"):
        opened(f"offset,size\n0,1\n{2**64 - 1},1\n", address_unit="bytes", size_unit="bytes")
    with pytest.raises(InputError, match="row 2, column offset: 8192 bytes from"):
        Trace.from_table(frame)


@pytest.mark.parametrize(("kind", "bits"), [(np.float16, 11), (np.float32, 24), (np.float64, 53)])
def test_a_key_that_its_type_may_have_rounded_is_refused(kind, bits):
    exact, rounded = {"key": np.array([5, 2**bits], kind)}, {"key": np.array([5, 2 * 2**bits], kind)}
    assert Trace.from_table(pa.table(exact)).address.tolist() == [5, 2**bits]
    with pytest.raises(InputError, match=rf"row 2, column key: .* lost digits; .*up to 2\*\*{bits}, which are exact"):
        Trace.from_table(pa.table(rounded))


def test_times_since_1970_that_32_bits_round_to_minutes_are_refused():
    late, early = np.array([1.7e9, 1.7e9 + 60]), np.array([0, 0.5])
    for times, kind, expected in ((late, np.float64, 60 * 10**9), (early, np.float32, 10**9 // 2)):
        read = Trace.from_table(pa.table({"key": [1, 2], "time_s": times.astype(kind)}))
        assert read.time.tolist() == [0, expected]
    with pytest.raises(InputError, match=r"row 1, column time_s: time 1.* lost digits; .* times up to 2\*\*24"):
        Trace.from_table(pa.table({"key": [1, 2], "time_s": late.astype(np.float32)}))


def test_the_last_block_of_64_bits_is_one(opened):
    assert opened(f"offset,size\n0,8192\n{2**64 - 8192},8191\n").address.tolist() == [0, 1, 2**52 - 2, 2**52 - 1]


def test_dicts_hold_numbers_of_64_bits_and_no_larger_ones():
    assert Trace.from_table({"key": [2**64 - 1, 1]}).address.tolist() == [2**64 - 1, 1]
    for keys in ([2**64, 1], [2**64 - 1, -1]):
        for make in (dict, pd.DataFrame):
            with pytest.raises(ParameterError, match=r"^the numbers of a column need more than 64 bits.*; give them"):
                Trace.from_table(make({"key": keys}))


def test_dates_without_signs_are_dates():
    table = {"timestamp": [20160201164604, 20160201164705], "key": [1, 2]}
    assert Trace.from_table(table).time.tolist() == [0, 61 * 10**9]


def test_columns_of_one_name_are_refused(tmp_path):
    twice = pa.table([[1, 2], [3, 4]], ["key", "key"])
    pq.write_table(twice, tmp_path / "x.parquet")
    for read in (
        lambda columns: Trace.from_table(twice, columns),
        lambda columns: open_trace(tmp_path / "x.parquet", columns=columns),
    ):
        with pytest.raises(InputError, match="2 columns 'key'; name one by its number"):
            read("key=key")
        with pytest.raises(InputError, match="several columns are called 'key'; give every column"):
            read("key=1,ignore=2")


def test_dates_and_times_of_day_are_joined():
    days, hours = [datetime.date(2024, 5, 31), datetime.date(2024, 6, 1)], [datetime.time(23), datetime.time(1)]
    trace = Trace.from_table({"date": days, "time": hours, "key": [1, 2]})
    assert trace.time.tolist() == [0, 2 * 3600 * 10**9]


@pytest.mark.parametrize(
    "lives",
    [
        pa.array([7, None, None], pa.uint32()),
        pa.array(["7", None, "-"]),
        pa.array(["7", "", ""]).dictionary_encode(),
        pa.array(["7", "-", ""], pa.string_view()),
        pa.array([7.0, None, -1.0]),
    ],
    ids=lambda lives: str(lives.type),
)
def test_a_time_to_live_may_be_missing_in_a_column_of_any_type(lives):
    table = pa.table({"key": [1, 2, 3], "time": [0, 1, 2], "ttl": lives})
    assert "expired (0)" in Trace.from_table(table, lifetimes="honour", time_unit="s").reading.notes[0]
    late = pa.table({"key": [1, 2, 1, 2], "time": [0, 0, 8, 8], "ttl": pa.concat_arrays([lives[:2], lives[:2]])})
    assert "expired (1)" in Trace.from_table(late, lifetimes="honour", time_unit="s").reading.notes[0]


def test_a_row_is_named_although_rows_before_it_hold_nothing():
    table = pa.table({"key": [1, 2, 3], "time": [0, 1, 2], "ttl": pa.array([None, 7.0, 7.5])})
    with pytest.raises(InputError, match=r"row 3, column ttl: 7.5 is not a whole number"):
        Trace.from_table(table, lifetimes="honour")


def test_keys_and_devices_have_any_type_that_arrow_can_write_as_text():
    assert Trace.from_table(pa.table({"key": pa.array(["7", "007"], pa.string_view())})).blocks == 1
    devices = pa.array([decimal.Decimal("0.5"), decimal.Decimal("1")], pa.decimal32(5, 1))
    assert Trace.from_table(pa.table({"offset": [0, 0], "device": devices})).blocks == 2


@pytest.mark.parametrize("kind", [pa.uuid(), pa.binary(16), pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
def test_keys_and_devices_may_be_uuids_or_bytes(tmp_path, kind):
    values = pa.array([b"\xff" * 16, b"b" * 16, b"\xff" * 16], kind)
    keys = pa.table({"key": values})
    pq.write_table(keys, tmp_path / "keys.parquet")
    devices = pa.table({"device": values, "offset": [0, 0, 0]})
    for trace in (Trace.from_table(keys), open_trace(tmp_path / "keys.parquet"), Trace.from_table(devices)):
        assert trace.ids.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("first", "unit"), [(1_700_000_000, "s"), (1_700_000_000_000_000, "us"), (0, ""), (17 * 10**17, "")]
)
def test_a_note_says_when_whole_times_taken_as_ns_may_be_times_since_1970(first, unit):
    trace = Trace.from_table({"key": [1, 2], "time": [first, first + 1]})
    asked = (f"times taken as ns; are they in {unit}? (time_unit={unit})",) if unit else ()
    assert (trace.time.tolist(), trace.reading.notes) == ([0, 1], asked)


def test_a_reading_counts_what_was_sorted_and_which_sizes_changed(opened):
    columns = {"key": [1, 2, 1], "time": [5, 3, 4], "size": [10, 20, 30]}
    read = opened("key,time,size\n1,5,10\n2,3,20\n1,4,30\n", order="time").reading
    made = Trace.from_table(columns, order="time").reading
    assert (made.earlier, made.size_changes) == (read.earlier, read.size_changes) == (1, 1)
    assert "sorted by time, as 1 of 3 requests came earlier" in "; ".join(made.changes)


def test_a_named_index_is_a_column_unless_a_column_has_its_role(tmp_path):
    when = pd.to_datetime(["2026-01-01", "2026-01-02"]).rename("time")
    frame = pd.DataFrame({"key": ["a", "b"]}, index=when)
    frame.to_parquet(tmp_path / "same.parquet")
    assert Trace.from_table(frame).time.tolist() == open_trace(tmp_path / "same.parquet").time.tolist() == [0, DAY]
    assert Trace.from_table(frame.rename_axis(index=None)).time.tolist() == [0, DAY]
    levels = pd.MultiIndex.from_tuples([("a", "R"), ("b", "W")], names=["key", "op"])
    assert Trace.from_table(pd.DataFrame(index=levels)).write.tolist() == [False, True]
    numbered = pd.DataFrame({"key": [7, 8], "time_ms": [0, 1]}, index=pd.Index([5, 6], name="id"))
    assert Trace.from_table(numbered).address.tolist() == [7, 8]
    assert Trace.from_table(numbered, columns="block=id").address.tolist() == [5, 6]
    assert Trace.from_table(numbered.set_index(when)).time.tolist() == [0, 10**6]


def test_an_index_that_arrow_cannot_hold_is_no_column_unless_it_is_read():
    frame = pd.DataFrame({"key": [7, 8, 7]}, index=pd.Index([0, "a", 2.5], name="row"))
    assert Trace.from_table(frame).address.tolist() == [7, 8]
    for odd, columns in ((frame, "time=row"), (frame.rename_axis("time"), None)):
        with pytest.raises(ParameterError, match="the table cannot be used"):
            Trace.from_table(odd, columns=columns)


def test_an_array_of_records_is_a_table():
    records = np.array([(5, 7, 10), (6, 8, 20), (8, 7, 10)], [("time", "<u4"), ("key", ">u8"), ("size", "<u4")])
    for each in (records, records.view(np.recarray)):
        trace = Trace.from_table(each)
        assert trace.to_pandas().to_numpy().tolist() == [[7, 0, 10], [8, 1, 20], [7, 3, 10]]
    assert simulate(records, "lru", 2).hits == 1


@pytest.mark.parametrize("make", [dict, pd.DataFrame])
def test_numbers_may_have_the_bytes_of_other_machines(make):
    columns = {"block": np.arange(3).astype(">i4"), "time": np.arange(3).astype(">f8")}
    trace = Trace.from_table(make(columns))
    assert (trace.address.tolist(), trace.time.tolist()) == ([0, 1, 2], [0, 1, 2])
    assert columns["block"].dtype == ">i4"
    masked = {"block": np.ma.masked_array(columns["block"], mask=[False, True, False])}
    with pytest.raises(InputError, match="row 2, column block: a value is missing"):
        Trace.from_table(masked)


@pytest.mark.parametrize("kind", [bool, np.bool_])
def test_truth_values_may_be_operations(kind):
    meanings = {kind(True): "write", kind(False): "read"}
    for column in ([True, False], ["True", "False"], [1, 0]):
        trace = Trace.from_table({"key": ["a", "b"], "op": column}, operations=meanings)
        assert trace.write.tolist() == [True, False]


def test_a_series_with_a_name_is_a_table():
    when = pd.date_range("2026-01-01", periods=2, freq="D", name="time")
    trace = Trace.from_table(pd.Series(["a", "b"], index=when, name="key"))
    assert (trace.ids.tolist(), trace.time.tolist()) == ([0, 1], [0, DAY])
    for odd in (pd.Series([1, 2]), np.array([1, 2]), 5):
        with pytest.raises(ParameterError, match="the table cannot be used"):
            Trace.from_table(odd)


KINDS = ["M8[D]", "M8[h]", "M8[m]", "m8[D]", "m8[h]", "m8[m]", "M8[W]", "M8[2h]", "M8[10s]", "m8[10ms]", "m8[5ns]"]


@pytest.mark.parametrize("kind", KINDS)
def test_times_of_numpy_have_any_unit_and_step(kind):
    time = np.array([0, 1], kind)
    step = int((time[1] - time[0]) / np.timedelta64(1, "ns"))
    assert Trace.from_table({"key": ["a", "b"], "time": time}).time.tolist() == [0, step]


STATUSES = [
    [200, 304, 206, None],
    ["200", "304", "206", ""],
    [200.0, 304.0, 206.0, None],
    ["200.0", "304.0", "206.0", ""],
    [decimal.Decimal("200.0"), decimal.Decimal("304.0"), decimal.Decimal("206.0"), None],
]


@pytest.mark.parametrize("statuses", STATUSES)
def test_an_answer_without_a_body_has_the_size_of_the_others(tmp_path, statuses):
    table = pa.table({"key": ["a", "a", "b", "c"], "bytes": [10, 3, 5, 6], "sc_status": statuses})
    pq.write_table(table, path := tmp_path / "answers.parquet")
    for trace in (Trace.from_table(table), Trace.from_table(table, columns="status=sc_status"), open_trace(path)):
        assert trace.bytes_of(slice(None)).tolist() == [10, 10, 5, 6] and trace.reading.columns["status"] == "sc_status"
        assert "1 size unknown, taken from other requests to the same object if any states it" in trace.reading.notes
        assert any(note.endswith(": 1 of status 206") for note in trace.reading.notes)
    nothing = Trace.from_table({"key": ["a", "b"], "bytes": [3, 5], "sc_status": [304, 200]})
    assert nothing.bytes_of(slice(None)).tolist() == [0, 5]
    assert "1 object of unknown size, taken for 0 bytes" in nothing.reading.notes
    other = table.append_column("other", [[200, 200, 206, 200]])
    assert Trace.from_table(other, columns="status=other").bytes_of(slice(None)).tolist() == [10, 3, 5, 6]
