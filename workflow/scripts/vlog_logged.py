"""Values for the claims on the virtual log that no table decides."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import checks as vlog_checks
from misspenalty.studies.vlog import runs as vlog

sys.stderr = open(snakemake.log[0], "w", buffering=1)

workload = vlog.Workload(**snakemake.params.workload)
latencies = pd.read_csv(snakemake.input.fig9)
write_csv(vlog_checks.logged(snakemake.params.platforms, workload, latencies), snakemake.output.table)
