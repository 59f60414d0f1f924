"""Misses of one other system on one traversal, at every cache size."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import runs as hac_runs

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
database = hac_runs.database(params.seed, **params.database)
wildcards = snakemake.wildcards
table = hac_runs.sweep(database, [wildcards.system], wildcards.traversal, params.sizes_mb, 2, shares=params.shares)
write_csv(table, snakemake.output.table)
