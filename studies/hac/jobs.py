"""Run the workflow's jobs of the HAC study beyond Figures 9 to 11: each job reads files and returns tables."""

import pandas as pd

from misspenalty_studies.hac import further, measured, projections
from misspenalty_studies.hac.prices import Costs, load_fitted
from misspenalty_studies.hac.runs import database
from misspenalty_studies.hac.seeds import averages, mean_over_seeds, samples
from misspenalty_studies.hac.tables import KEYS, runs_at

DYNAMIC_SYSTEMS = ("hac", "fpc", "gom")


def at_points(sweeps, machine, fit, points_mb, iterations, sizes):
    """Compute the projections of section 4.4 and the elapsed times at the points of Figure 9, as means over seeds.

    Parameters
    ----------
    sweeps : sequence of path-like
        HAC's sweeps, in the order of `STATIC`.
    machine, fit : path-like
        ``machine.yaml`` and the table of the fit.
    points_mb : dict of str to float
        Traversal -> client cache.
    iterations : int
    sizes : dict
        Sizes of the database.

    Returns
    -------
    dict of str to DataFrame
        ``projections, projections_by_seed`` and ``elapsed``.
    """
    every = list(samples(sweeps, load_fitted(machine, fit), sizes))
    tables = [
        {
            "projections": projections.projections(
                runs_at(one.sweeps, points_mb),
                one.costs,
                projections.other_runs(one.data, points_mb, iterations, one.costs.testbed),
            ),
            "elapsed": further.elapsed(one.data, one.sweeps, points_mb, one.costs, iterations),
        }
        for one in every
    ]
    keys = KEYS | {"elapsed": ["traversal", "cache_mb", "run", "system"]}
    return averages(tables, keys, [one.seed for one in every], ["projections"])


def other_tables(sweeps, machine, fit, points_mb, hit_time_mb, server_mb, sizes):
    """Compute the tables of hit times and of the server's cache, as means over seeds.

    The other parameters are those of `at_points`.

    Parameters
    ----------
    hit_time_mb : float
        Client cache of Table 3.
    server_mb : sequence of float
        Page caches of the server.

    Returns
    -------
    dict of str to DataFrame
        ``hit_time, server``.
    """
    tables = [
        {
            "hit_time": further.hit_time(one.data, hit_time_mb, one.costs),
            "server": further.server(one.sweeps, points_mb, one.costs, server_mb),
        }
        for one in samples(sweeps, load_fitted(machine, fit), sizes)
    ]
    keys = {
        "hit_time": ["traversal", "cache_mb", "line"],
        "server": ["server_cache_mb", "page_order", "traversal"],
    }
    return averages(tables, keys)


def further_tables(sweeps, machine, fit, points_mb, updates_mb, dynamic_mb, dynamic, shares, sizes):
    """Compute the tables of updates, varied unit costs and the dynamic traversal, as means over seeds.

    The other parameters are those of `at_points`.

    Parameters
    ----------
    updates_mb : float
        Client cache of the traversals with updates.
    dynamic_mb : sequence of float
        Client caches of the dynamic traversal, which runs on a database of two modules.
    dynamic : dict
        Settings of the dynamic traversal.
    shares : sequence of float
        Splits of the dual buffer to try at each size; the first seed with which the dual buffer can run at this size
        decides the split.

    Returns
    -------
    dict of str to DataFrame
        ``updates, cost_sensitivity, dynamic``.
    """
    tables, best = [], {}
    for one in samples(sweeps, load_fitted(machine, fit), sizes):
        two = database(one.seed, **{**sizes, "modules": 2})
        tables.append(
            {
                "updates": further.updates(one.data, updates_mb, one.costs),
                "cost_sensitivity": further.cost_sensitivity(one.sweeps, points_mb, one.costs),
                "dynamic": further.dynamic(two, one.seed, DYNAMIC_SYSTEMS, dynamic_mb, dynamic, shares, best),
            }
        )
    keys = {
        "updates": ["traversal", "cache_mb"],
        "cost_sensitivity": SENSITIVITY_KEYS,
        "dynamic": ["traversal", "system", "cache_mb", "share"],
    }
    return averages(tables, keys)


SENSITIVITY_KEYS = ["kind", "parameter", "value", "traversal"]


def sensitivity(machine, fit, traversal, points_mb, settings, layouts, sizes, seeds, iterations):
    """Vary HAC's parameters and the database for one traversal.

    Parameters
    ----------
    machine, fit, points_mb, sizes, iterations
        As in `at_points`.
    traversal : str
    settings : dict of str to sequence
        Parameter of HAC -> values.
    layouts : dict of str to dict
        Name -> the sizes in which another database differs.
    seeds : sequence of int

    Returns
    -------
    DataFrame
        The columns of `misspenalty_studies.hac.further.cost_sensitivity`, as means over seeds.
    """
    testbed, point = load_fitted(machine, fit), (traversal, points_mb[traversal])
    tables = []
    for seed in seeds:
        data, others = database(seed, **sizes), {n: {"seed": seed, **sizes, **new} for n, new in layouts.items()}
        costs = Costs(testbed, len(data.pages), seed)
        varied = [
            further.algorithm_sensitivity(data, *point, costs, iterations, settings),
            further.layout_sensitivity(*point, costs, iterations, others),
        ]
        tables.append(pd.concat(varied, ignore_index=True))
    return mean_over_seeds(tables, SENSITIVITY_KEYS)


def measured_times(seed, sizes, hit_time_mb, points_mb, iterations):
    """Measure hit time and the operations of a fetch on this machine, on the database of one seed.

    The other parameters are those of `at_points` and `other_tables`.

    Returns
    -------
    dict of str to DataFrame
        ``hit_time`` and ``penalty``.
    """
    data = database(seed, **sizes)
    return {
        "hit_time": measured.hit_time(data, hit_time_mb),
        "penalty": measured.penalty(data, points_mb, iterations),
    }
