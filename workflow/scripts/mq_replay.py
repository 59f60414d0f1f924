"""Hit ratios of one policy on one capture, over all cache sizes."""

import sys

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

entry = snakemake.params.entry
table = mq.replay(
    misspenalty.open_trace(snakemake.input.trace),
    entry["policy"],
    snakemake.params.cache_mb,
    label=snakemake.wildcards.policy,
    writes=snakemake.params.writes,
    warm_up=snakemake.params.warm_up,
    parameters=entry.get("parameters"),
    grid=entry.get("grid"),
    threads=snakemake.threads,
)
table.insert(0, "capture", snakemake.wildcards.capture)
write_csv(table, snakemake.output.table)
