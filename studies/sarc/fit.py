"""The SARC study's fit: what no source states, found from the published rows of the two LRU variants alone.

Two kinds of step, each a search against the rows that depend on its parameters. The load: LRU Top's cache-insensitive
rows depend on neither the cache-sensitive footprint nor an insertion point, so they alone determine `load_factor`,
`controller_us` and `host_slots`. The space: the other rows of both variants determine `footprint_sensitive_gb` and
`insertion` together, since LRU Bottom's lead over LRU Top depends on both, and the strip of the host, `host_stripe_kb`.
All rows depend on the strip, so both steps are repeated, starting from what they found, with the strip found. No value
of SARC is used. The measure is the mean factor between model and paper over read and write responses: exp(mean
|ln(model / paper)|).

A step moves along one parameter after another until neither neighbour is better, and halves its strides when no
parameter moves: once the first time, down to the finest stride the second time. Its runs are shorter than the study's
and have one seed. A run that a parameter does not affect is not repeated. The second time, further insertion points are
tried, to see whether there is another optimum, and the best few points are run in the study's own phases with
several seeds; the best of these is chosen.
"""

import itertools
import sys

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.common.points import in_threads
from misspenalty_studies.sarc.runs import load_shark, points, simulate, touches

LOAD = (("cache_insensitive", "lru_top"),)
SPACE = (("cache_sensitive", "lru_top"), ("cache_sensitive", "lru_bottom"), ("cache_insensitive", "lru_bottom"))
STEPS = {  # step, in order -> its parameters, and the rows it is fitted to: (configuration, policy)
    "load": (("load_factor", "controller_us", "host_slots"), LOAD),
    "space": (("footprint_sensitive_gb", "insertion", "host_stripe_kb"), SPACE),
    "load_again": (("load_factor", "controller_us", "host_slots"), LOAD),
    "space_again": (("footprint_sensitive_gb", "insertion"), SPACE),
}
AGAIN = ("load_again", "space_again")  # with the strip found; the best points are run in the study's own phases
DOUBLED = ("host_stripe_kb",)  # its stride is a number of doublings
SIDES = ("read_ms", "write_ms")
NEAR = 1.05  # points within this factor of the best show how well a parameter is known


def mattering(step, config, policy):
    """The parameters of a step that one of its groups of rows depends on.

    Examples
    --------
    >>> mattering("space", "cache_insensitive", "lru_bottom")
    ['insertion', 'host_stripe_kb']
    """
    return [name for name in STEPS[step][0] if touches(name, config, policy)]


def try_values(shark, config, policy, seed):
    """Responses of one trial.

    Parameters
    ----------
    shark : Shark
        Machine with the values to try and the phases of the trial.
    config, policy : str
        One of a step's groups.
    seed : int

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, read_ms, write_ms``.
    """
    table = points(simulate(shark, config, policy, seed), shark.discarded_minutes)
    return table[["config", "scaled_iops", "policy", *SIDES]]


def mean_factor(tried, targets):
    """How far responses are from the published ones, up or down.

    Parameters
    ----------
    tried : DataFrame
        Rows of `try_values`; several seeds are averaged.
    targets : dict of (str, float, str, str) to float
        (config, scaled IOPS, policy, column) -> published ms.

    Returns
    -------
    float
        exp(mean |ln(model / paper)|).

    Raises
    ------
    ParameterError
        There is no target, or a target was not run.
    """
    if not targets:
        raise ParameterError("nothing to fit to")
    table = tried.groupby(["config", "scaled_iops", "policy"])[list(SIDES)].mean()
    try:
        off = [abs(np.log(table.loc[where[:3], where[3]] / ms)) for where, ms in targets.items()]
    except KeyError as error:
        raise ParameterError(f"{error.args[0]} is a target of the fit but was not run") from error
    return float(np.exp(np.mean(off)))


def targets_of(fits, step):
    """The published cells of a step.

    Parameters
    ----------
    fits : iterable of Fit
        From `misspenalty_studies.common.claims.load_calibration`.
    step : str
        Of `STEPS`.

    Returns
    -------
    dict of (str, float, str, str) to float
        In the form that `mean_factor` takes.

    Raises
    ------
    ParameterError
        A cell lies outside the rows that the step runs.
    """
    found = {}
    names, groups = STEPS[step]
    for fit in fits:
        if fit.study == "sarc" and fit.parameter in names:
            for cell in fit.published:
                where = cell["where"]
                if (where["config"], where["policy"]) not in groups:
                    raise ParameterError(
                        f"data/calibration.yaml: {fit.parameter} is fitted to {where}; expected rows of {groups}"
                    )
                found[where["config"], where["scaled_iops"], where["policy"], cell["column"]] = cell["value"]
    return found


