"""Compute the MQ study's tables from its runs."""

import numpy as np
import pandas as pd


def write_rules(runs, published, cache_mb):
    """Compare the hit ratios under each treatment of writes with those that the paper's Table 3 implies.

    Parameters
    ----------
    runs : DataFrame
        From `misspenalty_studies.mq.runs.replay_policies`.
    published : DataFrame
        ``studies/mq/published/table3.csv``, whose counts give the hit ratios of Table 2 at that size.
    cache_mb : float
        Cache size of Table 3, MB.

    Returns
    -------
    DataFrame
        ``capture, policy, writes, published_pct, hit_ratio_pct, difference``; rows of policy ``all`` have the mean of
        the absolute differences over the policies.
    """
    said = (100 * (published["hits_short"] + published["hits_long"]) / published["reads"]).set_axis(published["policy"])
    rows = runs[(runs["cache_mb"] == cache_mb) & runs["policy"].isin(said.index)]
    rows = rows[["capture", "policy", "writes", "hit_ratio_pct"]].reset_index(drop=True)
    rows.insert(3, "published_pct", rows["policy"].map(said))
    rows["difference"] = rows["hit_ratio_pct"] - rows["published_pct"]
    mean = rows.assign(difference=rows["difference"].abs()).groupby(["capture", "writes"], sort=False)["difference"]
    return pd.concat([rows, mean.mean().reset_index().assign(policy="all")], ignore_index=True)


def table4(replays, rates, cache_mb):
    """Compare MQ with LRU at the paper's cache sizes, with writes counted as accesses (the paper's Table 4).

    Parameters
    ----------
    replays : DataFrame
        From `misspenalty_studies.mq.runs.replay_policies`, for one capture.
    rates : DataFrame
        ``rates`` from `misspenalty_studies.mq.rates.fig7` of the same capture, for the hit ratios of the live run.
    cache_mb : sequence of float

    Returns
    -------
    DataFrame
        ``cache_mb, policy, hit_ratio_pct, timed_hit_ratio_pct, requests, hits, capture, writes, parameters``.
    """
    counted = replays[replays["cache_mb"].isin(cache_mb) & (replays["writes"] == "count")]
    table = pd.concat([counted[counted["policy"] == policy] for policy in ("mq", "lru")], ignore_index=True)
    live = rates[["cache_mb", "policy", "timed_hit_ratio_pct"]]
    table = table.merge(live, on=["cache_mb", "policy"], how="left", validate="one_to_one")
    columns = ["requests", "hits", "capture", "writes", "parameters"]
    return table[["cache_mb", "policy", "hit_ratio_pct", "timed_hit_ratio_pct", *columns]]


def bounds(table4, fig7, lru_curve):
    """Compute the values in the paper's two arguments: the upper bound on the end-performance gain, and the
    size at which LRU matches MQ.

    Parameters
    ----------
    table4 : DataFrame
        ``cache_mb, policy, hit_ratio_pct`` of mq and lru.
    fig7 : DataFrame
        ``cache_mb, policy, normalized_rate`` of mq and lru.
    lru_curve : DataFrame
        ``cache_mb, hit_ratio_pct`` of LRU on a fine grid of sizes.

    Returns
    -------
    DataFrame
        Per ``cache_mb``: ``relative_miss_difference_pct`` (the paper's upper bound, a share of time),
        ``rate_bound_pct`` (the same bound as a gain in rate), ``rate_gain_pct``, ``equal_lru_mb`` (the interpolated
        size at which LRU has MQ's hit ratio) and ``equal_lru_factor`` (that size divided by MQ's); the last two are NaN
        beyond the grid.
    """
    hit = table4.pivot(index="cache_mb", columns="policy", values="hit_ratio_pct")
    rate = fig7.pivot(index="cache_mb", columns="policy", values="normalized_rate")
    share = (hit["mq"] - hit["lru"]) / (100 - hit["lru"])
    curve = lru_curve.sort_values("cache_mb")
    equal = np.interp(hit["mq"], curve["hit_ratio_pct"], curve["cache_mb"], left=np.nan, right=np.nan)
    return pd.DataFrame(
        {
            "cache_mb": hit.index,
            "relative_miss_difference_pct": 100 * share.to_numpy(),
            "rate_bound_pct": 100 * (1 / (1 - share.to_numpy()) - 1),
            "rate_gain_pct": 100 * (rate["mq"] / rate["lru"] - 1).reindex(hit.index).to_numpy(),
            "equal_lru_mb": equal,
            "equal_lru_factor": equal / hit.index.to_numpy(),
        }
    )
