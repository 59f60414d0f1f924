"""The HAC study's jobs beyond Figures 9 to 11: what the workflow calls, from files to tables."""

import pandas as pd

from misspenalty.studies.hac import measured, projections, variants
from misspenalty.studies.hac.prices import load_costs
from misspenalty.studies.hac.runs import database
from misspenalty.studies.hac.tables import read_sweeps

DYNAMIC_SYSTEMS = ("hac", "fpc", "gom")


def at_points(sweeps, machine, fit, points_mb, iterations, sizes, seed):
    """What section 4.4 projects, and elapsed times, from the points of Figure 9.

    Parameters
    ----------
    sweeps : sequence of path-like
        HAC's, in the order of `STATIC`.
    machine, fit : path-like
        ``hac_testbed.yaml`` and the table of the fit.
    points_mb : dict of str to float
        Traversal -> client cache.
    iterations : int
    sizes : dict
        Of the database.
    seed : int

    Returns
    -------
    dict of str to DataFrame
        ``projections`` and ``elapsed``.
    """
    costs, data, runs = load_costs(machine, fit, sizes, seed), database(seed, **sizes), read_sweeps(sweeps)
    return {
        "projections": projections.projections(data, runs, points_mb, costs, iterations),
        "elapsed": variants.elapsed(data, runs, points_mb, costs, iterations),
    }


def other_tables(
    sweeps, machine, fit, points_mb, hit_time_mb, updates_mb, server_mb, dynamic_mb, dynamic, shares, sizes, seed
):
    """Hit time, updates, the server's cache, unit costs that vary, and the dynamic traversal; as in `at_points`.

    Parameters
    ----------
    hit_time_mb, updates_mb : float
        Client caches of Table 3 and of the traversals with updates.
    server_mb : sequence of float
        Server's caches.
    dynamic_mb : sequence of float
        Client caches of the dynamic traversal, which runs on a database of two modules.
    dynamic : dict
        Its settings.
    shares : sequence of float
        Splits of the dual buffer that are tried.

    Returns
    -------
    dict of str to DataFrame
        ``hit_time, updates, server, cost_sensitivity, dynamic``.
    """
    costs, data, runs = load_costs(machine, fit, sizes, seed), database(seed, **sizes), read_sweeps(sweeps)
    return {
        "hit_time": variants.hit_time(data, hit_time_mb, costs),
        "updates": variants.updates(data, updates_mb, costs),
        "server": variants.server(runs, points_mb, costs, server_mb),
        "cost_sensitivity": variants.cost_sensitivity(runs, points_mb, costs),
        "dynamic": variants.dynamic(
            database(seed, **{**sizes, "modules": 2}), seed, list(DYNAMIC_SYSTEMS), dynamic_mb, dynamic, shares
        ),
    }


def sensitivity(machine, fit, traversal, points_mb, settings, layouts, sizes, seed):
    """One traversal as HAC's parameters and the database vary.

    Parameters
    ----------
    machine, fit, points_mb, sizes, seed
        As in `at_points`.
    traversal : str
    settings : dict of str to sequence
        Parameter of HAC -> values.
    layouts : dict of str to dict
        Name -> what another database has otherwise.
    """
    costs = load_costs(machine, fit, sizes, seed)
    point = (traversal, points_mb[traversal])
    others = {name: {"seed": seed, **sizes, **changed} for name, changed in layouts.items()}
    tables = [
        variants.algorithm_sensitivity(database(seed, **sizes), *point, costs, 2, settings),
        variants.layout_sensitivity(*point, costs, 2, others),
    ]
    return pd.concat(tables, ignore_index=True)


def measured_times(seed, sizes, hit_time_mb, points_mb, iterations):
    """Hit time and the operations of a fetch, measured on the machine at hand; parameters as in `at_points`.

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
