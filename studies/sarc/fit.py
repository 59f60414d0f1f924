"""Fit the parameters of SARC's machine that no source states, to the published rows of the two LRU variants alone.

There are three kinds of step, each fitted to rows that depend on its parameters. The load: LRU Top's cache-insensitive
rows depend on neither the cache-sensitive footprint nor an insertion point; they determine `load_factor` and
`host_slots`. The front end: both variants' writes at the two lowest loads of each configuration, where no drive is
saturated, determine `controller_us` and `contention_us`. The space: the other rows of both variants determine
`footprint_sensitive_gb`, `insertion`, `degree` and `staging`. No published value of SARC is used.

`misspenalty_studies.sarc.distances` measures how far the published points are from the model's lines. A step moves
along one parameter after another until neither neighbour is better, and then halves its strides
(`misspenalty_studies.sarc.descent`). The coarse searches of the load and the space start from several points, use one
seed and keep their strides; the second steps of these two kinds run the best points of these searches with all seeds,
and continue from the best one down to the finest strides. The front end has only one step, which uses all seeds. The
searches of a step share their runs. Runs are not repeated for a parameter that does not affect them, and a new load
factor only moves a run's line along the load axis.
"""

import functools
import itertools
import sys
import threading
from concurrent.futures import Future

import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.io.threads import map_in_threads
from misspenalty_studies.common.claims.ledger import load_calibration
from misspenalty_studies.sarc.descent import descend
from misspenalty_studies.sarc.distances import factors_by_seed, mean_factor, under_factor
from misspenalty_studies.sarc.runs import load_shark, points, simulate, touches

LOAD = (("cache_insensitive", "lru_top"),)
SPACE = (("cache_sensitive", "lru_top"), ("cache_sensitive", "lru_bottom"), ("cache_insensitive", "lru_bottom"))
OF_LOAD = ("load_factor", "host_slots")
OF_SPACE = ("footprint_sensitive_gb", "insertion", "degree", "staging")
STEPS = {  # step, in order -> its parameters, and the rows to which it is fitted: (configuration, policy)
    "load": (OF_LOAD, LOAD),
    "front": (("controller_us", "contention_us"), (*LOAD, *SPACE)),
    "space": (OF_SPACE, SPACE),
    "load_again": (OF_LOAD, LOAD),
    "space_again": (OF_SPACE, SPACE),
}
AGAIN = {"load_again": "load", "space_again": "space"}  # step -> the coarse step that it continues
DOUBLED = ("insertion", "degree")  # their strides are numbers of doublings
SIDES = ("read_ms", "write_ms")


def try_values(shark, config, policy, seed, loads):
    """Run one trial and return its responses.

    Parameters
    ----------
    shark : Shark
        Machine with the values to try and the phases of the trial.
    config, policy : str
        Configuration and policy to run.
    seed : int
    loads : sequence of float
        Load points, scaled IOPS.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy, seed, read_ms, write_ms``.
    """
    table = points(simulate(shark, config, policy, seed, loads), shark.discarded_minutes)
    return table[["config", "scaled_iops", "policy", "seed", *SIDES]]


