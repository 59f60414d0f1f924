"""LRU's hit ratio over a fine grid of cache sizes."""

import sys

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

table = mq.replay(
    misspenalty.open_trace(snakemake.input.trace[0]),
    "lru",
    snakemake.params.cache_mb,
    writes=["count"],
    warm_up=snakemake.params.warm_up,
    threads=snakemake.threads,
)
write_csv(table, snakemake.output.table)
