"""Run independent jobs in threads, which an error or Ctrl-C stops; kernels run in parallel, as they release the GIL."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any, TypeAlias, TypeVar

from misspenalty.errors import check_whole
from misspenalty.io.later import pd

MAX_THREADS = 1 << 16
Item = TypeVar("Item")
Made = TypeVar("Made")
Job: TypeAlias = Callable[[Callable[[int], Any]], "pd.DataFrame"]  # calls its argument to report replayed references


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: Any) -> int:
    """Return the number of threads after checking it; None means one thread per processor.

    Raises
    ------
    ParameterError
        The number is not a whole number from 1 to `MAX_THREADS`.

    Examples
    --------
    >>> check_threads(3)
    3
    """
    if threads is None:
        return processors()
    return check_whole("threads", threads, 1, MAX_THREADS)


class _Stopped(Exception):
    """Exception that ends a thread whose result is no longer needed."""


def in_threads(
    jobs: Sequence[Callable[[Callable[[int], Any]], Made]], advance: Callable[[int], Any], threads: int
) -> list[Made]:
    """Run the jobs and return their results; after an error or Ctrl-C, each job stops when it next calls `advance`."""
    stop = threading.Event()

    def advance_or_stop(references: int) -> None:
        if stop.is_set():
            raise _Stopped
        advance(references)

    if threads == 1 or len(jobs) == 1:
        return [job(advance) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        try:
            running: list[Future[Made]] = [pool.submit(job, advance_or_stop) for job in jobs]
            wait(running, return_when=FIRST_EXCEPTION)
            for job in filter(Future.done, running):
                job.result()  # raise the error of a job that failed
            return [job.result() for job in running]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def map_in_threads(function: Callable[[Item], Made], items: Iterable[Item], threads: int | None) -> list[Made]:
    """Return the result of a function for each item, in the order of the items.

    Parameters
    ----------
    function : callable
        Called with one item; it must not modify shared state, except under a lock.
    items : iterable
    threads : int or None
        The number of threads; None for one per processor.

    Returns
    -------
    list

    Examples
    --------
    >>> map_in_threads(abs, [-1, 2], threads=2)
    [1, 2]
    """
    jobs = [lambda advance, item=item: function(item) for item in items]
    return in_threads(jobs, lambda references: None, check_threads(threads))
