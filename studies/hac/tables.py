"""Compute the HAC study's tables: Figures 9 to 11, the peaks of replacement, and misses against cache size.

Paper: M. Castro, A. Adya, B. Liskov, A. C. Myers, "HAC: Hybrid Adaptive Caching for Distributed Storage Systems", SOSP
1997, sections 4.2 and 4.4. Runs come from `hac.runs`, times from `hac.prices`; functions return tidy tables.
"""

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.points import as_written
from misspenalty_studies.hac.object_server.object_client import REPLACEMENT, Prices, load_testbed
from misspenalty_studies.hac.object_server.page_server import COMPONENTS
from misspenalty_studies.hac.objects.traversals import STATIC
from misspenalty_studies.hac.prices import Costs, load_fitted, penalty, priced
from misspenalty_studies.hac.runs import MISSES, count_misses, database
from misspenalty_studies.hac.seeds import BySeed, averages

PENALTY = ("fetch", "replacement", "conversion", "total")
FIGURES = ("fig9", "fig10", "fig11")
AXES = {"frames and table": "fig9", "frames": "fig9_frames"}  # what a cache size includes -> name of the table
OF_THE_SERVER = ("server_cache_mb", "page_order")  # values of the testbed that do not change the client's times
KEYS = {  # columns that identify a row
    "fig9": ["traversal", "cache_mb", "component"],
    "fig9_frames": ["traversal", "cache_mb", "component"],
    "fig10": ["traversal", "component", "cache_mb"],
    "fig11": ["traversal", "component", "cache_mb"],
    "misses": ["traversal", "system", "cache_mb", "share"],
    "projections": ["case", "traversal", "quantity"],
    "hit_time": ["traversal", "cache_mb", "line"],
}


def at_size(runs, cache_mb):
    """Return the fetches of the run with a given cache size.

    Parameters
    ----------
    runs : DataFrame
        `TraversalRun.fetches` of several sizes, concatenated; ``cache_mb`` distinguishes the sizes.
    cache_mb : float

    Raises
    ------
    ParameterError
        There is no run of this size.
    """
    chosen = runs[runs["cache_mb"] == cache_mb]
    if chosen.empty:
        raise ParameterError(f"no run with {cache_mb:g} MB; expected one of {sorted(set(runs['cache_mb']))}")
    return chosen.drop(columns=["cache_mb", "frames_mb", "table_mb"], errors="ignore").reset_index(drop=True)


class Point:
    """A traversal's run at its size in Figure 9; each of its penalties is computed only once.

    Attributes
    ----------
    fetches : DataFrame
        As in `penalty`.
    cache_mb : float
    """

    def __init__(self, fetches, cache_mb):
        self.fetches, self.cache_mb, self._times, self._known = fetches, cache_mb, {}, {}

    def penalty(self, costs, **change):
        """Return `misspenalty_studies.hac.prices.penalty` of the run; `change` is passed on to it."""
        values = costs.testbed.values
        if change.get("hit_share") is not None:  # hits are drawn at random; the server's cache size does not matter
            values = values | {"server_cache_mb": None}
        key = (tuple(values.items()), costs.pages, costs.seed, tuple(change.items()))
        if key not in self._known:
            times = self._priced(costs, change.get("processor"))
            self._known[key] = penalty(self.fetches, self.cache_mb, costs, times=times, **change)
        return self._known[key]

    def _priced(self, costs, processor):
        """Return the times of the client's work by fetch, which do not depend on the server."""
        key = (tuple((costs.testbed.values | dict.fromkeys(OF_THE_SERVER)).items()), processor)
        if key not in self._times:
            self._times[key] = priced(self.fetches, self.cache_mb, costs, processor)
        return self._times[key]


def runs_at(sweeps, points_mb):
    """Return a dict with a `Point` for each traversal, from its sweep."""
    return {name: Point(at_size(sweeps[name], points_mb[name]), points_mb[name]) for name in STATIC}


def memory_of(runs):
    """Return the memory of the runs of a sweep: ``cache_mb, frames_mb, table_mb``, smallest first."""
    columns = ["cache_mb", "frames_mb", "table_mb"]
    return runs[columns].drop_duplicates().sort_values("cache_mb", ignore_index=True)


def misses(traversal, runs):
    """Count HAC's misses at every size of a sweep, in the columns of `hac.runs.sweep`."""
    rows = []
    for one in memory_of(runs).itertuples():
        cold, hot = count_misses(at_size(runs, one.cache_mb))
        rows.append((traversal, "hac", one.cache_mb, one.frames_mb, one.table_mb, None, cold, hot))
    return pd.DataFrame(rows, columns=MISSES)


