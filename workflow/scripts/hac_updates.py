"""Traversals with updates beside T1."""

import sys

from misspenalty.files import write_csv
from misspenalty.studies import hac_prices, hac_runs, hac_variants

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
database = hac_runs.database(params.seed, **params.database)
write_csv(hac_variants.updates(database, params.cache_mb, costs), snakemake.output.table)
