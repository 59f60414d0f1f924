"""Jobs run in as many threads as asked for, and the first error ends those that run and those that wait."""

import threading

import pytest

from misspenalty.replay.threads import in_threads


def test_two_threads_run_two_jobs_at_a_time():
    together = threading.Barrier(2)
    told = []

    def job(advance):
        together.wait(timeout=60)  # raises an error unless the other job runs as well
        advance(5)
        return threading.current_thread()

    ran_in = in_threads([job, job], told.append, 2)
    assert ran_in[0] != ran_in[1] and told == [5, 5]


@pytest.mark.parametrize(("jobs", "threads"), [(3, 1), (1, 3)])
def test_jobs_one_after_another_need_no_thread(jobs, threads):
    told = []

    def job(advance):
        advance(7)
        return threading.current_thread()

    assert in_threads([job] * jobs, told.append, threads) == [threading.current_thread()] * jobs
    assert told == [7] * jobs


def test_an_error_ends_the_other_jobs():
    running, ended, begun = threading.Barrier(2), [], []

    def fails(advance):
        running.wait(timeout=60)
        raise ValueError("no such block")

    def runs_on(advance):
        running.wait(timeout=60)
        try:
            while True:
                advance(1)
        finally:
            ended.append(True)

    def waits(advance):
        begun.append(True)
        advance(1)

    with pytest.raises(ValueError, match="no such block"):
        in_threads([fails, runs_on, *[waits] * 1000], lambda references: None, 2)
    assert ended == [True] and len(begun) < 1000
