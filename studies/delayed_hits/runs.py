"""Run the delayed-hits study: the step model on three traces, and response times on captured and generated traces."""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import misspenalty
from misspenalty.latency.penalty import penalty
from misspenalty.latency.steps import POLICIES, delayed_hits
from misspenalty.traces.spc1 import Workload, write_spc
from misspenalty.traces.trace import Trace
from misspenalty_studies.delayed_hits.workloads import bursts, read_steps, zipf

SHARES_PCT = (1, 5, 10, 25)  # cache sizes of the step model, in % of `most_active`
FETCH_STEPS = (1, 5, 20, 100, 500)
LONGER_FETCHES = (1000, 2000, 5000)
EXPONENTS = (0.6, 1.2, 1.5, 2.0)  # exponents of the Zipf trace, in place of 0.9
COUNTS = ("requests", "hits", "delayed_hits", "misses", "total_latency", "mean_latency")
ONLINE = ("2q", "arc", "car", "fifo", "lirs", "lru", "mq", "s3fifo", "sieve", "wtinylfu")
DEVICES = {  # name -> how requests arrive; drives could not keep up with the captures' own request times
    "200us": {},
    "5ms": {},
    "50ms": {},
    "dc_p3700": {"clients": 16},
    "cheetah9lp": {"clients": 16},
}


def step_runs(sample, fetch_steps=FETCH_STEPS) -> pd.DataFrame:
    """Run every policy of the step model on the authors' sample and the two generated traces.

    Parameters
    ----------
    sample : path-like
        The authors' sample, see `read_steps`.
    fetch_steps : sequence of int

    Returns
    -------
    DataFrame
        One row per run: ``trace, policy, cache_pct, cache_entries, fetch_steps, requests, hits, delayed_hits, misses,
        total_latency, mean_latency``, with latencies in steps. A size is a share of `most_active`, rounded half up, and
        at least 1.
    """
    return runs_on({"sample": read_steps(sample), "syn_zipf": zipf(), "syn_bursts": bursts()}, fetch_steps)


def under_conditions(sample) -> dict:
    """Repeat the runs with longer fetches, and with other exponents of the Zipf trace (a workflow job).

    Parameters
    ----------
    sample : path-like
        As in `step_runs`.

    Returns
    -------
    dict of str to DataFrame
        ``runs``, with a column ``condition``. Runs with a longer fetch replace those with the longest judged fetch and
        have its ``fetch_steps``; ``condition`` says how long the fetch really was.
    """
    judged, parts = step_runs(sample), []
    longest = judged["fetch_steps"] == FETCH_STEPS[-1]
    for z in LONGER_FETCHES:
        longer = step_runs(sample, (z,)).assign(fetch_steps=FETCH_STEPS[-1])
        longer = pd.concat([judged[~longest], longer])
        parts.append(longer.assign(condition=f"fetches of {z} steps"))
    for exponent in EXPONENTS:
        skewed = pd.concat([judged[judged["trace"] != "syn_zipf"], runs_on({"syn_zipf": zipf(exponent=exponent)})])
        parts.append(skewed.assign(condition=f"Zipf trace with an exponent of {exponent:g}"))
    return {"runs": pd.concat(parts, ignore_index=True)}


def runs_on(traces, fetch_steps=FETCH_STEPS) -> pd.DataFrame:
    """Run every policy of the step model on some traces.

    Parameters
    ----------
    traces : dict of str to ndarray of int
        The object requested at each step, -1 for none.
    fetch_steps : sequence of int

    Returns
    -------
    DataFrame
        As in `step_runs`.
    """
    rows = []
    for name, steps in traces.items():
        most = most_active(steps)
        for pct in SHARES_PCT:
            size = max((2 * most * pct + 100) // 200, 1)
            for z in fetch_steps:
                for policy in POLICIES:
                    run = delayed_hits(steps, policy, size, z)
                    row = {"trace": name, "policy": policy, "cache_pct": pct, "cache_entries": size, "fetch_steps": z}
                    rows.append(row | {count: getattr(run, count) for count in COUNTS})
    return pd.DataFrame(rows)


def most_active(steps) -> int:
    """Return the largest number of objects that are simultaneously between their first and their last request.

    Examples
    --------
    >>> most_active(np.array([1, 2, 1, 2, 3, -1, 3]))
    2
    """
    asked = np.flatnonzero(steps >= 0)
    _, first = np.unique(steps[asked], return_index=True)
    _, last = np.unique(steps[asked][::-1], return_index=True)
    change = np.zeros(len(steps) + 1, np.int64)
    np.add.at(change, asked[first], 1)
    np.add.at(change, asked[len(asked) - 1 - last] + 1, -1)
    return int(change.cumsum().max())


def head(trace, references) -> Trace:
    """Return the first references of a trace, as a trace."""
    ids = np.asarray(trace.ids[:references])
    return Trace(
        ids,
        None if trace.write is None else np.asarray(trace.write[:references]),
        None if trace.time is None else np.asarray(trace.time[:references]),
        np.asarray(trace.address[: int(ids.max()) + 1]),
        trace.block_bytes,
        trace.name,
        trace.format,
    )


def spc1(bsus, requests, seed) -> Trace:
    """Return an SPC-1-like trace of 16 GB with a load of `bsus` business scaling units."""
    with tempfile.TemporaryDirectory(prefix="misspenalty-") as folder:
        path = Path(folder) / f"spc1_{bsus}.spc"
        write_spc(Workload(16 << 30, bsus=bsus, seed=seed), path, requests)
        return misspenalty.open_trace(path)


def response_times(captures, references=100_000, sizes_pct=(1, 5, 20), spc1_bsus=(4, 40), seed=1) -> pd.DataFrame:
    """Measure the hit ratio and response time of every policy in `ONLINE`, on several traces, sizes and devices.

    Parameters
    ----------
    captures : dict of str to path-like
        Captured traces by name; the head of each is replayed.
    references : int
        References replayed per trace.
    sizes_pct : sequence of float
        Cache sizes, % of the distinct blocks replayed.
    spc1_bsus : sequence of int
        Loads of the SPC-1-like traces, business scaling units of 50 requests per second.
    seed : int
        Seed of the SPC-1-like traces.

    Returns
    -------
    DataFrame
        One row per trace, policy, size and device: ``trace, cache_pct, hit_ratio`` (from `misspenalty.simulate`, which
        has no times) and the columns of `misspenalty.penalty`. The first tenth of the references is not counted.
    """
    traces = {name: head(misspenalty.open_trace(path), references) for name, path in captures.items()}
    for bsus in spc1_bsus:
        traces[f"spc1_{bsus}"] = head(spc1(bsus, references, seed), references)
    parts = []
    for name, trace in traces.items():
        warm_up = len(trace) // 10
        for pct in sizes_pct:
            size = max(round(trace.blocks * pct / 100), 2)
            ratio = {p: misspenalty.simulate(trace, p, size, warm_up=warm_up).hit_ratio for p in ONLINE}
            for device, load in DEVICES.items():
                table = penalty(trace, ONLINE, size, device, warm_up=warm_up, threads=1, **load)
                table.insert(0, "trace", name)
                table.insert(1, "cache_pct", pct)
                table.insert(4, "hit_ratio", table["policy"].map(ratio))
                parts.append(table)
    return pd.concat(parts, ignore_index=True)
