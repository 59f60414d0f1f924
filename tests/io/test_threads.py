"""Test jobs in threads: they run side by side, their results keep the order, and the first error ends them."""

import threading
import time

import pytest

from misspenalty.errors import ParameterError
from misspenalty.io.threads import in_threads, map_in_threads


def test_items_run_side_by_side_and_keep_their_order():
    both = threading.Barrier(2, timeout=60)

    def wait(item):
        both.wait()
        return -item

    assert map_in_threads(wait, [3, 1, 2, 4], threads=2) == [-3, -1, -2, -4]


def test_an_error_leaves_out_what_has_not_begun():
    begun = []

    def run(item):
        begun.append(item)
        if item == 0:
            raise ValueError("the first one")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="the first one"):
        map_in_threads(run, range(1000), threads=2)
    assert 0 in begun and len(begun) < 1000


@pytest.mark.parametrize("threads", [0, 1.5])
def test_an_impossible_number_of_threads_is_refused(threads):
    with pytest.raises(ParameterError, match="threads"):
        map_in_threads(abs, [1, 2], threads)


@pytest.mark.parametrize(("jobs", "threads"), [(3, 1), (1, 3)])
def test_jobs_one_after_another_need_no_thread(jobs, threads):
    told = []

    def job(advance):
        advance(7)
        return threading.current_thread()

    assert in_threads([job] * jobs, told.append, threads) == [threading.current_thread()] * jobs
    assert told == [7] * jobs


def test_jobs_in_threads_tell_how_far_they_are():
    told = []
    in_threads([lambda advance: advance(5)] * 3, told.append, 2)
    assert told == [5] * 3


@pytest.mark.parametrize("order", [1, -1])
def test_an_error_ends_jobs_that_have_begun(order):
    running, ended = threading.Barrier(2, timeout=60), []

    def fails(advance):
        running.wait()
        raise ValueError("no such block")

    def runs_on(advance):
        running.wait()
        left = 3_000_000
        try:
            while left:
                advance(1)
                left -= 1
        finally:
            ended.append(left > 0)

    with pytest.raises(ValueError, match="no such block"):
        in_threads([fails, runs_on][::order], lambda references: None, 2)
    assert ended == [True]
