"""Values for the claims of EPCM that no table of the ledger decides."""

import sys

import pandas as pd

from misspenalty_studies.common.reporting.jobs import write_table
from misspenalty_studies.epcm import claims

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = {name: pd.read_csv(snakemake.input[name]) for name in ("leads", "workload")}
runs = pd.concat(map(pd.read_csv, snakemake.input.runs), ignore_index=True)
write_table(claims.logged(runs=runs, **tables, **snakemake.params.fig8), snakemake.output.table)
