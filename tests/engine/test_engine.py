"""The event engine pops in the order of Python's heapq, and the FCFS server follows its definition."""

import heapq

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from misspenalty.engine._engine import EventQueue, fcfs

TIMES = st.integers(-(2**62), 2**62) | st.integers(0, 3)  # the second range makes ties
EVENTS = st.lists(st.none() | st.tuples(TIMES, st.integers(0, 255) | st.integers(0, 1), st.integers()), max_size=400)


@given(EVENTS, st.integers(1, 70))
def test_pops_in_the_order_of_heapq(steps, room):
    """A step that is None pops an event; any other pushes (time, priority), numbered in order of arrival."""
    queue, truth, sequence = EventQueue(room), [], 0
    for step in steps:
        if step is None and truth:
            assert queue.pop() == heapq.heappop(truth)
        elif step is not None:
            time, priority, what = step[0], step[1], step[2] % 2**63
            queue.push(time, priority, what)
            heapq.heappush(truth, (time, priority, sequence, what))
            sequence += 1
        assert len(queue) == len(truth)
    assert [queue.pop() for _ in range(len(queue))] == [heapq.heappop(truth) for _ in range(len(truth))]


@given(st.permutations(list(range(40))))
def test_supplied_sequence_numbers_break_ties(order):
    queue = EventQueue()
    for sequence in order:
        queue.push(7, 1, 100 + sequence, sequence)
    queue.push(7, 0, -1, 2**56 - 1)
    assert queue.pop() == (7, 0, 2**56 - 1, -1)
    assert [queue.pop() for _ in range(40)] == [(7, 1, sequence, 100 + sequence) for sequence in range(40)]


def test_equal_events_leave_in_order_of_arrival():
    queue = EventQueue(1)
    for what in range(1000):
        queue.push(5, 3, what)
    assert [queue.pop()[3] for _ in range(1000)] == list(range(1000))


def test_grows_from_one_event_to_many():
    times = np.random.default_rng(1).integers(0, 1 << 40, 100_000).tolist()
    queue = EventQueue(1)
    for time in times:
        queue.push(time, 0, 0)
    assert [queue.pop()[0] for _ in times] == sorted(times)


def test_misuse_is_refused():
    queue = EventQueue()
    with pytest.raises(IndexError, match="no event"):
        queue.pop()
    with pytest.raises(ValueError, match="0 to 255"):
        queue.push(0, 256, 0)
    with pytest.raises(ValueError, match=r"2\*\*56"):
        queue.push(0, 0, 0, 2**56)


def test_events_that_find_no_memory_are_named():
    with pytest.raises(MemoryError, match="no memory for 144115188075855872 pending events, 24 bytes each"):
        EventQueue(2**57)


def test_fcfs_server_by_hand():
    """The server is idle until 10; the second request waits for the first; the third finds the server idle again."""
    assert fcfs([10, 12, 40], [5, 7, 1]) == [15, 22, 41]


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=100))
def test_fcfs_server_follows_the_lindley_recursion(requests):
    """The waiting time must be W' = max(0, W + service - gap)."""
    arrivals = np.cumsum([gap for gap, _ in requests], dtype=int).tolist()
    services = [service for _, service in requests]
    wait, expected = 0, []
    for index, (arrival, service) in enumerate(zip(arrivals, services, strict=True)):
        if index:
            wait = max(0, wait + services[index - 1] - requests[index][0])
        expected.append(arrival + wait + service)
    assert fcfs(arrivals, services) == expected
