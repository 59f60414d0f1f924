"""What section 4.4 projects, from the points of Figure 9."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import prices as hac_prices
from misspenalty.studies.hac import projections as hac_projections
from misspenalty.studies.hac import runs as hac_runs
from misspenalty.studies.hac import tables as hac

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
database = hac_runs.database(params.seed, **params.database)
sweeps = hac.read_sweeps(snakemake.input.sweeps)
table = hac_projections.projections(database, sweeps, params.points_mb, costs, params.iterations)
write_csv(table, snakemake.output.table)
