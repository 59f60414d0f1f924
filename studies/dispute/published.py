"""Aggregate the published results again: choose traces, and estimate each policy's gain over FIFO.

The definitions are those of the authors' scripts. The reduction of a policy is (FIFO - policy) / FIFO of the miss
ratios if it is a gain, and (FIFO - policy) / policy if it is a loss, so it is never below -1. The rules of `steps`
decide whether a trace is used at a size; the script uses 0.1 %, 1 %, 10 % and 40 % of a trace's objects.

Percentiles are interpolated linearly, like the authors'. An interval of a mean is Student's t interval; `over_traces`
treats traces as independent draws. Traces of one data set are not independent of each other, so `over_datasets` treats
only the data sets as independent. Fewer than `LEAST_VALUES` traces or data sets have no interval. (Until
November 2026, intervals were the central 95 % of a percentile bootstrap. With five normal values, such intervals
contain the true mean in 82 % of the cases, and with two in 48 %.)
"""

import numpy as np
import pandas as pd

from misspenalty.io.external import open_copy
from misspenalty_studies.common.statistics import half_width
from misspenalty_studies.dispute.always_missed import always_missed

POLICIES = {  # our names for the columns of the table
    "FIFO": "fifo",
    "LRU": "lru",
    "LeCaR": "lecar",
    "LHD": "lhd",
    "LIRS": "lirs",
    "ARC": "arc",
    "Clock": "clock",
    "TwoQ": "2q",
    "S4LRU(25:25:25:25)": "slru",
    "FIFO_Merge_FREQUENCY": "fifo_merge",
    "S3FIFO": "s3fifo",
    "WTinyLFU-w0.01-SLRU": "wtinylfu",
    "WTinyLFU-w0.10-SLRU": "wtinylfu_10",
    "Cacheus": "cacheus",
    "B-LRU": "b_lru",
    "S3FIFO-d-1": "s3fifo_d_1",
    "S3FIFO-d": "s3fifo_d",
    "clock2": "clock_2bits",
    "S3FIFO-1": "s3fifo_1",
    "LRB": "lrb",
}
FIGURE_6 = (
    "s3fifo",
    "wtinylfu",
    "wtinylfu_10",
    "lirs",
    "2q",
    "slru",
    "arc",
    "cacheus",
    "lecar",
    "lhd",
    "fifo_merge",
    "clock",
    "b_lru",
    "lru",
)
FIGURE_7 = ("s3fifo", "arc", "2q", "wtinylfu_10", "lirs", "cacheus", "lhd")
EVERY = tuple(name for name in POLICIES.values() if name != "fifo")
SIZES = (0.001, 0.01, 0.1, 0.4)
ALL_SIZES = 8
LEAST_OBJECTS = 1000
SIEVE_SOURCES = ("CDN1", "CDN2", "TencentPhoto", "Twitter", "Wiki", "meta_cdn", "meta_kv")
WEB = (*SIEVE_SOURCES, "SocialNetwork1")
AGGREGATED = ("reductions", "datasets", "selection", "examples", "always_missed")  # tables that `aggregate` makes
LEAST_VALUES = 5  # over four, an interval is 1.5 times as wide as the values' range, so the model dominates it


def aggregate(table):
    """Compute all tables of the published results.

    Parameters
    ----------
    table : path-like
        The packed results, see `packing.pack`.

    Returns
    -------
    dict of str to DataFrame
        ``reductions`` from `reductions` and ``datasets`` from `datasets`, with a column ``selection``: the traces that
        the authors' rules choose (``authors``), every trace on which FIFO misses (``all``), or those that the authors'
        rules choose from the seven sources of the SIEVE paper (``sieve``); ``selection`` from `selection`;
        ``examples`` from `examples`; ``always_missed`` from `always_missed.always_missed`.
    """
    results = read(table)
    web = results[results["dataset"].isin(SIEVE_SOURCES)]
    chosen = (("authors", results, FIGURE_6), ("all", results, None), ("sieve", web, FIGURE_6))
    gains = {name: reductions(rows, policies) for name, rows, policies in chosen}
    chosen = (("authors", results, FIGURE_7), ("all", results, None))
    sets = {name: datasets(rows, policies) for name, rows, policies in chosen}
    return {
        "reductions": pd.concat(gains, names=["selection"]).reset_index("selection"),
        "datasets": pd.concat(sets, names=["selection"]).reset_index("selection"),
        "selection": selection(results),
        "examples": examples(results),
        "always_missed": always_missed(results, FIGURE_6),
    }


