"""The HAC study's tables under other readings: what a size counts, the server's cache, the drive, T1-, the database.

The fit of the study itself stays as it is. What a size counts is printed nowhere: the study lets it pay for frames and
indirection table. Of sizes of the frames alone there are peaks of replacement only, as at the paper's sizes hot
iterations may fetch nothing then. All other conditions are tried alone and together, at most one of each group; what
the paper projects for several clients, other networks and other programs is tried under each alone.
"""

import itertools
import sys

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.objects.traversals import STATIC
from misspenalty.studies.hac import projections
from misspenalty.studies.hac.prices import client_us
from misspenalty.studies.hac.runs import database, sweep_hac
from misspenalty.studies.hac.seeds import mean_over_seeds, read_sweeps, samples
from misspenalty.studies.hac.tables import (
    KEYS,
    PENALTY,
    Point,
    all_of_fig9,
    at_size,
    enough,
    fig10,
    fig11,
    memory_of,
    runs_at,
)
from misspenalty.studies.points import as_written

FRAMES_ALONE = "sizes of the frames alone"
SERVER = {"server cache of 26 MB": {"server_cache_mb": 26}, "server cache of 24 MB": {"server_cache_mb": 24}}
PAGES = {
    "pages shuffled among themselves": {"page_order": "shuffled"},
    "pages scattered on the drive": {"page_order": "scattered"},
}
CALLS = "T1- stops by its calls, which return at once"


def explored(layouts):
    """Every choice of conditions: none, each alone, then joint ones by number.

    Parameters
    ----------
    layouts : iterable of str
        Names of other databases.

    Returns
    -------
    list of tuple of str

    Examples
    --------
    >>> [" + ".join(chosen) for chosen in explored(["documents apart"])][4:6]
    ['pages scattered on the drive', 'server cache of 26 MB']
    >>> len(explored(["documents apart"]))
    36
    """
    groups = (SERVER, PAGES, (CALLS,), tuple(layouts))
    chosen = [tuple(filter(None, each)) for each in itertools.product(*((None, *group) for group in groups))]
    return sorted(chosen, key=len)


def under_conditions(
    total, frames, machine, fit, points_mb, least_share, total_mb, frames_mb, iterations, layouts, sizes
):
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
    total_mb, frames_mb : dict of str to sequence of float
        Traversal -> client caches of the sweeps on both axes.
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

    def keep(words, made):
        for item, rows in made.items():
            found.setdefault(item, {}).setdefault(words, []).append(rows)

    for seed, data, base, costs in samples(total, machine, fit, sizes):
        keep(FRAMES_ALONE, {"fig9": all_of_fig9(frames[seed], costs, least_share)})
        for name, changed in ({"": None} | layouts).items():
            swept, own = base, data
            if changed is not None:
                own = database(**{"seed": seed, **sizes, **changed})
                swept = sweep(own, costs.testbed["activation_words"], total_mb, iterations)
                alone = sweep(own, costs.testbed["activation_words"], frames_mb, iterations, table=False)
                priced = costs._replace(pages=len(own.pages))
                keep(f"{FRAMES_ALONE}; {name}", {"fig9": all_of_fig9(alone, priced, least_share)})
            one = _Database(own, swept, points_mb, costs._replace(pages=len(own.pages)), iterations, least_share)
            for chosen in explored([name] if name else []):
                if chosen and (name in chosen or not name):
                    keep("; ".join(chosen), one.under(chosen, total_mb))
    return {
        item: pd.concat(
            [
                mean_over_seeds(tables, KEYS[item]).assign(condition=words)
                for words, tables in sorted(each.items(), key=lambda entry: entry[0].count("; "))
                if len(tables) == len(frames)  # every seed
            ],
            ignore_index=True,
        )
        for item, each in found.items()
    }


class _Database:
    """One seed's runs on one database, priced under several conditions; what they share is made once."""

    def __init__(self, data, sweeps, points_mb, costs, iterations, least_share):
        self.data, self.points_mb, self.costs = data, points_mb, costs
        self.iterations, self.least_share = iterations, least_share
        self.runs = {False: runs_at(sweeps, points_mb)}  # whether T1- stops by its calls -> by traversal
        self.curves = {False: {name: self._curve(name, swept) for name, swept in sweeps.items()}}
        self.others = projections.other_runs(data, points_mb, iterations)

    def _curve(self, name, swept):
        """Replacement at every size of a sweep, which no server changes: rows of Figure 9."""
        sizes = memory_of(swept)["cache_mb"]
        return [
            (name, size, "replacement", client_us(fetches, size, self.costs)["replacement"])
            for size, fetches in ((size, at_size(swept, size)) for size in sizes)
            if enough(fetches, self.least_share)
        ]

    def _stop_by_calls(self, sizes_mb):
        """Run the other reading of T1-."""
        words, size = self.costs.testbed["activation_words"], self.points_mb["T1-"]
        swept = sweep_hac(self.data, "T1- by calls", sizes_mb, self.iterations, activation_words=words)
        self.runs[True] = self.runs[False] | {"T1-": Point(at_size(swept, size), size)}
        self.curves[True] = self.curves[False] | {"T1-": self._curve("T1-", swept)}

    def under(self, chosen, total_mb):
        """Tables by item under some conditions; none where a point has no hot misses any more."""
        calls = CALLS in chosen
        if calls not in self.runs:
            self._stop_by_calls(total_mb["T1-"])
        changed = {}
        for words in chosen:
            changed |= (SERVER | PAGES).get(words, {})
        costs, runs = self.costs._replace(testbed=self.costs.testbed.with_values(**changed)), self.runs[calls]
        try:
            at_points = {name: run.penalty(costs) for name, run in runs.items()}
        except ParameterError as error:  # a point has no hot misses any more
            print(f"{'; '.join(chosen)}, seed {costs.seed}: {error}", file=sys.stderr)
            return {}
        curve = [row for rows in self.curves[calls].values() for row in rows]
        return {
            "fig9": with_points(curve, at_points, self.points_mb),
            "fig10": fig10(at_points, self.points_mb),
            "fig11": fig11(at_points, self.points_mb),
            "projections": projections.projections(runs, costs, self.others, brief=len(chosen) > 1),
        }


def with_points(curve, at_points, points_mb):
    """Replacement at every size as it is, which no server changes, and everything at the points as priced anew.

    Parameters
    ----------
    curve : list of (str, float, str, float)
        Replacement at every size, in the columns returned.
    at_points : dict of str to Penalty
    points_mb : dict of str to float

    Returns
    -------
    DataFrame
        ``traversal, cache_mb, component, us``.
    """
    columns = ["traversal", "cache_mb", "component", "us"]
    kept = as_written(pd.DataFrame(curve, columns=columns))
    kept = kept[kept["cache_mb"] != kept["traversal"].map(points_mb)]
    new = [(name, points_mb[name], part, one.us[part]) for name, one in at_points.items() for part in PENALTY]
    return pd.concat([kept, pd.DataFrame(new, columns=columns)]).sort_values(columns[:2], ignore_index=True)


def sweep(data, words, sizes_mb, iterations, *, table=True):
    """HAC's fetches of every traversal at every size, as `misspenalty.studies.hac.runs.sweeps` has them.

    Parameters
    ----------
    data : Database
    words : int
        Of an activation record.
    sizes_mb : dict of str to sequence of float
    iterations : int
    table : bool
        Whether a size pays for the indirection table.

    Returns
    -------
    dict of str to DataFrame
        By traversal.
    """
    return {
        name: sweep_hac(data, name, sizes_mb[name], iterations, table=table, activation_words=words) for name in STATIC
    }
