"""Hit time and the operations of a fetch, measured on the machine at hand."""

import sys

from misspenalty.io.files import write_csv
from misspenalty.studies.hac import measured as hac_measured
from misspenalty.studies.hac import runs as hac_runs

sys.stderr = open(snakemake.log[0], "w", buffering=1)

params = snakemake.params
database = hac_runs.database(params.seed, **params.database)
write_csv(hac_measured.hit_time(database, params.cache_mb), snakemake.output.hit_time)
write_csv(hac_measured.penalty(database, params.points_mb, params.iterations), snakemake.output.penalty)
