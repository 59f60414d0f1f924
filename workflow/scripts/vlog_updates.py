"""Random updates on one platform, both systems: latency by component."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import runs as vlog
from misspenalty.systems.file_systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

platforms = vlog.make_platforms(snakemake.params.platforms, load_hosts(snakemake.input.hosts))
platform = platforms[snakemake.wildcards.platform]
workload = vlog.Workload(**snakemake.params.workload)
write_csv(vlog.fig9({platform.label: platform}, workload), snakemake.output.table)
