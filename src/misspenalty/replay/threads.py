"""Run independent replays in parallel threads, which an error or Ctrl-C stops."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

from misspenalty.errors import check_whole
from misspenalty.io.later import pd

MAX_THREADS = 1 << 16
Made = TypeVar("Made")
Job: TypeAlias = Callable[[Callable[[int], Any]], "pd.DataFrame"]  # takes a function that counts references


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_threads(threads: Any) -> int:
    """Return the number of threads, after checking it; None stands for one per processor.

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
    """Raised in a thread whose result is no longer wanted."""


def in_threads(
    jobs: Sequence[Callable[[Callable[[int], Any]], Made]], advance: Callable[[int], Any], threads: int
) -> list[Made]:
    """Run the jobs; an error or Ctrl-C stops the others when they next call the function that they are given."""
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
            return [job.result() for job in running]
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
