"""Test traces of prompts (format mooncake): hand-made lines, malformed ones, and drawn prompts read back."""

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import InputError, ParameterError, open_trace
from misspenalty.traces import formats, lines, prompts
from misspenalty.traces.prompts import Prompts, read_prompts


def line(timestamp=0, input_length=1000, output_length=3, hash_ids=(0, 1), **more):
    entry = {"timestamp": timestamp, "input_length": input_length, "output_length": output_length}
    return json.dumps(entry | {"hash_ids": list(hash_ids)} | more)


def write(folder, *lines, name="x.jsonl"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_hand_made_trace(tmp_path):
    lines = [line(27_482, 1025, 52, [46, 47, 2**64 - 1]), "", line(27_482, 512, 1, [46], turn=2)]
    path = write(tmp_path, *lines, line(30_535.5, 600, 0, [46, 7]))
    trace = open_trace(path)
    assert (trace.format, trace.write) == ("mooncake", None)
    assert trace.address[trace.ids].tolist() == [46, 47, 2**64 - 1, 46, 46, 7]
    assert trace.time.tolist() == [0, 0, 0, 0, 3_053_500_000, 3_053_500_000]
    read = read_prompts(path)
    assert (len(read), read.block_tokens, read.count.tolist()) == (3, 512, [3, 1, 2])
    assert read.covered().tolist() == [512, 512, 1, 512, 512, 88]
    assert read.output_tokens.tolist() == [52, 1, 0]


def test_it_is_registered_and_compressed_files_are_read(tmp_path):
    assert formats()["mooncake"].block_bytes == 512 * 327_680
    path = tmp_path / "x.jsonl.xz"
    path.write_bytes(lzma.compress(line().encode()))
    assert open_trace(path).format == open_trace(path, "Mooncake").format == "mooncake"
    for text in ('{"hash_ids": [1]}', '{"timestamp": 1}', '["hash_ids", "timestamp"]'):
        (other := tmp_path / "other.jsonl").write_text(text)
        with pytest.raises(InputError, match=r"prompts without the usual keys|is JSON|no column"):
            open_trace(other)


def test_the_end_of_the_last_line_may_be_missing(tmp_path):
    (tmp_path / "x.jsonl").write_text(line() + "\r\n" + line(5))
    assert len(read_prompts(tmp_path / "x.jsonl")) == 2


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_byte_order_marks_are_left_out(tmp_path, monkeypatch, size):
    """A file joined from two may have a second byte order mark."""
    path = write(tmp_path, "\ufeff" + line(0, 600, 1, [1, 2]), "\ufeff" + line(5, 600, 1, [1, 3]), "\ufeff")
    monkeypatch.setattr(lines, "CHUNK", size)
    trace = open_trace(path)
    assert (trace.format, trace.address[trace.ids].tolist()) == ("mooncake", [1, 2, 1, 3])


@pytest.mark.parametrize("size", [1, 7, 200])
def test_lines_do_not_depend_on_the_chunks(tmp_path, monkeypatch, size):
    path = write(tmp_path, *(line(i, 600, i, [i, i + 1]) for i in range(5)))
    monkeypatch.setattr(lines, "CHUNK", size)
    assert read_prompts(path).blocks.tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5]


@pytest.mark.parametrize(
    "bad, message",
    [
        ("{", r"x.jsonl, line 2: not JSON \(.*\); expected a JSON object with input_length"),
        ("\xff", r"line 2: not JSON"),
        ("[" * 100_000, "line 2: not JSON"),
        ("[1, 2]", "line 2: a JSON list"),
        ('{"timestamp": 1, "input_length": 5, "output_length": 1}', "line 2: hash_ids is missing"),
        ('{"hash_ids": [1]}', "line 2: input_length is missing"),
        (
            line().replace('"timestamp": 0, ', ""),
            "line 2: timestamp is missing; expected times on all lines, or on none",
        ),
        (line(timestamp="1"), "line 2: timestamp is '1'; expected a number from 0 to"),
        (line(timestamp=True), "line 2: timestamp is True"),
        (line(timestamp=-1), "line 2: timestamp is -1"),
        (line(timestamp=float("nan")), "line 2: timestamp is nan"),
        (line(timestamp=1e300), "line 2: timestamp is 1e[+]300"),
        (line(timestamp=4), "line 2: timestamp 4 comes after 5; expected times that never fall; sort the lines"),
        (line(5, input_length=0), "line 2: input_length is 0; expected a whole number from 1 to"),
        (line(5, input_length=10.5), "line 2: input_length is 10.5"),
        (line(5, input_length=2**32), "line 2: input_length is 4294967296"),
        (line(5, output_length=-1), "line 2: output_length is -1; expected a whole number from 0 to"),
        (line(5, hash_ids=[1, -1]), "line 2: hash_ids is not a list of hashes; expected a list of whole numbers"),
        (line(5, hash_ids=[1, "2"]), "line 2: hash_ids"),
        (line(5, hash_ids=[1, 2**64]), "line 2: hash_ids"),
        (line(5).replace("[0, 1]", '"01"'), "line 2: hash_ids"),
        (line(5, 100_000, 1, [1]), "line 2: 1 hash_ids for 100000 input tokens; expected one per block of"),
        (line(5, 3, 1, range(9)), "line 2: 9 hash_ids for 3 input tokens"),
    ],
)
def test_malformed_lines_are_named(tmp_path, bad, message):
    path = write(tmp_path, line(5, 1500, 3, [1, 2, 3]), bad)
    with pytest.raises(InputError, match=message):
        open_trace(path, "mooncake")


