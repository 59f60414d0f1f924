"""The HAC study: Figures 9 to 11, the peaks of replacement, and misses against cache size.

Paper: M. Castro, A. Adya, B. Liskov, A. C. Myers, "HAC: Hybrid Adaptive Caching for Distributed Storage Systems", SOSP
1997, sections 4.2 and 4.4. Runs come from `hac_runs`, times from `hac_prices`; parameters in, tidy tables out.
"""

import pandas as pd

from misspenalty.claims.ledger import load_calibration
from misspenalty.errors import ParameterError
from misspenalty.objects.traversals import STATIC
from misspenalty.studies.hac.prices import Costs, fit_install, load_costs, penalty
from misspenalty.studies.hac.runs import MISSES, count_misses, database
from misspenalty.studies.points import as_written
from misspenalty.systems.object_server.object_client import REPLACEMENT, load_testbed
from misspenalty.systems.object_server.page_server import COMPONENTS

PENALTY = ("fetch", "replacement", "conversion", "total")


def at_size(runs, cache_mb):
    """The fetches of one size among those of several.

    Parameters
    ----------
    runs : DataFrame
        `TraversalRun.fetches` of several sizes below each other, told apart by ``cache_mb``.
    cache_mb : float

    Raises
    ------
    ParameterError
        There are none of this size.
    """
    chosen = runs[runs["cache_mb"] == cache_mb]
    if chosen.empty:
        raise ParameterError(f"no run with {cache_mb:g} MB; there are {sorted(set(runs['cache_mb']))}")
    return chosen.drop(columns=["cache_mb", "frames_mb", "table_mb"], errors="ignore").reset_index(drop=True)


def read_sweeps(paths):
    """Sweeps by traversal, from files in the order of `STATIC`."""
    return {name: pd.read_parquet(path) for name, path in zip(STATIC, paths, strict=True)}


def memory_of(runs):
    """Memory of the runs of a sweep: ``cache_mb, frames_mb, table_mb``, smallest first."""
    columns = ["cache_mb", "frames_mb", "table_mb"]
    return runs[columns].drop_duplicates().sort_values("cache_mb", ignore_index=True)


def misses(traversal, runs):
    """HAC's misses at every size of a sweep, in the columns of `hac_runs.sweep`."""
    rows = []
    for one in memory_of(runs).itertuples():
        cold, hot = count_misses(at_size(runs, one.cache_mb))
        rows.append((traversal, "hac", one.cache_mb, one.frames_mb, one.table_mb, None, cold, hot))
    return pd.DataFrame(rows, columns=MISSES)


def enough(fetches, least_share):
    """Whether the hot iterations fetch at least this share of what the cold one does."""
    cold, hot = count_misses(fetches)
    return bool(hot) and hot >= least_share * cold


