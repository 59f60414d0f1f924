"""Compute the MQ study's Figure 7: transaction rates from a closed-loop model of the paper's testbed.

Paper: Y. Zhou, J. F. Philbin, K. Li, "The Multi-Queue replacement algorithm for second level buffer caches", USENIX ATC
2001, "Results". Hits and misses come from replaying the trace; `misspenalty_studies.mq.storage_server.server` simulates
how long they take. No source states the database's processor time per transaction, so it is fitted to one published
ratio, the rate of LRU with a larger cache over that of LRU with the smallest. Every other bar is a prediction.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

import misspenalty
from misspenalty.io.threads import map_in_threads
from misspenalty.replay.simulation import simulate
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.machine import load_machine
from misspenalty_studies.mq.captures import amount
from misspenalty_studies.mq.runs import blocks_of
from misspenalty_studies.mq.storage_server import calibration
from misspenalty_studies.mq.storage_server.server import COMPONENTS, disks_of, outcomes, run, run_live
from misspenalty_studies.mq.storage_server.testbed import StorageServerTestbed

POLICIES = ("mq", "lru")
OBJECTIVE_US, OBJECTIVE_STEP_US = 40_000, 5_000  # grid on which the objective is shown, in addition to the times tried
STEP_US = 100  # step of the processor time, far finer than a printed ratio can resolve
WHOLE = 0.999  # a stream that lasts at least this share of its capture's duration is taken to cover the whole capture


def points(trace, cache_mb, threads=None):
    """Replay each point of Figure 7 and return the outcome of every reference.

    Parameters
    ----------
    trace : Trace
    cache_mb : sequence of float
    threads : int, optional
        Number of concurrent replays.

    Returns
    -------
    dict of (float, str) to uint8 array, shape (len(trace),)
        By (cache size in MB, policy), the outcome of each reference: `HIT`, `MISS` or `WRITE`.
    """

    def replayed(point):
        hits = np.zeros(len(trace), bool)
        simulate(trace, point[1], blocks_of(trace, point[0]), hits=hits)
        return outcomes(hits, trace.write)

    keys = [(mb, policy) for mb in cache_mb for policy in POLICIES]
    return dict(zip(keys, map_in_threads(replayed, keys, threads), strict=True))


def transaction_rates(
    trace, machine, found, reads_per_transaction, *, fitted_mb, target, span, seed, variant="", threads=None
):
    """Fit the processor time, then simulate every point with it.

    Parameters
    ----------
    trace : Trace
    machine : Machine
        The testbed, from `load_machine`.
    found : dict
        Outcomes from `points`.
    reads_per_transaction : float
        Reads of the capture, divided by the transactions that the database completed meanwhile.
    fitted_mb : float
        Cache size of the fitted bar: the fit is to LRU's rate with this cache over LRU's rate with the smallest cache.
    target : float
        That ratio, as published.
    span : (int, int)
        Range of the processor time, us per transaction.
    seed : int
        Seed of the disks' service times, where they are exponential.
    variant : str
        Name of the variant in the fit's row.
    threads : int, optional
        Number of concurrent runs; the result does not depend on it.

    Returns
    -------
    rates : DataFrame
        ``cache_mb, policy, normalized_rate`` (relative to LRU with the smallest cache), ``hit_ratio_pct`` of the reads
        that were timed, ``timed_hit_ratio_pct`` and ``timed_normalized_rate`` of the live run, ``miss_time_share_pct``
        (the misses' share of the time that reads spend outside the database), ``rate_per_s``, and the counts, mean
        latencies (us) and utilisations of each point. In the live run, which represents the paper's implementation, the
        cache is inside the server and each terminal has its own stretch of the trace.
    components : DataFrame
        ``cache_mb, policy, component, us``: mean time that a transaction spends in the component.
    fit : DataFrame
        One row: ``parameter, variant``, the attributes of `calibration.DatabaseCpuFit`, and the range of the times
        whose ratio rounds to the target (``within_low_us, within_high_us``; empty if there is no such time).
    objective : DataFrame
        ``cpu_us, ratio, target``: every processor time that was tried, with the ratio of the rates; the table shows how
        flat the objective is.

    Raises
    ------
    ParameterError
        `span` is empty or negative; or as in `run` and `run_live`.
    """
    baseline, compared = (min(mb for mb, _ in found), "lru"), (fitted_mb, "lru")
    disk = disks_of(trace, machine.testbed)

    def time(cpu_us, chosen):
        testbed = replace(machine.testbed, database_cpu_us=cpu_us)

        def run_point(point):
            return run(found[point], disk, testbed, reads_per_transaction, np.random.default_rng(seed))

        return dict(zip(chosen, map_in_threads(run_point, chosen, threads), strict=True))

    tried = {}

    def ratio(cpu_us):
        if cpu_us not in tried:
            timed = time(cpu_us, [baseline, compared])
            tried[cpu_us] = timed[compared].rate_per_s / timed[baseline].rate_per_s
        return tried[cpu_us]

    fit = calibration.fit_database_cpu(ratio, target, *span, STEP_US)
    timed = time(fit.value_us, list(found))
    testbed = replace(machine.testbed, database_cpu_us=fit.value_us)
    live = _live(trace, testbed, found, reads_per_transaction, seed, threads)
    low, high = calibration.compatible(ratio, target, *span, STEP_US) or (None, None)
    row = {"parameter": "database_cpu_us", "variant": variant, **vars(fit)}
    for cpu_us in range(span[0], span[0] + OBJECTIVE_US + 1, OBJECTIVE_STEP_US):
        ratio(cpu_us)
    objective = pd.DataFrame(sorted(tried.items()), columns=["cpu_us", "ratio"]).assign(target=target)
    fit = pd.DataFrame([row | {"within_low_us": low, "within_high_us": high}])
    return _rates(timed, live, baseline), _components(timed), fit, objective


def _live(trace, testbed, found, reads_per_transaction, seed, threads):
    def run_point(point):
        mb, policy = point
        generator = np.random.default_rng(seed)
        return run_live(trace, policy, blocks_of(trace, mb), testbed, reads_per_transaction, generator)

    return dict(zip(found, map_in_threads(run_point, found, threads), strict=True))


def _rates(timed, live, baseline):
    base, live_base = timed[baseline].rate_per_s, live[baseline].rate_per_s
    rows = [
        {
            "cache_mb": mb,
            "policy": policy,
            "normalized_rate": outcome.rate_per_s / base,
            "hit_ratio_pct": 100 * outcome.hits / outcome.reads,
            "timed_hit_ratio_pct": 100 * live[mb, policy].hit_ratio,
            "timed_normalized_rate": live[mb, policy].rate_per_s / live_base,
            "miss_time_share_pct": 100 * outcome.access_time_shares()["miss"],
            **outcome.row(),
        }
        for (mb, policy), outcome in timed.items()
    ]
    return pd.DataFrame(rows)


def _components(timed):
    rows = [
        (mb, policy, component, outcome.transaction_ns[component] / 1000 / max(outcome.transactions, 1))
        for (mb, policy), outcome in timed.items()
        for component in COMPONENTS
    ]
    return pd.DataFrame(rows, columns=["cache_mb", "policy", "component", "us"])


def recorded_reads(trace, facts, raw):
    """Return the number of reads that reach the server per transaction of the database.

    Parameters
    ----------
    trace : Trace
        A whole capture, or the stream behind a first level simulated over it or over its head. The stream has fewer
        reads for the same transactions; a head has a share of the transactions in proportion to its duration.
    facts : path-like
        ``captures.yaml``, which the capture program wrote next to its captures.
    raw : path-like
        The capture's file.

    Returns
    -------
    float

    Raises
    ------
    InputError
        `facts` lacks the capture's transactions or, if the trace has times, its duration.
    """
    transactions, share = amount(facts, raw, "transactions", "all"), 1.0
    if trace.time is not None:
        share = (int(trace.time[-1]) - int(trace.time[0])) / 1e9 / amount(facts, raw, "duration_s")
    return trace.reads / (transactions * (share if share < WHOLE else 1))


def fig7(trace, facts, machine, calibration, raw, capture, cache_mb, seed, threads):
    """Fit the model on one capture and compute every bar of Figure 7 (a workflow job).

    Parameters
    ----------
    trace, facts, machine, calibration, raw : path-like
        Compiled trace, ``captures.yaml``, the testbed, ``data/calibration.yaml``, and the capture's file.
    capture : str
        Name of the capture.
    cache_mb : sequence of float
    seed, threads : int

    Returns
    -------
    dict of str to DataFrame
        ``rates, components, fit, objective``, see `transaction_rates`.
    """
    (fit,) = [fit for fit in load_calibration(calibration) if fit.parameter == "database_cpu_us"]
    (published,) = fit.published
    opened = misspenalty.open_trace(trace)
    tables = transaction_rates(
        opened,
        load_machine(machine, kind=StorageServerTestbed),
        points(opened, cache_mb, threads=threads),
        recorded_reads(opened, facts, raw),
        fitted_mb=published["where"]["cache_mb"],
        target=published["value"],
        span=fit.range,
        seed=seed,
        variant=capture,
        threads=threads,
    )
    return dict(zip(("rates", "components", "fit", "objective"), tables, strict=True))


def fig7_sensitivity(trace, facts, machine, fit, raw, cache_mb, seed, threads):
    """Simulate the transaction rates of `fig7` as the testbed's parameters vary one at a time (a workflow job).

    Returns
    -------
    DataFrame
        From `calibration.sensitivity`, with the processor time of the table `fit`.
    """
    opened = misspenalty.open_trace(trace)
    machine = load_machine(machine, kind=StorageServerTestbed)
    return calibration.sensitivity(
        machine,
        replace(machine.testbed, database_cpu_us=int(pd.read_csv(fit)["value_us"].item())),
        opened,
        points(opened, cache_mb, threads=threads),
        recorded_reads(opened, facts, raw),
        baseline=(min(cache_mb), "lru"),
        seed=seed,
        threads=threads,
    )
