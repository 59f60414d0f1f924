"""The HAC study's tables under other readings: what a size counts, the server's cache, the drive, the database.

The fit of the study itself stays as it is. Projections are made where the traversals that they run themselves are under
the same condition, which leaves out sizes of the frames alone.
"""

import sys

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.objects.traversals import STATIC
from misspenalty.studies.hac import projections
from misspenalty.studies.hac.prices import load_costs
from misspenalty.studies.hac.runs import MB, database, run
from misspenalty.studies.hac.tables import fig9, fig10, fig11, points, read_sweeps
from misspenalty.systems.object_server.object_client import load_testbed

FRAMES_ALONE = "sizes of the frames alone"
TESTBED = {  # words -> what the testbed has otherwise
    "server cache of 26 MB": {"server_cache_mb": 26},
    "server cache of 24 MB": {"server_cache_mb": 24},
    "pages scattered on the drive": {"page_order": "scattered"},
    "server cache of 26 MB; pages scattered on the drive": {"server_cache_mb": 26, "page_order": "scattered"},
}


def under_conditions(total, frames, machine, fit, points_mb, least_share, total_mb, iterations, layouts, sizes, seed):
    """A job of the workflow: Figures 9 to 11 and the projections under each condition.

    Parameters
    ----------
    total, frames : sequence of path-like
        HAC's sweeps, in the order of `STATIC`, on both axes.
    machine, fit : path-like
        ``hac_testbed.yaml`` and the table of the fit.
    points_mb : dict of str to float
        Traversal -> client cache.
    least_share : float
        As in `fig9`.
    total_mb : dict of str to sequence of float
        Traversal -> client caches of the sweep.
    iterations : int
    layouts : dict of str to dict
        Name -> what another database has otherwise.
    sizes : dict
        Of the database.
    seed : int

    Returns
    -------
    dict of str to DataFrame
        ``fig9, fig10, fig11, projections``, each with the column ``condition``.
    """
    base, data, costs = read_sweeps(total), database(seed, **sizes), load_costs(machine, fit, sizes, seed)
    found = {}

    def make(words, sweeps, costs, data=None):
        try:
            at_points = points(sweeps, points_mb, costs)
        except ParameterError as error:  # a point is too small, or has no hot misses any more
            print(f"{words}: {error}", file=sys.stderr)
            return
        made = {
            "fig9": pd.concat([fig9(name, runs, costs, least_share) for name, runs in sweeps.items()]),
            "fig10": fig10(at_points, points_mb),
            "fig11": fig11(at_points, points_mb),
        }
        if data is not None:
            made["projections"] = projections.projections(data, sweeps, points_mb, costs, iterations)
        for item, table in made.items():
            found.setdefault(item, []).append(table.assign(condition=words))

    make(FRAMES_ALONE, read_sweeps(frames), costs)
    for words, changed in TESTBED.items():
        make(words, base, costs._replace(testbed=costs.testbed.with_values(**changed)), data)
    for name, changed in layouts.items():
        other = database(**{"seed": seed, **sizes, **changed})
        make(name, sweep(other, machine, total_mb, iterations), costs._replace(pages=len(other.pages)), other)
    return {item: pd.concat(tables, ignore_index=True) for item, tables in found.items()}


def sweep(data, machine, sizes_mb, iterations):
    """HAC's fetches of every traversal at every size, as `misspenalty.studies.hac.runs.sweeps` has them.

    Returns
    -------
    dict of str to DataFrame
        By traversal.
    """
    words, swept = load_testbed(machine)["activation_words"], {}
    for name in STATIC:
        runs = []
        for size in sizes_mb[name]:
            one = run(data, "hac", name, size, iterations, activation_words=words)
            frames, table = (part / MB for part in one.memory)
            runs.append(one.fetches.astype("int32").assign(cache_mb=size, frames_mb=frames, table_mb=table))
        swept[name] = pd.concat(runs, ignore_index=True)
    return swept
