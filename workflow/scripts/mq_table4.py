"""Table 4: MQ beside LRU at the paper's cache sizes, writes counted as accesses; beside them the live run's ratios."""

import sys

import pandas as pd

from misspenalty.errors import InputError
from misspenalty.io.files import write_csv

sys.stderr = open(snakemake.log[0], "w", buffering=1)

table = pd.concat(map(pd.read_csv, snakemake.input.tables), ignore_index=True)
sizes = snakemake.params.cache_mb
chosen = table["cache_mb"].isin(sizes) & (table["writes"] == "count")
for path, row in zip(snakemake.input.tables, ["mq", "lru"], strict=True):
    missing = sorted(set(sizes) - set(table.loc[chosen & (table["policy"] == row), "cache_mb"]))
    if missing:
        raise InputError(
            f"no row of {row} with writes counted at {', '.join(f'{size:g}' for size in missing)} MB",
            path=path,
            remedy="add the size to mq.table2_mb in the configuration",
        )
live = pd.read_csv(snakemake.input.rates)[["cache_mb", "policy", "timed_hit_ratio_pct"]]
table = table[chosen].merge(live, on=["cache_mb", "policy"], how="left", validate="one_to_one")
columns = [
    "cache_mb",
    "policy",
    "hit_ratio_pct",
    "timed_hit_ratio_pct",
    "requests",
    "hits",
    "capture",
    "writes",
    "parameters",
]
write_csv(table[columns], snakemake.output.table)