def ranges_of(fits):
    """Lowest and highest value of each of the study's parameters.

    Parameters
    ----------
    fits : iterable of Fit
        From `misspenalty_studies.common.claims.load_calibration`.

    Returns
    -------
    dict of str to (float, float)
    """
    return {fit.parameter: fit.range for fit in fits if fit.study == "sarc"}


def moved(point, place, stride, bounds, doubled=False):
    """A point with one parameter changed, or None if that is out of range.

    Parameters
    ----------
    point : tuple of float
    place : int
        Index of the parameter.
    stride : float
        By how much; if `doubled`, by how many doublings.
    bounds : (float, float)
        Lowest and highest value.
    doubled : bool

    Returns
    -------
    tuple of float or None

    Examples
    --------
    >>> moved((1.0, 64), 1, -1, (16, 1024), doubled=True)
    (1.0, 32.0)
    """
    value = round(point[place] * 2.0**stride if doubled else point[place] + stride, 10)
    low, high = bounds
    return (*point[:place], value, *point[place + 1 :]) if low <= value <= high else None


def descend(factors, start, strides, finest, ranges, doubled=None):
    """Search along one parameter after another, with ever smaller strides.

    Parameters
    ----------
    factors : callable
        Returns the factor of each point of a list.
    start : tuple of float
    strides, finest : sequence of float
        Per parameter: first stride and the stride at which the search ends; their ratio is a power of two.
    ranges : sequence of (float, float)
        Lowest and highest value of each parameter.
    doubled : sequence of bool, optional
        Whether a parameter's strides are doublings.

    Returns
    -------
    tuple of float
        A point none of whose neighbours is better.

    Examples
    --------
    >>> bowl = lambda points: [abs(x - 3) + abs(y - 2) for x, y in points]
    >>> descend(bowl, (9, 9), (4, 4), (1, 1), ((0, 10), (0, 10)))
    (3, 2)
    """
    doubled = doubled or [False] * len(start)
    point, best = start, factors([start])[0]
    while True:
        before = point
        for place, (stride, bounds, twice) in enumerate(zip(strides, ranges, doubled, strict=True)):
            ways = [-stride, stride]
            while ways:
                near = [moved(point, place, way, bounds, twice) for way in ways]
                near = {found: way for found, way in zip(near, ways, strict=True) if found is not None}
                least, nearest = min(zip(factors(list(near)), near, strict=True), default=(best, point))
                ways = [near[nearest]] if least < best else []
                if ways:
                    point, best = nearest, least
        if point == before:
            if list(strides) == list(finest):
                return point
            strides = [max(stride / 2, end) for stride, end in zip(strides, finest, strict=True)]
            strides = [int(stride) if stride == int(stride) else stride for stride in strides]


def summary(grid, ranges):
    """The values found, and how well they are known.

    Parameters
    ----------
    grid : DataFrame
        Every point tried: ``step, phases``, the parameters, ``mean_factor``.
    ranges : dict of str to (float, float)
        Lowest and highest value that may be tried.

    Returns
    -------
    DataFrame
        One row per parameter: ``parameter, value`` (of the best point of the last step that has it, in the study's own
        phases where it was run in them), ``lowest, highest, at_bound, step, mean_factor`` (of that point), and
        ``within_low, within_high``: the range over points at most 5 % worse than the best of the same phases.
    """
    rows = {}
    for step, (names, _) in STEPS.items():
        part = grid[grid["step"] == step]
        near = part[part["mean_factor"] <= NEAR * part.groupby("phases")["mean_factor"].transform("min")]
        own = part[part["phases"] == ("whole" if step in AGAIN else "short")]
        best = own.loc[own["mean_factor"].idxmin()]
        for name in names:
            value, (low, high) = best[name], ranges[name]
            rows[name] = {
                "parameter": name,
                "value": value,
                "lowest": low,
                "highest": high,
                "at_bound": not low < value < high,
                "step": step,
                "mean_factor": best["mean_factor"],
                "within_low": near[name].min(),
                "within_high": near[name].max(),
            }
    return pd.DataFrame(rows.values())


