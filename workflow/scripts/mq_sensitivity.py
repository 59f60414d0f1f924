"""MQ's hit ratio as its parameters vary one at a time."""

import sys

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

trace = misspenalty.open_trace(snakemake.input.trace[0])
params = snakemake.params
table = mq.sensitivity(trace, params.cache_mb, params.variations, warm_up=params.warm_up, threads=snakemake.threads)
write_csv(table, snakemake.output.table)
