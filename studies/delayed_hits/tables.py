"""Compute the tidy tables of the delayed-hits study from its runs."""

import pandas as pd

BASES = ("lru", "arc", "opt")
AUTHORS = {"belady": "opt", "lru_aggdelay": "lru_mad", "arc_aggdelay": "arc_mad", "belady_aggdelay": "opt_mad"}
CELL = ["trace", "cache_pct", "cache_entries", "fetch_steps"]


def gains(runs) -> pd.DataFrame:
    """Compute the gain from ranking by aggregate delay.

    Parameters
    ----------
    runs : DataFrame
        See `misspenalty_studies.delayed_hits.runs.step_runs`.

    Returns
    -------
    DataFrame
        One row per trace, size, fetch time and policy: the total latencies without and with ranking by aggregate delay,
        ``total_latency`` and ``total_latency_mad``, in steps, and ``gain_pct``, the percentage by which the latter is
        lower.
    """
    wide = runs.pivot(index=CELL, columns="policy", values="total_latency")
    parts = []
    for base in BASES:
        part = pd.DataFrame({"policy": base, "total_latency": wide[base], "total_latency_mad": wide[f"{base}_mad"]})
        parts.append(part.assign(gain_pct=100 * (1 - part["total_latency_mad"] / part["total_latency"])))
    return pd.concat(parts).reset_index().sort_values(["policy", *CELL], ignore_index=True)


def authors_program(runs, published) -> pd.DataFrame:
    """Compare our runs with those of the authors' programs.

    Parameters
    ----------
    runs : DataFrame
        See `misspenalty_studies.delayed_hits.runs.step_runs`.
    published : DataFrame
        ``data/raw/delayed_hits/authors_runs.csv``; policies that are not implemented here are left out.

    Returns
    -------
    DataFrame
        One row per run that both made: ``trace, policy, cache_entries, fetch_steps, total_latency, authors_latency,
        difference_pct, equal`` (whether hits, delayed hits, misses and latency are all equal).
    """
    theirs = published.assign(policy=published["policy"].replace(AUTHORS)).rename(columns={"z": "fetch_steps"})
    keys = ["trace", "policy", "cache_entries", "fetch_steps"]
    counts = ["hits", "delayed_hits", "misses", "total_latency"]
    both = runs.merge(theirs, on=keys, suffixes=("", "_authors"), validate="1:1")
    equal = pd.concat([both[name] == both[f"{name}_authors"] for name in counts], axis=1).all(axis=1)
    made = both[[*keys, "total_latency"]].assign(authors_latency=both["total_latency_authors"])
    made["difference_pct"] = 100 * (made["total_latency"] / made["authors_latency"] - 1)
    return made.assign(equal=equal)


def winners(times) -> pd.DataFrame:
    """Determine the policy with the most hits and the policies with the shortest response times.

    Parameters
    ----------
    times : DataFrame
        See `misspenalty_studies.delayed_hits.runs.response_times`.

    Returns
    -------
    DataFrame
        One row per trace, size and device. ``best_hit_ratio, best_mean, best_p99`` are names of policies (on a tie, the
        first by name). ``mean_differs, p99_differs`` say whether no policy with the most hits is among the fastest.
        ``slower_pct`` is how much longer, in %, the mean request takes with the fastest of the policies with the most
        hits than with the fastest of all policies.
    """
    rows = []
    for (trace, pct, size, device), cell in times.groupby(["trace", "cache_pct", "cache_blocks", "device"], sort=False):
        most = cell[cell["hit_ratio"] == cell["hit_ratio"].max()]
        mean, p99 = cell["mean_us"].min(), cell["p99_us"].min()
        rows.append(
            {
                "trace": trace,
                "cache_pct": pct,
                "cache_blocks": size,
                "device": device,
                "load": cell["load"].iloc[0],
                "best_hit_ratio": most["policy"].min(),
                "best_mean": cell.loc[cell["mean_us"] == mean, "policy"].min(),
                "best_p99": cell.loc[cell["p99_us"] == p99, "policy"].min(),
                "mean_differs": bool(most["mean_us"].min() > mean),
                "p99_differs": bool(most["p99_us"].min() > p99),
                "slower_pct": 100 * (most["mean_us"].min() / mean - 1),
            }
        )
    return pd.DataFrame(rows)


def disagreement(winners) -> pd.DataFrame:
    """Compute the share of the cells in which no policy with the most hits has the shortest response time.

    Parameters
    ----------
    winners : DataFrame
        See `winners`.

    Returns
    -------
    DataFrame
        One row for all cells, one for each device, one for each trace and one for each cache size: ``grouped_by, group,
        comparisons, mean_differs_pct, p99_differs_pct, slower_median_pct, slower_max_pct``; the last two are over the
        cells whose means differ, and NaN if there are none.
    """
    groups = [("all", "all", winners)]
    for by in ("device", "trace", "cache_pct"):
        groups += [(by, str(name), part) for name, part in winners.groupby(by, sort=False)]
    rows = []
    for by, name, part in groups:
        slower = part.loc[part["mean_differs"], "slower_pct"]
        rows.append(
            {
                "grouped_by": by,
                "group": name,
                "comparisons": len(part),
                "mean_differs_pct": 100 * part["mean_differs"].mean(),
                "p99_differs_pct": 100 * part["p99_differs"].mean(),
                "slower_median_pct": slower.median(),
                "slower_max_pct": slower.max(),
            }
        )
    return pd.DataFrame(rows)