def test_files_without_requests(tmp_path):
    with pytest.raises(InputError, match="contains no requests"):
        open_trace(write(tmp_path, "", " "), "mooncake")
    with pytest.raises(InputError, match="is JSON"):
        open_trace(write(tmp_path, '{"a": 1}'))


def test_an_endless_line_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(prompts, "MAX_LINE_BYTES", 100)
    monkeypatch.setattr(lines, "CHUNK", 50)
    with pytest.raises(InputError, match="line 2: the line is longer"):
        read_prompts(write(tmp_path, line(), " " * 500 + "{"))


@pytest.mark.parametrize(
    "lengths, block",
    [
        ([(700, 2)], 512),  # the released size fits
        ([(33, 3), (16, 1), (170, 11)], 16),  # a power of two is preferred
        ([(100, 1), (200, 2), (1001, 11)], 100),  # only this size fits
        ([(33, 2), (16, 1), (170, 10)], 16),  # partial blocks have no hash
    ],
)
def test_the_size_of_a_block_is_found(tmp_path, lengths, block):
    path = write(tmp_path, *(line(0, tokens, 1, range(count)) for tokens, count in lengths))
    read = read_prompts(path)
    assert read.block_tokens == block
    covered = np.split(read.covered(), np.cumsum(read.count)[:-1])
    assert [part.sum() for part in covered] == [min(tokens, count * block) for tokens, count in lengths]
    assert all((part > 0).all() and (part[:-1] == block).all() for part in covered)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 5000), st.integers(0, 99)), min_size=1), st.integers(4, 11))
def test_prompts_are_read_back(tmp_path_factory, drawn, power):
    block = 2**power
    time, lines, expected = 0, [line(0, 40 * block + 1, 1, range(41)), line(0, 40 * block, 1, range(40))], []
    for step, tokens, first in drawn:
        time += step
        ids = [first + i for i in range(-(-tokens // block))]
        expected.append((time * 1_000_000, tokens, ids))
        lines.append(line(time, tokens, 1, ids))
    read = read_prompts(Path(write(tmp_path_factory.mktemp("drawn"), *lines)))
    parts = np.split(read.blocks, np.cumsum(read.count)[:-1])[2:]
    assert read.block_tokens == block
    assert [*zip(read.time[2:], read.input_tokens[2:], map(list, parts), strict=True)] == expected


def test_times_since_1970_keep_their_digits(tmp_path):
    path = write(tmp_path, *(line(time) for time in (1700000000.123, 1700000000.456, 1700000001)))
    assert read_prompts(path).time.tolist() == [0, 333_000_000, 877_000_000]


@pytest.mark.parametrize(("first", "unit"), [(1_700_000_000, "s"), (1_700_000_000_000, "ms"), (86_400_000, "ms")])
def test_the_first_of_whole_times_tells_their_unit(tmp_path, first, unit):
    read = read_prompts(write(tmp_path, line(first), line(first + 1)))
    assert (read.unit, read.time.tolist()) == (unit, [0, {"s": 1_000_000_000, "ms": 1_000_000}[unit]])


@pytest.mark.parametrize(
    ("first", "options", "noted"),
    [(1_700_000_000, {}, True), (1_700_000_000, {"unit": "s"}, False), (1_700_000_000_000, {}, False)],
)
def test_a_note_says_that_whole_times_are_taken_for_seconds(tmp_path, first, options, noted):
    trace = open_trace(write(tmp_path, line(first), line(first + 1)), **options)
    assert trace.reading.notes == ("times taken as s, as they seem to count from 1970 (--unit)",) * noted


def test_seconds_and_a_given_size(tmp_path):
    path = write(tmp_path, line(0, 33, 1, [1, 2, 3]), line(1.5, 33, 1, [1, 2]))
    read = read_prompts(path, unit="s", block_tokens=16)
    assert read.time.tolist() == [0, 1_500_000_000]
    assert (read.block_tokens, read.covered().tolist()) == (16, [16, 16, 1, 16, 16])


def test_hashes_beyond_the_prompt_cover_no_tokens(tmp_path):
    path = write(tmp_path, line(0, 32, 1, [1, 2, 3]))
    assert read_prompts(path, block_tokens=16).covered().tolist() == [16, 16, 0]


def test_a_given_size_has_to_fit(tmp_path):
    path = write(tmp_path, line(0, 33, 1, [1, 2, 3]), line(1, 64, 1, [1, 2]))
    with pytest.raises(InputError, match="line 2: 2 hash_ids for 64 input tokens; expected 4, or one more or less"):
        read_prompts(path, block_tokens=16)


def test_lines_that_say_the_size_of_a_block(tmp_path):
    """kvcache-simulator accepts such lines, which have neither times nor lengths of answers."""
    (path := tmp_path / "x.jsonl").write_text(
        '{"block_size":64,"hash_ids":[1,2],"input_length":128}\n{"block_size":64,"hash_ids":[1],"input_length":60}\n'
    )
    trace, read = open_trace(path), read_prompts(path)
    assert (trace.format, trace.ids.tolist(), trace.time) == ("mooncake", [0, 1, 0], None)
    assert (trace.block_bytes, read.block_tokens, read.output_tokens.tolist()) == (64 * 327_680, 64, [0, 0])
    assert read.covered().tolist() == [64, 64, 60]


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ({"block_size": 32}, {}, "line 2: block_size is 32; expected 64, as on the lines before; split"),
        ({}, {}, "line 2: block_size is missing; expected 64"),
        ({"block_size": 0}, {}, "line 2: block_size is 0; expected a whole number of tokens"),
        ({"block_size": 64}, {"block_tokens": 16}, "line 1: block_size is 64, not 16; leave out --block-tokens"),
        ({"block_size": 64, "input_length": 1000}, {}, "line 2: 2 hash_ids for 1000 input tokens; expected 16"),
    ],
)
def test_sizes_of_blocks_that_contradict_are_refused(tmp_path, second, options, message):
    entry = {"input_length": 128, "hash_ids": (0, 1)}
    path = write(tmp_path, line(**entry, block_size=64), line(5, **(entry | second)))
    with pytest.raises(InputError, match=message):
        read_prompts(path, **options)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"count": [1, 1]}, "count adds up to 2 blocks; expected 3, all of them"),
        ({"count": [2, 2]}, "count adds up to 4 blocks"),
        ({"count": [3]}, "the columns have 2, 2, 1, 2 entries; expected one entry per prompt in input_tokens"),
        ({"time": [0]}, "the columns have 2, 2, 2, 1 entries"),
    ],
)
def test_prompts_whose_columns_do_not_fit_are_refused(changed, message):
    given = {"time": [0, 5], "input_tokens": [16, 32], "output_tokens": [1, 1], "count": [1, 2], "blocks": [1, 1, 2]}
    assert len(Prompts(**given, block_tokens=16)) == 2
    with pytest.raises(ParameterError, match=message):
        Prompts(**given | changed, block_tokens=16)


