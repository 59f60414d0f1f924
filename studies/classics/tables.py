"""Compute the tidy tables of the classics study from its replays."""

import pandas as pd

KEYS = ["trace", "cache_blocks", "policy"]
AS_PROGRAM = {"lirs_program": "lirs", "lirs2_program": "lirs2", "arc_program": "arc"}  # label of a replay -> policy


def hit_ratios(replays):
    """Choose the parameters with our best hit ratio, per trace, size and policy; published values play no part.

    Parameters
    ----------
    replays : DataFrame
        From `runs.replay_trace`, one table or several concatenated.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, hit_ratio_pct, misses, references, parameters, combinations`` (the number tried);
        of equally good combinations, the first is chosen.
    """
    replays = replays.fillna({"parameters": ""})
    groups = replays.groupby(KEYS, sort=False)
    best = replays.loc[groups["misses"].idxmin()].assign(combinations=groups.size().to_numpy())
    columns = [*KEYS, "hit_ratio_pct", "misses", "references", "parameters", "combinations"]
    return best[columns].reset_index(drop=True)


def comparison(hit_ratios, published):
    """Compare published hit ratios with ours.

    Parameters
    ----------
    hit_ratios : DataFrame
        From `hit_ratios`.
    published : DataFrame
        ``trace, cache_blocks, policy, hit_ratio_pct, source``.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, source, published_pct, hit_ratio_pct, difference_points, parameters``; one row
        per published number whose trace, size and policy were replayed. A number for LFU, whose definition is not
        stated, has two rows, one for each of our versions.
    """
    published = published.rename(columns={"hit_ratio_pct": "published_pct"})
    other = published[published["policy"] == "lfu"].assign(policy="lfu_history")
    table = pd.concat([published, other]).merge(hit_ratios, on=KEYS, validate="many_to_one")
    table["difference_points"] = table["hit_ratio_pct"] - table["published_pct"]
    columns = [*KEYS, "source", "published_pct", "hit_ratio_pct", "difference_points", "parameters"]
    return table[columns].sort_values(["trace", "source", "cache_blocks"], kind="stable").reset_index(drop=True)


def program(hit_ratios, published):
    """Compare the misses of the program of LIRS2's authors with ours.

    Parameters
    ----------
    hit_ratios : DataFrame
        From `hit_ratios`.
    published : DataFrame
        ``trace, cache_blocks, policy, misses``.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, reading, program_misses, misses, difference, references``. `reading` is ``own``
        for the policies as defined here, and ``program`` for LIRS, ARC and LIRS2 under the program's conventions.
    """
    own = hit_ratios.assign(reading="own")
    same = own[own["policy"].isin(AS_PROGRAM)].replace({"policy": AS_PROGRAM}).assign(reading="program")
    own = own[~own["policy"].isin(AS_PROGRAM)]
    columns = [*KEYS, "reading", "misses", "references"]
    table = published.rename(columns={"misses": "program_misses"}).merge(
        pd.concat([own[columns], same[columns]]), on=KEYS
    )
    table["difference"] = table["misses"] - table["program_misses"]
    return table[[*KEYS, "reading", "program_misses", "misses", "difference", "references"]]
