"""The HAC study's tables under other readings: what a size counts, the server's cache, the drive, the database.

The fit of the study itself stays as it is. What a size counts is printed nowhere: the study lets it pay for frames and
indirection table. Sizes of the frames alone are a condition where every traversal still fetches at the paper's sizes;
projections, which run traversals themselves, leave it out.
"""

import sys

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.objects.traversals import STATIC
from misspenalty.studies.hac import projections
from misspenalty.studies.hac.runs import database, sweep_hac
from misspenalty.studies.hac.seeds import mean_over_seeds, read_sweeps, samples
from misspenalty.studies.hac.tables import KEYS, all_of_fig9, fig10, fig11, points

FRAMES_ALONE = "sizes of the frames alone"
TESTBED = {  # words -> what the testbed has otherwise
    "server cache of 26 MB": {"server_cache_mb": 26},
    "server cache of 24 MB": {"server_cache_mb": 24},
    "pages scattered on the drive": {"page_order": "scattered"},
    "server cache of 26 MB; pages scattered on the drive": {"server_cache_mb": 26, "page_order": "scattered"},
}


def under_conditions(total, frames, machine, fit, points_mb, least_share, total_mb, iterations, layouts, sizes):
    """A job of the workflow: Figures 9 to 11 and the projections under each condition, means over seeds.

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

    Returns
    -------
    dict of str to DataFrame
        ``fig9, fig10, fig11, projections``, each with the column ``condition``.
    """
    frames, found = read_sweeps(frames), {}

    def make(words, sweeps, costs, data=None):
        try:
            at_points = points(sweeps, points_mb, costs)
        except ParameterError as error:  # a point is too small, or has no hot misses any more
            print(f"{words}, seed {costs.seed}: {error}", file=sys.stderr)
            return
        made = {
            "fig9": all_of_fig9(sweeps, costs, least_share),
            "fig10": fig10(at_points, points_mb),
            "fig11": fig11(at_points, points_mb),
        }
        if data is not None:
            made["projections"] = projections.projections(data, sweeps, points_mb, costs, iterations)
        for item, rows in made.items():
            found.setdefault(item, {}).setdefault(words, []).append(rows)

    for seed, data, base, costs in samples(total, machine, fit, sizes):
        make(FRAMES_ALONE, frames[seed], costs)
        for words, changed in TESTBED.items():
            make(words, base, costs._replace(testbed=costs.testbed.with_values(**changed)), data)
        for name, changed in layouts.items():
            other = database(**{"seed": seed, **sizes, **changed})
            swept = sweep(other, costs.testbed["activation_words"], total_mb, iterations)
            make(name, swept, costs._replace(pages=len(other.pages)), other)
    return {
        item: pd.concat(
            [
                mean_over_seeds(tables, KEYS[item]).assign(condition=words)
                for words, tables in each.items()
                if len(tables) == len(frames)  # every seed
            ],
            ignore_index=True,
        )
        for item, each in found.items()
    }


def sweep(data, words, sizes_mb, iterations):
    """HAC's fetches of every traversal at every size, as `misspenalty.studies.hac.runs.sweeps` has them.

    Parameters
    ----------
    data : Database
    words : int
        Of an activation record.
    sizes_mb : dict of str to sequence of float
    iterations : int

    Returns
    -------
    dict of str to DataFrame
        By traversal.
    """
    return {name: sweep_hac(data, name, sizes_mb[name], iterations, activation_words=words) for name in STATIC}