class Search:
    """Trials of one step in one kind of phases, each run once.

    Parameters
    ----------
    shark : Shark
        Machine with all other values and the phases.
    step : str
        One of `STEPS`. targets : dict
        As in `mean_factor`.
    seeds : sequence of int
        The responses are means over them.
    threads : int
        Number of parallel runs.
    """

    def __init__(self, shark, step, targets, seeds, threads):
        self.shark, self.targets, self.seeds, self.threads = shark, targets, seeds, threads
        self.names, self.groups = STEPS[step]
        self.step, self.runs, self.tried = step, {}, {}

    def _case(self, group, point, seed):
        values = dict(zip(self.names, point, strict=True))
        return group, seed, tuple((name, values[name]) for name in mattering(self.step, *group))

    def factors(self, wanted):
        """The mean factor of each point."""
        cases = itertools.product(self.groups, wanted, self.seeds)
        new = list(dict.fromkeys(case for case in itertools.starmap(self._case, cases) if case not in self.runs))

        def run(case):
            group, seed, values = case
            return try_values(self.shark.with_values(dict(values)), *group, seed)

        self.runs |= zip(new, in_threads(run, new, self.threads), strict=True)
        for point in wanted:
            cases = itertools.product(self.groups, [point], self.seeds)
            tables = [self.runs[case] for case in itertools.starmap(self._case, cases)]
            self.tried[point] = mean_factor(pd.concat(tables), self.targets)
        return [self.tried[point] for point in wanted]

    def best(self, number):
        """The best points tried, best first."""
        return sorted(self.tried, key=self.tried.get)[:number]

    def table(self, phases):
        """Every point tried, best first."""
        rows = [dict(zip(self.names, point, strict=True)) | {"mean_factor": f} for point, f in self.tried.items()]
        return pd.DataFrame(rows).assign(step=self.step, phases=phases).sort_values("mean_factor", kind="stable")


def search(machine, calibration, step, settings, start, insertions, finalists, short, seeds, threads, before=()):
    """Workflow job: one step of the fit.

    Parameters
    ----------
    machine, calibration : path-like
        ``machine.yaml``, ``data/calibration.yaml``, whose ranges limit the search.
    step : str
        Of `STEPS`.
    settings : dict
        ``divisor`` and ``values`` of the configuration.
    start : dict of str to dict
        By parameter: ``value`` to start from, ``first`` and ``finest`` stride.
    insertions : sequence of float
        Insertion points tried around the space found, when it is searched again.
    finalists : int
        Number of points of a second search that are run in the study's own phases.
    short : dict
        Lengths of the phases of the search.
    seeds : sequence of int
        Seeds of the finalists; the search uses only the first.
    threads : int
        Number of parallel runs.
    before : sequence of path-like
        What this returned for the previous steps.

    Returns
    -------
    DataFrame
        Every point tried: the parameters, ``mean_factor``, ``step``, ``phases`` (short or whole); best first.
    """
    fits, names = load_calibration(calibration), STEPS[step][0]
    found = {name: entry["value"] for name, entry in start.items()}
    for earlier in map(pd.read_csv, before):
        best = earlier.iloc[0]
        found |= {name: best[name] for name in found if name in earlier}
    bounds = ranges_of(fits)
    trials = {}
    for phases, lengths, used in (("short", short, seeds[:1]), ("whole", {}, seeds)):
        shark, _ = load_shark(machine, settings["divisor"], {**found, **settings["values"], **lengths})
        trials[phases] = Search(shark, step, targets_of(fits, step), used, threads)
    strides = [_strides(start[name], step in AGAIN) for name in names]
    origin = tuple(found[name] for name in names)
    doubled = [name in DOUBLED for name in names]
    ranges = [bounds[name] for name in names]
    short_best = descend(trials["short"].factors, origin, *zip(*strides, strict=True), ranges, doubled)
    if step == "space_again":
        trials["short"].factors([(short_best[0], insertion) for insertion in insertions])
    if step in AGAIN:
        trials["whole"].factors(trials["short"].best(finalists))
    tables = [made.table(phases) for phases, made in reversed(trials.items()) if made.tried]
    print(f"{step}: {sum(len(made.runs) for made in trials.values())} runs", file=sys.stderr)
    return pd.concat(tables, ignore_index=True)


def _strides(entry, again):
    """First and last stride: the first search ends at half its first stride, the second one goes on from there."""
    first, finest = entry["first"], entry["finest"]
    begins, ends = (first / 4, finest) if again else (first, first / 2)
    return max(begins, finest), max(ends, finest)


def gather(calibration, steps):
    """Workflow job: what all steps found.

    Parameters
    ----------
    calibration : path-like
        ``data/calibration.yaml``.
    steps : sequence of path-like
        What `search` returned for each step.

    Returns
    -------
    dict of str to DataFrame
        ``fit`` (from `summary`), ``fit_grid`` (every point of all steps), ``fitted`` (parameter and value, for the
        runs).
    """
    grid = pd.concat(map(pd.read_csv, steps), ignore_index=True)
    table = summary(grid, ranges_of(load_calibration(calibration)))
    return {"fit": table, "fit_grid": grid, "fitted": table[["parameter", "value"]]}
