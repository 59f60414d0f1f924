"""Measure HAC on this machine: hit time line by line (Table 3), and the operations of a fetch.

These times are measured on this machine's processor instead of priced. They vary between runs and are kept in separate
tables that no claim reads.

Hit time is measured by differences. The same traversal is compiled seven times, first bare and then with one more
mechanism each time, and run on the contents of a cache. A mechanism's line is the median of its step minus the median
of the step before, so the lines add up. The mechanisms indirection, swizzling, residency checks and usage bits are
those of `misspenalty_studies.hac.objects`. Our caches do not need the other two, because nothing throws and no other
transaction runs, so the traversal imitates them: for concurrency control it tests and sets one bit per object in the
transaction's read set; for exceptions it tests a status in memory after each call, as in the priced table.
"""

import time

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.hac.objects.cache import HAC, TIMED
from misspenalty_studies.hac.objects.traversals import HIT_STEPS, Ladder, Program, ticks_per_second
from misspenalty_studies.hac.runs import MB


def hit_time(data, cache_mb, repeats=9):
    """Measure the hit time of hot T1 and T6 line by line, in a cache that holds everything.

    Parameters
    ----------
    data : Database
    cache_mb : float
    repeats : int
        Number of rounds; in each round, every step runs once, after an untimed run.

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, line, seconds, low, high, accesses``: `HIT_STEPS` in the order in which they were added,
        with the quartiles of the differences within rounds; then ``cache``, the traversal on the real cache, which
        additionally keeps the program's activation records for the stack scan and counts operations, but lacks the last
        two mechanisms.

    Raises
    ------
    ParameterError
        The traversal still misses when the cache is hot.
    """
    tables = []
    for name in ("T1", "T6"):
        cache = HAC(data, int(cache_mb * MB))
        program = Program(cache, data)
        program.run(name)
        cache.log()
        whole = [_seconds(program, name) for _ in range(repeats + 1)][1:]
        pages, counts = cache.log()
        if pages.any():
            raise ParameterError(
                f"{name} still misses with {cache_mb:g} MB; choose a larger cache: hit time excludes misses"
            )
        ladder = Ladder(program, name)
        rounds = np.array([ladder.round() for _ in range(repeats)])
        medians = np.median(rounds, axis=0)
        low, high = np.quantile(np.diff(rounds, axis=1, prepend=0), (0.25, 0.75), axis=0)
        table = pd.DataFrame({"line": HIT_STEPS, "seconds": np.diff(medians, prepend=0), "low": low, "high": high})
        table.loc[len(table)] = ["cache", np.median(whole), *np.quantile(whole, (0.25, 0.75))]
        table["accesses"] = int(counts[-1, 0] - counts[-2, 0])
        table.insert(0, "traversal", name)
        table.insert(1, "cache_mb", cache_mb)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _seconds(program, name):
    begin = time.thread_time()
    program.run(name)
    return time.thread_time() - begin


def penalty(data, points_mb, iterations=3):
    """Measure the time of each operation of a fetch, as the median over the fetches of the last iteration.

    A timer costs about 20 ns. Conversion is timed separately for each object installed and each reference swizzled, so
    it is overestimated by that much each time.

    Parameters
    ----------
    data : Database
    points_mb : dict of str to float
        Cache sizes by traversal.
    iterations : int

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, operation, us, fetches``; traversals that fetch nothing are left out.
    """
    rate, rows = ticks_per_second(), []
    for name, size in points_mb.items():
        cache = HAC(data, int(size * MB))
        cache.time_operations()
        program = Program(cache, data)
        for _ in range(iterations):
            start = len(cache.kernel.fetched)
            program.run(name)
        spent = np.diff(cache.timed()[start:], axis=0)
        if len(spent):
            medians = 1e6 * np.median(spent, axis=0) / rate
            rows += [(name, size, what, median, len(spent)) for what, median in zip(TIMED, medians, strict=True)]
    return pd.DataFrame(rows, columns=["traversal", "cache_mb", "operation", "us", "fetches"])
