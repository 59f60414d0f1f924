"""Table 2 from Figure 9's totals, the values logged for claims that no table decides, the gap's readings."""

import sys

import pandas as pd

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import claims
from misspenalty.studies.vlog import gap as vlog_gap
from misspenalty.studies.vlog import runs as vlog

sys.stderr = open(snakemake.log[0], "w", buffering=1)

latencies = pd.read_csv(snakemake.input.fig9)
write_csv(vlog.table2(latencies), snakemake.output.table)
workload = vlog.Workload(**snakemake.params.workload)
write_csv(claims.logged(snakemake.params.platforms, workload.utilisation, latencies), snakemake.output.logged)
write_csv(vlog_gap.readings(pd.read_csv(snakemake.input.gap)), snakemake.output.readings)
