"""The classics study's tables under other readings of what the papers leave open, made of the same replays."""

import re

import pandas as pd

from misspenalty.studies.classics.tables import hit_ratios, program

MQ = "MQ's history as large as the cache"
FIXED = "fixed splits that leave no list empty"
UNTUNED = {  # words -> policies replayed without the parameter that was tuned
    "LRU-2 without a correlated reference period": ("lru2",),
    "LRFU without a correlated reference period": ("lrfu",),
}
AS_PROGRAM = "LIRS under the conventions of its authors' program"


def under_conditions(replays, published):
    """A job of the workflow: the tables that claims read, under each condition.

    Parameters
    ----------
    replays, published : path-like
        CSV tables, as `misspenalty.studies.classics.tables.hit_ratios` and `program` there take them.

    Returns
    -------
    dict of str to DataFrame
        ``hit_ratios, program``, each with the column ``condition``.
    """
    replays, published = pd.read_csv(replays).fillna({"parameters": ""}), pd.read_csv(published)
    read = {
        MQ: _in_place(replays, "mq", "mq_history_1"),
        **{words: _without_period(replays, policies) for words, policies in UNTUNED.items()},
        FIXED: replays[(replays["policy"] != "frc") | ~replays["parameters"].isin(["target=0", "target=1"])],
        AS_PROGRAM: _in_place(replays, "lirs", "lirs_program"),
    }
    read["; ".join([MQ, *UNTUNED])] = _without_period(read[MQ], [name for names in UNTUNED.values() for name in names])
    tables = {"hit_ratios": [], "program": []}
    for words, changed in read.items():
        ratios = hit_ratios(changed)
        tables["hit_ratios"].append(ratios.assign(condition=words))
        tables["program"].append(program(ratios, published).assign(condition=words))
    return {item: pd.concat(parts, ignore_index=True) for item, parts in tables.items()}


def _in_place(replays, policy, other):
    """Rows of `other` as rows of `policy` too, on the traces that have them."""
    traces = replays.loc[replays["policy"] == other, "trace"].unique()
    kept = replays[(replays["policy"] != policy) | ~replays["trace"].isin(traces)]
    return pd.concat([kept, replays[replays["policy"] == other].assign(policy=policy)], ignore_index=True)


def _without_period(replays, policies):
    """Of these policies only the rows with a correlated reference period of 0."""
    zero = replays["parameters"].map(lambda text: re.search(r"correlated_period=0(?![\d.])", text) is not None)
    return replays[~replays["policy"].isin(policies) | zero]