def read(path):
    """Read the packed results with our names for the policies, and add a column for each rule of the selection that
    depends only on the trace."""
    with open_copy(path) as stream:
        table = pd.read_csv(stream).rename(columns=POLICIES)
    keys = ["dataset", "trace"]
    ratios = table.pivot(index=keys, columns="size_ratio", values="fifo")
    objects = table.pivot(index=keys, columns="size_ratio", values="cache_objects")
    facts = pd.DataFrame(
        {
            "whole": table.groupby(keys).size() == ALL_SIZES,
            "falls": ratios[0.1] != ratios[0.2],
            "large": objects[0.4] >= LEAST_OBJECTS,
        }
    )
    return table.merge(facts, left_on=keys, right_index=True)


def steps(results, size, policies):
    """Apply the rules of the authors' script one after another.

    Parameters
    ----------
    results : DataFrame
        From `read`.
    size : float
        Cache size, as a share of the objects.
    policies : sequence of str
        Policies that are plotted.

    Returns
    -------
    dict of str to DataFrame
        By rule, the rows of this size that remain after this rule and the earlier ones.
    """
    rows = results[results["size_ratio"] == size]
    left = {"result files": rows}
    for rule, holds in (
        ("all eight sizes", lambda rows: rows["whole"]),
        ("FIFO misses less often at 20 % than at 10 %", lambda rows: rows["falls"]),
        ("1,000 objects in the cache at 40 %", lambda rows: rows["large"]),
        ("1,000 objects in the cache at this size", lambda rows: rows["cache_objects"] >= LEAST_OBJECTS),
        ("FIFO misses sometimes, not always", lambda rows: ~rows["fifo"].isin([0, 1])),
        ("a result of every plotted policy", lambda rows: rows[list(policies)].notna().all(axis=1)),
    ):
        rows = rows[holds(rows)]
        left[rule] = rows
    return left


def chosen_rows(results, size, policies):
    """Return the rows used at a size: by the authors' rules or, if `policies` is None, all rows where FIFO misses."""
    if policies is None:
        return results[(results["size_ratio"] == size) & (results["fifo"] > 0)]
    return list(steps(results, size, policies).values())[-1]


def reduction(rows, policies=EVERY):
    """Return the reduction of the miss ratio from FIFO's, in %, with a column per policy; see the module's docstring.

    Examples
    --------
    >>> reduction(pd.DataFrame({"fifo": [0.4, 0.4], "lru": [0.3, 0.5]}), ["lru"])["lru"].tolist()
    [25.0, -20.0]
    """
    values = rows[list(policies)]
    gain = -values.sub(rows["fifo"], axis=0)
    return (100 * gain.div(values.where(gain < 0, rows["fifo"], axis=0))).round(10)


def reductions(results, policies):
    """Summarise the reduction from FIFO over traces, per size and policy.

    Parameters
    ----------
    results : DataFrame
        From `read`.
    policies : sequence of str, or None
        Policies whose results a trace must have; None: every trace where FIFO misses.

    Returns
    -------
    DataFrame
        ``size_ratio, policy``, the number of ``traces`` and, all in %, ``mean`` with its interval over traces
        (``ci95_low, ci95_high``) and over data sets (``datasets_ci95_low, datasets_ci95_high``); the mean of the data
        sets' means; the mean without the bound on losses; percentiles; how often the policy is worse than FIFO and than
        LRU; and how far the mean is behind S3-FIFO's on the same traces, with its intervals over traces and over data
        sets.
    """
    parts = {}
    for size in SIZES:
        rows = chosen_rows(results, size, policies)
        gains = reduction(rows)
        behind = -gains.sub(gains["s3fifo"], axis=0)
        low, high = over_traces(gains)
        low_sets, high_sets = over_datasets(gains, rows["dataset"])
        behind_low, behind_high = over_traces(behind)
        behind_low_sets, behind_high_sets = over_datasets(behind, rows["dataset"])
        quantiles = gains.quantile([0.1, 0.25, 0.5, 0.75, 0.9])
        unbounded = 100 * (1 - rows[list(EVERY)].div(rows["fifo"], axis=0))
        worse = rows[list(EVERY)].gt(rows["lru"], axis=0).where(rows[list(EVERY)].notna())
        parts[size] = pd.DataFrame(
            {
                "traces": gains.count(),
                "mean": gains.mean(),
                "ci95_low": low,
                "ci95_high": high,
                "datasets_ci95_low": low_sets,
                "datasets_ci95_high": high_sets,
                "mean_of_datasets": gains.groupby(rows["dataset"]).mean().mean(),
                "unbounded_mean": unbounded.mean(),
                **dict(zip(("p10", "p25", "median", "p75", "p90"), quantiles.to_numpy(), strict=True)),
                "worse_than_fifo_pct": 100 * (gains < 0).astype(float).where(gains.notna()).mean(),
                "worse_than_lru_pct": 100 * worse.astype(float).mean(),
                "behind_s3fifo": behind.mean(),
                "behind_ci95_low": behind_low,
                "behind_ci95_high": behind_high,
                "behind_datasets_ci95_low": behind_low_sets,
                "behind_datasets_ci95_high": behind_high_sets,
            }
        )
    return pd.concat(parts, names=["size_ratio", "policy"]).reset_index()


