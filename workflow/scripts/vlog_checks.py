"""What the paper's text says about its other figures, held against our tables."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import checks as vlog_checks

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = {name: pd.read_csv(path) for name, path in snakemake.input.items()}
bursts = pd.concat([tables.pop("fig10"), tables.pop("fig11")], ignore_index=True)
write_csv(vlog_checks.checks(**tables, bursts=bursts), snakemake.output.table)
