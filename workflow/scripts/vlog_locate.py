"""Time to locate a free sector on one platform's disk: models and simulation."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.vlog import locate as vlog_locate
from misspenalty.studies.vlog import runs as vlog
from misspenalty.systems.file_systems.hosts import load_hosts

sys.stderr = open(snakemake.log[0], "w", buffering=1)

platforms = vlog.make_platforms(snakemake.params.platforms, load_hosts(snakemake.input.hosts))
platform = platforms[snakemake.wildcards.platform]
workload = vlog.Workload(**snakemake.params.workload)
params = snakemake.params
name = platform.kind.model
write_csv(
    vlog_locate.fig1(name, platform.kind, params.utilisations, params.trials, workload.seed), snakemake.output.fig1
)
tracks = max(1, params.trials // 100)
write_csv(vlog_locate.fig2(name, platform.kind, params.reserves, tracks, workload.seed), snakemake.output.fig2)
