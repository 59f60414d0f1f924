"""One traversal as HAC's recollected parameters and the database vary."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import prices as hac_prices
from misspenalty.studies.hac import runs as hac_runs
from misspenalty.studies.hac import variants as hac_variants

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
database = hac_runs.database(params.seed, **params.database)
point = (snakemake.wildcards.traversal, params.points_mb[snakemake.wildcards.traversal])
layouts = {name: {"seed": params.seed, **params.database, **sizes} for name, sizes in params.layouts.items()}
tables = [
    hac_variants.algorithm_sensitivity(database, *point, costs, 2, params.settings),
    hac_variants.layout_sensitivity(*point, costs, 2, layouts),
]
write_csv(pd.concat(tables, ignore_index=True), snakemake.output.table)
