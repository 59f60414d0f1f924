"""Independent replays in parallel threads, which an error or Ctrl-C stops."""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeAlias

import pandas as pd

Job: TypeAlias = Callable[[Callable[[int], Any]], pd.DataFrame]  # takes a function that counts references


def processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Stopped(Exception):
    """Raised in a thread whose result is no longer wanted."""


def in_threads(jobs: Sequence[Job], advance: Callable[[int], Any], threads: int) -> list[pd.DataFrame]:
    """Run the jobs; an error or Ctrl-C stops the others at their next slice."""
    stop = threading.Event()

    def advance_or_stop(references: int) -> None:
        if stop.is_set():
            raise _Stopped
        advance(references)

    if threads == 1 or len(jobs) == 1:
        return [job(advance) for job in jobs]
    with ThreadPoolExecutor(threads) as pool:
        running: list[Future[pd.DataFrame]] = [pool.submit(job, advance_or_stop) for job in jobs]
        try:
            return [job.result() for job in running]
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