def enough(fetches, least_share):
    """Return whether hot iterations fetch any page and, on average, at least `least_share` of the cold one's
    fetches."""
    cold, hot = count_misses(fetches)
    return bool(hot) and hot >= least_share * cold


def fig9(traversal, runs, costs, least_share):
    """Compute the mean miss penalty by component at every size of a sweep (Figure 9).

    Parameters
    ----------
    traversal : str
    runs : DataFrame
        As in `at_size`, with ``frames_mb, table_mb``.
    costs : Costs
    least_share : float
        Sizes at which hot iterations fetch nothing, or less than this share of the pages that the cold one fetches, are
        left out.

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, component`` (fetch, replacement, conversion, and total, which is elapsed time minus hit
        time, not a sum), ``us``, ``fetches`` (of one hot iteration), ``frames_mb, table_mb``.
    """
    rows = []
    for one in memory_of(runs).itertuples():
        fetches = at_size(runs, one.cache_mb)
        if not enough(fetches, least_share):
            continue
        found = penalty(fetches, one.cache_mb, costs)
        rows += [
            (traversal, one.cache_mb, part, found.us[part], found.fetches, one.frames_mb, one.table_mb)
            for part in PENALTY
        ]
    columns = ["traversal", "cache_mb", "component", "us", "fetches", "frames_mb", "table_mb"]
    return pd.DataFrame(rows, columns=columns)


def points(sweeps, points_mb, costs):
    """Compute the penalties at the sizes of the published Figure 9, by traversal.

    Parameters
    ----------
    sweeps : dict of str to DataFrame
        By traversal, as in `at_size`.
    points_mb : dict of str to float
    costs : Costs
    """
    return {name: penalty(at_size(sweeps[name], points_mb[name]), points_mb[name], costs) for name in STATIC}


def components(found, points_mb, names):
    """Return one row per traversal and component: Figure 10 (`REPLACEMENT`) or Figure 11 (`COMPONENTS`).

    Returns
    -------
    DataFrame
        ``traversal, component, us, cache_mb``.
    """
    rows = [(name, part, one.us[part], points_mb[name]) for name, one in found.items() for part in names]
    return pd.DataFrame(rows, columns=["traversal", "component", "us", "cache_mb"])


def fig10(found, points_mb):
    """Return the replacement overhead by component, from `points`."""
    return components(found, points_mb, REPLACEMENT)


def fig11(found, points_mb):
    """Return the fetch time by component, from `points`."""
    return components(found, points_mb, COMPONENTS)


def fit(runs, cache_mb, target, low, high):
    """Fit how many instructions it takes to install an object, so that conversion in T1 has its published share.

    The share is the mean over seeds of conversion time as a percentage of fetch time. If no value in the range reaches
    it, an end of the range is returned.

    Parameters
    ----------
    runs : sequence of (DataFrame, Costs)
        T1's sweep and its costs for each seed; sweeps as in `at_size`. The costs need no `install_instructions`.
    cache_mb : float
    target, low, high : float
        Published share, %, and the range of instruction counts to search.

    Returns
    -------
    DataFrame
        One row: ``parameter, value, target, reached, at_bound, low, high``.
    """
    runs = [(at_size(sweep, cache_mb), costs) for sweep, costs in runs]

    def shares(value):
        """Return the ratio of conversion to fetch time and its growth per instruction, as means over the seeds."""
        rows = []
        for fetches, costs in runs:
            with_value = costs._replace(testbed=costs.testbed.with_values(install_instructions=value))
            found = penalty(fetches, cache_mb, with_value)
            each = Prices(costs.testbed).processor.instruction_ns * found.counts["installed"] / 1000
            rows.append((found.us["conversion"] / found.us["fetch"], each / found.us["fetch"]))
        return np.mean(rows, axis=0)

    value = low
    for _ in range(3):  # this converges fast, as the value changes the fetch time only through the read-ahead
        share, slope = shares(value)
        value += (target / 100 - share) / slope
    bounded = float(min(max(value, low), high))
    reached, at_bound = float(100 * shares(bounded)[0]), bool(bounded != value)
    columns = ["parameter", "value", "target", "reached", "at_bound", "low", "high"]
    return pd.DataFrame([("install_instructions", bounded, target, reached, at_bound, low, high)], columns=columns)


