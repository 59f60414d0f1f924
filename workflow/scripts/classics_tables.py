"""The best hit ratio per policy and size; published values next to ours; the authors' program next to our policies."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.classics import tables

sys.stderr = open(snakemake.log[0], "w", buffering=1)

hit_ratios = tables.hit_ratios(pd.read_csv(snakemake.input.replays))
write_csv(hit_ratios, snakemake.output.hit_ratios)
write_csv(tables.comparison(hit_ratios, pd.read_csv(snakemake.input.published)), snakemake.output.comparison)
write_csv(tables.program(hit_ratios, pd.read_csv(snakemake.input.misses)), snakemake.output.program)
