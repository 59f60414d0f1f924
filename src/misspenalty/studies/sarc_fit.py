"""The SARC study's fit: what no source states, found from the published rows of the two LRU variants alone.

Two steps, each a search of a whole grid. `load_factor`, `host_slots` and `footprint_sensitive_gb` are fitted to LRU Top
in both configurations; then `insertion`, which only LRU Bottom has, to LRU Bottom. No value of SARC is looked at. The
measure is the mean factor between model and paper over read and write responses: exp(mean |ln(model / paper)|). Runs
are shorter than the study's, one seed.
"""

import itertools

import numpy as np
import pandas as pd

from misspenalty.errors import ParameterError
from misspenalty.studies.sarc import points, simulate
from misspenalty.studies.sarc_machine import CONFIGS

STEPS = {
    "lru_top": ("load_factor", "host_slots", "footprint_sensitive_gb"),
    "lru_bottom": ("insertion",),
}
ALONE = "footprint_sensitive_gb"  # touches the cache-sensitive configuration only
SIDES = ("read_ms", "write_ms")


def trials(step, grid):
    """What has to be run in a step: every point of the grid in both configurations, but none twice.

    Parameters
    ----------
    step : {"lru_top", "lru_bottom"}
    grid : dict of str to sequence
        Values of each of the step's parameters.

    Returns
    -------
    list of (str, dict)
        Configuration and values.
    """
    names = STEPS[step]
    listed = []
    for config in CONFIGS:
        own = [name for name in names if name != ALONE or config == "cache_sensitive"]
        for values in itertools.product(*(grid[name] for name in own)):
            listed.append((config, dict(zip(own, values, strict=True))))
    return listed


def try_values(shark, step, config, values, seed):
    """Responses of one trial.

    Parameters
    ----------
    shark : Shark
        With all other values, and with the short phases of the fit.
    step, config, values
        From `trials`.
    seed : int

    Returns
    -------
    DataFrame
        ``config, scaled_iops, policy``, the step's parameters (NaN where they don't matter), ``read_ms, write_ms``.
    """
    run = simulate(shark.with_values(values), config, step, seed)
    table = points(run, shark.discarded_minutes)[["config", "scaled_iops", "policy", *SIDES]]
    for place, name in enumerate(STEPS[step]):
        table.insert(3 + place, name, values.get(name, np.nan))
    return table


def choose(step, tried, targets):
    """The best point of a step's grid.

    Parameters
    ----------
    step : {"lru_top", "lru_bottom"}
    tried : DataFrame
        Rows of `try_values`.
    targets : dict of (str, float, str) to float
        (config, scaled IOPS, column) -> published ms, of the step's policy.

    Returns
    -------
    DataFrame
        The whole grid, best first: the step's parameters and ``mean_factor``.

    Raises
    ------
    ParameterError
        There is no target, or a target's load was not run.
    """
    names = list(STEPS[step])
    keys = [name for name in names if name != ALONE]
    rows = []
    if not targets:
        raise ParameterError(f"nothing to fit {', '.join(names)} to")
    everywhere = tried[tried["config"] != "cache_sensitive"]
    for values, sensitive in tried[tried["config"] == "cache_sensitive"].groupby(names, sort=True):
        values = dict(zip(names, values, strict=True))
        rest = everywhere
        for key in keys:
            rest = rest[rest[key] == values[key]]
        both = pd.concat([sensitive, rest]).set_index(["config", "scaled_iops"])
        try:
            off = [abs(np.log(both.loc[(config, load), side] / ms)) for (config, load, side), ms in targets.items()]
        except KeyError as error:
            raise ParameterError(f"{error.args[0]} is a target of the fit but was not run") from error
        rows.append(values | {"mean_factor": float(np.exp(np.mean(off)))})
    return pd.DataFrame(rows).sort_values("mean_factor", kind="stable").reset_index(drop=True)


def targets_of(fits, step):
    """The published cells of a step.

    Parameters
    ----------
    fits : iterable of Fit
        From `misspenalty.claims.load_calibration`.
    step : {"lru_top", "lru_bottom"}

    Returns
    -------
    dict of (str, float, str) to float
    """
    found = {}
    for fit in fits:
        if fit.study == "sarc" and fit.parameter in STEPS[step]:
            for cell in fit.published:
                where = cell["where"]
                if where["policy"] == step:
                    found[where["config"], where["scaled_iops"], cell["column"]] = cell["value"]
    return found


def logged(table, claims, fits):
    """What became of the fit, for the claims on a value that it aimed at.

    Parameters
    ----------
    table : DataFrame
        From `summary`.
    claims : collection of str
        Ids of the study's claims.
    fits : iterable of Fit
        From `misspenalty.claims.load_calibration`.

    Returns
    -------
    DataFrame
        ``id, note``.
    """
    short = {"cache_sensitive": "cs", "cache_insensitive": "ci"}
    rows = []
    for step in STEPS:
        found = table[table["fitted_to"] == step]
        names = ", ".join(f"{name} {value:g}" for name, value in zip(found["parameter"], found["value"], strict=True))
        note = f"a target of the fit of {names}; mean factor off {found['mean_factor'].iloc[0]:.3f}"
        for config, load, column in targets_of(fits, step):
            claim = f"sarc.table2.{short[config]}.{load}.{step}.{column.removesuffix('_ms')}"
            rows += [(claim, note)] if claim in claims else []
    return pd.DataFrame(rows, columns=["id", "note"])


def summary(chosen, ranges):
    """What was found, and what the next best points of the grid are.

    Parameters
    ----------
    chosen : dict of str to DataFrame
        Step -> from `choose`.
    ranges : dict of str to sequence
        Values of the grid, by parameter.

    Returns
    -------
    DataFrame
        One row a parameter: ``parameter, value, lowest, highest`` (of the grid), ``at_bound``, ``fitted_to`` (policy),
        ``mean_factor``, and ``within_low, within_high``: the values in points of the grid at most 5 % worse.
    """
    rows = []
    for step, table in chosen.items():
        near = table[table["mean_factor"] <= 1.05 * table["mean_factor"].iloc[0]]
        for name in STEPS[step]:
            value, low, high = table[name].iloc[0], min(ranges[name]), max(ranges[name])
            rows.append(
                {
                    "parameter": name,
                    "value": value,
                    "lowest": low,
                    "highest": high,
                    "at_bound": value in (low, high),
                    "fitted_to": step,
                    "mean_factor": table["mean_factor"].iloc[0],
                    "within_low": near[name].min(),
                    "within_high": near[name].max(),
                }
            )
    return pd.DataFrame(rows)
