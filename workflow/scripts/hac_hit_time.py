"""Hit time line by line, as the paper's Table 3."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import prices as hac_prices
from misspenalty.studies.hac import runs as hac_runs
from misspenalty.studies.hac import variants as hac_variants

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
database = hac_runs.database(params.seed, **params.database)
write_csv(hac_variants.hit_time(database, params.cache_mb, costs), snakemake.output.table)
