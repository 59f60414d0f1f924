"""Put tables of the same columns one below the other."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv

sys.stderr = open(snakemake.log[0], "w", buffering=1)

write_csv(pd.concat(map(pd.read_csv, snakemake.input.tables), ignore_index=True), snakemake.output.table)