def targets_of(fits, step):
    """Return the published values that a step is fitted to.

    Parameters
    ----------
    fits : iterable of Fit
        From `misspenalty_studies.common.claims.ledger.load_calibration`.
    step : str
        One of `STEPS`.

    Returns
    -------
    dict of (str, float, str, str) to float
        In the form that `factors_by_seed` takes.

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
    """Return the lowest and highest value of each fitted parameter of the study.

    Parameters
    ----------
    fits : iterable of Fit
        From `misspenalty_studies.common.claims.ledger.load_calibration`.

    Returns
    -------
    dict of str to (float, float)
    """
    return {fit.parameter: fit.range for fit in fits if fit.study == "sarc"}


def summary(grid, ranges):
    """Return the fitted values and the range within which each is known.

    Parameters
    ----------
    grid : DataFrame
        Every point tried: ``step``, the parameters, ``mean_factor, highest_factor``.
    ranges : dict of str to (float, float)
        Lowest and highest value that may be tried.

    Returns
    -------
    DataFrame
        One row per parameter: ``parameter, value`` (of the best point of the last step that has it), ``lowest,
        highest`` (from `ranges`), ``at_bound, step, mean_factor, lowest_factor, highest_factor`` (of that point, over
        its seeds), and ``within_low, within_high``: the parameter's range over those points of the step whose mean
        factor is at most the best point's ``highest_factor``.
    """
    rows = {}
    for step, (names, _) in STEPS.items():
        part = grid[grid["step"] == step]
        best = part.loc[part["mean_factor"].idxmin()]
        near = part[part["mean_factor"] <= best["highest_factor"]]
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
                "lowest_factor": best["lowest_factor"],
                "highest_factor": best["highest_factor"],
                "within_low": near[name].min(),
                "within_high": near[name].max(),
            }
    return pd.DataFrame(rows.values())


class Runs:
    """Results of runs that several threads request; each run is made once, by the first thread that requests it.

    Parameters
    ----------
    run : callable
        Makes the run of a case, which can be hashed.

    Examples
    --------
    >>> runs = Runs(lambda case: [case])
    >>> runs(3) is runs(3), len(runs)
    (True, 1)
    """

    def __init__(self, run):
        self._run, self._made, self._lock = run, {}, threading.Lock()

    def __len__(self):
        return len(self._made)

    def __call__(self, case):
        """Return the result for a case; if another thread is making the run, wait for it."""
        with self._lock:
            first = case not in self._made
            made = self._made.setdefault(case, Future())
        if first:
            try:
                made.set_result(self._run(case))
            except BaseException as error:
                made.set_exception(error)
        return made.result()


class Search:
    """Search of one step from one start.

    Parameters
    ----------
    shark : Shark
        Machine with all other values and the phases.
    step : str
        One of `STEPS`.
    targets : dict
        As in `factors_by_seed`; each configuration and policy is run at the loads of its targets.
    seeds : sequence of int
    threads : int
        Number of parallel runs.
    runs : Runs
        Runs of the step; searches with the same machine, step and targets may share them.
    """

    def __init__(self, shark, step, targets, seeds, threads, runs):
        self.shark, self.targets, self.seeds, self.threads, self.runs = shark, targets, seeds, threads, runs
        self.names, self.groups = STEPS[step]
        self.step, self.tried = step, {}

    def _case(self, group, point, seed):
        values = dict(zip(self.names, point, strict=True))
        names = [name for name in self.names if name != "load_factor" and touches(name, *group)]
        return group, seed, tuple((name, values[name]) for name in names)

    def factors(self, wanted):
        """Return the mean factor of each point."""
        cases = itertools.product(self.groups, wanted, self.seeds)
        map_in_threads(self.runs, dict.fromkeys(itertools.starmap(self._case, cases)), self.threads)
        for point in wanted:
            self.tried[point] = self._found(point)
        return [self.tried[point]["mean_factor"] for point in wanted]

    def _found(self, point):
        cases = itertools.product(self.groups, [point], self.seeds)
        lines = pd.concat([self.runs(case) for case in itertools.starmap(self._case, cases)])
        if "load_factor" in self.names:
            lines = under_factor(lines, point[self.names.index("load_factor")] / self.shark.load_factor)
        off = factors_by_seed(lines, self.targets)
        return {"mean_factor": mean_factor(off), "lowest_factor": min(off), "highest_factor": max(off)}

    def table(self, start):
        """Return every point tried."""
        rows = [dict(zip(self.names, point, strict=True)) | found for point, found in self.tried.items()]
        return pd.DataFrame(rows).assign(start=start, step=self.step, seeds=len(self.seeds))


def search(machine, calibration, step, settings, begin, starts, finalists, short, seeds, threads, before=()):
    """Run one step of the fit (a workflow job).

    Parameters
    ----------
    machine, calibration : path-like
        ``machine.yaml``; ``data/calibration.yaml``, whose ranges limit the search.
    step : str
        One of `STEPS`.
    settings : dict
        ``divisor`` and ``values`` of the configuration.
    begin : dict of str to dict
        Parameter -> its first ``value``, first stride ``first`` and last stride ``finest``.
    starts : sequence of dict of str to float
        Further first values; the coarse steps also search from each of these.
    finalists : int
        Number of a coarse step's best points that are run with all seeds, next to the best point from each start.
    short : dict
        Lengths of the phases.
    seeds : sequence of int
        The coarse steps use only the first.
    threads : int
        Number of parallel runs.
    before : sequence of path-like
        Tables of the earlier steps, in order; their best values replace the first values in `begin`.

    Returns
    -------
    DataFrame
        One row per point tried: the step's parameters, ``start`` (number of the start it was reached from),
        ``mean_factor, lowest_factor, highest_factor`` (over the seeds), ``step, seeds`` (their number).
    """
    fits = load_calibration(calibration)
    names, _ = STEPS[step]
    tables = {table["step"].iloc[0]: table for table in map(pd.read_csv, before)}
    found = {name: entry["value"] for name, entry in begin.items()}
    for table in tables.values():
        best = table.loc[table["mean_factor"].idxmin()]
        found |= {name: best[name] for name in found if name in table}
    shark, _ = load_shark(machine, settings["divisor"], {**found, **settings["values"], **short})
    coarse, targets, bounds = step in AGAIN.values(), targets_of(fits, step), ranges_of(fits)
    points = list(dict.fromkeys(tuple((found | start)[name] for name in names) for start in [{}, *starts]))
    strides = list(zip(*(_strides(begin[name], step) for name in names), strict=True))
    doubled = [name in DOUBLED for name in names]
    runs = Runs(functools.partial(_run_case, shark, targets))

    def searched(case):
        start, origin = case
        trials = Search(shark, step, targets, seeds[:1] if coarse else seeds, threads, runs)
        if step in AGAIN:
            origin = _finalist(trials, tables[AGAIN[step]], finalists)
        descend(trials.factors, origin, *strides, [bounds[name] for name in names], doubled)
        return trials.table(start)

    table = pd.concat(map_in_threads(searched, enumerate(points if coarse else points[:1]), threads), ignore_index=True)
    print(f"{step}: {len(runs)} runs", file=sys.stderr)
    return table.drop_duplicates(list(names)).sort_values("mean_factor", kind="stable", ignore_index=True)


def _run_case(shark, targets, case):
    """Run one trial at the loads for which its configuration and policy have targets."""
    group, seed, values = case
    loads = sorted({to[1] for to in targets if (to[0], to[2]) == group})
    return try_values(shark.with_values(dict(values)), *group, seed, loads)


def _finalist(trials, coarse, number):
    """Return the best point, over all seeds, among the best ones of a coarse search and the best from each start."""
    first = coarse.sort_values("mean_factor", kind="stable")
    wanted = pd.concat([first.head(number), first.drop_duplicates("start")])[list(trials.names)]
    wanted = list(dict.fromkeys(wanted.itertuples(index=False, name=None)))
    return min(zip(trials.factors(wanted), wanted, strict=True))[1]


def _strides(entry, step):
    """Return a parameter's first and last stride.

    A coarse search keeps its first stride; the step that continues it begins with half of that stride, or with the
    finest if that is larger.
    """
    first, finest = entry["first"], entry["finest"]
    begins = first / 2 if step in AGAIN else first
    ends = first if step in AGAIN.values() else finest
    return max(begins, finest), ends


def gather(calibration, steps):
    """Gather the results of all steps (a workflow job).

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
