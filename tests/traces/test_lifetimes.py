"""Test times to live and deletes against slow caches that track every object."""

import struct

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from misspenalty import InputError, Trace, open_trace, simulate
from misspenalty.traces._compile import generations
from misspenalty.traces.readers import lcs

SECOND = 10**9
ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["get", "set", "delete"]), st.integers(0, 4), st.integers(0, 5)),
    min_size=1,
    max_size=60,
)  # seconds since the row before, operation, key, time to live


def alive(rows):
    """Return whether each reference finds its object in an unbounded cache that drops expired and deleted objects."""
    held, now, found = {}, 0, []
    for step, operation, key, life in rows:
        now += step
        if operation == "delete":
            held.pop(key, None)
            continue
        if key in held and held[key] < now:
            del held[key]
        found.append(key in held)
        if operation == "set" or key not in held:
            held[key] = now + life if life else np.inf
    return found


def table(rows):
    steps, operations, keys, lives = zip(*rows, strict=True)
    return {"time_s": np.cumsum(steps), "op": list(operations), "key": list(keys), "ttl": list(lives)}


OPTIONS = {"operations": "get=read,set=write,delete=delete", "lifetimes": "honour"}


@settings(max_examples=200, deadline=None)
@given(ROWS)
def test_an_unbounded_cache_hits_what_is_alive(rows):
    if all(row[1] == "delete" for row in rows):
        rows = [*rows, (0, "get", 0, 0)]
    trace, right = Trace.from_table(table(rows), **OPTIONS), alive(rows)
    hits = np.zeros(len(trace), bool)
    simulate(trace, "lru", max(trace.blocks, 1), hits=hits)
    assert hits.tolist() == right
    best = simulate(trace, "opt", max(trace.blocks, 1))
    assert best.hits == sum(found for found, row in zip(right, (r for r in rows if r[1] != "delete"), strict=True)
                            if row[1] == "get")  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(ROWS, st.integers(1, 4))
def test_lru_keeps_expired_objects_until_evicted(rows, size):
    rows = [*rows, (0, "get", 0, 0)]
    trace = Trace.from_table(table(rows), **OPTIONS)
    hits = np.zeros(len(trace), bool)
    simulate(trace, "lru", size, hits=hits)
    right, queue, life, now = [], [], {}, 0
    for step, operation, key, own in rows:
        now += step
        number, ends, live = life.get(key, (0, 0, False))
        if live and (operation == "delete" or ends < now):
            number, live = number + 1, False
        if operation != "delete":
            right.append((key, number) in queue)
            queue = [each for each in queue if each != (key, number)][-size + 1 if right[-1] else -size :]
            queue = [*queue, (key, number)][-size:]
            if operation == "set" or not live:
                ends, live = now + own if own else np.inf, True
        life[key] = (number, ends, live)
    assert hits.tolist() == right


def test_twitters_times_and_deletes(opened):
    rows = ["0,a,1,8,4,set,10", "10,a,1,8,4,get,0", "11,a,1,8,4,get,0", "12,a,1,8,4,delete,0", "13,a,1,8,4,get,0"]
    lines = "\n".join([*rows, "14,a,1,8,4,get,0"]) + "\n"
    trace = opened(lines, lifetimes="honour")
    assert trace.ids.tolist() == [0, 0, 1, 2, 2] and trace.object_bytes.tolist() == [9, 9, 9]
    assert trace.time.tolist() == [second * SECOND for second in (0, 10, 11, 13, 14)]
    notice = trace.reading.notice("x")
    assert "an object that expired (1) or was deleted (1) is treated as a new" in notice and "ignored" not in notice
    plain = opened(lines)
    assert plain.ids.tolist() == [0] * 5 and plain.address.tolist() == trace.address[:1].tolist()
    notice = plain.reading.notice("x")
    assert "(ttl) ignored (--lifetimes honour)" in notice and "ignored operations: 1 delete" in notice


