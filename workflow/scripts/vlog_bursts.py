"""Updates in bursts on one platform, by one file system."""

import sys
from dataclasses import replace

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import file_systems as vlog_files
from misspenalty.studies.vlog import runs as vlog
from misspenalty.systems.file_systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

platforms = vlog.make_platforms(snakemake.params.platforms, load_hosts(snakemake.input.hosts))
platform = platforms[snakemake.wildcards.platform]
workload = vlog.Workload(**snakemake.params.workload)
params = snakemake.params
workload = replace(workload, updates=params.updates)
table = vlog_files.bursts(platform, snakemake.wildcards.file_system, params.burst_kb, params.idle_ms, workload)
write_csv(table, snakemake.output.table)
