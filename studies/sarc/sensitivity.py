"""Answer the SARC study's side questions: the anomaly of prefetching under LRU, scale, and sensitivity."""

import itertools
import sys

import numpy as np
import pandas as pd

from misspenalty.io.threads import map_in_threads
from misspenalty.prefetch.sequential.prefetcher import track_cache
from misspenalty_studies.common.points import as_written
from misspenalty_studies.sarc.runs import CONFIGS, LOADS, PAPERS, fitted_shark, points, simulate, touches

TIE = 1.05  # responses within this factor count as equal, like ties in the ledger
THRESHOLD = 2  # consecutive tracks that `anomaly` takes for a stream
STRATEGIES = {  # name -> trigger as a share of the degree, None = no asynchronous prefetch; remedy
    "synchronous": (None, 1),
    "asynchronous": (0.5, 0),
    "asynchronous_remedy": (0.5, 1),
}


def interleave(streams, length, seed):
    """Return sequential streams far apart from one another; each request comes from a stream chosen at random.

    Parameters
    ----------
    streams, length : int
        Number of streams, and tracks that each reads on average.
    seed : int

    Returns
    -------
    ids : uint32, shape (streams * length,)
        Tracks, numbered densely stream by stream.
    address : uint64
        Address of each track.
    """
    drawn = np.random.default_rng(seed).integers(0, streams, streams * length)
    counts = np.bincount(drawn, minlength=streams)
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    ids = first[drawn] + pd.Series(drawn).groupby(drawn).cumcount().to_numpy()
    gap = 4 * length
    address = np.repeat(np.arange(streams) * gap, counts) + np.concatenate([np.arange(n) for n in counts])
    return ids.astype(np.uint32), address.astype(np.uint64)


def anomaly(streams, length, degrees, cache_tracks, seed):
    """Count sequential misses in one LRU list by prefetching strategy and cache size (the paper's Figures 1 and 3).

    Parameters
    ----------
    streams, length, seed
        As in `interleave`.
    degrees : sequence of int
        Tracks of a prefetched group.
    cache_tracks : sequence of int
        Cache sizes, tracks.

    Returns
    -------
    DataFrame
        ``strategy`` (one of `STRATEGIES`), ``degree, cache_tracks, tracks_a_stream, misses_pct``: sequential misses in
        percent of the tracks read, not counting the head of each stream, whose misses no strategy can avoid.
    """
    ids, address = interleave(streams, length, seed)
    hit = np.empty(ids.size, np.uint8)
    rows = []
    for degree in degrees:
        for strategy, (trigger, remedy) in STRATEGIES.items():
            settings = {"degree": degree, "threshold": THRESHOLD, "remedy": remedy}
            settings["trigger"] = -1 if trigger is None else int(trigger * degree)
            for size in cache_tracks:
                cache = track_cache("lru_top", size, address=address, prefetch=settings)
                cache.replay(ids, hit)
                misses = cache.sequential_misses - streams
                share = 100 * max(misses, 0) / (ids.size - THRESHOLD * streams)
                rows.append((strategy, degree, size, size / streams, share))
    return pd.DataFrame(rows, columns=["strategy", "degree", "cache_tracks", "tracks_a_stream", "misses_pct"])


def scale(shark, config, policy, seed, loads):
    """Run a few load points at the model's scale, in short phases; results at other scales should be similar.

    Parameters
    ----------
    shark : Shark
        The machine with the scale and the phases to run.
    config, policy, seed
        As in `simulate`.
    loads : sequence of int
        Load points to run, as indices from 0 into the configuration's.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, divisor``, responses, hit ratio, share of SEQ, tracks staged, utilisation.
    """
    run = simulate(shark, config, policy, seed, [LOADS[config][number] for number in loads])
    measures = ["read_ms", "write_ms", "response_ms", "hit_ratio", "seq_share", "stage_rate", "utilisation"]
    return points(run, shark.discarded_minutes)[["config", "scaled_iops", "policy", "divisor", *measures]]


def variations(shark, entries):
    """Return the values that the sensitivity run tries, one at a time.

    Parameters
    ----------
    shark : Shark
    entries : dict of str to Parameter
        From `load_shark`.

    Returns
    -------
    dict of str to list
        Parameter -> the alternative values that the file lists.
    """
    found = {}
    for name, entry in entries.items():
        own = getattr(shark, name)
        values = entry.alternatives(own)
        if name == "host_slots":
            values = [value for value in dict.fromkeys(max(1, round(value)) for value in values) if value != own]
        if name == "insertion":  # a share of the cache
            values = [value for value in values if value <= 1]
        if values:
            found[name] = values
    return found


