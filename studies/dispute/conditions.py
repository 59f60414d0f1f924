"""Tabulate the dispute study under other conditions, from the rows and columns of its result tables.

Every condition needs only the result tables, so it can be judged even if the published results are not available.
"""

import pandas as pd

from misspenalty_studies.dispute import tables
from misspenalty_studies.dispute.claims import LARGE, LAST_RULE, OWN, SMALL
from misspenalty_studies.dispute.published import FIGURE_7, SIEVE_SOURCES

NO_SELECTION = "no selection of traces"
MEDIANS = "medians over traces, not means"
OF_DATASETS = "means over data sets, not over traces"
OF_TRACES = "means over traces, not over data sets"
UNBOUNDED = "losses divided by FIFO's misses, not by the policy's"
WINDOW = "W-TinyLFU with a window of 1 %, not of 10 %"
OTHER_SIZES = {0.01: "caches of 1 % of the objects", 0.4: "caches of 40 % of the objects"}
REPLAYED_SIZES = {0.01: OTHER_SIZES[0.01], 0.001: "caches of 0.1 % of the objects"}
EVERY_REPLAY = "every trace replayed, not web traces alone"
OTHER_WINDOW = "W-TinyLFU's two window sizes exchanged"
BY_PROGRAM = "SLRU, LIRS and W-TinyLFU by the rules of the program"


def conditions(reductions, datasets, selection, replayed_reductions, program, examples):
    """Return the result tables under other conditions (a workflow job).

    Parameters
    ----------
    reductions, datasets, selection, replayed_reductions, program, examples : path-like
        Result tables of these names.

    Returns
    -------
    dict of str to DataFrame
        By item, the rows that the claims read, with their values under the condition that column ``condition`` names.
    """
    return {
        "reductions": _reductions(pd.read_csv(reductions), pd.read_csv(datasets)),
        "datasets": _datasets(pd.read_csv(datasets)),
        "selection": _selection(pd.read_csv(selection)),
        "replayed_reductions": _replayed_reductions(pd.read_csv(replayed_reductions)),
        "program": _program(pd.read_csv(program)),
        "examples": _examples(pd.read_csv(examples)),
    }


def _reductions(table, datasets):
    rules, web = _of(table, selection="authors"), _of(table, selection="sieve")
    whole = _of(table, selection="all").assign(selection="authors")
    sources = datasets[(datasets["selection"] == "all") & datasets["dataset"].isin(SIEVE_SOURCES)]
    means = sources.groupby(["size_ratio", "policy"], as_index=False)["mean"].mean()
    seven = means.rename(columns={"mean": "mean_of_datasets"}).assign(selection="sieve")
    parts = [pd.concat([whole, seven]).assign(condition=NO_SELECTION)]
    parts += [_at(pd.concat([rules, web]), size, words) for size, words in OTHER_SIZES.items()]
    leads = dict.fromkeys(rules.columns[rules.columns.str.startswith("behind")], float("nan"))  # known only for means
    for column, words in (("median", MEDIANS), ("mean_of_datasets", OF_DATASETS), ("unbounded_mean", UNBOUNDED)):
        parts.append(rules.assign(**leads, mean=rules[column], condition=words))
    parts.append(web.assign(mean_of_datasets=web["mean"], condition=OF_TRACES))
    return pd.concat(parts, ignore_index=True)


def _datasets(table):
    rules = _of(table, selection="authors")
    narrow = rules[~rules["policy"].eq("wtinylfu_10")].copy()
    swapped = rules[rules["policy"].eq("wtinylfu")].assign(policy="wtinylfu_10")
    parts = [_of(table, selection="all").assign(selection="authors", condition=NO_SELECTION)]
    parts += [_at(rules, size, words) for size, words in OTHER_SIZES.items()]
    parts.append(_ranked(rules.assign(mean=rules["median"])).assign(condition=MEDIANS))
    parts.append(_ranked(pd.concat([narrow, swapped])).assign(rank_of_all=float("nan"), condition=WINDOW))
    return pd.concat(parts, ignore_index=True)


def _ranked(table):
    """Return the table with its ranks recomputed from its means."""
    keys = ["selection", "size_ratio", "dataset"]
    seven = table["policy"].isin(FIGURE_7)
    ranks = {
        "rank": table[seven].groupby(keys)["mean"].rank(ascending=False, method="min"),
        "rank_of_all": table.groupby(keys)["mean"].rank(ascending=False, method="min"),
    }
    return table.assign(**ranks)


def _selection(table):
    rules = [rule for rule in table["rule"].unique() if rule != LAST_RULE]
    large = table[table["size_ratio"] == LARGE]
    words = {rules[0]: NO_SELECTION} | {rule: f"selection up to the rule: {rule}" for rule in rules[1:]}
    parts = [large[large["rule"] == rule].assign(rule=LAST_RULE, condition=name) for rule, name in words.items()]
    parts += [_at(_of(table, rule=LAST_RULE), size, words) for size, words in OTHER_SIZES.items()]
    return pd.concat(parts, ignore_index=True)


def _replayed_reductions(table):
    web = _of(table, kind="web")
    parts = [
        web[web["size_ratio"] == size].assign(size_ratio=LARGE, condition=words)
        for size, words in REPLAYED_SIZES.items()
    ]
    parts.append(_of(table, kind=tables.EVERY_TRACE).assign(kind="web", condition=EVERY_REPLAY))
    return pd.concat(parts, ignore_index=True)


def _program(table):
    keys = ["trace", "cache_blocks", "policy"]
    # Keep the last row of each key, which has the program's rules if the policy was replayed with them.
    both = table.sort_values("reading", kind="stable").drop_duplicates(keys, keep="last")
    return both.assign(reading=OWN, condition=BY_PROGRAM)


def _examples(table):
    other = {"wtinylfu": "wtinylfu_10", "wtinylfu_10": "wtinylfu"}
    return table.assign(policy=table["policy"].replace(other), condition=OTHER_WINDOW)


def _of(table, **keys):
    for column, value in keys.items():
        table = table[table[column] == value]
    return table


def _at(table, size, words):
    """Return the rows of another size twice, once under each of the paper's sizes."""
    rows = table[table["size_ratio"] == size]
    return pd.concat([rows.assign(size_ratio=other) for other in (LARGE, SMALL)]).assign(condition=words)
