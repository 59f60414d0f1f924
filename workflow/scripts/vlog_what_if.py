"""Random updates on one later machine, both systems."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import runs as vlog
from misspenalty.studies.vlog import what_if as vlog_what_if
from misspenalty.systems.file_systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

label = snakemake.wildcards.later
entries = {label: snakemake.params.platforms[label]}
platforms = vlog_what_if.make_platforms(entries, load_hosts(snakemake.input.hosts))
write_csv(vlog_what_if.what_if(platforms, vlog.Workload(**snakemake.params.workload)), snakemake.output.table)
