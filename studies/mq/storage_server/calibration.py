"""Fit the database's processor time in the storage-server model, and vary the testbed's parameters."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty_studies.mq.storage_server.server import disks_of, run


@dataclass(frozen=True)
class DatabaseCpuFit:
    """A fitted processor time.

    Attributes
    ----------
    value_us : int
        Processor time, us per transaction.
    target, reached : float
        Ratio of the rates: as published, and in the model with `value_us`.
    at_bound : bool
        Whether the target is out of the model's reach; `value_us` is then the end of the range whose ratio is closer to
        the target.
    low_us, high_us : int
        Range of the fit.
    lowest, highest : float
        Ratios in the model at `high_us` and at `low_us`, the ends of the range that it can reach.
    """

    value_us: int
    target: float
    reached: float
    at_bound: bool
    low_us: int
    high_us: int
    lowest: float
    highest: float


def fit_database_cpu(run_ratio, target, low, high, step=1):
    """Find by bisection the processor time per transaction at which two rates have the published ratio.

    The more a transaction computes, the less a larger cache helps, so the ratio falls from its disk-bound value to 1.
    Where the disks are the bottleneck, the ratio is almost constant, and the model's noise can make it rise; in that
    case, `compatible` returns the range of processor times that fit equally well.

    Parameters
    ----------
    run_ratio : callable
        Maps the processor time, us per transaction (int), to the ratio of the rates, which falls as the time grows.
    target : float
        Ratio to reach.
    low, high : int
        Range, us.
    step : int
        Largest allowed distance between the two times that bracket the target, us.

    Returns
    -------
    DatabaseCpuFit
        Its `value_us` is one of the two times that bracket the target or, if the target is out of reach, an end of the
        range: the one whose ratio is closer to the target, the smaller time on a tie.

    Raises
    ------
    ParameterError
        The range is empty or negative.
    """
    if not 0 <= low < high:
        raise ParameterError(f"the range is {low} to {high} us; expected 0 <= low < high")
    tried = {low: run_ratio(low), high: run_ratio(high)}
    left, right = low, high
    reached = tried[high] <= target <= tried[low]
    while reached and right - left > step:
        middle = (left + right) // 2
        tried[middle] = run_ratio(middle)
        left, right = (middle, right) if tried[middle] >= target else (left, middle)
    ends = (left, right) if reached else (low, high)
    value = min(ends, key=lambda us: (abs(tried[us] - target), us))
    return DatabaseCpuFit(value, target, tried[value], not reached, low, high, tried[high], tried[low])


def compatible(run_ratio, target, low, high, step=1):
    """Return the range of processor times whose ratio, rounded as printed, equals the published one.

    Parameters
    ----------
    run_ratio, target, low, high, step
        Same as in `fit_database_cpu`. The decimals of `target` are taken to be those printed: 1.08 means 1.075 to
        1.085. A float does not keep a printed final zero, so 1.10 means 1.05 to 1.15.

    Returns
    -------
    (int, int) or None
        Lowest and highest such time, us, to within `step`; None if there is none in the range.
    """
    half = 0.5 * 10.0 ** -len(f"{target:g}".partition(".")[2])
    ends = []
    for edge, end in ((target + half, low), (target - half, high)):
        at_end = run_ratio(end)
        inside = at_end <= edge if end == low else at_end >= edge
        ends.append(end if inside else fit_database_cpu(run_ratio, edge, low, high, step))
    if any(isinstance(end, DatabaseCpuFit) and end.at_bound for end in ends):
        return None
    return tuple(end.value_us if isinstance(end, DatabaseCpuFit) else end for end in ends)


def sensitivity(machine, testbed, trace, outcomes, reads_per_transaction, baseline, seed, threads=None):
    """Simulate normalised rates as the testbed's parameters vary one at a time.

    Parameters
    ----------
    machine : Machine
        Machine whose file lists the values to try.
    testbed : StorageServerTestbed
        The study's testbed, with its fitted processor time.
    trace : Trace
    outcomes : dict of hashable to uint8 array, shape (len(trace),)
        Outcome of each reference, by point, such as ``(cache_mb, policy)``.
    reads_per_transaction : float
    baseline : hashable
        Point by whose rate the rates are divided, for all points under the same variation.
    seed : int
        Seed of the exponential service times; each run draws the same.
    threads : int, optional
        Number of concurrent runs; by default one per processor. The result does not depend on it.

    Returns
    -------
    DataFrame
        ``parameter, value, cache_mb, policy, rate_per_s, normalized_rate``; the first rows, with parameter ``none``,
        are for the unvaried testbed.

    Raises
    ------
    ParameterError
        `baseline` is not among the points; or as in `run`.
    """
    if baseline not in outcomes:
        raise ParameterError(f"baseline {baseline!r} is not one of the points {list(outcomes)}")
    variations = [("none", ""), *machine.variations(testbed)]
    placed = {}

    def rate(variation, point):
        name, value = variation
        varied = testbed if name == "none" else replace(testbed, **{name: value})
        disk = placed[varied.stripe_blocks]
        return run(outcomes[point], disk, varied, reads_per_transaction, np.random.default_rng(seed)).rate_per_s

    for unit in {testbed.stripe_blocks} | {value for name, value in variations if name == "stripe_blocks"}:
        placed[unit] = disks_of(trace, replace(testbed, stripe_blocks=unit))
    jobs = [(variation, point) for variation in variations for point in outcomes]
    rates = dict(zip(jobs, map_in_threads(lambda job: rate(*job), jobs, threads), strict=True))
    rows = []
    for (variation, point), per_s in rates.items():
        base = rates[variation, baseline]
        rows.append((variation[0], _text(variation[1]), *point, per_s, per_s / base))
    return pd.DataFrame(rows, columns=["parameter", "value", "cache_mb", "policy", "rate_per_s", "normalized_rate"])


def _text(value):
    """Return a varied value as text, since one column holds numbers, words and booleans."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:g}"
