"""Test that numbers too large for Python or a trace are read as keys or refused at once with a message."""

import decimal
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from misspenalty import open_trace
from misspenalty.errors import InputError, MissPenaltyError, ParameterError
from misspenalty.io.documents import read_yaml
from misspenalty.traces.dialects import dialects

DIGITS = "7" * 5000  # Python converts at most 4300 digits
LONG = {"digits": DIGITS, "exponent": "1e999999999", "negative exponent": "1e-999999999", "zeros": "0e999999999"}


@pytest.mark.parametrize("name", sorted(dialects()))
def test_no_dialect_converts_a_number_of_thousands_of_digits(tmp_path, name):
    """Each long number replaces each number of the example; the format is given and recognised in turn."""
    example, path = dialects()[name].example, tmp_path / f"example.{name}"
    places = [match.span() for match in re.finditer(r"\d+", example)]
    assert places
    for number, (begin, end) in enumerate(places):
        for turn, long in enumerate(LONG.values()):
            path.write_text(f"{example[:begin]}{long}{example[end:]}\n")
            options = {"format": name} if (number + turn) % 2 else {}
            try:
                assert len(open_trace(path, **options)) > 0
            except MissPenaltyError as error:
                assert str(path) in str(error)


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
@pytest.mark.parametrize("role", ["time", "block", "offset", "size", "op", "device"])
def test_long_values_of_a_table_are_not_numbers(tmp_path, role, long):
    columns = {"time": "1", "offset": "4096", "size": "512", role: long}
    columns = {name: value for name, value in columns.items() if role != "block" or name not in ("offset", "size")}
    path = tmp_path / "trace.csv"
    path.write_text(f"{','.join(columns)}\n{','.join(columns.values())}\n")
    taken = {("block", long) for long in LONG.values()} | {("device", long) for long in LONG.values()}
    taken |= {("time", LONG["negative exponent"])}  # digits below a nanosecond are dropped
    if (role, long) in taken:
        assert len(open_trace(path)) == 1
    else:
        with pytest.raises(InputError, match="line 2"):
            open_trace(path)


def test_a_time_with_a_large_exponent_is_out_of_range(opened):
    with pytest.raises(InputError, match=r"line 2: .*1e30000 is out of range"):
        opened("time,block\n1e30000,1\n")


@pytest.mark.parametrize("column", [DIGITS, "²", "0", "3"])
def test_columns_that_do_not_exist(opened, column):
    with pytest.raises((InputError, ParameterError), match="no column"):
        opened("1,2\n3,4\n", columns=f"block={column}")


def test_a_header_of_digits_is_a_name(opened):
    assert opened(f"{DIGITS},block\n3,4\n5,4\n", columns="block=2,ignore=1", header=True).address.tolist() == [4]


@pytest.mark.parametrize("tokens", [DIGITS, "²", "-1"])
def test_tokens_of_a_block_are_a_number(opened, tokens):
    line = '{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}\n'
    with pytest.raises(ParameterError, match="block_tokens"):
        opened(line, name="x.jsonl", block_tokens=tokens)


@pytest.mark.parametrize("value", [DIGITS, "2024-13-45", "!!int x", "!!float x"])
def test_a_value_that_yaml_cannot_make(tmp_path, value):
    path = tmp_path / "settings.yaml"
    path.write_text(f"a: {value}\n")
    with pytest.raises(InputError, match=re.escape(str(path))):
        read_yaml(path)


@pytest.mark.parametrize("kind", [pa.decimal32(9, 0), pa.decimal64(18, 0), pa.decimal128(38, 0), pa.decimal256(76, 0)])
def test_decimals_of_every_width_are_read_alike(tmp_path, kind):
    values = [5, 900_000_000, 5, 0, 123]
    path = tmp_path / "trace.parquet"
    column = pa.array([decimal.Decimal(value) for value in values], kind)
    pq.write_table(pa.table({"time": pa.array(map(decimal.Decimal, range(5)), kind), "block": column}), path)
    trace = open_trace(path)
    assert trace.address[trace.ids].tolist() == values
    np.testing.assert_array_equal(trace.time, np.arange(5) * 1_000_000_000)


def test_a_decimal_beyond_64_bits_is_a_key_as_its_digits_are_in_a_text_file(tmp_path):
    """Such a key is kept digit for digit, as in CSV; if `key` is "number", the message names the row."""
    path = tmp_path / "trace.parquet"
    values = [decimal.Decimal(value) for value in (1, 10**70, 1, 10**70 + 1)]
    pq.write_table(pa.table({"block": pa.array(values, pa.decimal256(76, 0))}), path)
    assert open_trace(path).ids.tolist() == [0, 1, 0, 2]
    with pytest.raises(InputError, match="row 2"):
        open_trace(path, key="number")
