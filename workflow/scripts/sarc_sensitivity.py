"""All variations in one table, and who is fastest in each."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import sensitivity as sarc_inside

sys.stderr = open(snakemake.log[0], "w", buffering=1)

table = pd.concat([pd.read_csv(path, dtype={"value": str}) for path in snakemake.input.tables], ignore_index=True)
write_csv(table, snakemake.output.table)
write_csv(sarc_inside.orderings(table), snakemake.output.orderings)
