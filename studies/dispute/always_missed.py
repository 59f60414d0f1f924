"""Count the published results with a miss ratio of 1: some policies of the simulator admit nothing to a small cache."""

import numpy as np
import pandas as pd

BANDS = (("below 10", 0, 10), ("10 to 99", 10, 100), ("100 to 999", 100, 1000), ("1,000 and more", 1000, np.inf))


def always_missed(results, policies):
    """Count the results whose miss ratio is 1, by policy and number of objects in the cache.

    Parameters
    ----------
    results : DataFrame
        From `published.read`.
    policies : sequence of str

    Returns
    -------
    DataFrame
        ``objects_in_cache, policy, results, always_missed, always_missed_pct, fifo_hits``: the number of results in
        this class of cache sizes, the number of those with a miss ratio of 1 (as printed, four decimals), their share,
        and how many of them have hits under FIFO.

    Examples
    --------
    >>> rows = pd.DataFrame({"cache_objects": [5, 50], "fifo": [0.5, 0.5], "lru": [1.0, 0.4]})
    >>> always_missed(rows, ["lru"])[["objects_in_cache", "results", "always_missed", "fifo_hits"]].to_numpy().tolist()
    [['below 10', 1, 1, 1], ['10 to 99', 1, 0, 0]]
    """
    found = []
    for words, least, limit in BANDS:
        rows = results[results["cache_objects"].between(least, limit, inclusive="left")]
        for policy in policies:
            own = rows[rows[policy].notna()]
            always = own[own[policy] >= 1]
            if len(own):
                found.append(
                    {
                        "objects_in_cache": words,
                        "policy": policy,
                        "results": len(own),
                        "always_missed": len(always),
                        "always_missed_pct": 100 * len(always) / len(own),
                        "fifo_hits": int((always["fifo"] < 1).sum()),
                    }
                )
    return pd.DataFrame(found)