def vary(shark, parameter, values, seed, load=4, unvaried=None):
    """Return the responses near the peak as one parameter takes other values.

    Parameters
    ----------
    shark : Shark
        The machine with its fitted values and the short phases of this run.
    parameter : str
        ``none`` for the model as it is.
    values : sequence
    seed : int
    load : int
        Load point to run, as an index from 0 into a configuration's.
    unvaried : DataFrame, optional
        What this function returned for ``none``; reused for the runs that the parameter does not affect.

    Returns
    -------
    DataFrame
        ``parameter, value`` (text), ``config, scaled_iops, policy, read_ms, write_ms, response_ms, hit_ratio,
        seq_share``.
    """
    found = []
    for value in values:
        varied = shark if parameter == "none" else shark.with_values({parameter: value})
        for config in CONFIGS:
            for policy in PAPERS:
                if unvaried is not None and not touches(parameter, config, policy):
                    part = unvaried[(unvaried["config"] == config) & (unvaried["policy"] == policy)]
                else:
                    run = simulate(varied, config, policy, seed, [LOADS[config][load]])
                    part = points(run, varied.discarded_minutes)
                found.append(part.assign(parameter=parameter, value=_text(value)))
    columns = ["parameter", "value", "config", "scaled_iops", "policy", "read_ms", "write_ms", "response_ms"]
    return pd.concat(found, ignore_index=True)[[*columns, "hit_ratio", "seq_share"]]


def orderings(sensitivity):
    """Return the order of the policies under each value, and whether it differs from the unvaried model's.

    Parameters
    ----------
    sensitivity : DataFrame
        From `vary`, including the rows of ``none``.

    Returns
    -------
    DataFrame
        ``parameter, value, config``; ``order``: policies from fast to slow by their mean response, ``=`` between
        neighbours at most a factor of `TIE` apart; ``sarc_over_better``: SARC's response relative to the better LRU
        variant's; ``changed``: whether the order differs from the unvaried model's.
    """
    rows = []
    for (parameter, value, config), part in sensitivity.groupby(["parameter", "value", "config"], sort=False):
        ms = part.set_index("policy")["response_ms"].sort_values(kind="stable")
        better = min(ms["lru_top"], ms["lru_bottom"])
        rows.append((parameter, value, config, _order(ms), ms["sarc"] / better))
    table = pd.DataFrame(rows, columns=["parameter", "value", "config", "order", "sarc_over_better"])
    own = table[table["parameter"] == "none"].set_index("config")["order"]
    table["changed"] = table["order"] != table["config"].map(own)
    return table


def _order(ms):
    """Return the policies from fast to slow; ties are in order of name."""
    names = list(ms.index)
    runs = [[names[0]]]
    for before, name in itertools.pairwise(names):
        if ms[name] <= TIE * ms[before]:
            runs[-1].append(name)
        else:
            runs.append([name])
    return " < ".join(" = ".join(sorted(run)) for run in runs)


def _text(value):
    """Return a varied value as text, since one column holds numbers, words and booleans."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:.4g}"


def vary_all(machine, fitted, settings, short, seed, parameters, load, threads):
    """Run all variations, and determine the order of the policies in each (a workflow job).

    Parameters
    ----------
    machine, fitted, settings
        As in `misspenalty_studies.sarc.runs.schedules`.
    short : dict
        Lengths of the phases.
    seed : int
    parameters : sequence of str
        Parameters to vary.
    load : int
        As in `vary`.
    threads : int
        Number of parallel variations.

    Returns
    -------
    dict of str to DataFrame
        ``sensitivity`` (from `vary`) and ``orderings``.
    """
    shark, entries = fitted_shark(machine, fitted, settings, short)
    listed = variations(shark, entries)
    cases = [(name, value) for name in parameters for value in listed.get(name, ())]
    unvaried = vary(shark, "none", ["none"], seed, load)

    def varied(case):
        print(f"{case[0]}: {_text(case[1])}", file=sys.stderr)
        return vary(shark, case[0], [case[1]], seed, load, unvaried)

    table = pd.concat([unvaried, *map_in_threads(varied, cases, threads)], ignore_index=True)
    return {"sensitivity": table, "orderings": orderings(as_written(table, dtype={"value": str}))}


def scales(machine, fitted, settings, short, seed, divisors, loads, threads):
    """Run a few load points of every policy at several scales of the model (a workflow job).

    Parameters
    ----------
    machine, fitted, settings, short, seed, threads
        As in `vary_all`.
    divisors : sequence of int
    loads : sequence of int
        As in `scale`.

    Returns
    -------
    DataFrame
        From `scale`.
    """
    sharks = {divisor: fitted_shark(machine, fitted, settings, short, divisor)[0] for divisor in divisors}
    cases = itertools.product(divisors, CONFIGS, PAPERS)
    found = map_in_threads(lambda case: scale(sharks[case[0]], *case[1:], seed, loads), cases, threads)
    return pd.concat(found, ignore_index=True)
