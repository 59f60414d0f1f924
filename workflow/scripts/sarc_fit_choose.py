"""Rank the grid of a step of SARC's fit by its distance from the published rows."""

import sys

import pandas as pd

from misspenalty.claims import load_calibration
from misspenalty.io.files import write_csv
from misspenalty.studies.sarc import fit as sarc_fit

sys.stderr = open(snakemake.log[0], "w", buffering=1)

step = snakemake.params.step
tried = pd.concat(map(pd.read_csv, snakemake.input.tables), ignore_index=True)
ranked = sarc_fit.choose(step, tried, sarc_fit.targets_of(load_calibration(snakemake.input.calibration), step))
write_csv(ranked, snakemake.output.table)
print(ranked.head(20).to_string(index=False), file=sys.stderr)
