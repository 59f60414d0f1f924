"""Tables of the dispute study: published results and replays in, tidy tables out."""

import pandas as pd

from misspenalty.studies.dispute.published import FIGURE_6, over_traces, reduction

COMPETING = ("lru", "clock", "lfu", "slru", "2q", "arc", "car", "lirs", "clockpro", "mq", "wtinylfu", "wtinylfu_10",
             "s3fifo", "sieve")  # fmt: skip
EVERY_TRACE = "every trace"
KEYS = ["trace", "kind", "size_ratio"]


def wide(replays):
    """Miss ratios, one row per trace and size, one column per policy."""
    return replays.pivot(index=KEYS, columns="policy", values="miss_ratio").reset_index()


def kinds(replays, resamples, seed):
    """What each policy gains over FIFO on the traces replayed, by kind of trace and size.

    Parameters
    ----------
    replays : DataFrame
        From `runs.replay_file`, of every trace.
    resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    DataFrame
        ``kind, size_ratio, policy, traces, mean, low, high, median, worse_than_fifo_pct, below_lru_pct, best_pct``: the
        reduction of the miss ratio from FIFO in %, as in `published.reduction`, with the 95 % interval of its mean,
        traces drawn with replacement; shares of traces on which the policy misses more often than FIFO, less often
        than LRU, and least often of all. Kind ``every trace`` has them all. Sizes that only the Zipf trace has are left
        out.
    """
    cells = wide(replays)
    sizes = replays.groupby("size_ratio")["trace"].nunique()
    cells = cells[cells["size_ratio"].isin(sizes.index[sizes > 1])]
    groups = [(EVERY_TRACE, cells), *cells.groupby("kind", sort=False)]
    parts = []
    for kind, group in groups:
        for size, rows in group.groupby("size_ratio"):
            gains = reduction(rows, COMPETING)
            low, high = over_traces(gains, resamples, seed)
            values = rows[list(COMPETING)]
            part = pd.DataFrame(
                {
                    "traces": gains.count(),
                    "mean": gains.mean(),
                    "low": low,
                    "high": high,
                    "median": gains.median(),
                    "worse_than_fifo_pct": 100 * (gains < 0).mean(),
                    "below_lru_pct": 100 * values.lt(rows["lru"], axis=0).mean(),
                    "best_pct": 100 * values.eq(values.min(axis=1), axis=0).mean(),
                }
            )
            parts.append(part.rename_axis("policy").reset_index().assign(kind=kind, size_ratio=size))
    columns = ["kind", "size_ratio", "policy", "traces", "mean", "low", "high", "median", "worse_than_fifo_pct"]
    return pd.concat(parts, ignore_index=True)[[*columns, "below_lru_pct", "best_pct"]]


def cells(replays):
    """Where SIEVE and S3-FIFO win and lose: their misses over those of other policies, per trace and size.

    Returns
    -------
    DataFrame
        ``trace, kind, size_ratio, sieve_below_arc_pct, sieve_below_lru_pct, s3fifo_below_wtinylfu_pct, best_policy``:
        how far, in %, the miss ratio of the one is below that of the other (negative: above), and the first policy with
        the fewest misses.
    """
    rows = wide(replays)
    made = rows[KEYS].copy()
    for ours, other in (("sieve", "arc"), ("sieve", "lru"), ("s3fifo", "wtinylfu")):
        made[f"{ours}_below_{other}_pct"] = 100 * (1 - rows[ours] / rows[other])
    return made.assign(best_policy=rows[list(COMPETING)].idxmin(axis=1))


def program(replays, published):
    """Misses in the programs of others next to ours.

    Parameters
    ----------
    replays : DataFrame
        From `runs.replay_file`, of every trace.
    published : DataFrame
        ``data/published/dispute_program.csv``: ``trace, cache_blocks, policy, misses, definition``.

    Returns
    -------
    DataFrame
        ``trace, cache_blocks, policy, definition, program_misses, misses, difference, references``; one row per count
        that was replayed here.
    """
    keys = ["trace", "cache_blocks", "policy"]
    ours = replays[[*keys, "misses", "references"]].drop_duplicates(keys)
    table = published.rename(columns={"misses": "program_misses"}).merge(ours, on=keys)
    table["difference"] = table["misses"] - table["program_misses"]
    return table[[*keys, "definition", "program_misses", "misses", "difference", "references"]]


def conditions(reductions, datasets, selection):
    """The tables that claims read, under other choices of traces, weights and parameters.

    Parameters
    ----------
    reductions, datasets, selection : DataFrame
        From `published.aggregate`.

    Returns
    -------
    dict of str to DataFrame
        ``reductions, datasets, selection`` with a column ``condition``. The rows of the authors' selection are
        replaced: by those of every trace, by those of another size for both, with every data set weighing the same, or
        with the wide window of W-TinyLFU in place of the narrow one. Of ``selection``, each other rule in place of the
        last one.
    """
    reductions = _placed(reductions)
    datasets = _placed(datasets)
    found = {"reductions": [], "datasets": [], "selection": []}
    own = reductions["selection"] == "authors"
    every = {name: table[table["selection"] == "all"].assign(selection="authors")
             for name, table in (("reductions", reductions), ("datasets", datasets))}  # fmt: skip
    rest = reductions[~own]
    word = "every trace with a result at the size"
    found["reductions"].append(pd.concat([every["reductions"], rest]).assign(condition=word))
    other = datasets[datasets["selection"] != "authors"]
    found["datasets"].append(pd.concat([every["datasets"], other]).assign(condition=word))
    word = "every data set weighs the same"
    found["reductions"].append(reductions.assign(mean=reductions["mean_of_datasets"], condition=word))
    word = "W-TinyLFU with a window of 10 %"
    swapped = reductions["policy"].replace({"wtinylfu": "wtinylfu_10", "wtinylfu_10": "wtinylfu"})
    found["reductions"].append(reductions.assign(policy=swapped, condition=word))
    for size, word in ((0.01, "1 % of the objects"), (0.4, "40 % of the objects")):
        found["reductions"].append(_at_size(reductions, size).assign(condition=word))
        found["datasets"].append(_at_size(datasets, size).assign(condition=word))
    last = selection["rule"].iloc[-1]
    for rule in selection["rule"].unique():
        if rule != last:
            replaced = selection[selection["rule"] == rule].assign(rule=last)
            found["selection"].append(replaced.assign(condition=f"rules up to: {rule}"))
    for size in sorted(set(selection["size_ratio"]) - {0.1}):
        replaced = selection[(selection["size_ratio"] == size) & (selection["rule"] == last)].assign(size_ratio=0.1)
        found["selection"].append(replaced.assign(condition=f"every rule; {100 * size:g} % of the objects"))
    return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items()}


def _placed(table):
    return table.drop(columns=[name for name in table if name.startswith("Unnamed")])


def _at_size(table, size):
    """The rows of another size in the place of those of both sizes of the paper."""
    rows = table[table["size_ratio"] == size]
    return pd.concat([rows.assign(size_ratio=place) for place in (0.001, 0.1)])


def largest_lead(reductions, column):
    """Lower end of the interval of S3-FIFO's lead, over the others of Figure 6: its smallest."""
    return reductions.loc[[name for name in FIGURE_6 if name != "s3fifo"], column].min()