def test_prompts_hold_whole_numbers():
    """All columns must hold whole numbers: hashes below 1 would all be block 0, and negative counts would give prompts
    without blocks."""
    columns = {"time": None, "input_tokens": [3, 2], "output_tokens": [0, 0], "count": [2, 1], "blocks": [7, 8, 7]}
    made = Prompts(**columns | {"count": np.array([2.0, 1.0]), "input_tokens": [3.0, 2.0]}, block_tokens=2)
    assert made.count.dtype == np.int64 and made.count.tolist() == [2, 1] and made.input_tokens.tolist() == [3, 2]
    small = {"count": np.array([2, 1], np.uint8), "input_tokens": np.array([3, 2], np.uint64)}
    assert Prompts(**columns | small, block_tokens=2).covered().tolist() == [2, 1, 2]
    unsigned = Prompts(**columns | {"count": np.array([2, 1], np.uint64)}, block_tokens=2)
    assert unsigned.covered().dtype == np.int64
    wrong = {"blocks": [0.1, 0.2, 0.1], "count": [1.5, 1.5], "input_tokens": ["3", "2"], "output_tokens": [0, np.nan]}
    for name, values in wrong.items():
        with pytest.raises(ParameterError, match=f"prompts: {name} is of type .*; expected one whole number per entry"):
            Prompts(**columns | {name: values}, block_tokens=2)
    with pytest.raises(ParameterError, match="count or input_tokens has a number below 0"):
        Prompts(**columns | {"count": [-1, 4]}, block_tokens=2)
    with pytest.raises(ParameterError, match="prompts: blocks: 1 of 3 values are masked"):
        Prompts(**columns | {"blocks": np.ma.masked_array([7, 8, 7], mask=[False, True, False])}, block_tokens=2)


def test_prompts_can_be_compared():
    columns = {"time": None, "input_tokens": [3, 2], "output_tokens": [0, 0], "count": [2, 1], "block_tokens": 2}
    made = Prompts(**columns, blocks=[7, 8, 7])
    assert made == Prompts(**columns, blocks=np.array([7, 8, 7])) != Prompts(**columns, blocks=[7, 8, 9])
    assert made != 7 and made != Prompts(**columns | {"time": [0, 1]}, blocks=[7, 8, 7])
