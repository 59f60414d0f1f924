"""Table 4: MQ beside LRU at the paper's cache sizes, writes counted as accesses."""

import sys

import pandas as pd

from misspenalty.files import write_csv

sys.stderr = open(snakemake.log[0], "w", buffering=1)

table = pd.concat(map(pd.read_csv, snakemake.input.tables), ignore_index=True)
chosen = table["cache_mb"].isin(snakemake.params.cache_mb) & (table["writes"] == "count")
columns = ["cache_mb", "policy", "hit_ratio_pct", "requests", "hits", "capture", "writes", "parameters"]
write_csv(table.loc[chosen, columns], snakemake.output.table)