def fig9(traversal, runs, costs, least_share):
    """Mean miss penalty by component at every size of a sweep (Figure 9 shows one of them).

    Parameters
    ----------
    traversal : str
    runs : DataFrame
        As in `at_size`, with ``frames_mb, table_mb``.
    costs : Costs
    least_share : float
        Sizes at which hot iterations fetch less than this share of the cold one are left out.

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, component, us`` (fetch, replacement, conversion, and total, measured on its own), and
        beside them ``fetches`` of one hot iteration, ``frames_mb, table_mb``.
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
    """Penalties at the sizes of the published Figure 9, by traversal.

    Parameters
    ----------
    sweeps : dict of str to DataFrame
        By traversal, as in `at_size`.
    points_mb : dict of str to float
    costs : Costs
    """
    return {name: penalty(at_size(sweeps[name], points_mb[name]), points_mb[name], costs) for name in STATIC}


def components(found, points_mb, names):
    """One row a traversal and component: Figure 10 (`REPLACEMENT`) or Figure 11 (`COMPONENTS`).

    Returns
    -------
    DataFrame
        ``traversal, component, us, cache_mb``.
    """
    rows = [(name, part, one.us[part], points_mb[name]) for name, one in found.items() for part in names]
    return pd.DataFrame(rows, columns=["traversal", "component", "us", "cache_mb"])


def fig10(found, points_mb):
    """Replacement overhead by component, from `points`."""
    return components(found, points_mb, REPLACEMENT)


def fig11(found, points_mb):
    """Fetch time by component, from `points`."""
    return components(found, points_mb, COMPONENTS)


def fit(sweep, cache_mb, costs, target, low, high):
    """Fit the instructions of installing an object to T1's published share of conversion.

    Returns
    -------
    DataFrame
        One row: ``parameter, value, target, reached, at_bound, low, high``.
    """
    found = fit_install(at_size(sweep, cache_mb), cache_mb, costs, target, low, high)
    row = {"parameter": "install_instructions", **found._asdict(), "low": low, "high": high}
    return pd.DataFrame([row])


def peaks(fig9_total, fig9_frames, published):
    """Where replacement overhead per fetch is greatest, on both axes.

    Parameters
    ----------
    fig9_total, fig9_frames : DataFrame
        `fig9` with sizes that pay for the indirection table, and with sizes of the frames alone.
    published : dict of str to float
        The paper's, MB.

    Returns
    -------
    DataFrame
        ``traversal, axis, published_mb, peak_mb, at_end`` (the largest size that fetches enough), ``us``: replacement
        at the peak, ``fetches`` of a hot iteration there.
    """
    rows = []
    for axis, table in (("frames and table", fig9_total), ("frames", fig9_frames)):
        for name in STATIC:
            found = table[(table["traversal"] == name) & (table["component"] == "replacement")]
            if found.empty:
                continue
            best = found.loc[found["us"].idxmax()]
            at_end = best["cache_mb"] == found["cache_mb"].max()
            rows.append((name, axis, published[name], best["cache_mb"], at_end, best["us"], best["fetches"]))
    columns = ["traversal", "axis", "published_mb", "peak_mb", "at_end", "us", "fetches"]
    return pd.DataFrame(rows, columns=columns)


def fit_to_calibration(sweep, machine, calibration, cache_mb, sizes, seed):
    """A job of the workflow: `fit` to what ``data/calibration.yaml`` says.

    Parameters
    ----------
    sweep, machine, calibration : path-like
        T1's sweep, ``hac_testbed.yaml`` and ``data/calibration.yaml``.
    cache_mb : float
    sizes : dict
        Of the database.
    seed : int
    """
    (target,) = [fit for fit in load_calibration(calibration) if fit.parameter == "install_instructions"]
    (published,) = target.published
    costs = Costs(load_testbed(machine), len(database(seed, **sizes).pages), seed)
    return fit(pd.read_parquet(sweep), cache_mb, costs, published["value"], *target.range)


def from_sweeps(total, frames, others, machine, fit, published, points_mb, least_share, sizes, seed):
    """Figures 9 to 11, the peaks of replacement, and misses against cache size.

    Parameters
    ----------
    total, frames : dict of str to DataFrame
        HAC's sweeps by traversal, on both axes.
    others : DataFrame
        Misses of the other systems.
    machine : path-like
        ``hac_testbed.yaml``.
    fit, published : DataFrame
        Of `fit`, and ``data/published/hac_miss_penalty.csv``.
    points_mb : dict of str to float
    least_share : float
        As in `fig9`.
    sizes : dict
        Of the database.
    seed : int

    Returns
    -------
    dict of str to DataFrame
        ``fig9, fig9_frames, fig10, fig11, peaks, misses``.
    """
    costs = load_costs(machine, fit, sizes, seed)
    found = {}
    for name, sweeps in (("fig9", total), ("fig9_frames", frames)):
        parts = [fig9(traversal, runs, costs, least_share) for traversal, runs in sweeps.items()]
        found[name] = as_written(pd.concat(parts, ignore_index=True))
    at_points = points(total, points_mb, costs)
    counted = [misses(traversal, runs) for traversal, runs in total.items()]
    return found | {
        "fig10": fig10(at_points, points_mb),
        "fig11": fig11(at_points, points_mb),
        "peaks": peaks(found["fig9"], found["fig9_frames"], published.set_index("traversal")["cache_mb"]),
        "misses": pd.concat([*counted, others], ignore_index=True),
    }
