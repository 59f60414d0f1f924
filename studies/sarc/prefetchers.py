"""Compare AMP with prefetchers of a fixed degree in the study's controller, on two kinds of load.

Paper: B. S. Gill, L. A. D. Bathen, "AMP: Adaptive Multi-stream Prefetching in a Shared Cache", FAST 2007, which
compares AMP with prefetching of a fixed degree on an LRU cache, either on a miss only (FS) or ahead of the stream as
well (FA, with the trigger at half the degree, which is also our default for SARC's prefetcher). Here each prefetcher
runs in front of LRU Top, which is that LRU cache, and in front of SARC.

The runs were decided on 2026-11-24, before any result: degrees of 4, 8 (this study's) and 16 tracks; three loads of
each configuration; a hundred streams of 256 KB reads for each array of the model, over four cache sizes, at a rate that
the drives can serve and at one that they cannot. The host does not stripe these streams, so the controller sees them
whole. SARC's prefetcher is FA with the study's degree; factors are relative to it, seed by seed. After a first look,
the size of 64 MB (of 64, 256, 1024 and 8192) was replaced by 2048: in the two smallest, a stream's tracks are evicted
before its next read, so no stream is detected and no prefetcher does anything.
"""

import itertools
import sys
from dataclasses import replace

import pandas as pd

from misspenalty import disks
from misspenalty.io.threads import map_in_threads
from misspenalty.traces.streams import Streams
from misspenalty_studies.common.statistics import half_widths
from misspenalty_studies.sarc.array.controller import StorageController
from misspenalty_studies.sarc.runs import CONFIGS, LOADS, TRACK, Run, fitted_shark, read_cache

POLICIES = ("lru_top", "sarc")
FIXED = (4, 8, 16)
PREFETCHERS = {
    **{f"fs{degree}": {"degree": degree, "trigger": -1} for degree in FIXED},
    **{f"fa{degree}": {"degree": degree, "trigger": 0.5} for degree in FIXED},
    "amp": {"prefetcher": "amp"},
}
SARCS = "fa8"  # SARC's own prefetcher in this study, the baseline of the others
STREAMS = "streams"
CASE = ["workload", "load", "cache_mb", "policy"]
MEASURES = ["read_ms", "response_ms", "mb_per_s", "hit_ratio", "unused", "operations_per_request", "utilisation"]


def compare(machine, fitted, settings, seeds, phases, loads, streams, threads):
    """Run every prefetcher in front of both caches, at each load (a workflow job).

    Parameters
    ----------
    machine, fitted : path-like
        ``machine.yaml``, and the table of values that the fit found.
    settings : dict
        As in `misspenalty_studies.sarc.runs.fitted_shark`.
    seeds : sequence of int
        At least two are needed for an interval.
    phases : dict
        ``warm_up_minutes, phase_minutes, discarded_minutes``; streams run for one phase, without a warm-up.
    loads : sequence of int
        Load points to run, as indices from 0 into a configuration's six.
    streams : dict
        ``number, read_kb``, and two lists, ``mb_per_s`` and ``cache_mb`` (full size).
    threads : int
        Number of parallel runs.

    Returns
    -------
    DataFrame
        From `over_seeds`.
    """
    shark, _ = fitted_shark(machine, fitted, settings, phases)

    def run(case):
        workload, cache_mb, rate, policy, prefetcher, seed = case
        changed = shark.with_values(PREFETCHERS[prefetcher] | {"cache_mb": cache_mb})
        if workload == STREAMS:
            rows = [_streams(changed, policy, seed, rate, streams["number"], streams["read_kb"])]
        else:
            rows = _phases(changed, workload, policy, seed, [LOADS[workload][load] for load in loads])
        print(*case, sep=", ", file=sys.stderr)
        keys = {"workload": workload, "cache_mb": cache_mb, "policy": policy, "prefetcher": prefetcher, "seed": seed}
        return [keys | row for row in rows]

    own = itertools.product(CONFIGS, [shark.cache_mb], [None])
    hundred = itertools.product([STREAMS], streams["cache_mb"], streams["mb_per_s"])
    kinds = itertools.product(POLICIES, PREFETCHERS, seeds)
    cases = [(*load, *kind) for load, kind in itertools.product([*own, *hundred], list(kinds))]
    return over_seeds(pd.DataFrame(itertools.chain.from_iterable(map_in_threads(run, cases, threads))))


