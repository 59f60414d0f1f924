"""Misses of all systems on the static traversals, HAC's from its sweeps."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import tables as hac

sys.stderr = open(snakemake.log[0], "w", buffering=1)

tables = [hac.misses(name, runs) for name, runs in hac.read_sweeps(snakemake.input.sweeps).items()]
tables += [pd.read_csv(path) for path in snakemake.input.tables]
write_csv(pd.concat(tables, ignore_index=True), snakemake.output.table)
