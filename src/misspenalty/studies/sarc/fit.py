"""The SARC study's fit: what no source states, found from the published rows of the two LRU variants alone.

Two steps, each a search of a whole grid against the rows that hang on its parameters and on nothing later. The load:
LRU Top's cache-insensitive rows know neither the cache-sensitive footprint nor an insertion point, so they alone give
`load_factor` and `host_slots`. The space: the other rows of both variants give `footprint_sensitive_gb` and `insertion`
together, since how far LRU Bottom is ahead of LRU Top hangs on both. No value of SARC is looked at. The measure is the
mean factor between model and paper over read and write responses: exp(mean |ln(model / paper)|).

Each step looks twice: at a coarse grid in runs shorter than the study's, with one seed, and then around the best point
in the study's own phases, with several.
"""

import itertools
import sys

import numpy as np
import pandas as pd

from misspenalty.claims.ledger import load_calibration
from misspenalty.errors import ParameterError
from misspenalty.studies.points import as_written, in_threads
from misspenalty.studies.sarc.runs import load_shark, points, simulate

STEPS = {  # step -> its parameters, and what it is fitted to: (configuration, policy)
    "load": (("load_factor", "host_slots"), (("cache_insensitive", "lru_top"),)),
    "space": (
        ("footprint_sensitive_gb", "insertion"),
        (("cache_sensitive", "lru_top"), ("cache_sensitive", "lru_bottom"), ("cache_insensitive", "lru_bottom")),
    ),
}
ALONE = {"footprint_sensitive_gb": "cache_sensitive", "insertion": "lru_bottom"}  # touches nothing else
SIDES = ("read_ms", "write_ms")


def trials(step, config, policy, grid):
    """What has to be run in a step for one group of rows: each point of the grid that makes a difference to them.

    Parameters
    ----------
    step : str
        Of `STEPS`.
    config, policy : str
        One of the step's groups.
    grid : dict of str to sequence
        Values of each of the step's parameters.

    Returns
    -------
    list of dict
        Values.
    """
    names = [name for name in STEPS[step][0] if _matters(name, config, policy)]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*(grid[name] for name in names))]


def _matters(name, config, policy):
    return ALONE.get(name, config) in (config, policy)


def try_values(shark, step, config, policy, values, seeds):
    """Responses of one trial.

    Parameters
    ----------
    shark : Shark
        With all other values, and with the phases of the trial.
    step, config, policy, values
        As in `trials`.
    seeds : sequence of int
        The responses are means over them.

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy``, the step's parameters (NaN where they don't matter), ``read_ms, write_ms``.
    """
    runs = pd.concat([simulate(shark.with_values(values), config, policy, seed) for seed in seeds], ignore_index=True)
    each = points(runs, shark.discarded_minutes)
    table = each.groupby(["config", "scaled_iops", "policy"], sort=False)[list(SIDES)].mean().reset_index()
    for place, name in enumerate(STEPS[step][0]):
        table.insert(3 + place, name, values.get(name, np.nan))
    return table


def choose(step, tried, targets):
    """The best point of a step's grid.

    Parameters
    ----------
    step : str
        Of `STEPS`.
    tried : DataFrame
        Rows of `try_values`.
    targets : dict of (str, float, str, str) to float
        (config, scaled IOPS, policy, column) -> published ms.

    Returns
    -------
    DataFrame
        The whole grid, best first: the step's parameters and ``mean_factor``.

    Raises
    ------
    ParameterError
        There is no target, or a target was not run.
    """
    names = list(STEPS[step][0])
    if not targets:
        raise ParameterError(f"nothing to fit {', '.join(names)} to")
    rows = []
    for values in itertools.product(*(sorted(tried[name].dropna().unique()) for name in names)):
        here = pd.Series(True, index=tried.index)
        for name, value in zip(names, values, strict=True):
            here &= (tried[name] == value) | tried[name].isna()
        part = tried[here].set_index(["config", "scaled_iops", "policy"])
        try:
            off = [abs(np.log(part.loc[where[:3], where[3]] / ms)) for where, ms in targets.items()]
        except KeyError as error:
            raise ParameterError(f"{error.args[0]} is a target of the fit but was not run") from error
        rows.append(dict(zip(names, values, strict=True)) | {"mean_factor": float(np.exp(np.mean(off)))})
    return pd.DataFrame(rows).sort_values("mean_factor", kind="stable").reset_index(drop=True)


