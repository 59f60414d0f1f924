"""Hit ratios of the storage cache behind simulated first levels."""

import sys

import misspenalty
from misspenalty.io.files import write_csv
from misspenalty.studies.mq import tables as mq

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
trace = misspenalty.open_trace(snakemake.input.trace[0])
table = mq.first_level(trace, params.policies, params.first_mb, params.cache_mb, threads=snakemake.threads)
write_csv(table, snakemake.output.table)
