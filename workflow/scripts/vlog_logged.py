"""Values for the claims on the virtual log that no table decides."""

import sys

import pandas as pd

from misspenalty_studies.common.reporting.jobs import write_table
from misspenalty_studies.vlog import claims

sys.stderr = open(snakemake.log[0], "w", buffering=1)

utilisation, latencies = snakemake.params.workload["utilisation"], pd.read_csv(snakemake.input.fig9)
write_table(claims.logged(snakemake.params.platforms, utilisation, latencies), snakemake.output.table)