def targets_of(fits, step):
    """The published cells of a step.

    Parameters
    ----------
    fits : iterable of Fit
        From `misspenalty.claims.load_calibration`.
    step : str
        Of `STEPS`.

    Returns
    -------
    dict of (str, float, str, str) to float
        As `choose` takes them.

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


def summary(coarse, fine, ranges):
    """What was found, and what the next best points of the coarse grid are.

    Parameters
    ----------
    coarse, fine : dict of str to DataFrame
        Step -> from `choose`, of the coarse grid and of the points around its best.
    ranges : dict of str to sequence
        Values of the grid, by parameter.

    Returns
    -------
    DataFrame
        One row a parameter: ``parameter, value, lowest, highest`` (of the coarse grid), ``at_bound, step,
        mean_factor`` (of the value), and ``within_low, within_high``: the values in points of the coarse grid at most
        5 % worse than its best.
    """
    rows = []
    for step, table in coarse.items():
        near = table[table["mean_factor"] <= 1.05 * table["mean_factor"].iloc[0]]
        for name in STEPS[step][0]:
            value, low, high = fine[step][name].iloc[0], min(ranges[name]), max(ranges[name])
            rows.append(
                {
                    "parameter": name,
                    "value": value,
                    "lowest": low,
                    "highest": high,
                    "at_bound": not low < value < high,
                    "step": step,
                    "mean_factor": fine[step]["mean_factor"].iloc[0],
                    "within_low": near[name].min(),
                    "within_high": near[name].max(),
                }
            )
    return pd.DataFrame(rows)


def around(found, offsets):
    """The points that are looked at around the best one of the coarse grid.

    Parameters
    ----------
    found : dict of str to float
    offsets : dict of str to sequence of float
        What is added to a parameter's value; it stays where nothing is listed.

    Returns
    -------
    dict of str to list

    Examples
    --------
    >>> around({"insertion": 0.05, "host_slots": 4}, {"insertion": [-0.005, 0, 0.005]})
    {'insertion': [0.045, 0.05, 0.055], 'host_slots': [4]}
    """
    return {name: [round(value + offset, 10) for offset in offsets.get(name, [0])] for name, value in found.items()}


def search(machine, calibration, settings, grid, offsets, short, seeds, threads):
    """A job of the workflow: both steps of the fit.

    Parameters
    ----------
    machine, calibration : path-like
        ``shark.yaml``, ``data/calibration.yaml``.
    settings : dict
        ``divisor`` and ``values`` of the configuration.
    grid : dict of str to sequence
        What is tried for each parameter.
    offsets : dict of str to sequence of float
        As in `around`.
    short : dict
        Lengths of the phases on the coarse grid.
    seeds : sequence of int
        Of the points around the best; the coarse grid has the first alone.
    threads : int
        Trials at a time.

    Returns
    -------
    dict of str to DataFrame
        ``fit`` (of `summary`), ``fit_grid`` (every point of both steps with its ``step`` and its ``phases``, short or
        whole), ``fitted`` (parameter and value, for the runs).
    """
    fits = load_calibration(calibration)
    values = {name: tried[0] for name, tried in grid.items()}  # those that a trial does not set do not matter to it
    coarse, fine = {}, {}

    def rank(step, points, phases, seeds):
        shark, _ = load_shark(machine, settings["divisor"], {**values, **settings["values"], **phases})
        cases = [(*group, trial) for group in STEPS[step][1] for trial in trials(step, *group, points)]
        tables = in_threads(lambda case: try_values(shark, step, *case, seeds), cases, threads)
        ranked = as_written(choose(step, as_written(pd.concat(tables, ignore_index=True)), targets_of(fits, step)))
        print(f"{step}: {len(cases)} trials", ranked.head(20).to_string(index=False), sep="\n", file=sys.stderr)
        return ranked

    for step, (names, _) in STEPS.items():
        coarse[step] = rank(step, grid, short, seeds[:1])
        fine[step] = rank(step, around(coarse[step].iloc[0][list(names)].to_dict(), offsets), {}, seeds)
        values |= fine[step].iloc[0][list(names)].to_dict()
    table = summary(coarse, fine, grid)
    every = [
        ranked[step].assign(step=step, phases=phases)
        for step in STEPS
        for phases, ranked in (("short", coarse), ("whole", fine))
    ]
    return {"fit": table, "fit_grid": pd.concat(every), "fitted": table[["parameter", "value"]]}
