"""What SARC's fit found: a table of it, the grid it was found on, and the values for the runs."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import fit as sarc_fit

sys.stderr = open(snakemake.log[0], "w", buffering=1)

ranked = {step: pd.read_csv(snakemake.input[step]) for step in sarc_fit.STEPS}
table = sarc_fit.summary(ranked, snakemake.params.ranges)
write_csv(table, snakemake.output.table)
write_csv(pd.concat([grid.assign(step=step) for step, grid in ranked.items()]), snakemake.output.grid)
write_csv(table[["parameter", "value"]], snakemake.output["values"])
print(table.to_string(index=False), file=sys.stderr)
