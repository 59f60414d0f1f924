"""Speed-ups and shares as host times are scaled, and as values that no paper states take their alternatives."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import gap as vlog_gap
from misspenalty.studies.vlog import runs as vlog
from misspenalty.systems.file_systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

hosts = load_hosts(snakemake.input.hosts)
platforms = vlog.make_platforms(snakemake.params.platforms, hosts)
workload = vlog.Workload(**snakemake.params.workload)
write_csv(vlog_gap.host_range(platforms, workload, snakemake.params.factors), snakemake.output.host_range)
write_csv(vlog_gap.sensitivity(platforms, workload, hosts), snakemake.output.sensitivity)
write_csv(hosts.table(), snakemake.output.hosts)