def _phases(shark, config, policy, seed, loads):
    """Run the load points one after another, as in the study, and return the means of each."""
    peak = LOADS[config][-1]
    run, rows = Run(shark, config, policy, seed, peak), []
    run.load(shark.warm_up_share * peak)
    minutes = [run.minute() for _ in range(shark.warm_up_minutes)]
    for load in loads:
        run.load(load)
        first = len(minutes) + shark.discarded_minutes
        minutes += [run.minute() for _ in range(shark.phase_minutes)]
        rows.append({"load": load} | _means(minutes, first))
    return rows


def _streams(shark, policy, seed, mb_per_s, number, read_kb):
    """Return means for `number` streams per array (a hundred in the study), which the host does not stripe."""
    model = replace(shark, host_stripe_kb=0).model()
    workload = Streams(shark.footprint_bytes("cache_insensitive"), number * model.arrays, read_kb, mb_per_s, seed)
    tracks = -(-workload.blocks // TRACK)
    cache = read_cache(shark, policy, model.cache_pages, tracks)
    controller = StorageController(model, disks.load(shark.drive), cache, tracks * TRACK)
    controller.load(workload.streams * 1e9 / workload.interval_ns)
    minutes = []
    for begin in range(0, shark.phase_minutes * Run.MINUTE, Run.MINUTE):
        end = begin + Run.MINUTE
        reads = workload.requests(begin, end)
        minutes.append(controller.run(*(reads[name] for name in ("time", "block", "blocks", "write")), end))
    row = _means(minutes, shark.discarded_minutes)
    return {"load": mb_per_s, **row, "mb_per_s": row["mb_per_s"] * read_kb * 1024 / 1e6 / model.arrays}


def _means(minutes, first):
    """Return means over a run's minutes from number `first` on; ``mb_per_s`` still holds reads per second, which the
    caller converts."""
    counted = minutes[first:]
    counts = {name: sum(minute.counts[name] for minute in counted) for name in counted[0].counts}
    seconds = sum(minute.seconds for minute in counted)
    fetched = sum(minute.staged["synchronous"] + minute.staged["asynchronous"] for minute in counted)
    unused = counted[-1].state["unused"] - (minutes[first - 1].state["unused"] if first else 0)
    reads, requests = counts["reads"], counts["reads"] + counts["writes"]
    operations = counts["stage_reads"] + counts["destage_reads"] + counts["destage_writes"]
    return {
        "read_ms": sum(minute.response_ns[0] for minute in counted) / max(reads, 1) / 1e6,
        "response_ms": sum(sum(minute.response_ns) for minute in counted) / max(requests, 1) / 1e6,
        "mb_per_s": reads / seconds,
        "hit_ratio": counts["read_hits"] / max(reads, 1),
        "unused": unused / max(fetched, 1),
        "operations_per_request": operations / max(requests, 1),
        "utilisation": sum(minute.utilisation for minute in counted) / len(counted),
    }


def over_seeds(runs):
    """Return means over the seeds with their intervals, and read times and rates relative to SARC's prefetcher.

    Parameters
    ----------
    runs : DataFrame
        ``workload, load, cache_mb, policy, prefetcher, seed`` and `MEASURES`.

    Returns
    -------
    DataFrame
        ``workload, load`` (scaled IOPS, or MB/s of each stream), ``cache_mb`` (full size), ``policy, prefetcher``;
        `MEASURES`: ``read_ms, response_ms``, ``mb_per_s`` (of all streams of an array, 10**6 bytes per second; NaN for
        other workloads), ``hit_ratio``, ``unused`` (tracks evicted unread per prefetched track),
        ``operations_per_request``, ``utilisation``; ``read_factor, rate_factor`` (means over the seeds of the ratios of
        `read_ms` and `mb_per_s` to those of SARC's prefetcher in front of the same cache); ``<name>_ci95``: half widths
        of the 95 % intervals; ``seeds``.
    """
    keys = [*CASE, "prefetcher"]
    runs = runs.assign(mb_per_s=runs["mb_per_s"].where(runs["workload"] == STREAMS))
    base = runs[runs["prefetcher"] == SARCS].set_index([*CASE, "seed"])[["read_ms", "mb_per_s"]]
    runs = runs.join(base.add_suffix("_base"), on=[*CASE, "seed"])
    runs["read_factor"] = runs["read_ms"] / runs["read_ms_base"]
    runs["rate_factor"] = runs["mb_per_s"] / runs["mb_per_s_base"]
    groups, factors = runs.groupby(keys, sort=False), ["read_factor", "rate_factor"]
    half = half_widths(groups, ["read_ms", "response_ms", "mb_per_s", "unused", *factors])
    return groups[[*MEASURES, *factors]].mean().join([half, groups.size().rename("seeds")]).reset_index()