def peaks(axes, samples, published):
    """Compute the cache sizes with the greatest replacement overhead per fetch, on each axis of `AXES`.

    Parameters
    ----------
    axes : dict of str to DataFrame
        Axis -> `fig9` over it, means over seeds.
    samples : dict of str to sequence of DataFrame
        Axis -> `fig9` of each seed.
    published : dict of str to float
        The paper's peaks, MB.

    Returns
    -------
    DataFrame
        ``traversal, axis, published_mb, peak_mb`` (of the mean curve), ``lowest_mb, highest_mb`` (among the seeds' own
        curves), ``at_end`` (whether the peak is at the largest size that fetches enough), ``us, us_ci95``: replacement
        at the peak, ``fetches`` of a hot iteration there.
    """
    rows = []
    for axis, table in axes.items():
        for name in STATIC:
            found = _replacement(table, name)
            if found.empty:
                continue
            best = found.loc[found["us"].idxmax()]
            own = [_peak_mb(_replacement(sample, name)) for sample in samples[axis]]
            at_end = best["cache_mb"] == found["cache_mb"].max()
            rows.append(
                (name, axis, published[name], best["cache_mb"], min(own), max(own), at_end, *best[list(_AT_PEAK)])
            )
    columns = ["traversal", "axis", "published_mb", "peak_mb", "lowest_mb", "highest_mb", "at_end", *_AT_PEAK]
    return pd.DataFrame(rows, columns=columns)


_AT_PEAK = ("us", "us_ci95", "fetches")


def _replacement(table, traversal):
    return table[(table["traversal"] == traversal) & (table["component"] == "replacement")]


def _peak_mb(curve):
    return curve.loc[curve["us"].idxmax(), "cache_mb"]


def fit_to_calibration(sweep, machine, calibration, cache_mb, sizes):
    """Call `fit` with the target and the range in ``data/calibration.yaml`` (a workflow job).

    Parameters
    ----------
    sweep, machine, calibration : path-like
        T1's sweep, ``machine.yaml`` and ``data/calibration.yaml``.
    cache_mb : float
    sizes : dict
        Sizes of the database.
    """
    (target,) = [fit for fit in load_calibration(calibration) if fit.parameter == "install_instructions"]
    (published,) = target.published
    testbed = load_testbed(machine)
    runs = [
        (sweeps["T1"], Costs(testbed, len(database(seed, **sizes).pages), seed))
        for seed, sweeps in BySeed({"T1": pd.read_parquet(sweep)}).items()
    ]
    return fit(runs, cache_mb, published["value"], *target.range)


def from_sweeps(total, frames, others, machine, fit, published, points_mb, least_share, sizes):
    """Compute Figures 9 to 11, the peaks of replacement, and misses against cache size, as means over seeds.

    Parameters
    ----------
    total, frames : dict of str to DataFrame
        HAC's sweeps by traversal, on the two axes of `AXES`.
    others : DataFrame
        Misses of the other systems.
    machine : path-like
        ``machine.yaml``.
    fit, published : DataFrame
        The table that `fit` returned, and ``studies/hac/published/miss_penalty.csv``.
    points_mb : dict of str to float
    least_share : float
        As in `fig9`.
    sizes : dict
        Sizes of the database.

    Returns
    -------
    dict of str to DataFrame
        ``fig9, fig9_frames, fig10, fig11, peaks, misses``, and ``<figure>_by_seed`` for Figures 9 to 11.
    """
    testbed, total, frames, each = load_fitted(machine, fit), BySeed(total), BySeed(frames), []
    for seed, sweeps in total.items():
        costs = Costs(testbed, len(database(seed, **sizes).pages), seed)
        counted = [misses(traversal, runs) for traversal, runs in sweeps.items()]
        more = {
            "fig9_frames": all_of_fig9(frames[seed], costs, least_share),
            "misses": pd.concat([*counted, others[others["seed"] == seed].drop(columns="seed")]),
        }
        each.append(figure_tables(sweeps, points_mb, costs, least_share) | more)
    made = averages(each, KEYS, list(total), FIGURES)
    axes = {axis: made[name] for axis, name in AXES.items()}
    samples = {axis: [tables[name] for tables in each] for axis, name in AXES.items()}
    return made | {"peaks": peaks(axes, samples, published.set_index("traversal")["cache_mb"])}


def figure_tables(sweeps, points_mb, costs, least_share):
    """Compute the tables listed in `FIGURES` for one seed, and return them by name."""
    at_points = points(sweeps, points_mb, costs)
    made = all_of_fig9(sweeps, costs, least_share), fig10(at_points, points_mb), fig11(at_points, points_mb)
    return dict(zip(FIGURES, made, strict=True))


def all_of_fig9(sweeps, costs, least_share):
    """Return `fig9` of every traversal."""
    parts = [fig9(traversal, runs, costs, least_share) for traversal, runs in sweeps.items()]
    return as_written(pd.concat(parts, ignore_index=True))
