"""Test selections, joined traces and warm-up."""

import re

import numpy as np
import pytest

from misspenalty import InputError, ParameterError, Trace, simulate
from misspenalty.traces.parts import join, parse_selection, select, warm_up

SECOND = 1_000_000_000
TRACE = Trace.from_blocks(
    [9, 8, 9, 7, 8], write=[False, True, False, False, True], time=[n * SECOND for n in (5, 6, 7, 8, 9)]
)


def blocks(trace):
    return trace.address[trace.ids].tolist()


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        ("all", [9, 8, 9, 7, 8]),
        ("", [9, 8, 9, 7, 8]),
        ("reads", [9, 9, 7]),
        ("writes", [8, 8]),
        ("skip=1,first=2", [8, 9]),
        ("from=1s,to=3s", [8, 9]),
        ("to=3s", [9, 8, 9]),
        ("reads,from=1s", [9, 7]),
        ("reads,skip=1,first=1", [9]),
    ],
)
def test_selections(selection, left):
    part = select(TRACE, selection)
    assert blocks(part) == left
    assert part.ids.max() == part.blocks - 1


def test_times_before_the_first_are_before_every_end():
    """Times may run backwards for a moment."""
    trace = Trace.from_blocks([1, 2, 3], time=[n * SECOND for n in (5, 4, 6)])
    assert blocks(select(trace, "to=1h")) == [1, 2, 3]
    assert blocks(select(trace, "to=1s")) == [1, 2]
    assert blocks(select(trace, "from=0s")) == [1, 3]


@pytest.mark.parametrize("selection", ["reads,writes", "first=-1", "first", "from=x", "red", "first=1,first=2"])
def test_impossible_selections(selection):
    with pytest.raises(ParameterError, match="selection"):
        parse_selection(selection)


def test_nothing_left_and_no_times():
    with pytest.raises(ParameterError, match="leaves no reference of array, which has 5 references"):
        select(TRACE, "from=1h")
    with pytest.raises(ParameterError, match="has no times"):
        select(Trace.from_blocks([1]), "from=1s")


def test_joined_traces_share_blocks_and_time_goes_on():
    both = join(TRACE, TRACE)
    assert blocks(both) == [9, 8, 9, 7, 8] * 2 and both.blocks == 3
    assert np.all(np.diff(both.time) >= 0)
    with pytest.raises(ParameterError, match="open both with the same block size"):
        join(TRACE, Trace.from_blocks([1], block_bytes=512))


def test_joined_times_that_do_not_fit_into_64_bits_are_refused():
    first, second = Trace.from_blocks([1], time=[2**62]), Trace.from_blocks([1, 2], time=[0, 2**62])
    assert join(first, Trace.from_blocks([1, 2], time=[0, 2**62 - 1])).time.max() == 2**63 - 1
    with pytest.raises(ParameterError, match=r"array and array last more than 2\*\*63 ns \(292 years\) together"):
        join(first, second)


def test_what_one_of_two_joined_traces_lacks():
    """References of a trace without writes must be reads; if one trace has no times, the joined trace must have
    none."""
    bare, written = Trace.from_blocks([1, 2]), Trace.from_blocks([2, 3], write=[True, False])
    assert join(bare, bare).write is None
    assert join(bare, written).write.tolist() == [False, False, True, False]
    assert join(written, bare).write.tolist() == [True, False, False, False]
    assert join(TRACE, bare).time is None and join(bare, TRACE).time is None


@pytest.mark.parametrize(("text", "references"), [("2", 2), (3, 3), ("40%", 2), ("3s", 3), ("0", 0), ("0%", 0)])
def test_warm_up(text, references):
    assert warm_up(TRACE, text) == (TRACE, references)


@pytest.mark.parametrize(("text", "given"), [("5", ""), (5, ""), ("100%", r" \(100%\)"), ("10m", r" \(10m\)")])
def test_a_warm_up_that_leaves_nothing_is_refused(text, given):
    with pytest.raises(ParameterError, match=f"a warm-up of 5 references{given} leaves none of the 5 references of .*"):
        warm_up(TRACE, text)


@pytest.mark.parametrize(("text", "said"), [(-5, "-5"), ("-5", "'-5'")])
def test_a_negative_warm_up_is_refused(text, said):
    with pytest.raises(ParameterError, match=rf"warm-up is {said}; expected a number of references \(100000\)"):
        warm_up(TRACE, text)


@pytest.mark.parametrize("value", [None, 2.5, True, [2], b"2"])
def test_a_warm_up_of_another_type_is_refused(value):
    with pytest.raises(ParameterError, match=rf"warm-up is {re.escape(repr(value))}; expected a number of references"):
        warm_up(TRACE, value)


def test_another_trace_warms_up(tmp_path):
    TRACE.save(tmp_path / "first.trace")
    both, references = warm_up(TRACE, str(tmp_path / "first.trace"))
    assert references == 5
    assert simulate(both, "lru", 3, warm_up=references).hits == 3  # all reads
    with pytest.raises(InputError, match="no such file"):
        warm_up(TRACE, "nowhere.spc")
