"""Values for the claims on HAC that no table decides."""

import sys

import pandas as pd

from misspenalty_studies.common.reporting.jobs import write_table
from misspenalty_studies.hac import claims

sys.stderr = open(snakemake.log[0], "w", buffering=1)

server, fit = pd.read_csv(snakemake.input.server), pd.read_csv(snakemake.input.fit)
write_table(claims.logged(server, fit), snakemake.output.table)
