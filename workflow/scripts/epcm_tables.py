"""Figure 7, Figure 8 and what stands beside them, from the runs."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.epcm import tables as epcm_tables

sys.stderr = open(snakemake.log[0], "w", buffering=1)

output = snakemake.output
runs = pd.concat(map(pd.read_csv, snakemake.input.runs), ignore_index=True)
write_csv(epcm_tables.fig7(runs), output.fig7)
write_csv(epcm_tables.fig8(runs, "andrew", **snakemake.params.fig8), output.fig8)
write_csv(epcm_tables.classes(runs), output.classes)
write_csv(epcm_tables.components(runs), output.components)
write_csv(epcm_tables.leads(runs), output.leads)
