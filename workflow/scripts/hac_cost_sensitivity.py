"""Shares of the fetch time as unit costs and the testbed vary."""

import sys

from misspenalty.files import write_csv
from misspenalty.studies import hac, hac_prices, hac_variants

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
sweeps = hac.read_sweeps(snakemake.input.sweeps)
write_csv(hac_variants.cost_sensitivity(sweeps, params.points_mb, costs), snakemake.output.table)
