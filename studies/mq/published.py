"""Convert the values that the paper prints to the columns that the figures compare."""

import pandas as pd

from misspenalty.plotting.style import need


def printed_hit_ratios(published):
    """Return the paper's Table 4 in the columns that `pairs` expects."""
    return published.rename(columns={"storage_cache_mb": "cache_mb"}).assign(derived=False)


def published_rates(published):
    """Return the bars of the paper's Figure 7 that its text states or implies.

    Parameters
    ----------
    published : DataFrame
        ``studies/mq/published/fig7.csv``: gains over another bar, as printed.

    Returns
    -------
    DataFrame
        ``cache_mb, policy, normalized_rate, derived``; a bar is derived if its rate is not in `published` but follows
        from a gain over another bar or from "similar".
    """
    need(published, ["cache_mb", "policy", "versus_cache_mb", "versus_policy", "relation", "normalized_rate"], "fig7")
    rows = published[published["cache_mb"] != "all"].astype({"cache_mb": float})
    found = {
        (row.cache_mb, row.policy): (row.normalized_rate, False)
        for row in rows.dropna(subset="normalized_rate").itertuples()
    }
    for _ in range(len(rows)):  # each pass can use the rates found by the previous one
        for row in rows.itertuples():
            bar, other = (row.cache_mb, row.policy), (float(row.versus_cache_mb), row.versus_policy)
            if row.relation == "gain" and other in found and bar not in found:
                gain = (row.gain_low_pct + row.gain_high_pct) / 2
                found[bar] = (found[other][0] * (1 + gain / 100), True)
            elif row.relation == "similar_rate" and (bar in found) != (other in found):
                known, unknown = (bar, other) if bar in found else (other, bar)
                found[unknown] = (found[known][0], True)
    return pd.DataFrame(
        [(mb, policy, rate, derived) for (mb, policy), (rate, derived) in sorted(found.items())],
        columns=["cache_mb", "policy", "normalized_rate", "derived"],
    )
