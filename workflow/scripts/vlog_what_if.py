"""Random updates on one later machine, both systems."""

import sys

from misspenalty.files import write_csv
from misspenalty.studies import vlog, vlog_what_if
from misspenalty.systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

label = snakemake.wildcards.later
entries = {label: snakemake.params.platforms[label]}
platforms = vlog_what_if.make_platforms(entries, load_hosts(snakemake.input.hosts))
write_csv(vlog_what_if.what_if(platforms, vlog.Workload(**snakemake.params.workload)), snakemake.output.table)
