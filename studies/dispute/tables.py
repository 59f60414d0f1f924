"""Compute the tidy tables of the dispute study from published results and replays."""

import pandas as pd

from misspenalty_studies.dispute.published import over_traces, reduction
from misspenalty_studies.dispute.runs import PROGRAM

COMPETING = ("lru", "clock", "lfu", "slru", "2q", "arc", "car", "lirs", "clockpro", "mq", "wtinylfu", "wtinylfu_10",
             "s3fifo", "sieve")  # fmt: skip
EVERY_TRACE = "every trace"
REDUCTIONS = [
    "kind", "size_ratio", "policy", "traces", "mean", "ci95_low", "ci95_high", "median", "worse_than_fifo_pct",
    "below_lru_pct", "best_pct",
]  # fmt: skip
KEYS = ["trace", "kind", "size_ratio"]


def wide(replays):
    """Return miss ratios with one row per trace and size and one column per policy."""
    return replays.pivot(index=KEYS, columns="policy", values="miss_ratio").reset_index()


def replayed_reductions(replays):
    """Compute the gain of each policy over FIFO on the replayed traces, by kind of trace and size.

    Parameters
    ----------
    replays : DataFrame
        From `runs.replay_file`, concatenated for all traces.

    Returns
    -------
    DataFrame
        ``kind, size_ratio, policy, traces, mean, ci95_low, ci95_high, median, worse_than_fifo_pct, below_lru_pct,
        best_pct``: the reduction of the miss ratio from FIFO in %, as in `published.reduction`, with the 95 % interval
        of its mean (empty for few traces, see `published.over_traces`); shares of traces on which the policy misses
        more often than FIFO, less often than LRU, and least often of the policies in `COMPETING` (alone or on a tie).
        The kind ``every trace`` covers all traces. Sizes used for only one trace are left out.
    """
    cells = wide(replays)
    sizes = replays.groupby("size_ratio")["trace"].nunique()
    cells = cells[cells["size_ratio"].isin(sizes.index[sizes > 1])]
    groups = [(EVERY_TRACE, cells), *cells.groupby("kind", sort=False)]
    parts = {}
    for kind, group in groups:
        for size, rows in group.groupby("size_ratio"):
            gains = reduction(rows, COMPETING)
            low, high = over_traces(gains)
            values = rows[list(COMPETING)]
            parts[kind, size] = pd.DataFrame(
                {
                    "traces": gains.count(),
                    "mean": gains.mean(),
                    "ci95_low": low,
                    "ci95_high": high,
                    "median": gains.median(),
                    "worse_than_fifo_pct": 100 * (gains < 0).mean(),
                    "below_lru_pct": 100 * values.lt(rows["lru"], axis=0).mean(),
                    "best_pct": 100 * values.eq(values.min(axis=1), axis=0).mean(),
                }
            )
    if not parts:
        return pd.DataFrame(columns=REDUCTIONS)
    return pd.concat(parts, names=["kind", "size_ratio", "policy"]).reset_index()


def trace_comparisons(replays):
    """Compare SIEVE's and S3-FIFO's misses with those of other policies, per trace and size.

    Returns
    -------
    DataFrame
        ``trace, kind, size_ratio, sieve_below_arc_pct, sieve_below_lru_pct, s3fifo_below_wtinylfu_pct, best_policy``.
        ``<a>_below_<b>_pct`` is how far, in %, the miss ratio of a is below that of b (negative if above);
        ``best_policy`` is the first policy in `COMPETING` with the fewest misses.
    """
    rows = wide(replays)
    made = rows[KEYS].copy()
    for ours, other in (("sieve", "arc"), ("sieve", "lru"), ("s3fifo", "wtinylfu")):
        made[f"{ours}_below_{other}_pct"] = 100 * (1 - rows[ours] / rows[other])
    return made.assign(best_policy=rows[list(COMPETING)].idxmin(axis=1))


def program(replays, published):
    """Compare the misses that other authors' programs counted with ours.

    Parameters
    ----------
    replays : DataFrame
        From `runs.replay_file`, concatenated for all traces.
    published : DataFrame
        ``studies/dispute/published/program.csv``: ``trace, cache_blocks, policy, misses, definition``.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, reading, definition, program_misses, misses, difference, references``; one row
        per published count and replayed reading. In the reading ``own`` the policy is as defined here, in ``program``
        as defined by libCacheSim; only policies that libCacheSim defines otherwise have the latter.
    """
    keys = ["trace", "cache_blocks", "policy"]
    ours = replays[[*keys, "misses", "references"]].drop_duplicates(keys).assign(reading="own")
    by_rules = ours["policy"].str.endswith(PROGRAM)
    ours.loc[by_rules, "reading"] = "program"
    ours["policy"] = ours["policy"].str.removesuffix(PROGRAM)
    table = published.rename(columns={"misses": "program_misses"}).merge(ours, on=keys)
    table["difference"] = table["misses"] - table["program_misses"]
    return table[[*keys, "reading", "definition", "program_misses", "misses", "difference", "references"]]
