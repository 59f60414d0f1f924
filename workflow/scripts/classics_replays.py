"""Every replay of one surviving trace."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.classics.runs import replay_trace
from misspenalty.studies.classics.settings import ClassicsSettings
from misspenalty.traces import open_trace

sys.stderr = open(snakemake.log[0], "w", buffering=1)

trace = open_trace(snakemake.input.trace, format=snakemake.params.form)
table = replay_trace(snakemake.wildcards.surviving, trace, ClassicsSettings(), snakemake.threads)
write_csv(table, snakemake.output.table)
