"""Figures 10 and 11: replacement and fetch by component at the published cache sizes."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import prices as hac_prices
from misspenalty.studies.hac import tables as hac

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
costs = hac_prices.load_costs(snakemake.input.machine, snakemake.input.fit, params.database, params.seed)
points = hac.points(hac.read_sweeps(snakemake.input.sweeps), params.points_mb, costs)
write_csv(hac.fig10(points, params.points_mb), snakemake.output.fig10)
write_csv(hac.fig11(points, params.points_mb), snakemake.output.fig11)
