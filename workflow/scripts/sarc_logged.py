"""The result of the fit, for the notes of claims that read a value to which it was fitted."""

import sys

import pandas as pd

from misspenalty_studies.common.claims import load_calibration, load_ledger
from misspenalty_studies.common.reporting.jobs import write_table
from misspenalty_studies.sarc import claims

sys.stderr = open(snakemake.log[0], "w", buffering=1)

ids = [claim.id for claim in load_ledger(snakemake.input.ledger) if claim.study == "sarc"]
fits = load_calibration(snakemake.input.calibration)
write_table(claims.logged(pd.read_csv(snakemake.input.fit), ids, fits), snakemake.output.table)