def over_traces(values):
    """Return the interval of each column's mean, with rows as independent draws; NaN for fewer than `LEAST_VALUES`.

    Returns
    -------
    low, high : Series
        By column.

    Examples
    --------
    >>> low, high = over_traces(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0], "y": [0.0, 1.0, 2.0, 3.0, None]}))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([1.04, nan], [4.96, nan])
    """
    number = values.count()
    half = half_width(values.std(), number).where(number >= LEAST_VALUES)
    return values.mean() - half, values.mean() + half


def over_datasets(values, dataset):
    """Return the interval of each column's mean over rows, with data sets as independent draws; NaN for fewer than
    `LEAST_VALUES` data sets.

    The means of the data sets are assumed to vary equally around the true mean, whatever their numbers of rows. Their
    standard deviation, in which each data set counts once, then determines that of the mean over rows, in which the
    weight of a data set is its number of rows. If one data set has most of the rows, the interval is wide.

    Returns
    -------
    low, high : Series
        By column.

    Examples
    --------
    >>> values = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0]})
    >>> low, high = over_datasets(values, pd.Series(list("abcdeee")))
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([1.31], [5.83])
    """
    groups = values.groupby(dataset)
    share, mean = groups.count() / values.count(), values.mean()
    number = (share > 0).sum()
    half = half_width(groups.mean().std(), number) * np.sqrt(number * (share**2).sum())
    half = half.where(number >= LEAST_VALUES)
    return mean - half, mean + half


def datasets(results, policies):
    """Compute the reduction from FIFO per data set, size and policy, and the policies' ranks there.

    Parameters
    ----------
    results, policies
        See `reductions`.

    Returns
    -------
    DataFrame
        ``dataset, web, size_ratio, policy, traces, mean, ci95_low, ci95_high, median, rank, rank_of_all``: ``mean``
        with its interval over the traces of the data set, in %; ``rank`` from 1 among the seven policies of `FIGURE_7`,
        and ``rank_of_all`` among all.
    """
    parts = {}
    for size in SIZES:
        rows = chosen_rows(results, size, policies)
        for name, group in rows.groupby("dataset"):
            gains = reduction(group)
            mean = gains.mean()
            low, high = over_traces(gains)
            parts[name, name in WEB, size] = pd.DataFrame(
                {
                    "traces": gains.count(),
                    "mean": mean,
                    "ci95_low": low,
                    "ci95_high": high,
                    "median": gains.median(),
                    "rank": mean[list(FIGURE_7)].rank(ascending=False, method="min").reindex(mean.index),
                    "rank_of_all": mean.rank(ascending=False, method="min"),
                }
            )
    return pd.concat(parts, names=["dataset", "web", "size_ratio", "policy"]).reset_index()


def selection(results):
    """Count the traces that each rule of the selection leaves, and compute its effect on the result.

    Returns
    -------
    DataFrame
        ``size_ratio, rule, traces, datasets, s3fifo_mean, best_policy, best_mean``: means of the reduction, in %, and
        the best of the fourteen policies of `FIGURE_6`. Rules accumulate, as in `steps`.
    """
    found = []
    for size in SIZES:
        for rule, rows in steps(results, size, FIGURE_6).items():
            means = reduction(rows[rows["fifo"] > 0], FIGURE_6).mean()
            found.append(
                {
                    "size_ratio": size,
                    "rule": rule,
                    "traces": len(rows),
                    "datasets": rows["dataset"].nunique(),
                    "s3fifo_mean": means["s3fifo"],
                    "best_policy": means.idxmax(),
                    "best_mean": means.max(),
                }
            )
    return pd.DataFrame(found)


def examples(results):
    """Return the miss ratios of the two traces in the paper's Table 2, at 10 % of their objects."""
    named = {"MSR": "hm_0.IQI.bin", "Twitter": "cluster52"}
    rows = results[(results["size_ratio"] == 0.1) & results["trace"].isin(named.values())]
    return rows.melt(
        ["dataset", "trace", "cache_objects"], list(POLICIES.values()), var_name="policy", value_name="miss_ratio"
    )
