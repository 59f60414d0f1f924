"""Measure how often the SARC study's detection threshold errs: random tracks labelled sequential, and the reverse.

The paper leaves seqThreshold open (II-A): low values detect streams early, but mistake random tracks next to cached
ones for streams; high values detect them late. The generator knows which requests belong to a stream, so two shares can
be measured for each threshold: the share of random accesses labelled sequential, and the share of streams' accesses not
labelled sequential. The threshold in ``studies/sarc/machine.yaml`` is the one with the smallest mean of these two
shares, over both configurations and several spaces, in LRU Top's cache at the lowest load. Neither response times nor
published values are used. The caches are run without drives: in a model of one array, requests look their tracks up in
the same order as with drives, so the cached tracks are the same.
"""

import sys

import pandas as pd

from misspenalty.io.threads import map_in_threads
from misspenalty_studies.sarc.runs import CONFIGS, LOADS, Run, load_shark

POLICY = "lru_top"
COUNTS = ("random_tracks", "false_sequential", "stream_tracks", "missed_sequential", "sequential_misses")


def detect(shark, config, seed):
    """Measure the errors of sequential detection at the lowest load.

    Parameters
    ----------
    shark : Shark
        Machine with the threshold to try and the configuration's space.
    config : {"cache_sensitive", "cache_insensitive"}
    seed : int

    Returns
    -------
    dict
        ``footprint_gb, threshold``; ``random_tracks, false_pct``: accesses to tracks by random requests, and the
        percentage labelled sequential; ``stream_tracks, missed_pct``: accesses to tracks by streams, and the percentage
        not labelled sequential; ``error_pct``: mean of the two percentages; ``sequential_misses_per_s`` at full size.
    """
    run = Run(shark, config, POLICY, seed, drives=False)
    run.load(shark.warm_up_share * LOADS[config][-1])
    states = [dict.fromkeys(COUNTS, 0), *(run.minute().state for _ in range(shark.warm_up_minutes))]
    run.load(LOADS[config][0])
    states += [run.minute().state for _ in range(shark.phase_minutes)]
    first, last = states[shark.discarded_minutes - shark.phase_minutes - 1], states[-1]
    seen = {name: last[name] - first[name] for name in COUNTS}
    seconds = 60 * (shark.phase_minutes - shark.discarded_minutes)
    false = 100 * seen["false_sequential"] / max(seen["random_tracks"], 1)
    missed = 100 * seen["missed_sequential"] / max(seen["stream_tracks"], 1)
    return {
        "footprint_gb": shark.footprint_gb(config),
        "threshold": shark.threshold,
        "random_tracks": seen["random_tracks"],
        "false_pct": false,
        "stream_tracks": seen["stream_tracks"],
        "missed_pct": missed,
        "error_pct": (false + missed) / 2,
        "sequential_misses_per_s": seen["sequential_misses"] * shark.divisor / seconds,
    }


def by_threshold(machine, thresholds, settings, values, spaces, seed, threads):
    """Measure the errors of detection by threshold (a workflow job).

    Parameters
    ----------
    machine : path-like
        ``machine.yaml``.
    thresholds : sequence of int
        Thresholds to try.
    settings : dict
        ``divisor`` and ``values`` of the configuration.
    values : dict
        Values of the parameters that are fitted only after detection has been measured.
    spaces : sequence of float
        Spaces of the cache-sensitive configuration that are tried, 2^30 bytes, full size.
    seed, threads : int
        `threads` is the number of parallel runs.

    Returns
    -------
    DataFrame
        One row per configuration, space and threshold: ``config``, the columns of `detect`, ``mean_error_pct`` (each
        configuration's mean error over its spaces, averaged over the two configurations) and ``lowest_error`` (true for
        the threshold with the lowest ``mean_error_pct``; on a tie, for the smallest of these thresholds).
    """
    shark, _ = load_shark(machine, settings["divisor"], {**values, **settings["values"]})
    tried = {"cache_sensitive": spaces, "cache_insensitive": spaces[:1]}  # the cache-insensitive space is fixed
    cases = [(config, space, value) for config in CONFIGS for space in tried[config] for value in thresholds]

    def run(case):
        config, space, threshold = case
        tried = shark.with_values({"footprint_sensitive_gb": space, "threshold": threshold})
        return {"config": config} | detect(tried, config, seed)

    table = pd.DataFrame(map_in_threads(run, cases, threads))
    by_config = table.groupby(["threshold", "config"])["error_pct"].mean()
    mean = by_config.groupby("threshold").mean()
    print(mean.to_string(), file=sys.stderr)
    return table.assign(mean_error_pct=table["threshold"].map(mean), lowest_error=table["threshold"] == mean.idxmin())
