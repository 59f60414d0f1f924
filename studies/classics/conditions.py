"""Compute the classics study's tables from the same replays, under other readings of facts that the papers leave
open."""

import re

import pandas as pd

from misspenalty_studies.classics.tables import hit_ratios, program

IN_PLACE = {  # condition -> the policy, and the row with other parameters that replaces it
    "MQ without a history": ("mq", "mq_history_0"),
    "MQ's history as large as the cache": ("mq", "mq_history_1"),
    "MQ's history as large as the cache, its life time fixed at 500 accesses": ("mq", "mq_fixed"),
    "LRU-2 that knows nothing of evicted blocks": ("lru2", "lru2_history_0"),
    "LIRS under the conventions of its authors' program": ("lirs", "lirs_program"),
    "ARC under the conventions of the program of LIRS2's authors": ("arc", "arc_program"),
}
FIXED = "fixed splits of 1 to 99 % of the cache, none without a page"
UNTUNED = {  # condition -> policies whose correlated reference period is fixed at 0 instead of tuned
    "LRU-2 without a correlated reference period": ("lru2",),
    "LRFU without a correlated reference period": ("lrfu",),
}


def under_conditions(replays, published):
    """Return the tables that claims read, under each condition (a workflow job).

    Parameters
    ----------
    replays, published : path-like
        CSV files: the replays for `misspenalty_studies.classics.tables.hit_ratios`, and the published misses for
        `program`.

    Returns
    -------
    dict of str to DataFrame
        ``hit_ratios, program``, each with the column ``condition``.
    """
    replays, published = pd.read_csv(replays).fillna({"parameters": ""}), pd.read_csv(published)
    read = {words: _in_place(replays, *both) for words, both in IN_PLACE.items()}
    read |= {words: _without_period(replays, policies) for words, policies in UNTUNED.items()}
    read[FIXED] = replays[(replays["policy"] != "frc") | ~replays["parameters"].isin(["target=0", "target=1"])]
    tables = {"hit_ratios": [], "program": []}
    for words, changed in read.items():
        ratios = hit_ratios(changed)
        tables["hit_ratios"].append(ratios.assign(condition=words))
        tables["program"].append(program(ratios, published).assign(condition=words))
    return {item: pd.concat(parts, ignore_index=True) for item, parts in tables.items()}


def _in_place(replays, policy, other):
    """Replace the rows of `policy` by copies of the rows of `other`, on the traces replayed with `other`."""
    traces = replays.loc[replays["policy"] == other, "trace"].unique()
    kept = replays[(replays["policy"] != policy) | ~replays["trace"].isin(traces)]
    return pd.concat([kept, replays[replays["policy"] == other].assign(policy=policy)], ignore_index=True)


def _without_period(replays, policies):
    """Remove the rows of these policies whose correlated reference period is not 0."""
    zero = replays["parameters"].map(lambda text: re.search(r"correlated_period=0(?![\d.])", text) is not None)
    return replays[~replays["policy"].isin(policies) | zero]
