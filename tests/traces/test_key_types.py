"""The whole column decides whether keys are numbers or texts, however the table is written.

The tests restate the rule with Python's numbers: a column in which each key stands for a whole number from -2**63
to 2**64 - 1 holds numbers; any other holds texts. Blanks at the ends of a text are part of it only within quotes.
"""

import csv
import fractions
import io
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from misspenalty import InputError, open_trace
from misspenalty.traces import lines

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WHOLE = [
    *("0", "-0", "7", "07", "+7", "-1", "7.0", "-7.00", "7.", "1e3", "1E3", ".7e1", "100e-2", "  7 ", "7\t"),
    *("9007199254740993", "9223372036854775808", "18446744073709551615", "-9223372036854775808", "1." + 19 * "0"),
]
TEXT = [
    *("7.5", "1e-2", "18446744073709551616", "-9223372036854775809", "12345678901234567890" * 3, "1e400"),
    *("0x10", "1_000", "1,000", "a,b", 'a "b"', "+", "+-7", "--7", "7 8", "\u0663", "\uff17", "\u00e9", "true", "inf"),
]
COLUMNS = st.sampled_from([["key"], ["time", "key"], ["key", "time"], ["time", "key", "size"], ["op", "key"]])


def number(text):
    """Return the whole number that a text stands for, or None."""
    if not NUMBER.fullmatch(text) or len(text) > 64 or "400" in text:
        return None
    value = fractions.Fraction(text)
    return int(value) if value.denominator == 1 and -(2**63) <= value < 2**64 else None


def numbered(keys):
    """Replace each key by its number, in order of first occurrence."""
    seen = {}
    return [seen.setdefault(key, len(seen)) for key in keys]


def written(columns, keys, blanks, quoting, end):
    """Return a table as a spreadsheet writes it, with blank lines."""
    text = io.StringIO(newline="")
    table = csv.writer(text, quoting=quoting, lineterminator=end)
    table.writerow(columns)
    for row, (key, blank) in enumerate(zip(keys, blanks, strict=True)):
        text.write("" if blank is None else blank + end)
        table.writerow([{"time": row, "key": key, "size": 4096, "op": "read"}[column] for column in columns])
    return text.getvalue()


@settings(max_examples=300)
@given(
    columns=COLUMNS,
    keys=st.one_of(
        st.lists(st.sampled_from(WHOLE), min_size=1, max_size=12),
        st.lists(st.sampled_from(WHOLE + TEXT), min_size=1, max_size=12),
        st.lists(st.sampled_from(TEXT), min_size=1, max_size=12),
    ),
    blanks=st.lists(st.sampled_from([None, None, None, "", "  ", "\t"]), min_size=12, max_size=12),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    end=st.sampled_from(["\n", "\r\n"]),
    chunk=st.sampled_from([48, lines.CHUNK]),
)
def test_the_column_decides(tmp_path_factory, columns, keys, blanks, quoting, end, chunk):
    path = tmp_path_factory.mktemp("keys") / "trace.csv"
    path.write_text(written(columns, keys, blanks[: len(keys)], quoting, end), encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "CHUNK", chunk)
        trace = open_trace(path)
    found, texts = [int(trace.address[id]) for id in trace.ids], [key.strip(" \t") for key in keys]
    values = [number(text) for text in texts]
    if None in values:
        assert numbered(found) == numbered(texts if quoting == csv.QUOTE_MINIMAL else keys)
    else:
        assert found == [value % 2**64 for value in values]


@pytest.mark.parametrize("blank", [" ", "\t", "  \t ", "\v", "\f", " \r"])
@pytest.mark.parametrize("place", range(3))
def test_blanks_on_a_line_are_not_a_key(opened, blank, place):
    """The table has one column, in which pyarrow reads blanks as a value."""
    rows = ["7", "8"]
    rows.insert(place, blank)
    assert [int(trace) for trace in opened("\n".join(["key", *rows, ""])).address] == [7, 8]


@pytest.mark.parametrize("text", ["\u0663", "\uff17", "1_0"])
@pytest.mark.parametrize("role", ["size", "time", "offset"])
def test_digits_of_other_scripts_are_not_numbers(opened, role, text):
    values = {"time": "1", "offset": "4096", "size": "512"} | {role: text}
    with pytest.raises(InputError, match="line 2"):
        opened(f"{','.join(values)}\n{','.join(values.values())}\n", address_unit="bytes")


@given(keys=st.lists(st.decimals(-(10**6), 10**6, places=2), min_size=1, max_size=9))
def test_decimals_of_parquet_that_are_not_whole_numbers_are_texts(tmp_path_factory, keys):
    assume(any(key % 1 for key in keys))
    path = tmp_path_factory.mktemp("keys") / "trace.parquet"
    pq.write_table(pa.table({"key": pa.array(keys, pa.decimal128(20, 2))}), path)
    trace = open_trace(path)
    assert numbered(np.asarray(trace.address)[trace.ids].tolist()) == numbered(keys)
