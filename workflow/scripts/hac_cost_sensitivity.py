"""Shares of the fetch time as unit costs and the testbed vary."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import prices as hac_prices
from misspenalty.studies.hac import tables as hac
from misspenalty.studies.hac import variants as hac_variants

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
sweeps = hac.read_sweeps(snakemake.input.sweeps)
write_csv(hac_variants.cost_sensitivity(sweeps, params.points_mb, costs), snakemake.output.table)
