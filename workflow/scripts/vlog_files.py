"""Small files, a large file, and load against utilisation on one platform."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import file_systems as vlog_files
from misspenalty.studies.vlog import runs as vlog
from misspenalty.systems.file_systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

platforms = vlog.make_platforms(snakemake.params.platforms, load_hosts(snakemake.input.hosts))
platform = platforms[snakemake.wildcards.platform]
workload = vlog.Workload(**snakemake.params.workload)
params, output = snakemake.params, snakemake.output
write_csv(vlog_files.fig6(platform, params.small_files), output.fig6)
write_csv(vlog_files.fig7(platform, int(params.large_file_mb * 2**20), workload.seed), output.fig7)
write_csv(vlog_files.fig8(platform, params.utilisations, workload), output.fig8)
