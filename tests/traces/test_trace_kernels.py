"""Test kernels of the readers: parsing text, numbering addresses, distances between uses."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty import InputError, open_trace
from misspenalty.traces._compile import Interner
from misspenalty.traces._distance import NEVER, next_use, previous_use
from misspenalty.traces._stack import StackDistances, first_uses, sampled
from misspenalty.traces.layout import resolve
from misspenalty.traces.lines import Batch, divide
from misspenalty.traces.table import Table
from misspenalty.traces.values import BadValueError, whole

NUMBER = st.integers(0, 2**63 - 1) | st.integers(-(2**63), -1) | st.integers(0, 10**8 + 1) | st.integers(0, 20)
PAIRS = Table(columns={"block": ("1",), "size": ("2",)}, separator=" ", names=("first", "second"), key="number")


def pairs(text):
    """Return the rows of a text of two numbers per line."""
    layout = resolve(PAIRS, b"1 2\n")
    batch = Batch({}, 0, text, 0, layout, "file")
    divide(batch, layout.kinds)
    rows, bad = [], []
    for place in (0, 1):
        try:
            rows.append(whole(batch.columns[place]).tolist())
        except BadValueError as error:
            bad.append((error.row, place))
    if bad:  # each column reports its own first bad row
        raise batch.error(*min(bad))
    if batch.rest:
        raise batch.rest
    return list(zip(*rows, strict=True))


@given(
    rows=st.lists(st.tuples(NUMBER, NUMBER), min_size=1),
    zeros=st.integers(0, 12),
    gap=st.sampled_from([" ", "  ", "\t", " \t "]),
    end=st.sampled_from(["\n", "\r\n", " \n", "\n\n"]),
    last=st.sampled_from(["", "\n"]),
)
def test_numbers_of_any_length_are_read(rows, zeros, gap, end, last):
    text = end.join(f"{first:0{zeros}d}{gap}{second}" for first, second in rows) + last
    assert pairs(text.encode()) == rows


@given(
    st.lists(st.sampled_from([b"7", b"1234567", b"12345678", b"9223372036854775808", b" ", b"\n", b"x", b"\xb5", b":"]))
)
def test_a_malformed_line_is_found_whatever_stands_around_it(parts):
    """A line may hold two numbers below 2**64 and blanks, or nothing; the first other line must be named."""
    text = b"".join(parts)
    lines = text.removesuffix(b"\n").split(b"\n")
    bad = [
        number
        for number, line in enumerate(lines, 1)
        if line.strip() and not (re.fullmatch(rb" *\d+ +\d+ *", line) and max(map(int, line.split())) < 2**64)
    ]
    if bad:
        with pytest.raises(InputError) as error:
            pairs(text)
        assert error.value.line == bad[0]
    else:
        assert len(pairs(text)) == len([line for line in lines if line.strip()])


@given(st.lists(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 20))))
def test_interner_numbers_addresses_in_order_of_first_use(batches):
    interner, known = Interner(), {}
    for batch in batches:
        ids = interner.ids(np.array(batch, np.uint64))
        assert ids.tolist() == [known.setdefault(address, len(known)) for address in batch]
    assert interner.addresses_by_id().tolist() == list(known)
    assert len(interner) == len(known)


def test_interner_grows_past_its_first_table():
    addresses = np.random.default_rng(1).permutation(200_000).astype(np.uint64) << np.uint64(20)
    interner = Interner()
    assert np.array_equal(interner.ids(addresses), np.arange(200_000))
    assert np.array_equal(interner.ids(addresses[::-1].copy()), np.arange(200_000)[::-1])


def test_interner_holds_no_more_than_it_may():
    interner = Interner(3)
    assert interner.ids(np.array([7, 7, 2**40, 8], np.uint64)).tolist() == [0, 0, 1, 2]
    with pytest.raises(OverflowError, match="more than 3 distinct blocks"):
        interner.ids(np.array([8, 9], np.uint64))


def test_interner_knows_addresses_whose_table_changed():
    """Whether an address counts as low depends on the number of addresses: 10,000 is high at first and low later."""
    interner = Interner()
    addresses = np.concatenate([[10_000, 50_000, 2**40], np.arange(60_000), [2**40, 2**63]]).astype(np.uint64)
    known = {}
    expected = [known.setdefault(address, len(known)) for address in addresses.tolist()]
    for begin in range(0, addresses.size, 777):
        assert interner.ids(addresses[begin : begin + 777]).tolist() == expected[begin : begin + 777]
    assert interner.addresses_by_id().tolist() == list(known)


def test_temporal_distance_is_the_papers():
    # In A B C D B A X, the temporal distance (MQ paper) is 5 for A and 3 for B.
    assert previous_use(np.array([0, 1, 2, 3, 1, 0, 4], np.uint32), 5).tolist() == [0, 0, 0, 0, 3, 5, 0]


@given(st.lists(st.integers(0, 9), min_size=1).map(lambda ids: np.array(ids, np.uint32)))
def test_previous_and_next_use_mirror_each_other(ids):
    previous, coming = previous_use(ids, 10), next_use(ids, 10)
    for i, distance in enumerate(previous):
        assert distance == 0 or coming[i - distance] == i
    assert np.count_nonzero(coming == NEVER) == np.count_nonzero(previous == 0) == len(set(ids.tolist()))


@given(st.integers(0, 2**33), st.integers(0, 999_999_999))
def test_decimal_times_are_exact(tmp_path_factory, seconds, nanoseconds):
    path = tmp_path_factory.mktemp("spc") / "x.spc"
    path.write_text(f"0,0,512,R,{seconds}.{nanoseconds:09d}\n")
    assert open_trace(path).time.tolist() == [seconds * 10**9 + nanoseconds]


@pytest.mark.parametrize("text, nanoseconds", [(".05", 50_000_000), (".9", 900_000_000), ("0.", 0), ("7", 7 * 10**9)])
def test_either_side_of_a_decimal_point_may_be_empty(opened, text, nanoseconds):
    assert opened(f"0,0,512,R,{text}\n", name="x.spc").time.tolist() == [nanoseconds]


@pytest.mark.parametrize(
    "content",
    [
        b'op,key\nR,a\nR,"a"\nR,foobar\nR,"a" \nR,a',
        b'key,op\na,R\n"a",R\nfoobar,R\n"a" ,R\n a,R',
        b'op,key\r\nR,a\r\nR,"a"\r\nR,foobar\r\nR,"a" \r\nR,a',
        b'key,op\na ,R\n"a",R\nfoobar\t,R\n a  ,R\na,R',
    ],
)
def test_a_name_is_the_same_object_whatever_follows_it(opened, content):
    """A field, a line, the file or a quotation may end after a name; names are kept as their FNV-1a hashes."""
    trace = opened(content)
    assert trace.ids.tolist() == [0, 0, 1, 0, 0]
    published = [0xAF63DC4C8601EC8C, 0x85944171F73967E8]  # hashes of "a" and "foobar", not yet folded to 63 bits
    assert trace.address.tolist() == [(value ^ value >> 32) & (1 << 63) - 1 for value in published]


@pytest.mark.parametrize(
    "call",
    [
        lambda ids: previous_use(ids, 3),
        lambda ids: next_use(ids, 3),
        lambda ids: StackDistances(3).feed(ids, np.empty(2, np.uint32)),
        lambda ids: first_uses(ids, np.empty(0, np.uint8), np.zeros(3, np.uint8)),
        lambda ids: sampled(
            ids, np.ones(3, np.uint32), np.empty(0, np.uint8), np.empty(2, np.uint32), np.empty(2, np.uint8)
        ),
    ],
)
def test_an_id_that_is_not_a_block_is_refused(call):
    call(np.array([0, 2], np.uint32))
    with pytest.raises(IndexError, match="ids hold block 3; expected ids below 3"):
        call(np.array([0, 3], np.uint32))


def test_an_interner_gives_its_memory_back():
    """An interner must free the tables that it outgrew and, when it is deleted, all its memory."""

    def resident():
        return 4096 * int(Path("/proc/self/statm").read_text().split()[1])

    addresses = np.arange(1 << 17, dtype=np.uint64)
    Interner().ids(addresses)
    before = resident()
    for _ in range(60):
        Interner().ids(addresses)
    assert resident() - before < 30 << 20  # each holds more than a megabyte of addresses
