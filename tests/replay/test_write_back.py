"""Test the LRU cache that writes back against an ordered dictionary and cases worked out by hand."""

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty import ParameterError
from misspenalty.replay._write_back import pass_down
from misspenalty.replay.write_back import requests_below


def slowly(references, capacity):
    """Replay references with an ordered dictionary; return each request to the level below: (block, write, cause)."""
    held, below = OrderedDict(), []
    for number, (block, write) in enumerate(references):
        if block not in held:
            if len(held) == capacity:
                victim, dirty = held.popitem(last=False)
                below += [(victim, True, number)] if dirty else []
            below += [] if write else [(block, False, number)]
            held[block] = False
        held.move_to_end(block)
        held[block] |= write
    return below


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans())), st.integers(1, 12))
def test_requests_are_those_of_an_ordered_dictionary(references, capacity):
    ids, write = np.array([block for block, _ in references], np.uint32), np.array([w for _, w in references], bool)
    found = zip(*(column.tolist() for column in requests_below(ids, write, capacity, 10)), strict=True)
    assert list(found) == slowly(references, capacity)


def test_a_block_written_twice_while_it_is_held_is_written_once_below():
    ids, write = np.array([0, 0, 1, 0, 2, 3], np.uint32), np.array([1, 1, 1, 0, 0, 0], bool)
    below, kind, cause = requests_below(ids, write, 2, 4)
    assert list(zip(below.tolist(), kind.tolist(), cause.tolist(), strict=True)) == [
        (1, True, 4),
        (2, False, 4),
        (0, True, 5),
        (3, False, 5),
    ]


def test_without_writes_the_misses_of_lru_pass():
    ids = np.random.default_rng(1).integers(0, 50, 2000).astype(np.uint32)
    below, kind, _ = requests_below(ids, None, 20, 50)
    assert not kind.any()
    assert below.tolist() == [block for block, _, _ in slowly([(int(block), False) for block in ids], 20)]


def test_impossible_calls_are_refused():
    with pytest.raises(ParameterError, match="0 blocks"):
        requests_below(np.zeros(1, np.uint32), None, 0, 1)
    with pytest.raises(IndexError, match="ids hold block 7; expected ids below 7"):
        requests_below(np.array([6, 7], np.uint32), None, 1, 7)
    short, flags = np.zeros(1, np.uint32), np.zeros(1, np.uint8)
    with pytest.raises(IndexError, match="longer arrays"):
        pass_down(short, flags, 1, 1, short, flags, short)
