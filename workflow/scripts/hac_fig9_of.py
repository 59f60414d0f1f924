"""Miss penalty of one traversal by component, at every cache size."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import prices as hac_prices
from misspenalty.studies.hac import tables as hac

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
runs = pd.read_parquet(snakemake.input.runs)
write_csv(hac.fig9(snakemake.wildcards.traversal, runs, costs, params.least_share), snakemake.output.table)
