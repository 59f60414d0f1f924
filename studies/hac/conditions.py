"""Compute the HAC study's tables under other readings of what the paper leaves open.

The readings concern what a cache size includes, the server's cache, the order of pages on the drive, where T1- stops,
the database, and the unit costs that decide a claim that is not reproduced. The study's fit is not repeated. For hit
times (Table 3), the numbers of instructions per object are changed one at a time. The paper does not print what a cache
size includes; in the study, it covers frames and indirection table. If sizes cover the frames alone, the cache holds
more, and hot iterations at the paper's sizes may fetch nothing; under this reading, only Figure 9 is computed, for its
peaks of replacement. The conditions on the server's cache, the order of pages on the drive, T1- and the database are
tried alone and together, at most one from each group; the paper's projections for several clients, other networks and a
busy processor are computed only under each condition alone. A server's cache of 28.5 MB, with which hot T1 hits about
as often as printed, is tried alone and only on the study's database. Unit costs, too, are changed one at a time and
only on this database. The Pentium Pro's costs affect only the projections to it. If the number of words in an
activation record changes, the traversals are run again at the paper's points.
"""

import itertools
import sys

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.common.points import as_written
from misspenalty_studies.hac import further, projections
from misspenalty_studies.hac.objects.traversals import STATIC
from misspenalty_studies.hac.prices import client_us, load_fitted
from misspenalty_studies.hac.runs import database, run
from misspenalty_studies.hac.seeds import BySeed, mean_over_seeds, read_sweeps, samples
from misspenalty_studies.hac.tables import (
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

FRAMES_ALONE = "cache size without the indirection table"
SERVER = {"server cache of 26 MB": {"server_cache_mb": 26}, "server cache of 24 MB": {"server_cache_mb": 24}}
AS_PRINTED = {"server cache of 28.5 MB": {"server_cache_mb": 28.5}}  # its hit rate is near the printed one
PAGES = {
    "pages in the order of their creation": {"page_order": "contiguous"},
    "pages spread at random over the whole drive": {"page_order": "scattered"},
}
PER_OBJECT = {  # instructions per object that the testbed charges for lines of Table 3
    "method_instructions": "the program itself",
    "exception_instructions": "exception code",
    "concurrency_instructions": "concurrency control",
    "usage_instructions": "usage statistics",
    "residency_instructions": "residency checks",
    "swizzle_check_instructions": "swizzling checks",
    "indirection_instructions": "indirection",
}
CALLS = "T1- stopped by a count of calls"
ACTIVATION = "activation_words"
DECIDING = {  # unit costs that decide a claim that is not reproduced
    "ppro_cpi": "Pentium Pro with {:g} cycles per instruction",
    "ppro_l2_ns": "Pentium Pro with a second-level cache of {:g} ns",
    "ppro_memory_ns": "Pentium Pro with a memory of {:g} ns",
    "install_instructions": "{:g} instructions to install an object",
    "swizzle_instructions": "{:g} instructions to swizzle a reference",
    "stack_word_instructions": "{:g} instructions per word of the stack",
    "retain_instructions": "{:g} instructions to retain an object",
    "scan_object_instructions": "{:g} instructions to examine an object",
    ACTIVATION: "activation records of {:g} words",
}
CONVERSION = ("install_instructions", "swizzle_instructions")  # replacement does not depend on these unit costs


def explored(layouts):
    """Return every set of conditions to try: the empty set, each condition alone, then combinations in order of size.

    Parameters
    ----------
    layouts : iterable of str
        Names of the databases other than the study's.

    Returns
    -------
    list of tuple of str

    Examples
    --------
    >>> [" + ".join(chosen) for chosen in explored(["documents in an area of their own"])][4:6]
    ['pages spread at random over the whole drive', 'server cache of 26 MB']
    >>> len(explored(["documents in an area of their own"]))
    37
    """
    groups = (SERVER, PAGES, (CALLS,), tuple(layouts))
    chosen = [tuple(filter(None, each)) for each in itertools.product(*((None, *group) for group in groups))]
    return sorted([*chosen, tuple(AS_PRINTED)], key=len)


def under_conditions(
    total,
    frames,
    others_total,
    others_frames,
    calls,
    machine,
    fit,
    points_mb,
    hit_time_mb,
    least_share,
    iterations,
    layouts,
    sizes,
):
    """Compute Figures 9 to 11, the projections and Table 3 under the conditions that concern them (a workflow job).

    Parameters
    ----------
    total, frames : sequence of path-like
        HAC's sweeps, in the order of `STATIC`; a cache size covers frames and table in `total`, and frames alone in
        `frames`.
    others_total, others_frames : sequence of path-like
        The same for the other databases, concatenated.
    calls : sequence of path-like
        Sweeps of `BY_CALLS`, T1- under the condition `CALLS`, on the study's database and on the others.
    machine, fit : path-like
        ``machine.yaml`` and the table of the fit.
    points_mb : dict of str to float
        Traversal -> client cache.
    hit_time_mb : float
        Client cache of Table 3.
    least_share : float
        As in `fig9`.
    iterations : int
    layouts : dict of str to dict
        Name -> the sizes in which another database differs.
    sizes : dict
        Sizes of the database.

    Returns
    -------
    dict of str to DataFrame
        ``fig9, fig10, fig11, projections, hit_time``, means over seeds, each with the column ``condition``.
    """
    frames, found = read_sweeps(frames), {}
    calls = {name: BySeed({"T1-": path}) for name, path in zip(("", *layouts), calls, strict=True)}
    elsewhere = {
        name: [read_sweeps(paths) for paths in both]
        for name, *both in zip(layouts, batched(others_total), batched(others_frames), strict=True)
    }

    def keep(words, made):
        for item, rows in made.items():
            found.setdefault(item, {}).setdefault(words, []).append(rows)

    for seed, data, base, costs in samples(total, load_fitted(machine, fit), sizes):
        keep(FRAMES_ALONE, {"fig9": all_of_fig9(frames[seed], costs, least_share)})
        for words, table in hit_times(data, hit_time_mb, costs.testbed):
            keep(words, {"hit_time": table})
        for name, changed in ({"": None} | layouts).items():
            swept, own = base, data if changed is None else database(**{"seed": seed, **sizes, **changed})
            priced = costs._replace(pages=len(own.pages))
            if changed is not None:
                swept, alone = (sweeps[seed] for sweeps in elsewhere[name])
                keep(f"{FRAMES_ALONE}; {name}", {"fig9": all_of_fig9(alone, priced, least_share)})
            one = _Database(own, swept, calls[name][seed]["T1-"], points_mb, priced, iterations, least_share)
            for words, made in () if changed is not None else one.unit_costs():
                keep(words, made)
            for chosen in explored([name] if name else []):
                if chosen and (name in chosen or not name):
                    keep("; ".join(chosen), one.under(chosen))
    return {
        item: pd.concat(
            [
                mean_over_seeds(tables, KEYS[item]).assign(condition=words)
                for words, tables in sorted(each.items(), key=lambda entry: entry[0].count("; "))
                if len(tables) == len(frames)  # leave out tables that a seed lacks
            ],
            ignore_index=True,
        )
        for item, each in found.items()
    }


class _Database:
    """One seed's runs on one database, priced under several conditions; shared parts are computed once."""

    def __init__(self, data, sweeps, calls, points_mb, costs, iterations, least_share):
        self.points_mb, self.costs, self.least_share = points_mb, costs, least_share
        self.data, self.sweeps, self.iterations = data, sweeps, iterations
        runs, curves = runs_at(sweeps, points_mb), {name: self._curve(name, swept) for name, swept in sweeps.items()}
        size = points_mb["T1-"]
        # The keys say whether a count of calls stops T1-; the values are dicts by traversal.
        self.runs = {False: runs, True: runs | {"T1-": Point(at_size(calls, size), size)}}
        self.curves = {False: curves, True: curves | {"T1-": self._curve("T1-", calls)}}
        self.others = projections.other_runs(data, points_mb, iterations, costs.testbed)

    def _curve(self, name, swept, costs=None):
        """Return Figure 9's replacement rows at sizes with `enough` hot fetches; they do not depend on the server."""
        sizes = memory_of(swept)["cache_mb"]
        return [
            (name, size, "replacement", client_us(fetches, size, costs or self.costs)["replacement"])
            for size, fetches in ((size, at_size(swept, size)) for size in sizes)
            if enough(fetches, self.least_share)
        ]

    def unit_costs(self):
        """Change one unit cost at a time; yield each condition in words and its tables by item.

        The fetch is not simulated again: the client's costs could change its time only by changing how much the drive
        reads ahead while the client works.
        """
        runs = self.runs[False]
        own = {name: one.penalty(self.costs) for name, one in runs.items()}
        for parameter, value in self.costs.testbed.variations():
            if parameter not in DECIDING:
                continue
            costs = self.costs._replace(testbed=self.costs.testbed.with_values(**{parameter: value}))
            words = DECIDING[parameter].format(value)
            if parameter.startswith("ppro_"):
                yield words, {"projections": projections.processors(runs, costs)}
                continue
            logs = (
                self._run_again(value) if parameter == ACTIVATION else {name: run.fetches for name, run in runs.items()}
            )
            at_points = {name: at_client(own[name], logs[name], self.points_mb[name], costs) for name in runs}
            made = {"fig10": fig10(at_points, self.points_mb)}
            if parameter != ACTIVATION:
                curves = self.curves[False] if parameter in CONVERSION else self._curves(costs)
                made["fig9"] = with_points([row for rows in curves.values() for row in rows], at_points, self.points_mb)
            yield words, made

    def _run_again(self, words):
        """Run the traversals again at the points, with activation records of `words` words; return their fetches."""
        return {
            name: run(self.data, "hac", name, size, self.iterations, activation_words=words).fetches
            for name, size in self.points_mb.items()
        }

    def _curves(self, costs):
        return {name: self._curve(name, swept, costs) for name, swept in self.sweeps.items()}

    def under(self, chosen):
        """Return the tables by item under the chosen conditions; an empty dict if a point has no hot misses left."""
        calls, changed = CALLS in chosen, {}
        for words in chosen:
            changed |= (SERVER | AS_PRINTED | PAGES).get(words, {})
        costs, runs = self.costs._replace(testbed=self.costs.testbed.with_values(**changed)), self.runs[calls]
        try:
            at_points = {name: run.penalty(costs) for name, run in runs.items()}
        except ParameterError as error:  # a point has no hot misses left
            print(f"{'; '.join(chosen)}, seed {costs.seed}: {error}", file=sys.stderr)
            return {}
        curve = [row for rows in self.curves[calls].values() for row in rows]
        return {
            "fig9": with_points(curve, at_points, self.points_mb),
            "fig10": fig10(at_points, self.points_mb),
            "fig11": fig11(at_points, self.points_mb),
            "projections": projections.projections(runs, costs, self.others, brief=len(chosen) > 1),
        }


def at_client(one, fetches, cache_mb, costs):
    """Return a penalty with the client's part priced again.

    Parameters
    ----------
    one : Penalty
    fetches, cache_mb, costs
        As in `misspenalty_studies.hac.prices.client_us`.

    Returns
    -------
    Penalty
    """
    changed = client_us(fetches, cache_mb, costs)
    more = sum(changed[part] - one.us[part] for part in ("replacement", "conversion"))
    return one._replace(us=one.us | changed | {"total": one.us["total"] + more})


def hit_times(data, cache_mb, testbed):
    """Yield Table 3 with each alternative value that the testbed's file lists for a cost in `PER_OBJECT`.

    Yields
    ------
    condition : str
    table : DataFrame
        From `misspenalty_studies.hac.further.priced_hits`.
    """
    counts = {name: further.without_misses(data, name, cache_mb) for name in ("T1", "T6")}
    for parameter, value in testbed.variations():
        if parameter in PER_OBJECT:
            words = f"{value:g} instructions per object for {PER_OBJECT[parameter]}"
            yield words, further.priced_hits(counts, cache_mb, testbed.with_values(**{parameter: value}))


def with_points(curve, at_points, points_mb):
    """Combine the replacement rows of every size, which do not depend on the server, with the newly priced components
    of the points.

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


def batched(paths):
    """Split a list that has one path per traversal for each database into one tuple per database.

    Examples
    --------
    >>> batched(["a_T6", "a_T1-", "a_T1", "a_T1+", "b_T6", "b_T1-", "b_T1", "b_T1+"])[1]
    ('b_T6', 'b_T1-', 'b_T1', 'b_T1+')
    """
    return list(zip(*[iter(paths)] * len(STATIC), strict=True))