def test_a_later_batch_knows_the_earlier_ones(opened, monkeypatch):
    monkeypatch.setattr("misspenalty.traces.lines.CHUNK", 64)
    rows = [f"{second},k{second % 7},4" for second in range(300)]
    trace = opened("\n".join(["time,key,ttl", *rows]), lifetimes="honour")
    assert trace.blocks == len(trace) == 300  # each key comes back after 7 s, but lives for only 4 s
    each = [-(-len(range(key, 300, 7)) // 2) for key in range(7)]  # each life covers two references
    longer = "\n".join(["time,key,ttl", *(row[:-1] + "7" for row in rows)])
    assert opened(longer, lifetimes="honour").blocks == sum(each) == 153


def lcs_file(rows):
    """Return a file of rows (s, object, size, operation, time to live) in version 3 of the format lcs."""
    head = bytearray(8192)
    struct.pack_into("<QQqq", head, 0, lcs.MAGIC, 3, 1, 0)
    struct.pack_into("<Q", head, 8184, lcs.MAGIC)
    packed = (struct.pack("<IQqB3sIq", s, key, size, op, b"", life, -1) for s, key, size, op, life in rows)
    return bytes(head) + b"".join(packed)


def test_libcachesims_own_format_has_both(opened):
    rows = lcs_file([(0, 7, 10, 1, 5), (5, 7, 10, 1, 0), (6, 7, 10, 1, 0), (7, 7, 10, 9, 0), (8, 7, 10, 1, 0)])
    assert opened(rows, lifetimes="honour").ids.tolist() == [0, 0, 1, 2]
    plain = opened(rows)
    assert plain.ids.tolist() == [0] * 4
    assert "1 time to live ignored (--lifetimes honour); ignored operations: 1 delete" in plain.reading.notice("x")


def test_the_size_of_a_delete_is_not_counted_as_unknown(opened):
    rows = "1 REST.PUT.OBJECT a 10\n2 REST.DELETE.OBJECT a\n3 REST.GET.OBJECT a 10 0 9\n"
    trace = opened(rows, lifetimes="honour")
    assert trace.ids.tolist() == [0, 1] and not any("unknown" in note for note in trace.reading.notes)


def test_a_size_of_0_that_libcachesim_read_is_unknown(opened):
    rows = [(7, 0, 1), (7, 30, 3), (8, 0, 3), (7, 0, 9), (7, 0, 1)]  # object, size, operation: get, set, delete
    trace = opened(lcs_file([(5, *row, 0) for row in rows]))
    assert trace.bytes_of(slice(None)).tolist() == [30, 30, 0, 30]
    assert trace.reading.notes == ("2 sizes unknown, taken from other requests to the same object if any states it",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("time,key\n0,1\n", "has neither times to live nor deletes.*--columns ttl=.*--operations DEL=delete"),
        ("key,ttl\n1,5\n", "lifetimes need objects and times"),
        ("time,offset,size,ttl\n0,0,4096,5\n", "lifetimes need objects and times.*leave out --lifetimes"),
    ],
)
def test_lifetimes_that_no_column_states_are_refused(opened, content, message):
    with pytest.raises(InputError, match=message):
        opened(content, lifetimes="honour")


def test_a_time_to_live_below_0_is_refused_but_for_the_minus_1_of_no_end(opened):
    assert opened("time,key,ttl\n0,1,-1\n9,1,-1\n", lifetimes="honour").blocks == 1
    with pytest.raises(InputError, match=r"line 3: field 3 .ttl.*-2 is out of range; expected seconds; 0, -1 or not"):
        opened("time,key,ttl\n0,1,5\n9,1,-2\n", lifetimes="honour")
    assert opened("time,key,ttl\n0,1,5\n9,1,-2\n").blocks == 1


def test_a_time_to_live_beyond_63_bits_is_one_without_an_end(opened):
    assert opened(f"time,key,ttl\n0,1,{2**64 - 1}\n9,1,5\n", lifetimes="honour").blocks == 1


def test_a_frame_says_the_same_as_a_file(tmp_path):
    frame = pd.DataFrame({"time": [0, 6, 7], "key": ["a", "a", "a"], "ttl": [5, 5, None]})
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_parquet(tmp_path / "x.parquet")
    for trace in (
        Trace.from_table(frame, lifetimes="honour", time_unit="s"),
        open_trace(tmp_path / "x.csv", lifetimes="honour"),
        open_trace(tmp_path / "x.parquet", lifetimes="honour"),
    ):
        assert trace.ids.tolist() == [0, 1, 1]


def test_the_kernel_refuses_objects_without_state():
    one = np.zeros(1, np.int64)
    with pytest.raises(IndexError, match="expected ids below"):
        generations(np.ones(1, np.uint32), one, one, np.zeros(1, np.uint8), one, np.zeros(1, np.uint32),
                    np.zeros(1, np.uint8))  # fmt: skip
