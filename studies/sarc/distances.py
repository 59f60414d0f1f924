"""Measure how far published points are from the model's lines of response over load, as a factor.

The measure is the distance of a published point from the model's line on logarithmic axes of load and response. Where
the line is flat, it is the distance between the responses; where it is steep, between the loads. Near saturation, the
responses of different seeds differ by a factor of two, so those points alone would decide a mean of response ratios.
"""

import numpy as np

from misspenalty.errors import ParameterError


def distance(loads, responses, load, response):
    """Return how far a point is from a line of responses over loads, both on logarithmic axes.

    The last piece of the line is extended beyond its end.

    Parameters
    ----------
    loads, responses : array_like
        The line's points in rising order of load; at least two.
    load, response : float
        The point.

    Returns
    -------
    float

    Examples
    --------
    >>> distance([100, 200], [1, 1], 150, np.e), round(distance([100, 100.001], [1, 1000], 200, 3), 2)
    (1.0, 0.69)
    """
    line = np.log(np.column_stack([loads, responses]).astype(float))
    start, way, point = line[:-1], np.diff(line, axis=0), np.log([load, response])
    along = ((point - start) * way).sum(axis=1) / (way**2).sum(axis=1)
    ends = np.ones(len(way))
    ends[-1] = np.inf
    near = start + np.clip(along, 0, ends)[:, None] * way
    return float(np.sqrt(((point - near) ** 2).sum(axis=1)).min())


def factors_by_seed(tried, targets):
    """Return how far the published points are from the model's lines, seed by seed.

    Parameters
    ----------
    tried : DataFrame
        Rows of `misspenalty_studies.sarc.fit.try_values`.
    targets : dict of (str, float, str, str) to float
        (config, scaled IOPS, policy, column) -> published ms.

    Returns
    -------
    list of float
        exp(mean `distance`) of each seed.

    Raises
    ------
    ParameterError
        There is no target, or a target's policy was not run at two loads.
    """
    if not targets:
        raise ParameterError("there is no target to fit to")
    lines = {key: part for key, part in tried.groupby(["config", "policy", "seed"]) if len(part) > 1}
    found = []
    for seed in tried["seed"].unique():
        off = []
        for (config, load, policy, side), ms in targets.items():
            if (config, policy, seed) not in lines:
                raise ParameterError(f"{config}, {policy} is a target of the fit but was not run at two loads")
            line = lines[config, policy, seed]
            off.append(distance(line["scaled_iops"], line[side], load, ms))
        found.append(float(np.exp(np.mean(off))))
    return found


def under_factor(tried, factor):
    """Return the runs with their scaled loads converted to another load factor.

    Request rates and responses stay the same.

    Parameters
    ----------
    tried : DataFrame
    factor : float
        The new load factor divided by that of the runs.

    Returns
    -------
    DataFrame
    """
    return tried.assign(scaled_iops=tried["scaled_iops"] / factor)


def mean_factor(factors):
    """Return the geometric mean of the factors of several seeds.

    Examples
    --------
    >>> round(mean_factor([1.0, 4.0]), 9)
    2.0
    """
    return float(np.exp(np.mean(np.log(factors))))
